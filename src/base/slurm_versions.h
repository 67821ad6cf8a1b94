/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_versions.h - what the versions of Slurm have, one name for each fact.
 *
 * The only place that compares Slurm's versions; testsuite/lint/versions.py holds that. Only
 * macros: the plugin's C files, #if and configure (m4/x_slurm.m4) read it too. A fact is asked of a
 * number like SLURM_VERSION_NUMBER: Slurm's own headers' where code is compiled for them, or the
 * one that the plugin tells of a running slurmctld.
 */
#ifndef SLURMKUBE_BASE_SLURM_VERSIONS_H
#define SLURMKUBE_BASE_SLURM_VERSIONS_H

/*
 * The form of SLURM_VERSION_NUMBER. Signs that m4 and the shell's arithmetic understand, no
 * casts, no suffixes.
 */
#define KUBE_SLURM_NUMBER(major, minor) (((major) << 16) + ((minor) << 8))
#define KUBE_SLURM_SERIES(number) ((number) >> 8)
#define KUBE_IS_SLURM_SERIES(number, major, minor)                                                 \
	(KUBE_SLURM_SERIES(number) == (((major) << 8) + (minor)))

/* Release series that our tests have run with; README.md and doc/admin.md have the same list. */
#define KUBE_SLURM_IS_TESTED(number)                                                               \
	(KUBE_IS_SLURM_SERIES(number, 22, 5) || KUBE_IS_SLURM_SERIES(number, 24, 11) ||            \
		KUBE_IS_SLURM_SERIES(number, 25, 11) || KUBE_IS_SLURM_SERIES(number, 26, 5))
#define KUBE_SLURM_TESTED "22.05, 24.11, 25.11 and 26.05"

/* ---- 23.02 ---- */
/* sbatch --extra. */
#define KUBE_SLURM_HAS_EXTRA(number) ((number) >= KUBE_SLURM_NUMBER(23, 2))
#define KUBE_SLURM_EXTRA_SINCE "23.02"
/* job_modify() of a job_submit plugin can give a text to the user. */
#define KUBE_SLURM_MODIFY_TELLS_USER(number) ((number) >= KUBE_SLURM_NUMBER(23, 2))
/* gres.h is in src/interfaces, before in src/common. */
#define KUBE_SLURM_HAS_INTERFACES(number) ((number) >= KUBE_SLURM_NUMBER(23, 2))
/* slurmctld knows its cloud nodes in cloud_node_bitmap. */
#define KUBE_SLURM_HAS_CLOUD_BITMAP(number) ((number) >= KUBE_SLURM_NUMBER(23, 2))

/* ---- 23.11 ---- */
/*
 * A reconfigure starts a new slurmctld. Before, it ends slurmctld where the number of nodes has
 * changed.
 */
#define KUBE_SLURM_RECONFIGURE_IS_RESTART(number) ((number) >= KUBE_SLURM_NUMBER(23, 11))
/* Texts of generic resources begin with "gres/", before with "gres:" (slurm_opt.c). */
#define KUBE_SLURM_GRES_HAS_SLASH(number) ((number) >= KUBE_SLURM_NUMBER(23, 11))
/* list_t and hostlist_t are structures, before pointers; nodes in use have a count of their own. */
#define KUBE_SLURM_LISTS_ARE_STRUCTS(number) ((number) >= KUBE_SLURM_NUMBER(23, 11))
#define KUBE_SLURM_COUNTS_ACTIVE_NODES(number) ((number) >= KUBE_SLURM_NUMBER(23, 11))

/* ---- 24.05 ---- */
/* sbatch --segment. The agent asks the headers for the member (compat.h). */
#define KUBE_SLURM_SEGMENT_SINCE "24.05"
/* Names: job_state_reason_string(), power_down_node_bitmap, CONF_FLAG_*. */
#define KUBE_SLURM_HAS_STATE_REASON(number) ((number) >= KUBE_SLURM_NUMBER(24, 5))
#define KUBE_SLURM_HAS_POWER_DOWN_BITMAP(number) ((number) >= KUBE_SLURM_NUMBER(24, 5))
#define KUBE_SLURM_HAS_CONF_FLAGS(number) ((number) >= KUBE_SLURM_NUMBER(24, 5))

/* ---- 24.11 ---- */
/* sbatch --exclusive=topo. The agent asks the headers for JOB_SHARED_TOPO (compat.h). */
#define KUBE_SLURM_SHARED_TOPO_SINCE "24.11"
/*
 * Nodes can be made and deleted while slurmctld runs, and we have tested it. They exist from 22.05
 * on, but there a reconfigure leaves them ALLOCATED for good (doc/design).
 */
#define KUBE_SLURM_HAS_DYNAMIC_NODES(number) ((number) >= KUBE_SLURM_NUMBER(24, 11))

/* ---- 25.05 ---- */
/*
 * External nodes and jobs (EXTERNAL_JOB): Slurm itself waits for no slurmd there. Before, the
 * plugin does that work.
 */
#define KUBE_SLURM_HAS_EXTERNAL_NODES(number) ((number) >= KUBE_SLURM_NUMBER(25, 5))

/* ---- 25.11 ---- */
/*
 * A job's number is in a step_id, in messages and in the calls that end jobs, prologs and
 * epilogs.
 */
#define KUBE_SLURM_HAS_JOB_IN_STEP_ID(number) ((number) >= KUBE_SLURM_NUMBER(25, 11))
/* gres_node_config_validate() takes the node. */
#define KUBE_SLURM_GRES_TAKES_NODE(number) ((number) >= KUBE_SLURM_NUMBER(25, 11))
/* SELECT_SOCKET, before CR_SOCKET. */
#define KUBE_SLURM_HAS_SELECT_FLAGS(number) ((number) >= KUBE_SLURM_NUMBER(25, 11))

/* ---- 26.05 ---- */
/*
 * slurm_load_job() takes a step_id; slurm_free_conf(), before slurm_free_ctl_conf();
 * ESLURM_MAX_JOB_COUNT.
 */
#define KUBE_SLURM_LOADS_JOB_BY_STEP_ID(number) ((number) >= KUBE_SLURM_NUMBER(26, 5))
#define KUBE_SLURM_HAS_FREE_CONF(number) ((number) >= KUBE_SLURM_NUMBER(26, 5))
#define KUBE_SLURM_HAS_MAX_JOB_COUNT(number) ((number) >= KUBE_SLURM_NUMBER(26, 5))
/*
 * A restart and a reconfigure lose that an external node of slurm.conf is out of use; only the
 * reason stays.
 */
#define KUBE_SLURM_FORGETS_NODES(number) ((number) >= KUBE_SLURM_NUMBER(26, 5))

#endif
