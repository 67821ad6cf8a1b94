/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watched_world.h - the pods, jobs and nodes of World as objects to watch.
 */
#ifndef SLURMKUBE_AGENT_WATCH_WATCHED_WORLD_H
#define SLURMKUBE_AGENT_WATCH_WATCHED_WORLD_H

#include "src/agent/watch/objects.h"
#include "src/core/world/world.h"

namespace slurmkube::watch
{

class WatchedWorld final : public Source
{
      public:
	/* world must outlive the object. */
	explicit WatchedWorld(core::World &world) : world_(world) {}

	std::optional<Sight> look(const ObjectId &id) override;
	[[nodiscard]] std::optional<ObjectId> after(const ObjectId &id) const override;
	void keep_changes(bool is_kept) override { world_.changes().keep(is_kept); }
	[[nodiscard]] bool has_changes() override { return world_.changes().is_any(); }
	Changed take_changes() override;
	[[nodiscard]] bool is_ready() const override { return world_.state().is_known(); }

      private:
	[[nodiscard]] std::optional<Sight> look_at_job(core::JobId id) const;
	[[nodiscard]] std::optional<Sight> look_at_pod(const core::PodUid &uid) const;
	[[nodiscard]] std::optional<Sight> look_at_node(const std::string &name) const;
	void add_key(const core::PodUid &key, std::set<ObjectId> &objects) const;

	core::World &world_;
};

} // namespace slurmkube::watch

#endif
