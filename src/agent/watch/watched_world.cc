/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/watch/watched_world.h"

#include "src/agent/rows.h"
#include "src/base/text.h"

#include <algorithm>
#include <utility>

namespace slurmkube::watch
{

namespace
{

using codec::Json;
using codec::put;
using core::ListKind;

/* json-c escapes neither DEL nor C1, and takes what is not UTF-8. */
std::string line_of(const Json &object)
{
	return printable(codec::to_text(object.get()));
}

ObjectId job_id(core::JobId id)
{
	return {.kind = ListKind::jobs, .number = id.number, .name = {}};
}

ObjectId pod_id(const core::PodUid &uid)
{
	return {.kind = ListKind::pods, .number = 0, .name = uid.text};
}

ObjectId node_id(const std::string &name)
{
	return {.kind = ListKind::nodes, .number = 0, .name = name};
}

template <class Map, class Key, class Make>
std::optional<ObjectId> next_in(const Map &map, const Key &key, Make make)
{
	const auto found = map.upper_bound(key);
	return found == map.end() ? std::nullopt : std::optional(make(found->first));
}

std::optional<ObjectId> next_node(const core::State &state, const std::string &name)
{
	const auto kube = next_in(state.kube_nodes, name, node_id),
		   slurm = next_in(state.slurm_nodes, name, node_id);
	return kube && slurm ? std::min(kube, slurm) : kube ? kube : slurm;
}

} // namespace

std::optional<Sight> WatchedWorld::look(const ObjectId &id)
{
	switch (id.kind) {
	case ListKind::jobs:
		return look_at_job({id.number});
	case ListKind::pods:
		return look_at_pod({id.name});
	case ListKind::nodes:
		break;
	}
	return look_at_node(id.name);
}

std::optional<Sight> WatchedWorld::look_at_job(core::JobId id) const
{
	const core::SlurmJob *job = world_.state().job(id);
	if (!job)
		return std::nullopt;
	const Json identity = codec::new_object();
	/* not the pod: Slurm uses numbers again, for pods of other users as well */
	put(identity.get(), "id", id.number);
	return Sight{.row = line_of(agent::job_row(*job)),
		.identity = line_of(identity),
		.facts = agent::selectable(*job)};
}

std::optional<Sight> WatchedWorld::look_at_pod(const core::PodUid &uid) const
{
	const core::PodEntry *entry = world_.state().entry(uid);
	if (!entry || !entry->pod)
		return std::nullopt;
	const core::SlurmJob *job = world_.state().job_of(uid);
	const std::int64_t user = agent::PodUsers(world_).of(*entry->pod, job);
	const Json identity = codec::new_object();
	put(identity.get(), "namespace", entry->pod->name_space);
	put(identity.get(), "name", entry->pod->name);
	put(identity.get(), "uid", uid.text);
	return Sight{.row = line_of(agent::pod_row(*entry, job, user)),
		.identity = line_of(identity),
		.facts = agent::selectable(*entry, job, user)};
}

std::optional<Sight> WatchedWorld::look_at_node(const std::string &name) const
{
	const core::KubeNode *kube = world_.state().kube_node(name);
	const core::SlurmNode *slurm = world_.state().slurm_node(name);
	if (!kube && !slurm)
		return std::nullopt;
	const Json identity = codec::new_object();
	put(identity.get(), "name", name);
	return Sight{.row = line_of(agent::node_row(world_, name, kube, slurm)),
		.identity = line_of(identity),
		.facts = agent::selectable(world_, name, kube, slurm),
		.is_for_all = true};
}

/* In the order of ObjectId: jobs, pods, nodes. */
std::optional<ObjectId> WatchedWorld::after(const ObjectId &id) const
{
	const core::State &state = world_.state();
	std::optional<ObjectId> next;
	if (id.kind == ListKind::jobs)
		next = next_in(state.jobs, core::JobId{id.number}, job_id);
	if (!next && id.kind != ListKind::nodes)
		next = next_in(state.pods,
			core::PodUid{id.kind == ListKind::pods ? id.name : std::string()}, pod_id);
	if (!next)
		next = next_node(state, id.kind == ListKind::nodes ? id.name : std::string());
	return next;
}

/* The key of a pod, or of a component: its pods show the state of its job. */
void WatchedWorld::add_key(const core::PodUid &key, std::set<ObjectId> &objects) const
{
	const core::State &state = world_.state();
	objects.insert(pod_id(key));
	if (const auto gang = state.gangs.find(key); gang != state.gangs.end()) {
		for (const auto &[member, rank] : gang->second.members)
			objects.insert(pod_id(member));
	}
}

Changed WatchedWorld::take_changes()
{
	const core::Changes changes = world_.changes().take();
	Changed changed{.is_all = changes.is_all, .objects = {}};
	for (const core::PodUid &key : changes.keys)
		add_key(key, changed.objects);
	for (const core::JobId id : changes.jobs)
		changed.objects.insert(job_id(id));
	for (const std::string &name : changes.nodes)
		changed.objects.insert(node_id(name));
	return changed;
}

} // namespace slurmkube::watch
