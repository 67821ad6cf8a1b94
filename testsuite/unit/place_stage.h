/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place_stage.h - a World with three nodes, for pods with placement constraints. Tests put facts
 * in, take actions out as text and give answers.
 */
#ifndef SLURMKUBE_TESTSUITE_UNIT_PLACE_STAGE_H
#define SLURMKUBE_TESTSUITE_UNIT_PLACE_STAGE_H

#include "src/core/model/outcome.h"
#include "testsuite/unit/world_facts.h"

namespace slurmkube::check
{

using namespace slurmkube::core;

/* Nodes n1, n2 and n3 of four CPUs. n1 has the label disk=ssd; n1 and n2 are in zone a, n3 is in
 * zone b. */
struct PlaceStage {
	World world;
	Now now = k_start;

	PlaceStage() : world(settings())
	{
		for (const char *name : {"n1", "n2", "n3"})
			world.observe(NodeSeen{node(name)}, now);
		world.observe(NodesListed{{"uid-n1", "uid-n2", "uid-n3"}});
		world.observe(PodsListed{{}}, now);
		world.observe(ForeignListed{{}});
		world.observe(LinkOpened{{}});
		for (const char *name : {"n1", "n2", "n3"}) {
			world.observe(SlurmNodeSeen{slurm_node(name, 4)});
		}
		world.observe(SnapshotEnded{}, now);
	}

	static Settings settings()
	{
		Settings s = plain_settings();
		s.sees_foreign_pods = true;
		return s;
	}

	static KubeNode node(const std::string &name)
	{
		KubeNode n = kube_node(name, "uid-" + name, 4000);
		n.labels["kubernetes.io/hostname"] = name;
		n.labels["zone"] = name == "n3" ? "b" : "a";
		if (name == "n1")
			n.labels["disk"] = "ssd";
		return n;
	}

	static Pod pod(const std::string &uid)
	{
		Pod p = make_pod("default", "pod-" + uid, uid);
		p.labels = {{"app", "web"}};
		p.requests = make_requests(1000);
		return p;
	}

	static Pod with_port(const std::string &uid)
	{
		Pod p = pod(uid);
		p.constraints.host_ports = {{"0.0.0.0", "TCP", 80}};
		return p;
	}

	static Pod alone(const std::string &uid)
	{
		Pod p = pod(uid);
		p.constraints.anti_affinity = {{.topology_key = "kubernetes.io/hostname",
			.selector = PodSelector{{{"app", "web"}}, {}},
			.namespaces = {},
			.all_namespaces = false}};
		return p;
	}

	static Pod on_ssd(const std::string &uid)
	{
		Pod p = pod(uid);
		p.constraints.node_selector = {{"disk", "ssd"}};
		return p;
	}

	/* The next actions, as text. */
	std::string act()
	{
		std::string out;
		for (const auto &[uid, action] : world.take_actions(now)) {
			out += out.empty() ? "" : " ";
			out += word_of(uid, action);
			if (const auto *r = std::get_if<Report>(&action))
				text = r->not_scheduled.message;
		}
		return out;
	}

	void allocate(const std::string &uid, std::uint32_t id, const std::string &where)
	{
		world.answer(
			SubmitAnswered{{uid}, Submitted{.job = {id}, .node = where, .cpus = 1}},
			now);
	}

	void queue_job(const std::string &uid, std::uint32_t id)
	{
		allocate(uid, id, "");
		end_job(uid, id, JobState::pending);
	}

	void end_job(const std::string &uid, std::uint32_t id, JobState state = JobState::failed)
	{
		SlurmJob j = make_job(id, make_marker("default", "pod-" + uid, "Pod", uid), state);
		world.observe(JobSeen{j}, now);
	}

	/* Allocates the pod's job on that node, and shows the pod bound and running there. */
	void run(Pod p, std::uint32_t id, const std::string &where)
	{
		world.observe(PodSeen{p}, now);
		(void)act();
		allocate(p.uid.text, id, where);
		(void)act();
		world.answer(BindAnswered{p.uid, Ok{}}, now);
		p.node_name = where;
		p.phase = PodPhase::running;
		world.observe(PodSeen{p}, now);
		(void)act();
	}

	std::string text; /* of the last report */
};

} // namespace slurmkube::check

#endif
