/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/feed.h"

#include <algorithm>
#include <string_view>

namespace slurmkube::plugin
{

namespace
{

constexpr std::size_t k_keys_of_a_job = 420, k_keys_of_a_node = 232, k_keys_of_a_share = 80,
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

bool is_of_same_cluster(const core::Marker &a, const core::Marker &b)
{
	return a.cluster == b.cluster && a.cluster_uid == b.cluster_uid;
}

bool is_live(core::JobState state)
{
	return state == core::JobState::pending || state == core::JobState::running ||
		state == core::JobState::suspended;
}

std::string conflict_text(
	const std::string &refused, const std::string &served, const std::string &cluster_uid)
{
	return "Cluster=" + refused + " and Cluster=" + served +
		" are one Kubernetes cluster (uid of namespace kube-system " + cluster_uid +
		"), and " + served +
		" is served: correct the kubeconfig of one of the two agents, or stop it";
}

/* Whether the comma-separated list has the entry. */
bool has_entry(std::string_view list, std::string_view entry)
{
	while (!list.empty()) {
		const std::size_t comma = std::min(list.find(','), list.size());
		if (list.substr(0, comma) == entry)
			return true;
		list.remove_prefix(std::min(comma + 1, list.size()));
	}
	return false;
}

} // namespace

std::size_t line_size(const codec::LinkMessage &message)
{
	if (const auto *job = std::get_if<core::SlurmJob>(&message))
		return size_of(*job);
	if (const auto *node = std::get_if<core::SlurmNode>(&message))
		return k_keys_of_a_node + node->name.size() + node->reason.size() +
			node->features.size() + node->gres.size() +
			(node->extra ? node->extra->size() : 0);
	return std::holds_alternative<core::PluginStats>(message) ? k_stats : k_gone;
}

/* ---- the keeper's end ---- */

void Feed::queue_job(const core::SlurmJob &job, const codec::LinkMessage &message)
{
	for (FeedReader *reader : readers_)
		if (reader->share_.has(job))
			reader->queue(message);
}

void Feed::job(core::SlurmJob job)
{
	std::lock_guard lock(mutex_);
	/* Slurm may use the number of a job that it has forgotten again. */
	const auto known = jobs_.find(job.id.number);
	if (known != jobs_.end() && !is_of_same_cluster(known->second.marker, job.marker))
		queue_job(known->second, codec::JobGone{job.id});
	queue_job(job, job);
	std::uint32_t id = job.id.number;
	jobs_.insert_or_assign(id, std::move(job));
}

void Feed::job_gone(core::JobId id)
{
	std::lock_guard lock(mutex_);
	const auto known = jobs_.find(id.number);
	if (known == jobs_.end())
		return;
	queue_job(known->second, codec::JobGone{id});
	jobs_.erase(known);
}

void Feed::node(core::SlurmNode node)
{
	std::lock_guard lock(mutex_);
	const auto known = nodes_.find(node.name);
	const core::SlurmNode *before = known == nodes_.end() ? nullptr : &known->second;
	for (FeedReader *reader : readers_)
		reader->queue_node(before, node);
	std::string name = node.name;
	nodes_.insert_or_assign(std::move(name), std::move(node));
}

void Feed::node_gone(const std::string &name)
{
	std::lock_guard lock(mutex_);
	const auto known = nodes_.find(name);
	if (known == nodes_.end())
		return;
	for (FeedReader *reader : readers_)
		if (reader->share_.has(known->second))
			reader->queue(codec::NodeGone{name});
	nodes_.erase(known);
}

void Feed::complete()
{
	std::lock_guard lock(mutex_);
	complete_ = true;
	for (FeedReader *reader : readers_)
		reader->changed_.set();
}

void Feed::reset()
{
	std::lock_guard lock(mutex_);
	complete_ = false;
	jobs_.clear();
	nodes_.clear();
	for (FeedReader *reader : readers_)
		reader->reset();
}

bool Feed::is_complete() const
{
	std::lock_guard lock(mutex_);
	return complete_;
}

/* ---- a link's end ---- */

bool FeedShare::has(const core::SlurmJob &job) const
{
	const auto is_of = [&job](const std::string &name) { return job.marker.cluster == name; };
	return cluster.empty() || is_of(cluster) || std::ranges::none_of(other_clusters, is_of) ||
		(!cluster_uid.empty() && job.marker.cluster_uid == cluster_uid);
}

bool FeedShare::has(const core::SlurmNode &node) const
{
	if (node.is_hybrid && !knows_hybrids)
		return false;
	const auto has = [&node](const std::string &one) { return has_entry(node.features, one); };
	return cluster.empty() || (has(feature) && std::ranges::none_of(other_features, has));
}

FeedReader::FeedReader(Feed &feed, FeedShare share) : feed_(feed), share_(std::move(share))
{
	std::lock_guard lock(feed_.mutex_);
	feed_.readers_.push_back(this);
}

FeedReader::~FeedReader()
{
	std::lock_guard lock(feed_.mutex_);
	std::erase(feed_.readers_, this);
}

void FeedReader::queue(const codec::LinkMessage &message)
{
	if (!open_ || dropped_)
		return;
	queue_bytes_ += line_size(message);
	queue_.push_back(message);
	if (queue_.size() > k_queue_lines_max || queue_bytes_ > k_queue_bytes_max) {
		dropped_ = true;
		queue_.clear();
	}
	changed_.set();
}

/* An administrator may move a node to another cluster: for this one it is gone then. */
void FeedReader::queue_node(const core::SlurmNode *before, const core::SlurmNode &now)
{
	if (share_.has(now))
		queue(now);
	else if (before && share_.has(*before))
		queue(codec::NodeGone{now.name});
}

void FeedReader::reset()
{
	stale_ = open_;
	changed_.set();
}

bool Feed::has_live_jobs(const std::string &cluster, const std::string &cluster_uid) const
{
	return std::ranges::any_of(jobs_, [&](const auto &entry) {
		const core::SlurmJob &job = entry.second;
		return job.marker.cluster == cluster && job.marker.cluster_uid == cluster_uid &&
			is_live(job.state);
	});
}

/* Whether no other name stands for the Kubernetes cluster: the agent of that name may be away. */
Status FeedReader::check_name_in_jobs(const std::string &cluster_uid) const
{
	if (feed_.has_live_jobs(share_.cluster, cluster_uid))
		return Ok{};
	for (const std::string &other : share_.other_clusters) {
		if (feed_.has_live_jobs(other, cluster_uid))
			return Error{Errc::conflict,
				"live jobs of this Kubernetes cluster (uid of namespace "
				"kube-system " +
					cluster_uid + ") bear the name of Cluster=" + other +
					": correct the kubeconfig of the agent of Cluster=" +
					share_.cluster +
					"; or, if the cluster has a new name, set cluster: " +
					other + " in slurmkubed.yaml until these jobs have ended"};
	}
	return Ok{};
}

/* A name keeps its Kubernetes cluster while slurmctld runs, also while its agent is away: the other
 * agent would submit jobs for its pods meanwhile. */
Status FeedReader::take_over(const std::string &cluster_uid)
{
	share_.cluster_uid = cluster_uid;
	if (cluster_uid.empty())
		return Ok{};
	auto &served = feed_.served_;
	std::erase_if(served, [&](const auto &entry) {
		return entry.second == share_.cluster && entry.first != cluster_uid;
	});
	if (!served.contains(cluster_uid)) {
		if (const Status own = check_name_in_jobs(cluster_uid); !own)
			return own;
	}
	const auto [owner, is_new] = served.emplace(cluster_uid, share_.cluster);
	const std::string before = owner->second;
	if (is_new || before == share_.cluster)
		return Ok{};
	if (feed_.has_live_jobs(before, cluster_uid) ||
		!feed_.has_live_jobs(share_.cluster, cluster_uid))
		return Error{Errc::conflict, conflict_text(share_.cluster, before, cluster_uid)};
	owner->second = share_.cluster;
	for (FeedReader *other : feed_.readers_) {
		if (!other->open_ || other->share_.cluster != before)
			continue;
		other->refusal_ = conflict_text(before, share_.cluster, cluster_uid);
		other->changed_.set();
	}
	return Ok{};
}

Result<std::vector<codec::LinkMessage>> FeedReader::open(
	const std::string &cluster_uid, bool knows_hybrids)
{
	std::lock_guard lock(feed_.mutex_);
	if (!feed_.complete_)
		return Error{Errc::again, "this slurmctld is not in control any more"};
	const Status served = take_over(cluster_uid);
	if (!served)
		return served.error();
	share_.knows_hybrids = knows_hybrids;
	std::vector<codec::LinkMessage> snapshot;
	snapshot.emplace_back(codec::SnapshotBegin{});
	for (const auto &[name, node] : feed_.nodes_)
		if (share_.has(node))
			snapshot.emplace_back(node);
	for (const auto &[id, job] : feed_.jobs_)
		if (share_.has(job))
			snapshot.emplace_back(job);
	snapshot.emplace_back(codec::SnapshotEnd{});
	queue_.clear();
	queue_bytes_ = 0;
	dropped_ = false;
	stale_ = false;
	open_ = true;
	return snapshot;
}

void FeedReader::close()
{
	std::lock_guard lock(feed_.mutex_);
	open_ = dropped_ = stale_ = false;
	share_.cluster_uid.clear();
	refusal_.clear();
	queue_.clear();
	queue_bytes_ = 0;
}

bool FeedReader::is_dropped() const
{
	std::lock_guard lock(feed_.mutex_);
	return dropped_;
}

std::string FeedReader::refusal() const
{
	std::lock_guard lock(feed_.mutex_);
	return refusal_;
}

bool FeedReader::take(std::vector<codec::LinkMessage> &out)
{
	std::lock_guard lock(feed_.mutex_);
	out.clear();
	if (dropped_ || stale_ || !feed_.complete_ || !refusal_.empty())
		return false;
	out.swap(queue_);
	queue_bytes_ = 0;
	return true;
}

} // namespace slurmkube::plugin
