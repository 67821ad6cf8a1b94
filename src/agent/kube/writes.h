/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * writes.h - what the agent does to pods, each with a way to learn its fate.
 *
 * On the loop's thread; the client must outlive the call. A callback is called exactly once, later,
 * unless the client is destroyed first.
 */
#ifndef SLURMKUBE_AGENT_KUBE_WRITES_H
#define SLURMKUBE_AGENT_KUBE_WRITES_H

#include "src/agent/kube/binding.h"
#include "src/agent/kube/client.h"
#include "src/core/model/node.h"
#include "src/core/model/owner.h"
#include "src/core/model/pod.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::kube
{

/*
 * ok: the pod is bound to that node, by this call or by an earlier one with the same job-id
 * annotation. conflict: bound elsewhere or by another job, being deleted, or gated; the text says
 * which. not_found: gone, or another pod of that name. again: the server could not be asked; ask
 * again later. denied, invalid: as the server says. A pod whose phase is terminal is bound all the
 * same: look at the phase first.
 */
void bind_pod(Client &client, BindPod bind, Done done);

/* ok also when it is gone already or another pod has the name. grace: nothing for the pod's own;
 * never 0. */
void delete_pod(Client &client, const std::string &name_space, const std::string &name,
	const std::string &uid, std::optional<std::int64_t> grace_seconds, Done done);

/* not_found: gone, or another pod of that name. conflict: resource_version is given, and the pod
 * has changed since. */
void set_conditions(Client &client, const SetConditions &write, Done done);

/* For a claim that waits for its first pod. conflict: the volume or the claim has changed since. */
void provide(Client &client, const core::ClaimStep &step, Done done);

/* Best effort: dropped (false) while the client has a queue; a failure is logged at debug level
 * only. */
bool post_event(Client &client, const codec::Event &event);

void get_pod(Client &client, const std::string &name_space, const std::string &name,
	std::function<void(Result<core::Pod>)> done);

/*
 * Whether a pod of the namespace that has not ended, whoever schedules it, is one of those wanted.
 * The list is read from etcd.
 */
void find_pod(Client &client, const std::string &name_space,
	std::function<bool(const core::Pod &)> is_it, std::function<void(Result<bool>)> done);

/* An empty optional: there is no such object, or no such kind in this cluster. */
void get_owner(Client &client, const core::OwnerId &id,
	std::function<void(Result<std::optional<core::Owner>>)> done);

/* Of a Node object with whatever labels. */
void look_at_node(Client &client, const std::string &name,
	std::function<void(Result<core::NodeLookup>)> done);

/* The uid of namespace kube-system: as long as a cluster lives it is the same, and no other has it.
 * A list, as the right to list namespaces is there anyway. */
void cluster_uid(Client &client, std::function<void(Result<std::string>)> done);

struct ServerVersion {
	std::string git_version; /* "v1.37.1" */
	int major = 0, minor = 0;
};
void version(Client &client, std::function<void(Result<ServerVersion>)> done);

struct Right {
	std::string verb, resource; /* "create", "pods/binding" or "events.events.k8s.io" */
	bool allowed = false;
};
/* Asks the server for each right that the agent needs, in the cluster's whole scope. */
void self_check(Client &client, std::function<void(Result<std::vector<Right>>)> done);

} // namespace slurmkube::kube

#endif
