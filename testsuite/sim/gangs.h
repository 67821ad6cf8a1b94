/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gangs.h - model controllers of pods that start together: Indexed Jobs, JobSets of two roles,
 * which may be unlike, PodGroups of loose pods.
 *
 * An Indexed Job replaces single pods; a JobSet makes all of them anew, under Jobs with new uids;
 * the pods of a PodGroup come and go one by one. Their pods come late, some of a JobSet only when
 * others run. An owner may be suspended, fail, be deleted, and be made anew under its old name.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_GANGS_H
#define SLURMKUBE_TESTSUITE_SIM_GANGS_H

#include "testsuite/sim/kube.h"

namespace slurmkube::sim
{

enum class GangSort { indexed_job, job_set, pod_group };

struct GangTruth {
	GangSort sort = GangSort::indexed_job;
	std::string name_space, name, uid;          /* uid: of its Slurm jobs' keys */
	std::vector<std::size_t> component_of_role; /* written by create() */
	/* of a PodGroup one, which only says what its pods are like */
	std::vector<core::Role> roles;
	std::uint32_t minimum = 0; /* of a PodGroup */
	PodTruth mould;
	bool in_order = false;       /* later roles come when the first one runs */
	bool replaces_early = false; /* at the deletion of a pod, not when it has gone */
	Micros slowest = 0;          /* a controller may take so long for the next step */
	/* what webhooks and LimitRanges add to the pods of its last role; zeros: nothing */
	core::Resources growth;
	int tries_left = 0; /* failures that it forgives */
	unsigned generation = 0, made = 0;
	Micros restarted_at = -1; /* when its controller last made all pods anew */
	bool exists = true, is_suspended = false, is_finished = false, has_succeeded = false;
	std::map<std::uint32_t, std::string> pods_by_rank; /* uid of the latest pod */
	std::set<std::string> failures;                    /* uids that were counted */
};

/* One for each component. */
std::vector<std::string> job_keys_of(const GangTruth &gang);

class Gangs
{
      public:
	Gangs(Stage &stage, Kube &kube);

	void create(GangTruth gang);
	/* Its pods go soon after. is_made_anew: another of its name comes. */
	void remove(const std::string &uid, bool is_made_anew);
	void set_suspended(const std::string &uid, bool is_suspended);
	/* The controller looks in a while. */
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
	std::map<std::string, GangTruth> gangs_; /* by uid; deleted ones too */
};

} // namespace slurmkube::sim

#endif
