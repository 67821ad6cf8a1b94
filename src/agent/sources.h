/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sources.h - the kinds of Kubernetes that are watched: one table of them, and what goes by it.
 *
 * An object that does not decode is logged and left out: one broken pod must not stop the others.
 */
#ifndef SLURMKUBE_AGENT_SOURCES_H
#define SLURMKUBE_AGENT_SOURCES_H

#include "src/agent/config.h"
#include "src/agent/kube/watch.h"
#include "src/agent/user_search.h"
#include "src/core/world/world.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace slurmkube::agent
{

enum class Kind { pods, foreign_pods, nodes, namespaces, claims, volumes, classes };

/* Most clusters have many claims that no pod of ours ever mounts, and many have no such pod. */
enum class Wanted { always, for_claims };

struct KindRow {
	/* Reads an object and tells World; an error: it cannot be read. */
	using Tell = std::function<Status(core::World &, json_object *, core::Now)>;

	Kind kind;
	const char *name;       /* of one, for the log */
	const char *list_text;  /* for the log */
	const char *check_name; /* of its line of `skube check`; nullptr: it has none */
	Wanted wanted = Wanted::always;
	bool is_listed_again = false; /* when World asks for fresh lists */
	bool names_people = false;    /* whom to look up */
	kube::WatchOptions (*options)(const Config &config);
	Tell seen, gone;
	void (*listed)(core::World &world, const std::set<std::string> &live_uids, core::Now now);
};

const KindRow &row_of(Kind kind);

/* One kind, watched: what is seen goes to World, and on_change asks for a round. */
class Source final : public kube::WatchSink
{
      public:
	struct PodTopology {
		core::World &world;
		UserSearch &people;
		std::function<void()> on_change;
	};
	Source(const KindRow &row, const PodTopology &around) : row_(row), around_(around) {}

	/* Also again: from a new list on. */
	void start(kube::Client &client, const Config &config);
	[[nodiscard]] const KindRow &row() const { return row_; }
	/* nullptr: not yet wanted */
	[[nodiscard]] kube::Watch *watch() const { return watch_.get(); }

	void upserted(json_object *object) override;
	void deleted(json_object *last_state) override;
	void listed(const std::set<std::string> &live_uids) override;

      private:
	const KindRow &row_;
	const PodTopology &around_;
	bool is_listed_ = false;
	std::unique_ptr<kube::Watch> watch_;
};

/* All of them. */
class Sources
{
      public:
	/* The loop, client, world and config must outlive it. */
	Sources(Loop &loop, kube::Client &client, core::World &world, const Config &config,
		const std::function<void()> &on_change);
	Sources(const Sources &) = delete;
	Sources &operator=(const Sources &) = delete;
	~Sources() = default;

	/* Starts those that World wants by now, and tells it which of them cannot be read. */
	void start_wanted();
	void start_again(Kind kind) { sources_.at(kind).start(client_, config_); }
	void list_again();
	void look_for_users() { people_.look_again(); }
	[[nodiscard]] const kube::Watch *watch(Kind kind) const
	{
		return sources_.at(kind).watch();
	}

      private:
	[[nodiscard]] std::string trouble_of(Wanted which) const;

	kube::Client &client_;
	core::World &world_;
	const Config &config_;
	UserSearch people_;
	Source::PodTopology around_;
	std::map<Kind, Source> sources_;
};

} // namespace slurmkube::agent

#endif
