/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/translate_names.h"

#include "src/core/model/host_list.h"

#include <variant>

namespace slurmkube::agent
{

namespace
{

std::string translated(const std::vector<std::string> &hosts, const core::NodeNames &names)
{
	std::string text;
	for (const std::string &name : hosts)
		text += (text.empty() ? "" : ",") + names.in_slurm(name);
	return text;
}

/* An expression that a user has written. The table of options has refused one with errors. */
void translate_expression(std::string &hosts, const core::NodeNames &names)
{
	if (hosts.find('[') == std::string::npos)
		hosts = translated(core::split_hosts(hosts), names);
	else if (const auto all = core::expand_hosts(hosts))
		hosts = translated(*all, names);
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
	if (names.are_the_same())
		return spec;
	spec.required_node = translated(core::split_hosts(spec.required_node), names);
	translate_expression(spec.options.required_nodes, names);
	translate_expression(spec.options.excluded_nodes, names);
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
	if (!names.are_the_same())
		std::visit(Translate{names}, message);
	return message;
}

} // namespace slurmkube::agent
