/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and the owners of pods: which owners it asks for and when, which answers it trusts, and
 * how an owner's changes affect the job of its gang. */
#include "src/core/model/outcome.h"
#include "testsuite/unit/world_facts.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

const OwnerId k_set{"jobset.x-k8s.io/v1alpha2", "JobSet", "default", "set"},
	k_job{"batch/v1", "Job", "default", "set-a-0"},
	k_ray{"ray.io/v1", "RayCluster", "default", "ray"};

/* Two nodes of eight CPUs, a JobSet "set" with one role "a" and a given number of pods, and a
 * clock that tests move. */
struct Stage {
	World world;
	Now now = k_start;
	std::map<OwnerId, Owner> served; /* what the API server has */
	std::vector<OwnerId> asked;
	std::uint32_t last_job = 6;

	explicit Stage(std::uint32_t pods = 2) : world(plain_settings())
	{
		for (const char *name : {"n1", "n2"})
			add_node(name);
		world.observe(NodesListed{{"n1", "n2"}});
		world.observe(PodsListed{{}}, now);
		world.observe(SnapshotEnded{}, now);
		serve_set(pods);
		serve_job("job-1");
	}

	void add_node(const std::string &name)
	{
		world.observe(NodeSeen{kube_node(name, name, 8000)}, now);
		PluginHello hello;
		hello.slurm_version_number = 22U << 16;
		world.observe(LinkOpened{hello});
		for (const auto &[other, seen] : world.state().kube_nodes)
			world.observe(SlurmNodeSeen{slurm_node(other, 8)});
	}

	void serve(const OwnerId &id, const std::string &uid, std::vector<Role> roles)
	{
		Owner owner;
		owner.id = id;
		owner.uid = uid;
		owner.starts_together = !roles.empty();
		owner.roles = std::move(roles);
		served[id] = owner;
	}
	void serve_set(std::uint32_t pods)
	{
		serve(k_set, "set-1",
			{{.name = "a",
				.pods = pods,
				.pods_per_job = pods,
				.stage = 0,
				.each = {.milli_cpu = 1000,
					.memory_bytes = 0,
					.pods = 1,
					.extended = {}}}});
	}
	void serve_job(const std::string &uid)
	{
		serve(k_job, uid, {});
		served[k_job].controller = OwnerRef{k_set.api_version, "JobSet", "set", "set-1"};
	}

	/* Answers every question from served, until no questions remain. */
	void answer()
	{
		for (std::vector<OwnerId> questions = world.take_questions(now); !questions.empty();
			questions = world.take_questions(now)) {
			for (const OwnerId &id : questions) {
				asked.push_back(id);
				world.observe(
					OwnerSeen{id,
						served.contains(id) ? std::optional(served[id])
								    : std::nullopt},
					now);
			}
		}
	}

	/* The pod with this index, of the Job with this uid. */
	Pod pod(const std::string &uid, int index, const std::string &job_uid = "job-1") const
	{
		Pod p = make_pod("default", "set-a-0-" + uid, uid, make_requests(1000));
		p.controller = OwnerRef{"batch/v1", "Job", "set-a-0", job_uid};
		p.labels = {{"jobset.sigs.k8s.io/replicatedjob-name", "a"},
			{"jobset.sigs.k8s.io/job-index", "0"},
			{"batch.kubernetes.io/job-completion-index", std::to_string(index)}};
		return p;
	}

	void see(Pod pod)
	{
		world.observe(PodSeen{std::move(pod)}, now);
		answer();
	}

	/* The next actions as text; submissions and bindings succeed. */
	std::string act()
	{
		std::string out;
		for (const auto &[uid, action] : world.take_actions(now)) {
			out += out.empty() ? "" : " ";
			if (const auto *submit = std::get_if<Submit>(&action)) {
				out += "submit:" + uid.text + "x" +
					std::to_string(submit->spec.tasks);
				start(uid, submit->spec);
			} else if (const auto *bind = std::get_if<Bind>(&action)) {
				out += "bind:" + uid.text +
					(bind->rank ? "#" + std::to_string(*bind->rank) : "");
				world.answer(BindAnswered{uid, Ok{}}, now);
				run(uid, *bind);
			} else if (const auto *end = std::get_if<Complete>(&action)) {
				out += "complete:" +
					(end->wait_status == k_status_cancelled
							? "cancelled"
							: std::to_string(end->wait_status));
			} else if (const auto *update = std::get_if<Update>(&action)) {
				out += "update:" + uid.text + "+" +
					std::to_string(update->given.size()) + "-" +
					std::to_string(update->removed.size());
				updated = update->spec;
			} else if (const auto *report = std::get_if<Report>(&action)) {
				out += "report:" + uid.text;
				last_report = report->not_scheduled.message;
			}
		}
		return out;
	}
	std::string last_report;
	JobSpec updated;      /* by the last update */
	bool is_full = false; /* jobs stay pending */

	void start(const PodUid &uid, const JobSpec &spec)
	{
		SlurmJob job;
		job.id = {++last_job};
		job.marker = spec.marker;
		job.state = is_full ? JobState::pending : JobState::running;
		if (!is_full)
			job.nodes = {make_allocation("n1", spec.tasks * spec.cpus, 64)};
		world.answer(SubmitAnswered{uid,
				     Submitted{.job = job.id,
					     .node = "n1",
					     .cpus = spec.tasks * spec.cpus}},
			now);
		world.observe(JobSeen{job}, now);
	}

	void run(const PodUid &uid, const Bind &bind)
	{
		Pod p = *world.state().pod(uid);
		p.node_name = bind.node;
		p.phase = PodPhase::running;
		p.annotations[names::k_allocation_job_id] = std::to_string(bind.job.number);
		p.annotations[names::k_allocation_attempt] = std::to_string(bind.attempt);
		if (bind.rank)
			p.annotations[names::k_allocation_rank] = std::to_string(*bind.rank);
		world.observe(PodSeen{p}, now);
	}

	/* Two pods that run under one job. */
	void start_two()
	{
		see(pod("p0", 0));
		see(pod("p1", 1));
		(void)act();
		(void)act();
		(void)act();
	}

	void lose(std::initializer_list<const char *> uids) /* some time later */
	{
		pass(k_second);
		for (const char *uid : uids)
			world.observe(PodGone{{uid}, std::nullopt}, now);
		(void)act();
		answer();
	}

	void pass(std::int64_t us) { advance(now, us); }
};

void sizes_come_from_the_owner()
{
	Stage s(3);
	s.see(s.pod("p0", 0));
	CHECK_EQUAL(s.act(), "submit:set-1x3");
	CHECK_EQUAL(s.act(), "bind:p0#0");
	CHECK_EQUAL(s.asked.size(), 2U);
	s.see(s.pod("p2", 2));
	CHECK_EQUAL(s.act(), "bind:p2#2");
	CHECK_EQUAL(s.asked.size(), 2U); /* known, and just asked for */
}

/* A Job may get more time while its pods wait. The agent never lowers a limit for it. */
void a_deadline_that_is_raised_reaches_the_waiting_job()
{
	for (const bool is_gang : {true, false}) {
		Stage s;
		s.is_full = true;
		s.served[k_set].starts_together = is_gang;
		s.served[k_job].deadline_seconds = 600;
		s.see(s.pod("p0", 0));
		const std::string submitted = s.act(), uid = is_gang ? "set-1" : "p0";
		CHECK_EQUAL(submitted, "submit:" + uid + (is_gang ? "x2" : "x1"));
		for (const auto &[seconds, said] : {std::pair(1200, "update:" + uid + "+1-0"),
			     std::pair(300, std::string())}) {
			s.served[k_job].deadline_seconds = seconds;
			s.pass(61 * k_second);
			s.answer();
			const std::string acted = s.act();
			CHECK_EQUAL(acted.substr(0, acted.find(' ')).substr(0, 6) == "update"
					? acted.substr(0, acted.find(' '))
					: "",
				said);
			if (said.empty())
				continue;
			CHECK_EQUAL(s.updated.time_limit_minutes, 20U);
			s.world.answer(
				UpdateAnswered{{uid}, s.updated.marker.options, {s.last_job}, Ok{}},
				s.now);
		}
	}
}

/* The options of a gang are those of its first pod. A pending job follows them, and those of no
 * other pod. */
void a_waiting_gang_follows_its_first_pod()
{
	Stage s;
	s.is_full = true;
	Pod first = s.pod("p0", 0), second = s.pod("p1", 1);
	first.annotations = second.annotations = {{"slurm-kube.io/timelimit", "10"}};
	s.see(second);
	CHECK_EQUAL(s.act(), "submit:set-1x2");
	s.see(first);
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "report:p0 report:p1");
	for (const char *uid : {"p0", "p1"})
		s.world.answer(ReportAnswered{{uid}, Ok{}}, s.now);
	second.annotations = {{"slurm-kube.io/timelimit", "30"}};
	s.see(second);
	CHECK_EQUAL(s.act(), "");
	first.annotations = {{"slurm-kube.io/timelimit", "20"}};
	s.see(first);
	CHECK_EQUAL(s.act(), "update:set-1+1-0");
	CHECK_EQUAL(s.updated.time_limit_minutes, 20U);
	CHECK_EQUAL(s.updated.marker.attempt, 1U);
	CHECK_EQUAL(s.updated.tasks, 2U);
	s.world.answer(UpdateAnswered{{"set-1"}, s.updated.marker.options, {7}, Ok{}}, s.now);
	CHECK_EQUAL(s.act(), "");
	first.annotations["slurm-kube.io/pods-per-node"] = "1"; /* not while it waits */
	s.see(first);
	s.pass(60 * k_second);
	CHECK_EQUAL(s.act(), "report:p0 report:p1");
	CHECK(s.last_report.find("it keeps the options that it had") != std::string::npos);
}

/* For example, a role may lose a node. */
void a_waiting_gang_follows_its_nodes()
{
	Stage s;
	s.is_full = true;
	Pod first = s.pod("p0", 0);
	first.constraints.tolerations = {};
	first.constraints.node_terms = {NodeTerm{{{"bad", SelectorOp::does_not_exist, {}}}, {}}};
	s.see(first);
	CHECK_EQUAL(s.act(), "submit:set-1x2");
	KubeNode bad = kube_node("n2", "n2", 8000);
	bad.labels["bad"] = "";
	s.world.observe(NodeSeen{bad}, s.now);
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "update:set-1+0-1 report:p0");
	CHECK(s.updated.excluded_nodes == std::vector<std::string>{"n2"});
}

/* JobSet recreates its Jobs under the same names. */
void an_owner_made_anew_is_asked_for_again()
{
	Stage s;
	s.start_two();
	s.serve_job("job-2");
	s.lose({"p0", "p1"});
	s.see(s.pod("q1", 1, "job-2"));
	CHECK_EQUAL(s.act(), "bind:q1#1");
	CHECK(s.asked.back() == k_job || s.asked[s.asked.size() - 2] == k_job);
}

void an_owner_that_is_not_there_leaves_its_pod_alone()
{
	Stage s;
	s.served.erase(k_job);
	s.see(s.pod("p0", 0));
	CHECK_EQUAL(s.act(), "submit:p0x1");
	s.see(s.pod("p1", 1, "made-up"));
	s.pass(2 * k_second);
	s.answer();
	CHECK_EQUAL(s.act(), "bind:p0 submit:p1x1");
}

void what_was_known_for_long_is_asked_again()
{
	Stage s;
	s.see(s.pod("p0", 0));
	const std::size_t first = s.asked.size();
	s.pass(60 * k_second);
	s.see(s.pod("p1", 1));
	CHECK_EQUAL(s.asked.size(), 2 * first);
}

/* Other workloads need the nodes: this is how Kueue preempts. */
void a_suspended_owner_gives_its_allocation_back_at_once()
{
	Stage s;
	s.start_two();
	s.served[k_set].is_finished = true;
	s.lose({"p0", "p1"});
	CHECK_EQUAL(s.act(), "complete:cancelled");
}

void an_owner_that_goes_on_keeps_its_allocation_for_the_hold_time()
{
	Stage s;
	s.start_two();
	s.lose({"p0", "p1"});
	CHECK_EQUAL(s.act(), "");
	s.pass(9 * k_second);
	s.answer();
	CHECK_EQUAL(s.act(), "");
	s.pass(2 * k_second);
	s.answer();
	CHECK_EQUAL(s.act(), "complete:cancelled");
}

/* The JobSet's success policy stops the workers, which is no failure. */
void an_owner_that_has_succeeded_makes_its_job_completed()
{
	Stage s;
	s.start_two();
	s.served[k_set].is_finished = s.served[k_set].has_succeeded = true;
	s.lose({"p0", "p1"});
	CHECK_EQUAL(s.act(), "complete:0");
}

void a_gang_waits_for_members_with_gates()
{
	Stage s;
	Pod gated = s.pod("p1", 1);
	gated.gated = true;
	s.see(s.pod("p0", 0));
	s.see(gated);
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "report:p0");
	CHECK_EQUAL(s.last_report, "1 pods of JobSet set have scheduling gates");
	s.see(s.pod("p1", 1));
	CHECK_EQUAL(s.act(), "submit:set-1x2");
}

/* Ray's workers have no index, and a replacement is created while its predecessor is stopping. */
void a_successor_takes_the_rank_of_a_pod_that_stops()
{
	Stage s;
	s.serve(k_ray, "ray-1",
		{{.name = "small",
			.pods = 2,
			.pods_per_job = 1,
			.stage = 0,
			.each = {
				.milli_cpu = 1000, .memory_bytes = 0, .pods = 1, .extended = {}}}});
	const auto worker = [&](const char *uid) {
		Pod p = s.pod(uid, 0);
		p.controller = OwnerRef{k_ray.api_version, "RayCluster", "ray", "ray-1"};
		p.labels = {{"ray.io/node-type", "worker"}, {"ray.io/group", "small"}};
		return p;
	};
	s.see(worker("w0"));
	s.see(worker("w1"));
	(void)s.act();
	CHECK_EQUAL(s.act(), "bind:w0#0 bind:w1#1");
	Pod stopping = *s.world.state().pod({"w0"});
	stopping.deleting = true;
	s.see(stopping);
	s.see(worker("w2"));
	CHECK_EQUAL(s.act(), "");
	s.world.observe(PodGone{{"w0"}, std::nullopt}, s.now);
	std::string done = s.act();
	/* a pod that disappeared without a final status keeps its share for a while */
	s.pass(5 * k_second);
	done += s.act();
	CHECK_EQUAL(done, "bind:w2#0");
}

/* The owner is asked again at an interval, no more often. The pods' own options take precedence. */
void options_of_an_owner_that_change_reach_waiting_jobs()
{
	Stage s;
	const OwnerId id{"batch/v1", "Job", "default", "plain"};
	s.serve(id, "plain-1", {});
	s.served[id].annotations = {
		{"slurm-kube.io/timelimit", "10"}, {"slurm-kube.io/comment", "theirs"}};
	Pod p = s.pod("p0", 0, "plain-1");
	p.labels = {};
	p.controller->name = "plain";
	p.annotations = {{"slurm-kube.io/comment", "mine"}};
	s.is_full = true;
	s.see(p);
	CHECK_EQUAL(s.act(), "submit:p0x1");
	s.asked.clear();
	s.served[id].annotations["slurm-kube.io/timelimit"] = "20";
	s.served[id].annotations["slurm-kube.io/comment"] = "changed";
	s.pass(20 * k_second);
	s.answer();
	CHECK(s.asked.empty());
	s.pass(15 * k_second);
	s.answer();
	CHECK_EQUAL(s.asked.size(), 1U);
	CHECK_EQUAL(s.act(), "update:p0+2-0");
	CHECK_EQUAL(s.updated.time_limit_minutes, 20U);
	CHECK_EQUAL(s.updated.comment, "mine");
	s.world.answer(UpdateAnswered{{"p0"}, s.updated.marker.options, {7}, Ok{}}, s.now);
	s.see(p); /* the watch shows the pod without inherited options */
	CHECK(s.act().find("update") == std::string::npos);
	s.served.erase(id); /* deleted: its pods go soon, and until then nothing changes */
	s.pass(40 * k_second);
	s.answer();
	CHECK_EQUAL(s.asked.size(), 2U);
	CHECK(s.act().find("update") == std::string::npos);
}

void owners_of_pods_that_run_are_left_alone_and_others_take_turns()
{
	Stage s;
	for (int i = 0; i < 20; i++) {
		const OwnerId id{"batch/v1", "Job", "default", "j" + std::to_string(i)};
		s.serve(id, "j", {});
		Pod p = s.pod("p" + std::to_string(i), 0, "j");
		p.controller->name = id.name;
		s.is_full = i > 0;
		s.see(p);
		(void)s.act();
		(void)s.act();
	}
	s.asked.clear();
	s.pass(40 * k_second);
	for (int second = 1; second <= 6; second++) {
		s.answer();
		CHECK(s.asked.size() <= static_cast<std::size_t>(4 * second));
		s.pass(k_second);
	}
	CHECK_EQUAL(std::set<OwnerId>(s.asked.begin(), s.asked.end()).size(), 19U);
	CHECK_EQUAL(s.asked.size(), 19U);
}

} // namespace

int main()
{
	return check::run_tests("world_owners",
		{TEST(sizes_come_from_the_owner), TEST(a_waiting_gang_follows_its_first_pod),
			TEST(a_deadline_that_is_raised_reaches_the_waiting_job),
			TEST(a_waiting_gang_follows_its_nodes),
			TEST(an_owner_made_anew_is_asked_for_again),
			TEST(an_owner_that_is_not_there_leaves_its_pod_alone),
			TEST(what_was_known_for_long_is_asked_again),
			TEST(a_suspended_owner_gives_its_allocation_back_at_once),
			TEST(an_owner_that_goes_on_keeps_its_allocation_for_the_hold_time),
			TEST(an_owner_that_has_succeeded_makes_its_job_completed),
			TEST(options_of_an_owner_that_change_reach_waiting_jobs),
			TEST(owners_of_pods_that_run_are_left_alone_and_others_take_turns),
			TEST(a_gang_waits_for_members_with_gates),
			TEST(a_successor_takes_the_rank_of_a_pod_that_stops)});
}
