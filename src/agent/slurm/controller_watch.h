/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * controller_watch.h - whether the slurmctld for which a call was meant still has the same jobs.
 *
 * A slurmctld that is killed before it has saved its last jobs gives their numbers to other jobs,
 * also of users without pods. Calls that end a job wait in a queue, and libslurm tries to connect
 * for as long as MessageTimeout, so they can outlive the slurmctld for which they were meant. A
 * call for a slurmctld that has read its state anew must ask for the job's marker first.
 *
 * What remains: a slurmctld that is killed after the question and before it has read the call.
 * libslurm then repeats the call, and the requests that end a job carry only its number.
 *
 * The loop's thread says what the link knows; any thread may ask, or say that a call has failed.
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
	/* All times: monotonic */
	void link_opened(const core::PluginHello &hello);
	void link_closed();
	/* slurmctld has said over the link that it runs. sent_us: when; this loop may have been
	 * away since. 0: an older plugin does not say it. */
	void link_heard(std::int64_t sent_us, std::int64_t now_us);
	/* In that term slurmctld has shown a marker that the link has shown, too: libslurm calls
	 * the slurmctld at the link, and not another one of the same ClusterName. Any thread. */
	void agreed(std::uint64_t term);
	/* slurmctld has not answered a call: it may have been killed, and the link may show that
	 * later. Any thread. */
	void doubt(std::int64_t now_us);

	/* A link was open, and has closed. */
	[[nodiscard]] bool has_lost_link() const;
	/* Number of the slurmctld that the link has shown last, counted anew when it reads its
	 * state; 0: none so far. */
	[[nodiscard]] std::uint64_t term() const;
	/* Whether that slurmctld is in control and runs, as far as this host can tell. False: it
	 * does not, or it is not known, because the process is on another host or in another
	 * container, because no line has come for a second, because of doubt(), or because nothing
	 * has agreed() yet. If no link was ever opened, as in programs without one, nothing can be
	 * compared: true. */
	[[nodiscard]] bool is_certain(std::uint64_t term, std::int64_t now_us) const;

      private:
	mutable std::mutex mutex_;
	core::PluginHello hello_;
	std::uint64_t term_ = 0;
	bool is_open_ = false, is_agreed_ = false;
	std::int64_t heard_us_ = 0;
	std::int64_t doubted_us_ = 0; /* 0: not in doubt */
};

/* Whether the process is on this host and has not ended. A zombie has ended. */
bool is_alive_here(const core::PluginHello &hello);

} // namespace slurmkube::slurm

#endif
