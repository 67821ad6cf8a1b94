/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kube_writes.h - request bodies for writes to the Kubernetes API.
 *
 * Each write to an existing object has the object's uid as a precondition, so that it cannot change
 * another object of the same name.
 */
#ifndef SLURMKUBE_CODEC_KUBE_WRITES_H
#define SLURMKUBE_CODEC_KUBE_WRITES_H

#include "src/core/model/node.h"
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
	/* when status changed; 0: only the text changes, and the API keeps the old time */
	std::int64_t transition_time = 0;
};
/* For Content-Type application/strategic-merge-patch+json on pods/status. Conditions of other types
 * are kept. */
/* resource_version: the write fails if the pod has another one; empty: no such precondition. */
std::string conditions_patch(std::string_view uid, const std::vector<PodCondition> &conditions,
	std::string_view resource_version = {});

/* The same on nodes/status, for the condition SlurmDrain; transition_time as in PodCondition. */
std::string drain_condition_patch(
	std::string_view uid, const core::DrainCondition &condition, std::int64_t transition_time);

/* Body of a DELETE. nullopt: the pod's own terminationGracePeriodSeconds applies. */
std::string delete_options(std::string_view uid, std::optional<std::int64_t> grace_seconds);

/* For Content-Type application/merge-patch+json on a PersistentVolume: reserves it for the claim,
 * as kube-scheduler does. */
std::string claim_ref_patch(const core::GiveVolume &give);
/* The same on a PersistentVolumeClaim: tells the node to its provisioner. */
std::string selected_node_patch(const core::SelectNode &select);

struct Event {
	std::string kind = "Pod"; /* of the object that the event is about */
	std::string name_space;   /* empty for a node */
	std::string name, uid;
	bool warning = false;
	std::string reason; /* CamelCase, at most 128 bytes */
	std::string action; /* what was done or attempted: Binding, Scheduling */
	std::string note;   /* cut at 1024 bytes, between characters */
	std::string reporting_controller = "slurm-kube.io/slurmkubed"; /* a qualified name */
	std::string reporting_instance; /* host name; at most 128 bytes */
};
/* For events.k8s.io/v1. The time makes the event's name unique. */
std::string event_body(const Event &event, std::int64_t now_microseconds);
/* Namespace of the event: that of the object, or "default" for objects without one. */
std::string event_namespace(const Event &event);

/* SelfSubjectAccessReview. resource is "pods" or "pods/binding"; name_space empty: in all. */
std::string access_review_body(std::string_view verb, std::string_view group,
	std::string_view resource, std::string_view name_space = {});

/* The longest prefix of at most max bytes that does not split a UTF-8 character. */
std::string_view cut_utf8(std::string_view text, std::size_t max);

} // namespace slurmkube::codec

#endif
