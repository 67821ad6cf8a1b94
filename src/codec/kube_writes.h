/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kube_writes.h - bodies of what the agent writes to the Kubernetes API.
 *
 * Each carries the pod's uid as a precondition, so that a write can never hit another pod of the
 * same name.
 */
#ifndef SLURMKUBE_CODEC_KUBE_WRITES_H
#define SLURMKUBE_CODEC_KUBE_WRITES_H

#include "src/core/placement/claims.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::codec
{

struct Binding {
	std::string name_space, name, uid;
	std::string node;
	std::map<std::string, std::string> annotations;
	/* merged into the pod from Kubernetes 1.35 on, ignored before */
	std::map<std::string, std::string> labels;
};
std::string binding_body(const Binding &binding);

struct PodCondition {
	std::string type; /* PodScheduled, DisruptionTarget */
	bool status = false;
	std::string reason, message;
	/* when status changed; 0: a text changes only, the old time stays */
	std::int64_t transition_time = 0;
};
/* For Content-Type application/strategic-merge-patch+json on pods/status. Conditions of other types
 * stay. */
/* resource_version: only if the pod is still that one; empty: in any case. */
std::string conditions_patch(std::string_view uid, const std::vector<PodCondition> &conditions,
	std::string_view resource_version = {});

/* Of DELETE. Without grace the pod's own terminationGracePeriodSeconds counts. */
std::string delete_options(std::string_view uid, std::optional<std::int64_t> grace_seconds);

/* For Content-Type application/merge-patch+json on a PersistentVolume: it is for that claim from
 * now on, as kube-scheduler writes it. */
std::string claim_ref_patch(const core::GiveVolume &give);
/* The same on a PersistentVolumeClaim: its provisioner is told the node. */
std::string selected_node_patch(const core::SelectNode &select);

struct Event {
	std::string kind = "Pod"; /* of what it is about */
	std::string name_space;   /* empty for a node */
	std::string name, uid;
	bool warning = false;
	std::string reason; /* CamelCase, at most 128 bytes */
	std::string action; /* what was done or tried: Binding, Scheduling */
	std::string note;   /* cut at 1024 bytes, at a character's border */
	std::string reporting_controller = "slurm-kube.io/slurmkubed"; /* a qualified name */
	std::string reporting_instance; /* host name; at most 128 bytes */
};
/* events.k8s.io/v1. The name is made unique by the time. */
std::string event_body(const Event &event, std::int64_t now_microseconds);
/* Where an event of a cluster-scoped object goes too: "default". */
std::string event_namespace(const Event &event);

/* SelfSubjectAccessReview for all namespaces. resource is "pods" or "pods/binding". */
std::string access_review_body(
	std::string_view verb, std::string_view group, std::string_view resource);

/* The longest prefix of at most max bytes that does not split a UTF-8 character. */
std::string_view cut_utf8(std::string_view text, std::size_t max);

} // namespace slurmkube::codec

#endif
