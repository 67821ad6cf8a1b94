/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leases.h - reads and writes the Lease of the agents (core/lease/lease.h).
 *
 * On the loop's thread. The client must outlive the call. A callback is called exactly once, later,
 * unless the client is destroyed first.
 */
#ifndef SLURMKUBE_AGENT_KUBE_LEASES_H
#define SLURMKUBE_AGENT_KUBE_LEASES_H

#include "src/agent/kube/client.h"
#include "src/core/lease/lease.h"

#include <functional>
#include <optional>
#include <string>

namespace slurmkube::kube
{

struct LeaseName {
	std::string name_space, name;
	[[nodiscard]] std::string text() const { return name_space + "/" + name; }
};

/* Empty: there is no such Lease. The Lease is read from etcd. */
void get_lease(Client &client, const LeaseName &lease,
	std::function<void(Result<std::optional<core::LeaseRecord>>)> done);

/* Creates the Lease, or replaces the one with the record's resource version. The answer is the
 * Lease as it is then. conflict: another agent was quicker. */
void write_lease(Client &client, const LeaseName &lease, const core::LeaseRecord &record,
	std::function<void(Result<core::LeaseRecord>)> done);

/* The namespace of the service account that the client's token is for; of other credentials, the
 * namespace that the agent's account has by default. */
std::string own_namespace(const Client &client);

} // namespace slurmkube::kube

#endif
