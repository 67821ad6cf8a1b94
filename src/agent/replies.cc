/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/replies.h"

#include "src/agent/app.h"
#include "src/agent/checks.h"
#include "src/agent/replies_parts.h"
#include "src/codec/json.h"
#include "src/codec/link.h"
#include "src/core/inspect/why.h"

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

Json ping(const App &app)
{
	Json reply = ok_reply();
	put(reply.get(), "version", SLURMKUBE_VERSION);
	put(reply.get(), "ready", app.world().state().is_known());
	put(reply.get(), "link", app.world().state().sync.has_link());
	put(reply.get(), "controller",
		app.world().state().sync.has_link() ? app.world().state().sync.plugin().host
						    : std::string());
	put(reply.get(), "uptime_seconds", app.uptime_seconds());
	return reply;
}

/* Refuses to write a list that may be incomplete: slurmctld would lose the missing nodes and end
 * the jobs of the pods that run there. */
std::string why_no_slurm_conf(const App &app, const std::string &api_trouble)
{
	std::string why = why_nodes_are_unknown(app, api_trouble);
	if (why.empty() && app.world().state().sync.has_link() && !app.world().state().is_known())
		why = "the agent is not sure of its Kubernetes cluster (skube check)";
	if (why.empty() && !app.world().state().is_known())
		why = "the plugin in slurmctld is not connected, and some of each line comes from "
		      "it";
	return why;
}

/* Nodes whose deletion the API server has not confirmed must stay in Slurm: their pods are still
 * running, and would be ended with their jobs. */
std::string lost_nodes(const core::World &world)
{
	std::string names;
	for (const auto &[name, node] : world.state().slurm_nodes)
		if (node.base != core::NodeBase::down && !world.state().kube_nodes.contains(name) &&
			!world.nodes().absent().is_confirmed(name, now().mono_us))
			names += (names.empty() ? "" : ", ") + name;
	return names;
}

/* "apply" in the reply is the command that makes slurmctld read the lines. */
std::string slurm_conf(const App &app, const std::string &api_trouble)
{
	const core::World &world = app.world();
	if (const std::string why = why_no_slurm_conf(app, api_trouble); !why.empty())
		return ctl::error_reply(
			"the managed nodes are not known for certain, so there is no list: " + why +
			"; 'skube check' says more");
	if (const std::string lost = lost_nodes(world); !lost.empty())
		return ctl::error_reply(
			"Slurm has nodes that lack the label of managed nodes, or that Kubernetes "
			"does not have yet, and a list without them would end "
			"what runs there: " +
			lost.substr(0, 200) + "; label them again, or set them DOWN first");
	Json lines = new_array();
	for (const auto &[name, node] : world.state().kube_nodes) {
		const auto line = core::node_line(
			core::node_spec(world.as_left(node), world.state().settings.nodes,
				world.state().sync.plugin()),
			"UNKNOWN");
		append(lines.get(), line ? *line : "# left out: " + line.error().what);
	}
	Json reply = ok_reply();
	put(reply.get(), "lines", std::move(lines));
	put(reply.get(), "apply", how_slurmctld_rereads(world.state().sync.plugin()));
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

/* The request's "pod" is "namespace/name", or a name in the namespace default. */
std::string why_reply(const App &app, json_object *request)
{
	const std::string pod = get_string(request, "pod");
	const std::size_t slash = pod.find('/');
	const std::string name_space =
				  slash == std::string::npos ? "default" : pod.substr(0, slash),
			  name = slash == std::string::npos ? pod : pod.substr(slash + 1);
	const auto lines = core::why(app.world(), name_space, name, now());
	if (lines.empty())
		return ctl::error_reply("no pod " + name_space + "/" + name.substr(0, 256) +
			" with schedulerName " + app.config().scheduler_name +
			" has been seen: kubectl get pod says whether there is one");
	Json rows = new_array();
	for (const core::WhyLine &line : lines) {
		Json row = new_object();
		put(row.get(), "about", line.about);
		put(row.get(), "text", line.text);
		append(rows.get(), std::move(row));
	}
	Json reply = ok_reply();
	put(reply.get(), "lines", std::move(rows));
	return codec::to_text(reply.get());
}

struct Verb {
	const char *name;
	Json (*reply)(const App &app);
};

constexpr Verb k_verbs[] = {{"ping", ping}, {"diag", diag}};

} // namespace

void reply_to(App &app, json_object *request, const ctl::Reply &reply)
{
	const std::string wanted = get_string(request, "verb");
	for (const Verb &verb : k_verbs) {
		if (wanted == verb.name)
			return reply(codec::to_text(verb.reply(app).get()));
	}
	if (wanted == "jobs")
		return reply(list_reply(app, core::ListKind::jobs, request));
	if (wanted == "pods")
		return reply(list_reply(app, core::ListKind::pods, request));
	if (wanted == "nodes")
		return reply(list_reply(app, core::ListKind::nodes, request));
	if (wanted == "why")
		return reply(why_reply(app, request));
	if (wanted == "check")
		return app.look(
			[&app, reply](const Findings &findings) { reply(check(app, findings)); });
	if (wanted == "slurm_conf")
		return app.ask_for_nodes([&app, reply](const std::string &trouble) {
			reply(slurm_conf(app, trouble));
		});
	reply(ctl::error_reply("unknown verb '" + wanted.substr(0, 64) +
		"': skube and slurmkubed are of different releases"));
}

} // namespace slurmkube::agent
