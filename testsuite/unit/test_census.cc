/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of pods and placeholders for metrics, and the histogram of a latency. */
#include "src/core/inspect/census.h"
#include "src/core/model/latency.h"
#include "src/core/model/names.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

void reasons_are_folded_into_a_fixed_list()
{
	const std::pair<const char *, const char *> rows[] = {
		{"", "None"},
		{"None", "None"},
		{"Resources", "Resources"},
		{"Priority", "Priority"},
		{"JobHeldUser", "Held"},
		{"JobHeldAdmin", "Held"},
		{"QOSMaxJobsPerUserLimit", "QOS"},
		{"AssocGrpCpuLimit", "Association"},
		{"InvalidAccount", "Association"},
		{"PartitionDown", "Partition"},
		{"PartitionTimeLimit", "Partition"},
		{"ReqNodeNotAvail, UnavailableNodes:n[1-100]", "ReqNodeNotAvail"},
		{"Nodes required for job are DOWN, DRAINED or reserved", "ReqNodeNotAvail"},
		{"a text of some site", "other"},
	};
	for (const auto &[reason, name] : rows)
		CHECK_EQUAL(folded_reason(reason), name);
}

PodEntry &add_pod(State &state, const std::string &uid)
{
	PodEntry &entry = state.pods[PodUid{uid}];
	entry.pod = Pod{};
	entry.pod->uid = {uid};
	return entry;
}

void each_pod_counts_once()
{
	State state{Settings{}};
	add_pod(state, "new");
	add_pod(state, "pending").pod->not_scheduled = {names::k_reason_pending, "text"};
	add_pod(state, "refused").pod->not_scheduled = {names::k_reason_refused, "text"};
	add_pod(state, "foreign").pod->not_scheduled = {"Unschedulable", "text"};
	add_pod(state, "gated").pod->gated = true;
	add_pod(state, "assumed").assumed_node = "n1";
	add_pod(state, "bound").pod->node_name = "n1";
	Pod &running = *add_pod(state, "running").pod;
	running.node_name = "n1";
	running.phase = PodPhase::running;
	add_pod(state, "ended").pod->phase = PodPhase::failed;
	add_pod(state, "gone").is_gone = true;
	state.pods[PodUid{"never seen"}] = {};
	const std::map<std::pair<PodPlace, std::string_view>, std::size_t> wanted = {
		{{PodPlace::waiting, "None"}, 1},
		{{PodPlace::waiting, names::k_reason_pending}, 1},
		{{PodPlace::waiting, names::k_reason_refused}, 1},
		{{PodPlace::waiting, "other"}, 1},
		{{PodPlace::gated, ""}, 1},
		{{PodPlace::starting, ""}, 2},
		{{PodPlace::running, ""}, 1},
		{{PodPlace::ended, ""}, 1},
	};
	CHECK(census_of(state).pods == wanted);
}

void jobs_count_by_state_and_folded_reason()
{
	State state{Settings{}};
	const std::pair<JobState, const char *> jobs[] = {{JobState::pending, "Priority"},
		{JobState::pending, "QOSGrpCpuLimit"}, {JobState::pending, "QOSGrpNodeLimit"},
		{JobState::running, "left over"}, {JobState::complete, ""}};
	std::uint32_t number = 0;
	for (const auto &[job_state, reason] : jobs) {
		SlurmJob &job = state.jobs[JobId{++number}];
		job.state = job_state;
		job.reason = reason;
	}
	const std::map<std::pair<JobState, std::string_view>, std::size_t> wanted = {
		{{JobState::pending, "Priority"}, 1},
		{{JobState::pending, "QOS"}, 2},
		{{JobState::running, ""}, 1},
		{{JobState::complete, ""}, 1},
	};
	CHECK(census_of(state).jobs == wanted);
}

void bounds_of_the_histogram_are_exact_and_inclusive()
{
	Latency latency;
	for (const std::uint64_t us : {0U, 999U, 1000U, 1001U, 2000U, 2001U, 600'000'000U})
		latency.add(us);
	CHECK_EQUAL(latency.up_to_ms(0), 3U);
	CHECK_EQUAL(latency.up_to_ms(1), 5U);
	CHECK_EQUAL(latency.up_to_ms(2), 6U);
	CHECK_EQUAL(latency.up_to_ms(Latency::k_histogram_powers - 1), 6U);
	CHECK_EQUAL(latency.count(), 7U);
	CHECK_EQUAL(latency.sum_us(), 600'007'001U);
}

void nodes_count_once()
{
	State state{Settings{}};
	state.slurm_nodes["a"].base = NodeBase::idle;
	state.slurm_nodes["b"].base = NodeBase::mixed;
	state.slurm_nodes["c"].base = NodeBase::idle;
	state.slurm_nodes["c"].drain = true;
	state.slurm_nodes["d"].base = NodeBase::down;
	state.slurm_nodes["d"].drain = true;
	state.kube_nodes["a"].ready = true;
	state.kube_nodes["d"].ready = false;
	const NodeCensus wanted{.in_service = 2, .drained = 1, .down = 1, .not_ready = 1};
	CHECK(nodes_of(state) == wanted);
}

void the_oldest_waiting_pod_is_found()
{
	State state{Settings{}};
	CHECK(oldest_waiting(state) == nullptr);
	const auto add = [&state](const char *name, std::int64_t created) -> PodEntry & {
		PodEntry &entry = add_pod(state, name);
		entry.pod->name = name;
		entry.pod->created = created;
		return entry;
	};
	add("bound", 1).pod->node_name = "n1";
	add("assumed", 2).assumed_node = "n1";
	add("gated", 3).pod->gated = true;
	add("ended", 4).pod->phase = PodPhase::failed;
	add("gone", 5).is_gone = true;
	CHECK(oldest_waiting(state) == nullptr);
	add("z", 7);
	add("b", 6);
	add("c", 6);
	const PodEntry *oldest = oldest_waiting(state);
	CHECK(oldest && oldest->pod->name == "b");
}

} // namespace

int main()
{
	return check::run_tests("census",
		{
			TEST(reasons_are_folded_into_a_fixed_list),
			TEST(each_pod_counts_once),
			TEST(nodes_count_once),
			TEST(the_oldest_waiting_pod_is_found),
			TEST(jobs_count_by_state_and_folded_reason),
			TEST(bounds_of_the_histogram_are_exact_and_inclusive),
		});
}
