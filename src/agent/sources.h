/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sources.h - the watches: one table of the kinds of Kubernetes objects, and the code that uses it.
 *
 * An object that cannot be decoded is logged and left out, so that one broken pod does not stop the
 * others.
 */
#ifndef SLURMKUBE_AGENT_SOURCES_H
#define SLURMKUBE_AGENT_SOURCES_H

#include "src/agent/config.h"
#include "src/agent/kube/watch_group.h"
#include "src/agent/user_search.h"
#include "src/core/world/world.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::agent
{

enum class Kind {
	pods,
	foreign_pods,
	nodes,
	namespaces,
	claims,
	volumes,
	classes,
	slices,
	device_classes,
	taint_rules,
	resource_claims
};

/* Volume claims, volumes and storage classes are watched only when a pod of ours has claims. Most
 * clusters have many claims that no pod of ours mounts, and in many clusters no pod of ours has
 * one. Devices are watched only when there are rules for them: nodes need their GRES before the
 * first pod asks for one. Claims for them are watched from the first pod of ours that has one. */
enum class Wanted { always, for_claims, for_devices, for_resource_claims };

struct KindRow {
	/* Decodes an object and reports it to World. Error: the object cannot be decoded. */
	using Tell = std::function<Status(core::World &, json_object *, core::Now)>;

	Kind kind;
	const char *name;       /* of one object, for the log */
	const char *list_text;  /* for the log */
	const char *check_name; /* name of its line in `skube check`; nullptr: no such line */
	Wanted wanted = Wanted::always;
	bool is_listed_again = false; /* when World asks for new lists */
	bool names_users = false;     /* its annotations name users to look up */
	/* one for each selector */
	std::vector<kube::WatchOptions> (*options)(const Config &config);
	Tell seen, gone;
	void (*listed)(core::World &world, const std::set<std::string> &live_uids, core::Now now);
};

/* Indexed by Kind; watches start in this order. */
const std::vector<KindRow> &kind_rows();
const KindRow &row_of(Kind kind);

/* The watch of one kind: reports objects to World and calls on_change to ask for a round. */
class Source final : public kube::WatchSink
{
      public:
	struct Context {
		core::World &world;
		UserSearch &users;
		std::function<void()> on_change;
	};
	Source(const KindRow &row, const Context &context) : row_(row), context_(context) {}

	/* Starts the watch. If it is running, a new watch replaces it, beginning with a new
	 * list. */
	void start(kube::Client &client, const Config &config);
	[[nodiscard]] const KindRow &row() const { return row_; }
	/* nullptr: not started */
	[[nodiscard]] kube::WatchGroup *watch() const { return watch_.get(); }

	void upserted(json_object *object) override;
	void deleted(json_object *last_state) override;
	void listed(const std::set<std::string> &live_uids) override;

      private:
	const KindRow &row_;
	const Context &context_;
	bool is_listed_ = false;
	std::unique_ptr<kube::WatchGroup> watch_;
};

/* The watches of all kinds. */
class Sources
{
      public:
	/* loop, client, world and config must outlive the object. */
	Sources(Loop &loop, kube::Client &client, core::World &world, const Config &config,
		const std::function<void()> &on_change);
	Sources(const Sources &) = delete;
	Sources &operator=(const Sources &) = delete;
	~Sources() = default;

	/* Starts the watches that World needs and that are not running, and reports to World if the
	 * watches for volume claims or devices fail. */
	void start_wanted();
	void start_again(Kind kind) { sources_.at(kind).start(client_, config_); }
	void list_again();
	void look_for_users() { user_search_.look_again(); }
	[[nodiscard]] const kube::WatchGroup *watch(Kind kind) const
	{
		return sources_.at(kind).watch();
	}

      private:
	[[nodiscard]] bool is_wanted(Wanted which) const;
	[[nodiscard]] std::string trouble_of(Wanted which) const;

	kube::Client &client_;
	core::World &world_;
	const Config &config_;
	UserSearch user_search_;
	Source::Context context_;
	std::map<Kind, Source> sources_;
};

} // namespace slurmkube::agent

#endif
