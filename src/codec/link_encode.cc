/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link_encode.cc - encodes lines of the link. Every key of the protocol is always written, except
 * ended_by if there is none.
 */
#include "src/codec/json.h"
#include "src/codec/link.h"
#include "src/codec/marker.h"

namespace slurmkube::codec
{

namespace
{

Json gres_to_json(const core::Gres &gres)
{
	Json object = new_object();
	put(object.get(), "name", gres.name);
	put(object.get(), "type", gres.type);
	put(object.get(), "count", gres.count);
	put(object.get(), "indices", gres.indices);
	return object;
}

Json allocation_to_json(const core::NodeAllocation &node)
{
	Json object = new_object();
	put(object.get(), "name", node.node);
	put(object.get(), "cpus", node.cpus);
	put(object.get(), "cores", node.core_ids);
	put(object.get(), "memory", node.memory_mib);
	Json gres = new_array();
	for (const core::Gres &each : node.gres)
		append(gres.get(), gres_to_json(each));
	put(object.get(), "gres", std::move(gres));
	return object;
}

Json cost_to_json(const core::Cost &cost)
{
	Json object = new_object();
	put(object.get(), "count", cost.count);
	put(object.get(), "mean_us", cost.mean_us);
	put(object.get(), "p99_us", cost.p99_us);
	put(object.get(), "max_us", cost.max_us);
	return object;
}

void write(json_object *o, const core::PluginHello &hello)
{
	put(o, "type", "hello");
	put(o, "protocol", hello.protocol);
	put(o, "plugin", hello.plugin_version);
	put(o, "slurm", hello.slurm_version);
	put(o, "slurm_number", hello.slurm_version_number);
	put(o, "cluster", hello.cluster_name);
	put(o, "family", to_name(hello.family));
	put(o, "sink_port", hello.sink_port);
	put(o, "feature", hello.node_feature);
	put(o, "hybrid_feature", hello.hybrid_feature);
	put(o, "kube_cluster", hello.kube_cluster);
	put(o, "cluster_feature", hello.cluster_feature);
	put(o, "config_error", hello.config_error);
	put(o, "pid", hello.pid);
	put(o, "process_start", hello.process_start);
	put(o, "control_since_us", hello.control_since_us);
	put(o, "host", hello.host);
	put(o, "whole_sockets", hello.whole_sockets);
	put(o, "partitions", hello.partitions);
	put(o, "prolog", hello.has_prolog);
}

void write(json_object *o, const core::SlurmJob &job)
{
	put(o, "type", "job");
	put(o, "id", job.id.number);
	put(o, "marker", marker_to_json(job.marker));
	put(o, "state", to_name(job.state));
	put(o, "completing", job.completing);
	put(o, "configuring", job.configuring);
	if (job.is_external)
		put(o, "external", job.is_external);
	put(o, "held", job.held);
	put(o, "reason", job.reason);
	put(o, "user_id", job.user_id);
	put(o, "partition", job.partition);
	put(o, "account", job.account);
	if (job.ended_by)
		put(o, "ended_by", *job.ended_by);
	put(o, "submit_time", job.submit_time);
	put(o, "accrue_time", job.accrue_time);
	put(o, "start_time", job.start_time);
	put(o, "end_time", job.end_time);
	put(o, "time_limit", job.time_limit_minutes);
	put(o, "exit_status", job.exit_status);
	put(o, "priority", job.priority);
	Json nodes = new_array();
	for (const core::NodeAllocation &node : job.nodes)
		append(nodes.get(), allocation_to_json(node));
	put(o, "nodes", std::move(nodes));
}

void write(json_object *o, const core::SlurmNode &node)
{
	put(o, "type", "node");
	put(o, "name", node.name);
	put(o, "base", to_name(node.base));
	put(o, "drain", node.drain);
	put(o, "failing", node.failing);
	put(o, "not_responding", node.not_responding);
	put(o, "completing", node.completing);
	put(o, "reason", node.reason);
	put(o, "features", node.features);
	put(o, "address", node.address);
	put(o, "dynamic", node.dynamic);
	put(o, "hybrid", node.is_hybrid);
	put(o, "cpus", node.cpus);
	put(o, "memory", node.memory_mib);
	put(o, "gres", node.gres);
	if (node.extra)
		put(o, "extra", *node.extra);
}

void write(json_object *o, const core::PluginStats &stats)
{
	put(o, "type", "stats");
	put(o, "hook", cost_to_json(stats.hook));
	put(o, "lock_hold", cost_to_json(stats.lock_hold));
	put(o, "lock_wait", cost_to_json(stats.lock_wait));
	put(o, "hook_cpu", cost_to_json(stats.hook_cpu));
	put(o, "lock_cpu", cost_to_json(stats.lock_cpu));
	put(o, "duty_percent", stats.duty_percent);
	put(o, "placeholders", stats.placeholders);
	put(o, "external_nodes", stats.external_nodes);
	put(o, "refused", stats.refused);
	put(o, "duplicates_refused", stats.duplicates_refused);
	put(o, "sink_contacts", stats.sink_contacts);
	put(o, "sink_refused", stats.sink_refused);
	put(o, "reconnects", stats.reconnects);
	put(o, "queue_drops", stats.queue_drops);
	put(o, "unmarked", stats.unmarked);
}

void write(json_object *o, const SnapshotBegin &)
{
	put(o, "type", "snapshot_begin");
}

void write(json_object *o, const SnapshotEnd &)
{
	put(o, "type", "snapshot_end");
}

void write(json_object *o, const Alive &alive)
{
	put(o, "type", "alive");
	put(o, "sent_us", alive.sent_us);
}

void write(json_object *o, const JobGone &gone)
{
	put(o, "type", "job_gone");
	put(o, "id", gone.id.number);
}

void write(json_object *o, const Refused &refused)
{
	put(o, "type", "refused");
	put(o, "why", refused.why);
}

void write(json_object *o, const NodeGone &gone)
{
	put(o, "type", "node_gone");
	put(o, "name", gone.name);
}

void write(json_object *o, const UnknownMessage &message)
{
	put(o, "type", message.type);
}

} // namespace

std::string encode_link(std::uint64_t seq, const LinkMessage &message)
{
	Json object = new_object();
	put(object.get(), "seq", seq);
	std::visit([&](const auto &body) { write(object.get(), body); }, message);
	return to_text(object.get());
}

std::string encode_welcome(const Welcome &welcome)
{
	Json object = new_object();
	put(object.get(), "type", "welcome");
	put(object.get(), "protocol", welcome.protocol);
	put(object.get(), "agent", welcome.agent_version);
	if (!welcome.cluster_uid.empty())
		put(object.get(), "cluster_uid", welcome.cluster_uid);
	put(object.get(), "hybrid_nodes", welcome.knows_hybrids);
	return to_text(object.get());
}

} // namespace slurmkube::codec
