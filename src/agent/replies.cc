/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/replies.h"
#include "src/agent/translate_names.h"

#include "src/agent/app.h"
#include "src/agent/checks.h"
#include "src/agent/health.h"
#include "src/agent/replies_parts.h"
#include "src/codec/json.h"
#include "src/codec/link.h"
#include "src/core/model/host_list.h"
#include "src/core/policy/slinky_node.h"
#include "src/core/reconcile/topology_lines.h"

namespace slurmkube::agent
{

namespace
{

using codec::append;
using codec::get_string;
using codec::Json;
using codec::new_array;
using codec::new_object;
using codec::put;

constexpr std::int64_t k_plugin_connects_s = 10; /* if slurmctld runs */

/* Refuses to write a list that may be incomplete: slurmctld would lose the missing nodes and end
 * the jobs of the pods that run there. */
std::string why_no_slurm_conf(const App &app, const std::string &api_trouble)
{
	std::string why = why_nodes_are_unknown(app, api_trouble);
	if (!why.empty() || app.world().state().is_known())
		return why;
	if (!app.world().state().sync.has_link())
		return "the plugin in slurmctld is not connected, and some of each line comes from "
		       "it";
	return first_trouble(readiness(app));
}

/* After a start the plugin connects, and the agent reads the uid of its cluster and the Lease:
 * nothing is wrong yet, and it takes about a second. */
bool is_starting(const App &app, const std::string &api_trouble)
{
	const core::State &state = app.world().state();
	const bool has_trouble = !api_trouble.empty() || !watch_trouble(app).empty() ||
		!app.cluster_unknown().empty() || !state.lease.trouble.empty();
	return !has_trouble && !state.is_known() &&
		(state.sync.has_link() || app.uptime_seconds() < k_plugin_connects_s) &&
		!state.holds_other_cluster() && !core::stands_aside(state.lease);
}

/* Nodes whose deletion the API server has not confirmed must stay in Slurm: their pods are still
 * running, and would be ended with their jobs. */
std::string lost_nodes(const core::World &world)
{
	std::string names;
	for (const auto &[name, node] : world.state().slurm_nodes)
		if (node.base != core::NodeBase::down && !world.state().kube_nodes.contains(name) &&
			!world.nodes().absent().is_confirmed(name, now().mono_us))
			names += (names.empty() ? "" : ", ") + world.names().in_slurm(name);
	return names;
}

std::string no_list(const std::string &why, bool is_passing)
{
	const std::string sentence =
		"the managed nodes are not known for certain, so there is no list: " + why +
		"; 'skube check' says more";
	return is_passing ? ctl::again_reply(sentence) : ctl::error_reply(sentence);
}

/* "apply" in the reply is the command that makes slurmctld read the lines. */
std::string slurm_conf(const App &app, const std::string &api_trouble)
{
	const core::World &world = app.world();
	if (const std::string why = why_no_slurm_conf(app, api_trouble); !why.empty())
		return no_list(why, is_starting(app, api_trouble));
	if (const std::string lost = lost_nodes(world); !lost.empty())
		return ctl::error_reply(
			"Slurm has nodes that lack the label of managed nodes, or that Kubernetes "
			"does not have yet, and a list without them would end "
			"what runs there: " +
			lost.substr(0, 200) + "; label them again, or set them DOWN first");
	Json lines = new_array();
	for (const auto &[name, node] : world.state().kube_nodes) {
		const core::SlurmNode *record = world.state().slurm_node(name);
		if (record && record->is_hybrid)
			continue; /* the site has its line */
		const core::NodeDevices devices =
			world.state().devices.on_node(name, world.state().settings.devices,
				world.state().slurm_node(name), now().mono_us);
		if (!devices.trouble.empty())
			append(lines.get(),
				"# GRES of the next line as before: " + devices.trouble);
		const auto line = core::node_line(
			for_slurm(core::node_spec(world.as_left(node), world.state().settings.nodes,
					  world.state().sync.plugin(), devices),
				app.world().names()),
			"UNKNOWN");
		append(lines.get(), line ? *line : "# left out: " + line.error().what);
	}
	Json reply = ok_reply();
	put(reply.get(), "lines", std::move(lines));
	put(reply.get(), "apply", how_slurmctld_rereads(world.state().sync.plugin()));
	return codec::to_text(reply.get());
}

/* labels: keys, outermost first, separated by commas; empty: region and zone. */
std::string topology_conf(const App &app, const std::string &labels, const std::string &api_trouble)
{
	if (const std::string why = why_no_slurm_conf(app, api_trouble); !why.empty())
		return no_list(why, is_starting(app, api_trouble));
	std::vector<core::PlacedNode> nodes;
	for (const auto &[name, node] : app.world().state().kube_nodes)
		nodes.push_back({app.world().names().in_slurm(name),
			core::slinky_topology(node.annotations), node.labels});
	const std::vector<std::string> keys = labels.empty()
		? std::vector<std::string>{names::k_region_label, names::k_zone_label}
		: core::split_hosts(labels);
	const auto found = core::topology_lines(nodes, keys, app.config().cluster);
	if (!found)
		return no_list(found.error().what, false);
	Json lines = new_array();
	for (const std::string &line : *found)
		append(lines.get(), line);
	Json reply = ok_reply();
	put(reply.get(), "lines", std::move(lines));
	return codec::to_text(reply.get());
}

std::string check(const App &app, const Findings &findings)
{
	Json rows = new_array();
	for (const Check &found : checks_of(app, findings)) {
		Json row = new_object();
		put(row.get(), "name", found.name);
		put(row.get(), "ok", found.ok);
		put(row.get(), "text", found.text);
		put(row.get(), "remedy", found.remedy);
		append(rows.get(), std::move(row));
	}
	Json reply = ok_reply();
	put(reply.get(), "checks", std::move(rows));
	return codec::to_text(reply.get());
}

struct Question {
	App &app;
	json_object *request;
	const ctl::Peer &peer;
	const ctl::Reply &reply;
	const ctl::Take &take;
};

template <core::ListKind kind> void answer_list(const Question &asked)
{
	asked.reply(list_reply(asked.app, kind, asked.request, asked.peer));
}

struct Verb {
	const char *name;
	/* it tells of all users, or makes the agent ask slurmctld and the API server */
	bool is_for_operators;
	void (*answer)(const Question &asked);
};

constexpr Verb k_verbs[] = {
	{"ping", false,
		[](const Question &asked) { asked.reply(codec::to_text(ping(asked.app).get())); }},
	{"top", false,
		[](const Question &asked) {
			asked.reply(codec::to_text(top(asked.app, asked.peer).get()));
		}},
	{"jobs", false, answer_list<core::ListKind::jobs>},
	{"pods", false, answer_list<core::ListKind::pods>},
	{"nodes", false, answer_list<core::ListKind::nodes>},
	{"devices", false,
		[](const Question &asked) { asked.reply(devices_reply(asked.app, asked.peer)); }},
	{"why", false,
		[](const Question &asked) {
			asked.reply(why_reply(asked.app, asked.request, asked.peer));
		}},
	{"watch", false,
		[](const Question &asked) {
			watch_reply(asked.app, asked.request, asked.peer, asked.reply, asked.take);
		}},
	{"diag", true,
		[](const Question &asked) { asked.reply(codec::to_text(diag(asked.app).get())); }},
	{"check", true,
		[](const Question &asked) {
			asked.app.look(
				[&app = asked.app, reply = asked.reply](
					const Findings &findings) { reply(check(app, findings)); });
		}},
	{"slurm_conf", true,
		[](const Question &asked) {
			asked.app.ask_for_nodes([&app = asked.app, reply = asked.reply](
							const std::string &trouble) {
				reply(slurm_conf(app, trouble));
			});
		}},
	{"topology_conf", true,
		[](const Question &asked) {
			asked.app.ask_for_nodes(
				[&app = asked.app, reply = asked.reply,
					labels = get_string(asked.request, "labels")](
					const std::string &trouble) {
					reply(topology_conf(app, labels, trouble));
				});
		}},
};

std::string why_not_for_users(const std::string &verb)
{
	return ctl::error_reply("'" + verb +
		"' is answered only to root, to the user of slurmkubed, and to members of the "
		"group of its control socket");
}

} // namespace

Json ping(const App &app)
{
	const core::Sync &sync = app.world().state().sync;
	const core::PluginHello plugin = sync.has_link() ? sync.plugin() : core::PluginHello{};
	Json reply = ok_reply();
	put(reply.get(), "version", SLURMKUBE_VERSION);
	put(reply.get(), "ready", app.world().state().is_known());
	put(reply.get(), "link", sync.has_link());
	put(reply.get(), "controller", plugin.host);
	put(reply.get(), "plugin_version", plugin.plugin_version);
	put(reply.get(), "slurm_version", plugin.slurm_version);
	put(reply.get(), "uptime_seconds", app.uptime_seconds());
	return reply;
}

void reply_to(App &app, json_object *request, const ctl::Peer &peer, const ctl::Reply &reply,
	const ctl::Take &take)
{
	const std::string wanted = get_string(request, "verb");
	for (const Verb &verb : k_verbs) {
		if (wanted != verb.name)
			continue;
		if (verb.is_for_operators && !peer.is_operator)
			return reply(why_not_for_users(wanted));
		return verb.answer({app, request, peer, reply, take});
	}
	reply(ctl::error_reply("unknown verb '" + wanted.substr(0, 64) +
		"': skube and slurmkubed are of different releases"));
}

} // namespace slurmkube::agent
