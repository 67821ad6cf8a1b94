/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/node_names.h"

namespace slurmkube::core
{

namespace
{

constexpr char k_without_prefix = '/'; /* in no name of a Kubernetes node */

} // namespace

std::string NodeNames::in_slurm(std::string_view kube_name) const
{
	if (kube_name.starts_with(k_without_prefix))
		return std::string(kube_name.substr(1));
	return prefix + std::string(kube_name);
}

std::string NodeNames::in_kubernetes(std::string_view slurm_name) const
{
	if (slurm_name.starts_with(prefix) && slurm_name.size() > prefix.size())
		return std::string(slurm_name.substr(prefix.size()));
	return k_without_prefix + std::string(slurm_name);
}

bool NodeNames::is_of_no_node(std::string_view kube_name)
{
	return kube_name.starts_with(k_without_prefix);
}

} // namespace slurmkube::core
