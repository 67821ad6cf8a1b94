/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * objects.h - what can be watched: pods, jobs and nodes, each by its name, in a fixed order.
 */
#ifndef SLURMKUBE_AGENT_WATCH_OBJECTS_H
#define SLURMKUBE_AGENT_WATCH_OBJECTS_H

#include "src/core/inspect/selection.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace slurmkube::watch
{

struct ObjectId {
	core::ListKind kind = core::ListKind::jobs;
	std::uint32_t number = 0; /* of a job */
	std::string name = {};    /* uid of a pod; name of a node */
	auto operator<=>(const ObjectId &) const = default;
};

/* An object as it is now. */
struct Sight {
	std::string row;      /* JSON on one line, as in the lists */
	std::string identity; /* JSON: what an event has of an object that is gone */
	core::Selectable facts;
	bool is_for_all = false; /* any user may see it; otherwise only facts.user */
};

class Objects
{
      public:
	Objects() = default;
	Objects(const Objects &) = delete;
	Objects &operator=(const Objects &) = delete;
	virtual ~Objects() = default;

	/* nullopt: there is no such object. What the sight points to is valid until the next
	 * change. */
	virtual std::optional<Sight> look(const ObjectId &id) = 0;
	/* The first object after this one; nullopt: there is none. */
	[[nodiscard]] virtual std::optional<ObjectId> after(const ObjectId &id) const = 0;
};

struct Changed {
	bool is_all = false; /* any object may have changed */
	std::set<ObjectId> objects;
};

/* Objects that tell which of them have changed. */
class Source : public Objects
{
      public:
	/* Changes are noted only from then on. */
	virtual void keep_changes(bool is_kept) = 0;
	[[nodiscard]] virtual bool has_changes() = 0;
	virtual Changed take_changes() = 0;
	/* The agent knows enough to act; otherwise the objects are as they were last seen. */
	[[nodiscard]] virtual bool is_ready() const = 0;
};

} // namespace slurmkube::watch

#endif
