/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_group.h - one watch over objects that several selectors choose.
 *
 * Field selectors of Kubernetes have no "or" (docs: "Field Selectors", chained selectors), so each
 * selector needs a list and a watch of its own. The sink sees one watch: its listed() comes when
 * each of them has listed, and has the uids of all. An object must match one selector as long as it
 * lives, as with spec.schedulerName, which no pod can change. On the loop's thread.
 */
#ifndef SLURMKUBE_AGENT_KUBE_WATCH_GROUP_H
#define SLURMKUBE_AGENT_KUBE_WATCH_GROUP_H

#include "src/agent/kube/watch.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::kube
{

class WatchGroup
{
      public:
	/* One watch for each of options, at least one. client and sink must outlive the object. */
	WatchGroup(Client &client, const std::vector<WatchOptions> &options, WatchSink &sink);
	WatchGroup(const WatchGroup &) = delete;
	WatchGroup &operator=(const WatchGroup &) = delete;
	~WatchGroup() = default;

	/* The next listed() is for lists that all begin after this call. */
	void list_again();
	/* Whether all lists have been delivered; stays true. */
	[[nodiscard]] bool synced() const;
	[[nodiscard]] bool healthy() const { return trouble().empty(); }
	/* The last failure of the first watch that has one */
	[[nodiscard]] const std::string &trouble() const;
	/* The sums of all watches */
	[[nodiscard]] WatchCounters counters() const;

      private:
	/* One selector. If there are others, it keeps the uids of its objects, from its last list
	 * and the events since. */
	class Part final : public WatchSink
	{
	      public:
		Part(WatchGroup &group, Client &client, const WatchOptions &options)
		    : group_(group), watch_(client, options, *this)
		{
		}
		void upserted(json_object *object) override;
		void deleted(json_object *last_state) override;
		void listed(const std::set<std::string> &live_uids) override;
		void list_again();
		[[nodiscard]] bool is_listed() const { return is_listed_; }
		[[nodiscard]] const std::set<std::string> &live() const { return live_; }
		[[nodiscard]] const Watch &watch() const { return watch_; }

	      private:
		WatchGroup &group_;
		std::set<std::string> live_;
		bool is_listed_ = false;
		Watch watch_;
	};
	void part_listed(const std::set<std::string> &live_uids);
	[[nodiscard]] bool is_single() const { return parts_.size() == 1; }

	WatchSink &sink_;
	std::vector<std::unique_ptr<Part>> parts_;
};

} // namespace slurmkube::kube

#endif
