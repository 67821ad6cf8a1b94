/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * writes.h - the agent's requests to the API server: writes whose fate can be learned, and single
 * questions.
 *
 * On the loop's thread. The client must outlive the call. A callback is called exactly once, later,
 * unless the client is destroyed first.
 */
#ifndef SLURMKUBE_AGENT_KUBE_WRITES_H
#define SLURMKUBE_AGENT_KUBE_WRITES_H

#include "src/agent/kube/binding.h"
#include "src/agent/kube/client.h"
#include "src/core/model/node.h"
#include "src/core/model/owner.h"
#include "src/core/model/pod.h"
#include "src/core/reconcile/node_sync.h"
#include "src/manifests/site.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::kube
{

/*
 * ok: the pod is bound to the node, by this call or by an earlier call with the same job-id
 * annotation. conflict: the pod is bound to another node or by another job, is being deleted, or is
 * gated; the text says which. not_found: the pod is gone, or another pod has the name. again: the
 * server did not answer; try again later. denied, invalid: the server refuses. A pod in a terminal
 * phase is bound as well: check the phase first.
 */
void bind_pod(Client &client, BindPod bind, Done done);

/* ok also if the pod is gone already or another pod has the name. grace_seconds empty: the pod's
 * own; never 0. */
void delete_pod(Client &client, const std::string &name_space, const std::string &name,
	const std::string &uid, std::optional<std::int64_t> grace_seconds, Done done);

/* not_found: the pod is gone, or another pod has the name. conflict: resource_version is given, and
 * the pod has changed since. */
void set_conditions(Client &client, const SetConditions &write, Done done);

/* The condition SlurmDrain of a node. transition_time 0: the condition keeps its own. conflict:
 * another node has the name. */
void set_drain_condition(
	Client &client, const core::ReportDrain &what, std::int64_t transition_time, Done done);

/* Takes the step for a claim that waits for its first pod. conflict: the volume or the claim has
 * changed since. */
void provide(Client &client, const core::ClaimStep &step, Done done);

/* Best effort: false if the client has a queue, and the event is dropped. Other failures are logged
 * at debug level only. */
bool post_event(Client &client, const codec::Event &event);

/* not_found: no pod has the name. */
void get_pod(Client &client, const std::string &name_space, const std::string &name,
	std::function<void(Result<core::Pod>)> done);

/*
 * Whether the namespace has a pod, of any scheduler, that has not ended and that is_it accepts. A
 * pod that cannot be decoded counts as accepted. The list is read from etcd.
 */
void find_pod(Client &client, const std::string &name_space,
	std::function<bool(const core::Pod &)> is_it, std::function<void(Result<bool>)> done);

/* Empty: there is no such object, or the cluster has no such kind. */
void get_owner(Client &client, const core::OwnerId &id,
	std::function<void(Result<std::optional<core::Owner>>)> done);

/* Looks at a node with any labels. NodeLookup::none: there is no such node. */
void look_at_node(Client &client, const std::string &name,
	std::function<void(Result<core::NodeLookup>)> done);

/* The uid of the namespace kube-system, which identifies a cluster: it never changes, and no other
 * cluster has it. The request is a list, because the agent has the right to list namespaces
 * anyway. */
void cluster_uid(Client &client, std::function<void(Result<std::string>)> done);

struct ServerVersion {
	std::string git_version; /* "v1.37.1" */
	int major = 0, minor = 0;
};
/* invalid: the server is not a Kubernetes API server. */
void version(Client &client, std::function<void(Result<ServerVersion>)> done);

struct Right {
	std::string verb, resource; /* "create", "pods/binding" or "events.events.k8s.io" */
	bool allowed = false;
};
/* Asks the server for each right that the agent needs. rights_for: as in
 * manifests::needed_rights(). */
void self_check(Client &client, const manifests::RightsFor &rights_for,
	std::function<void(Result<std::vector<Right>>)> done);

} // namespace slurmkube::kube

#endif
