/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/translate_names.h"

#include "src/core/model/host_list.h"

#include <variant>

namespace slurmkube::agent
{

namespace
{

/* The table of options has refused a list with errors. */
void translate_hosts(std::string &hosts, const core::NodeNames &names)
{
	const auto all = hosts.empty()
		? Result<std::vector<std::string>>(std::vector<std::string>{})
		: core::expand_hosts(hosts);
	if (!all)
		return;
	std::string translated;
	for (const std::string &name : *all)
		translated += (translated.empty() ? "" : ",") + names.in_slurm(name);
	hosts = std::move(translated);
}

struct Translate {
	const core::NodeNames &names;

	void operator()(core::SlurmJob &job) const
	{
		for (core::NodeAllocation &one : job.nodes)
			one.node = names.in_kubernetes(one.node);
	}
	void operator()(core::SlurmNode &node) const { node.name = names.in_kubernetes(node.name); }
	void operator()(codec::NodeGone &gone) const { gone.name = names.in_kubernetes(gone.name); }
	template <class T> void operator()(T &) const {} /* names no node */
};

} // namespace

core::JobSpec for_slurm(core::JobSpec spec, const core::NodeNames &names)
{
	if (names.prefix.empty())
		return spec;
	translate_hosts(spec.required_node, names);
	translate_hosts(spec.options.required_nodes, names);
	translate_hosts(spec.options.excluded_nodes, names);
	for (std::string &name : spec.excluded_nodes)
		name = names.in_slurm(name);
	return spec;
}

core::NodeSpec for_slurm(core::NodeSpec spec, const core::NodeNames &names)
{
	spec.name = names.in_slurm(spec.name);
	return spec;
}

codec::LinkMessage for_kubernetes(codec::LinkMessage message, const core::NodeNames &names)
{
	if (!names.prefix.empty())
		std::visit(Translate{names}, message);
	return message;
}

} // namespace slurmkube::agent
