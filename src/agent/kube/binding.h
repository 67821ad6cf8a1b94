/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * binding.h - what the agent writes to pods, and the logic of one binding, independent of how
 * requests are sent.
 */
#ifndef SLURMKUBE_AGENT_KUBE_BINDING_H
#define SLURMKUBE_AGENT_KUBE_BINDING_H

#include "src/base/result.h"
#include "src/codec/kube_writes.h"
#include "src/core/model/pod.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace slurmkube::kube
{

using BindPod = codec::Binding; /* annotations should carry names::k_allocation_job_id */
using codec::PodCondition;
using Done = std::function<void(Status)>;
using PodAnswer = std::function<void(Result<core::Pod>)>;

struct SetConditions {
	std::string name_space, name, uid;
	std::vector<PodCondition> conditions;
	/* write only if the pod still has this version; empty: any version */
	std::string resource_version = {};
	bool can_wait = false; /* give way to bindings and deletions */
	/* with can_wait: the write would be refused, or is needless (Request in client.h) */
	std::function<bool()> is_outdated = {};
};

/* The requests that a binding needs. They must stay valid until done is called. */
struct BindWays {
	std::function<void(const BindPod &bind, Done done)> post;
	std::function<void(const BindPod &bind, PodAnswer done)> get;
	std::function<void(std::chrono::milliseconds delay, std::function<void()> call)> after;
};

/* See bind_pod() in writes.h. */
void bind_pod(BindWays ways, BindPod bind, Done done);

/* What the state of a pod means for a binding that was refused or whose answer is unclear. again:
 * the pod is unbound, and the binding may be tried again. Pure. */
Status judge_binding(const core::Pod &pod, const BindPod &bind);

} // namespace slurmkube::kube

#endif
