/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Node names of several Kubernetes clusters in one Slurm. */
#include "src/agent/translate_names.h"
#include "src/core/model/host_list.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::agent;
using core::NodeNames;

namespace
{

const NodeNames k_alpha{"alpha-"}, k_same{};

void names_get_the_prefix_and_lose_it()
{
	CHECK_EQUAL(k_alpha.in_slurm("n1"), "alpha-n1");
	CHECK_EQUAL(k_alpha.in_kubernetes("alpha-n1"), "n1");
	CHECK_EQUAL(k_same.in_slurm("n1"), "n1");
	CHECK_EQUAL(k_same.in_kubernetes("n1"), "n1");
	/* a Kubernetes node may have a name that looks translated */
	CHECK_EQUAL(k_alpha.in_kubernetes(k_alpha.in_slurm("alpha-n1")), "alpha-n1");
}

/* Otherwise a record "n1" would be taken for that of the node n1, which is alpha-n1. */
void a_record_without_the_prefix_is_no_node_of_kubernetes()
{
	CHECK_EQUAL(k_alpha.in_kubernetes("n1"), "/n1");
	CHECK_EQUAL(k_alpha.in_slurm("/n1"), "n1");
}

void what_goes_to_slurm_has_names_of_slurm()
{
	core::JobSpec spec;
	spec.required_node = "n1,n2";
	spec.excluded_nodes = {"n3", "n4"};
	spec.options.required_nodes = "n[1-2],m";
	spec.options.excluded_nodes = "n9";
	const core::JobSpec out = for_slurm(spec, k_alpha);
	CHECK_EQUAL(out.required_node, "alpha-n1,alpha-n2");
	CHECK(out.excluded_nodes == (std::vector<std::string>{"alpha-n3", "alpha-n4"}));
	CHECK_EQUAL(out.options.required_nodes, "alpha-n1,alpha-n2,alpha-m");
	CHECK_EQUAL(out.options.excluded_nodes, "alpha-n9");
	CHECK(for_slurm(spec, k_same) == spec);
	core::JobSpec none;
	CHECK(for_slurm(none, k_alpha) == none);
	core::NodeSpec node;
	node.name = "n1";
	CHECK_EQUAL(for_slurm(node, k_alpha).name, "alpha-n1");
}

/* Translated lists are longer than users may write, and the agent pins a gang to all its nodes. */
void long_lists_lose_no_name()
{
	core::JobSpec spec;
	spec.options.required_nodes = "n[1-300]";
	for (int i = 1; i <= 300; i++)
		spec.required_node += (i == 1 ? "n" : ",n") + std::to_string(i);
	const core::JobSpec out = for_slurm(spec, k_alpha);
	const auto required = core::split_hosts(out.options.required_nodes),
		   pinned = core::split_hosts(out.required_node);
	CHECK_EQUAL(required.size(), 300U);
	CHECK_EQUAL(required.back(), "alpha-n300");
	CHECK(pinned == required);
	CHECK(core::split_hosts("").empty());
	CHECK(core::split_hosts(",a,,b,") == (std::vector<std::string>{"a", "b"}));
}

void what_the_plugin_reports_has_names_of_kubernetes()
{
	core::SlurmJob job;
	job.nodes = {{"alpha-n1", 1, "0", 0, {}}, {"beta-n1", 1, "0", 0, {}}};
	const auto seen = std::get<core::SlurmJob>(for_kubernetes(job, k_alpha));
	CHECK_EQUAL(seen.nodes[0].node, "n1");
	CHECK_EQUAL(seen.nodes[1].node, "/beta-n1");
	core::SlurmNode node;
	node.name = "alpha-n1";
	CHECK_EQUAL(std::get<core::SlurmNode>(for_kubernetes(node, k_alpha)).name, "n1");
	CHECK_EQUAL(std::get<codec::NodeGone>(for_kubernetes(codec::NodeGone{"alpha-n1"}, k_alpha))
			    .name,
		"n1");
	CHECK(for_kubernetes(codec::SnapshotEnd{}, k_alpha) ==
		codec::LinkMessage(codec::SnapshotEnd{}));
}

} // namespace

int main()
{
	return check::run_tests("translate names",
		{
			TEST(names_get_the_prefix_and_lose_it),
			TEST(a_record_without_the_prefix_is_no_node_of_kubernetes),
			TEST(what_goes_to_slurm_has_names_of_slurm),
			TEST(long_lists_lose_no_name),
			TEST(what_the_plugin_reports_has_names_of_kubernetes),
		});
}
