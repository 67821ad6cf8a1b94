/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The model plugin: what it has seen, and the link. */
#include "testsuite/sim/slurm.h"

#include <algorithm>

namespace slurmkube::sim
{

namespace
{

constexpr std::uint64_t k_link = 0x52;

} // namespace

core::PluginHello Slurm::hello() const
{
	core::PluginHello hello;
	hello.protocol = 1;
	hello.slurm_version_number =
		dynamic_nodes ? (24U << 16) | (11U << 8) : (22U << 16) | (5U << 8);
	hello.cluster_name = "slurm";
	hello.sink_port = 6899;
	hello.pid = static_cast<int>(incarnation_);
	return hello;
}

void Slurm::look(std::uint32_t id)
{
	const JobTruth *job = find(id);
	const auto known = seen_jobs_.find(id);
	if (!job || !is_known_to_plugin(*job)) {
		if (known == seen_jobs_.end())
			return;
		seen_jobs_.erase(known);
		send([id](LinkPort &port) { port.job_gone({id}); });
		return;
	}
	if (known != seen_jobs_.end() && known->second == job->facts)
		return;
	seen_jobs_[id] = job->facts;
	send([facts = job->facts](LinkPort &port) { port.job(facts); });
}

void Slurm::look_at_node(const std::string &name)
{
	const auto node = state.nodes.find(name);
	const auto known = seen_nodes_.find(name);
	if (node == state.nodes.end()) {
		if (known == seen_nodes_.end())
			return;
		seen_nodes_.erase(known);
		send([name](LinkPort &port) { port.node_gone(name); });
		return;
	}
	const core::SlurmNode facts = facts_of(node->second);
	if (known != seen_nodes_.end() && known->second == facts)
		return;
	seen_nodes_[name] = facts;
	send([facts](LinkPort &port) { port.node(facts); });
}

void Slurm::first_look()
{
	seen_jobs_.clear();
	seen_nodes_.clear();
	for (const auto &[id, job] : state.jobs) {
		if (is_known_to_plugin(job))
			seen_jobs_[id] = job.facts;
	}
	for (const auto &[name, node] : state.nodes)
		seen_nodes_[name] = facts_of(node);
}

/* Lines arrive in order. When the connection is lost, the undelivered lines are lost, too. */
void Slurm::send(std::function<void(LinkPort &)> line)
{
	if (!linked_)
		return;
	const Micros longest = stage_.now() < slow_until_ ? 2 * k_second : 5 * k_ms;
	tail_ = std::max(
		tail_, stage_.now() + stage_.dice.between(Topic::latency, k_link, 100, longest));
	/* a line that a frozen agent has not read yet is read later */
	struct Delivery {
		Slurm *slurm;
		std::uint64_t epoch;
		unsigned agent;
		std::function<void(LinkPort &)> line;
		void operator()() const
		{
			if (epoch != slurm->link_epoch_)
				return;
			LinkPort &port = slurm->ports_.at(agent);
			if (!port.defer(*this))
				line(port);
		}
	};
	stage_.line.at(tail_, Delivery{this, link_epoch_, linked_to_, std::move(line)});
}

/* The agent's socket reports the loss shortly afterwards. */
void Slurm::break_link(Micros pause)
{
	if (std::exchange(linked_, false)) {
		struct Closing {
			Slurm *slurm;
			std::uint64_t link;
			unsigned agent;
			void operator()() const
			{
				LinkPort &port = slurm->ports_.at(agent);
				if (port.is_alive() && !port.defer(*this))
					port.closed(link);
			}
		};
		stage_.line.after(stage_.dice.between(Topic::latency, k_link, 100, 2 * k_ms),
			Closing{this, link_epoch_, linked_to_});
	}
	link_epoch_++;
	connect_after(pause);
}

void Slurm::connect_after(Micros delay)
{
	stage_.line.after(delay, [this, epoch = link_epoch_] {
		if (epoch == link_epoch_)
			connect();
	});
}

void Slurm::connect()
{
	if (linked_ || !up_)
		return;
	if (!ports_.at(leader_).is_alive()) {
		connect_after(
			stage_.dice.between(Topic::reconnect, k_link, 50 * k_ms, 2 * k_second));
		return;
	}
	link_epoch_++;
	linked_ = true;
	linked_to_ = leader_;
	tail_ = stage_.now();
	send([hello = hello(), link = link_epoch_](LinkPort &port) { port.opened(hello, link); });
	for (const auto &[id, facts] : seen_jobs_)
		send([facts = facts](LinkPort &port) { port.job(facts); });
	for (const auto &[name, facts] : seen_nodes_)
		send([facts = facts](LinkPort &port) { port.node(facts); });
	send([](LinkPort &port) { port.snapshot_ended(); });
}

} // namespace slurmkube::sim
