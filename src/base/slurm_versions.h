/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_versions.h - differences between versions of Slurm, one name per fact.
 *
 * This is the only file that compares Slurm versions; testsuite/lint/versions.py enforces this. It
 * has only macros, because the plugin's C files, #if and configure (m4/x_slurm.m4) read it too.
 * Each macro takes a number in the form of SLURM_VERSION_NUMBER: that of the Slurm headers for
 * which code is compiled, or that which the plugin reports of a running slurmctld.
 */
#ifndef SLURMKUBE_BASE_SLURM_VERSIONS_H
#define SLURMKUBE_BASE_SLURM_VERSIONS_H

/*
 * The form of SLURM_VERSION_NUMBER. Only operators that m4 and the shell's arithmetic understand;
 * no casts and no suffixes.
 */
#define KUBE_SLURM_NUMBER(major, minor) (((major) << 16) + ((minor) << 8))
#define KUBE_SLURM_SERIES(number) ((number) >> 8)
#define KUBE_IS_SLURM_SERIES(number, major, minor)                                                 \
	(KUBE_SLURM_SERIES(number) == (((major) << 8) + (minor)))

/* Release series with which our tests have run; README.md and doc/admin.md have the same list. */
#define KUBE_SLURM_IS_TESTED(number)                                                               \
	(KUBE_IS_SLURM_SERIES(number, 22, 5) || KUBE_IS_SLURM_SERIES(number, 24, 11) ||            \
		KUBE_IS_SLURM_SERIES(number, 25, 11) || KUBE_IS_SLURM_SERIES(number, 26, 5))
#define KUBE_SLURM_TESTED "22.05, 24.11, 25.11 and 26.05"

/* ---- 23.02 ---- */
/* sbatch --extra. */
#define KUBE_SLURM_HAS_EXTRA(number) ((number) >= KUBE_SLURM_NUMBER(23, 2))
#define KUBE_SLURM_EXTRA_SINCE "23.02"
/* job_modify() of a job_submit plugin can return a message to the user. */
#define KUBE_SLURM_MODIFY_TELLS_USER(number) ((number) >= KUBE_SLURM_NUMBER(23, 2))
/* gres.h is in src/interfaces; in older versions in src/common. */
#define KUBE_SLURM_HAS_INTERFACES(number) ((number) >= KUBE_SLURM_NUMBER(23, 2))
/* slurmctld has its cloud nodes in cloud_node_bitmap. */
#define KUBE_SLURM_HAS_CLOUD_BITMAP(number) ((number) >= KUBE_SLURM_NUMBER(23, 2))

/* ---- 23.11 ---- */
/*
 * A reconfigure starts a new slurmctld. In older versions it terminates slurmctld if the number of
 * nodes has changed.
 */
#define KUBE_SLURM_RECONFIGURE_IS_RESTART(number) ((number) >= KUBE_SLURM_NUMBER(23, 11))
/* Texts of generic resources begin with "gres/"; in older versions with "gres:" (slurm_opt.c). */
#define KUBE_SLURM_GRES_HAS_SLASH(number) ((number) >= KUBE_SLURM_NUMBER(23, 11))
/* list_t and hostlist_t are structures; in older versions pointers. Nodes in use have a count of
 * their own. */
#define KUBE_SLURM_LISTS_ARE_STRUCTS(number) ((number) >= KUBE_SLURM_NUMBER(23, 11))
#define KUBE_SLURM_COUNTS_ACTIVE_NODES(number) ((number) >= KUBE_SLURM_NUMBER(23, 11))

/* ---- 24.05 ---- */
/* sbatch --segment. The agent checks the headers for the member (compat.h). */
#define KUBE_SLURM_SEGMENT_SINCE "24.05"
/* These names exist: job_state_reason_string(), power_down_node_bitmap, CONF_FLAG_*. */
#define KUBE_SLURM_HAS_STATE_REASON(number) ((number) >= KUBE_SLURM_NUMBER(24, 5))
#define KUBE_SLURM_HAS_POWER_DOWN_BITMAP(number) ((number) >= KUBE_SLURM_NUMBER(24, 5))
#define KUBE_SLURM_HAS_CONF_FLAGS(number) ((number) >= KUBE_SLURM_NUMBER(24, 5))

/* ---- 24.11 ---- */
/* sbatch --exclusive=topo. The agent checks the headers for JOB_SHARED_TOPO (compat.h). */
#define KUBE_SLURM_SHARED_TOPO_SINCE "24.11"
/*
 * Nodes can be created and deleted while slurmctld runs, and our tests cover this. Slurm has had
 * such nodes since 22.05, but in 22.05 a reconfigure leaves them ALLOCATED for ever (doc/design).
 */
#define KUBE_SLURM_HAS_DYNAMIC_NODES(number) ((number) >= KUBE_SLURM_NUMBER(24, 11))

/* prolog_complete() keeps in the job's exit_code that Prolog has failed */
#define KUBE_SLURM_NOTES_FAILED_PROLOGS(number) ((number) >= KUBE_SLURM_NUMBER(24, 11))

/* slurm.conf may name several Epilogs. */
#define KUBE_SLURM_HAS_EPILOG_LIST(number) ((number) >= KUBE_SLURM_NUMBER(24, 11))

/* ---- 25.05 ---- */
/* slurm.conf has PrologTimeout and EpilogTimeout, whose default is PrologEpilogTimeout. */
#define KUBE_SLURM_SPLITS_SCRIPT_TIMEOUTS(number) ((number) >= KUBE_SLURM_NUMBER(25, 5))

/*
 * External nodes and jobs (EXTERNAL_JOB): Slurm itself does not wait for slurmd on these nodes. In
 * older versions the plugin does this work.
 */
#define KUBE_SLURM_HAS_EXTERNAL_NODES(number) ((number) >= KUBE_SLURM_NUMBER(25, 5))

/* ---- 25.11 ---- */
/*
 * A job's number is in a step_id: in messages, and in the calls that end jobs, prologs and epilogs.
 */
#define KUBE_SLURM_HAS_JOB_IN_STEP_ID(number) ((number) >= KUBE_SLURM_NUMBER(25, 11))
/* gres_node_config_validate() takes the node. */
#define KUBE_SLURM_GRES_TAKES_NODE(number) ((number) >= KUBE_SLURM_NUMBER(25, 11))
/* SELECT_SOCKET; in older versions CR_SOCKET. */
#define KUBE_SLURM_HAS_SELECT_FLAGS(number) ((number) >= KUBE_SLURM_NUMBER(25, 11))

/* ---- 26.05 ---- */
/*
 * slurm_load_job() takes a step_id. slurm_free_conf() exists; in older versions
 * slurm_free_ctl_conf(). ESLURM_MAX_JOB_COUNT exists.
 */
#define KUBE_SLURM_LOADS_JOB_BY_STEP_ID(number) ((number) >= KUBE_SLURM_NUMBER(26, 5))
#define KUBE_SLURM_HAS_FREE_CONF(number) ((number) >= KUBE_SLURM_NUMBER(26, 5))
#define KUBE_SLURM_HAS_MAX_JOB_COUNT(number) ((number) >= KUBE_SLURM_NUMBER(26, 5))
/*
 * After a restart or a reconfigure an external node of slurm.conf is in use again although it was
 * out of service; only its reason is kept.
 */
#define KUBE_SLURM_FORGETS_NODES(number) ((number) >= KUBE_SLURM_NUMBER(26, 5))
/* Cgroups of jobs have the job's SLUID in their names, unless cgroup.conf says CgroupJobIdPaths. */
#define KUBE_SLURM_NAMES_CGROUPS_BY_SLUID(number) ((number) >= KUBE_SLURM_NUMBER(26, 5))

#endif
