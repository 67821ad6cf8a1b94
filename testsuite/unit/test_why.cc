/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/inspect/why.h"
#include "testsuite/unit/builders.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

constexpr Now at(std::int64_t seconds)
{
	return {.mono_us = seconds * 1'000'000, .wall_s = 1'700'000'000 + seconds};
}

Pod pod()
{
	Pod p = make_pod("lab", "p", "u-1", make_requests(2000, std::int64_t{512} << 20));
	return p;
}

/* Everything is known; there is one node; the pod, if any, waits. */
World world(std::optional<Pod> seen = pod(), bool with_link = true)
{
	Settings settings;
	settings.policy.cluster = "main";
	NamespaceRule rule{.name_space = "lab",
		.user_id = 1001,
		.group_id = 100,
		.accounts = {"phys", "shared"},
		.partitions = {},
		.qos = {}};
	rule.user = "phys";
	settings.policy.namespaces = {rule};
	World w(settings);
	KubeNode node;
	node.name = "n1";
	node.uid = "n1";
	node.ready = true;
	node.allocatable = {.milli_cpu = 8000,
		.memory_bytes = std::int64_t{16} << 30,
		.pods = 100,
		.extended = {}};
	w.observe(NodeSeen{node}, at(1));
	w.observe(NodesListed{{"n1"}});
	if (seen)
		w.observe(PodSeen{*seen}, at(1));
	w.observe(PodsListed{{"u-1"}}, at(1));
	if (!with_link)
		return w;
	w.observe(LinkOpened{{}});
	SlurmNode in_slurm;
	in_slurm.name = "n1";
	in_slurm.base = NodeBase::idle;
	in_slurm.cpus = 8;
	in_slurm.memory_mib = 16 << 10;
	w.observe(SlurmNodeSeen{in_slurm});
	w.observe(SnapshotEnded{}, at(1));
	return w;
}

SlurmJob job(JobState state)
{
	SlurmJob j = make_job(12, make_marker("lab", "p", "Pod", "u-1"), state);
	j.priority = 4711;
	if (state == JobState::running)
		j.nodes = {make_allocation("n1", 2, 512)};
	return j;
}

std::string line(const World &w, const char *about, Now now = at(2))
{
	std::string all;
	for (const WhyLine &one : why(w, "lab", "p", now)) {
		if (one.about == about)
			all += (all.empty() ? "" : " | ") + one.text;
	}
	return all;
}

bool has(const std::string &text, const char *part)
{
	return text.find(part) != std::string::npos;
}

void an_unknown_pod_has_no_story()
{
	CHECK(why(world(), "lab", "q", at(2)).empty());
	CHECK(why(world(), "elsewhere", "p", at(2)).empty());
}

void it_says_who_and_what()
{
	const World w = world();
	CHECK_EQUAL(line(w, "pod"), "lab/p, Pending, uid u-1");
	CHECK_EQUAL(line(w, "rule"),
		"user phys (uid 1001) by identity rule 1 (namespace lab); accounts phys, shared");
	CHECK_EQUAL(line(w, "asks for"),
		"2 CPUs, 512 MiB, partition kube, account phys, the partition's time limit");
	CHECK_EQUAL(line(w, "job"), "none");
	CHECK_EQUAL(line(w, "waits for"), "its submission to Slurm");
}

void a_refused_pod_waits_for_somebody()
{
	Pod p = pod();
	p.annotations["slurm-kube.io/no-such-option"] = "1";
	const World w = world(p);
	CHECK(has(line(w, "asks for"), "refused: ") && has(line(w, "asks for"), "no-such-option"));
	CHECK_EQUAL(line(w, "waits for"),
		"somebody who changes the pod, its namespace or the configuration");
}

void the_agent_itself_may_be_what_is_missing()
{
	CHECK(has(line(world(pod(), false), "waits for"), "its plugin is not connected"));
}

void a_pending_job_tells_slurms_reason()
{
	World w = world();
	SlurmJob j = job(JobState::pending);
	j.reason = "Priority";
	j.start_time = 1'700'000'000;
	w.observe(JobSeen{j}, at(1));
	CHECK_EQUAL(line(w, "job"),
		"12, pending, attempt 1, estimated start 2023-11-14T22:13Z, priority 4711");
	CHECK_EQUAL(line(w, "waits for"), "Slurm's queue: Priority");
	j.held = true;
	w.observe(JobSeen{j}, at(1));
	CHECK(has(line(w, "waits for"), "scontrol release"));
}

void it_tells_its_stage_and_since_when()
{
	World w = world();
	CHECK_EQUAL(line(w, "stage"), ""); /* nobody has looked yet */
	w.observe(JobSeen{job(JobState::pending)}, at(1));
	(void)w.take_actions(at(2));
	CHECK_EQUAL(line(w, "stage", at(5)), "queued for 3 s");
	(void)w.take_actions(at(6));
	CHECK_EQUAL(line(w, "stage", at(8)), "queued for 6 s");
	w.observe(JobSeen{job(JobState::running)}, at(9));
	(void)w.take_actions(at(9));
	CHECK_EQUAL(line(w, "stage", at(9)), "binding for 0 s");
}

void an_allocated_pod_tells_what_keeps_it_from_its_node()
{
	World w = world();
	w.observe(JobSeen{job(JobState::running)}, at(1));
	CHECK_EQUAL(line(w, "node"), "n1, Ready");
	CHECK_EQUAL(line(w, "waits for"), "its binding to node n1");
	Pod other = pod();
	other.uid = {"u-2"};
	other.name = "q";
	other.node_name = "n1";
	other.requests.milli_cpu = 7000;
	other.deleting = true;
	w.observe(PodSeen{other}, at(1));
	CHECK_EQUAL(line(w, "waits for"),
		"room on node n1: 1 pods are there, terminating ones included");
	KubeNode node = w.state().kube_nodes.at("n1");
	node.ready = false;
	node.not_ready_reason = "KubeletDown";
	w.observe(NodeSeen{node}, at(1));
	CHECK_EQUAL(line(w, "node"), "n1, not Ready (KubeletDown)");
	CHECK_EQUAL(line(w, "waits for"), "node n1 to be Ready in Kubernetes");
}

/* The age comes from the clocks of the pod and of its component. */
void what_is_borne_for_a_limited_time_is_told_with_its_age()
{
	World w = world();
	w.observe(JobSeen{job(JobState::running)}, at(1));
	Pod other = pod();
	other.uid = {"u-2"};
	other.name = "q";
	other.node_name = "n1";
	other.requests.milli_cpu = 7000;
	other.deleting = true;
	w.observe(PodSeen{other}, at(1));
	(void)w.take_actions(at(2));
	CHECK_EQUAL(line(w, "problem", at(5)), "no room on its node for 3 s");
	w.observe(PodGone{{"u-2"}, std::nullopt}, at(6));
	(void)w.take_actions(at(20));
	(void)w.take_actions(at(21));
	CHECK_EQUAL(line(w, "problem", at(21)), "");
}

void a_bound_pod_waits_for_its_kubelet()
{
	Pod p = pod();
	p.node_name = "n1";
	p.waiting_reason = "ImagePullBackOff: no such image";
	World w = world(p);
	w.observe(JobSeen{job(JobState::running)}, at(1));
	CHECK_EQUAL(
		line(w, "waits for"), "the kubelet to start it: ImagePullBackOff: no such image");
	p.phase = PodPhase::running;
	w.observe(PodSeen{p}, at(1));
	CHECK_EQUAL(line(w, "waits for"), "nothing: it runs");
}

void an_end_tells_who_wanted_it()
{
	Pod p = pod();
	p.node_name = "n1";
	p.phase = PodPhase::running;
	World w = world(p);
	w.observe(JobSeen{job(JobState::running)}, at(1));
	SlurmJob ended = job(JobState::cancelled);
	ended.ended_by = 1001;
	ended.end_time = 1'700'000'060;
	w.observe(JobSeen{ended}, at(1));
	CHECK_EQUAL(line(w, "job"),
		"12, cancelled by uid 1001, attempt 1, ended 2023-11-14T22:14Z, priority 4711");
	CHECK_EQUAL(line(w, "waits for"), "its deletion, because its job has ended");
	w.observe(PodGone{{"u-1"}, p}, at(1));
	CHECK(has(line(w, "pod"), "lab/p, gone"));
	CHECK_EQUAL(line(w, "waits for"), "nothing: it has ended");
}

void a_failed_submission_tells_when_it_is_tried_again()
{
	World w = world();
	(void)w.take_actions(at(2));
	CHECK_EQUAL(line(w, "waits for"), "slurmctld's answer to the submission");
	w.answer(SubmitAnswered{{"u-1"}, Error{Errc::invalid, "Invalid account"}}, at(2));
	CHECK_EQUAL(line(w, "waits for", at(12)),
		"the next try, in 50 s; Slurm refused the job: Invalid account");
	CHECK_EQUAL(line(w, "trouble"), "Slurm refused the job: Invalid account");
}

/* Pod p is index 1 of an Indexed Job of two; index 0 does not exist yet. */
World world_of_gang()
{
	Pod p = pod();
	p.controller = OwnerRef{"batch/v1", "Job", "train", "job-1"};
	p.labels = {{"batch.kubernetes.io/job-completion-index", "1"}};
	World w = world(p);
	return w;
}

void tell_owner(World &w)
{
	Owner owner;
	owner.id = {"batch/v1", "Job", "lab", "train"};
	owner.uid = "job-1";
	owner.starts_together = true;
	owner.roles = {
		{.name = "", .pods = 2, .pods_per_job = 2, .stage = 0, .each = pod().requests}};
	(void)w.take_questions(at(2));
	w.observe(OwnerSeen{owner.id, std::optional(owner)}, at(2));
}

void a_member_tells_of_the_job_of_its_gang()
{
	World w = world_of_gang();
	CHECK_EQUAL(line(w, "waits for"), "Job train: it does not exist yet");
	tell_owner(w);
	(void)w.take_actions(at(2));
	CHECK_EQUAL(line(w, "waits for"), "slurmctld's answer to the submission");
	SlurmJob j = job(JobState::pending);
	j.marker = make_marker("lab", "train", "Job", "job-1");
	j.reason = "Resources";
	w.answer(SubmitAnswered{{"job-1"}, Submitted{.job = j.id, .node = ""}}, at(2));
	w.observe(JobSeen{j}, at(2));
	CHECK(has(line(w, "job"), "12, pending"));
	CHECK_EQUAL(
		line(w, "gang"), "Job lab/train, rank 1 of 2, 1 pods are there, 0 of them bound");
	CHECK(has(line(w, "asks for"), "2 tasks of 2 CPUs, 512 MiB"));
	CHECK_EQUAL(line(w, "waits for"), "Slurm's queue: Resources");
}

void an_allocated_pod_tells_of_prolog_and_claims()
{
	World w = world();
	SlurmJob j = job(JobState::running);
	j.configuring = true;
	w.observe(JobSeen{j}, at(1));
	CHECK_EQUAL(line(w, "waits for"), "PrologSlurmctld, which runs for job 12");
	SlurmNode hybrid;
	hybrid.name = "n1";
	hybrid.cpus = 8;
	hybrid.is_hybrid = true;
	w.observe(SlurmNodeSeen{hybrid});
	CHECK_EQUAL(line(w, "waits for"),
		"Prolog on node n1, which runs for job 12; a job whose Prolog is not over after "
		"limits.prolog_wait_seconds (600 s) is given back");
	Pod p = pod();
	p.constraints.claims = {{"c", false}};
	World with_claim = world(p);
	CHECK(has(line(with_claim, "waits for"), "its volume claims: "));
	with_claim.observe(JobSeen{job(JobState::running)}, at(1));
	CHECK(has(line(with_claim, "waits for"), "its volume claims: "));
	with_claim.observe(ClassSeen{{"late", "uid-late", "csi.example.com", true, {}}});
	with_claim.observe(ClassesListed{{"uid-late"}});
	with_claim.observe(VolumesListed{{}});
	Claim claim;
	claim.id = {"lab", "c"};
	claim.uid = "uid-c";
	claim.storage_class = "late";
	with_claim.observe(ClaimSeen{claim}, at(1));
	with_claim.observe(ClaimsListed{{"uid-c"}});
	CHECK_EQUAL(line(with_claim, "waits for"), "volume claim c to be bound for node n1");
}

std::string of(const std::vector<WhyLine> &lines, const char *about)
{
	std::string all;
	for (const WhyLine &one : lines) {
		if (one.about == about)
			all += (all.empty() ? "" : " | ") + one.text;
	}
	return all;
}

void a_node_tells_whether_slurm_uses_it()
{
	World w = world();
	CHECK(why_node(w, "n2").empty());
	CHECK(has(of(why_node(w, "n1"), "use"), "in use"));
	CHECK_EQUAL(of(why_node(w, "n1"), "kubernetes"), "Ready");
	CHECK_EQUAL(of(why_node(w, "n1"), "slurm"), "IDLE, 8 CPUs, 16384 MiB");
	CHECK_EQUAL(of(why_node(w, "n1"), "pods"), "0");
	struct {
		const char *reason, *said;
	} const rows[] = {
		{"slurm-kube: cordoned",
			"this agent took it out of service (slurm-kube: cordoned)"},
		{"bad disk", "an administrator or Slurm took it out of service (bad disk)"},
		{"", "without a reason"},
	};
	for (const auto &row : rows) {
		SlurmNode node = w.state().slurm_nodes.at("n1");
		node.drain = true;
		node.reason = row.reason;
		w.observe(SlurmNodeSeen{node});
		CHECK(has(of(why_node(w, "n1"), "use"), row.said));
		CHECK(has(of(why_node(w, "n1"), "slurm"), "IDLE+DRAIN"));
	}
	w.observe(SlurmNodeGone{"n1"});
	CHECK(has(of(why_node(w, "n1"), "use"), "Slurm has no record"));
}

void a_node_tells_which_pods_are_there_and_which_avoid_it()
{
	World w = world();
	Pod there = pod();
	there.uid = {"u-2"};
	there.name = "q";
	there.node_name = "n1";
	there.phase = PodPhase::running;
	w.observe(PodSeen{there}, at(1));
	CHECK_EQUAL(of(why_node(w, "n1"), "pods"), "1: lab/q (no job)");
	CHECK_EQUAL(of(why_node(w, "n1"), "avoided by"), "");
	Pod choosy = pod();
	choosy.constraints.node_selector = {{"disk", "ssd"}};
	w.observe(PodSeen{choosy}, at(1));
	const std::string avoided = of(why_node(w, "n1"), "avoided by");
	CHECK(has(avoided, "1 waiting pods, for example lab/p: the node ") && has(avoided, "disk"));
	KubeNode node = w.state().kube_nodes.at("n1");
	node.taints = {{"gpu", "only", "NoSchedule"}};
	w.observe(NodeSeen{node}, at(1));
	CHECK_EQUAL(of(why_node(w, "n1"), "taints"),
		"gpu=only:NoSchedule, which no pod of Slurm tolerates");
}

void an_owner_and_a_job_tell_of_their_pods()
{
	World w = world_of_gang();
	tell_owner(w);
	(void)w.take_actions(at(2));
	SlurmJob j = job(JobState::pending);
	j.marker = make_marker("lab", "train", "Job", "job-1");
	j.reason = "Resources";
	w.answer(SubmitAnswered{{"job-1"}, Submitted{.job = j.id, .node = ""}}, at(2));
	w.observe(JobSeen{j}, at(2));
	for (const char *kind : {"Job", "job"}) {
		const auto lines = why_owner(w, kind, "lab", "train", at(3));
		CHECK_EQUAL(of(lines, "owner"), "Job lab/train, 1 pod");
		CHECK(has(of(lines, "component 0"),
			"2 ranks, 1 pod; job 12, PENDING, attempt 1, Resources"));
		CHECK_EQUAL(of(lines, "waits for"),
			"Slurm's queue: Resources (1 pod, for example lab/p)");
	}
	CHECK_EQUAL(pods_of_owner(w, "JOB", "lab", "train").size(), 1U);
	CHECK(why_owner(w, "Job", "lab", "other", at(3)).empty());
	CHECK(why_owner(w, "Job", "default", "train", at(3)).empty());
	CHECK(why_owner(w, "JobSet", "lab", "train", at(3)).empty());
	CHECK_EQUAL(
		of(why_job(w, {12}, at(3)), "this job"), "job 12, PENDING, attempt 1, Resources");
	CHECK_EQUAL(of(why_job(w, {12}, at(3)), "owner"), "Job lab/train, 1 pod");
	CHECK(why_job(w, {13}, at(3)).empty());
}

void a_job_whose_pod_is_not_there_says_so()
{
	World w = world(std::nullopt);
	w.observe(JobSeen{job(JobState::pending)}, at(1));
	CHECK_EQUAL(
		of(why_job(w, {12}, at(2)), "pod"), "Pod lab/p, of which the agent sees no pod");
}

void ten_lines_are_enough()
{
	Pod p = pod();
	p.not_scheduled = Condition{"SlurmPending", "x"};
	p.disruption = Condition{"SlurmJobEnded", "y"};
	World w = world(p);
	w.answer(SubmitAnswered{{"u-1"}, Error{Errc::again, "away"}}, at(2));
	CHECK(why(w, "lab", "p", at(2)).size() <= 10);
}

} // namespace

int main()
{
	return check::run_tests("why",
		{
			TEST(an_unknown_pod_has_no_story),
			TEST(it_says_who_and_what),
			TEST(a_refused_pod_waits_for_somebody),
			TEST(the_agent_itself_may_be_what_is_missing),
			TEST(a_pending_job_tells_slurms_reason),
			TEST(it_tells_its_stage_and_since_when),
			TEST(an_allocated_pod_tells_what_keeps_it_from_its_node),
			TEST(what_is_borne_for_a_limited_time_is_told_with_its_age),
			TEST(a_bound_pod_waits_for_its_kubelet),
			TEST(an_end_tells_who_wanted_it),
			TEST(a_failed_submission_tells_when_it_is_tried_again),
			TEST(a_member_tells_of_the_job_of_its_gang),
			TEST(an_allocated_pod_tells_of_prolog_and_claims),
			TEST(a_node_tells_whether_slurm_uses_it),
			TEST(a_node_tells_which_pods_are_there_and_which_avoid_it),
			TEST(an_owner_and_a_job_tell_of_their_pods),
			TEST(a_job_whose_pod_is_not_there_says_so),
			TEST(ten_lines_are_enough),
		});
}
