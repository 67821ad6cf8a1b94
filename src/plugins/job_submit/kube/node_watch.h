/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_watch.h - sees every change of every external node, and keeps them in service (what care
 * means: seam_nodes.c).
 *
 * Looks by index, in short holds under the read lock; only a node that wants care costs the write
 * lock. A change of the node table between two holds starts the look again. Keeper's thread only.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_NODE_WATCH_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_NODE_WATCH_H

#include "src/plugins/job_submit/kube/feed.h"
#include "src/plugins/job_submit/kube/gres_conf.h"
#include "src/plugins/job_submit/kube/lock_hold.h"
#include "src/plugins/job_submit/kube/node_state_file.h"

#include <functional>
#include <set>
#include <string_view>
#include <unordered_map>

namespace slurmkube::plugin
{

class NodeWatch
{
      public:
	/* host: does this Slurm, or the one that it may be upgraded to, forget at a restart what
	 * people have set? */
	NodeWatch(const Meter &meter, Feed &feed, std::string feature, const kube_host &host)
	    : meter_(meter), feed_(feed), feature_(std::move(feature)), remembers_(host.native),
	      forgets_(host.forgets_nodes)
	{
	}

	/* Takes the nodes that were out of service when the last slurmctld ended out of service
	 * again. Call it once slurmctld is in control. */
	void take_out_again();
	void tick(const kube_pulse &pulse);
	void reset();

	/* All nodes were seen at least once. */
	[[nodiscard]] bool is_complete() const { return complete_; }
	[[nodiscard]] std::uint64_t count() const { return known_.size(); }
	/* A node can take work that it could not take before. Clears it. */
	bool take_kick() { return std::exchange(wants_kick_, false); }
	/* A whole look has ended. Clears it. */
	bool take_look() { return std::exchange(has_looked_, false); }
	/* How many jobs hold each external node, whoever's, summed up; at the last whole look. */
	[[nodiscard]] std::uint64_t held() const { return held_; }

      private:
	void begin_look();
	void go_on();
	/* Under the read lock; false: the table has changed. */
	bool look(const LockHold &hold, std::vector<core::SlurmNode> &changed);
	void look_at(std::uint32_t index, std::vector<core::SlurmNode> &changed);
	void end_look();
	bool give_care();
	void report_kept_down();
	void report_misfits();
	void end_strays();
	void forget_missing();
	void note(const core::SlurmNode &node);
	void remember();
	/* node_watch_gres.cc */
	void load_gres();
	void read_gres_conf();
	void load_gres_of(const std::string &name);

	const Meter &meter_;
	Feed &feed_;
	std::string feature_;

	struct Known {
		std::uint64_t fingerprint = 0;
		bool usable = false;
		std::int64_t completing_since = 0;  /* 0: it is not */
		std::uint64_t seen_in = 0;          /* the last look that met it */
		std::int64_t stray_reported_at = 0; /* 0: never */
		bool stays_down = false;
	};
	/* Found by Slurm's own text: no copy of the name is made for each look. */
	struct Hash {
		using is_transparent = void;
		std::size_t operator()(std::string_view name) const
		{
			return std::hash<std::string_view>{}(name);
		}
	};
	std::unordered_map<std::string, Known, Hash, std::equal_to<>> known_;
	Known &known(std::string_view name);
	std::uint32_t table_size_ = 0;
	bool complete_ = false, looking_ = false, has_looked_ = false, wants_kick_ = false;
	/* how often all nodes were looked at before the picture was complete */
	unsigned first_looks_ = 0;
	SlowLook when_{100 * k_ms, 5000 * k_ms};
	bool remembers_, forgets_, out_changed_ = false;
	OutOfServiceNodes out_of_service_;
	struct Look { /* that is under way */
		std::int64_t worked_before = 0;
		std::uint64_t generation = 0;
		std::uint32_t index = 0;
		std::uint64_t number = 0; /* counts them */
		std::uint64_t held = 0;
	} look_;
	std::uint64_t held_ = 0;
	struct Found { /* by it, to be dealt with */
		std::vector<std::string> care, gres, strays, kept_down, misfits;
	} found_;
	std::set<std::string> misfits_told_;
	struct Devices {
		/* nodes whose devices were loaded, or never will be, in this generation of the
		 * table */
		std::set<std::string> done;
		std::uint64_t generation = 0;
		std::string trouble; /* told last */
		GresConf conf;
	} devices_;
};

} // namespace slurmkube::plugin

#endif
