/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts_reader.h - gathers the facts on which reconcile() decides, from what World knows.
 *
 * It changes nothing that World knows: whatever must be remembered goes into Findings. A reader
 * serves one look at one component and must not outlive its sources.
 */
#ifndef SLURMKUBE_CORE_WORLD_FACTS_READER_H
#define SLURMKUBE_CORE_WORLD_FACTS_READER_H

#include "src/core/device/rank_deal.h"
#include "src/core/gang/rank_layout.h"
#include "src/core/reconcile/together.h"
#include "src/core/translate/translate.h"
#include "src/core/world/findings.h"
#include "src/core/world/members.h"
#include "src/core/world/node_filter.h"
#include "src/core/world/node_planner.h"
#include "src/core/world/state.h"
#include "src/core/world/unanswered.h"

namespace slurmkube::core
{

/* Workloads of several components that do not have all their nodes, by workload_key(). */
struct Holdings {
	/* workloads that had nodes for some components only, and gave them back */
	std::map<std::string, Tries> tries;
	/* workloads that hold nodes for some components and wait for the rest */
	std::map<std::string, Holding> held;
};

struct FactSources {
	const State &state;
	const NodeFilter &filter;
	const Clocks &clocks;
	const NodePlanner &nodes;
	const Unanswered &unanswered;
	const Holdings &holdings;
	/* Jobs that are known only from the answers to our own submissions, and until when that
	 * suffices (monotonic microseconds). */
	const std::map<JobId, std::int64_t> &provisional;
	std::size_t held_absent_pods; /* see World::held_absent_pods() */
};

class FactsReader
{
      public:
	FactsReader(const FactSources &from, Findings &found)
	    : state_(from.state), filter_(from.filter), clocks_(from.clocks), nodes_(from.nodes),
	      unanswered_(from.unanswered), holdings_(from.holdings),
	      provisional_(from.provisional), held_absent_pods_(from.held_absent_pods),
	      found_(found), now_(found.now())
	{
	}

	/* spec: owned by the caller. The facts point to it, so it must live as long as they do. */
	ComponentFacts facts_of_pod(const PodUid &uid, const PodEntry &entry,
		std::optional<Result<JobSpec>> &spec) const;
	ComponentFacts facts_of_gang(const PodUid &key, std::optional<Result<JobSpec>> &spec) const;
	/* Adds what the other components of the workload need to know about this one. */
	void note_end_together(const PodUid &key, const Gang &gang, ComponentFacts &facts) const;
	void note_component(const PodUid &key, ComponentFacts &facts) const;
	/* Pods that wait together may each have room without all of them having room at once. Notes
	 * that for the pods of one component, or of all components of a workload. */
	void note_common_room(const std::vector<ComponentFacts *> &components) const;
	/* How long a workload may hold nodes while it waits for the rest. key: of its first
	 * component. */
	[[nodiscard]] HoldLimit hold_limit(const PodUid &key) const;
	/* To be called after stand_together(). Notes since when the allocation has been wrong: from
	 * then on the API server is asked whether its pods are really unbound. */
	void note_letting_go(const PodUid &key, ComponentFacts &facts) const;

	/* Where a pod can be bound in the native job that it names (native_pods.cc). */
	[[nodiscard]] Result<NativePlace> native_place_of(
		const PodUid &uid, const PodEntry &entry, const JobSpec &spec) const;

	/* The pod with the lowest rank, or else the template that stands in for it; nullptr:
	 * neither exists. */
	[[nodiscard]] const Pod *first_member(const Gang &gang) const;
	[[nodiscard]] GangPlan plan_of(const Gang &gang, const Pod &first) const;

      private:
	/* ---- a component; a pod alone: pod_facts.cc, job_facts.cc, job_verdicts.cc ---- */
	[[nodiscard]] ComponentFacts facts_of_component(
		const PodUid &key, const Component &component) const;
	void note_absence(const PodUid &uid, const PodEntry &entry, PodSide side,
		ComponentFacts &facts) const;
	void note_place(const PodUid &uid, const PodEntry &entry, ComponentFacts &facts) const;
	void note_wishes(const PodUid &uid, const PodEntry &entry, PodSide side,
		std::optional<Result<JobSpec>> &spec, ComponentFacts &facts) const;
	[[nodiscard]] bool has_given_way_time(
		const PodUid &uid, const Component &component, bool is_in_the_way) const;
	void forget_old_end(const PodUid &key, ComponentFacts &facts) const;
	void note_wrong_allocation(
		const PodUid &key, const Component &component, ComponentFacts &facts) const;
	[[nodiscard]] bool is_submit_due(const PodUid &key) const;
	[[nodiscard]] bool is_surely_gone(
		const PodUid &uid, const PodEntry &entry, JobSide job) const;
	[[nodiscard]] std::vector<JobId> surplus_of(
		const PodUid &key, const Component &component, const SlurmJob *current) const;
	[[nodiscard]] bool is_surely_native(const PodUid &uid, const Component &component) const;
	/* ---- a pod with a rank, and its node: rank_facts.cc, node_exclusions.cc, claim_facts.cc,
	 * room.cc ---- */
	[[nodiscard]] bool is_deletion_slow(const Pod &pod) const;
	[[nodiscard]] std::optional<DeletePod> eviction_of(
		const PodEntry &entry, const SlurmJob *job) const;
	/* On a hybrid node; see RankFacts::is_on_lost_node. */
	[[nodiscard]] bool is_on_lost_node(const PodUid &uid, const PodEntry &entry) const;
	[[nodiscard]] bool is_start_expired(
		const PodUid &uid, const PodEntry &entry, const SlurmJob *job) const;
	[[nodiscard]] RankFacts facts_of_rank(const PodUid &uid, const PodEntry &entry,
		const Component &component, const SlurmJob *job) const;
	[[nodiscard]] PlaceFacts facts_of_place(const PodUid &uid, const PodEntry &entry,
		const PodUid &key, std::string name) const;
	[[nodiscard]] bool must_give_way(const std::string &node) const;
	[[nodiscard]] bool is_lost(const std::string &node) const;
	[[nodiscard]] Result<const NodeExclusions *> exclusions_of_pod(const PodUid &uid,
		const Pod &pod, const JobSpec &spec, std::uint32_t at_once,
		std::optional<NodeExclusions> &own) const;
	/* at_once: number of the gang's pods that come to one node together */
	void place(const PodUid &uid, const Pod &pod, std::optional<Result<JobSpec>> &spec,
		std::uint32_t at_once = 1) const;
	void hold_for_claims(const PodUid &uid, const Pod &pod,
		std::optional<Result<JobSpec>> &spec, std::optional<Condition> &waits_for) const;
	void check_claims(const PodUid &uid, const PodEntry &entry, const KubeNode &node,
		PlaceFacts &facts) const;
	/* ---- claims for devices: device_facts.cc ---- */
	[[nodiscard]] Status check_cpus(const Pod &pod, const DeviceDemand &demand) const;
	void hold_for_devices(const PodUid &uid, const Pod &pod, PodSide side,
		std::optional<Result<JobSpec>> &spec, std::optional<Condition> &waits_for) const;
	void check_devices(
		const PodUid &uid, const Pod &pod, const SlurmJob &job, RankFacts &rank) const;
	void refuse_deal(const PodUid &uid, const Error &why, const std::string &node,
		PlaceFacts &facts) const;
	/* users: of the claims that pods of a gang share */
	using SharedUsers = std::map<const ResourceClaim *, ClaimUsers>;
	void follow_deals(const PodUid &uid, const Pod &pod, const std::vector<ClaimDeal> &deals,
		const SharedUsers &users, RankFacts &rank) const;
	[[nodiscard]] bool is_being_vacated(const DeviceId &device) const;
	bool is_in_use(const ClaimDeal &one, PlaceFacts &facts) const;
	void take_step(const PodUid &uid, const Pod &pod, const ClaimDeal &one,
		const SharedUsers &users, RankFacts &rank) const;
	void wait_for_devices(const PodUid &uid, PlaceFacts &facts) const;
	void map_requests(const PodUid &uid, const Pod &pod, RankFacts &rank) const;
	void note_stale_claim(const PodEntry &entry, const SlurmJob *job, RankFacts &rank) const;
	/* ---- those of a gang: gang_devices.cc ---- */
	[[nodiscard]] std::map<std::string, std::vector<RankFacts *>> ranks_with_claims(
		ComponentFacts &facts) const;
	void note_unread_claims(const Gang &gang, ComponentFacts &f) const;
	void check_gang_devices(const Gang &gang, ComponentFacts &facts) const;
	void forbid_other_nodes(ComponentFacts &facts) const;
	[[nodiscard]] SharedUsers users_of_shared(
		const std::vector<RankFacts *> &ranks, const std::vector<RankClaims> &claims) const;
	[[nodiscard]] Result<std::vector<const ResourceClaim *>> claims_of_bound(
		const Pod &pod) const;
	[[nodiscard]] std::vector<RankClaims> claims_of_ranks(
		std::vector<RankFacts *> &ranks, bool is_provisional) const;
	void hold_together(ComponentFacts &facts) const;
	[[nodiscard]] std::optional<AllocateDevices> sent_for(const RankFacts &rank) const;
	void check_devices_on(const NodeAllocation &slot, std::vector<RankFacts *> ranks,
		bool is_provisional) const;
	[[nodiscard]] bool has_hybrid_nodes(const SlurmJob &job) const;
	/* The microseconds between the end of a job and the next one. */
	[[nodiscard]] std::int64_t pause_after(
		const SlurmJob &job, std::uint32_t next_attempt, unsigned failures) const;
	[[nodiscard]] bool is_prolog_late(const PodUid &key, const ComponentFacts &facts) const;
	[[nodiscard]] bool is_room_late(const PodUid &key, const ComponentFacts &facts) const;
	[[nodiscard]] bool is_unbindable_long(const PodUid &key, const ComponentFacts &facts) const;
	void note_placeless(ComponentFacts &facts) const;
	[[nodiscard]] std::string holder_text(const std::string &node) const;
	[[nodiscard]] std::string crowded_text(const Crowded &crowded, const Pod &pod) const;
	void exclude_crowded(const PodUid &uid, const Pod &pod, NodeExclusions &exclusions) const;
	void exclude_recordless(NodeExclusions &exclusions) const;
	/* ---- a gang: gang_facts.cc, member_facts.cc, gang_spec.cc, gang_roles.cc ---- */
	void exclude_siblings(
		const PodUid &key, const RolePods &roles, std::set<std::string> &excluded) const;
	void note_first_attempt(const Gang &gang, const ComponentFacts &facts) const;
	[[nodiscard]] bool are_nodes_known(const Members &members) const;
	void note_gang_absence(const PodUid &key, const Gang &gang, ComponentFacts &facts) const;
	void note_gang_times(const PodUid &key, const Gang &gang, const Members &members,
		ComponentFacts &facts) const;
	void note_ranks(const PodUid &key, const Gang &gang, const Members &members,
		ComponentFacts &facts) const;
	void note_what_is_missing(const PodUid &key, const Gang &gang, ComponentFacts &facts) const;
	[[nodiscard]] Members members_of(const Gang &gang) const;
	[[nodiscard]] RankLayout layout_of(
		const Gang &gang, const Members &members, const SlurmJob &job) const;
	void rank_holders(const Gang &gang, const Members &members, const SlurmJob &job,
		const std::vector<std::string> &node_of_task, RankLayout &layout) const;
	[[nodiscard]] std::uint64_t memory_of_member(const Gang &gang, const RankFacts &r,
		const RankLayout &layout, const SlurmJob &job) const;
	[[nodiscard]] RankFacts facts_of_member(const Gang &gang, const Component &component,
		const Member &member, const RankLayout &layout, const SlurmJob *job) const;
	[[nodiscard]] NodeSizes node_sizes(const std::set<std::string> &excluded) const;
	[[nodiscard]] std::vector<Rank> ranks_as_seen(const Gang &gang) const;
	[[nodiscard]] Result<JobSpec> spec_of_first(
		const PodUid &key, const Gang &gang, const Pod &first, const RolePods &roles) const;
	void check_room(const GangPlan &plan, std::optional<Result<JobSpec>> &spec) const;
	void spec_of(
		const PodUid &key, const Gang &gang, std::optional<Result<JobSpec>> &spec) const;
	[[nodiscard]] bool is_in_service(const std::string &node) const;
	void pin_nodes(const Members &members, ComponentFacts &facts) const;
	[[nodiscard]] RolePods unlike_ones(
		const Gang &gang, std::map<std::uint32_t, RolePod> by_rank) const;
	[[nodiscard]] RolePods pods_of_roles(const Gang &gang) const;
	[[nodiscard]] static std::int64_t deadline_of(const RolePods &roles);
	[[nodiscard]] Status check_roles(const Gang &gang, const RolePods &roles) const;
	void exclude_for_roles(const PodUid &key, const Gang &gang, const RolePods &roles,
		std::uint32_t per_node, std::optional<Result<JobSpec>> &spec) const;
	/* ---- changes of a pending job: change_facts.cc ---- */
	void note_options(const PodUid &uid, const Pod &pod, const Component &component,
		std::optional<Result<JobSpec>> &spec, ComponentFacts &facts) const;
	void note_exclusions_change(const PodUid &uid, const Pod &pod, const Component &component,
		std::optional<Result<JobSpec>> &spec, ComponentFacts &facts) const;
	void note_gang_change(const PodUid &key, const Gang &gang, const Component &component,
		std::optional<Result<JobSpec>> &spec, ComponentFacts &facts) const;

	const State &state_;
	const NodeFilter &filter_;
	const Clocks &clocks_;
	const NodePlanner &nodes_;
	const Unanswered &unanswered_;
	const Holdings &holdings_;
	const std::map<JobId, std::int64_t> &provisional_;
	std::size_t held_absent_pods_;
	Findings &found_;
	Now now_;
};

} // namespace slurmkube::core

#endif
