/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sources.h - what the watches bring, decoded and told to World.
 *
 * An object that does not decode is logged and left out: one broken pod must not stop the others.
 */
#ifndef SLURMKUBE_AGENT_SOURCES_H
#define SLURMKUBE_AGENT_SOURCES_H

#include "src/agent/kube/watch.h"
#include "src/core/world/world.h"

#include <functional>

namespace slurmkube::agent
{

/* What is seen goes to World, and on_change asks for a round. */
class WorldSource : public kube::WatchSink
{
      public:
	WorldSource(core::World &world, std::function<void()> on_change) : world_(world), on_change_(std::move(on_change)) {}

      protected:
	core::World &world_;
	std::function<void()> on_change_;
};

class PodSource : public WorldSource
{
      public:
	using WorldSource::WorldSource;
	void upserted(json_object *object) override;
	void deleted(json_object *last_state) override;
	void listed(const std::set<std::string> &live_uids) override;
};

/* Bound pods of other schedulers. */
class ForeignSource : public WorldSource
{
      public:
	using WorldSource::WorldSource;
	void upserted(json_object *object) override;
	void deleted(json_object *last_state) override;
	void listed(const std::set<std::string> &live_uids) override;
};

class NodeSource : public WorldSource
{
      public:
	using WorldSource::WorldSource;
	void upserted(json_object *object) override;
	void deleted(json_object *last_state) override;
	void listed(const std::set<std::string> &live_uids) override;
};

class ClaimSource : public WorldSource
{
      public:
	using WorldSource::WorldSource;
	void upserted(json_object *object) override;
	void deleted(json_object *last_state) override;
	void listed(const std::set<std::string> &live_uids) override;
};

class VolumeSource : public WorldSource
{
      public:
	using WorldSource::WorldSource;
	void upserted(json_object *object) override;
	void deleted(json_object *last_state) override;
	void listed(const std::set<std::string> &live_uids) override;
};

class ClassSource : public WorldSource
{
      public:
	using WorldSource::WorldSource;
	void upserted(json_object *object) override;
	void deleted(json_object *last_state) override;
	void listed(const std::set<std::string> &live_uids) override;
};

} // namespace slurmkube::agent

#endif
