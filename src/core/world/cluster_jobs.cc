/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/cluster_jobs.h"

#include "src/core/reconcile/reconcile.h"

#include <algorithm>

namespace slurmkube::core
{

bool ClusterJobs::seen(const std::string &uid)
{
	if (is_known_ && uid == ours_)
		return false;
	is_known_ = true;
	ours_ = uid;
	std::erase_if(
		other_names_, [this](const auto &job) { return job.second.cluster_uid != ours_; });
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

void ClusterJobs::note_other_name(const SlurmJob &job)
{
	if (is_live(job) && !job.marker.cluster_uid.empty() &&
		(ours_.empty() || job.marker.cluster_uid == ours_))
		other_names_.insert_or_assign(job.id, job.marker);
	else
		other_names_.erase(job.id);
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

bool ClusterJobs::has_other_names() const
{
	return is_known_ && std::ranges::any_of(other_names_, [this](const auto &job) {
		return job.second.cluster_uid == ours_;
	});
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
