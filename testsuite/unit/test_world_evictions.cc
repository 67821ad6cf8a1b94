/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why pods are deleted, as the metrics count it, and how many bindings a pod takes. */
#include "testsuite/unit/check.h"
#include "testsuite/unit/world_stage.h"

#include <string>
#include <utility>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

/* Carries out the only deletion; nullopt: it has no cause. */
std::optional<Eviction> remove_one(Stage &s)
{
	std::optional<Eviction> cause;
	int deletions = 0;
	for (const auto &[uid, action] : s.world.take_actions(s.now)) {
		if (const auto *remove = std::get_if<DeletePod>(&action)) {
			deletions++;
			cause = remove->cause;
			s.world.answer(DeletePodAnswered{uid, Ok{}, cause}, s.now);
		}
	}
	CHECK_EQUAL(deletions, 1);
	return cause;
}

std::string counted(const Stage &s)
{
	std::string out;
	const Evictions &evictions = s.world.counters().evictions;
	for (std::size_t i = 0; i < evictions.size(); i++)
		out += evictions[i] == 0 ? ""
					 : std::string(name_of(static_cast<Eviction>(i))) + "=" +
				std::to_string(evictions[i]) + " ";
	return out;
}

void an_eviction_has_the_state_of_its_job()
{
	/* a pod that runs on although its job has failed or completed gets another job */
	const std::pair<JobState, const char *> rows[] = {{JobState::cancelled, "cancelled"},
		{JobState::timeout, "timeout"}, {JobState::node_fail, "node_fail"},
		{JobState::preempted, "preempted"}, {JobState::boot_fail, "boot_fail"},
		{JobState::deadline, "deadline"}};
	for (const auto &[state, name] : rows) {
		Stage s;
		run_pod(s, "a", 7);
		s.world.observe(JobSeen{Stage::job(7, "a", state)}, s.now);
		(void)remove_one(s);
		CHECK_EQUAL(counted(s), std::string(name) + "=1 ");
	}
}

void each_cause_has_its_name()
{
	for (const JobState state : {JobState::cancelled, JobState::complete, JobState::failed,
		     JobState::timeout, JobState::node_fail, JobState::preempted,
		     JobState::boot_fail, JobState::deadline, JobState::oom})
		CHECK(eviction_of(state) != Eviction::unknown);
	CHECK_EQUAL(name_of(eviction_of(JobState::complete)), std::string("completed"));
	CHECK_EQUAL(name_of(eviction_of(JobState::failed)), std::string("failed"));
	CHECK_EQUAL(name_of(eviction_of(JobState::oom)), std::string("out_of_memory"));
	CHECK_EQUAL(name_of(eviction_of(JobState::unknown)), std::string("unknown"));
}

/* The grace period of a pod that its user deletes is only shortened. */
void a_pod_that_goes_anyway_is_not_evicted()
{
	Stage s;
	run_pod(s, "a", 7);
	Pod p = *s.world.state().pod({"a"});
	p.deleting = true;
	p.deletion_grace_seconds = 315'360'000;
	s.world.observe(PodSeen{p}, s.now);
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::timeout)}, s.now);
	CHECK(!remove_one(s));
	CHECK_EQUAL(counted(s), "");
}

void a_failed_deletion_is_not_counted()
{
	Stage s;
	run_pod(s, "a", 7);
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::cancelled)}, s.now);
	CHECK_EQUAL(s.act(), "remove:a");
	s.world.answer(
		DeletePodAnswered{{"a"}, Error{Errc::again, "429"}, Eviction::cancelled}, s.now);
	CHECK_EQUAL(counted(s), "");
}

void a_pod_that_does_not_start_has_its_own_cause()
{
	Stage s(10 * k_second);
	run_pod(s, "u1", 7);
	Pod p = *s.world.state().pod({"u1"});
	p.phase = PodPhase::pending;
	p.start_limit = Condition{names::k_reason_start_limit, "said by an agent that died then"};
	s.world.observe(PodSeen{p}, s.now);
	CHECK(remove_one(s) == Eviction::start_limit);
	CHECK_EQUAL(counted(s), "start_limit=1 ");
}

void bindings_are_counted_until_the_pod_is_bound()
{
	Stage s;
	s.world.observe(PodSeen{s.pod("a", 1000)}, s.now);
	(void)s.act();
	s.allocate("a", 7);
	s.world.observe(JobSeen{Stage::job(7, "a", JobState::running)}, s.now);
	const BindAttempts &attempts = s.world.bind_attempts();
	for (int i = 0; i < 2; i++) {
		CHECK(s.act().find("bind:a") != std::string::npos);
		s.world.answer(BindAnswered{{"a"}, Error{Errc::again, "429"}}, s.now);
		CHECK_EQUAL(attempts.count(), 0U);
		s.pass(4 * k_second);
	}
	CHECK(s.act().find("bind:a") != std::string::npos);
	s.world.answer(BindAnswered{{"a"}, Ok{}}, s.now);
	CHECK_EQUAL(attempts.count(), 1U);
	CHECK_EQUAL(attempts.sum(), 3U);
	CHECK_EQUAL(attempts.up_to(1), 0U); /* two */
	CHECK_EQUAL(attempts.up_to(2), 1U); /* four */
	CHECK_EQUAL(attempts.sum(), s.world.counters().bound + s.world.counters().bind_failed);
}

} // namespace

int main()
{
	return check::run_tests("world_evictions",
		{
			TEST(an_eviction_has_the_state_of_its_job),
			TEST(each_cause_has_its_name),
			TEST(a_pod_that_goes_anyway_is_not_evicted),
			TEST(a_failed_deletion_is_not_counted),
			TEST(a_pod_that_does_not_start_has_its_own_cause),
			TEST(bindings_are_counted_until_the_pod_is_bound),
		});
}
