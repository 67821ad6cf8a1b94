/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin.h - answers the container runtime's NRI requests.
 *
 * The runtime holds one lock for all containers of the node while it waits, so nothing here waits.
 * One thread.
 */
#ifndef SLURMKUBE_NODE_PLUGIN_H
#define SLURMKUBE_NODE_PLUGIN_H

#include "src/node/cgroups.h"
#include "src/node/native_pods.h"
#include "src/node/nri.h"
#include "src/node/records.h"
#include "src/node/rpc.h"

#include <chrono>
#include <string>

namespace slurmkube::node
{

class Plugin
{
      public:
	/* The references outlive the plugin. system_cpus: a list. */
	Plugin(const Records &records, const Cgroups &cgroups, const NativePods &native,
		std::string system_cpus);

	/* The body of the response. */
	[[nodiscard]] std::string answer(const RpcRequest &request);
	/* A new connection: pieces of an inventory are void. */
	void begin()
	{
		inventory_ = {};
		has_inventory_ = false;
		cgroups_.remove_probes();
	}
	/* Whether the runtime has said in this connection which containers run. */
	[[nodiscard]] bool has_inventory() const { return has_inventory_; }

      private:
	[[nodiscard]] Result<std::string> payload_for(const RpcRequest &request);
	[[nodiscard]] Result<std::string> event_payload(const StateChange &change);
	[[nodiscard]] Result<std::string> container_payload(const RpcRequest &request);
	[[nodiscard]] Result<std::string> create(const ContainerRequest &request);
	[[nodiscard]] Result<std::string> update(const ContainerRequest &request);
	[[nodiscard]] Result<std::string> synchronize(Inventory piece);
	[[nodiscard]] Result<Confinement> allowed(const Pod &pod, const Container &container);
	[[nodiscard]] JobFacts facts_of(std::uint32_t job);
	[[nodiscard]] Result<Ok> limit_pod(const ContainerRequest &request);
	[[nodiscard]] Result<Ok> take_memory(const ContainerRequest &request) const;
	[[nodiscard]] Result<Ok> check_devices(const ContainerRequest &request);
	[[nodiscard]] Result<Ok> record(
		const ContainerRequest &request, std::uint32_t job, bool is_started);
	void forget(const ContainerRequest &request) const;
	[[nodiscard]] Result<Ok> may_start(const ContainerRequest &request);
	[[nodiscard]] Result<std::string> start(const ContainerRequest &request);
	void started(const ContainerRequest &request);
	void removed(const ContainerRequest &request);
	void adopt(
		const Pod &pod, const Container &container, std::vector<ContainerUpdate> &updates);
	void check_adopted(const ContainerRequest &request);

	const Records &records_;
	const Cgroups &cgroups_;
	const NativePods &native_;
	std::string system_cpus_;
	Inventory inventory_;
	bool has_inventory_ = false;
	std::chrono::steady_clock::time_point check_until_;
};

} // namespace slurmkube::node

#endif
