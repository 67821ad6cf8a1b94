/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/cluster_jobs.h"

#include "src/core/reconcile/reconcile.h"

#include <utility>

namespace slurmkube::core
{

bool ClusterJobs::seen(const std::string &uid)
{
	if (is_known_ && uid == ours_)
		return false;
	is_known_ = true;
	ours_ = uid;
	for (const auto &[id, marker] : std::exchange(other_names_, {})) {
		other_uids_.erase(other_uids_.find(marker.uid));
		if (marker.cluster_uid == ours_)
			add_other_name(id, marker);
	}
	return true;
}

void ClusterJobs::note(const SlurmJob &job)
{
	others_.erase(job.id);
	unknown_.erase(job.id);
	if (!is_live(job) || ours_.empty() || job.marker.cluster_uid == ours_)
		return;
	if (job.marker.cluster_uid.empty())
		unknown_.insert(job.id);
	else
		others_[job.id] = job.marker.cluster_uid;
}

void ClusterJobs::add_other_name(JobId id, const Marker &marker)
{
	other_names_[id] = marker;
	other_uids_.insert(marker.uid);
}

void ClusterJobs::note_other_name(const SlurmJob &job)
{
	forget_other_name(job.id);
	if (is_live(job) && !job.marker.cluster_uid.empty() &&
		(ours_.empty() || job.marker.cluster_uid == ours_))
		add_other_name(job.id, job.marker);
}

std::string ClusterJobs::forget_other_name(JobId id)
{
	auto known = other_names_.extract(id);
	if (known.empty())
		return {};
	other_uids_.erase(other_uids_.find(known.mapped().uid));
	return std::move(known.mapped().uid);
}

void ClusterJobs::forget_other_names()
{
	other_names_.clear();
	other_uids_.clear();
}

void ClusterJobs::forget(JobId id)
{
	others_.erase(id);
	unknown_.erase(id);
}

void ClusterJobs::forget_clusters()
{
	others_.clear();
	unknown_.clear();
}

bool ClusterJobs::has_other_name(const std::string &component_uid) const
{
	return other_uids_.contains(component_uid);
}

std::map<JobId, std::string> ClusterJobs::of_other_names() const
{
	std::map<JobId, std::string> found;
	for (const auto &[id, marker] : other_names_) {
		if (!marker.cluster_uid.empty() && marker.cluster_uid == ours_)
			found[id] = marker.cluster;
	}
	return found;
}

} // namespace slurmkube::core
