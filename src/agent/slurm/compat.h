/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compat.h - the differences between libslurm 22.05 and 26.05, and nothing else.
 *
 * The rest of this folder is written as for one version. Only public headers are used. The compiler
 * finds struct members that moved; changed calls depend on a macro of slurm_versions.h.
 */
#ifndef SLURMKUBE_AGENT_SLURM_COMPAT_H
#define SLURMKUBE_AGENT_SLURM_COMPAT_H

#include "src/base/slurm_versions.h"
#include "src/core/model/job_options.h"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <cerrno>
#include <cstdint>
#include <optional>

namespace slurmkube::slurm::compat
{

/* job_id moved into step_id in 25.11. */
template <class Message> std::uint32_t job_id_of(const Message &message)
{
	if constexpr (requires { message.job_id; })
		return message.job_id;
	else
		return message.step_id.job_id;
}

inline int complete_job(std::uint32_t job_id, std::uint32_t wait_status)
{
#if KUBE_SLURM_HAS_JOB_IN_STEP_ID(SLURM_VERSION_NUMBER)
	slurm_step_id_t id = SLURM_STEP_ID_INITIALIZER;
	id.job_id = job_id;
	return slurm_complete_job(&id, wait_status);
#else
	return slurm_complete_job(job_id, wait_status);
#endif
}

inline void set_job_id(job_desc_msg_t &job, std::uint32_t job_id)
{
	const auto set = [job_id](auto &message) {
		if constexpr (requires { message.job_id; })
			message.job_id = job_id;
		else
			message.step_id.job_id = job_id;
	};
	set(job);
}

/* Without SHOW_LOCAL all clusters of a federation would be asked, and their silence would look like
 * ESLURM_INVALID_JOB_ID (_load_fed_jobs() of libslurm). */
inline int load_job(job_info_msg_t **out, std::uint32_t job_id)
{
#if KUBE_SLURM_LOADS_JOB_BY_STEP_ID(SLURM_VERSION_NUMBER)
	slurm_step_id_t id = SLURM_STEP_ID_INITIALIZER;
	id.job_id = job_id;
	return slurm_load_job(out, id, SHOW_ALL | SHOW_LOCAL);
#else
	return slurm_load_job(out, job_id, SHOW_ALL | SHOW_LOCAL);
#endif
}

inline void free_conf(slurm_conf_t *conf)
{
#if KUBE_SLURM_HAS_FREE_CONF(SLURM_VERSION_NUMBER)
	slurm_free_conf(conf);
#else
	slurm_free_ctl_conf(conf);
#endif
}

/* Whether SelectTypeParameters counts memory; its flags have other names in 26.05. */
inline bool counts_memory(const slurm_conf_t &conf)
{
#ifdef CR_MEMORY
	return (conf.select_type_param & CR_MEMORY) != 0;
#else
	return (conf.select_type_param & SELECT_MEMORY) != 0;
#endif
}

/* Since 25.05 topology.yaml wins over TopologyPlugin, which slurmctld does not tell, and has a name
 * for each topology. A partition has one of them, or the first: "". None: before 25.05. */
template <class Partition> std::optional<std::string> topology_of(const Partition &partition)
{
	if constexpr (requires { partition.topology_name; })
		return partition.topology_name ? partition.topology_name : "";
	else
		return std::nullopt;
}

/* The user who set a node's reason: before 26.05 the caller sends the uid; from 26.05 on Slurm
 * takes it from the credential. */
template <class Update> void set_reason_uid(Update &update, std::uint32_t uid)
{
	if constexpr (requires { update.reason_uid; })
		update.reason_uid = uid;
}

inline bool has_epilog(const slurm_conf_t &conf)
{
#if KUBE_SLURM_HAS_EPILOG_LIST(SLURM_VERSION_NUMBER)
	return conf.epilog_cnt > 0;
#else
	return conf.epilog && *conf.epilog;
#endif
}

/* In seconds; 0: no limit. */
inline std::uint16_t epilog_timeout(const slurm_conf_t &conf)
{
#if KUBE_SLURM_SPLITS_SCRIPT_TIMEOUTS(SLURM_VERSION_NUMBER)
	const std::uint16_t seconds = conf.epilog_timeout;
#else
	const std::uint16_t seconds = conf.prolog_epilog_timeout;
#endif
	return seconds == NO_VAL16 ? 0 : seconds;
}

inline bool has_prolog(const slurm_conf_t &conf)
{
#if KUBE_SLURM_HAS_EPILOG_LIST(SLURM_VERSION_NUMBER)
	return conf.prolog_cnt > 0;
#else
	return conf.prolog && *conf.prolog;
#endif
}

/* PrologFlags=RunInJob, since 24.11 */
inline bool runs_scripts_in_job(const slurm_conf_t &conf)
{
#ifdef PROLOG_FLAG_RUN_IN_JOB
	return (conf.prolog_flags & PROLOG_FLAG_RUN_IN_JOB) != 0;
#else
	(void)conf;
	return false;
#endif
}

/* A job without slurmd on its nodes: marked by a flag since 25.05; before, the plugin does that
 * work. */
inline void mark_external(job_desc_msg_t &job)
{
#ifdef EXTERNAL_JOB
	job.bitflags |= EXTERNAL_JOB;
#else
	(void)job;
#endif
}

/* Prefix of generic resources: "gres/gpu:2" since 23.11, "gres:gpu:2" before. */
#if KUBE_SLURM_GRES_HAS_SLASH(SLURM_VERSION_NUMBER)
inline constexpr char k_gres_kind[] = "gres/";
#else
inline constexpr char k_gres_kind[] = "gres:";
#endif

/* AllowSpecResourcesUsage in conf_flags; the macro for the bit has been renamed. */
inline constexpr std::uint32_t k_allow_spec_resources = SLURM_BIT(3);

template <class Job> constexpr bool has_segment()
{
	return requires(Job job)
	{
		job.segment_size;
	};
}
inline constexpr bool k_has_segment = has_segment<job_desc_msg_t>();

template <class Job> void set_segment(Job &job, std::uint16_t segment)
{
	if constexpr (has_segment<Job>())
		job.segment_size = segment;
}

#ifdef JOB_SHARED_TOPO
inline constexpr bool k_has_sharing_by_topology = true;
inline constexpr std::uint16_t k_shared_topo = JOB_SHARED_TOPO;
#else
inline constexpr bool k_has_sharing_by_topology = false;
inline constexpr std::uint16_t k_shared_topo = NO_VAL16;
#endif

inline void set_sharing(job_desc_msg_t &job, core::Sharing sharing)
{
	switch (sharing) {
	case core::Sharing::as_all:
		return;
	case core::Sharing::nobody:
		job.shared = JOB_SHARED_NONE;
		return;
	case core::Sharing::same_user:
		job.shared = JOB_SHARED_USER;
		return;
	case core::Sharing::same_mcs_label:
		job.shared = JOB_SHARED_MCS;
		return;
	case core::Sharing::same_topology:
		job.shared = k_shared_topo;
		return;
	}
}

/* libslurm of every version exports it, but no public header declares it: sdiag itself never frees
 * its one answer. */
extern "C" void slurm_free_stats_response_msg(stats_info_response_msg_t *answer);

/* A state that this version does not have is never set. */
#ifdef NODE_STATE_EXTERNAL
inline constexpr std::uint32_t k_node_external = NODE_STATE_EXTERNAL;
#else
inline constexpr std::uint32_t k_node_external = 0;
#endif
#ifdef NODE_STATE_BLOCKED
inline constexpr std::uint32_t k_node_blocked = NODE_STATE_BLOCKED;
#else
inline constexpr std::uint32_t k_node_blocked = 0;
#endif
#ifdef JOB_EXPEDITING
inline constexpr std::uint32_t k_job_expediting = JOB_EXPEDITING;
#else
inline constexpr std::uint32_t k_job_expediting = 0;
#endif

/* The enumeration of a parameter, by number: a version without the call lacks the enumeration, and
 * a branch of "if constexpr" that is not compiled must name nothing that does not exist. */
struct AnyEnum {
	int value;
	template <class Enum> operator Enum() const { return static_cast<Enum>(value); }
};

/* What jobs have of a node: in the node itself in 26.05; before, in data of the select plugin,
 * whose memory has 64 bits in spite of the comment in slurm.h. */
struct NodeUse {
	std::uint16_t cpus = 0;
	std::uint64_t memory_mib = 0;
};
template <class Node> NodeUse use_of(const Node &node)
{
	NodeUse use;
	if constexpr (requires { node.alloc_cpus; }) {
		use = {node.alloc_cpus, node.alloc_memory};
	} else {
		constexpr AnyEnum cpus{2}, memory{8}; /* enum select_nodedata_type */
		constexpr AnyEnum allocated{NODE_STATE_ALLOCATED};
		(void)slurm_get_select_nodeinfo(node.select_nodeinfo, cpus, allocated, &use.cpus);
		(void)slurm_get_select_nodeinfo(
			node.select_nodeinfo, memory, allocated, &use.memory_mib);
	}
	return use;
}

/* Why scheduling cycles ended: since 23.11. */
template <class Statistics, class Figures>
void take_exits(const Statistics &in, Figures &exits, Figures &bf_exits)
{
	if constexpr (requires { in.schedule_exit; }) {
		exits.assign(in.schedule_exit, in.schedule_exit + in.schedule_exit_cnt);
		bf_exits.assign(in.bf_exit, in.bf_exit + in.bf_exit_cnt);
	}
}

/* Error numbers of later versions, as they are sent over the network. */
/* 23.02: SLURMCTLD_COMMUNICATIONS_BACKOFF, the rate limit */
inline constexpr int k_backoff = 1804;
/* 23.11: SLURMCTLD_COMMUNICATIONS_HARD_DROP, the same */
inline constexpr int k_hard_drop = 1805;
inline constexpr int k_node_exists = 2168;         /* 23.11: ESLURM_NODE_ALREADY_EXISTS */
inline constexpr int k_bad_node_transition = 2180; /* 25.11: ESLURM_INVALID_NODE_STATE_TRANSITION */
#if KUBE_SLURM_HAS_MAX_JOB_COUNT(SLURM_VERSION_NUMBER)
inline constexpr int k_max_job_count = ESLURM_MAX_JOB_COUNT;
#else
inline constexpr int k_max_job_count = EAGAIN;
#endif

inline constexpr bool k_has_extra = KUBE_SLURM_HAS_EXTRA(SLURM_VERSION_NUMBER);
inline constexpr bool k_has_dynamic_nodes = KUBE_SLURM_HAS_DYNAMIC_NODES(SLURM_VERSION_NUMBER);

} // namespace slurmkube::slurm::compat

#endif
