/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * controller_watch.h - whether the slurmctld for which a call was meant still has the same jobs.
 *
 * A slurmctld that is killed before it has saved its last jobs gives their numbers to other jobs,
 * also of users without pods. Calls that end a job wait in a queue, and libslurm tries to connect
 * for as long as MessageTimeout, so they can outlive the slurmctld for which they were meant. A
 * call for another process of slurmctld must ask for the job's marker first.
 *
 * The loop's thread says what the link knows; any thread may ask.
 */
#ifndef SLURMKUBE_AGENT_SLURM_CONTROLLER_WATCH_H
#define SLURMKUBE_AGENT_SLURM_CONTROLLER_WATCH_H

#include "src/core/model/plugin.h"

#include <cstdint>
#include <mutex>
#include <string>

namespace slurmkube::slurm
{

class ControllerWatch
{
      public:
	void link_opened(const core::PluginHello &hello);
	void link_closed();

	/* Number of the process of slurmctld that the link has shown last; 0: none so far. */
	[[nodiscard]] std::uint64_t term() const;
	/* Whether that process is in control and alive, as far as this host can tell. False: it is
	 * not, or it is not known, because the process is on another host or in another container.
	 * If no link was ever opened, as in programs without one, nothing can be compared: true.
	 */
	[[nodiscard]] bool is_certain(std::uint64_t term) const;

      private:
	mutable std::mutex mutex_;
	core::PluginHello hello_;
	std::uint64_t term_ = 0;
	bool is_open_ = false;
};

/* Whether the process is on this host and has not ended. A zombie has ended. */
bool is_alive_here(const core::PluginHello &hello);

} // namespace slurmkube::slurm

#endif
