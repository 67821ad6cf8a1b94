/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sync.h - how much of both sides has been told, by lists of the API server and over the link to
 * the plugin. Nothing is decided before all of it is known.
 *
 * An agent that takes over may have a watch that is behind: pods that the agent before it has just
 * bound look unbound, and their nodes empty. A list that is begun after that is read from etcd, so
 * it has all that was written before; until it is complete nothing is done.
 */
#ifndef SLURMKUBE_CORE_WORLD_SYNC_H
#define SLURMKUBE_CORE_WORLD_SYNC_H

#include "src/core/model/now.h"
#include "src/core/model/plugin.h"

#include <utility>

namespace slurmkube::core
{

class Sync
{
      public:
	enum class List { pods, nodes, foreign, namespaces };

	/* needs_foreign: nothing is decided before pods of other schedulers have been listed. */
	explicit Sync(bool needs_foreign) : needs_foreign_(needs_foreign) {}

	/* ---- lists ---- */
	void listed(List which)
	{
		state(which).is_complete = true;
		state(which).is_fresh = !wants_lists_;
	}
	/* It has to be told again. */
	void unlisted(List which) { state(which).is_complete = false; }
	[[nodiscard]] bool is_listed(List which) const
	{
		return lists_[static_cast<std::size_t>(which)].is_complete;
	}
	/* All that decisions need. */
	[[nodiscard]] bool is_listed() const { return is_all(&State::is_complete); }
	/* The same, since the takeover. */
	[[nodiscard]] bool is_fresh() const { return is_all(&State::is_fresh); }
	/* Pods and nodes are to be listed anew before anything is done. */
	void doubt_lists()
	{
		wants_lists_ = true;
		for (const List which : {List::pods, List::nodes, List::foreign})
			state(which).is_fresh = false;
	}
	/* Says so once. */
	bool take_list_request() { return std::exchange(wants_lists_, false); }

	/* ---- the link ---- */
	void opened(PluginHello hello)
	{
		plugin_ = std::move(hello);
		is_synced_ = false;
	}
	void lost() { is_synced_ = false; }
	/* The snapshot is complete. */
	void synced(Now now)
	{
		is_synced_ = true;
		synced_us_ = now.mono_us;
	}
	[[nodiscard]] bool has_link() const { return is_synced_; }
	[[nodiscard]] const PluginHello &plugin() const { return plugin_; }
	/* When the last snapshot was complete; monotonic microseconds, as all below. */
	[[nodiscard]] std::int64_t synced_us() const { return synced_us_; }

	/* Something is to be decided now. */
	void wanted(Now now)
	{
		unlinked_since_us_ = is_synced_   ? 0
			: unlinked_since_us_ == 0 ? now.mono_us
						  : unlinked_since_us_;
	}
	/* When that was first so without a link; 0: there is one. */
	[[nodiscard]] std::int64_t unlinked_since_us() const { return unlinked_since_us_; }

      private:
	struct State {
		bool is_complete = false, is_fresh = true;
	};
	State &state(List which) { return lists_[static_cast<std::size_t>(which)]; }
	[[nodiscard]] bool is_all(bool State::*is_so) const
	{
		return lists_[0].*is_so && lists_[1].*is_so &&
			(!needs_foreign_ || lists_[2].*is_so);
	}

	bool needs_foreign_;
	State lists_[4];
	bool wants_lists_ = false, is_synced_ = false;
	PluginHello plugin_;
	std::int64_t synced_us_ = 0, unlinked_since_us_ = 0;
};

} // namespace slurmkube::core

#endif
