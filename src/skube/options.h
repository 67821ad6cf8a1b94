/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - skube's command line and its help. See skube(1).
 */
#ifndef SLURMKUBE_SKUBE_OPTIONS_H
#define SLURMKUBE_SKUBE_OPTIONS_H

#include "src/core/inspect/selection.h"
#include "src/core/model/names.h"
#include "src/skube/kubeconfig.h"
#include "src/skube/manifests.h"
#include "src/skube/selftest.h"
#include "src/skube/teardown.h"

#include <string>
#include <vector>

namespace slurmkube::skube
{

enum Exit { k_fine = 0, k_wrong = 1, k_usage = 2, k_unreachable = 3 };

extern const char k_help[];

/* The commands, as a set: each option names those that take it. */
enum Commands : unsigned {
	k_check = 1 << 0,
	k_ping = 1 << 1,
	k_show_jobs = 1 << 2,
	k_show_pods = 1 << 3,
	k_show_nodes = 1 << 4,
	k_diag = 1 << 5,
	k_why = 1 << 6,
	k_node_lines = 1 << 7,
	k_explain = 1 << 8,
	k_kubeconfig = 1 << 9,
	k_teardown = 1 << 10,
	k_print_help = 1 << 11,
	k_selftest = 1 << 12,
	k_version = 1 << 13,
	k_drain = 1 << 14,
	k_resume = 1 << 15,
	k_hold = 1 << 16, /* and release */
	k_logs = 1 << 17,
	k_top = 1 << 18,
	k_manifests = 1 << 19,
	k_migrate = 1 << 20,
	k_watch = 1 << 21,
	k_show_devices = 1 << 22,
	k_node_setup = 1 << 23,
};

struct Options {
	std::string socket; /* empty: not given */
	bool json = false, slurm_conf = false, topology_conf = false, force = false;
	std::string topology_labels; /* keys, separated by commas */
	std::string output;          /* a format, or with k_node_lines a file; empty: the default */
	bool all_namespaces = false, watch = false;
	core::SelectionText select; /* users as names or numbers */
	std::string sort;
	std::string reason, since, file; /* of drain; of logs */
	std::string system_cpus;         /* of node-setup */
	bool verbose = false, follow = false, once = false;
	std::vector<std::string> words;
	std::vector<std::size_t> given; /* indexes of the options, in the order of the line */
	KubeconfigFiles files;
	ManifestOptions manifests;
	Teardown teardown{.socket = {},
		.scheduler_name = names::k_default_scheduler_name,
		.label = names::k_managed_label,
		.apply = false};
	std::string from, sunk_scheduler; /* of migrate */
	bool bridge_stopped = false;      /* of migrate */
	Selftest selftest{};              /* without what options share with teardown */
};

/* Returns the exit status to end with, or -1 to go on. */
int read_options(int argc, char **argv, Options &options);

/* The first option that was given and that none of the commands takes, as "--name"; empty: none. */
std::string stray_option(const Options &options, unsigned commands);

/* Prints the sentence on one line, and returns the exit status. */
int usage_error(const std::string &sentence);

} // namespace slurmkube::skube

#endif
