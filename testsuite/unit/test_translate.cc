/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/amounts.h"
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/options/timelimit.h"
#include "src/core/translate/translate.h"
#include "testsuite/unit/builders.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

Policy policy()
{
	Policy p;
	p.cluster = "main";
	p.namespaces = {{.name_space = "physics",
				.user_id = 1001,
				.group_id = 100,
				.accounts = {"phys", "shared"},
				.partitions = {"kube", "gpu"},
				.qos = {"normal"},
				.permissions = {"may_set_priority"}},
		{.name_space = "*",
			.user_id = 65534,
			.group_id = 65534,
			.accounts = {},
			.partitions = {},
			.qos = {}}};
	return p;
}

Pod pod(std::map<std::string, std::string> annotations = {}, const char *name_space = "physics")
{
	Pod p = make_pod(
		name_space, "train-0", "u-1", make_requests(1500, (std::int64_t{100} << 20) + 1));
	p.annotations = std::move(annotations);
	return p;
}

void requests_are_rounded_up_to_what_slurm_counts()
{
	const auto spec = translate(pod(), policy(), 1);
	REQUIRE(spec.ok());
	CHECK_EQUAL(spec->cpus, 2U);
	CHECK_EQUAL(spec->memory_mib, 101U);
	Pod nothing = pod();
	nothing.requests = {};
	const auto least = translate(nothing, policy(), 1);
	REQUIRE(least.ok());
	CHECK_EQUAL(least->cpus, 1U);
	CHECK_EQUAL(least->memory_mib, 64U);
}

/* Only Slurm sees the smaller unit; everything else is written in CPUs. */
void a_smaller_unit_is_for_slurm_only()
{
	Policy tenths = policy();
	tenths.cpu_unit = 100;
	Pod p = pod();
	p.requests.milli_cpu = 250;
	const auto quarter = translate(p, tenths, 1);
	REQUIRE(quarter.ok());
	CHECK_EQUAL(quarter->cpus, 3U);
	p.annotations = {{"slurm-kube.io/cpu-per-task", "2"}, {"slurm-kube.io/cpus-per-gpu", "4"}};
	const auto asked = translate(p, tenths, 1);
	REQUIRE(asked.ok());
	CHECK_EQUAL(asked->cpus, 20U);
	CHECK(asked->options.cpus_per_gpu == 40);
	p.requests.milli_cpu = 2100;
	const auto less = translate(p, tenths, 1);
	REQUIRE(!less.ok());
	CHECK(less.error().what.find("give 3 or more") != std::string::npos);
	p.requests.milli_cpu = 100;
	p.annotations = {{"slurm-kube.io/cpu-per-task", "6501"}};
	const auto many = translate(p, tenths, 1);
	REQUIRE(!many.ok());
	CHECK(many.error().what.find("at most 6500 CPUs") != std::string::npos);
	CHECK_EQUAL(whole_cpus(3, 100), 1U);
	CHECK_EQUAL(whole_cpus(11, 100), 2U);
	CHECK_EQUAL(cpus_text(3, 100), "0.3 CPUs");
	CHECK_EQUAL(cpus_text(10, 100), "1 CPU");
	CHECK_EQUAL(cpus_text(2, k_whole_cpu), "2 CPUs");
}

void identity_comes_from_the_namespace()
{
	const auto spec = translate(pod(), policy(), 3);
	REQUIRE(spec.ok());
	CHECK_EQUAL(spec->user_id, 1001U);
	CHECK_EQUAL(spec->group_id, 100U);
	CHECK_EQUAL(spec->account, "phys");
	CHECK_EQUAL(spec->partition, "kube");
	CHECK_EQUAL(spec->qos, "normal");
	CHECK_EQUAL(spec->marker.uid, "u-1");
	CHECK_EQUAL(spec->marker.cluster, "main");
	CHECK_EQUAL(spec->marker.attempt, 3U);
	CHECK_EQUAL(spec->name, "train-0");
	const auto other = translate(pod({}, "elsewhere"), policy(), 1);
	REQUIRE(other.ok());
	CHECK_EQUAL(other->user_id, 65534U);
	CHECK_EQUAL(other->account, "");
	CHECK_EQUAL(other->partition, "kube");
}

void options_choose_among_what_is_allowed()
{
	const auto spec = translate(
		pod({{"slurm-kube.io/account", "shared"}, {"slurm-kube.io/partition", "gpu"},
			{"slurm-kube.io/priority", "77"}, {"slurm-kube.io/timelimit", "1:30:00"},
			{"slurm-kube.io/job-name", "fit"}, {"slurm-kube.io/comment", "run 7"}}),
		policy(), 1);
	REQUIRE(spec.ok());
	CHECK_EQUAL(spec->account, "shared");
	CHECK_EQUAL(spec->partition, "gpu");
	CHECK(spec->priority == 77U);
	CHECK_EQUAL(spec->time_limit_minutes, 90U);
	CHECK_EQUAL(spec->name, "fit");
	CHECK_EQUAL(spec->comment, "run 7");
}

void refusals_name_key_value_and_remedy()
{
	struct Row {
		const char *key, *value, *part;
	};
	for (const Row &row :
		{Row{"account", "chem", "phys, shared"}, Row{"partition", "debug", "kube, gpu"},
			Row{"qos", "high", "normal"}, Row{"timelimit", "soon", "minutes"},
			Row{"timelimit", "0", "minutes"}, Row{"priority", "0", "1 to"},
			Row{"priority", "4294967295", "1 to"}, Row{"priority", "-1", "1 to"},
			Row{"job-name", "", "printable"}, Row{"comment", "a\nb", "printable"},
			Row{"licences", "x", "like it: licenses"}}) {
		const std::string key = std::string("slurm-kube.io/") + row.key;
		const auto spec = translate(pod({{key, row.value}}), policy(), 1);
		REQUIRE(!spec.ok());
		const std::string &text = spec.error().what;
		CHECK(text.find(key) != std::string::npos);
		CHECK(text.find(std::string("'") + row.value) != std::string::npos);
		CHECK(text.find(row.part) != std::string::npos);
	}
}

void what_is_not_supported_is_refused_not_ignored()
{
	Pod selects = pod();
	selects.unsupported_fields = {"spec.nodeSelector"};
	REQUIRE(!translate(selects, policy(), 1).ok());
	CHECK(translate(selects, policy(), 1).error().what.find("spec.nodeSelector") !=
		std::string::npos);
	Pod gpu = pod();
	gpu.requests.extended["nvidia.com/gpu"] = 1;
	CHECK_EQUAL(translate(gpu, policy(), 1).value().options.gres, "gpu:1");
	gpu.annotations = {{"slurm-kube.io/gres", "gpu:1"}};
	CHECK(!translate(gpu, policy(), 1).ok());
	gpu.annotations = {{"slurm-kube.io/gres", "fpga:1"}};
	CHECK_EQUAL(translate(gpu, policy(), 1).value().options.gres, "fpga:1,gpu:1");
	gpu.annotations.clear();
	gpu.requests.extended = {{"example.com/other", 1}};
	CHECK(!translate(gpu, policy(), 1).ok());
	gpu.requests.extended = {{"ephemeral-storage", 5}};
	CHECK(translate(gpu, policy(), 1).ok());
}

void a_namespace_without_rule_is_denied()
{
	Policy p = policy();
	p.namespaces.pop_back();
	const auto spec = translate(pod({}, "elsewhere"), p, 1);
	REQUIRE(!spec.ok());
	CHECK(spec.error().code == Errc::denied);
	CHECK(spec.error().what.find("elsewhere") != std::string::npos);
}

void a_deadline_becomes_the_time_limit_unless_one_is_given()
{
	Pod p = pod();
	p.active_deadline_seconds = 61;
	CHECK_EQUAL(translate(p, policy(), 1)->time_limit_minutes, 2U);
	p.active_deadline_seconds = 600'000'000;
	CHECK_EQUAL(translate(p, policy(), 1)->time_limit_minutes, 10'000'000U);
	p.active_deadline_seconds = 600'000'001; /* ends too far apart stop Slurm's scheduler */
	CHECK_EQUAL(translate(p, policy(), 1)->time_limit_minutes, 0xffffffffU);
	p.active_deadline_seconds = INT32_MAX;
	CHECK_EQUAL(translate(p, policy(), 1)->time_limit_minutes, 0xffffffffU);
	p.active_deadline_seconds = INT64_MAX;
	CHECK_EQUAL(translate(p, policy(), 1)->time_limit_minutes, 0xffffffffU);
	p.annotations = {{"slurm-kube.io/timelimit", "10"}};
	CHECK_EQUAL(translate(p, policy(), 1)->time_limit_minutes, 10U);
}

void time_limits_parse_as_sbatch_does()
{
	struct Row {
		const char *text;
		std::uint32_t minutes; /* 0: refused */
	};
	for (const Row &row : {Row{"5", 5}, Row{"5:01", 6}, Row{"1:00:00", 60}, Row{"1-0", 1440},
		     Row{"1-2:30", 1590}, Row{"0-0:0:1", 1}, Row{"UNLIMITED", k_unlimited_minutes},
		     Row{"", 0}, Row{"0", 0}, Row{"-5", 0}, Row{"5m", 0}, Row{"1:2:3:4", 0},
		     Row{"1-2-3", 0}, Row{"99999999999", 0}, Row{":", 0}, Row{"1-", 0},
		     Row{"1e3", 0}}) {
		const auto minutes = parse_time_limit(row.text);
		const bool as_wanted =
			row.minutes == 0 ? !minutes.ok() : minutes.ok() && *minutes == row.minutes;
		(void)check::record(as_wanted, row.text, __FILE__, __LINE__);
	}
}

Pod ended(PodPhase phase, std::vector<ContainerEnd> ends, bool deleting = false)
{
	Pod p;
	p.phase = phase;
	p.deleting = deleting;
	p.main_container = "main";
	p.ended_containers = std::move(ends);
	return p;
}

void ends_become_wait_statuses()
{
	const ContainerEnd oom{
		.name = "main", .exit_code = 137, .signal = 0, .reason = "OOMKilled"};
	CHECK_EQUAL(wait_status_of(ended(PodPhase::succeeded, {oom})), 0U); /* the phase decides */
	CHECK_EQUAL(wait_status_of(ended(PodPhase::failed, {oom})), 253U);
	CHECK_EQUAL(wait_status_of(ended(PodPhase::failed,
			    {{.name = "main", .exit_code = 3, .signal = 0, .reason = "Error"}})),
		3U << 8);
	CHECK_EQUAL(wait_status_of(ended(PodPhase::failed,
			    {{.name = "main", .exit_code = 137, .signal = 0, .reason = "Error"}})),
		9U);
	CHECK_EQUAL(
		wait_status_of(ended(PodPhase::failed,
			{{.name = "main", .exit_code = 128, .signal = 0, .reason = "StartError"}})),
		128U << 8);
	CHECK_EQUAL(
		wait_status_of(ended(PodPhase::failed,
			{{.name = "side", .exit_code = 9, .signal = 0, .reason = "Error"},
				{.name = "main", .exit_code = 2, .signal = 0, .reason = "Error"}})),
		2U << 8);
	CHECK_EQUAL(wait_status_of(ended(PodPhase::failed,
			    {{.name = "a", .exit_code = 4, .signal = 0, .reason = "Error"},
				    {.name = "main", .exit_code = 0, .signal = 0, .reason = ""}})),
		4U << 8);
	/* the kubelet refused the pod */
	CHECK_EQUAL(wait_status_of(ended(PodPhase::failed, {})), 1U << 8);
	CHECK_EQUAL(wait_status_of(ended(PodPhase::failed,
			    {{.name = "main", .exit_code = 143, .signal = 0, .reason = "Error"}},
			    true)),
		k_status_cancelled);
	CHECK_EQUAL(wait_status_of(ended(PodPhase::failed,
			    {{.name = "main", .exit_code = -1, .signal = 0, .reason = "Error"}})),
		1U << 8);
	Pod stuck = ended(PodPhase::failed, {}, true);
	stuck.start_limit = Condition{names::k_reason_start_limit, "ImagePullBackOff"};
	CHECK_EQUAL(wait_status_of(stuck), 125U << 8);
	stuck.ended_containers = {{.name = "main",
		.exit_code = 137,
		.signal = 0,
		.reason = "ContainerStatusUnknown"}};
	CHECK_EQUAL(wait_status_of(stuck), 125U << 8);
	stuck.ended_containers = {
		{.name = "main", .exit_code = 143, .signal = 0, .reason = "Error"}};
	/* the pod ran after all, and was then stopped */
	CHECK_EQUAL(wait_status_of(stuck), k_status_cancelled);
	stuck.deleting = false;
	CHECK_EQUAL(wait_status_of(stuck), 15U);
	/* SIGHUP */
	CHECK_EQUAL(wait_status_of(ended(PodPhase::failed,
			    {{.name = "main", .exit_code = 129, .signal = 0, .reason = "Error"}})),
		0x81U);
	Pod late = ended(PodPhase::failed,
		{{.name = "main", .exit_code = 137, .signal = 0, .reason = "Error"}});
	late.status_reason = "DeadlineExceeded";
	CHECK_EQUAL(wait_status_of(late), k_status_deadline);
	late.deleting = true;
	CHECK_EQUAL(wait_status_of(late), k_status_cancelled);
	CHECK_EQUAL(wait_status_of(ended(PodPhase::failed,
			    {{.name = "main", .exit_code = 1000, .signal = 0, .reason = "Error"}})),
		255U << 8);
}

void a_pod_that_is_gone_has_the_end_it_was_seen_with()
{
	const ContainerEnd three{.name = "main", .exit_code = 3, .signal = 0, .reason = "Error"};
	Pod pod = ended(PodPhase::failed, {three});
	CHECK_EQUAL(wait_status_of_gone(nullptr), k_status_cancelled);
	CHECK_EQUAL(wait_status_of_gone(&pod), 3U << 8);
	pod.phase = PodPhase::running;
	CHECK_EQUAL(wait_status_of_gone(&pod), k_status_cancelled);
	pod = ended(PodPhase::pending, {}, true);
	CHECK_EQUAL(wait_status_of_gone(&pod), k_status_cancelled);
	pod.start_limit = Condition{names::k_reason_start_limit, "ImagePullBackOff"};
	CHECK_EQUAL(wait_status_of_gone(&pod), k_status_not_started);
	pod.deleting = false; /* force-deleted by another client */
	CHECK_EQUAL(wait_status_of_gone(&pod), k_status_cancelled);
}

} // namespace

int main()
{
	return check::run_tests("translate",
		{
			TEST(requests_are_rounded_up_to_what_slurm_counts),
			TEST(a_smaller_unit_is_for_slurm_only),
			TEST(identity_comes_from_the_namespace),
			TEST(options_choose_among_what_is_allowed),
			TEST(refusals_name_key_value_and_remedy),
			TEST(what_is_not_supported_is_refused_not_ignored),
			TEST(a_namespace_without_rule_is_denied),
			TEST(a_deadline_becomes_the_time_limit_unless_one_is_given),
			TEST(time_limits_parse_as_sbatch_does),
			TEST(ends_become_wait_statuses),
			TEST(a_pod_that_is_gone_has_the_end_it_was_seen_with),
		});
}
