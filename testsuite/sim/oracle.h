/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oracle.h - checks the invariants of doc/design against the true state of the models, never
 * against what World believes.
 *
 *	1  a pod has at most one live job (except after slurmctld restored an older state, and then
 *	   never two for the same attempt)
 *	2  what pods really hold never over-commits a node; every binding has a live allocation on
 *	   its node
 *	3  the agent never touches foreign jobs or the job of another pod
 *	4  a job that ends with its pod gets the pod's true result
 *	5  a healthy pod is neither deleted nor loses its job because a component was restarted,
 *	   slow, unreachable or unmanaged; an existing node is neither set DOWN nor deleted for it
 *	G  no pod of a gang is bound before the gang's job is allocated; no two pods have the same
 *	   rank; no pod exceeds the allocation on its node; the job ends when all pods have stopped,
 *	   with the result of one of them
 *	D  no device is in two live pods; a pod is bound only when its claim says the devices of
 *	   its job; nothing keeps devices for a pod without an allocation
 *	8  waiting pods are not charged: at the end no allocation is held for an unbound pod,
 *	   whether its node is away or has no room
 *	L  an agent without a link does nothing
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_ORACLE_H
#define SLURMKUBE_TESTSUITE_SIM_ORACLE_H

#include "testsuite/sim/devices.h"
#include "testsuite/sim/gangs.h"
#include "testsuite/sim/slurm.h"

namespace slurmkube::sim
{

class Oracle
{
      public:
	Oracle(Stage &stage, Kube &kube, Devices &devices, Gangs &gangs, Slurm &slurm);

	/* ---- an agent receives news ---- */
	void pod_told(unsigned agent, std::uint64_t life, const core::Pod &pod);
	void end_told(unsigned agent, std::uint64_t life, const core::Pod &pod);
	[[nodiscard]] bool knows_end(
		unsigned agent, std::uint64_t life, const std::string &uid) const;
	enum class NodeNews { ready, not_ready, gone };
	void node_told(unsigned agent, std::uint64_t life, const std::string &node, NodeNews news);
	/* The agent's API server does not know the nodes of this cluster. */
	void set_blind(unsigned agent, bool is_blind)
	{
		is_blind ? (void)blind_.insert(agent) : (void)blind_.erase(agent);
	}
	/* And that API server reports the uid of another cluster. */
	void set_stranger(unsigned agent, bool is_so)
	{
		is_so ? (void)strangers_.insert(agent) : (void)strangers_.erase(agent);
	}
	/* A frozen agent may act on outdated news when it wakes up: until then such actions are
	 * excused. */
	void excuse_until(Micros when) { excused_until_ = std::max(excused_until_, when); }

	/* ---- an agent begins an action ---- */
	void acts(unsigned agent, bool has_snapshot, const char *what);
	void binds(const std::string &uid, const core::Bind &bind);
	void ends(const std::string &uid, core::JobId job, std::optional<std::uint32_t> wait_status,
		bool knows_end);
	void gang_ends(unsigned agent, std::uint64_t life, const std::string &gang, core::JobId job,
		std::optional<std::uint32_t> wait_status);
	void removes(const std::string &uid);
	void takes_node_down(unsigned agent, const std::string &node);
	void deletes_node(unsigned agent, const std::string &node);
	/* ---- the effect of an action arrives ---- */
	void end_arrives(const std::string &uid, core::JobId job);
	void delete_arrives(const std::string &uid, const PodTruth &hit);

	void pod_bound(const PodTruth &pod);
	void job_created(const JobTruth &job);
	void load_changed(const std::string &node);
	void prepared(const PodTruth &pod);

	/* The final check, when nothing moves any more (convergence.cc). leader: the World of the
	 * leading agent. */
	void settled(const core::World &leader);

	/* The wait status that the pod's job must get from the pod's end. */
	static std::uint32_t expected_status(const PodTruth &pod);

      private:
	void check_pod(const PodTruth &pod);
	void check_waiting(const PodTruth &pod, const std::vector<const JobTruth *> &live);
	void check_running(const PodTruth &pod, const std::vector<const JobTruth *> &live);
	void check_jobs();
	void check_gang(const GangTruth &gang);
	void check_nodes();
	/* oracle_devices.cc */
	void check_claim(const PodTruth &pod, const JobTruth &job, const std::string &node);
	void check_devices();
	[[nodiscard]] bool is_used_by_bound(const core::ResourceClaim &claim) const;
	void check_memory(const core::World &leader);
	void check_stages(const core::World &leader);
	[[nodiscard]] bool was_just_gone(unsigned agent, const NodeTruth &node) const;
	[[nodiscard]] bool may_go_with_others(const PodTruth &pod) const;
	void check_together(const PodTruth &pod);
	void check_component(const GangTruth &gang, const std::string &key);
	[[nodiscard]] bool has_nodes(const GangTruth &gang, const std::string &key) const;
	[[nodiscard]] bool waits_for_others(const PodTruth &pod) const;
	[[nodiscard]] bool may_be_removed(const PodTruth &pod) const;
	void check_result(const PodTruth &pod, const JobTruth &job,
		std::optional<std::uint32_t> wait_status, bool knows_end);
	void check_needed(const PodTruth &pod, const JobTruth &job);
	void check_gang_result(const GangTruth &gang, const JobTruth &job, std::uint32_t told);
	/* The pod's own live jobs, else those of its gang: a pod beyond a PodGroup's minimum
	 * runs under a job of its own. */
	[[nodiscard]] std::vector<const JobTruth *> live_jobs_for(const PodTruth &pod) const;
	[[nodiscard]] bool is_gang_of(const PodTruth &pod, const std::string &uid) const;
	[[nodiscard]] std::vector<EndRecord> ends_for(const PodTruth &pod) const;
	[[nodiscard]] bool is_incomplete(const GangTruth &gang) const;

	Stage &stage_;
	Kube &kube_;
	Devices &devices_;
	Gangs &gangs_;
	Slurm &slurm_;
	struct Told {
		std::uint64_t life = 0;
		NodeNews news = NodeNews::ready;
		Micros not_ready_since = 0; /* 0: Ready */
	};
	std::map<std::pair<unsigned, std::string>, Told> nodes_told_;
	std::set<std::tuple<unsigned, std::uint64_t, std::string>> ends_told_, pods_told_;
	std::set<unsigned> blind_, strangers_;
	Micros excused_until_ = 0;
};

std::string name_of(const PodTruth &pod);
/* nullptr: the job has no allocation on the node */
const core::NodeAllocation *share_of(const JobTruth &job, const std::string &node);
std::uint32_t bound_attempt(const PodTruth &pod);

} // namespace slurmkube::sim

#endif
