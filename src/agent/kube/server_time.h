/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server_time.h - the time of the API server's clock.
 *
 * The API has no call for it. An Event that is created with dryRun=All comes back with the
 * creationTimestamp that it would have got, in whole seconds, and is not stored. This takes the
 * right to create events, which the agent has anyway.
 */
#ifndef SLURMKUBE_AGENT_KUBE_SERVER_TIME_H
#define SLURMKUBE_AGENT_KUBE_SERVER_TIME_H

#include "src/agent/kube/client.h"

namespace slurmkube::kube
{

/* The result is in seconds since the epoch. done is called once, on the loop's thread. */
void server_time(Client &client, std::function<void(Result<std::int64_t>)> done);

} // namespace slurmkube::kube

#endif
