/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits on what users' options may cost slurmctld: the most expensive value of each option is
 * refused before Slurm sees it. */
#include "src/core/model/host_list.h"
#include "src/core/options/options.h"
#include "testsuite/unit/check.h"
#include "testsuite/unit/place_stage.h"

#include <set>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

std::string times(std::size_t count, const std::string &text, const std::string &between = "")
{
	std::string out;
	for (std::size_t i = 0; i < count; i++)
		out += (i == 0 ? "" : between) + text;
	return out;
}

std::string joined(const std::vector<std::string> &names)
{
	std::string out;
	for (const std::string &name : names)
		out += (out.empty() ? "" : " ") + name;
	return out;
}

void host_lists_are_read_as_slurm_reads_them()
{
	struct Row {
		const char *text, *names; /* nullptr: refused */
	};
	for (const Row &row : {Row{"a", "a"}, Row{"n[1-3],m", "n1 n2 n3 m"},
		     Row{"n[08-11]", "n08 n09 n10 n11"}, Row{"n[1,3-4]x", "n1x n3x n4x"},
		     Row{"r[0-1]u[2-3]", "r0u2 r0u3 r1u2 r1u3"}, Row{"a,a", "a a"},
		     Row{"", nullptr}, Row{",", nullptr}, Row{"a,", nullptr}, Row{"a[", nullptr},
		     Row{"a]", nullptr}, Row{"a[]", nullptr}, Row{"a[1-]", nullptr},
		     Row{"a[-1]", nullptr}, Row{"a[3-1]", nullptr}, Row{"a[1[2]]", nullptr},
		     Row{"a[1-2", nullptr}, Row{"a b", nullptr}, Row{"a{1}", nullptr},
		     Row{"a[1-2]*3", nullptr}, Row{"a[0-4095]", ""}, Row{"a[0-4096]", nullptr},
		     Row{"a[1-1000000000]", nullptr}, Row{"a[0000000001]", nullptr},
		     Row{"[1-3]", "1 2 3"}, Row{"a[x-y]", nullptr}, Row{"../a", nullptr}}) {
		const auto names = expand_hosts(row.text);
		const bool as_wanted = row.names
			? names.ok() && (*row.names == 0 || joined(*names) == row.names)
			: !names.ok();
		(void)record(as_wanted, row.text, __FILE__, __LINE__);
	}
	CHECK_EQUAL(expand_hosts("a[0-4095]")->size(), k_hosts_max);
	CHECK(!expand_hosts(times(2, "a[1-3000]", ",")).ok());
	CHECK(!expand_hosts("a" + times(8, "[1-9]")).ok());
	CHECK(!expand_hosts("a[1-9][1-9][1-9][1-9]").ok()); /* 6561, and four pairs */
	CHECK(!expand_hosts(std::string(1025, 'a')).ok() &&
		!expand_hosts(std::string(300, 'a')).ok());
}

Policy all_rights()
{
	Policy p;
	p.namespaces = {{.name_space = "*",
		.user_id = 1001,
		.group_id = 100,
		.accounts = {"phys"},
		.partitions = {"kube"},
		.qos = {"normal"},
		.permissions = {"may_set_priority", "may_use_burst_buffer"},
		.reservations = {"*"},
		.wckeys = {"*"}}};
	return p;
}

Result<JobSpec> asking(
	const std::string &option, const std::string &value, const char *prefix = "slurm-kube.io/")
{
	Pod pod = PlaceStage::pod("u");
	pod.annotations = {{prefix + option, value}};
	return translate(pod, all_rights(), 1);
}

const std::string k_long(200'000, 'x');

struct Worst {
	const char *option;
	std::vector<std::string> values;
};

std::vector<Worst> worst_values()
{
	const std::string factors = "a" + times(8, "[1-9]"),
			  many_ids = "afterok:" + times(101, "1", ":");
	return {
		{"account", {k_long}},
		{"begin", {k_long, "9999-01-01", "now+1000000000weeks"}},
		{"burst-buffer", {k_long}},
		{"comment", {k_long}},
		{"constraints",
			{k_long, times(33, "a", "&"), times(18, "a", "|"), times(5, "(a|b)", "&"),
				"[" + times(9, "a*1", "&") + "]", "a*1000000000000", "((a))",
				"[[a]]", "(a", "a)"}},
		{"contiguous", {k_long}},
		{"core-spec", {"32769", "65532", k_long}},
		{"cpu-per-task", {"65001", "1e30", k_long}},
		{"cpus-per-gpu", {"65001", k_long}},
		{"current-working-dir", {"/" + k_long}},
		{"deadline", {"9999-01-01", k_long}},
		{"delay-boot", {"99999999999", times(100, "1", ":"), k_long}},
		{"dependency",
			{many_ids, "afterok:1_[0-1000000]", times(101, "afterok:1", ","),
				"afterok:12345678901", "afterok:1{", k_long}},
		{"end-together", {k_long}},
		{"excluded-nodes", {factors, "a[1-60000]", times(70, "a[1-60000]", ","), k_long}},
		{"exclusive", {k_long}},
		{"extra", {k_long}},
		{"gang", {k_long}},
		{"gres", {times(33, "gpu:1", ","), "gpu:99999999999999999999", k_long}},
		{"group-id", {k_long}},
		{"hold", {k_long}},
		{"job", {"0", "-1", "2147483648", k_long}},
		{"job-name", {k_long}},
		{"kill-on-invalid-dep", {k_long}},
		{"licenses",
			{times(33, "a:1", ","), times(33, "a:1", ";"), "a:99999999999", k_long}},
		{"mail-type", {times(1000, "END", ","), k_long}},
		{"mail-user", {"-r", "|sh", "/etc/passwd", "a;b", "$x", k_long}},
		{"max-nodes", {"4294967292", k_long}},
		{"mcs-label", {times(300, "a"), k_long}},
		{"mem-per-node", {"2Ei", "10E", "1e60", k_long}},
		{"min-nodes", {"4294967292", k_long}},
		{"nice", {"99999999999", k_long}},
		{"partition", {k_long, "nonesuch"}},
		{"pods-per-node", {"65537", k_long}},
		{"prefer", {times(33, "a", "&"), times(5, "(a|b)", "&"), k_long}},
		{"priority", {"4294967295", k_long}},
		{"qos", {k_long}},
		{"required-nodes", {factors, "a[1-60000]", "a[1-2]", k_long}},
		{"reservation", {times(33, "a", ","), k_long}},
		{"segment", {"65535", k_long}},
		{"spread-job", {k_long}},
		{"switches", {"4294967292", "1@" + times(100, "1", ":"), k_long}},
		{"thread-spec", {"32769", k_long}},
		{"threads-per-core", {"65000", k_long}},
		{"time-min", {"99999999999", times(100, "1", ":"), k_long}},
		{"timelimit", {"99999999999", times(100, "1", ":"), k_long}},
		{"use-min-nodes", {k_long}},
		{"user-id", {k_long}},
		{"wckey", {times(300, "a"), k_long}},
	};
}

void every_option_at_its_worst_is_refused()
{
	std::set<std::string_view> tried;
	for (const Worst &row : worst_values()) {
		tried.insert(row.option);
		for (const std::string &value : row.values) {
			const auto spec = asking(row.option, value);
			const bool is_told = !spec.ok() && spec.error().what.size() < 1000 &&
				spec.error().what.find(row.option) != std::string::npos;
			(void)record(is_told,
				(std::string(row.option) + "=" + value.substr(0, 40)).c_str(),
				__FILE__, __LINE__);
		}
	}
	for (const Option &option : options())
		(void)record(tried.contains(option.name), std::string(option.name).c_str(),
			__FILE__, __LINE__);
}

void words_of_sbatch_and_aliases_have_the_same_limits()
{
	std::map<std::string_view, std::vector<std::string>> worst;
	for (Worst &row : worst_values())
		worst[row.option] = std::move(row.values);
	for (const Option &option : options()) {
		for (const std::string &value : worst[option.name]) {
			if (!option.sbatch.empty() && value.find(' ') == std::string::npos)
				(void)record(!asking("sbatch",
						     "--" + std::string(option.sbatch) + "='" +
							     value + "'")
						      .ok(),
					std::string(option.sbatch).c_str(), __FILE__, __LINE__);
			if (!option.sunk.empty())
				(void)record(!asking(std::string(option.sunk), value,
						     "sunk.coreweave.com/")
						      .ok(),
					std::string(option.sunk).c_str(), __FILE__, __LINE__);
			if (!option.bridge.empty())
				(void)record(!asking(std::string(option.bridge), value,
						     "slurmjob.slinky.slurm.net/")
						      .ok(),
					std::string(option.bridge).c_str(), __FILE__, __LINE__);
		}
	}
	const auto unknown = asking("sbatch", "--" + std::string(16'000, 'x'));
	CHECK(!unknown.ok() && unknown.error().what.size() < 1000);
}

void what_people_use_is_still_taken()
{
	for (const auto &[option, value] : {std::pair("constraints", "[rack1*2&rack2*4]"),
		     std::pair("constraints", "(a|b)&(c|d)&[x|y]"),
		     std::pair("constraints", "node20230101234*2"),
		     std::pair("dependency", "afterok:1:2_3:4_*+5,afternotok:9?singleton"),
		     std::pair("dependency", "12,13"),
		     std::pair("gres", "gpu:a100:2,shard:4,bandwidth:4G"),
		     std::pair("licenses", "abaqus@db:10;matlab"),
		     std::pair("mail-user", "a.b+c@example.org"),
		     std::pair("excluded-nodes", "gpu-[001-512],cpu-[1-1024]"),
		     std::pair("timelimit", "UNLIMITED"), std::pair("core-spec", "4"),
		     std::pair("reservation", "a,b")})
		(void)record(asking(option, value).ok(), value, __FILE__, __LINE__);
	CHECK(asking("dependency", "afterok:" + times(100, "1234567890", ":")).ok() ==
		(100 * 11 + 7 <= 1024));
}

void a_node_that_slurm_does_not_have_is_told_on_the_pod()
{
	PlaceStage s;
	Pod p = PlaceStage::pod("a");
	p.annotations = {{"slurm-kube.io/required-nodes", "n4"}};
	s.world.observe(PodSeen{p}, s.now);
	CHECK_EQUAL(s.act(), "report:a:SlurmRefused");
	CHECK_EQUAL(s.text,
		"option required-nodes='n4': Slurm has no node 'n4' for pods; change or remove the "
		"option");
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	s.world.observe(SlurmNodeSeen{slurm_node("n4", 4)});
	s.world.observe(NodeSeen{PlaceStage::node("n4")}, s.now);
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "submit:a");
	Pod q = PlaceStage::pod("b");
	q.annotations = {{"slurm-kube.io/required-nodes", "other"}};
	s.world.observe(PodSeen{q}, s.now);
	CHECK_EQUAL(s.act(), "report:b:SlurmRefused");
}

} // namespace

int main()
{
	return run_tests("option bounds",
		{
			TEST(host_lists_are_read_as_slurm_reads_them),
			TEST(every_option_at_its_worst_is_refused),
			TEST(words_of_sbatch_and_aliases_have_the_same_limits),
			TEST(what_people_use_is_still_taken),
			TEST(a_node_that_slurm_does_not_have_is_told_on_the_pod),
		});
}
