/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sync.h - how much of both sides has been reported, by lists of the API server and over the link
 * to the plugin. Nothing is decided before all of it is known.
 *
 * When an agent takes over, its watch may lag behind: pods that the previous agent has just bound
 * look unbound, and their nodes look empty. A list that is started after the takeover is read from
 * etcd, so it contains everything that was written before. Nothing is done until that list is
 * complete.
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

	/* needs_foreign: nothing is decided before the pods of other schedulers have been
	 * listed. */
	explicit Sync(bool needs_foreign) : needs_foreign_(needs_foreign) {}

	/* ---- lists ---- */
	void listed(List which)
	{
		state(which).is_complete = true;
		state(which).is_fresh = !wants_lists_;
	}
	/* The list has to be reported again. */
	void unlisted(List which) { state(which).is_complete = false; }
	[[nodiscard]] bool is_listed(List which) const
	{
		return lists_[static_cast<std::size_t>(which)].is_complete;
	}
	/* All lists that decisions need are complete. */
	[[nodiscard]] bool is_listed() const { return is_all(&State::is_complete); }
	/* All of them have been listed again since the takeover. */
	[[nodiscard]] bool is_fresh() const { return is_all(&State::is_fresh); }
	/* Requests new lists of pods and nodes; nothing is done until they are complete. */
	void doubt_lists()
	{
		wants_lists_ = true;
		for (const List which : {List::pods, List::nodes, List::foreign})
			state(which).is_fresh = false;
	}
	/* Whether new lists have been requested; returns true once per request. */
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
	/* When the last snapshot was complete. Monotonic microseconds, as all times below. */
	[[nodiscard]] std::int64_t synced_us() const { return synced_us_; }

	/* Actions were requested from World at this time. */
	void wanted(Now now)
	{
		unlinked_since_us_ = is_synced_   ? 0
			: unlinked_since_us_ == 0 ? now.mono_us
						  : unlinked_since_us_;
	}
	/* When actions were first requested since the link was lost; 0: there is a link. */
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
