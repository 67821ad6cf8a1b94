/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world_facts.h - the settings, nodes and volumes that tests of World start from, and a pod's
 * actions as text.
 */
#ifndef SLURMKUBE_TESTSUITE_UNIT_WORLD_FACTS_H
#define SLURMKUBE_TESTSUITE_UNIT_WORLD_FACTS_H

#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/world/world.h"
#include "testsuite/unit/builders.h"
#include "testsuite/unit/check.h"

namespace slurmkube::check
{

using namespace slurmkube::core;

/* Cluster "main"; every namespace may run jobs as user 1; managed nodes have the default label. */
inline Settings plain_settings()
{
	Settings s;
	s.policy.cluster = "main";
	s.policy.namespaces = {{.name_space = "*",
		.user_id = 1,
		.group_id = 1,
		.accounts = {},
		.partitions = {},
		.qos = {}}};
	s.nodes.label_key = names::k_managed_label;
	return s;
}

/* A ready managed node with more memory than any test needs. */
inline KubeNode kube_node(const std::string &name, const std::string &uid, std::int64_t milli_cpu)
{
	KubeNode n;
	n.name = name;
	n.uid = uid;
	n.ready = true;
	n.labels = {{names::k_managed_label, "true"}};
	n.allocatable = {.milli_cpu = milli_cpu,
		.memory_bytes = std::int64_t{1} << 40,
		.pods = 100,
		.extended = {}};
	return n;
}

inline SlurmNode slurm_node(const std::string &name, std::uint32_t cpus)
{
	SlurmNode n;
	n.name = name;
	n.base = NodeBase::idle;
	n.cpus = cpus;
	n.memory_mib = cpus > 0 ? 1 << 20 : 0;
	return n;
}

/* An unbound claim for one pod. */
inline Claim unbound_claim(const std::string &name, const std::string &storage_class)
{
	Claim c;
	c.id = {"default", name};
	c.uid = "uid-" + name;
	c.resource_version = "1";
	c.storage_class = storage_class;
	c.access_modes = {"ReadWriteOnce"};
	return c;
}

/* A free volume of the class "local", reachable from one node, or from all nodes if node is
 * empty. */
inline Volume free_volume(const std::string &name, const std::string &node)
{
	Volume v;
	v.name = name;
	v.uid = "uid-" + name;
	v.resource_version = "5";
	v.storage_class = "local";
	v.is_available = true;
	v.access_modes = {"ReadWriteOnce"};
	if (!node.empty())
		v.node_terms = {NodeTerm{{{names::k_hostname_label, SelectorOp::in, {node}}}, {}}};
	return v;
}

inline std::string word_of(const ClaimStep &step)
{
	if (const auto *give = std::get_if<GiveVolume>(&step))
		return "give:" + give->volume;
	if (const auto *select = std::get_if<SelectNode>(&step))
		return "select:" + select->node;
	if (const auto *allocate = std::get_if<AllocateDevices>(&step)) {
		std::string out = "allocate:" + allocate->claim.name;
		for (const ChosenDevice &one : allocate->devices)
			out += "=" + one.result.device.name;
		for (std::size_t i = 1; i < allocate->users.size(); i++)
			out += "+" + allocate->users[i].uid;
		return out;
	}
	if (const auto *reserve = std::get_if<ReserveClaim>(&step)) {
		std::string out = "reserve:" + reserve->claim.name;
		for (const ClaimUser &one : reserve->users)
			out += "+" + one.uid;
		return out;
	}
	const auto *release = std::get_if<ReleaseDevices>(&step);
	if (release && !release->leaving_uid.empty())
		return "leave:" + release->claim.name + "-" + release->leaving_uid;
	const char *verb = release                          ? "release:"
		: std::holds_alternative<CreateClaim>(step) ? "create:"
		: std::holds_alternative<MapRequests>(step) ? "map:"
							    : "protect:";
	return verb + claim_name_of(step);
}

/* One word per action of a single pod; excluded nodes follow a minus sign. */
inline std::string word_of(const PodUid &uid, const Action &action)
{
	const auto excluding = [&](const char *verb, const JobSpec &spec) {
		std::string out = verb + uid.text;
		for (const std::string &name : spec.excluded_nodes)
			out += "-" + name;
		return out;
	};
	if (const auto *s = std::get_if<Submit>(&action))
		return excluding("submit:", s->spec);
	if (const auto *u = std::get_if<Update>(&action))
		return excluding("update:", u->spec);
	if (const auto *p = std::get_if<WriteClaim>(&action))
		return word_of(p->step);
	if (const auto *e = std::get_if<Complete>(&action))
		return "complete:" + std::to_string(e->job.number) +
			(e->wait_status == k_status_given_back ? "=given-back" : "");
	if (const auto *b = std::get_if<Bind>(&action))
		return "bind:" + uid.text + "@" + b->node;
	if (std::holds_alternative<LookUp>(action))
		return "look:" + uid.text;
	const auto *r = std::get_if<Report>(&action);
	return r ? "report:" + uid.text + ":" + r->not_scheduled.reason : "other";
}

} // namespace slurmkube::check

#endif
