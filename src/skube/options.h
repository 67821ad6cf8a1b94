/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - skube's command line and its help. See skube(1).
 */
#ifndef SLURMKUBE_SKUBE_OPTIONS_H
#define SLURMKUBE_SKUBE_OPTIONS_H

#include "src/core/model/names.h"
#include "src/skube/kubeconfig.h"
#include "src/skube/teardown.h"

#include <string>
#include <vector>

namespace slurmkube::skube
{

enum Exit { k_fine = 0, k_wrong = 1, k_usage = 2, k_unreachable = 3 };

extern const char k_help[];

struct Options {
	std::string socket = names::k_control_socket;
	bool json = false, slurm_conf = false, force = false, active = false;
	std::string output; /* empty: standard output */
	std::vector<std::string> words;
	KubeconfigFiles files;
	Teardown teardown{.socket = {},
		.scheduler_name = names::k_default_scheduler_name,
		.label = names::k_managed_label,
		.apply = false};
};

/* Returns the exit status to end with, or -1 to go on. */
int read_options(int argc, char **argv, Options &options);

/* Prints the sentence and the help, and returns the exit status. */
int usage_error(const std::string &sentence);

} // namespace slurmkube::skube

#endif
