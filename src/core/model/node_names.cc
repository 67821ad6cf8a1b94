/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/node_names.h"

namespace slurmkube::core
{

namespace
{

constexpr char k_without_name = '/'; /* in no name of a node, in Kubernetes and in Slurm */

/* nullptr: the label gives the node, or the record, no other name. */
const std::string *found_in(
	const std::map<std::string, std::string, std::less<>> &names, std::string_view name)
{
	const auto found = names.find(name);
	return found == names.end() ? nullptr : &found->second;
}

} // namespace

std::string NodeNames::in_slurm(std::string_view kube_name) const
{
	if (kube_name.starts_with(k_without_name))
		return std::string(kube_name.substr(1));
	const std::string *label = by_label ? found_in(by_label->in_slurm, kube_name) : nullptr;
	if (!label)
		return prefix + std::string(kube_name);
	return label->empty() ? k_without_name + std::string(kube_name) : *label;
}

std::string NodeNames::in_kubernetes(std::string_view slurm_name) const
{
	if (const std::string *node =
			by_label ? found_in(by_label->in_kubernetes, slurm_name) : nullptr)
		return *node;
	if (!slurm_name.starts_with(prefix) || slurm_name.size() == prefix.size())
		return k_without_name + std::string(slurm_name);
	const std::string_view own = slurm_name.substr(prefix.size());
	if (by_label && found_in(by_label->in_slurm, own))
		return k_without_name + std::string(slurm_name);
	return std::string(own);
}

bool NodeNames::is_of_no_node(std::string_view kube_name)
{
	return kube_name.starts_with(k_without_name);
}

bool NodeNames::is_left_behind(std::string_view kube_name) const
{
	return by_label && is_of_no_node(kube_name) && kube_name.substr(1).starts_with(prefix) &&
		found_in(by_label->in_slurm, kube_name.substr(1 + prefix.size()));
}

bool NodeNames::has_no_name(std::string_view kube_name) const
{
	const std::string *label = by_label ? found_in(by_label->in_slurm, kube_name) : nullptr;
	return label && label->empty();
}

bool NodeNames::is_settled(std::string_view kube_name) const
{
	return by_label && found_in(by_label->in_slurm, kube_name);
}

bool NodeNames::operator==(const NodeNames &other) const
{
	const bool is_one = by_label && other.by_label ? *by_label == *other.by_label
						       : by_label == other.by_label;
	return is_one && prefix == other.prefix;
}

} // namespace slurmkube::core
