/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and pods within native jobs. */
#include "src/core/inspect/why.h"
#include "testsuite/unit/native_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

void a_pod_is_bound_within_the_job_and_gets_none_of_its_own()
{
	NativeStage s;
	s.world.observe(PodSeen{NativeStage::asking("a")}, s.now);
	CHECK_EQUAL(s.act(), "");
	CHECK_EQUAL(s.question(), "ask:7");
	CHECK_EQUAL(s.question(), ""); /* one at a time */
	s.answer(job_of_user());
	const auto actions = s.world.take_actions(s.now);
	REQUIRE(actions.size() == 1);
	const auto *bind = std::get_if<Bind>(&actions.front().action);
	REQUIRE(bind);
	CHECK_EQUAL(bind->node, "n2");
	CHECK(bind->native == job_of_user().mark);
	CHECK_EQUAL(bind->memory_mib, 64U);
	CHECK_EQUAL(s.world.state().occupancy.pods_on("n2"), 1U);
	s.world.answer(BindAnswered{{"a"}, Ok{}}, s.now);
	s.world.observe(PodSeen{NativeStage::bound("a")}, s.now);
	for (int i = 0; i < 60; i++) {
		s.pass(1);
		CHECK_EQUAL(s.act(), "");
		if (s.question() == "ask:7")
			s.answer(job_of_user());
	}
	std::string story;
	for (const WhyLine &line : why(s.world, "default", "pod-a", s.now))
		story += line.about + ": " + line.text + "\n";
	CHECK(story.find("runs within native Slurm job 7 of uid 1") != std::string::npos);
	CHECK(story.find("asks for: 1000m CPU, 64 MiB of native Slurm job 7") != std::string::npos);
}

void an_answer_by_which_a_pod_is_bound_is_fresh()
{
	NativeStage s;
	s.run("a");
	s.pass(7);
	CHECK_EQUAL(s.question(), "");
	s.world.observe(PodSeen{NativeStage::asking("b")}, s.now);
	CHECK_EQUAL(s.act(), "");
	CHECK_EQUAL(s.question(), "ask:7");
	s.answer(job_of_user());
	CHECK_EQUAL(s.act(), "bind:b@n2");
}

/* An earlier pod has asked, and is gone; the job may have ended since. */
void what_was_said_to_an_earlier_pod_binds_none()
{
	NativeStage s;
	s.world.observe(PodSeen{NativeStage::asking("a", 8)}, s.now);
	(void)s.act();
	CHECK_EQUAL(s.question(), "ask:8");
	NativeJob job = job_of_user();
	job.mark.job = {8};
	Pod large = NativeStage::asking("a", 8);
	large.requests = make_requests(64000, std::int64_t{64} << 20);
	s.world.observe(PodSeen{large}, s.now);
	s.answer(job, 8);
	(void)s.act();
	s.world.observe(PodGone{{"a"}}, s.now);
	(void)s.act();
	s.pass(1);
	s.world.observe(PodSeen{NativeStage::asking("b", 8)}, s.now);
	CHECK_EQUAL(s.act().find("bind"), std::string::npos);
	CHECK(s.asks_within(6, 8));
	s.answer(job, 8);
	CHECK(s.act().find("bind:b@n2") != std::string::npos);
}

void a_binding_that_fails_is_tried_again()
{
	NativeStage s;
	s.world.observe(PodSeen{NativeStage::asking("a")}, s.now);
	(void)s.act();
	CHECK_EQUAL(s.question(), "ask:7");
	s.answer(job_of_user());
	CHECK_EQUAL(s.act(), "bind:a@n2");
	s.world.answer(BindAnswered{{"a"}, Error{Errc::invalid, "refused by a policy"}}, s.now);
	(void)s.act();
	s.pass(300);
	(void)s.act();
	CHECK(s.asks_within(6));
	s.answer(job_of_user());
	CHECK(s.act().find("bind:a@n2") != std::string::npos);
}

/* A binding without a clear answer may take effect later. */
void a_pod_that_may_be_bound_late_keeps_its_room()
{
	NativeStage s;
	s.run("x");
	s.world.observe(PodSeen{NativeStage::asking("a")}, s.now);
	CHECK_EQUAL(s.act(), "bind:a@n2");
	s.world.answer(BindAnswered{{"a"}, Error{Errc::io, "timed out"}}, s.now);
	s.world.observe(PodSeen{NativeStage::asking("a", 50)}, s.now);
	s.world.observe(PodSeen{NativeStage::asking("c")}, s.now);
	bool is_sure = false;
	std::string done;
	for (int i = 0; i < 100; i++) {
		const std::string now = s.act();
		done += now + " ";
		CHECK(is_sure || now.find("bind:c") == std::string::npos);
		if (now.find("look:a") != std::string::npos) {
			CHECK(i >= 20);
			is_sure = true;
			s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
		}
		const std::string one = s.question();
		if (one == "ask:7")
			s.answer(job_of_user());
		else if (!one.empty())
			s.answer(k_no_such_job, 50);
		advance(s.now, k_native_second / 4);
	}
	CHECK(done.find("bind:c@n2") != std::string::npos);
}

/* The first binding had no answer. */
void a_pod_that_is_bound_at_the_second_try_waits_no_more()
{
	NativeStage s;
	s.run("x");
	s.world.observe(PodSeen{NativeStage::asking("a")}, s.now);
	CHECK_EQUAL(s.act(), "bind:a@n2");
	s.world.answer(BindAnswered{{"a"}, Error{Errc::io, "timed out"}}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.pass(1);
	CHECK_EQUAL(s.act(), "bind:a@n2");
	s.world.answer(BindAnswered{{"a"}, Ok{}}, s.now);
	s.world.observe(PodSeen{NativeStage::bound("a")}, s.now);
	(void)s.act();
	CHECK(s.asks_within(11));
	s.answer(job_of_user());
	(void)s.act();
	CHECK(!s.asks_within(8)); /* as for bound pods only */
}

void a_refused_pod_says_why_and_is_tried_again()
{
	NativeStage s;
	NativeJob foreign = job_of_user();
	foreign.mark.user_id = 2;
	s.world.observe(PodSeen{NativeStage::asking("a")}, s.now);
	(void)s.act();
	CHECK_EQUAL(s.question(), "ask:7");
	s.answer(foreign);
	CHECK_EQUAL(s.act(), "report:a:SlurmRefused");
	CHECK(s.asks_within(61));
	s.answer(job_of_user());
	CHECK(s.act().find("bind:a@n2") != std::string::npos);
}

void jobs_with_pods_have_room_for_no_more_than_they_have()
{
	NativeStage s;
	s.run("a");
	s.run("b");
	s.world.observe(PodSeen{NativeStage::asking("c")}, s.now);
	(void)s.act();
	s.pass(2);
	CHECK_EQUAL(s.act(), "report:c:SlurmPending");
	CHECK(s.text.find("other pods have too much of Slurm job 7") != std::string::npos);
	s.world.answer(ReportAnswered{{"c"}, Ok{}}, s.now);
	s.world.observe(PodGone{{"a"}, NativeStage::bound("a")}, s.now);
	CHECK_EQUAL(s.act(), "bind:c@n2");
}

void the_end_of_the_job_ends_the_pod()
{
	for (const JobState state :
		{JobState::complete, JobState::cancelled, JobState::timeout, JobState::suspended}) {
		NativeStage s;
		s.run("a");
		CHECK(s.asks_within(11));
		NativeJob job = job_of_user();
		job.state = state;
		s.answer(job);
		CHECK_EQUAL(s.act(), "other");
		CHECK_EQUAL(s.act(), "");
	}
}

/* slurmctld can refuse questions while the link to the plugin is there. */
void a_pod_says_that_slurmctld_does_not_answer()
{
	for (const bool is_first : {true, false}) {
		NativeStage s;
		s.run("a");
		const std::uint32_t job = is_first ? 50 : 7;
		s.world.observe(PodSeen{NativeStage::asking("b", job)}, s.now);
		s.pass(6); /* what was said of job 7 leaves room, and is old */
		std::string told = s.act();
		int asked = 0;
		for (int i = 0; i < 40; i++) {
			s.pass(1);
			const std::string one = s.question();
			if (!one.empty()) {
				asked++;
				s.answer(k_no_word,
					static_cast<std::uint32_t>(std::stoul(one.substr(4))));
			}
			told += s.act();
			s.world.answer(ReportAnswered{{"b"}, Ok{}}, s.now);
		}
		CHECK(told.find("report:b:SlurmPending") != std::string::npos);
		CHECK(asked <= 16); /* both jobs each 5 s */
		CHECK_EQUAL(s.text,
			"slurmctld has not answered about Slurm job " + std::to_string(job) +
				"; it is asked again");
	}
}

/* slurmctld has just been restored from an older state, for example. */
void a_job_that_slurm_does_not_know_is_asked_for_twice()
{
	NativeStage s;
	s.run("a");
	CHECK(s.asks_within(11));
	s.answer(k_no_such_job);
	CHECK_EQUAL(s.act(), "");
	CHECK(!s.asks_within(4));
	CHECK(s.asks_within(2));
	s.answer(k_no_such_job);
	CHECK_EQUAL(s.act(), "other");
}

void what_is_said_once_only_ends_no_pod()
{
	NativeStage s;
	s.run("a");
	CHECK(s.asks_within(11));
	s.answer(k_no_such_job);
	CHECK_EQUAL(s.act(), "");
	CHECK(s.asks_within(6));
	s.answer(job_of_user());
	CHECK_EQUAL(s.act(), "");
	CHECK(s.asks_within(11));
	s.answer(k_no_such_job);
	CHECK_EQUAL(s.act(), "");
}

void silence_ends_no_pod()
{
	NativeStage s;
	s.run("a");
	for (int i = 0; i < 100; i++) {
		s.pass(5);
		CHECK_EQUAL(s.act(), "");
		if (s.question() == "ask:7")
			s.answer(k_no_word);
	}
	CHECK_EQUAL(s.act(), "");
}

void another_life_of_the_number_is_another_job()
{
	NativeStage s;
	s.run("a");
	NativeJob requeued = job_of_user();
	requeued.mark.restarts = 1;
	requeued.mark.start += 130;
	CHECK(s.asks_within(11));
	s.answer(requeued);
	CHECK_EQUAL(s.act(), "");
	CHECK(s.asks_within(6));
	s.answer(requeued);
	CHECK_EQUAL(s.act(), "other");
}

void a_node_that_completes_jobs_is_asked_for_at_once()
{
	NativeStage s;
	s.run("a");
	s.pass(3);
	CHECK_EQUAL(s.question(), "");
	s.world.observe(SlurmNodeSeen{NativeStage::hybrid(true)});
	CHECK_EQUAL(s.question(), "ask:7");
	s.answer(job_of_user());
	CHECK(!s.asks_within(1));
	CHECK(s.asks_within(2));
	s.world.observe(SlurmNodeSeen{NativeStage::hybrid(false)});
	s.answer(job_of_user());
	CHECK(!s.asks_within(8));
}

/* It has led by the Lease before: its jobs are unknown here. */
void jobs_of_another_slurm_cluster_are_left_alone()
{
	NativeStage s;
	s.run("a");
	s.connect("slurm-b");
	for (int i = 0; i < 100; i++) {
		s.pass(1);
		CHECK_EQUAL(s.act(), "");
		if (s.question() == "ask:7")
			s.answer(k_no_such_job);
	}
}

/* Meanwhile the job may have been resumed, and another agent have judged it. */
void answers_of_before_a_takeover_end_no_pod()
{
	enum class Way { link_lost, led_by_another, led_unseen };
	NativeJob suspended = job_of_user();
	suspended.state = JobState::suspended;
	const auto try_it = [](const NativeAnswer &word, Way way) {
		NativeStage s;
		s.run("a");
		CHECK(s.asks_within(11));
		s.answer(word);
		if (s.act() == "other") /* the API server is away */
			s.world.answer(DeletePodAnswered{{"a"}, Error{Errc::io, "away"}}, s.now);
		s.pass(1);
		/* a question that is under way is one of before, too */
		CHECK(way == Way::led_unseen || s.asks_within(11));
		s.pass(1);
		if (way == Way::link_lost) {
			s.world.observe(LinkLost{});
			s.connect("slurm-a");
		} else {
			LeaseState lease;
			lease.standing = LeaseStanding::other_cluster;
			s.world.observe(LeaseSeen{lease});
			lease.standing = LeaseStanding::free;
			s.world.observe(LeaseSeen{lease});
		}
		if (way == Way::led_by_another)
			s.world.observe(PodSeen{NativeStage::bound("a")}, s.now);
		CHECK_EQUAL(s.act(), "");
		if (way != Way::led_unseen) {
			s.pass(40);
			s.answer(word);
			CHECK_EQUAL(s.act(), "");
		}
		s.pass(10);
		CHECK(s.asks_within(1));
		s.answer(k_no_such_job);
		CHECK_EQUAL(s.act(), "");
		CHECK(s.asks_within(6));
		s.answer(job_of_user());
		CHECK_EQUAL(s.act(), "");
	};
	for (const Way way : {Way::link_lost, Way::led_by_another}) {
		try_it(suspended, way);
		try_it(k_no_such_job, way);
	}
	try_it(k_no_such_job, Way::led_unseen);
}

/* Thousands of pods can wait for native jobs while slurmctld restarts. */
void a_takeover_writes_no_conditions()
{
	NativeStage s;
	NativeJob pending = job_of_user(50);
	pending.state = JobState::pending;
	Pod p = NativeStage::asking("a", 50);
	s.world.observe(PodSeen{p}, s.now);
	(void)s.act();
	CHECK(s.asks_within(1, 50));
	s.answer(pending, 50);
	s.pass(1);
	CHECK_EQUAL(s.act(), "report:a:SlurmPending");
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	p.not_scheduled = Condition{names::k_reason_pending, s.text};
	s.world.observe(PodSeen{p}, s.now);
	s.pass(100);
	CHECK_EQUAL(s.act(), "");
	s.world.observe(LinkLost{});
	s.connect("slurm-a");
	CHECK_EQUAL(s.act(), "");
	s.pass(100);
	CHECK_EQUAL(s.act(), "");
	CHECK(s.asks_within(1, 50));
	s.answer(k_no_such_job, 50);
	CHECK_EQUAL(s.act(), "report:a:SlurmRefused");
}

/* With a wrong nodes.name_prefix all jobs seem to be on other nodes, and the pods' nodes have no
 * records. Such a mistake ends no pod. */
void a_job_leaves_a_node_only_where_names_are_right()
{
	const struct {
		const char *record, *job_node;
		bool ends;
	} rows[] = {
		{"n2", "n1", true},
		{"n2", "/n1", false},
		{"/n2", "/n2", false},
		{"/x-n2", "/x-n2", false},
		{"x-n2", "x-n2", false},
	};
	for (const auto &row : rows) {
		NativeStage s;
		s.run("a");
		s.world.observe(LinkLost{});
		PluginHello hello;
		hello.cluster_name = "slurm-a";
		s.world.observe(LinkOpened{hello});
		SlurmNode record = NativeStage::hybrid();
		record.name = row.record;
		s.world.observe(SlurmNodeSeen{record});
		s.world.observe(SnapshotEnded{}, s.now);
		NativeJob job = job_of_user();
		job.nodes = {row.job_node};
		bool ended = false;
		for (int i = 0; i < 600; i++) {
			advance(s.now, k_native_second / 10);
			ended = ended || s.act().find("other") != std::string::npos;
			if (s.question() == "ask:7")
				s.answer(job);
		}
		CHECK_EQUAL(ended, row.ends);
	}
}

/* Otherwise one user could keep all others from having any. */
void a_user_can_have_a_quarter_of_the_jobs_with_pods()
{
	NativeStage s;
	NamespaceRule other = PlaceStage::settings().policy.namespaces.front();
	const NamespaceRule rule = other;
	other.name_space = "other";
	other.user_id = 2;
	s.world.observe(IdentityRulesSet{{other, rule}, 0});
	for (std::uint32_t job = 101; job < 134; job++) { /* 32 here and one of another cluster */
		Pod p = NativeStage::bound("p" + std::to_string(job));
		NativeMark mark = job_of_user(job).mark;
		mark.cluster = job == 133 ? "slurm-b" : mark.cluster;
		p.annotations[names::k_allocation_native_job] = text_of(mark);
		p.requests = make_requests(10, std::int64_t{1} << 20);
		s.world.observe(PodSeen{p}, s.now);
	}
	const auto try_one = [&](const char *uid, const char *name_space, std::uint32_t job) {
		Pod p = NativeStage::asking(uid, job);
		p.name_space = name_space;
		p.requests = make_requests(10, std::int64_t{1} << 20);
		s.world.observe(PodSeen{p}, s.now);
		(void)s.act();
		NativeJob said = job_of_user(job);
		said.mark.user_id = name_space == std::string("other") ? 2 : 1;
		for (int i = 0; i < 100; i++) {
			const std::string one = s.question();
			const bool is_ours = one == "ask:" + std::to_string(job);
			CHECK(one != "ask:133" || is_ours);
			if (is_ours)
				s.answer(said, job);
			else if (!one.empty())
				s.answer(job_of_user(static_cast<std::uint32_t>(
						 std::stoul(one.substr(4)))),
					static_cast<std::uint32_t>(std::stoul(one.substr(4))));
			if (is_ours)
				break;
			advance(s.now, k_native_second / 4);
		}
		s.pass(1);
		return s.act();
	};
	CHECK(try_one("a", "default", 200).find("bind:") == std::string::npos);
	CHECK(s.text.find("32 native jobs of ") != std::string::npos);
	CHECK(try_one("b", "default", 101).find("bind:b@n2") != std::string::npos);
	CHECK(try_one("c", "other", 300).find("bind:c@n2") != std::string::npos);
	/* the job of this number has no pods: the other cluster's has */
	for (const char *gone : {"a", "p102"})
		s.world.observe(PodGone{{gone}, NativeStage::bound(gone)}, s.now);
	CHECK(try_one("d", "default", 133).find("bind:d@n2") != std::string::npos);
	CHECK_EQUAL(s.world.state().native_jobs.use({133}, {"x"}).pods, 1U);
}

/* A new agent knows bound pods from their annotations alone, whatever their options are now. */
void another_agent_keeps_bound_pods()
{
	NativeStage s;
	Pod p = NativeStage::bound("a");
	p.annotations.erase("slurm-kube.io/job");
	s.world.observe(PodSeen{p}, s.now);
	for (int i = 0; i < 30; i++) {
		s.pass(1);
		CHECK_EQUAL(s.act(), "");
		if (s.question() == "ask:7")
			s.answer(job_of_user());
	}
	CHECK(s.asks_within(11));
	NativeJob job = job_of_user();
	job.state = JobState::complete;
	s.answer(job);
	CHECK_EQUAL(s.act(), "other");
}

void turned_off_it_refuses_new_pods_only()
{
	NativeStage s;
	s.run("a");
	s.world.observe(SettingsSet{PlaceStage::settings()}, s.now);
	s.world.observe(PodSeen{NativeStage::asking("b")}, s.now);
	CHECK_EQUAL(s.act(), "report:b:SlurmRefused");
	CHECK(s.asks_within(11));
	NativeJob job = job_of_user();
	job.state = JobState::failed;
	s.answer(job);
	CHECK_EQUAL(s.act(), "other");
}

/* One that has a job of its own keeps it. */
void a_pod_with_a_job_cannot_get_into_another()
{
	NativeStage s;
	Pod p = PlaceStage::pod("a");
	s.world.observe(PodSeen{p}, s.now);
	CHECK_EQUAL(s.act(), "submit:a");
	s.queue_job("a", 9);
	(void)s.act();
	p.annotations = {{"slurm-kube.io/job", "7"}};
	s.world.observe(PodSeen{p}, s.now);
	s.pass(2);
	CHECK_EQUAL(s.act().find("bind"), std::string::npos);
	CHECK_EQUAL(s.question(), "");
	SlurmJob ended =
		make_job(9, make_marker("default", "pod-a", "Pod", "a", 1), JobState::node_fail);
	ended.end_time = s.now.wall_s;
	s.world.observe(JobSeen{ended}, s.now);
	for (int i = 0; i < 100; i++) {
		s.pass(1);
		CHECK(s.act().find("submit") == std::string::npos);
	}
}

/* Where no admission policy keeps users from writing it, a mark takes no pod with a job of its own
 * out of the agent's hands. */
void a_forged_mark_changes_nothing_for_a_pod_with_a_job()
{
	const struct {
		const char *job_id, *node;
	} rows[] = {{"9", "n2"}, {"9", "n1"}, {"native", "n2"}, {"native", "n1"}};
	for (const auto &row : rows) {
		for (const bool is_on : {false, true}) {
			NativeStage s;
			if (!is_on)
				s.world.observe(SettingsSet{PlaceStage::settings()}, s.now);
			Pod p = PlaceStage::pod("a");
			p.annotations = {{names::k_allocation_job_id, row.job_id},
				{names::k_allocation_native_job, "1:0:0:1:x"}};
			s.PlaceStage::run(p, 9, row.node);
			CHECK_EQUAL(s.question(), "");
			s.end_job("a", 9, JobState::cancelled);
			CHECK_EQUAL(s.act(), "other");
		}
	}
}

/* Pods that were bound past Slurm are not asked for, either. */
void a_mark_counts_on_hybrid_nodes_only()
{
	for (const char *node : {"n1", "n2"}) {
		NativeStage s;
		Pod p = NativeStage::bound("a");
		p.node_name = node;
		s.world.observe(PodSeen{p}, s.now);
		(void)s.act();
		CHECK_EQUAL(s.question(), p.node_name == "n2" ? "ask:7" : "");
	}
}

/* A binding within a job has failed, and the pod got a job of its own. */
void the_mark_of_an_earlier_binding_judges_no_pod()
{
	NativeStage s;
	s.world.observe(PodSeen{NativeStage::asking("a")}, s.now);
	(void)s.act();
	CHECK_EQUAL(s.question(), "ask:7");
	s.answer(job_of_user());
	CHECK_EQUAL(s.act(), "bind:a@n2");
	s.world.answer(BindAnswered{{"a"}, Error{Errc::invalid, "refused by a policy"}}, s.now);
	Pod p = NativeStage::asking("a");
	p.annotations.clear();
	s.world.observe(PodSeen{p}, s.now);
	CHECK(s.act().find("submit:a") != std::string::npos);
	s.pass(10);
	s.allocate("a", 9, "n1");
	CHECK_EQUAL(s.act(), "bind:a@n1");
	CHECK(!s.world.state().pods.at({"a"}).native->mark);
	s.world.answer(BindAnswered{{"a"}, Ok{}}, s.now);
	CHECK_EQUAL(s.act(), "");
	CHECK_EQUAL(s.question(), "");
}

void pods_that_vanish_are_forgotten()
{
	NativeStage s;
	s.run("a");
	s.world.observe(PodGone{{"a"}, NativeStage::bound("a")}, s.now);
	(void)s.act();
	s.pass(100);
	(void)s.act();
	CHECK_EQUAL(s.question(), "");
	CHECK(s.world.state().native_jobs.is_empty());
}

} // namespace

int main()
{
	return check::run_tests("world_native_pods",
		{
			TEST(a_pod_is_bound_within_the_job_and_gets_none_of_its_own),
			TEST(an_answer_by_which_a_pod_is_bound_is_fresh),
			TEST(what_was_said_to_an_earlier_pod_binds_none),
			TEST(a_binding_that_fails_is_tried_again),
			TEST(a_pod_that_may_be_bound_late_keeps_its_room),
			TEST(a_pod_that_is_bound_at_the_second_try_waits_no_more),
			TEST(a_refused_pod_says_why_and_is_tried_again),
			TEST(jobs_with_pods_have_room_for_no_more_than_they_have),
			TEST(the_end_of_the_job_ends_the_pod),
			TEST(a_pod_says_that_slurmctld_does_not_answer),
			TEST(a_job_that_slurm_does_not_know_is_asked_for_twice),
			TEST(what_is_said_once_only_ends_no_pod),
			TEST(silence_ends_no_pod),
			TEST(another_life_of_the_number_is_another_job),
			TEST(a_node_that_completes_jobs_is_asked_for_at_once),
			TEST(jobs_of_another_slurm_cluster_are_left_alone),
			TEST(answers_of_before_a_takeover_end_no_pod),
			TEST(a_takeover_writes_no_conditions),
			TEST(a_job_leaves_a_node_only_where_names_are_right),
			TEST(a_user_can_have_a_quarter_of_the_jobs_with_pods),
			TEST(another_agent_keeps_bound_pods),
			TEST(turned_off_it_refuses_new_pods_only),
			TEST(a_pod_with_a_job_cannot_get_into_another),
			TEST(a_forged_mark_changes_nothing_for_a_pod_with_a_job),
			TEST(a_mark_counts_on_hybrid_nodes_only),
			TEST(the_mark_of_an_earlier_binding_judges_no_pod),
			TEST(pods_that_vanish_are_forgotten),
		});
}
