/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gangs.h - model controllers of pods that start together: Indexed Jobs, JobSets of two roles,
 * which may differ from each other, and PodGroups of standalone pods.
 *
 * An Indexed Job replaces single pods. A JobSet recreates all of its pods, under Jobs with new
 * uids. The pods of a PodGroup come and go individually. Controllers create pods with delays; a
 * JobSet may create the pods of its second role only when those of the first run. An owner can be
 * suspended, can fail, and can be deleted and created again under the same name.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_GANGS_H
#define SLURMKUBE_TESTSUITE_SIM_GANGS_H

#include "testsuite/sim/kube.h"

namespace slurmkube::sim
{

enum class GangSort { indexed_job, job_set, pod_group };

struct GangTruth {
	GangSort sort = GangSort::indexed_job;
	std::string name_space, name, uid;          /* the keys of its Slurm jobs contain uid */
	std::vector<std::size_t> component_of_role; /* written by create() */
	/* a PodGroup has one role, which only describes its pods */
	std::vector<core::Role> roles;
	std::uint32_t minimum = 0; /* PodGroup only */
	PodTruth mould;
	bool in_order = false;       /* later roles start when the first one runs */
	bool replaces_early = false; /* a pod, when its deletion begins, not when it is gone */
	Micros slowest = 0;          /* longest delay before the controller's next step */
	/* what webhooks and LimitRanges add to the pods of the last role; zeros: nothing */
	core::Resources growth;
	std::size_t first_with_devices = 0; /* role; those before it have no claims */
	int tries_left = 0;                 /* failures tolerated before the owner fails */
	unsigned generation = 0, made = 0;
	Micros restarted_at = -1; /* when the controller last recreated all pods */
	bool exists = true, is_suspended = false, is_finished = false, has_succeeded = false;
	std::map<std::uint32_t, std::string> pods_by_rank; /* uid of the latest pod */
	std::set<std::string> failures;                    /* uids of failed pods already counted */
};

/* The keys of the gang's Slurm jobs, one per component. */
std::vector<std::string> job_keys_of(const GangTruth &gang);

class Gangs
{
      public:
	Gangs(Stage &stage, Kube &kube);

	void create(GangTruth gang);
	/* The controller deletes the pods soon afterwards. is_made_anew: another owner of the
	 * same name follows. */
	void remove(const std::string &uid, bool is_made_anew);
	void set_suspended(const std::string &uid, bool is_suspended);
	/* Schedules the controller's next step. */
	void look(const std::string &uid);
	[[nodiscard]] std::optional<core::Owner> owner(const core::OwnerId &id) const;
	[[nodiscard]] const GangTruth *find(const std::string &uid) const;
	[[nodiscard]] std::vector<std::string> uids_if(
		const std::function<bool(const GangTruth &)> &wanted) const;
	[[nodiscard]] std::vector<const PodTruth *> members(const std::string &uid) const;

      private:
	void step(GangTruth &gang);
	void stop_all(const GangTruth &gang);
	void fill_ranks(GangTruth &gang);
	void fill_group(GangTruth &gang);
	void start_again(GangTruth &gang);
	bool forgive(GangTruth &gang, const std::string &pod_uid);
	[[nodiscard]] bool is_due(const GangTruth &gang, std::size_t role) const;
	bool pauses(const GangTruth &gang);
	void make(GangTruth &gang, std::size_t role, std::uint32_t index,
		std::optional<std::uint32_t> rank);

	Stage &stage_;
	Kube &kube_;
	std::map<std::string, GangTruth> gangs_; /* by uid, including deleted gangs */
};

} // namespace slurmkube::sim

#endif
