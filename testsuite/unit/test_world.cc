/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World as the agent drives it: facts in, actions out, answers in; with restarts, losses and crossings of messages. */
#include "src/core/names.h"
#include "src/core/outcome.h"
#include "src/core/world.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

constexpr std::int64_t k_second = 1'000'000;

/* A world with one node of four CPUs, and a clock that tests move. */
struct Stage {
	World world;
	Now now{.mono_us = 100 * k_second, .wall_s = 1'000'000};
	std::uint32_t next_job = 1;

	explicit Stage(std::int64_t start_limit_us = 0) : world(settings(start_limit_us))
	{
		node(true);
		world.nodes_listed({"node-uid"});
		world.pods_listed({}, now);
		connect({});
	}

	static Settings settings(std::int64_t start_limit_us = 0)
	{
		Settings s;
		s.start_limit_us = start_limit_us;
		s.policy.cluster = "main";
		s.policy.namespaces = {{.name_space = "*", .user_id = 1, .group_id = 1, .accounts = {}, .partitions = {}, .qos = {}}};
		s.nodes.label_key = names::k_managed_label;
		return s;
	}

	void pass(std::int64_t us)
	{
		now.mono_us += us;
		now.wall_s += us / k_second;
	}

	void node(bool ready)
	{
		KubeNode n;
		n.name = "n1";
		n.uid = "node-uid";
		n.ready = ready;
		n.labels = {{names::k_managed_label, "true"}};
		n.allocatable = {.milli_cpu = 4000, .memory_bytes = std::int64_t{1} << 40, .pods = 100, .extended = {}};
		world.node_seen(n, now);
	}

	void connect(const std::vector<SlurmJob> &jobs)
	{
		PluginHello hello;
		hello.slurm_version_number = 22U << 16;
		world.link_opened(hello);
		SlurmNode n;
		n.name = "n1";
		n.base = NodeBase::idle;
		world.slurm_node_seen(n);
		for (const SlurmJob &job : jobs)
			world.job_seen(job, now);
		world.snapshot_ended(now);
	}

	Pod pod(const std::string &uid, std::int64_t milli_cpu = 1000) const
	{
		Pod p;
		p.uid = {uid};
		p.name_space = "default";
		p.name = "pod-" + uid;
		p.requests = {.milli_cpu = milli_cpu, .memory_bytes = 0, .pods = 1, .extended = {}};
		return p;
	}

	static SlurmJob job(std::uint32_t id, const std::string &uid, JobState state, std::uint32_t attempt = 1)
	{
		SlurmJob j;
		j.id = {id};
		j.marker = {.cluster = "main", .name_space = "default", .name = "pod-" + uid, .kind = "Pod", .uid = uid, .attempt = attempt};
		j.state = state;
		if (state == JobState::running)
			j.nodes = {{.node = "n1", .cpus = 1, .core_ids = "0", .memory_mib = 64, .gres = {}}};
		return j;
	}

	/* What to do now, as text; one word for each action. */
	std::string act()
	{
		std::string out;
		for (const auto &[uid, action] : world.take_actions(now)) {
			out += out.empty() ? "" : " ";
			if (const auto *s = std::get_if<Submit>(&action))
				out += "submit:" + uid.text + "#" + std::to_string(s->spec.marker.attempt) + (s->spec.required_node.empty() ? "" : "@" + s->spec.required_node);
			else if (const auto *u = std::get_if<Update>(&action))
				out += "update:" + std::to_string(u->job.number) + "+" + std::to_string(u->given.size()) + "-" + std::to_string(u->removed.size());
			else if (const auto *c = std::get_if<Cancel>(&action))
				out += "cancel:" + std::to_string(c->job.number);
			else if (const auto *e = std::get_if<Complete>(&action))
				out += "complete:" + std::to_string(e->job.number) + "=" + (e->wait_status == k_status_cancelled ? "cancelled" : std::to_string(e->wait_status));
			else if (const auto *b = std::get_if<Bind>(&action))
				out += "bind:" + uid.text + "@" + b->node;
			else if (std::holds_alternative<LookUp>(action))
				out += "look:" + uid.text;
			else if (std::holds_alternative<Remove>(action))
				out += "remove:" + uid.text;
			else if (const auto *r = std::get_if<Report>(&action))
				out += "report:" + uid.text + ":" + r->not_scheduled.reason;
		}
		return out;
	}

	void allocate(const std::string &uid, std::uint32_t id) { world.submitted({uid}, Submitted{.job = {id}, .node = "n1", .cpus = 1}, now); }
};

/* Brings a pod to Running on n1 under this job. */
void run_pod(Stage &s, const std::string &uid, std::uint32_t id, std::int64_t milli_cpu = 1000)
{
	s.world.pod_seen(s.pod(uid, milli_cpu), s.now);
	(void)s.act();
	s.allocate(uid, id);
	(void)s.act();
	s.world.bound({uid}, Ok{}, s.now);
	Pod p = s.pod(uid, milli_cpu);
	p.node_name = "n1";
	p.phase = PodPhase::running;
	p.annotations = {{names::k_allocation_job_id, std::to_string(id)}, {names::k_allocation_attempt, "1"}};
	s.world.pod_seen(p, s.now);
	s.world.job_seen(Stage::job(id, uid, JobState::running), s.now);
}

Pod end_of(Pod pod, PodPhase phase, int exit_code)
{
	pod.node_name = "n1";
	pod.phase = phase;
	pod.main_container = "c";
	pod.ended_containers = {{.name = "c", .exit_code = exit_code, .signal = 0, .reason = "x"}};
	return pod;
}

void a_pod_lives_and_ends_with_three_calls()
{
	Stage s;
	s.world.pod_seen(s.pod("a"), s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
	CHECK_EQUAL(s.act(), ""); /* under way */
	s.allocate("a", 7);
	CHECK_EQUAL(s.act(), "bind:a@n1");
	CHECK_EQUAL(s.world.occupancy().pods_on("n1"), 1U); /* from the moment the binding is sent */
	s.world.bound({"a"}, Ok{}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.world.job_seen(Stage::job(7, "a", JobState::running), s.now);
	s.world.pod_seen(end_of(s.pod("a"), PodPhase::failed, 3), s.now);
	CHECK_EQUAL(s.act(), "complete:7=768");
	CHECK_EQUAL(s.world.occupancy().pods_on("n1"), 0U);
	s.world.completed({"a"}, Ok{}, false, s.now);
	CHECK_EQUAL(s.act(), "");
	s.world.job_seen(Stage::job(7, "a", JobState::failed), s.now);
	s.pass(10 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.world.pod_gone({"a"}, std::nullopt, s.now);
	s.world.job_gone({7});
	CHECK_EQUAL(s.act(), "");
	CHECK(s.world.groups().empty());
}

void nothing_happens_before_every_list_is_complete()
{
	World world(Stage::settings());
	const Now now{.mono_us = 1, .wall_s = 1};
	Pod p;
	p.uid = {"a"};
	world.pod_seen(p, now);
	CHECK(world.take_actions(now).empty());
	world.pods_listed({"a"}, now);
	CHECK(world.take_actions(now).empty());
	world.nodes_listed({});
	CHECK(world.take_actions(now).empty());
	world.link_opened({});
	CHECK(world.take_actions(now).empty());
	world.snapshot_ended(now);
	CHECK_EQUAL(world.take_actions(now).size(), 1U);
}

void a_lost_link_stops_everything_until_the_next_snapshot()
{
	Stage s;
	s.world.link_lost();
	s.world.pod_seen(s.pod("a"), s.now);
	CHECK_EQUAL(s.act(), "");
	s.connect({});
	CHECK_EQUAL(s.act(), "submit:a#1");
}

void a_restarted_agent_goes_on_where_the_other_died()
{
	Stage s;
	s.world.link_lost();
	/* died after the submission, after the binding, after the end */
	s.world.pod_seen(s.pod("a"), s.now);
	Pod b = s.pod("b");
	b.node_name = "n1";
	s.world.pod_seen(b, s.now);
	s.world.pod_seen(end_of(s.pod("c"), PodPhase::succeeded, 0), s.now);
	s.connect({Stage::job(1, "a", JobState::running), Stage::job(2, "b", JobState::running), Stage::job(3, "c", JobState::running), Stage::job(4, "gone", JobState::running),
		   Stage::job(5, "gone2", JobState::pending)});
	CHECK_EQUAL(s.act(), "bind:a@n1 complete:3=0 look:gone look:gone2");
	s.world.looked_up({"gone"}, Sight::absent, s.now);
	s.world.looked_up({"gone2"}, Sight::absent, s.now);
	CHECK_EQUAL(s.act(), "complete:4=cancelled cancel:5");
}

void jobs_of_another_cluster_are_never_touched()
{
	Stage s;
	SlurmJob foreign = Stage::job(9, "x", JobState::running);
	foreign.marker.cluster = "other";
	s.connect({foreign});
	CHECK_EQUAL(s.act(), "");
	s.world.job_seen(foreign, s.now);
	CHECK_EQUAL(s.act(), "");
}

void scancel_deletes_the_pod_once_and_the_next_waits_for_its_end()
{
	Stage s;
	run_pod(s, "a", 7, 4000);
	s.world.job_seen(Stage::job(7, "a", JobState::cancelled), s.now);
	CHECK_EQUAL(s.act(), "remove:a");
	s.world.removed({"a"}, Ok{}, s.now);
	CHECK_EQUAL(s.act(), ""); /* the watch has not shown deletionTimestamp yet */
	Pod stopping = s.pod("a", 4000);
	stopping.node_name = "n1";
	stopping.phase = PodPhase::running;
	stopping.deleting = true;
	s.world.pod_seen(stopping, s.now);
	s.world.pod_seen(s.pod("b", 4000), s.now);
	CHECK_EQUAL(s.act(), "submit:b#1");
	s.allocate("b", 8);
	CHECK_EQUAL(s.act(), "");
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "report:b:SlurmPending");
	s.world.reported({"b"}, Ok{}, s.now);
	stopping.phase = PodPhase::failed;
	s.world.pod_seen(stopping, s.now);
	CHECK_EQUAL(s.act(), "bind:b@n1");
}

void a_forced_deletion_holds_the_share_some_seconds_more()
{
	Stage s;
	run_pod(s, "a", 7, 4000);
	s.world.pod_gone({"a"}, std::nullopt, s.now);
	CHECK_EQUAL(s.act(), "complete:7=cancelled");
	s.world.completed({"a"}, Ok{}, true, s.now);
	s.world.job_seen(Stage::job(7, "a", JobState::cancelled), s.now);
	s.world.pod_seen(s.pod("b", 4000), s.now);
	CHECK_EQUAL(s.act(), "submit:b#1");
	s.allocate("b", 8);
	CHECK_EQUAL(s.act(), "");
	s.pass(2'900'000);
	(void)s.act(); /* says why it waits */
	s.world.reported({"b"}, Ok{}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(200'000);
	CHECK_EQUAL(s.act(), "bind:b@n1");
}

void a_submission_that_crosses_a_snapshot_is_not_lost()
{
	Stage s;
	s.world.pod_seen(s.pod("a"), s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.world.link_opened({}); /* a snapshot begins, read before the job was made */
	s.allocate("a", 7);
	s.world.snapshot_ended(s.now);
	CHECK_EQUAL(s.act(), "bind:a@n1");
	s.world.bound({"a"}, Ok{}, s.now);
	Pod p = s.pod("a");
	p.node_name = "n1";
	s.world.pod_seen(p, s.now);
	s.connect({});
	s.pass(5 * k_second);
	CHECK_EQUAL(s.act(), "");
}

void a_job_that_slurm_lost_is_taken_up_after_ten_seconds_and_not_before()
{
	Stage s;
	run_pod(s, "a", 7);
	s.connect({}); /* restored from an older state */
	CHECK_EQUAL(s.act(), "");
	s.pass(9 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#2@n1");
	s.allocate("a", 8);
	CHECK_EQUAL(s.act(), "");
	CHECK_EQUAL(s.world.counters().readopted, 1U);
}

/* slurmctld killed before it saved the start: the job is pending again and may start on another node, whose failure is not the pod's. */
void a_job_that_slurm_starts_anew_elsewhere_is_not_the_running_pods()
{
	Stage s;
	run_pod(s, "a", 7);
	s.connect({Stage::job(7, "a", JobState::pending)});
	CHECK_EQUAL(s.act(), "");
	SlurmJob elsewhere = Stage::job(7, "a", JobState::running);
	elsewhere.nodes.front().node = "n2";
	s.world.job_seen(elsewhere, s.now);
	s.pass(9 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#2@n1");
	s.allocate("a", 8);
	CHECK_EQUAL(s.act(), "cancel:7"); /* only now that the pod has a job again */
	s.world.completed({"a"}, Ok{}, true, s.now);
	s.world.job_seen(Stage::job(7, "a", JobState::cancelled), s.now);
	CHECK_EQUAL(s.act(), "");
}

void the_end_of_a_job_that_slurm_started_anew_elsewhere_is_not_the_pods()
{
	Stage s;
	run_pod(s, "a", 7);
	SlurmJob elsewhere = Stage::job(7, "a", JobState::running);
	elsewhere.nodes.front().node = "n2";
	s.connect({elsewhere});
	s.world.job_seen(Stage::job(7, "a", JobState::node_fail), s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#2@n1");
}

/* Whoever cancels it means the pod. */
void a_job_that_is_pending_again_may_be_cancelled_by_people()
{
	Stage s;
	run_pod(s, "a", 7);
	s.connect({Stage::job(7, "a", JobState::pending)});
	s.world.job_seen(Stage::job(7, "a", JobState::cancelled), s.now);
	CHECK_EQUAL(s.act(), "remove:a");
}

void a_job_pinned_to_the_pods_node_may_wait()
{
	Stage s;
	run_pod(s, "a", 7);
	s.connect({Stage::job(8, "a", JobState::pending, 2)});
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.world.job_seen(Stage::job(8, "a", JobState::node_fail, 2), s.now);
	CHECK_EQUAL(s.act(), "remove:a");
}

void a_failed_submission_is_repeated_with_the_same_attempt()
{
	Stage s;
	s.world.pod_seen(s.pod("a"), s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.world.submitted({"a"}, Error{Errc::io, "broken pipe"}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(300'000);
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.world.submitted({"a"}, Error{Errc::invalid, "Invalid account"}, s.now);
	CHECK_EQUAL(s.act(), "report:a:SlurmRefused");
	s.world.reported({"a"}, Ok{}, s.now);
	s.pass(30 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(31 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#1");
}

void a_waiting_pod_is_told_on_change_and_not_too_often()
{
	Stage s;
	s.world.pod_seen(s.pod("a"), s.now);
	(void)s.act();
	s.world.submitted({"a"}, Submitted{.job = {7}, .node = "", .cpus = 0}, s.now);
	SlurmJob job = Stage::job(7, "a", JobState::pending);
	job.reason = "Resources";
	s.world.job_seen(job, s.now);
	CHECK_EQUAL(s.act(), ""); /* most pods start within a second */
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "report:a:SlurmPending");
	s.world.reported({"a"}, Ok{}, s.now);
	s.world.job_seen(job, s.now);
	CHECK_EQUAL(s.act(), "");
	job.reason = "Priority";
	s.world.job_seen(job, s.now);
	s.pass(10 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(20 * k_second);
	CHECK_EQUAL(s.act(), "report:a:SlurmPending");
}

void a_number_used_again_is_another_job()
{
	Stage s;
	run_pod(s, "a", 7);
	s.connect({Stage::job(7, "b", JobState::running)});
	CHECK_EQUAL(s.act(), "look:b");
	s.world.looked_up({"b"}, Sight::absent, s.now);
	CHECK_EQUAL(s.act(), "complete:7=cancelled"); /* b is no pod */
	const auto group = s.world.groups().find({"a"});
	REQUIRE(group != s.world.groups().end());
	CHECK(s.world.current_job(group->second) == nullptr);
}

void the_same_name_with_a_new_uid_is_another_pod()
{
	Stage s;
	run_pod(s, "a", 7);
	Pod other = s.pod("b");
	other.name = "pod-a";
	s.world.pod_seen(other, s.now);
	s.world.pods_listed({"b"}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=cancelled submit:b#1");
}

void a_binding_that_failed_is_tried_again_on_the_same_allocation()
{
	Stage s;
	s.world.pod_seen(s.pod("a"), s.now);
	(void)s.act();
	s.allocate("a", 7);
	CHECK_EQUAL(s.act(), "bind:a@n1");
	s.world.bound({"a"}, Error{Errc::again, "503"}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "bind:a@n1");
}

/* A server that has stalled may carry out a binding that its client has given up: the share is held for a while, whatever becomes of the job. */
void a_binding_that_failed_holds_its_share_for_a_while()
{
	Stage s;
	s.world.pod_seen(s.pod("a", 3000), s.now);
	s.world.pod_seen(s.pod("b", 3000), s.now);
	(void)s.act();
	s.allocate("a", 7);
	CHECK_EQUAL(s.act(), "bind:a@n1");
	s.world.bound({"a"}, Error{Errc::denied, "403"}, s.now);
	s.world.pod_gone({"a"}, std::nullopt, s.now);
	s.allocate("b", 8);
	CHECK(s.act().find("bind:b") == std::string::npos);
	s.pass(5 * k_second + k_second / 2);
	CHECK(s.act().find("bind:b") == std::string::npos); /* and then as after any deletion that waited for nobody */
	s.pass(3 * k_second + k_second / 2);
	CHECK_EQUAL(s.act(), "bind:b@n1");
}

/* An API server that has just started forbids everything until it has read its roles. */
void a_binding_that_was_forbidden_is_tried_again_soon()
{
	Stage s;
	s.world.pod_seen(s.pod("a"), s.now);
	(void)s.act();
	s.allocate("a", 7);
	CHECK_EQUAL(s.act(), "bind:a@n1");
	s.world.bound({"a"}, Error{Errc::denied, "403"}, s.now);
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "bind:a@n1");
}

void a_binding_that_worked_after_all_does_not_delay_the_end()
{
	Stage s;
	s.world.pod_seen(s.pod("a"), s.now);
	(void)s.act();
	s.allocate("a", 7);
	s.world.job_seen(Stage::job(7, "a", JobState::running), s.now);
	CHECK_EQUAL(s.act(), "bind:a@n1");
	for (int i = 0; i < 8; i++) {
		s.world.bound({"a"}, Error{Errc::io, "no answer"}, s.now);
		s.pass(40 * k_second);
		CHECK_EQUAL(s.act(), "bind:a@n1");
	}
	s.world.bound({"a"}, Error{Errc::io, "no answer"}, s.now);
	s.world.pod_seen(end_of(s.pod("a"), PodPhase::succeeded, 0), s.now);
	CHECK_EQUAL(s.act(), "complete:7=0");
}

void what_failed_while_a_side_was_away_is_tried_when_it_is_back()
{
	Stage s;
	s.world.pod_seen(s.pod("a"), s.now);
	(void)s.act();
	s.allocate("a", 7);
	s.world.job_seen(Stage::job(7, "a", JobState::running), s.now);
	for (int i = 0; i < 8; i++) {
		CHECK_EQUAL(s.act(), "bind:a@n1");
		s.world.bound({"a"}, Error{Errc::again, "connection refused"}, s.now);
		s.pass(31 * k_second);
	}
	CHECK_EQUAL(s.act(), "bind:a@n1");
	s.world.bound({"a"}, Error{Errc::again, "connection refused"}, s.now);
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "");
	s.world.pods_listed({"a"}, s.now); /* the API server is back */
	CHECK_EQUAL(s.act(), "bind:a@n1");

	Stage t;
	t.world.pod_seen(t.pod("b"), t.now);
	CHECK_EQUAL(t.act(), "submit:b#1");
	t.world.submitted({"b"}, Error{Errc::invalid, "Invalid account"}, t.now);
	(void)t.act();
	t.world.reported({"b"}, Ok{}, t.now);
	t.connect({}); /* a refusal is none that a new connection heals */
	CHECK_EQUAL(t.act(), "");
}

/* A new leader may see a pod as unbound that runs under this very job: so not at first sight, and counted anew with each snapshot. */
void an_allocation_is_given_back_only_when_a_pod_without_a_job_has_needed_it_for_a_while()
{
	Stage s;
	run_pod(s, "a", 7, 4000);
	s.world.pod_seen(s.pod("b", 4000), s.now);
	CHECK_EQUAL(s.act(), "submit:b#1");
	s.connect({}); /* an older state: job 7 is lost */
	s.allocate("b", 8);
	s.world.job_seen(Stage::job(8, "b", JobState::running), s.now);
	(void)s.act();
	s.world.reported({"b"}, Ok{}, s.now);
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#2@n1 report:b:SlurmPending");
	s.world.reported({"b"}, Ok{}, s.now);
	(void)s.act();
	s.world.submitted({"a"}, Submitted{.job = {9}, .node = "", .cpus = 0}, s.now);
	(void)s.act();
	s.pass(4 * k_second); /* nothing happens to b: it has to look by itself */
	CHECK_EQUAL(s.act(), "");
	s.pass(4 * k_second);
	CHECK_EQUAL(s.act(), "look:b");
	s.world.looked_up({"b"}, Sight::bound, s.now); /* the watch is behind */
	CHECK_EQUAL(s.act(), "");
	s.connect({Stage::job(8, "b", JobState::running), Stage::job(9, "a", JobState::pending, 2)});
	CHECK_EQUAL(s.act(), "");
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(4 * k_second);
	CHECK_EQUAL(s.act(), "look:b");
	s.world.looked_up({"b"}, Sight::unbound, s.now);
	CHECK_EQUAL(s.act(), "complete:8=256");
}

/* The next agent was not told of the job, but the Binding names it: no answer was lost. */
void a_job_cancelled_soon_after_its_submission_takes_its_bound_pod_along_over_a_restart()
{
	Stage s;
	Pod p = s.pod("a");
	p.node_name = "n1";
	p.phase = PodPhase::running;
	p.annotations = {{names::k_allocation_job_id, "7"}, {names::k_allocation_attempt, "1"}};
	s.world.pod_seen(p, s.now);
	SlurmJob ended = Stage::job(7, "a", JobState::cancelled);
	ended.submit_time = s.now.wall_s - 2;
	ended.end_time = s.now.wall_s - 1;
	s.connect({ended});
	CHECK_EQUAL(s.act(), "remove:a");
}

void a_binding_waits_for_its_node_to_be_ready()
{
	Stage s;
	s.node(false);
	s.world.pod_seen(s.pod("a"), s.now);
	(void)s.act();
	s.allocate("a", 7);
	CHECK_EQUAL(s.act(), "");
	s.node(true);
	CHECK_EQUAL(s.act(), "bind:a@n1");
}

void two_live_jobs_of_one_pod_become_one()
{
	Stage s;
	run_pod(s, "a", 7);
	s.world.job_seen(Stage::job(9, "a", JobState::running, 2), s.now);
	CHECK_EQUAL(s.act(), "cancel:9"); /* the Binding names 7 */
}

void a_job_that_ends_before_its_pod_runs_is_replaced_ever_more_slowly()
{
	Stage s;
	s.world.pod_seen(s.pod("a"), s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.world.submitted({"a"}, Error{Errc::io, "the agent was restarted"}, s.now);
	s.world.job_seen(Stage::job(1, "a", JobState::failed), s.now);
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "submit:a#2");
	s.allocate("a", 2);
	s.world.job_seen(Stage::job(2, "a", JobState::failed, 2), s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#3");
	s.allocate("a", 3);
	s.world.job_seen(Stage::job(3, "a", JobState::failed, 3), s.now);
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.pass(3 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#4");
}

SlurmJob cancelled_job(const Stage &s, std::uint32_t id, const std::string &uid, std::int64_t seconds_after_submission)
{
	SlurmJob job = Stage::job(id, uid, JobState::cancelled);
	job.submit_time = s.now.wall_s;
	job.end_time = s.now.wall_s + seconds_after_submission;
	return job;
}

void a_job_that_slurmctld_could_not_tell_us_of_is_replaced()
{
	Stage s;
	s.world.link_lost();
	s.world.pod_seen(s.pod("a"), s.now);
	s.connect({cancelled_job(s, 1, "a", 0)});
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "submit:a#2");
}

void a_job_that_somebody_cancelled_takes_its_pod_along()
{
	Stage s;
	s.world.link_lost(); /* while the agent was away */
	s.world.pod_seen(s.pod("a"), s.now);
	s.connect({cancelled_job(s, 1, "a", 60)});
	CHECK_EQUAL(s.act(), "remove:a");
	Stage t; /* at once, but after we had the answer */
	t.world.pod_seen(t.pod("a"), t.now);
	CHECK_EQUAL(t.act(), "submit:a#1");
	t.world.submitted({"a"}, Submitted{.job = {1}, .node = "", .cpus = 0}, t.now);
	t.world.job_seen(cancelled_job(t, 1, "a", 0), t.now);
	CHECK_EQUAL(t.act(), "remove:a");
}

/* A bound pod on which nothing runs; and what the kubelet says while it pulls. */
Pod starting(const Stage &s, const std::string &uid, std::uint32_t id)
{
	Pod p = s.pod(uid);
	p.node_name = "n1";
	p.annotations = {{names::k_allocation_job_id, std::to_string(id)}, {names::k_allocation_attempt, "1"}};
	p.waiting_reason = "ImagePullBackOff";
	return p;
}

void a_pod_that_does_not_start_is_given_up_after_the_limit()
{
	Stage s(10 * k_second);
	run_pod(s, "u1", 7);
	s.world.pod_seen(starting(s, "u1", 7), s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(6 * k_second);
	Pod init = starting(s, "u1", 7);
	init.container_runs = true;
	s.world.pod_seen(init, s.now); /* an init container runs: the clock stands, and counts anew after it */
	CHECK_EQUAL(s.act(), "");
	s.pass(20 * k_second);
	s.world.pod_seen(starting(s, "u1", 7), s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(6 * k_second);
	s.node(false); /* and while its node is NotReady: nobody could tell us that it started */
	CHECK_EQUAL(s.act(), "");
	s.pass(6 * k_second);
	s.node(true);
	CHECK_EQUAL(s.act(), "");
	s.pass(10 * k_second - 1);
	CHECK_EQUAL(s.act(), "");
	s.pass(1);
	CHECK_EQUAL(s.act(), "remove:u1"); /* by the clock alone */
	s.world.removed({"u1"}, Error{Errc::conflict, "it has changed"}, s.now);
	init.phase = PodPhase::running;
	s.world.pod_seen(init, s.now);
	s.pass(30 * k_second);
	CHECK_EQUAL(s.act(), ""); /* it runs after all */
}

void a_pod_that_was_given_up_ends_its_job_failed()
{
	Stage s(10 * k_second);
	run_pod(s, "u1", 7);
	Pod p = starting(s, "u1", 7);
	p.start_limit = Condition{names::k_reason_start_limit, "said by an agent that died then"};
	s.world.pod_seen(p, s.now);
	CHECK_EQUAL(s.act(), "remove:u1");
	s.world.removed({"u1"}, Ok{}, s.now);
	p.deleting = true;
	s.world.pod_seen(p, s.now);
	CHECK_EQUAL(s.act(), "");
	s.world.pod_gone({"u1"}, p, s.now);
	CHECK_EQUAL(s.act(), "complete:7=" + std::to_string(125U << 8));
}

void decisions_and_effects_are_timed()
{
	Stage s;
	s.world.pod_seen(s.pod("u1"), s.now);
	(void)s.act();
	s.allocate("u1", 7);
	(void)s.act();
	s.world.bound({"u1"}, Ok{}, s.now);
	Pod p = starting(s, "u1", 7);
	s.world.pod_seen(p, s.now);
	CHECK_EQUAL(s.world.edges().bound_to_running.count(), 0U);
	s.pass(2 * k_second);
	p.phase = PodPhase::running;
	s.world.pod_seen(p, s.now);
	s.world.pod_seen(p, s.now);
	CHECK_EQUAL(s.world.edges().bound_to_running.count(), 1U);
	CHECK_EQUAL(s.world.edges().bound_to_running.max_us(), static_cast<std::uint64_t>(2 * k_second));
	p.deleting = true;
	s.world.pod_seen(p, s.now);
	s.pass(3 * k_second);
	s.world.pod_gone({"u1"}, p, s.now);
	CHECK_EQUAL(s.act(), "complete:7=cancelled");
	s.world.completed({"u1"}, Ok{}, true, s.now);
	CHECK_EQUAL(s.world.edges().pod_deleted_to_job_ended.max_us(), static_cast<std::uint64_t>(3 * k_second));
}

void ended_jobs_count_once_even_if_told_late()
{
	Stage s;
	run_pod(s, "a", 7);
	s.world.pod_seen(end_of(s.pod("a"), PodPhase::succeeded, 0), s.now);
	CHECK_EQUAL(s.act(), "complete:7=0");
	s.world.completed({"a"}, Ok{}, false, s.now);
	s.world.job_seen(Stage::job(7, "a", JobState::running), s.now); /* read before the completion */
	CHECK_EQUAL(s.act(), "");
	s.pass(4 * k_second);
	CHECK_EQUAL(s.act(), "complete:7=0"); /* it really still runs: again */
}

/* ---- found by testsuite/sim ---- */

SlurmNode slurm_node(const std::string &name, NodeBase base, const std::string &drain_reason = "")
{
	SlurmNode node;
	node.name = name;
	node.base = base;
	node.drain = !drain_reason.empty();
	node.reason = drain_reason;
	return node;
}

/* Another slurmctld without the job: it was killed before it had saved what it answered. */
void a_job_that_only_a_dead_slurmctld_told_us_of_is_forgotten()
{
	Stage s;
	s.world.pod_seen(s.pod("a"), s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.allocate("a", 7);
	PluginHello hello;
	hello.pid = 4711;
	s.world.link_opened(hello);
	s.world.slurm_node_seen(slurm_node("n1", NodeBase::idle));
	s.world.snapshot_ended(s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
}

void a_job_that_the_plugin_never_tells_of_is_forgotten()
{
	Stage s;
	s.world.pod_seen(s.pod("a"), s.now);
	(void)s.act();
	s.world.submitted({"a"}, Submitted{.job = {7}, .node = "", .cpus = 0}, s.now);
	s.pass(9 * k_second);
	(void)s.act(); /* tells that it waits */
	s.world.reported({"a"}, Ok{}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "submit:a#1");
}

/* A standby takes over while its watch is behind. */
void a_pod_that_the_watch_has_not_shown_keeps_its_job()
{
	Stage s;
	s.connect({Stage::job(7, "a", JobState::running)});
	CHECK_EQUAL(s.act(), "look:a");
	s.world.looked_up({"a"}, Error{Errc::io, "no answer"}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "look:a");
	s.world.looked_up({"a"}, Sight::bound, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(5 * k_second);
	CHECK_EQUAL(s.act(), "look:a");
	Pod p = s.pod("a");
	p.node_name = "n1";
	s.world.pod_seen(p, s.now);
	s.world.looked_up({"a"}, Sight::bound, s.now);
	CHECK_EQUAL(s.act(), "");
}

/* The agent died while it took up a pod whose job slurmctld had lost: slurmctld ends the new job, the pod stays. */
void a_running_pod_outlives_a_job_whose_answer_was_lost()
{
	Stage s;
	run_pod(s, "a", 7);
	SlurmJob lost = Stage::job(8, "a", JobState::failed, 2);
	lost.submit_time = lost.end_time = s.now.wall_s;
	s.connect({lost});
	CHECK_EQUAL(s.act(), "");
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#3@n1");
}

void a_running_pod_outlives_an_earlier_job_of_its_own()
{
	Stage s;
	run_pod(s, "a", 7);
	Pod p = *s.world.pod_of({"a"});
	p.annotations[names::k_allocation_attempt] = "2";
	s.world.pod_seen(p, s.now);
	SlurmJob first = Stage::job(6, "a", JobState::node_fail, 1); /* before the binding */
	s.connect({first});
	CHECK_EQUAL(s.act(), "");
	s.pass(11 * k_second);
	CHECK_EQUAL(s.act(), "submit:a#3@n1");
}

/* Slurm has the number again after a restore, for the same pod even: what we heard of the first one says nothing. */
void an_answer_is_forgotten_with_its_job()
{
	Stage s;
	s.world.pod_seen(s.pod("a"), s.now);
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.world.submitted({"a"}, Submitted{.job = {1}, .node = "", .cpus = 0}, s.now);
	s.world.job_seen(Stage::job(1, "a", JobState::pending), s.now);
	s.connect({}); /* an older state */
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.world.submitted({"a"}, Error{Errc::io, "no answer"}, s.now);
	s.world.job_seen(cancelled_job(s, 1, "a", 0), s.now);
	s.pass(k_second);
	CHECK_EQUAL(s.act(), "submit:a#2");
}

/* Failed with code 3 while slurmctld was away, then deleted: it did not end by the deletion. */
void a_deletion_after_the_end_does_not_change_the_result()
{
	Stage s;
	run_pod(s, "a", 7);
	s.world.link_lost();
	Pod p = end_of(s.pod("a"), PodPhase::failed, 3);
	s.world.pod_seen(p, s.now);
	p.deleting = true;
	s.world.pod_seen(p, s.now);
	s.world.pod_gone({"a"}, p, s.now);
	s.connect({Stage::job(7, "a", JobState::running)});
	CHECK_EQUAL(s.act(), "complete:7=768");
}

std::string node_act(Stage &s)
{
	std::string out;
	for (const NodeAction &action : s.world.take_node_actions(s.now)) {
		if (const auto *set = std::get_if<SetNodeState>(&action))
			out += set->change == NodeStateChange::down ? "down" : set->change == NodeStateChange::drain ? "drain" : "use";
	}
	return out;
}

/* Also over a clock that steps: an hour ahead is no reason for DOWN, an hour back no reason to wait. */
void a_node_is_down_after_its_time_by_our_own_clock()
{
	for (const std::int64_t step : {std::int64_t{3600}, std::int64_t{-3600}}) {
		Stage s;
		CHECK_EQUAL(node_act(s), "");
		s.node(false);
		CHECK_EQUAL(node_act(s), "drain");
		s.world.node_changed("n1", Ok{}, s.now);
		s.world.slurm_node_seen(slurm_node("n1", NodeBase::mixed, "slurm-kube: NotReady"));
		s.now.wall_s += step;
		s.pass(39 * k_second);
		CHECK_EQUAL(node_act(s), "");
		s.pass(k_second);
		CHECK_EQUAL(node_act(s), "down");
	}
}

/* Nothing to take up, and no call for it every 30 s, for ever. */
void a_pod_on_a_node_that_slurm_does_not_know_waits_for_the_node()
{
	Stage s;
	Pod p = s.pod("a");
	p.node_name = "n9";
	s.world.pod_seen(p, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(60 * k_second);
	CHECK_EQUAL(s.act(), "");
	s.world.slurm_node_seen(slurm_node("n9", NodeBase::idle));
	CHECK_EQUAL(s.act(), "submit:a#1@n9");
}

/* A waiting pod with these options; its job was told those of told. */
struct Waiting : Stage {
	using Annotations = std::map<std::string, std::string>;

	Waiting(const Annotations &options, const Annotations &told)
	{
		SlurmJob waits = job(7, "u1", JobState::pending);
		waits.marker.options = spec_of(told).marker.options;
		see(options);
		world.job_seen(waits, now);
		pass(2 * k_second);
	}
	JobSpec spec_of(const Annotations &options) const { return translate(with(options), world.settings().policy, 1).value(); }
	Pod with(const Annotations &options) const
	{
		Pod p = pod("u1");
		p.annotations = options;
		return p;
	}
	void see(const Annotations &options) { world.pod_seen(with(options), now); }
	std::string mark(const Annotations &options) const { return spec_of(options).marker.options; }
};

void a_waiting_job_follows_the_options_of_its_pod()
{
	const Waiting::Annotations ten = {{"slurm-kube.io/timelimit", "10"}}, twenty = {{"slurm-kube.io/timelimit", "20"}}, held = {{"slurm-kube.io/hold", "true"}};
	Waiting same(ten, ten); /* also of an agent that has just started */
	CHECK_EQUAL(same.act(), "report:u1:SlurmPending");
	same.see(twenty);
	CHECK_EQUAL(same.act(), "update:7+1-0");
	CHECK_EQUAL(same.act(), ""); /* under way */
	same.world.updated({"u1"}, same.mark(twenty), {7}, Ok{}, same.now);
	CHECK_EQUAL(same.act(), "");
	SlurmJob stale = same.job(7, "u1", JobState::pending); /* the plugin has not seen the new marker yet */
	stale.marker.options = same.mark(ten);
	same.world.job_seen(stale, same.now);
	CHECK_EQUAL(same.act(), "");
	same.see(held);
	CHECK_EQUAL(same.act(), "update:7+1-1");

	Waiting missed(twenty, ten); /* changed while no agent was there */
	CHECK_EQUAL(missed.act(), "update:7+1-0");
	missed.world.updated({"u1"}, missed.mark(twenty), {7}, Error{Errc::io, "broken"}, missed.now);
	CHECK_EQUAL(missed.act(), "");
	missed.pass(60 * k_second);
	CHECK_EQUAL(missed.act(), "update:7+1-0");
	missed.world.updated({"u1"}, missed.mark(twenty), {7}, Error{Errc::invalid, "Slurm says no"}, missed.now);
	CHECK_EQUAL(missed.act(), "report:u1:SlurmPending"); /* said, and not tried again */
	missed.world.reported({"u1"}, Ok{}, missed.now);
	missed.pass(600 * k_second);
	CHECK_EQUAL(missed.act(), "");
	missed.see(ten);
	CHECK_EQUAL(missed.act(), "report:u1:SlurmPending");

	Waiting unknown(ten, {});
	SlurmJob old = unknown.job(7, "u1", JobState::pending); /* of an agent that noted no options */
	unknown.world.job_seen(old, unknown.now);
	CHECK_EQUAL(unknown.act(), "report:u1:SlurmPending");
}

void options_that_cannot_be_changed_are_said_not_sent()
{
	const Waiting::Annotations ten = {{"slurm-kube.io/timelimit", "10"}};
	for (const auto &[key, value] : {std::pair("timelimit", "soon"), std::pair("gres", "gpu:1"), std::pair("nonesuch", "1")}) {
		Waiting s({{"slurm-kube.io/" + std::string(key), value}}, ten);
		CHECK_EQUAL(s.act(), "report:u1:SlurmPending");
		CHECK(s.world.groups().at({"u1"}).reported.message.find("it keeps the options that it had") != std::string::npos);
	}
	Waiting running(ten, ten);
	SlurmJob started = running.job(7, "u1", JobState::running);
	started.marker.options = running.mark(ten);
	running.world.job_seen(started, running.now);
	running.see({{"slurm-kube.io/timelimit", "20"}});
	CHECK_EQUAL(running.act(), "bind:u1@n1");
}

} // namespace

int main()
{
	return check::run_tests("world", {
						 TEST(a_pod_lives_and_ends_with_three_calls),
						 TEST(nothing_happens_before_every_list_is_complete),
						 TEST(a_lost_link_stops_everything_until_the_next_snapshot),
						 TEST(a_waiting_job_follows_the_options_of_its_pod),
						 TEST(options_that_cannot_be_changed_are_said_not_sent),
						 TEST(a_restarted_agent_goes_on_where_the_other_died),
						 TEST(jobs_of_another_cluster_are_never_touched),
						 TEST(scancel_deletes_the_pod_once_and_the_next_waits_for_its_end),
						 TEST(a_forced_deletion_holds_the_share_some_seconds_more),
						 TEST(a_submission_that_crosses_a_snapshot_is_not_lost),
						 TEST(a_job_that_slurm_lost_is_taken_up_after_ten_seconds_and_not_before),
						 TEST(a_job_that_slurm_starts_anew_elsewhere_is_not_the_running_pods),
						 TEST(the_end_of_a_job_that_slurm_started_anew_elsewhere_is_not_the_pods),
						 TEST(a_job_that_is_pending_again_may_be_cancelled_by_people),
						 TEST(a_job_pinned_to_the_pods_node_may_wait),
						 TEST(a_failed_submission_is_repeated_with_the_same_attempt),
						 TEST(a_waiting_pod_is_told_on_change_and_not_too_often),
						 TEST(a_number_used_again_is_another_job),
						 TEST(the_same_name_with_a_new_uid_is_another_pod),
						 TEST(a_binding_that_failed_is_tried_again_on_the_same_allocation),
						 TEST(a_binding_that_failed_holds_its_share_for_a_while),
						 TEST(a_binding_that_was_forbidden_is_tried_again_soon),
						 TEST(a_binding_that_worked_after_all_does_not_delay_the_end),
						 TEST(what_failed_while_a_side_was_away_is_tried_when_it_is_back),
						 TEST(an_allocation_is_given_back_only_when_a_pod_without_a_job_has_needed_it_for_a_while),
						 TEST(a_job_cancelled_soon_after_its_submission_takes_its_bound_pod_along_over_a_restart),
						 TEST(a_binding_waits_for_its_node_to_be_ready),
						 TEST(two_live_jobs_of_one_pod_become_one),
						 TEST(a_job_that_ends_before_its_pod_runs_is_replaced_ever_more_slowly),
						 TEST(a_job_that_slurmctld_could_not_tell_us_of_is_replaced),
						 TEST(a_job_that_somebody_cancelled_takes_its_pod_along),
						 TEST(a_pod_that_does_not_start_is_given_up_after_the_limit),
						 TEST(a_pod_that_was_given_up_ends_its_job_failed),
						 TEST(decisions_and_effects_are_timed),
						 TEST(ended_jobs_count_once_even_if_told_late),
						 TEST(a_job_that_only_a_dead_slurmctld_told_us_of_is_forgotten),
						 TEST(a_job_that_the_plugin_never_tells_of_is_forgotten),
						 TEST(a_pod_that_the_watch_has_not_shown_keeps_its_job),
						 TEST(a_running_pod_outlives_a_job_whose_answer_was_lost),
						 TEST(a_running_pod_outlives_an_earlier_job_of_its_own),
						 TEST(an_answer_is_forgotten_with_its_job),
						 TEST(a_deletion_after_the_end_does_not_change_the_result),
						 TEST(a_node_is_down_after_its_time_by_our_own_clock),
						 TEST(a_pod_on_a_node_that_slurm_does_not_know_waits_for_the_node),
					 });
}
