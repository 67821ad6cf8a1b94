/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lists of `skube show`. The agent applies the client's selection, because the reply for
 * 100,000 pods takes 30 MiB and labels are not part of it. */
#include "src/agent/app.h"
#include "src/agent/replies_parts.h"
#include "src/codec/json.h"
#include "src/codec/link.h"
#include "src/core/model/outcome.h"

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
using core::Selectable;
using core::Selection;

Json job_row(const core::SlurmJob &job)
{
	Json row = new_object();
	put(row.get(), "id", job.id.number);
	put(row.get(), "namespace", job.marker.name_space);
	put(row.get(), "pod", job.marker.name);
	put(row.get(), "uid", job.marker.uid);
	put(row.get(), "attempt", job.marker.attempt);
	put(row.get(), "state", codec::to_name(job.state));
	put(row.get(), "reason", job.reason);
	put(row.get(), "node", job.nodes.empty() ? std::string() : job.nodes.front().node);
	put(row.get(), "user_id", job.user_id);
	put(row.get(), "partition", job.partition);
	put(row.get(), "submit_time", job.submit_time);
	put(row.get(), "start_time", job.start_time);
	put(row.get(), "end_time", job.end_time);
	put(row.get(), "exit_status", job.exit_status);
	put(row.get(), "kind", job.marker.kind);
	put(row.get(), "account", job.account);
	put(row.get(), "priority", job.priority);
	put(row.get(), "node_count", static_cast<std::int64_t>(job.nodes.size()));
	return row;
}

namespace
{

constexpr std::size_t k_labels_of_users_max = 512;

Selectable selectable(const core::SlurmJob &job)
{
	Selectable row{.name_space = job.marker.name_space,
		.states = {core::slurm_state_name(job.state)},
		.user = job.user_id};
	if (job.completing)
		row.states.emplace_back("COMPLETING");
	for (const core::NodeAllocation &one : job.nodes)
		row.nodes.push_back(one.node);
	return row;
}

Json jobs(const App &app, const Selection &selection, const ctl::Peer &peer)
{
	Json rows = new_array();
	for (const auto &[id, job] : app.world().state().jobs)
		if (peer.may_see(job.user_id) && core::selects(selection, selectable(job)))
			append(rows.get(), job_row(job));
	return rows;
}

const char *phase_text(core::PodPhase phase)
{
	switch (phase) {
	case core::PodPhase::pending:
		return "Pending";
	case core::PodPhase::running:
		return "Running";
	case core::PodPhase::succeeded:
		return "Succeeded";
	case core::PodPhase::failed:
		return "Failed";
	case core::PodPhase::unknown:
		break;
	}
	return "Unknown";
}

/* The user of a pod without a job is the one that the identity rules give its namespace. */
class PodUsers
{
      public:
	explicit PodUsers(const core::World &world) : policy_(world.state().settings.policy) {}
	/* -1: not known, or no rule matches */
	std::int64_t of(const core::Pod &pod, const core::SlurmJob *job)
	{
		if (job)
			return job->user_id;
		const auto known = by_namespace_.find(pod.name_space);
		if (known != by_namespace_.end())
			return known->second;
		const auto rule = policy_.rule_of(pod.name_space);
		return by_namespace_[pod.name_space] = rule ? std::int64_t{rule->user_id} : -1;
	}

      private:
	const core::Policy &policy_;
	std::map<std::string, std::int64_t> by_namespace_;
};

std::string node_of(const core::PodEntry &entry)
{
	return entry.pod->node_name.empty() ? entry.assumed_node : entry.pod->node_name;
}

Json pod_row(const core::PodEntry &entry, const core::SlurmJob *job, std::int64_t user)
{
	const core::Pod &pod = *entry.pod;
	const bool waits = node_of(entry).empty() && !core::is_terminal(pod);
	Json row = new_object();
	put(row.get(), "namespace", pod.name_space);
	put(row.get(), "name", pod.name);
	put(row.get(), "uid", pod.uid.text);
	put(row.get(), "phase", phase_text(pod.phase));
	put(row.get(), "node", node_of(entry));
	put(row.get(), "job", job ? job->id.number : 0);
	put(row.get(), "job_state", job ? codec::to_name(job->state) : "none");
	put(row.get(), "waiting_for", waits ? entry.reported.message : std::string());
	put(row.get(), "created", pod.created);
	put(row.get(), "partition", job ? job->partition : std::string());
	if (user >= 0)
		put(row.get(), "user_id", user);
	return row;
}

Selectable selectable(const core::PodEntry &entry, const core::SlurmJob *job, std::int64_t user)
{
	const core::Pod &pod = *entry.pod;
	Selectable row{.name_space = pod.name_space,
		.labels = &pod.labels,
		.states = {core::upper(phase_text(pod.phase))},
		.user = user,
		.nodes = {node_of(entry)},
		.has_ended = core::is_terminal(pod)};
	if (job && !core::is_phase_name(core::slurm_state_name(job->state)))
		row.states.emplace_back(core::slurm_state_name(job->state));
	if (job && job->completing)
		row.states.emplace_back("COMPLETING");
	return row;
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

std::string slurm_state_text(const core::SlurmNode *node)
{
	if (!node)
		return "absent";
	std::string text = codec::to_name(node->base);
	for (const auto &[flag, name] : {std::pair(node->drain, "+drain"),
		     std::pair(node->not_responding, "+not_responding"),
		     std::pair(node->completing, "+completing")})
		text += flag ? name : "";
	return text;
}

const char *kube_state_text(const core::World &world, const core::KubeNode *kube)
{
	if (kube)
		return kube->ready ? "Ready" : "NotReady";
	return world.state().sync.is_listed() ? "absent" : "unknown";
}

Json node_row(const core::World &world, const std::string &name, const core::KubeNode *kube,
	const core::SlurmNode *slurm)
{
	Json row = new_object();
	put(row.get(), "name", name);
	put(row.get(), "kube_ready", kube && kube->ready);
	put(row.get(), "kube_state", kube_state_text(world, kube));
	put(row.get(), "cordoned", kube && kube->unschedulable);
	put(row.get(), "slurm_state", slurm_state_text(slurm));
	put(row.get(), "slurm_reason", slurm ? slurm->reason : std::string());
	put(row.get(), "cpus", slurm ? slurm->cpus : 0);
	put(row.get(), "memory_mib", slurm ? slurm->memory_mib : 0);
	put(row.get(), "pods", static_cast<std::int64_t>(world.state().occupancy.pods_on(name)));
	put(row.get(), "address", kube ? kube->internal_ip : std::string());
	put(row.get(), "features", slurm ? slurm->features : std::string());
	put(row.get(), "gres", slurm ? slurm->gres : std::string());
	return row;
}

Selectable selectable(const core::World &world, const std::string &name, const core::KubeNode *kube,
	const core::SlurmNode *slurm)
{
	Selectable row{.labels = kube ? &kube->labels : nullptr,
		.states = {core::upper(kube_state_text(world, kube)),
			slurm ? core::upper(codec::to_name(slurm->base)) : "ABSENT"},
		.nodes = {name}};
	for (const auto &[flag, word] : {std::pair(kube && kube->unschedulable, "CORDONED"),
		     std::pair(slurm && slurm->drain, "DRAIN"),
		     std::pair(slurm && slurm->not_responding, "NOT_RESPONDING"),
		     std::pair(slurm && slurm->completing, "COMPLETING")})
		if (flag)
			row.states.emplace_back(word);
	return row;
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

} // namespace

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
