/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * binding.h - what is written to pods, and one binding with its fate; by whatever way requests go.
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
	/* only while it is still the pod's; empty: whichever it has */
	std::string resource_version = {};
	bool can_wait = false; /* for bindings and deletions */
};

/* The requests that a binding takes: they must work until it is done. */
struct BindWays {
	std::function<void(const BindPod &bind, Done done)> post;
	std::function<void(const BindPod &bind, PodAnswer done)> get;
	std::function<void(std::chrono::milliseconds delay, std::function<void()> call)> after;
};

/* As bind_pod() of writes.h. */
void bind_pod(BindWays ways, BindPod bind, Done done);

/* What a pod that was read after an unclear or refused binding means for it; again: unbound, a
 * binding may be tried. Pure. */
Status judge_binding(const core::Pod &pod, const BindPod &bind);

} // namespace slurmkube::kube

#endif
