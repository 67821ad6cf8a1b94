/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/replies.h"

#include "src/agent/app.h"
#include "src/agent/checks.h"
#include "src/codec/json.h"
#include "src/codec/link.h"
#include "src/core/outcome.h"
#include "src/core/why.h"

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

Json ok_reply()
{
	Json reply = new_object();
	put(reply.get(), "ok", true);
	return reply;
}

Json ping(const App &app)
{
	Json reply = ok_reply();
	put(reply.get(), "version", SLURMKUBE_VERSION);
	put(reply.get(), "ready", app.world().is_known());
	put(reply.get(), "link", app.world().has_link());
	put(reply.get(), "controller", app.world().has_link() ? app.world().plugin().host : std::string());
	put(reply.get(), "uptime_seconds", app.uptime_seconds());
	return reply;
}

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
	return row;
}

Json jobs(const App &app)
{
	Json rows = new_array();
	for (const auto &[id, job] : app.world().jobs())
		append(rows.get(), job_row(job));
	Json reply = ok_reply();
	put(reply.get(), "jobs", std::move(rows));
	return reply;
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

Json pod_row(const core::World &world, const core::Group &group)
{
	const core::Pod &pod = *group.pod;
	const core::SlurmJob *job = world.job_of(group);
	const bool waits = pod.node_name.empty() && group.assumed_node.empty() && !core::is_terminal(pod);
	Json row = new_object();
	put(row.get(), "namespace", pod.name_space);
	put(row.get(), "name", pod.name);
	put(row.get(), "uid", pod.uid.text);
	put(row.get(), "phase", phase_text(pod.phase));
	put(row.get(), "node", pod.node_name.empty() ? group.assumed_node : pod.node_name);
	put(row.get(), "job", job ? job->id.number : 0);
	put(row.get(), "job_state", job ? codec::to_name(job->state) : "none");
	put(row.get(), "waiting_for", waits ? group.reported.message : std::string());
	return row;
}

Json pods(const App &app)
{
	Json rows = new_array();
	for (const auto &[uid, group] : app.world().groups()) {
		if (group.pod)
			append(rows.get(), pod_row(app.world(), group));
	}
	Json reply = ok_reply();
	put(reply.get(), "pods", std::move(rows));
	return reply;
}

std::string slurm_state_text(const core::SlurmNode *node)
{
	if (!node)
		return "absent";
	std::string text = codec::to_name(node->base);
	for (const auto &[flag, name] : {std::pair(node->drain, "+drain"), std::pair(node->not_responding, "+not_responding"), std::pair(node->completing, "+completing")})
		text += flag ? name : "";
	return text;
}

Json node_row(const core::World &world, const std::string &name, const core::KubeNode *kube, const core::SlurmNode *slurm)
{
	Json row = new_object();
	put(row.get(), "name", name);
	put(row.get(), "kube_ready", kube && kube->ready);
	put(row.get(), "cordoned", kube && kube->unschedulable);
	put(row.get(), "slurm_state", slurm_state_text(slurm));
	put(row.get(), "slurm_reason", slurm ? slurm->reason : std::string());
	put(row.get(), "cpus", slurm ? slurm->cpus : 0);
	put(row.get(), "memory_mib", slurm ? slurm->memory_mib : 0);
	put(row.get(), "pods", static_cast<std::int64_t>(world.occupancy().pods_on(name)));
	put(row.get(), "address", kube ? kube->internal_ip : std::string());
	return row;
}

Json nodes(const App &app)
{
	const core::World &world = app.world();
	Json rows = new_array();
	for (const auto &[name, kube] : world.kube_nodes()) {
		const auto slurm = world.slurm_nodes().find(name);
		append(rows.get(), node_row(world, name, &kube, slurm == world.slurm_nodes().end() ? nullptr : &slurm->second));
	}
	for (const auto &[name, slurm] : world.slurm_nodes()) {
		if (!world.kube_nodes().contains(name))
			append(rows.get(), node_row(world, name, nullptr, &slurm));
	}
	Json reply = ok_reply();
	put(reply.get(), "nodes", std::move(rows));
	return reply;
}

Json slurm_conf(const App &app)
{
	const core::World &world = app.world();
	Json lines = new_array();
	for (const auto &[name, node] : world.kube_nodes()) {
		const auto line = core::node_line(core::node_spec(world.as_left(node), world.settings().nodes, world.plugin()), "UNKNOWN");
		append(lines.get(), line ? *line : "# left out: " + line.error().what);
	}
	Json reply = ok_reply();
	put(reply.get(), "lines", std::move(lines));
	return reply;
}

Json cost_row(const core::Cost &cost)
{
	Json row = new_object();
	put(row.get(), "count", cost.count);
	put(row.get(), "mean_us", cost.mean_us);
	put(row.get(), "p99_us", cost.p99_us);
	put(row.get(), "max_us", cost.max_us);
	return row;
}

Json plugin_row(const core::PluginStats &stats)
{
	Json row = new_object();
	put(row.get(), "hook", cost_row(stats.hook));
	put(row.get(), "lock_hold", cost_row(stats.lock_hold));
	put(row.get(), "lock_wait", cost_row(stats.lock_wait));
	put(row.get(), "hook_cpu", cost_row(stats.hook_cpu));
	put(row.get(), "lock_cpu", cost_row(stats.lock_cpu));
	put(row.get(), "duty_percent", stats.duty_percent);
	put(row.get(), "placeholders", stats.placeholders);
	put(row.get(), "external_nodes", stats.external_nodes);
	put(row.get(), "refused", stats.refused);
	put(row.get(), "duplicates_refused", stats.duplicates_refused);
	put(row.get(), "sink_contacts", stats.sink_contacts);
	put(row.get(), "reconnects", stats.reconnects);
	put(row.get(), "queue_drops", stats.queue_drops);
	return row;
}

Json edge_row(const core::Latency &edge)
{
	constexpr double k_us_per_ms = 1000;
	Json row = new_object();
	put(row.get(), "count", edge.count());
	put(row.get(), "p50_ms", static_cast<double>(edge.quantile_us(0.5)) / k_us_per_ms);
	put(row.get(), "p99_ms", static_cast<double>(edge.quantile_us(0.99)) / k_us_per_ms);
	put(row.get(), "max_ms", static_cast<double>(edge.max_us()) / k_us_per_ms);
	return row;
}

Json edges_row(const core::Edges &edges)
{
	Json row = new_object();
	put(row.get(), "watch_to_submit", edge_row(edges.watch_to_submit));
	put(row.get(), "submit_to_allocated", edge_row(edges.submit_to_allocated));
	put(row.get(), "allocated_to_bound", edge_row(edges.allocated_to_bound));
	put(row.get(), "bound_to_running", edge_row(edges.bound_to_running));
	put(row.get(), "ended_to_pod_deleted", edge_row(edges.ended_to_pod_deleted));
	put(row.get(), "pod_deleted_to_job_ended", edge_row(edges.pod_deleted_to_job_ended));
	put(row.get(), "pod_terminal_to_job_ended", edge_row(edges.pod_terminal_to_job_ended));
	put(row.get(), "node_change_to_slurm", edge_row(edges.node_change_to_slurm));
	return row;
}

Json counters_row(const App &app)
{
	const core::Counters &c = app.world().counters();
	const kube::ClientCounters &k = app.client().counters();
	Json row = new_object();
	for (const auto &[name, value] : std::initializer_list<std::pair<const char *, std::uint64_t>>{
		 {"submitted", c.submitted},
		 {"submit_failed", c.submit_failed},
		 {"updated", c.updated},
		 {"bound", c.bound},
		 {"bind_failed", c.bind_failed},
		 {"completed", c.completed},
		 {"cancelled", c.cancelled},
		 {"removed", c.removed},
		 {"reported", c.reported},
		 {"readopted", c.readopted},
		 {"gate_waits", c.gate_waits},
		 {"not_started", c.not_started},
		 {"events", app.events().written()},
		 {"events_dropped", app.events().dropped()},
		 {"kube_requests", k.requests},
		 {"kube_failures", k.failures},
		 {"kube_throttled", k.throttled},
		 {"kube_repeats", k.repeats},
		 {"kube_bytes_received", k.bytes_received},
	     })
		put(row.get(), name, value);
	return row;
}

Json diag(const App &app)
{
	const core::PluginHello &hello = app.world().plugin();
	Json reply = ok_reply();
	put(reply.get(), "plugin_version", hello.plugin_version);
	put(reply.get(), "slurm_version", hello.slurm_version);
	put(reply.get(), "family", codec::to_name(hello.family));
	put(reply.get(), "edges", edges_row(app.world().edges()));
	put(reply.get(), "counters", counters_row(app));
	put(reply.get(), "plugin", plugin_row(app.plugin_stats()));
	return reply;
}

Json check(const App &app)
{
	Json rows = new_array();
	for (const Check &found : checks_of(app)) {
		Json row = new_object();
		put(row.get(), "name", found.name);
		put(row.get(), "ok", found.ok);
		put(row.get(), "text", found.text);
		put(row.get(), "remedy", found.remedy);
		append(rows.get(), std::move(row));
	}
	Json reply = ok_reply();
	put(reply.get(), "checks", std::move(rows));
	return reply;
}

/* name: "namespace/name", or a name in the namespace default */
std::string why_reply(const App &app, json_object *request)
{
	const std::string pod = get_string(request, "pod");
	const std::size_t slash = pod.find('/');
	const std::string name_space = slash == std::string::npos ? "default" : pod.substr(0, slash), name = slash == std::string::npos ? pod : pod.substr(slash + 1);
	const auto lines = core::why(app.world(), name_space, name, App::now());
	if (lines.empty())
		return ctl::error_reply("no pod " + name_space + "/" + name.substr(0, 256) + " with schedulerName " + app.config().scheduler_name + " has been seen: kubectl get pod says whether there is one");
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

constexpr Verb k_verbs[] = {{"ping", ping}, {"check", check}, {"jobs", jobs}, {"pods", pods}, {"nodes", nodes}, {"slurm_conf", slurm_conf}, {"diag", diag}};

} // namespace

std::string reply_to(const App &app, json_object *request)
{
	const std::string wanted = get_string(request, "verb");
	for (const Verb &verb : k_verbs) {
		if (wanted == verb.name)
			return codec::to_text(verb.reply(app).get());
	}
	if (wanted == "why")
		return why_reply(app, request);
	return ctl::error_reply("unknown verb '" + wanted.substr(0, 64) + "': skube and slurmkubed are of different releases");
}

} // namespace slurmkube::agent
