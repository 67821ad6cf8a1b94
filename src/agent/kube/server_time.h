/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server_time.h - what the API server's clock says.
 *
 * No call tells it outright. An Event that is created with dryRun=All comes back with the
 * creationTimestamp that the server would have given it, in whole seconds, and nothing is stored.
 * Needs the right to create events, which we have anyway.
 */
#ifndef SLURMKUBE_AGENT_KUBE_SERVER_TIME_H
#define SLURMKUBE_AGENT_KUBE_SERVER_TIME_H

#include "src/agent/kube/client.h"

namespace slurmkube::kube
{

/* Seconds since the epoch. done is called once, on the loop's thread. */
void server_time(Client &client, std::function<void(Result<std::int64_t>)> done);

} // namespace slurmkube::kube

#endif
