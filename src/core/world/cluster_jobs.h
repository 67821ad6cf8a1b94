/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cluster_jobs.h - which Kubernetes cluster this is, and which live jobs stand for pods of which
 * cluster.
 *
 * A cluster is identified by the uid of its namespace kube-system, which agents write into their
 * markers. If live jobs have our cluster's name and another uid, a kubeconfig is wrong. This store
 * knows no other store.
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
	/* ours: the uid that was known earlier, or empty. */
	explicit ClusterJobs(std::string ours = {}) : ours_(std::move(ours)) {}

	/* The API server has said which cluster it serves. Returns false if that was known
	 * already. */
	bool seen(const std::string &uid);
	/* The API server may belong to another cluster, until it says which. */
	void doubt() { is_known_ = false; }
	[[nodiscard]] bool is_known() const { return is_known_; }
	/* Uid of this cluster; empty: never known so far. */
	[[nodiscard]] const std::string &ours() const { return ours_; }

	/* A job whose marker has our cluster's name. Replaces what was known about that job id. */
	void note(const SlurmJob &job);
	/* A job whose marker has another cluster's name. */
	void note_other_name(const SlurmJob &job);
	/* Returns the job's Marker::uid; empty: it is not known. */
	std::string forget_other_name(JobId id);
	void forget_other_names();
	void forget(JobId id);
	/* After seen() with another uid: the jobs of our name have to be noted again. */
	void forget_clusters();

	/* Live jobs under our cluster's name whose pods belong to another cluster, with that
	 * cluster's uid. */
	[[nodiscard]] const std::map<JobId, std::string> &of_other_clusters() const
	{
		return others_;
	}
	/* Live jobs of this cluster under another name than that in the configuration, with that
	 * name. */
	[[nodiscard]] std::map<JobId, std::string> of_other_names() const;
	/* Whether such a job stands for the component: its pods must not get a second job. */
	[[nodiscard]] bool has_other_name(const std::string &component_uid) const;
	/* Live jobs under our cluster's name whose markers contain no uid. */
	[[nodiscard]] const std::set<JobId> &of_unknown_clusters() const { return unknown_; }

      private:
	void add_other_name(JobId id, const Marker &marker);

	bool is_known_ = false;
	std::string ours_;
	std::map<JobId, std::string> others_;
	/* under other names; they are of this cluster if the uid says so */
	std::map<JobId, Marker> other_names_;
	std::multiset<std::string> other_uids_; /* Marker::uid of other_names_ */
	std::set<JobId> unknown_;
};

} // namespace slurmkube::core

#endif
