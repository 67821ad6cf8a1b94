/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_option_policy.cc - the admission policy generated from the table of options equals the
 * installed one, and refuses nothing that the agent accepts. The installed policies that contain
 * the scheduler's name are those for the default name.
 */
#include "src/agent/kube/files.h"
#include "src/core/model/names.h"
#include "src/manifests/option_policy.h"
#include "src/manifests/policies.h"
#include "testsuite/unit/check.h"

#include <cstdlib>
#include <regex>

using namespace slurmkube;
using namespace slurmkube::manifests;
using kube::read_small_file;

namespace
{

constexpr const char *k_values[] = {
	"",
	"0",
	"1",
	"-1",
	"5",
	"00",
	"10",
	"77",
	"1000",
	"65534",
	"2147483645",
	"-2147483645",
	"4294967292",
	"4294967295",
	"99999999999",
	"1.5",
	"500m",
	"2Gi",
	"1e3",
	"5m",
	"+1",
	"true",
	"false",
	"yes",
	"no",
	"True",
	"on",
	"none",
	"ok",
	"user",
	"mcs",
	"topo",
	"maybe",
	"5:01",
	"1:00:00",
	"1-0",
	"1-2:30",
	"1-2:30:59",
	"0-0:0:1",
	"10000000",
	"0001",
	"UNLIMITED",
	"unlimited",
	"INFINITE",
	"infinite",
	"Unlimited",
	"1:2:3:4",
	"1-2-3",
	":",
	"1-",
	" 5",
	"5 ",
	"2@10",
	"2@1:00:00",
	"2@",
	"@5",
	"2@UNLIMITED",
	"a",
	"a b",
	"n[1-3]",
	"gpu:2",
	"afterok:1",
	"now+1hour",
	"16:00",
	"2030-01-01T00:00",
	"ALL",
	"x@y.example",
	"/tmp",
	"phys",
};

bool agent_takes(const core::Option &option, const std::string &value)
{
	core::Policy policy;
	policy.pods_in_native_jobs = true;
	core::NamespaceRule rule{.name_space = "a",
		.user_id = 65534,
		.group_id = 65534,
		.accounts = {"phys"},
		.partitions = {"kube"},
		.qos = {"normal"}};
	for (const std::string_view one : core::k_permissions)
		rule.permissions.emplace_back(one);
	core::Pod pod;
	pod.created = 1'700'000'000;
	const core::OptionContext context{policy, rule, pod};
	core::JobSpec spec;
	return option.apply(value, context, spec).ok();
}

Result<std::string> installed(const char *name)
{
	const char *top = std::getenv("srcdir"); // NOLINT(concurrency-mt-unsafe): one thread
	return read_small_file(std::string(top ? top : ".") + "/etc/" + name);
}

std::size_t count(const std::string &text, const std::string &part)
{
	std::size_t found = 0;
	for (std::size_t at = text.find(part); at != std::string::npos;
		at = text.find(part, at + 1))
		found++;
	return found;
}

void the_installed_policies_are_for_the_default_name()
{
	const auto file = installed("policies.yaml"),
		   filling = installed("policy-scheduler-name.yaml");
	REQUIRE(file.ok() && filling.ok());
	CHECK_EQUAL(*file == policies({})
			? ""
			: "etc/policies.yaml is old: run contribs/generate-manifests",
		"");
	CHECK_EQUAL(*filling == scheduler_name_policy({})
			? ""
			: "etc/policy-scheduler-name.yaml is old: run "
			  "contribs/generate-manifests",
		"");
}

/* The name occurs in: the users that may not bind or delete other pods, the pods that are ours,
 * and the messages to users. */
void policies_have_the_name_that_is_configured()
{
	const Site site{.scheduler_name = "hpc", .scheduler_aliases = {"old", "older"}};
	const std::string all = policies(site), filling = scheduler_name_policy(site);
	for (const auto &[part,
		     times] : std::initializer_list<std::pair<const char *, std::size_t>>{
		     {"!(oldObject.spec.?schedulerName.orValue('') in ['hpc', 'old', 'older'])", 1},
		     {".spec.?schedulerName.orValue('') in ['hpc', 'old', 'older']\n", 2},
		     {"write schedulerName: hpc\n", 1}})
		CHECK_EQUAL(count(all, part), times);
	CHECK_EQUAL(count(filling, "Object.spec{schedulerName: 'hpc'}"), 1U);
	for (const std::string &text : {all, filling})
		CHECK_EQUAL(count(text, "'slurm'") + count(text, "schedulerName: slurm") +
				count(text, "@"),
			0U);
}

void the_installed_policy_is_what_the_table_says()
{
	const auto file = installed("policy-options.yaml");
	REQUIRE(file.ok());
	CHECK_EQUAL(*file == options_policy() ? ""
					      : "etc/policy-options.yaml is old: run "
						"contribs/generate-manifests",
		"");
}

void nothing_that_the_agent_takes_is_refused()
{
	int with_pattern = 0, taken = 0, refused = 0;
	for (const core::Option &option : core::options()) {
		const std::string pattern = value_pattern(option);
		if (pattern.empty())
			continue;
		with_pattern++;
		const std::regex form(pattern);
		for (const char *value : k_values) {
			const bool fits = std::regex_search(value, form),
				   takes = agent_takes(option, value);
			taken += takes;
			refused += !fits;
			(void)check::record(fits || !takes,
				(std::string(option.name) + "='" + value + "'").c_str(), __FILE__,
				__LINE__);
		}
	}
	CHECK(with_pattern > 15);
	CHECK(taken > 50);
	CHECK(refused > 200);
}

void what_is_plainly_wrong_is_refused()
{
	const struct {
		const char *option, *value;
	} rows[] = {{"timelimit", "soon"}, {"timelimit", "1:2:3:4"}, {"timelimit", ""},
		{"priority", "high"}, {"nice", "1.5"}, {"hold", "maybe"}, {"exclusive", "maybe"},
		{"switches", "2@"}, {"min-nodes", "-1"}, {"time-min", "5m"}};
	for (const auto &row : rows) {
		const core::Option *option = core::find_option(row.option);
		REQUIRE(option);
		(void)check::record(
			!std::regex_search(row.value, std::regex(value_pattern(*option))),
			row.option, __FILE__, __LINE__);
	}
}

} // namespace

int main()
{
	return check::run_tests("option_policy",
		{
			TEST(the_installed_policy_is_what_the_table_says),
			TEST(the_installed_policies_are_for_the_default_name),
			TEST(policies_have_the_name_that_is_configured),
			TEST(nothing_that_the_agent_takes_is_refused),
			TEST(what_is_plainly_wrong_is_refused),
		});
}
