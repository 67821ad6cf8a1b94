/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/policy/label_names.h"

#include "src/core/model/names.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_troubles_most = 16;

/* slurmctld takes ALL for all nodes, in any case (update_node() and delete_nodes() in node_mgr.c),
 * and DEFAULT for no node. */
bool is_reserved(std::string name)
{
	std::ranges::transform(name, name.begin(),
		[](unsigned char c) { return static_cast<char>(std::tolower(c)); });
	return name == "all" || name == "default";
}

class Naming
{
      public:
	Naming(const std::map<std::string, KubeNode> &nodes, const std::string &prefix)
	    : nodes_(nodes), prefix_(prefix)
	{
		for (const auto &[name, node] : nodes) {
			if (std::string label = label_of_slurm(node);
				!label.empty() && label != own(name))
				labels_.emplace(name, std::move(label));
			wanted_.insert(wanted(name));
		}
	}
	void keep(const InUse &in_use, const IsHybrid &is_hybrid);
	void give_own();
	void give_labels(const IsHybrid &is_hybrid);
	FoundNames finish();

      private:
	[[nodiscard]] std::string own(const std::string &node) const { return prefix_ + node; }
	[[nodiscard]] std::string wanted(const std::string &node) const
	{
		const auto label = labels_.find(node);
		return label == labels_.end() ? own(node) : label->second;
	}
	[[nodiscard]] std::set<std::string> kept(const std::string &node,
		const std::set<std::string> &names, const IsHybrid &is_hybrid) const;
	void keep_one(const std::string &node, const std::set<std::string> &names, bool is_sure);
	void give(const std::string &node, const std::string &name);
	void refuse(const std::string &node, const std::string &why);
	void tell(std::string trouble);

	const std::map<std::string, KubeNode> &nodes_;
	const std::string &prefix_;
	std::map<std::string, std::string> labels_;          /* of nodes with another name */
	std::set<std::string> wanted_;                       /* names that nodes would have */
	std::map<std::string, std::string> given_, node_of_; /* node to name, and back */
	FoundNames found_;
};

/* The name that the node must keep by jobs of one kind: the one that it would have anyway, or else
 * what they say. More than one: nothing is certain. */
std::set<std::string> Naming::kept(const std::string &node, const std::set<std::string> &names,
	const IsHybrid &is_hybrid) const
{
	for (const std::string &name : {wanted(node), own(node)}) {
		if (names.contains(name))
			return {name};
	}
	std::set<std::string> all;
	for (const std::string &name : names) {
		if (!is_hybrid || is_hybrid(name))
			all.insert(name);
	}
	return all;
}

void Naming::give(const std::string &node, const std::string &name)
{
	given_[node] = name;
	if (!name.empty())
		node_of_[name] = node;
}

void Naming::tell(std::string trouble)
{
	if (found_.troubles.size() < k_troubles_most)
		found_.troubles.push_back(std::move(trouble));
}

void Naming::refuse(const std::string &node, const std::string &why)
{
	given_[node] = "";
	tell("node " + node + " takes no pods: its name in Slurm would be " + wanted(node) + ", " +
		why);
}

/* Surer jobs first; and first nodes that have the name by their label or of their own, then those
 * that had it before. */
void Naming::keep(const InUse &in_use, const IsHybrid &is_hybrid)
{
	for (const auto kind : {&NamesInUse::sure, &NamesInUse::likely}) {
		for (const bool is_wanted : {true, false}) {
			for (const auto &[node, names] : in_use) {
				const auto all = kept(node, names.*kind, is_hybrid);
				if (all.empty() || given_.contains(node) ||
					(*all.begin() == wanted(node)) != is_wanted)
					continue;
				keep_one(node, all, kind == &NamesInUse::sure);
			}
		}
	}
}

void Naming::keep_one(const std::string &node, const std::set<std::string> &names, bool is_sure)
{
	const std::string &name = *names.begin();
	const bool is_own = name == wanted(node) || name == own(node);
	if (names.size() > 1 || (!is_sure && !is_own && wanted_.contains(name)))
		return refuse(node, "but jobs of pods there have other names");
	if (node_of_.contains(name))
		return;
	give(node, name);
	if (name != wanted(node))
		tell("node " + node + " keeps the name " + name +
			" in Slurm while it has jobs of pods; then it is " + wanted(node));
}

void Naming::give_own()
{
	for (const auto &[node, object] : nodes_) {
		if (given_.contains(node) || labels_.contains(node))
			continue;
		const auto other = node_of_.find(own(node));
		if (other == node_of_.end())
			give(node, own(node));
		else
			refuse(node, "which is that of node " + other->second);
	}
}

void Naming::give_labels(const IsHybrid &is_hybrid)
{
	std::map<std::string, unsigned> claims;
	for (const auto &[node, label] : labels_) {
		if (!given_.contains(node))
			claims[label]++;
	}
	const std::map<std::string, std::string> taken = node_of_;
	for (const auto &[node, label] : labels_) {
		if (given_.contains(node))
			continue;
		const auto other = taken.find(label);
		if (other != taken.end())
			refuse(node, "which is that of node " + other->second);
		else if (!label.starts_with(prefix_))
			refuse(node, "which does not begin with nodes.name_prefix, " + prefix_);
		else if (is_reserved(label))
			refuse(node, "which has another meaning in Slurm");
		else if (claims[label] > 1)
			refuse(node, "which the labels of several nodes give");
		else if (is_hybrid && !is_hybrid(label))
			refuse(node, "and Slurm has no hybrid node of this name");
		else
			give(node, label);
	}
}

FoundNames Naming::finish()
{
	LabelNames names;
	for (const auto &[node, name] : given_) {
		if (name == own(node) && !labels_.contains(node))
			continue;
		names.in_slurm.emplace(node, name);
		if (!name.empty())
			names.in_kubernetes.emplace(name, node);
	}
	found_.names.prefix = prefix_;
	if (!names.in_slurm.empty())
		found_.names.by_label = std::make_shared<const LabelNames>(std::move(names));
	return std::move(found_);
}

} // namespace

FoundNames names_by_label(const std::map<std::string, KubeNode> &nodes, const std::string &prefix,
	const InUse &in_use, const IsHybrid &is_hybrid)
{
	Naming naming(nodes, prefix);
	naming.keep(in_use, is_hybrid);
	naming.give_own();
	naming.give_labels(is_hybrid);
	return naming.finish();
}

bool is_label_settled(const KubeNode &node, const NodeNames &names)
{
	const std::string label = label_of_slurm(node);
	return label.empty() || label == names.prefix + node.name || names.is_settled(node.name);
}

bool has_name_in_slurm(const KubeNode &node, const NodeNames &names)
{
	return is_label_settled(node, names) && !names.has_no_name(node.name);
}

/* Kubernetes allows no character in it that Slurm would misread in a name (validation.go of
 * apimachinery). */
std::string label_of_slurm(const KubeNode &node)
{
	const auto label = node.labels.find(names::k_slurm_node_label);
	return label == node.labels.end() ? "" : label->second;
}

} // namespace slurmkube::core
