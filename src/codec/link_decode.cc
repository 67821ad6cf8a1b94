/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link_decode.cc - decodes lines of the link.
 */
#include "src/codec/fields.h"
#include "src/codec/link.h"
#include "src/codec/marker.h"

namespace slurmkube::codec
{

namespace
{

/* Reports the error of a nested object, with the object's key in front. */
void adopt(Fields &outer, const char *key, const Fields &inner)
{
	if (!inner.ok())
		outer.fail(std::string(key) + ": " + inner.fault());
}

core::Cost read_cost(Fields &outer, json_object *parent, const char *key)
{
	core::Cost cost;
	json_object *object = get(parent, key);
	if (!object)
		return cost;
	Fields fields(object);
	fields.read("count", cost.count);
	fields.read("mean_us", cost.mean_us);
	fields.read("p99_us", cost.p99_us);
	fields.read("max_us", cost.max_us);
	adopt(outer, key, fields);
	return cost;
}

core::Gres read_gres(Fields &outer, json_object *object)
{
	core::Gres gres;
	Fields fields(object);
	fields.read("name", gres.name);
	fields.read("type", gres.type);
	fields.read("count", gres.count);
	fields.read("indices", gres.indices);
	adopt(outer, "gres", fields);
	return gres;
}

core::NodeAllocation read_allocation(Fields &outer, json_object *object)
{
	core::NodeAllocation node;
	Fields fields(object);
	fields.must(true);
	fields.read("name", node.node);
	fields.must(false);
	fields.read("cpus", node.cpus);
	fields.read("cores", node.core_ids);
	fields.read("memory", node.memory_mib);
	json_object *gres = get(object, "gres");
	for (std::size_t i = 0; i < array_size(gres); i++)
		node.gres.push_back(read_gres(fields, array_at(gres, i)));
	adopt(outer, "nodes", fields);
	return node;
}

core::PluginHello read_hello(Fields &fields)
{
	core::PluginHello hello;
	std::string family;
	fields.must(true);
	fields.read("protocol", hello.protocol);
	fields.must(false);
	fields.read("plugin", hello.plugin_version);
	fields.read("slurm", hello.slurm_version);
	fields.read("slurm_number", hello.slurm_version_number);
	fields.read("cluster", hello.cluster_name);
	fields.read("family", family);
	fields.read("sink_port", hello.sink_port);
	fields.read("feature", hello.node_feature);
	fields.read("hybrid_feature", hello.hybrid_feature);
	fields.read("kube_cluster", hello.kube_cluster);
	fields.read("cluster_feature", hello.cluster_feature);
	fields.read("config_error", hello.config_error);
	fields.read("pid", hello.pid);
	fields.read("process_start", hello.process_start);
	fields.read("control_since_us", hello.control_since_us);
	fields.read("host", hello.host);
	fields.read("whole_sockets", hello.whole_sockets);
	fields.read("partitions", hello.partitions);
	fields.read("prolog", hello.has_prolog);
	hello.family = family == to_name(core::Family::native) ? core::Family::native
							       : core::Family::emulated;
	return hello;
}

void read_job_numbers(Fields &fields, core::SlurmJob &job)
{
	fields.read("user_id", job.user_id);
	fields.read("submit_time", job.submit_time);
	fields.read("accrue_time", job.accrue_time);
	fields.read("start_time", job.start_time);
	fields.read("end_time", job.end_time);
	fields.read("time_limit", job.time_limit_minutes);
	fields.read("exit_status", job.exit_status);
	fields.read("priority", job.priority);
}

core::SlurmJob read_job(Fields &fields, json_object *object)
{
	core::SlurmJob job;
	std::string state;
	fields.must(true);
	fields.read("id", job.id.number);
	fields.read("state", state);
	fields.must(false);
	job.state = job_state_from_name(state);
	auto marker = marker_from_json(get(object, "marker"));
	if (marker)
		job.marker = std::move(*marker);
	else
		fields.fail(marker.error().what);
	fields.read("completing", job.completing);
	fields.read("configuring", job.configuring);
	fields.read("external", job.is_external);
	fields.read("held", job.held);
	fields.read("reason", job.reason);
	fields.read("partition", job.partition);
	fields.read("account", job.account);
	if (get(object, "ended_by")) {
		std::uint32_t uid = 0;
		fields.read("ended_by", uid);
		job.ended_by = uid;
	}
	read_job_numbers(fields, job);
	json_object *nodes = get(object, "nodes");
	for (std::size_t i = 0; i < array_size(nodes); i++)
		job.nodes.push_back(read_allocation(fields, array_at(nodes, i)));
	return job;
}

core::SlurmNode read_node(Fields &fields)
{
	core::SlurmNode node;
	std::string base;
	fields.must(true);
	fields.read("name", node.name);
	fields.read("base", base);
	fields.must(false);
	node.base = node_base_from_name(base);
	fields.read("drain", node.drain);
	fields.read("failing", node.failing);
	fields.read("not_responding", node.not_responding);
	fields.read("completing", node.completing);
	fields.read("reason", node.reason);
	fields.read("features", node.features);
	fields.read("address", node.address);
	fields.read("dynamic", node.dynamic);
	fields.read("hybrid", node.is_hybrid);
	fields.read("cpus", node.cpus);
	fields.read("memory", node.memory_mib);
	fields.read("gres", node.gres);
	std::string extra;
	fields.read("extra", extra);
	if (fields.has("extra"))
		node.extra = extra;
	return node;
}

core::PluginStats read_stats(Fields &fields, json_object *object)
{
	core::PluginStats stats;
	stats.hook = read_cost(fields, object, "hook");
	stats.lock_hold = read_cost(fields, object, "lock_hold");
	stats.lock_wait = read_cost(fields, object, "lock_wait");
	stats.hook_cpu = read_cost(fields, object, "hook_cpu");
	stats.lock_cpu = read_cost(fields, object, "lock_cpu");
	fields.read("duty_percent", stats.duty_percent);
	fields.read("placeholders", stats.placeholders);
	fields.read("external_nodes", stats.external_nodes);
	fields.read("refused", stats.refused);
	fields.read("duplicates_refused", stats.duplicates_refused);
	fields.read("sink_contacts", stats.sink_contacts);
	fields.read("sink_refused", stats.sink_refused);
	fields.read("reconnects", stats.reconnects);
	fields.read("queue_drops", stats.queue_drops);
	fields.read("unmarked", stats.unmarked);
	return stats;
}

JobGone read_job_gone(Fields &fields)
{
	JobGone gone;
	fields.must(true);
	fields.read("id", gone.id.number);
	return gone;
}

NodeGone read_node_gone(Fields &fields)
{
	NodeGone gone;
	fields.must(true);
	fields.read("name", gone.name);
	return gone;
}

Refused read_refused(Fields &fields)
{
	Refused refused;
	fields.must(true);
	fields.read("why", refused.why);
	return refused;
}

Alive read_alive(Fields &fields)
{
	Alive alive;
	fields.read("sent_us", alive.sent_us);
	return alive;
}

LinkMessage read_message(const std::string &type, Fields &fields, json_object *object)
{
	if (type == "job")
		return read_job(fields, object);
	if (type == "job_gone")
		return read_job_gone(fields);
	if (type == "node")
		return read_node(fields);
	if (type == "node_gone")
		return read_node_gone(fields);
	if (type == "stats")
		return read_stats(fields, object);
	if (type == "hello")
		return read_hello(fields);
	if (type == "refused")
		return read_refused(fields);
	if (type == "snapshot_begin")
		return SnapshotBegin{};
	if (type == "snapshot_end")
		return SnapshotEnd{};
	if (type == "alive")
		return read_alive(fields);
	return UnknownMessage{type};
}

} // namespace

Result<LinkLine> decode_link(std::string_view line)
{
	auto object = parse_json(line, k_link_line_max);
	if (!object)
		return in_context("link", object.error());
	std::uint64_t seq = 0;
	std::string type;
	Fields fields(object->get(), Need::required);
	fields.read("seq", seq);
	fields.read("type", type);
	if (!fields.ok())
		return Error{Errc::invalid, "link: " + fields.fault()};
	fields.must(false);
	LinkMessage message = read_message(type, fields, object->get());
	if (!fields.ok())
		return Error{Errc::invalid, "link: " + type + ": " + fields.fault()};
	return LinkLine{seq, std::move(message)};
}

Result<Welcome> decode_welcome(std::string_view line)
{
	auto object = parse_json(line, k_link_line_max);
	if (!object)
		return in_context("welcome", object.error());
	Welcome welcome;
	std::string type;
	Fields fields(object->get(), Need::required);
	fields.read("type", type);
	fields.read("protocol", welcome.protocol);
	if (fields.ok() && type != "welcome")
		fields.fail("type is '" + type + "'");
	fields.must(false);
	fields.read("agent", welcome.agent_version);
	fields.read("cluster_uid", welcome.cluster_uid);
	fields.read("hybrid_nodes", welcome.knows_hybrids);
	if (!fields.ok())
		return Error{Errc::invalid, "welcome: " + fields.fault()};
	return welcome;
}

} // namespace slurmkube::codec
