/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_schema.h - the table of everything that is read from pods, lists of pods and the server's
 * Status: names, kinds and field numbers.
 *
 * To read another field, add it here and read it where pod.cc and its neighbours read the others.
 * They use View (view.h), which does not compile for a field that is not in this table. What
 * scheduling needs goes into core::SchedulingConstraints; the compiler then points to the code that
 * keeps or compares only a part of its members.
 *
 * Source: generated.proto of k8s.io/api core/v1 and k8s.io/apimachinery pkg/apis/meta/v1. Field
 * numbers are permanent: the number of a removed field is never used again.
 */
#ifndef SLURMKUBE_CODEC_POD_SCHEMA_H
#define SLURMKUBE_CODEC_POD_SCHEMA_H

#include "src/codec/proto_schema.h"

namespace slurmkube::codec
{

namespace schema
{

/* ---- metadata ---- */

inline constexpr Member k_owner_members[] = {
	{1, As::text, "kind"},
	{3, As::text, "name"},
	{4, As::text, "uid"},
	{5, As::text, "apiVersion"},
	{6, As::boolean, "controller"},
};
inline constexpr ProtoSchema k_owner{k_owner_members};

inline constexpr Member k_metadata_members[] = {
	{1, As::text, "name"},
	{3, As::text, "namespace"},
	{5, As::text, "uid"},
	{6, As::text, "resourceVersion"},
	{8, As::time, "creationTimestamp"},
	{9, As::time, "deletionTimestamp"},
	{10, As::integer, "deletionGracePeriodSeconds"},
	{11, As::text_map, "labels"},
	{12, As::text_map, "annotations"},
	{13, As::objects, "ownerReferences", &k_owner},
};
inline constexpr ProtoSchema k_metadata{k_metadata_members};

inline constexpr Member k_list_metadata_members[] = {
	{2, As::text, "resourceVersion"}, {3, As::text, "continue"}};
inline constexpr ProtoSchema k_list_metadata{k_list_metadata_members};

/* ---- where a pod may run ---- */

inline constexpr Member k_requirement_members[] = {
	{1, As::text, "key"}, {2, As::text, "operator"}, {3, As::texts, "values"}};
inline constexpr ProtoSchema k_requirement{k_requirement_members};

inline constexpr Member k_label_selector_members[] = {
	{1, As::text_map, "matchLabels"}, {2, As::objects, "matchExpressions", &k_requirement}};
inline constexpr ProtoSchema k_label_selector{k_label_selector_members};

inline constexpr Member k_node_term_members[] = {
	{1, As::objects, "matchExpressions", &k_requirement},
	{2, As::objects, "matchFields", &k_requirement}};
inline constexpr ProtoSchema k_node_term{k_node_term_members};

inline constexpr Member k_node_selector_members[] = {
	{1, As::objects, "nodeSelectorTerms", &k_node_term}};
inline constexpr ProtoSchema k_node_selector{k_node_selector_members};

inline constexpr Member k_preference_members[] = {
	{1, As::integer, "weight"}, {2, As::object, "preference", &k_node_term}};
inline constexpr ProtoSchema k_preference{k_preference_members};

inline constexpr char k_required[] = "requiredDuringSchedulingIgnoredDuringExecution";
inline constexpr char k_preferred[] = "preferredDuringSchedulingIgnoredDuringExecution";

inline constexpr Member k_node_affinity_members[] = {{1, As::object, k_required, &k_node_selector},
	{2, As::objects, k_preferred, &k_preference}};
inline constexpr ProtoSchema k_node_affinity{k_node_affinity_members};

inline constexpr Member k_pod_term_members[] = {
	{1, As::object, "labelSelector", &k_label_selector},
	{2, As::texts, "namespaces"},
	{3, As::text, "topologyKey"},
	{4, As::object, "namespaceSelector", &k_label_selector},
};
inline constexpr ProtoSchema k_pod_term{k_pod_term_members};

inline constexpr Member k_pod_affinity_members[] = {{1, As::objects, k_required, &k_pod_term}};
inline constexpr ProtoSchema k_pod_affinity{k_pod_affinity_members};

inline constexpr Member k_affinity_members[] = {
	{1, As::object, "nodeAffinity", &k_node_affinity},
	{2, As::object, "podAffinity", &k_pod_affinity},
	{3, As::object, "podAntiAffinity", &k_pod_affinity},
};
inline constexpr ProtoSchema k_affinity{k_affinity_members};

inline constexpr Member k_toleration_members[] = {{1, As::text, "key"}, {2, As::text, "operator"},
	{3, As::text, "value"}, {4, As::text, "effect"}};
inline constexpr ProtoSchema k_toleration{k_toleration_members};

inline constexpr Member k_spread_members[] = {
	{1, As::integer, "maxSkew"},
	{2, As::text, "topologyKey"},
	{3, As::text, "whenUnsatisfiable"},
	{4, As::object, "labelSelector", &k_label_selector},
	{5, As::integer, "minDomains"},
	{6, As::text, "nodeAffinityPolicy"},
	{7, As::text, "nodeTaintsPolicy"},
	{8, As::texts, "matchLabelKeys"},
};
inline constexpr ProtoSchema k_spread{k_spread_members};

/* ---- containers ---- */

inline constexpr Member k_named_members[] = {{1, As::text, "name"}};
inline constexpr ProtoSchema k_named{k_named_members};
inline constexpr Member k_resources_members[] = {{1, As::amount_map, "limits"},
	{2, As::amount_map, "requests"}, {3, As::objects, "claims", &k_named}};
inline constexpr ProtoSchema k_resources{k_resources_members};

inline constexpr Member k_port_members[] = {
	{2, As::integer, "hostPort"}, {4, As::text, "protocol"}, {5, As::text, "hostIP"}};
inline constexpr ProtoSchema k_port{k_port_members};

inline constexpr ProtoSchema k_restart_rule{};
inline constexpr Member k_container_members[] = {
	{1, As::text, "name"},
	{6, As::objects, "ports", &k_port},
	{8, As::object, "resources", &k_resources},
	{24, As::text, "restartPolicy"},
	{25, As::objects, "restartPolicyRules", &k_restart_rule},
};
inline constexpr ProtoSchema k_container{k_container_members};

inline constexpr Member k_waiting_members[] = {{1, As::text, "reason"}, {2, As::text, "message"}};
inline constexpr ProtoSchema k_waiting{k_waiting_members};
inline constexpr ProtoSchema k_running{};
inline constexpr Member k_terminated_members[] = {
	{1, As::integer, "exitCode"}, {2, As::integer, "signal"}, {3, As::text, "reason"}};
inline constexpr ProtoSchema k_terminated{k_terminated_members};

inline constexpr Member k_state_members[] = {
	{1, As::object, "waiting", &k_waiting},
	{2, As::object, "running", &k_running},
	{3, As::object, "terminated", &k_terminated},
};
inline constexpr ProtoSchema k_state{k_state_members};

inline constexpr Member k_container_status_members[] = {
	{1, As::text, "name"},
	{2, As::object, "state", &k_state},
	{10, As::amount_map, "allocatedResources"},
	{11, As::object, "resources", &k_resources},
};
inline constexpr ProtoSchema k_container_status{k_container_status_members};

/* ---- volumes ---- */

inline constexpr Member k_claim_source_members[] = {{1, As::text, "claimName"}};
inline constexpr ProtoSchema k_claim_source{k_claim_source_members};
inline constexpr Member k_empty_dir_members[] = {{1, As::text, "medium"}};
inline constexpr ProtoSchema k_empty_dir{k_empty_dir_members};
inline constexpr ProtoSchema k_ephemeral{};
inline constexpr Member k_volume_source_members[] = {
	{2, As::object, "emptyDir", &k_empty_dir},
	{10, As::object, "persistentVolumeClaim", &k_claim_source},
	{29, As::object, "ephemeral", &k_ephemeral},
};
inline constexpr ProtoSchema k_volume_source{k_volume_source_members};
inline constexpr Member k_volume_members[] = {
	{1, As::text, "name"}, {2, As::inlined, "", &k_volume_source}};
inline constexpr ProtoSchema k_volume{k_volume_members};

/* ---- the pod ---- */

inline constexpr Member k_resource_claim_members[] = {{1, As::text, "name"},
	{3, As::text, "resourceClaimName"}, {4, As::text, "resourceClaimTemplateName"}};
inline constexpr ProtoSchema k_resource_claim{k_resource_claim_members};
inline constexpr Member k_resource_claim_status_members[] = {
	{1, As::text, "name"}, {2, As::text, "resourceClaimName"}};
inline constexpr ProtoSchema k_resource_claim_status{k_resource_claim_status_members};
inline constexpr Member k_device_mapping_members[] = {{1, As::text, "containerName"},
	{2, As::text, "resourceName"}, {3, As::text, "requestName"}};
inline constexpr ProtoSchema k_device_mapping{k_device_mapping_members};
inline constexpr Member k_extended_claim_status_members[] = {
	{1, As::objects, "requestMappings", &k_device_mapping}, {2, As::text, "resourceClaimName"}};
inline constexpr ProtoSchema k_extended_claim_status{k_extended_claim_status_members};
inline constexpr Member k_scheduling_group_members[] = {{1, As::text, "podGroupName"}};
inline constexpr ProtoSchema k_scheduling_group{k_scheduling_group_members};

inline constexpr Member k_spec_members[] = {
	{1, As::objects, "volumes", &k_volume},
	{2, As::objects, "containers", &k_container},
	{3, As::text, "restartPolicy"},
	{4, As::integer, "terminationGracePeriodSeconds"},
	{5, As::integer, "activeDeadlineSeconds"},
	{7, As::text_map, "nodeSelector"},
	{10, As::text, "nodeName"},
	{18, As::object, "affinity", &k_affinity},
	{19, As::text, "schedulerName"},
	{20, As::objects, "initContainers", &k_container},
	{22, As::objects, "tolerations", &k_toleration},
	{24, As::text, "priorityClassName"},
	{32, As::amount_map, "overhead"},
	{33, As::objects, "topologySpreadConstraints", &k_spread},
	{38, As::objects, "schedulingGates", &k_named},
	{39, As::objects, "resourceClaims", &k_resource_claim},
	{40, As::object, "resources", &k_resources},
	{42, As::object, "workloadRef", &k_named}, /* Kubernetes 1.35 and 1.36 */
	{43, As::object, "schedulingGroup", &k_scheduling_group},
};
inline constexpr ProtoSchema k_spec{k_spec_members};

inline constexpr Member k_condition_members[] = {{1, As::text, "type"}, {2, As::text, "status"},
	{5, As::text, "reason"}, {6, As::text, "message"}};
inline constexpr ProtoSchema k_condition{k_condition_members};

inline constexpr Member k_status_members[] = {
	{1, As::text, "phase"},
	{2, As::objects, "conditions", &k_condition},
	{3, As::text, "message"},
	{4, As::text, "reason"},
	{8, As::objects, "containerStatuses", &k_container_status},
	{10, As::objects, "initContainerStatuses", &k_container_status},
	{15, As::objects, "resourceClaimStatuses", &k_resource_claim_status},
	{18, As::object, "extendedResourceClaimStatus", &k_extended_claim_status},
};
inline constexpr ProtoSchema k_status{k_status_members};

inline constexpr Member k_pod_members[] = {{1, As::object, "metadata", &k_metadata},
	{2, As::object, "spec", &k_spec}, {3, As::object, "status", &k_status}};
inline constexpr ProtoSchema k_pod{k_pod_members};

inline constexpr Member k_pod_list_members[] = {
	{1, As::object, "metadata", &k_list_metadata}, {2, As::objects, "items", &k_pod}};
inline constexpr ProtoSchema k_pod_list{k_pod_list_members};

/* metav1.Status, which the server sends if there is no object to send */
inline constexpr Member k_answer_members[] = {{2, As::text, "status"}, {3, As::text, "message"},
	{4, As::text, "reason"}, {6, As::integer, "code"}};
inline constexpr ProtoSchema k_answer{k_answer_members};

} // namespace schema

/* For "Pod", "PodList" and "Status"; nullptr: objects of this kind are not read in protobuf. */
const ProtoSchema *schema_of(std::string_view kind);

} // namespace slurmkube::codec

#endif
