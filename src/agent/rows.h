/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rows.h - the rows of the lists of `skube show` and of the events of `skube watch`, and what a
 * selection looks at in them. Pure.
 */
#ifndef SLURMKUBE_AGENT_ROWS_H
#define SLURMKUBE_AGENT_ROWS_H

#include "src/codec/json.h"
#include "src/core/inspect/selection.h"
#include "src/core/world/world.h"

#include <cstdint>
#include <map>
#include <string>

namespace slurmkube::agent
{

/* As whom pods run, or would run: a pod without a job has the user that the identity rules give its
 * namespace. Remembers what it has found, so that it is for one reply. */
class PodUsers
{
      public:
	explicit PodUsers(const core::World &world) : policy_(world.state().settings.policy) {}
	/* -1: not known, or no rule matches */
	std::int64_t of(const core::Pod &pod, const core::SlurmJob *job);

      private:
	const core::Policy &policy_;
	std::map<std::string, std::int64_t> by_namespace_;
};

codec::Json job_row(const core::SlurmJob &job);
core::Selectable selectable(const core::SlurmJob &job);

/* The entry has a pod; job: nullptr, it has none; user: as PodUsers says. */
codec::Json pod_row(const core::PodEntry &entry, const core::SlurmJob *job, std::int64_t user);
core::Selectable selectable(
	const core::PodEntry &entry, const core::SlurmJob *job, std::int64_t user);

/* nullptr: that side does not have the node. */
codec::Json node_row(const core::World &world, const std::string &name, const core::KubeNode *kube,
	const core::SlurmNode *slurm);
core::Selectable selectable(const core::World &world, const std::string &name,
	const core::KubeNode *kube, const core::SlurmNode *slurm);

} // namespace slurmkube::agent

#endif
