/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world_stage.h - a World with one node, and the steps that most tests of single pods need. Tests
 * put facts in, take actions out as text and give answers.
 */
#ifndef SLURMKUBE_TESTSUITE_UNIT_WORLD_STAGE_H
#define SLURMKUBE_TESTSUITE_UNIT_WORLD_STAGE_H

#include "testsuite/unit/world_facts.h"

namespace slurmkube::check
{

/* A world with one node of four CPUs, and a clock that tests move. */
struct Stage {
	World world;
	Now now = k_start;
	std::uint32_t next_job = 1;

	explicit Stage(std::int64_t start_limit_us = 0) : world(settings(start_limit_us))
	{
		node(true);
		world.observe(core::NodesListed{{"node-uid"}});
		world.observe(core::PodsListed{{}}, now);
		connect({});
	}

	static Settings settings(std::int64_t start_limit_us = 0)
	{
		Settings s = plain_settings();
		s.start_limit_us = start_limit_us;
		return s;
	}

	void pass(std::int64_t us) { advance(now, us); }

	void node(bool ready)
	{
		KubeNode n = kube_node("n1", "node-uid", 4000);
		n.ready = ready;
		world.observe(core::NodeSeen{n}, now);
	}

	void connect(const std::vector<SlurmJob> &jobs)
	{
		PluginHello hello;
		hello.slurm_version_number = 22U << 16;
		world.observe(core::LinkOpened{hello});
		world.observe(core::SlurmNodeSeen{slurm_node("n1", 0)});
		for (const SlurmJob &job : jobs)
			world.observe(core::JobSeen{job}, now);
		world.observe(core::SnapshotEnded{}, now);
	}

	Pod pod(const std::string &uid, std::int64_t milli_cpu = 1000) const
	{
		Pod p = make_pod("default", "pod-" + uid, uid, make_requests(milli_cpu));
		return p;
	}

	static SlurmJob job(
		std::uint32_t id, const std::string &uid, JobState state, std::uint32_t attempt = 1)
	{
		SlurmJob j = make_job(
			id, make_marker("default", "pod-" + uid, "Pod", uid, attempt), state);
		if (state == JobState::running)
			j.nodes = {make_allocation("n1", 1, 64, "0")};
		return j;
	}

	/* The next actions as text, one word per action. */
	std::string act()
	{
		std::string out;
		for (const auto &[uid, action] : world.take_actions(now)) {
			out += out.empty() ? "" : " ";
			if (const auto *s = std::get_if<Submit>(&action))
				out += "submit:" + uid.text + "#" +
					std::to_string(s->spec.marker.attempt) +
					(s->spec.required_node.empty()
							? ""
							: "@" + s->spec.required_node);
			else if (const auto *u = std::get_if<Update>(&action))
				out += "update:" + std::to_string(u->job.number) + "+" +
					std::to_string(u->given.size()) + "-" +
					std::to_string(u->removed.size());
			else if (const auto *c = std::get_if<Cancel>(&action))
				out += "cancel:" + std::to_string(c->job.number);
			else if (const auto *e = std::get_if<Complete>(&action))
				out += "complete:" + std::to_string(e->job.number) + "=" +
					(e->wait_status == k_status_cancelled
							? "cancelled"
							: std::to_string(e->wait_status));
			else if (const auto *b = std::get_if<Bind>(&action))
				out += "bind:" + uid.text + "@" + b->node;
			else if (std::holds_alternative<LookUp>(action))
				out += "look:" + uid.text;
			else if (std::holds_alternative<DeletePod>(action))
				out += "remove:" + uid.text;
			else if (const auto *r = std::get_if<Report>(&action))
				out += "report:" + uid.text + ":" + r->not_scheduled.reason;
		}
		return out;
	}

	void allocate(const std::string &uid, std::uint32_t id)
	{
		world.answer(core::SubmitAnswered{{uid},
				     Submitted{.job = {id}, .node = "n1", .cpus = 1}},
			now);
	}
};

/* Brings a pod to Running on n1 under this job. */
inline void run_pod(
	Stage &s, const std::string &uid, std::uint32_t id, std::int64_t milli_cpu = 1000)
{
	s.world.observe(core::PodSeen{s.pod(uid, milli_cpu)}, s.now);
	(void)s.act();
	s.allocate(uid, id);
	(void)s.act();
	s.world.answer(core::BindAnswered{{uid}, Ok{}}, s.now);
	Pod p = s.pod(uid, milli_cpu);
	p.node_name = "n1";
	p.phase = PodPhase::running;
	p.annotations = allocation_annotations(id);
	s.world.observe(core::PodSeen{p}, s.now);
	s.world.observe(core::JobSeen{Stage::job(id, uid, JobState::running)}, s.now);
}

inline Pod end_of(Pod pod, PodPhase phase, int exit_code)
{
	pod.node_name = "n1";
	pod.phase = phase;
	pod.main_container = "c";
	pod.ended_containers = {{.name = "c", .exit_code = exit_code, .signal = 0, .reason = "x"}};
	return pod;
}

/* A bound pod whose containers do not run, with the status that the kubelet writes during a
 * pull. */
inline Pod starting(const Stage &s, const std::string &uid, std::uint32_t id)
{
	Pod p = s.pod(uid);
	p.node_name = "n1";
	p.annotations = allocation_annotations(id);
	p.waiting_reason = "ImagePullBackOff";
	return p;
}

inline SlurmJob cancelled_job(const Stage &s, std::uint32_t id, const std::string &uid,
	std::int64_t seconds_after_submission)
{
	SlurmJob job = Stage::job(id, uid, JobState::cancelled);
	job.submit_time = s.now.wall_s;
	job.end_time = s.now.wall_s + seconds_after_submission;
	return job;
}

} // namespace slurmkube::check

#endif
