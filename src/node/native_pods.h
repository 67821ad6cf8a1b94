/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native_pods.h - what the daemon answers the runtime for containers of pods in native jobs.
 *
 * The rule for each container: the site has allowed such pods on this node, the job that lives here
 * is the one of the pod's mark, slurmd has given it processors and has not stopped it, and its
 * memory limit has been lowered by the pod's share. Anything else refuses the container, and the
 * kubelet tries again. Nothing here waits: a thread of its own (start_keeper()) lowers limits.
 */
#ifndef SLURMKUBE_NODE_NATIVE_PODS_H
#define SLURMKUBE_NODE_NATIVE_PODS_H

#include "src/base/owned.h"
#include "src/node/native_memory.h"

#include <atomic>
#include <thread>

namespace slurmkube::node
{

class NativePods
{
      public:
	/* The cgroups outlive the object. is_allowed: PodsInNativeJobs=yes. */
	NativePods(const std::filesystem::path &state_directory, const Cgroups &cgroups,
		bool is_allowed);
	NativePods(const NativePods &) = delete;
	NativePods &operator=(const NativePods &) = delete;
	~NativePods();

	[[nodiscard]] bool is_allowed() const { return is_allowed_; }
	/* Of the containers; nullptr: nothing can be written. */
	[[nodiscard]] const Records *records() const { return records_ ? &*records_ : nullptr; }
	/* denied: the container must not run, and why. */
	[[nodiscard]] Result<Confinement> confinement(
		const Pod &pod, const Container &container) const;
	/* Before a container is created: asks for the pod's memory. denied: not lowered yet. */
	[[nodiscard]] Result<Ok> take_memory(const Pod &pod, const std::string &pod_cgroup) const;
	/* The same before the first container comes: the limit is lowered meanwhile. */
	void announce(const Pod &pod) const;

	/* Before a container starts. denied: the pod's memory has been taken back since. */
	[[nodiscard]] Result<Ok> check_memory(const Pod &pod) const;

	void start_keeper();

      private:
	void keep_memory();
	void wake() const;

	const Cgroups &cgroups_;
	const bool is_allowed_;
	NativeJobs jobs_;
	NativeMemory memory_; /* keep(): by the keeper only */
	std::optional<Records> records_;
	UniqueFd wake_;
	std::atomic<bool> is_stopping_ = false;
	std::thread keeper_;
};

/* The mark of the pod's binding. denied: it is none, or the pod has a job of its own, too. */
Result<core::NativeMark> mark_of(const Pod &pod);

} // namespace slurmkube::node

#endif
