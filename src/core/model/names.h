/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - every name that others see: annotations, labels, conditions, files, defaults.
 *
 * Users write slurm-kube.io/<option>; only the agent writes allocation.slurm-kube.io/<key>, and
 * only through a Binding.
 */
#ifndef SLURMKUBE_CORE_MODEL_NAMES_H
#define SLURMKUBE_CORE_MODEL_NAMES_H

namespace slurmkube::names
{

/* Kubernetes, read */
inline constexpr char k_option_prefix[] = "slurm-kube.io/";
/* the rivals', read as aliases */
inline constexpr char k_bridge_prefix[] = "slurmjob.slinky.slurm.net/";
inline constexpr char k_old_bridge_prefix[] = "slinky.slurm.net/";
inline constexpr char k_sunk_prefix[] = "sunk.coreweave.com/";
inline constexpr char k_managed_label[] = "slurm-kube.io/managed";
inline constexpr char k_hostname_label[] = "kubernetes.io/hostname";
/* of a claim: what its provisioner waits for */
inline constexpr char k_selected_node[] = "volume.kubernetes.io/selected-node";
inline constexpr char k_default_scheduler_name[] = "slurm";

/* Kubernetes, written by the agent in the Binding */
inline constexpr char k_allocation_prefix[] = "allocation.slurm-kube.io/";
inline constexpr char k_allocation_job_id[] = "allocation.slurm-kube.io/job-id";
inline constexpr char k_allocation_cluster[] = "allocation.slurm-kube.io/cluster";
inline constexpr char k_allocation_node[] = "allocation.slurm-kube.io/node";
inline constexpr char k_allocation_cpus[] = "allocation.slurm-kube.io/cpus";
/* all of the job, with commas */
inline constexpr char k_allocation_nodes[] = "allocation.slurm-kube.io/nodes";
inline constexpr char k_allocation_partition[] = "allocation.slurm-kube.io/partition";
inline constexpr char k_allocation_account[] = "allocation.slurm-kube.io/account";
inline constexpr char k_allocation_gang[] = "allocation.slurm-kube.io/gang";
inline constexpr char k_allocation_rank[] = "allocation.slurm-kube.io/rank";
inline constexpr char k_allocation_size[] = "allocation.slurm-kube.io/size";
inline constexpr char k_allocation_attempt[] = "allocation.slurm-kube.io/attempt";

/* Label that JobSet's controller writes on pods: how often the JobSet has been restarted. */
inline constexpr char k_jobset_restart[] = "jobset.sigs.k8s.io/restart-attempt";

/* Reasons of the condition PodScheduled=False. None is "Unschedulable", which would wake cluster
 * autoscalers. */
inline constexpr char k_reason_pending[] = "SlurmPending"; /* waits in Slurm's queue */
inline constexpr char k_reason_refused[] = "SlurmRefused"; /* will not run as it is */
/* no node that Slurm has may take it now; tried again when nodes change */
inline constexpr char k_reason_no_node[] = "SlurmNoNode";
/* a volume claim is missing, unbound or in use */
inline constexpr char k_reason_volume[] = "SlurmWaitsForVolume";
inline constexpr char k_reason_retrying[] = "SlurmRetrying"; /* a passing trouble; we try again */

/* Reasons of events only; those of conditions are reasons of events too */
inline constexpr char k_reason_bound[] = "SlurmBound";         /* allocated and bound */
inline constexpr char k_reason_completed[] = "SlurmCompleted"; /* the pod ended, so its job did */

/* Reason of the condition DisruptionTarget=True, before a pod is deleted because Slurm ended its
 * job */
inline constexpr char k_reason_job_ended[] = "SlurmJobEnded";

/* Condition of a pod, status True: it was bound and nothing of it ran for too long. Not
 * DisruptionTarget: a Job must not ignore it and try for ever. */
inline constexpr char k_condition_start_limit[] = "slurm-kube.io/StartLimit";
inline constexpr char k_reason_start_limit[] = "SlurmStartLimit";

/* Slurm */
/* marks external nodes; kube.conf may name another */
inline constexpr char k_node_feature[] = "kube";
/* of a node's reason; only such reasons are undone */
inline constexpr char k_reason_prefix[] = "slurm-kube: ";

/* Local sockets, protocol versions */
inline constexpr char k_plugin_socket[] = "/run/slurmkubed/plugin.sock";
inline constexpr char k_control_socket[] = "/run/slurmkubed/control.sock";
inline constexpr int k_link_protocol = 1;
inline constexpr int k_marker_version = 1;
inline constexpr int k_sink_port = 6899; /* loopback TCP port of the plugin's sink */

} // namespace slurmkube::names

#endif
