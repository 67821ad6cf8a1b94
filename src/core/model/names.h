/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - every name that users or other programs see: annotations, labels, conditions, files,
 * defaults.
 *
 * Users write slurm-kube.io/<option>. Only the agent writes allocation.slurm-kube.io/<key>, and
 * only through a Binding.
 */
#ifndef SLURMKUBE_CORE_MODEL_NAMES_H
#define SLURMKUBE_CORE_MODEL_NAMES_H

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace slurmkube::names
{

/* Kubernetes, read */
inline constexpr char k_option_prefix[] = "slurm-kube.io/";
/* prefixes of slurm-bridge (current and old) and SUNK, read as aliases */
inline constexpr char k_bridge_prefix[] = "slurmjob.slinky.slurm.net/";
inline constexpr char k_old_bridge_prefix[] = "slinky.slurm.net/";
inline constexpr char k_sunk_prefix[] = "sunk.coreweave.com/";
inline constexpr char k_managed_label[] = "slurm-kube.io/managed";
inline constexpr char k_hostname_label[] = "kubernetes.io/hostname";
/* annotation of a volume claim for which its provisioner waits */
inline constexpr char k_selected_node[] = "volume.kubernetes.io/selected-node";
/* The name of the node's record in Slurm, if it is not that of the node. */
inline constexpr char k_slurm_node_label[] = "slurm-kube.io/slurm-node";
/* annotation of a node that skube drain has taken out of service */
inline constexpr char k_drain_reason[] = "slurm-kube.io/drain-reason";
inline constexpr char k_region_label[] = "topology.kubernetes.io/region";
inline constexpr char k_zone_label[] = "topology.kubernetes.io/zone";
inline constexpr char k_default_scheduler_name[] = "slurm";
/* the agent's service account, if the site has no other */
inline constexpr char k_agent_namespace[] = "slurm-kube";
inline constexpr char k_agent_account[] = "slurmkubed";

/* Kubernetes, written by the agent in the Binding */
inline constexpr char k_allocation_prefix[] = "allocation.slurm-kube.io/";
inline constexpr char k_allocation_job_id[] = "allocation.slurm-kube.io/job-id";
inline constexpr char k_allocation_cluster[] = "allocation.slurm-kube.io/cluster";
inline constexpr char k_allocation_node[] = "allocation.slurm-kube.io/node";
inline constexpr char k_allocation_cpus[] = "allocation.slurm-kube.io/cpus";
/* the pod's share of the memory on a hybrid node, in MiB */
inline constexpr char k_allocation_memory[] = "allocation.slurm-kube.io/memory";
/* on a hybrid node: which of its boots the pod was bound in */
inline constexpr char k_allocation_boot_id[] = "allocation.slurm-kube.io/boot-id";
/* The name of the pod's node in Slurm, if its label gave it. */
inline constexpr char k_allocation_slurm_node[] = "allocation.slurm-kube.io/slurm-node";
/* How slurmkube-node ends its refusal of a container whose job is not there. The agent reads it in
 * the status of the pod. */
inline constexpr char k_refused_ended[] = "has ended on this node";
inline constexpr char k_refused_no_processors[] = "has no processors on this node";
/* instead of a job of its own: the native job within which the pod runs (model/native_job.h) */
inline constexpr char k_allocation_native_job[] = "allocation.slurm-kube.io/native-job";
/* The job-id of a pod in a native job: not a number, so that a slurmkube-node which does not know
 * such pods refuses it. */
inline constexpr char k_job_id_native[] = "native";
/* all nodes of the job, separated by commas */
inline constexpr char k_allocation_nodes[] = "allocation.slurm-kube.io/nodes";
inline constexpr char k_allocation_partition[] = "allocation.slurm-kube.io/partition";
inline constexpr char k_allocation_account[] = "allocation.slurm-kube.io/account";
inline constexpr char k_allocation_gang[] = "allocation.slurm-kube.io/gang";
inline constexpr char k_allocation_rank[] = "allocation.slurm-kube.io/rank";
inline constexpr char k_allocation_size[] = "allocation.slurm-kube.io/size";
inline constexpr char k_allocation_attempt[] = "allocation.slurm-kube.io/attempt";

/* Bytes of all keys and values (TotalAnnotationSizeLimitB of apimachinery). Kubernetes does not
 * check a Binding: a pod that has more afterwards can change its status no more. */
inline constexpr std::size_t k_annotation_bytes_max = std::size_t{256} << 10;

/* Key and value. The agent writes them in the Binding, unless the pod has the key, so that
 * cluster-autoscaler and Karpenter do not evict a job to save a node. */
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 2> k_not_to_evict{
	{{"cluster-autoscaler.kubernetes.io/safe-to-evict", "false"},
		{"karpenter.sh/do-not-disrupt", "true"}}};

/* Label that JobSet's controller sets on pods: how often the JobSet has been restarted. */
inline constexpr char k_jobset_restart[] = "jobset.sigs.k8s.io/restart-attempt";

/* Reasons of the condition PodScheduled=False. None is "Unschedulable", which would wake cluster
 * autoscalers. */
inline constexpr char k_reason_pending[] = "SlurmPending"; /* waits in Slurm's queue */
inline constexpr char k_reason_refused[] = "SlurmRefused"; /* cannot run as it is */
/* no node in Slurm may run the pod at present; tried again when nodes change */
inline constexpr char k_reason_no_node[] = "SlurmNoNode";
/* a volume claim is missing, unbound or in use */
inline constexpr char k_reason_volume[] = "SlurmWaitsForVolume";
/* a claim for devices is missing or in use, or a device is */
inline constexpr char k_reason_device[] = "SlurmWaitsForDevice";
/* temporary failure; the agent tries again */
inline constexpr char k_reason_retrying[] = "SlurmRetrying";
/* Those of waiting pods that skube top and /metrics tell apart; others count as "other". */
inline constexpr const char *k_waiting_reasons[] = {k_reason_pending, k_reason_refused,
	k_reason_no_node, k_reason_volume, k_reason_device, k_reason_retrying};

/* Reasons that only events have. Events use the reasons of conditions too. */
inline constexpr char k_reason_bound[] = "SlurmBound";         /* allocated and bound */
inline constexpr char k_reason_completed[] = "SlurmCompleted"; /* the pod ended, so its job did */
/* no rule says what the pod's PriorityClass means in Slurm; told once per namespace and class */
inline constexpr char k_reason_class_unused[] = "SlurmPriorityClassUnused";

/* Reason of the condition DisruptionTarget=True, before a pod is deleted because Slurm ended its
 * job */
inline constexpr char k_reason_job_ended[] = "SlurmJobEnded";

/* Condition of a pod with status True: the pod was bound, but for too long none of its containers
 * ran. This is not DisruptionTarget, because a Job may ignore pods with DisruptionTarget
 * (podFailurePolicy) and would then create new pods for ever. */
inline constexpr char k_condition_start_limit[] = "slurm-kube.io/StartLimit";
inline constexpr char k_reason_start_limit[] = "SlurmStartLimit";

/* Condition of a node: whether Slurm has taken it out of service, and why. */
inline constexpr char k_condition_drain[] = "SlurmDrain";

/* Slurm */
/* marks external nodes; kube.conf may set another feature */
inline constexpr char k_node_feature[] = "kube";
/* marks hybrid nodes, which have a slurmd, too; kube.conf may set another feature */
inline constexpr char k_hybrid_feature[] = "kube-hybrid";
/* the agent begins every node reason with it, and undoes only node states whose reason begins with
 * it */
inline constexpr char k_reason_prefix[] = "slurm-kube: ";

/* Local sockets, protocol versions */
inline constexpr char k_plugin_socket[] = "/run/slurmkubed/plugin.sock";
inline constexpr char k_control_socket[] = "/run/slurmkubed/control.sock";
inline constexpr char k_config_file[] = "/etc/slurm-kube/slurmkubed.yaml";
inline constexpr int k_link_protocol = 1;
inline constexpr int k_marker_version = 1;
inline constexpr int k_sink_port = 6899; /* loopback TCP port of the plugin's sink */

} // namespace slurmkube::names

#endif
