/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * releases.h - skube version: which releases work together here.
 *
 * The agent tells its own release, the plugin's and Slurm's; kubectl, with the caller's own rights,
 * that of its API server.
 */
#ifndef SLURMKUBE_SKUBE_RELEASES_H
#define SLURMKUBE_SKUBE_RELEASES_H

#include "src/codec/json.h"
#include "src/skube/list.h"

#include <string>

namespace slurmkube::skube
{

struct ReleaseRequest {
	Format format = Format::table; /* or json or yaml */
	std::string socket = {};
	std::string kubeconfig = {}, context = {}; /* for kubectl; empty: its defaults */
};

/* ping: the agent's reply; kubernetes: kubectl's. Both may be null. Members are absent if they are
 * not known. */
codec::Json releases_of(json_object *ping, json_object *kubernetes);

std::string releases_text(json_object *releases);

/* Whether skube, agent and plugin are of one release, as far as they are known. */
bool are_one_release(json_object *releases);

/* Prints the releases. Returns the exit status: k_unreachable if the agent does not answer,
 * k_wrong if ours differ. */
int print_releases(const ReleaseRequest &wanted);

} // namespace slurmkube::skube

#endif
