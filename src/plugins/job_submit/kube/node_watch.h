/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_watch.h - sees every change of every external node, and keeps the nodes in service (see
 * "care" in seam_nodes.c).
 *
 * Looks at nodes by index, in short holds of the read lock; only a node that needs care costs the
 * write lock. If the node table changes between two holds, the look starts again. Keeper's thread
 * only.
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
	/* host tells whether this Slurm, or one that it may be upgraded to, forgets at a restart
	 * which nodes were drained or DOWN. */
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

	/* Whether all nodes were seen at least once. */
	[[nodiscard]] bool is_complete() const { return complete_; }
	/* External nodes. */
	[[nodiscard]] std::uint64_t count() const { return known_.size() - counts_.hybrids; }
	/* Whether a node can accept jobs that it could not accept before. Clears the flag. */
	bool take_kick() { return std::exchange(wants_kick_, false); }
	/* Whether a complete look has ended. Clears the flag. */
	bool take_look() { return std::exchange(has_looked_, false); }
	/* The sum over all external nodes of the jobs that hold them, external or native, at the
	 * last complete look. */
	[[nodiscard]] std::uint64_t held() const { return counts_.held; }
	/* Logs which partitions have external and hybrid nodes, once. Call after a complete look,
	 * without a lock. */
	void report_mixed();
	/* The configuration has changed. */
	void report_mixed_again() { told_.partitions = false; }

      private:
	void begin_look();
	void go_on();
	/* The caller holds the read lock. False: the table has changed. */
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
		std::uint64_t seen_in = 0;          /* the last look that saw the node */
		std::int64_t stray_reported_at = 0; /* 0: never */
		bool stays_down = false;
	};
	/* Lookup by Slurm's own string, without a copy of the name for each look. */
	struct Hash {
		using is_transparent = void;
		std::size_t operator()(std::string_view name) const
		{
			return std::hash<std::string_view>{}(name);
		}
	};
	std::unordered_map<std::string, Known, Hash, std::equal_to<>> known_;
	Known &known(std::string_view name);
	void note_work(const kube_node_glance &glance, Known &known);
	std::uint32_t table_size_ = 0;
	bool complete_ = false, looking_ = false, has_looked_ = false, wants_kick_ = false;
	/* complete looks before complete_ became true */
	unsigned first_looks_ = 0;
	SlowLook when_{100 * k_ms, 5000 * k_ms};
	bool remembers_, forgets_, out_changed_ = false;
	OutOfServiceNodes out_of_service_;
	struct Look { /* the look in progress */
		std::int64_t worked_before = 0;
		std::uint64_t generation = 0;
		std::uint32_t index = 0;
		std::uint64_t number = 0; /* number of looks so far */
		std::uint64_t held = 0, hybrids = 0;
	} look_;
	struct Counts { /* at the last complete look */
		std::uint64_t held = 0, hybrids = 0;
	} counts_;
	struct Found { /* what the look has found, to be handled without its lock */
		std::vector<std::string> care, gres, strays, kept_down, misfits, both;
	} found_;
	struct Told { /* what was logged */
		std::set<std::string> misfits;
		bool partitions = false;
	} told_;
	struct Devices {
		/* nodes that need no further attempt in this generation of the table */
		std::set<std::string> done;
		std::uint64_t generation = 0;
		std::string trouble; /* the trouble that was logged last */
		GresConf conf;
	} devices_;
};

} // namespace slurmkube::plugin

#endif
