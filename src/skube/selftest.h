/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selftest.h - skube selftest: one pod from its creation to the end of its Slurm job.
 *
 * kubectl and scontrol run with the caller's own credentials: who may not create pods cannot do so
 * with this command either. The pod is deleted in any case, also after SIGINT, SIGTERM and SIGHUP,
 * which are blocked meanwhile.
 */
#ifndef SLURMKUBE_SKUBE_SELFTEST_H
#define SLURMKUBE_SKUBE_SELFTEST_H

#include "src/skube/list.h"

#include <string>

namespace slurmkube::skube
{

struct Selftest {
	std::string name_space = "default", image = "busybox", scheduler_name = {};
	std::string timeout = "120";               /* seconds for all steps but the last */
	std::string kubeconfig = {}, context = {}; /* for kubectl; empty: its defaults */
	std::string socket = {};                   /* of the agent */
	std::string name_prefix = {};              /* of nodes in Slurm */
	Format format = Format::table;             /* or json or yaml */
};

inline constexpr unsigned k_selftest_timeout_max = 86400;

/* 0: not a number of seconds from 1 to k_selftest_timeout_max. */
unsigned timeout_of(const Selftest &wanted);

/* Prints each step when it is done, or with json and yaml all of them at the end. Returns whether
 * all steps succeeded. Call once, from a process with one thread. timeout must be valid. */
bool selftest(const Selftest &wanted);

} // namespace slurmkube::skube

#endif
