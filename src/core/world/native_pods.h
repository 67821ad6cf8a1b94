/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native_pods.h - what World does for a pod that runs within a native job, or is to.
 *
 * Such a pod has no job of its own, so nothing else of World decides about it. A bound one is
 * judged by the mark of its binding alone.
 */
#ifndef SLURMKUBE_CORE_WORLD_NATIVE_PODS_H
#define SLURMKUBE_CORE_WORLD_NATIVE_PODS_H

#include "src/core/reconcile/report_native.h"
#include "src/core/world/world.h"

#include <optional>
#include <vector>

namespace slurmkube::core
{

/* The mark of the pod's binding, or of one that is under way; nullopt: it is not bound in a native
 * job. */
std::optional<NativeMark> native_mark_of(const PodEntry &entry);
/* Bound in a native job, or waiting for one. own: the component of the pod; nullptr: none. A pod
 * with a job of its own is not, whatever its annotations say: users may have written them. */
bool is_for_native_job(const State &state, const PodEntry &entry, const Component *own);

/* A bound pod, or one whose binding is under way. */
NativeTenant tenant_of(const PodEntry &entry, const NativeMark &mark);

/* What follows from the last answer about the job. */
struct NativeLook {
	std::optional<Action> action;
	/* Of the present answer, if it says that there is no such job; 0: it does not. */
	std::int64_t doubt_us = 0;
	std::int64_t ask_at_us = 0; /* 0: as usual */
};
NativeLook look_at_bound(const State &state, const PodEntry &entry, const NativeMark &mark,
	const std::string &node, Now now);

/* The job for which the pod waits. invalid, denied: none. */
Result<JobSpec> native_spec_of(const State &state, const Pod &pod);

/* A look at one pod. */
struct World::NativeLooker {
	World &world;
	const PodUid &uid;
	PodEntry &entry;
	Now now;
	std::vector<PodAction> &out;

	void look();

      private:
	void take(Action action);
	void tell(const Error &why) { take(Report{not_in_native_job(why)}); }
	void tell_of_question(JobId job);
	void look_again(std::int64_t pause_us);
	void wait();
	void bind(const JobSpec &spec, const NativePlace &place);
	void judge(const NativeMark &mark);
};

} // namespace slurmkube::core

#endif
