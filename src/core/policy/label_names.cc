/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/policy/label_names.h"

#include "src/core/model/names.h"

#include <algorithm>
#include <set>
#include <utility>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_troubles_most = 16;

class Naming
{
      public:
	Naming(const std::map<std::string, KubeNode> &nodes, const NodeNames &before)
	    : nodes_(nodes), before_(before)
	{
	}
	FoundNames all(const IsInUse &is_in_use);

      private:
	[[nodiscard]] std::string own(const std::string &node) const
	{
		return before_.prefix + node;
	}
	[[nodiscard]] std::string wanted(const std::string &node) const;
	void keep(const IsInUse &is_in_use);
	void give_own();
	void give_labels(bool to_those_before);
	void give(const std::string &node, const std::string &name);
	void tell(std::string trouble);
	FoundNames finish();

	const std::map<std::string, KubeNode> &nodes_;
	const NodeNames &before_;
	std::map<std::string, std::string> given_, node_of_; /* node to name, and back */
	FoundNames found_;
};

/* Labels may have no character that Slurm would misread in a name (validation.go of
 * apimachinery). */
std::string Naming::wanted(const std::string &node) const
{
	const auto found = nodes_.find(node);
	if (found == nodes_.end())
		return own(node);
	const auto label = found->second.labels.find(names::k_slurm_node_label);
	return label == found->second.labels.end() || label->second.empty() ? own(node)
									    : label->second;
}

void Naming::give(const std::string &node, const std::string &name)
{
	given_[node] = name;
	node_of_[name] = node;
}

void Naming::tell(std::string trouble)
{
	if (found_.troubles.size() < k_troubles_most)
		found_.troubles.push_back(std::move(trouble));
}

/* Also nodes whose object is gone: a kubelet that registers again makes a new one, perhaps without
 * the label. */
void Naming::keep(const IsInUse &is_in_use)
{
	if (!is_in_use)
		return;
	std::set<std::string> asked;
	for (const auto &[node, object] : nodes_)
		asked.insert(node);
	if (before_.by_label)
		for (const auto &[node, name] : before_.by_label->in_slurm)
			asked.insert(node);
	for (const std::string &node : asked) {
		const std::string want = wanted(node), name = before_.in_slurm(node);
		const bool is_plain = name == own(node) && want == name;
		if (is_plain || before_.has_no_name(node) || !is_in_use(node))
			continue;
		give(node, name);
		if (name != want)
			tell("node " + node + " keeps the name " + name +
				" in Slurm while it has jobs of pods; then it is " + want);
	}
}

void Naming::give_own()
{
	for (const auto &[node, object] : nodes_) {
		if (!given_.contains(node) && wanted(node) == own(node) &&
			!node_of_.contains(own(node)))
			give(node, own(node));
	}
}

void Naming::give_labels(bool to_those_before)
{
	std::map<std::string, std::vector<std::string>> claims;
	for (const auto &[node, object] : nodes_) {
		const std::string want = wanted(node);
		if (!given_.contains(node) && !node_of_.contains(want) &&
			(!to_those_before || before_.in_slurm(node) == want))
			claims[want].push_back(node);
	}
	for (const auto &[name, claimants] : claims) {
		if (claimants.size() == 1)
			give(claimants.front(), name);
	}
}

FoundNames Naming::finish()
{
	LabelNames names;
	for (const auto &[node, name] : given_) {
		if (name == own(node))
			continue;
		names.in_slurm.emplace(node, name);
		names.in_kubernetes.emplace(name, node);
	}
	for (const auto &[node, object] : nodes_) {
		if (given_.contains(node))
			continue;
		names.in_slurm.emplace(node, "");
		const auto other = node_of_.find(wanted(node));
		tell("node " + node + " takes no pods: its name in Slurm would be " + wanted(node) +
			", which " +
			(other == node_of_.end() ? "the labels of several nodes give"
						 : "is that of node " + other->second));
	}
	found_.names.prefix = before_.prefix;
	if (!names.in_slurm.empty())
		found_.names.by_label = std::make_shared<const LabelNames>(std::move(names));
	return std::move(found_);
}

FoundNames Naming::all(const IsInUse &is_in_use)
{
	keep(is_in_use);
	give_own();
	give_labels(true);
	give_labels(false);
	return finish();
}

} // namespace

FoundNames names_by_label(const std::map<std::string, KubeNode> &nodes, const NodeNames &before,
	const IsInUse &is_in_use)
{
	return Naming(nodes, before).all(is_in_use);
}

} // namespace slurmkube::core
