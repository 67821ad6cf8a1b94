/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and hybrid nodes: n2 has a slurmd, and the site's record in Slurm. */
#include "testsuite/unit/place_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

struct HybridStage : PlaceStage {
	HybridStage()
	{
		world.observe(SlurmNodeSeen{hybrid()});
		(void)world.take_node_actions(now);
	}

	static SlurmNode hybrid()
	{
		SlurmNode n = slurm_node("n2", 4);
		n.is_hybrid = true;
		n.features = "kube-hybrid";
		n.gres = "gpu:4";
		return n;
	}

	static SlurmJob running(std::uint32_t id, const std::string &uid)
	{
		SlurmJob j = make_job(
			id, make_marker("default", "pod-" + uid, "Pod", uid, 1), JobState::running);
		j.nodes = {make_allocation("n2", 1, 64, "0")};
		return j;
	}

	void bound(const std::string &uid, std::uint32_t id)
	{
		Pod p = pod(uid);
		p.node_name = "n2";
		p.phase = PodPhase::running;
		p.annotations = allocation_annotations(id);
		world.observe(PodSeen{p}, now);
		world.observe(JobSeen{running(id, uid)}, now);
		(void)act();
	}

	void change(void (*how)(KubeNode &))
	{
		KubeNode n = node("n2");
		how(n);
		world.observe(NodeSeen{n}, now);
	}

	std::string submit(const std::string &uid)
	{
		world.observe(PodSeen{pod(uid)}, now);
		return act();
	}
};

/* n1 is external: it is drained, and pods keep their place in the queue. */
void a_cordon_excludes_a_hybrid_node_for_pods_only()
{
	HybridStage s;
	CHECK_EQUAL(s.submit("a"), "submit:a");
	s.change([](KubeNode &n) { n.unschedulable = true; });
	CHECK(s.world.take_node_actions(s.now).empty());
	CHECK_EQUAL(s.submit("b"), "submit:b-n2");
	s.change([](KubeNode &) {});
	CHECK_EQUAL(s.submit("c"), "submit:c");
}

void so_do_a_taint_and_a_kubelet_that_is_away()
{
	HybridStage s;
	s.change([](KubeNode &n) { n.taints = {{"gpu", "", "NoSchedule"}}; });
	CHECK_EQUAL(s.submit("a"), "submit:a-n2");
	s.change([](KubeNode &n) { n.ready = false; });
	CHECK_EQUAL(s.submit("b"), "submit:b-n2");
	CHECK(s.world.take_node_actions(s.now).empty());
}

/* Slurm still gives it to jobs. */
void a_hybrid_node_that_kubernetes_does_not_have_is_excluded()
{
	HybridStage s;
	s.world.observe(NodeGone{"n2"}, s.now);
	CHECK_EQUAL(s.submit("a"), "submit:a-n2");
	Pod p = HybridStage::alone("b");
	s.world.observe(PodSeen{p}, s.now);
	CHECK_EQUAL(s.act(), "submit:b-n2");
	CHECK(s.world.take_node_actions(s.now).empty());
}

void a_waiting_job_learns_of_a_cordon()
{
	HybridStage s;
	CHECK_EQUAL(s.submit("a"), "submit:a");
	s.queue_job("a", 7);
	(void)s.act();
	s.change([](KubeNode &n) { n.unschedulable = true; });
	std::string seen;
	for (int i = 0; i < 20 && seen.find("update:a-n2") == std::string::npos; i++) {
		s.now.mono_us += k_second;
		seen += s.act();
	}
	CHECK(seen.find("update:a-n2") != std::string::npos);
}

void devices_of_a_plugin_are_given_as_a_whole_only()
{
	HybridStage s;
	for (const char *name : {"n1", "n2", "n3"}) {
		KubeNode n = PlaceStage::node(name);
		n.allocatable.extended["nvidia.com/gpu"] = 4;
		s.world.observe(NodeSeen{n}, s.now);
		SlurmNode record = slurm_node(name, 4);
		record.gres = "gpu:4";
		record.is_hybrid = record.name == "n2";
		s.world.observe(SlurmNodeSeen{record});
	}
	Pod some = PlaceStage::pod("a"), all = PlaceStage::pod("b");
	some.requests.extended["nvidia.com/gpu"] = 1;
	all.requests.extended["nvidia.com/gpu"] = 4;
	s.world.observe(PodSeen{some}, s.now);
	CHECK_EQUAL(s.act(), "submit:a-n2");
	s.world.observe(PodSeen{all}, s.now);
	CHECK_EQUAL(s.act(), "submit:b");
}

/* The answer to the submission does not say whether the node's Prolog is over. */
void nothing_is_bound_before_slurm_says_that_the_prolog_is_over()
{
	HybridStage s;
	CHECK_EQUAL(s.submit("a"), "submit:a");
	s.allocate("a", 7, "n2");
	s.now.mono_us += 2 * k_second;
	CHECK_EQUAL(s.act(), "report:a:SlurmPending");
	s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
	SlurmJob job = HybridStage::running(7, "a");
	job.configuring = true;
	s.world.observe(JobSeen{job}, s.now);
	s.now.mono_us += 590 * k_second;
	CHECK_EQUAL(s.act(), "");
	job.configuring = false;
	s.world.observe(JobSeen{job}, s.now);
	const auto actions = s.world.take_actions(s.now);
	REQUIRE(actions.size() == 1);
	const auto *bind = std::get_if<Bind>(&actions.front().action);
	REQUIRE(bind);
	CHECK_EQUAL(bind->node, "n2");
	CHECK_EQUAL(bind->memory_mib, 64U);
}

/* slurmd was killed while it ran Prolog, or slurmctld before it had saved the end of Prolog. */
void a_prolog_whose_end_never_comes_gives_the_job_back()
{
	HybridStage s;
	CHECK_EQUAL(s.submit("a"), "submit:a");
	s.allocate("a", 7, "n2");
	SlurmJob job = HybridStage::running(7, "a");
	job.configuring = true;
	s.world.observe(JobSeen{job}, s.now);
	const auto pass = [&](int seconds) {
		std::string seen;
		for (int i = 0; i < seconds; i++) {
			s.now.mono_us += k_second;
			const std::string acts = s.act();
			seen += (seen.empty() || acts.empty() ? "" : " ") + acts;
			if (acts.starts_with("report"))
				s.world.answer(ReportAnswered{{"a"}, Ok{}}, s.now);
			if (!acts.starts_with("look"))
				continue;
			s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
			seen += " " + s.act();
		}
		return seen;
	};
	CHECK_EQUAL(pass(590), "report:a:SlurmPending");
	const std::string late = pass(15);
	CHECK(late.starts_with("look:a report:a:SlurmRetrying"));
	CHECK(late.find("complete:7") != std::string::npos);
	CHECK(s.text.find("has not said in time that Prolog") != std::string::npos);
}

/* Slurm from 25.05 on: the node became hybrid while the job waited for it. */
void an_external_job_is_never_bound_to_a_hybrid_node()
{
	HybridStage s;
	CHECK_EQUAL(s.submit("a"), "submit:a");
	SlurmJob job = HybridStage::running(7, "a");
	job.is_external = true;
	s.allocate("a", 7, "n2");
	s.world.observe(JobSeen{job}, s.now);
	std::string seen;
	for (int i = 0; i < 5; i++) {
		const std::string acts = s.act();
		seen += acts.empty() ? "" : " " + acts;
		if (acts.find("look:a") != std::string::npos) {
			s.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
			seen += " " + s.act();
		}
		s.now.mono_us += k_second;
	}
	CHECK_EQUAL(seen.find("bind"), std::string::npos);
	CHECK(seen.find("complete:7") != std::string::npos);
}

void on_an_external_node_the_answer_is_enough()
{
	HybridStage s;
	CHECK_EQUAL(s.submit("a"), "submit:a");
	s.allocate("a", 7, "n1");
	const auto actions = s.world.take_actions(s.now);
	REQUIRE(actions.size() == 1);
	const auto *bind = std::get_if<Bind>(&actions.front().action);
	REQUIRE(bind);
	CHECK_EQUAL(bind->memory_mib, 0U);
}

/* Slurm sees a node in service. */
void a_job_on_a_node_that_is_long_not_ready_is_ended()
{
	HybridStage s;
	s.bound("a", 7);
	s.change([](KubeNode &n) { n.ready = false; });
	const auto pass = [&](int seconds, bool is_asked) {
		std::string seen;
		for (int i = 0; i < seconds; i++) {
			s.now.mono_us += k_second;
			CHECK(s.world.take_node_actions(s.now).empty());
			for (const std::string &name : s.world.take_node_questions(s.now)) {
				if (is_asked)
					s.world.answer(
						NodeLookUpAnswered{name, NodeLookup::not_ready},
						s.now);
			}
			seen += s.act();
		}
		return seen;
	};
	CHECK_EQUAL(pass(39, true), "");
	CHECK_EQUAL(pass(10, true), "complete:7");
}

constexpr char k_no_processors[] = "CreateContainerError: failed to create: slurm-kube: default/a: "
				   "Slurm job 7 has no processors on this node";

/* Its kubelet would try to start the containers anew, without processors. */
void a_job_on_a_node_that_was_rebooted_is_ended()
{
	const struct {
		const char *bound, *waiting;
		bool runs, ends;
	} rows[] = {{"boot-1", k_no_processors, false, true},
		{"boot-1",
			"CreateContainerError: slurm-kube: default/a: Slurm job 7 has ended on "
			"this node",
			false, true},
		/* bound before the node showed its new boot */
		{"boot-1", k_no_processors, true, false},
		{"boot-1", "ContainerCreating", false, false},
		{"boot-1", "CrashLoopBackOff: back-off", false, false},
		/* passes: containerd or slurmkube-node is being restarted */
		{"boot-1", "CreateContainerError: context deadline exceeded", false, false},
		{"boot-1",
			"CreateContainerError: missing required plugins: [slurm-kube]; has no "
			"processors on this node",
			false, false},
		{"boot-2", k_no_processors, false, false}, {"", k_no_processors, false, false}};
	for (const auto &row : rows) {
		HybridStage s;
		s.change([](KubeNode &n) { n.boot_id = "boot-2"; });
		s.bound("a", 7);
		CHECK_EQUAL(s.act(), "");
		Pod pod = *s.world.state().pod({"a"});
		if (*row.bound)
			pod.annotations["allocation.slurm-kube.io/boot-id"] = row.bound;
		pod.waiting_reason = row.waiting;
		pod.container_runs = row.runs;
		s.world.observe(PodSeen{pod}, s.now);
		CHECK_EQUAL(s.act(), row.ends ? "complete:7" : "");
		s.change([](KubeNode &n) { n.boot_id.clear(); });
		CHECK_EQUAL(s.act(), "");
	}
}

/* The watches of pods and nodes are independent. */
void so_is_one_whose_refusal_is_seen_before_the_new_boot()
{
	HybridStage s;
	s.change([](KubeNode &n) { n.boot_id = "boot-1"; });
	s.bound("a", 7);
	Pod pod = *s.world.state().pod({"a"});
	pod.annotations["allocation.slurm-kube.io/boot-id"] = "boot-1";
	pod.waiting_reason = k_no_processors;
	s.world.observe(PodSeen{pod}, s.now);
	CHECK_EQUAL(s.act(), "");
	s.change([](KubeNode &n) { n.boot_id = "boot-2"; });
	CHECK_EQUAL(s.act(), "complete:7");
	SlurmJob ended = HybridStage::running(7, "a");
	ended.state = JobState::cancelled;
	s.world.observe(JobSeen{ended}, s.now);
	std::string why;
	for (const auto &[uid, action] : s.world.take_actions(s.now)) {
		if (const auto *remove = std::get_if<DeletePod>(&action))
			why = remove->disruption.message;
	}
	CHECK_EQUAL(why, "Slurm job 7 ended: cancelled; node n2 was rebooted, or is not Ready");
}

/* slurmctld's machine does not know the user: no credential, so no job. */
void a_job_that_is_completed_at_once_is_no_success()
{
	HybridStage s;
	std::string seen = s.submit("a");
	CHECK_EQUAL(seen, "submit:a");
	for (std::uint32_t attempt = 1; attempt <= 2; attempt++) {
		s.allocate("a", 6 + attempt, "n2");
		SlurmJob ended = make_job(6 + attempt,
			make_marker("default", "pod-a", "Pod", "a", attempt), JobState::complete);
		ended.user_id = 4242;
		ended.submit_time = ended.end_time = s.now.wall_s;
		s.world.observe(JobSeen{ended}, s.now);
		s.now.mono_us += attempt == 1 ? 2 * k_second : k_second / 10;
		seen += " " + s.act();
	}
	CHECK_EQUAL(seen, "submit:a submit:a report:a:SlurmRefused");
	CHECK(s.text.find("does not know user 4242") != std::string::npos);
}

} // namespace

int main()
{
	return check::run_tests("world_hybrid",
		{
			TEST(a_cordon_excludes_a_hybrid_node_for_pods_only),
			TEST(so_do_a_taint_and_a_kubelet_that_is_away),
			TEST(a_hybrid_node_that_kubernetes_does_not_have_is_excluded),
			TEST(a_waiting_job_learns_of_a_cordon),
			TEST(devices_of_a_plugin_are_given_as_a_whole_only),
			TEST(nothing_is_bound_before_slurm_says_that_the_prolog_is_over),
			TEST(a_prolog_whose_end_never_comes_gives_the_job_back),
			TEST(an_external_job_is_never_bound_to_a_hybrid_node),
			TEST(on_an_external_node_the_answer_is_enough),
			TEST(a_job_on_a_node_that_is_long_not_ready_is_ended),
			TEST(a_job_on_a_node_that_was_rebooted_is_ended),
			TEST(so_is_one_whose_refusal_is_seen_before_the_new_boot),
			TEST(a_job_that_is_completed_at_once_is_no_success),
		});
}
