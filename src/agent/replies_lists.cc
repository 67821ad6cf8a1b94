/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lists of `skube show`. The agent applies the client's selection, because the reply for
 * 100,000 pods takes 30 MiB and labels are not part of it. */
#include "src/agent/app.h"
#include "src/agent/replies_parts.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace slurmkube::agent
{

using codec::append;
using codec::get_string;
using codec::Json;
using codec::new_array;
using codec::new_object;
using codec::put;
using core::Selection;

namespace
{

constexpr std::size_t k_labels_of_users_max = 512;

Json jobs(const App &app, const Selection &selection, const ctl::Peer &peer)
{
	Json rows = new_array();
	for (const auto &[id, job] : app.world().state().jobs)
		if (peer.may_see(job.user_id) && core::selects(selection, selectable(job)))
			append(rows.get(), job_row(job));
	return rows;
}

Json pods(const App &app, const Selection &selection, const ctl::Peer &peer)
{
	PodUsers users(app.world());
	Json rows = new_array();
	for (const auto &[uid, entry] : app.world().state().pods) {
		if (!entry.pod)
			continue;
		const core::SlurmJob *job = app.world().state().job_of(uid);
		const std::int64_t user = users.of(*entry.pod, job);
		if (peer.may_see(user) && core::selects(selection, selectable(entry, job, user)))
			append(rows.get(), pod_row(entry, job, user));
	}
	return rows;
}

Json nodes(const App &app, const Selection &selection)
{
	const core::World &world = app.world();
	std::set<std::string> names;
	for (const auto &[name, node] : world.state().kube_nodes)
		names.insert(name);
	for (const auto &[name, node] : world.state().slurm_nodes)
		names.insert(name);
	Json rows = new_array();
	for (const std::string &name : names) {
		const core::KubeNode *kube = world.state().kube_node(name);
		const core::SlurmNode *slurm = world.state().slurm_node(name);
		if (core::selects(selection, selectable(world, name, kube, slurm)))
			append(rows.get(), node_row(world, name, kube, slurm));
	}
	return rows;
}

/* A criterion that is not understood must not be ignored: the client would take the reply for its
 * selection. */
std::string strange_criterion(json_object *select)
{
	constexpr std::array<std::string_view, 5> texts = {
		"namespaces", "labels", "states", "users", "nodes"};
	json_object_object_foreach(select, name, value)
	{
		const bool is_text =
			std::ranges::find(texts, std::string_view(name)) != texts.end();
		const bool is_flag = std::string_view(name) == "active";
		if ((!is_text && !is_flag) ||
			!json_object_is_type(value, is_text ? json_type_string : json_type_boolean))
			return name;
	}
	return {};
}

} // namespace

Result<Selection> selection_of(core::ListKind kind, json_object *request, const ctl::Peer &peer)
{
	json_object *select = codec::get(request, "select");
	if (!select)
		return Selection{};
	if (!json_object_is_type(select, json_type_object))
		return Error{Errc::invalid, "select is not an object"};
	if (const std::string name = strange_criterion(select); !name.empty())
		return Error{Errc::invalid,
			"unknown criterion '" + name.substr(0, 64) +
				"': skube and slurmkubed are of different releases"};
	/* each term costs a search in the labels of each pod or node */
	if (!peer.is_operator && get_string(select, "labels").size() > k_labels_of_users_max)
		return Error{Errc::invalid,
			"the label selector has more than " +
				std::to_string(k_labels_of_users_max) + " characters"};
	return core::parse_selection(kind,
		{.namespaces = get_string(select, "namespaces"),
			.labels = get_string(select, "labels"),
			.states = get_string(select, "states"),
			.users = get_string(select, "users"),
			.nodes = get_string(select, "nodes"),
			.active = codec::get_bool(select, "active")});
}

std::int64_t user_of(const core::World &world, const core::Pod &pod)
{
	return PodUsers(world).of(pod, world.state().job_of(pod.uid));
}

Json pod_data(const core::World &world, const core::PodEntry &entry)
{
	const core::SlurmJob *job = world.state().job_of(entry.pod->uid);
	return pod_row(entry, job, PodUsers(world).of(*entry.pod, job));
}

Json node_data(const core::World &world, const std::string &name)
{
	return node_row(world, name, world.state().kube_node(name), world.state().slurm_node(name));
}

std::string list_reply(
	const App &app, core::ListKind kind, json_object *request, const ctl::Peer &peer)
{
	const auto selection = selection_of(kind, request, peer);
	if (!selection)
		return ctl::error_reply(selection.error().what);
	Json reply = ok_reply();
	put(reply.get(), "selected", true);
	if (kind == core::ListKind::jobs)
		put(reply.get(), "jobs", jobs(app, *selection, peer));
	else if (kind == core::ListKind::pods)
		put(reply.get(), "pods", pods(app, *selection, peer));
	else
		put(reply.get(), "nodes", nodes(app, *selection));
	return codec::to_text(reply.get());
}

} // namespace slurmkube::agent
