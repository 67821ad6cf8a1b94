/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lease_keeper.h - reads the Lease of the agents, and renews it while this agent leads. What that
 * means is decided in core/lease/lease.h.
 *
 * On the loop's thread. Every agent reads the Lease each 2 s; the one that leads writes it each
 * 10 s.
 */
#ifndef SLURMKUBE_AGENT_LEASE_KEEPER_H
#define SLURMKUBE_AGENT_LEASE_KEEPER_H

#include "src/agent/kube/leases.h"
#include "src/core/lease/lease.h"

#include <functional>
#include <string>

namespace slurmkube::agent
{

class LeaseKeeper
{
      public:
	using OnChange = std::function<void(const core::LeaseState &)>;

	/* The client must outlive the object. slurm_cluster: ClusterName in the agent's
	 * slurm.conf. */
	LeaseKeeper(kube::Client &client, const std::string &scheduler_name,
		std::string slurm_cluster, OnChange on_change);
	LeaseKeeper(const LeaseKeeper &) = delete;
	LeaseKeeper &operator=(const LeaseKeeper &) = delete;
	~LeaseKeeper() = default;

	/* Call once. */
	void start();

	/* The link to the plugin. */
	void opened(const core::PluginHello &hello);
	void heard();
	void closed();

      private:
	void read();
	void act();
	void write(const core::LeaseRecord &record);
	void written(const Result<core::LeaseRecord> &answer, bool is_new);
	void publish();

	kube::Client &client_;
	const kube::LeaseName lease_;
	const OnChange on_change_;
	core::LeaseJudge judge_;
	core::LeaseState published_;
	bool is_busy_ = false;
	unsigned conflicts_ = 0; /* writes in a row that another agent's write has overtaken */
};

} // namespace slurmkube::agent

#endif
