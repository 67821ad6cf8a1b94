/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unlike_stage.h - a World with a RayCluster whose head and workers need different nodes: two
 * components, each with a Slurm job.
 */
#ifndef SLURMKUBE_TESTSUITE_UNIT_UNLIKE_STAGE_H
#define SLURMKUBE_TESTSUITE_UNIT_UNLIKE_STAGE_H

#include "src/core/model/outcome.h"
#include "testsuite/unit/gang_stage.h"

namespace slurmkube::check
{

inline Pod in_pool(const char *pool, std::int64_t milli_cpu)
{
	Pod pod;
	pod.name_space = "a";
	pod.requests = size(milli_cpu, 64);
	pod.constraints.node_selector = {{"pool", pool}};
	return pod;
}

inline Settings with_hold(std::int64_t seconds)
{
	Settings settings = plain_settings();
	settings.components_wait_seconds = seconds;
	return settings;
}

/* A RayCluster: a head of one CPU in pool a (n1, n2) and two workers of four CPUs in pool b (n3,
 * n4). Head and workers need different nodes, hence two components. */
struct UnlikeStage : GangStage {
	Pod head = in_pool("a", 1000), worker = in_pool("b", 4000);
	std::uint32_t next_job = 7;
	std::map<std::string, SlurmJob> jobs; /* by the marker's uid; the latest job */

	explicit UnlikeStage(std::int64_t hold_seconds = 60, const char *uid = "ray-uid")
	    : GangStage(4, size(1000, 64), with_hold(hold_seconds))
	{
		job.id = {"ray.io/v1", "RayCluster", "a", "ray"};
		job.uid = uid;
		job.roles = {role("head", 1, head), role("gpu", 2, worker)};
		for (const char *name : {"n1", "n2", "n3", "n4"}) {
			KubeNode node = kube_node(name, std::string(name) + "-uid", 8000);
			node.labels["pool"] = std::string(name) < "n3" ? "a" : "b";
			world.observe(NodeSeen{node}, now);
		}
	}

	static Role role(const char *name, std::uint32_t pods, const Pod &pod_template)
	{
		return {.name = name,
			.pods = pods,
			.each = pod_template.requests,
			.pod_template = std::make_shared<const Pod>(pod_template)};
	}

	void come(const char *uid, const Pod &like, std::map<std::string, std::string> labels)
	{
		Pod p = like;
		p.uid = {uid};
		p.name = uid;
		p.created = now.wall_s;
		p.labels = std::move(labels);
		p.controller = OwnerRef{"ray.io/v1", "RayCluster", "ray", job.uid};
		world.observe(PodSeen{p}, now);
	}

	void head_comes(const char *uid = "h") { come(uid, head, {{"ray.io/node-type", "head"}}); }
	void worker_comes(const char *uid)
	{
		come(uid, worker, {{"ray.io/node-type", "worker"}, {"ray.io/group", "gpu"}});
	}
	void all_come()
	{
		head_comes();
		worker_comes("w0");
		worker_comes("w1");
	}

	/* Takes the actions. Conditions written on pods succeed at once. */
	std::vector<World::PodAction> take()
	{
		auto actions = GangStage::take();
		for (const auto &[uid, report] : only<Report>(actions))
			world.answer(ReportAnswered{uid, Ok{}}, now);
		return actions;
	}

	/* Takes the submissions, which Slurm accepts, and returns them. */
	std::vector<Submit> submit()
	{
		std::vector<Submit> out;
		for (auto &[uid, next] : only<Submit>(take())) {
			SlurmJob &j = jobs[uid.text];
			j = {};
			j.id = {next_job++};
			j.marker = next.spec.marker;
			j.state = JobState::pending;
			j.submit_time = j.accrue_time = now.wall_s;
			j.partition = "kube";
			j.user_id = 0;
			world.answer(SubmitAnswered{uid, Submitted{.job = j.id, .node = ""}}, now);
			world.observe(JobSeen{j}, now);
			out.push_back(std::move(next));
		}
		return out;
	}

	void allocate(const std::string &uid, std::vector<NodeAllocation> on)
	{
		SlurmJob &j = jobs.at(uid);
		j.state = JobState::running;
		j.start_time = now.wall_s;
		j.nodes = std::move(on);
		world.observe(JobSeen{j}, now);
	}

	void end_job(const std::string &uid, JobState state)
	{
		SlurmJob &j = jobs.at(uid);
		j.state = state;
		j.end_time = now.wall_s;
		if (state == JobState::cancelled)
			j.ended_by = 1000;
		world.observe(JobSeen{j}, now);
	}

	void run(const PodUid &uid, const Bind &bind)
	{
		world.answer(BindAnswered{uid, Ok{}}, now);
		Pod seen = *world.state().pod(uid);
		/* the API server's pod has not got what its owners say */
		for (const std::string &key : world.state().pods.at(uid).inherited_keys)
			seen.annotations.erase(key);
		seen.node_name = bind.node;
		seen.annotations[names::k_allocation_job_id] = std::to_string(bind.job.number);
		seen.annotations[names::k_allocation_attempt] = std::to_string(bind.attempt);
		seen.annotations[names::k_allocation_rank] = std::to_string(*bind.rank);
		seen.annotations[names::k_allocation_gang] =
			world.state().pods.at(uid).component->text;
		seen.phase = PodPhase::running;
		world.observe(PodSeen{seen}, now);
	}

	/* "h:n1:0 w0:n3:1": pod, node, rank */
	std::string bind()
	{
		std::map<std::string, std::string> bound;
		for (const auto &[uid, next] : only<Bind>(take())) {
			bound[uid.text] = next.node + ":" + std::to_string(next.rank.value_or(99));
			run(uid, next);
		}
		std::string text;
		for (const auto &[uid, where] : bound)
			text += (text.empty() ? "" : " ") + uid + ":" + where;
		return text;
	}

	/* Goes all the way from the pods' arrival to pods that run. */
	void start()
	{
		all_come();
		(void)submit();
		allocate("ray-uid+1", nodes({{"n3", 4}, {"n4", 4}}));
		(void)submit();
		allocate("ray-uid", nodes({{"n1", 1}}));
		(void)bind();
		pass(2 * k_second);
	}

	std::string told(const char *uid)
	{
		std::string text;
		for (const auto &[pod, report] : only<Report>(take())) {
			if (pod.text == uid)
				text = report.not_scheduled.message;
		}
		return text;
	}
};

inline void gone(UnlikeStage &stage, std::initializer_list<const char *> uids)
{
	for (const char *uid : uids)
		stage.world.observe(PodGone{{uid}, *stage.world.state().pod({uid})}, stage.now);
}

/* The pod ends: code 0 is success, any other code a failure. */
inline void end_pod(UnlikeStage &stage, const char *uid, int code)
{
	Pod p = *stage.world.state().pod({uid});
	p.phase = code == 0 ? PodPhase::succeeded : PodPhase::failed;
	p.main_container = "main";
	if (code != 0)
		p.ended_containers = {{"main", code, 0, "Error"}};
	stage.world.observe(PodSeen{p}, stage.now);
}

/* Answers as Slurm and Kubernetes would; says what was asked for: "Bind h, End ray-uid=0". */
struct LivingStage : UnlikeStage {
	using UnlikeStage::UnlikeStage;

	std::string step()
	{
		std::string log;
		for (auto &[uid, action] : take()) {
			const std::string done = carry_out(uid, action);
			if (!done.empty())
				log += (log.empty() ? "" : ", ") + done;
		}
		return log;
	}

	/* So many steps of 10 s; all that was asked for meanwhile. */
	std::string steps(int count)
	{
		std::string log;
		for (int i = 0; i < count; i++) {
			pass(10 * k_second);
			const std::string done = step();
			if (!done.empty())
				log += (log.empty() ? "" : ", ") + done;
		}
		return log;
	}

	std::string carry_out(const PodUid &uid, Action &action)
	{
		if (auto *bind = std::get_if<Bind>(&action)) {
			run(uid, *bind);
			return "Bind " + uid.text;
		}
		if (std::holds_alternative<LookUp>(action))
			world.answer(LookUpAnswered{uid, PodLookup::unbound}, now);
		if (std::holds_alternative<DeletePod>(action))
			return "Delete " + uid.text;
		if (std::holds_alternative<WriteClaim>(action))
			return "WriteClaim " + uid.text;
		if (auto *submit = std::get_if<Submit>(&action))
			return made(uid, submit->spec.marker);
		if (auto *complete = std::get_if<Complete>(&action))
			return ended(uid, complete->wait_status, complete->for_absence);
		if (auto *cancel = std::get_if<Cancel>(&action))
			return ended(uid, k_status_cancelled, cancel->for_absence);
		return "";
	}

      private:
	std::string made(const PodUid &uid, const Marker &marker)
	{
		SlurmJob &j = jobs[uid.text];
		j = {};
		j.id = {next_job++};
		j.marker = marker;
		j.state = JobState::pending;
		j.submit_time = j.accrue_time = now.wall_s;
		j.partition = "kube";
		world.answer(SubmitAnswered{uid, Submitted{.job = j.id, .node = ""}}, now);
		world.observe(JobSeen{j}, now);
		return "Submit " + uid.text;
	}

	std::string ended(const PodUid &uid, std::uint32_t status, bool for_absence)
	{
		const bool is_cancel = status == k_status_cancelled;
		world.answer(CompleteAnswered{uid, Ok{}, is_cancel}, now);
		SlurmJob &j = jobs.at(uid.text);
		j.state = status == 0                 ? JobState::complete
			: is_cancel                   ? JobState::cancelled
			: status == k_status_deadline ? JobState::timeout
						      : JobState::failed;
		j.exit_status = is_cancel ? 0 : status;
		j.marker.given_up = for_absence;
		j.end_time = now.wall_s;
		world.observe(JobSeen{j}, now);
		return "End " + uid.text + "=" +
			(is_cancel                                      ? "cancelled"
					: status == k_status_given_back ? "given back"
									: std::to_string(status));
	}
};

inline bool has(const std::string &log, const char *what)
{
	return log.find(what) != std::string::npos;
}

/* An agent that comes later, and sees these pods and these jobs. */
inline LivingStage next_agent(const LivingStage &before, std::initializer_list<const char *> pods)
{
	LivingStage stage;
	stage.now = before.now;
	stage.now.mono_us += k_second;
	stage.jobs = before.jobs;
	stage.next_job = before.next_job;
	stage.job = before.job;
	for (const char *uid : pods)
		stage.world.observe(PodSeen{*before.world.state().pod({uid})}, stage.now);
	std::vector<SlurmJob> jobs;
	for (const auto &[key, job] : before.jobs)
		jobs.push_back(job);
	stage.connect(jobs);
	return stage;
}

} // namespace slurmkube::check

#endif
