/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of App that concerns nodes: their names, and what Slurm's configuration says of them. */
#include "src/agent/app.h"
#include "src/base/log.h"
#include "src/core/model/names.h"

#include <utility>

namespace slurmkube::agent
{

namespace
{

constexpr std::chrono::seconds k_partitions{15};

} // namespace

/* What the plugin has reported has the names of before, so it reports everything again. */
void App::take_names()
{
	const bool are_others = world_.take_names(now());
	const std::vector<std::string> &troubles = world_.nodes().namer().troubles();
	if (std::exchange(troubles_.names, troubles) != troubles) {
		for (const std::string &trouble : troubles)
			log_warning("label %s: %s", names::k_slurm_node_label, trouble.c_str());
	}
	if (are_others)
		link_.begin_again("nodes have other names in Slurm, by their labels");
}

/* World submits no pods to partitions where Slurm would charge them for CPUs of other pods. */
void App::look_at_partitions()
{
	slurm::KubeNodes nodes = kube_nodes();
	nodes.external.merge(nodes.hybrid);
	calls_.sharing_partitions(
		std::move(nodes.external), [this](Result<slurm::SharingPartitions> answer) {
			loop_.after(k_partitions, [this] { look_at_partitions(); });
			if (!answer)
				return;
			sharing_partitions_ = std::move(*answer);
			world_.observe(core::PartitionsRefused{sharing_partitions_.refused});
			want_round();
		});
}

void App::look(Look::Done done)
{
	look_.begin(kube_nodes(), {config_.nodes.report_drains, !config_.devices.empty()},
		std::move(done));
}

slurm::KubeNodes App::kube_nodes() const
{
	slurm::KubeNodes nodes;
	if (config_.limits.grace_seconds > 0)
		nodes.grace_seconds = config_.limits.grace_seconds;
	nodes.have_native_pods = config_.nodes.pods_in_native_jobs;
	for (const auto &[name, node] : world_.state().slurm_nodes)
		(node.is_hybrid ? nodes.hybrid : nodes.external)
			.insert(world_.names().in_slurm(name));
	return nodes;
}

void App::ask_for_nodes(std::function<void(const std::string &trouble)> done)
{
	const kube::WatchOptions nodes = row_of(Kind::nodes).options(config_).front();
	look_.list_one(
		nodes.path + "?limit=1&labelSelector=" + kube::escape_query(nodes.label_selector),
		std::move(done));
}

} // namespace slurmkube::agent
