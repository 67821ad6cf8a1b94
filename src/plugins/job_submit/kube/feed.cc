/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/feed.h"

namespace slurmkube::plugin
{

namespace
{

constexpr std::size_t k_keys_of_a_job = 420, k_keys_of_a_node = 220, k_keys_of_a_share = 80,
		      k_keys_of_gres = 60, k_gone = 50, k_stats = 500;

std::size_t size_of(const core::SlurmJob &job)
{
	std::size_t size = k_keys_of_a_job + job.marker.cluster.size() +
		job.marker.name_space.size() + job.marker.name.size() + job.marker.uid.size() +
		job.reason.size() + job.partition.size();
	for (const core::NodeAllocation &node : job.nodes) {
		size += k_keys_of_a_share + node.node.size() + node.core_ids.size();
		for (const core::Gres &gres : node.gres)
			size += k_keys_of_gres + gres.name.size() + gres.type.size() +
				gres.indices.size();
	}
	return size;
}

} // namespace

std::size_t line_size(const codec::LinkMessage &message)
{
	if (const auto *job = std::get_if<core::SlurmJob>(&message))
		return size_of(*job);
	if (const auto *node = std::get_if<core::SlurmNode>(&message))
		return k_keys_of_a_node + node->name.size() + node->reason.size() +
			node->features.size() + node->gres.size();
	return std::holds_alternative<core::PluginStats>(message) ? k_stats : k_gone;
}

void Feed::queue(codec::LinkMessage message)
{
	if (!open_ || dropped_)
		return;
	queue_bytes_ += line_size(message);
	queue_.push_back(std::move(message));
	if (queue_.size() > k_queue_lines_max || queue_bytes_ > k_queue_bytes_max) {
		dropped_ = true;
		queue_.clear();
	}
	changed_.set();
}

void Feed::job(core::SlurmJob job)
{
	std::lock_guard lock(mutex_);
	queue(job);
	std::uint32_t id = job.id.number;
	jobs_.insert_or_assign(id, std::move(job));
}

void Feed::job_gone(core::JobId id)
{
	std::lock_guard lock(mutex_);
	if (jobs_.erase(id.number) != 0)
		queue(codec::JobGone{id});
}

void Feed::node(core::SlurmNode node)
{
	std::lock_guard lock(mutex_);
	queue(node);
	std::string name = node.name;
	nodes_.insert_or_assign(std::move(name), std::move(node));
}

void Feed::node_gone(const std::string &name)
{
	std::lock_guard lock(mutex_);
	if (nodes_.erase(name) != 0)
		queue(codec::NodeGone{name});
}

void Feed::complete()
{
	std::lock_guard lock(mutex_);
	complete_ = true;
	changed_.set();
}

void Feed::reset()
{
	std::lock_guard lock(mutex_);
	complete_ = false;
	stale_ = open_;
	jobs_.clear();
	nodes_.clear();
	changed_.set();
}

bool Feed::is_complete() const
{
	std::lock_guard lock(mutex_);
	return complete_;
}

std::vector<codec::LinkMessage> Feed::open()
{
	std::lock_guard lock(mutex_);
	std::vector<codec::LinkMessage> snapshot;
	if (!complete_)
		return snapshot;
	snapshot.reserve(jobs_.size() + nodes_.size() + 2);
	snapshot.emplace_back(codec::SnapshotBegin{});
	for (const auto &[name, node] : nodes_)
		snapshot.emplace_back(node);
	for (const auto &[id, job] : jobs_)
		snapshot.emplace_back(job);
	snapshot.emplace_back(codec::SnapshotEnd{});
	queue_.clear();
	queue_bytes_ = 0;
	dropped_ = false;
	stale_ = false;
	open_ = true;
	return snapshot;
}

void Feed::close()
{
	std::lock_guard lock(mutex_);
	open_ = dropped_ = stale_ = false;
	queue_.clear();
	queue_bytes_ = 0;
}

bool Feed::is_dropped() const
{
	std::lock_guard lock(mutex_);
	return dropped_;
}

bool Feed::take(std::vector<codec::LinkMessage> &out)
{
	std::lock_guard lock(mutex_);
	out.clear();
	if (dropped_ || stale_ || !complete_)
		return false;
	out.swap(queue_);
	queue_bytes_ = 0;
	return true;
}

} // namespace slurmkube::plugin
