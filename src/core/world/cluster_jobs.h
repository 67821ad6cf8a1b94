/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cluster_jobs.h - which cluster this is, and of which live jobs stand for pods.
 *
 * A cluster is known by the uid of its namespace kube-system, which each marker has. Live jobs of
 * our name and of another uid mean that a kubeconfig is wrong. Knows no other store.
 */
#ifndef SLURMKUBE_CORE_WORLD_CLUSTER_JOBS_H
#define SLURMKUBE_CORE_WORLD_CLUSTER_JOBS_H

#include "src/core/model/job.h"

#include <map>
#include <set>
#include <string>

namespace slurmkube::core
{

class ClusterJobs
{
      public:
	/* ours: as it was said before, or empty */
	explicit ClusterJobs(std::string ours = {}) : ours_(std::move(ours)) {}

	/* The API server has said which cluster it is. false: that is known. */
	bool seen(const std::string &uid);
	/* It may be another by now, until the API server says so. */
	void doubt() { is_known_ = false; }
	[[nodiscard]] bool is_known() const { return is_known_; }
	/* Uid of the cluster; empty: it has never been said. */
	[[nodiscard]] const std::string &ours() const { return ours_; }

	/* A job of our name: it replaces what was known of that number. */
	void note(const SlurmJob &job);
	/* A job of another name. */
	void note_other_name(const SlurmJob &job);
	void forget_other_name(JobId id) { other_names_.erase(id); }
	void forget_other_names() { other_names_.clear(); }
	void forget(JobId id);
	/* Jobs of our name have to be noted again: seen() said another uid. */
	void forget_clusters();

	/* Live jobs under our name whose pods are another cluster's, and its uid. */
	[[nodiscard]] const std::map<JobId, std::string> &of_other_clusters() const
	{
		return others_;
	}
	/* Of this very cluster, under another name than the configuration has. */
	[[nodiscard]] std::map<JobId, std::string> of_other_names() const;
	/* Live jobs whose markers do not say it. */
	[[nodiscard]] const std::set<JobId> &of_unknown_clusters() const { return unknown_; }

      private:
	bool is_known_ = false;
	std::string ours_;
	std::map<JobId, std::string> others_;
	std::map<JobId, Marker> other_names_; /* which may be of this cluster */
	std::set<JobId> unknown_;
};

} // namespace slurmkube::core

#endif
