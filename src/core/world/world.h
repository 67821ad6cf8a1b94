/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world.h - everything that was observed, by pod and component, and what follows from it.
 *
 * This is the agent's only state. Its single thread owns it; the simulator drives the same class.
 * Sources call observe(), the results of actions come back through answer(), and take_actions()
 * says what to do next. Nothing here does I/O or reads a clock: every call that needs the time is
 * given Now.
 *
 * Invariants: a pod holds its share of a node (Occupancy) from the moment its binding is sent until
 * it is terminal or gone; no action is returned while State::is_known() is false, except look-ups
 * of pods and reports that slurmctld is away; an action of one kind for one pod is not returned
 * again before its answer.
 */
#ifndef SLURMKUBE_CORE_WORLD_WORLD_H
#define SLURMKUBE_CORE_WORLD_WORLD_H

#include "src/core/gang/rank_layout.h"
#include "src/core/reconcile/together.h"
#include "src/core/translate/translate.h"
#include "src/core/world/answers.h"
#include "src/core/world/change_log.h"
#include "src/core/world/clocks.h"
#include "src/core/world/facts_reader.h"
#include "src/core/world/figures.h"
#include "src/core/world/members.h"
#include "src/core/world/node_filter.h"
#include "src/core/world/node_planner.h"
#include "src/core/world/observation.h"
#include "src/core/world/placing_queue.h"
#include "src/core/world/review_queue.h"
#include "src/core/world/state.h"
#include "src/core/world/unanswered.h"
#include "src/core/world/work_queue.h"

#include <set>

namespace slurmkube::core
{

class World
{
      public:
	explicit World(Settings settings) : state_(std::move(settings)) {}

	/* ---- observing and answering ---- */
	void observe(Observation seen, Now now = {});
	void answer(Answer answer, Now now);

	/* ---- acting ---- */
	struct PodAction {
		PodUid pod;
		Action action;
	};
	std::vector<PodAction> take_actions(Now now);
	std::vector<NodeAction> take_node_actions(Now now);
	/* Owners to ask for; OwnerSeen must follow for each. */
	std::vector<OwnerId> take_questions(Now now);
	/* Nodes that no watch shows or that are not Ready; NodeLookUpAnswered must follow. */
	std::set<std::string> take_node_questions(Now now);
	bool take_names(Now now); /* true: with other names, so Slurm must report all again */
	/* A native job to ask slurmctld about; NativeJobAnswered must follow. */
	std::optional<JobId> take_job_question(Now now);
	/* The earliest time (mono_us) at which take_actions() may return something without an
	 * event; nullopt: none. */
	[[nodiscard]] std::optional<std::int64_t> next_look_us() const { return queue_.next_us(); }

	/* After LinkOpened and LeaseSeen: whether pods and nodes must be listed again; earlier
	 * lists must not be reported then. Returns true once per request. */
	bool take_list_request() { return state_.sync.take_list_request(); }
	/* What may look different since it was last taken; see ChangeLog::keep(). */
	[[nodiscard]] ChangeLog &changes() { return changes_; }

	/* ---- views ---- */
	[[nodiscard]] const State &state() const { return state_; }
	[[nodiscard]] const NodePlanner &nodes() const { return nodes_; }
	[[nodiscard]] const NodeNames &names() const { return state_.settings.nodes.names; }
	/* The node, with allocatable reduced by the requests of other schedulers' pods. */
	[[nodiscard]] KubeNode as_left(const KubeNode &node) const
	{
		return filter_.as_left(state_, node);
	}
	/* More nodes are not Ready, or absent, than can be believed: none counts as lost. */
	[[nodiscard]] bool holds_unready_nodes() const
	{
		return nodes_.holds_unready(
			state_.slurm_nodes.size(), state_.settings.nodes.max_gone_percent);
	}
	[[nodiscard]] bool holds_absent_nodes() const
	{
		return nodes_.holds_absent(
			state_.slurm_nodes.size(), state_.settings.nodes.max_gone_percent);
	}
	/* The number of jobs without pods if it is too large to be believed, else 0. */
	[[nodiscard]] std::size_t held_absent_pods() const { return held_absent_pods_; }
	/* Users that annotations of namespaces name and that were not looked up or found. */
	[[nodiscard]] std::set<std::string> users_wanted() const;
	/* The owner for which the pod's grouping waits, as text for users; empty: none. */
	[[nodiscard]] std::string wanted_owner(const PodUid &uid) const;
	[[nodiscard]] const Unanswered &unanswered() const { return unanswered_; }
	[[nodiscard]] const StageLatencies &stage_latencies() const
	{
		return figures_.stage_latencies;
	}
	[[nodiscard]] const Clocks &clocks() const { return clocks_; }
	[[nodiscard]] const Counters &counters() const { return figures_.counters; }
	[[nodiscard]] const BindAttempts &bind_attempts() const { return figures_.bind_attempts; }

      private:
	struct OwnerTurn { /* the pod whose owners were asked for last, and the next turn */
		PodUid last;
		std::int64_t next_us = 0;
	};

	/* ---- one function for each Observation and Answer: world/facade.cc ---- */
	struct Observer;
	struct Answerer;
	void pod_seen(Pod pod, Now now);
	void pod_gone(const PodUid &uid, std::optional<Pod> last, Now now);
	void pods_listed(const std::set<std::string> &live_uids, Now now);
	void node_seen(KubeNode node, Now now);
	void node_gone(const std::string &name, Now now);
	void nodes_listed(const std::set<std::string> &live_uids);
	void cluster_seen(std::string uid);
	void lease_seen(LeaseState seen);
	void namespace_seen(Namespace seen);
	void namespace_gone(const std::string &name);
	void namespaces_listed(const std::set<std::string> &live_uids);
	void set_settings(Settings fresh);
	void forget_refusals();
	void set_identity_rules(std::vector<NamespaceRule> rules, std::uint32_t min_uid);
	void user_found(const std::string &name, const Result<SlurmUser> &person);
	void owner_seen(const OwnerId &id, Result<std::optional<Owner>> answer, Now now);
	void foreign_seen(Pod pod);
	void foreign_gone(const PodUid &uid);
	void foreign_listed(const std::set<std::string> &live_uids);
	void claim_seen(Claim claim, Now now);
	void claim_gone(const ClaimId &id);
	void volume_seen(Volume volume);
	void volume_gone(const std::string &name);
	void class_seen(StorageClass storage_class);
	void class_gone(const std::string &name);
	void partitions_refused(std::map<std::string, std::string> refused);
	void link_opened(PluginHello hello);
	void job_seen(SlurmJob job, Now now);
	void job_gone(JobId id, Now now);
	void slurm_node_seen(SlurmNode node);
	void slurm_node_gone(const std::string &name);
	void snapshot_ended(Now now);
	void submitted(const PodUid &pod, const Result<Submitted> &answer, Now now);
	void updated(const PodUid &pod, const std::string &mark, JobId job, const Status &answer,
		Now now);
	void completed(const PodUid &pod, const Status &answer, bool was_cancel, Now now);
	void bound(const PodUid &pod, const Status &answer, Now now);
	void claim_written(const PodUid &pod, const Status &answer, Now now);
	void pod_deleted(
		const PodUid &pod, const Status &answer, std::optional<Eviction> cause, Now now);
	void reported(const PodUid &pod, const Status &answer, Now now);
	void pods_looked_up(const PodUid &key, const Result<PodLookup> &sight, Now now);
	void note_look(const PodUid &pod, PodEntry &entry, const Error *error, Now now);
	void looked_up(const PodUid &pod, const Result<PodLookup> &sight, Now now);
	void node_changed(const std::string &name, const Status &answer, Now now);
	void node_looked_up(const std::string &name, const Result<NodeLookup> &sight, Now now);

	PodEntry &touch_pod(const PodUid &uid);
	Component &touch_component(const PodUid &key);
	void look_later(const PodUid &uid, std::int64_t at_us);
	void drop_if_empty(const PodUid &uid);
	void remember_job(const PodUid &uid, SlurmJob job, Now now);
	void forget_job(JobId id);
	void forget_evictions(const PodUid &key, Component &component, JobId live);
	void leave_with_job(const PodUid &uid, const SlurmJob &job);
	/* ---- pods out of sight: world/unseen_pods.cc ---- */
	void note_unseen(const PodUid &uid, Now now);
	void seen_again(const PodUid &uid, PodEntry &entry);
	void look_for_unseen(Now now, std::vector<PodAction> &out);
	void count_absent_pods();
	[[nodiscard]] bool is_out_of_sight(const PodUid &uid) const;
	void forget_provisional(const PodUid &uid, Now now);
	void note_vanished(const PodUid &uid, JobId id, Now now);
	void note_end(const PodUid &uid, PodEntry &entry, const Pod &pod, Now now);
	[[nodiscard]] NodeView node_view() const;
	[[nodiscard]] FactSources sources() const
	{
		return {state_, filter_, clocks_, nodes_, unanswered_, holdings_,
			provisional_until_us_, held_absent_pods_};
	}
	void note_stray(const PodUid &key, Component &component, const SlurmJob &job);
	void note_strays(const PodUid &key);
	void note_pod_times(PodEntry &entry, const Pod &pod, Now now);
	void note_job_times(Component &component, const SlurmJob &job, Now now);
	void look_for_late_binding(
		const PodUid &uid, PodEntry &entry, Now now, std::vector<PodAction> &out);
	void settle_share(const PodUid &uid, PodEntry &entry, Now now);
	void wake_waiters(const std::string &node);
	void wake_unbound(const std::string &name_space); /* empty: of all */
	void retry_all();
	/* Ends back-offs after passing failures, because their cause is gone. */
	void retry_now(const PodUid &key);
	void failed(Retries &retries, const PodUid &uid, const Error &error, Now now);
	void note_unsubmitted(const PodUid &pod, Component &component, const Error &error, Now now);
	[[nodiscard]] SlurmJob job_as_answered(
		const PodUid &pod, const Component &component, const Submitted &answer) const;
	/* error: nullptr if the request succeeded */
	void note_answer(const PodUid &uid, const Error *error, Now now);

	/* ---- placement: world/node_changes.cc, world/taints.cc, world/options.cc ---- */
	void note_constraints(const Pod &pod);
	void note_tolerations(const Pod &pod);
	[[nodiscard]] bool counts_for_taints(const Pod &pod) const;
	[[nodiscard]] bool is_tolerated_by_any(const Taint &taint) const;
	void taints_changed(const std::vector<Taint> &taints);
	void review_taints(Now now);
	void forget_constraints(const PodUid &uid);
	static void note_submitted_exclusions(
		Component &component, const SlurmJob *job, Action &action);
	void review_exclusions(Now now);
	void place_changed();
	void others_changed(const std::set<std::string> &nodes);
	/* ---- pods beside a pod: world/node_changes.cc ---- */
	void nearby_pods_changed();
	void wake_waiting_for_peer();
	void namespaces_changed();
	void select_namespaces(Pod &pod);
	/* ---- volume claims: world/claims.cc ---- */
	void wake_claimants(const std::set<PodUid> &users);
	void wake_all_claimants();
	/* ---- gangs: world/{owners,members,ranks,room,holding,act}.cc ---- */
	[[nodiscard]] Result<Grouping> grouping_of(PodEntry &entry) const;
	void assign(const PodUid &uid, PodEntry &entry, Now now);
	bool has_other_owner(PodEntry &entry, Grouping &grouping);
	void join(const PodUid &uid, PodEntry &entry, InGang in, Now now);
	void stay_alone(PodEntry &entry, std::map<std::string, std::string> inherited);
	static void inherit(PodEntry &entry, std::map<std::string, std::string> inherited);
	void inherit_again(const PodUid &uid, PodEntry &entry);
	void ask_owners_again(Now now);
	void owner_changed(const OwnerId &id);
	Gang &gang_at(const PodUid &key, const GangId &id, Now now);
	void take_roles(const PodUid &key, Gang &gang, const std::vector<Role> &roles);
	[[nodiscard]] bool may_take_roles(const PodUid &key, const Gang &gang) const;
	void roles_changed(const OwnerId &id, const Owner &owner);
	void put_out_strangers(const PodUid &key, const std::string &name_space);
	void shape_again(Gang &gang, const PodUid &key, std::vector<Rank> ranks);
	[[nodiscard]] bool is_asked_for(const PodUid &key) const;
	void assign_ranks_anew(Gang &gang, const PodUid &key, const std::vector<const Pod *> &pods);
	void assign_ranks(Gang &gang, const PodUid &key);
	void assign_free_ranks(Gang &gang);
	void leave(Gang &gang, const PodUid &uid);
	void note_standalone(const PodUid &key, const PodUid &uid, PodEntry &entry,
		std::optional<std::uint32_t> rank);
	void note_bound_members(const PodUid &key, const Gang &gang);
	[[nodiscard]] bool may_be_gang(const PodUid &key, const std::string &name_space) const;
	bool rejoin(const PodUid &uid, PodEntry &entry, Now now);
	static void note_marks(PodEntry &entry);
	void note_ends(Gang &gang, Now now);
	bool take_back(const PodUid &key, const Bind &bind, const PodUid &uid, Now now);
	void report_ungrouped(
		const PodUid &uid, PodEntry &entry, Now now, std::vector<PodAction> &out);
	bool is_due(const PodUid &key, Now now);
	void note_given_back(const PodUid &key, const HoldLimit &limit, Now now);
	void note_taken(const PodUid &key, Gang &gang, const ComponentFacts &facts,
		const Action &action, Now now);
	/* ---- components: world/components.cc ---- */
	[[nodiscard]] std::optional<PodUid> component_that_runs(const InGang &in) const;
	void take_workload_ranks(Gang &gang, std::vector<std::uint32_t> ranks);
	void keep_role(const PodUid &key, const InGang &in);
	void join_components(const InGang &in, const PodEntry &first, Now now);
	void note_new_run(const PodUid &key, Gang &gang);
	void note_room_together(std::vector<ComponentFacts> &components, Now now);
	[[nodiscard]] bool has_pods_of_others(const PodUid &key) const;
	void wake_components(const PodUid &key);
	void note_holding(
		const PodUid &key, const std::vector<ComponentFacts> &components, Now now);
	void look_at_workload(const PodUid &key, Now now, std::vector<PodAction> &out);
	void settle_members(const PodUid &key, Now now);
	ComponentFacts gather_gang(const PodUid &key, bool is_one_of_several,
		std::optional<Result<JobSpec>> &spec, Now now);
	HoldLimit gather_hold_limit(
		const PodUid &key, const std::vector<ComponentFacts> &components, Now now);
	void act_on_workload(const std::vector<PodUid> &keys,
		std::vector<ComponentFacts> &components, const HoldLimit &limit, Now now,
		std::vector<PodAction> &out);
	void drop_roles(const PodUid &key, Gang &gang);
	void take_component(
		const PodUid &key, Gang &gang, const std::vector<ComponentRoles> &components);
	std::vector<bool> taken_ranks(const Gang &gang) const;
	/* ---- roles, and gangs without pods: world/{components,gang_late,ranks}.cc ---- */
	void note_roles(const Gang &gang);
	void note_never_came(const PodUid &key, Gang &gang, const ComponentFacts &facts, Now now);
	void drop_gang_if_empty(const PodUid &key);

	/* ---- writes down what looks have found: world/apply.cc ---- */
	void apply(const PodUid &key, Findings &found, Now now);
	void apply_clocks(const Findings &found, Now now);
	void apply_placing(const PodUid &key, const Findings &found);
	void apply_leaving(Gang &gang, const std::vector<Leaving> &leaving);
	static void apply_plan(Gang &gang, GangPlan plan);
	void act_on(const PodUid &key, const ComponentFacts &facts, Now now,
		std::vector<PodAction> &out);
	void note_failed_bindings(Component &component, const ComponentFacts &facts);
	static void enter(Component &component, ComponentStage stage, Now now);
	/* ---- what is marked as under way: world/in_flight.cc ---- */
	bool accept_report(const PodUid &uid, PodEntry &entry, const Report &report, Now now);
	void mark_in_flight(const PodUid &uid, const Action &action, Now now);
	void note_submission(const PodUid &key, const JobSpec &spec, Now now);
	void note_age(Component &component, JobId id, Now now) const;
	bool accept(const PodUid &uid, Action &action, Now now);
	void note_completion(const PodUid &key, Component &component, const Complete &end, Now now);
	void note_job_action(const PodUid &key, Action &action, Now now);
	/* ---- without a link: world/standby.cc; looks: world/act.cc ---- */
	void doubt_lists(const PluginHello &hello);
	void forget_on_standby(Now now);
	void forget_gangs_on_standby(Now now);
	void report_unlinked(Now now, std::vector<PodAction> &out);
	[[nodiscard]] std::vector<PodUid> by_age(const std::set<PodUid> &uids) const;
	void look_at_pod(const PodUid &uid, PodEntry &entry, Now now, std::vector<PodAction> &out);
	void look_at(const PodUid &key, Now now, std::vector<PodAction> &out);
	struct NativeLooker; /* pods in native jobs: world/native_pods.cc */
	/* ---- allocations without room: world/room.cc ---- */
	void wait_for_share(const PodUid &key, const ComponentFacts &facts);

	State state_;
	NodeFilter filter_;
	/* pods of any scheduler whose affinity selects namespaces by label */
	std::set<PodUid> by_namespaces_;
	Unanswered unanswered_;
	std::int64_t standby_look_us_ = 0;
	Clocks clocks_;
	std::size_t held_absent_pods_ = 0;
	/* pods that a list did not contain, and whose absence the API server has not confirmed */
	std::set<PodUid> unseen_;
	/* jobs known only from the answers to our submissions, and until when that suffices */
	std::map<JobId, std::int64_t> provisional_until_us_;
	std::vector<SlurmJob> snapshot_jobs_;
	std::vector<SlurmNode> snapshot_nodes_;
	NodePlanner nodes_;
	Holdings holdings_;
	/* by node: components with an allocation there that cannot be used at present */
	std::map<std::string, std::set<PodUid>> waiters_;
	PlacingQueue placing_;
	ReviewQueue reviews_;
	OwnerTurn owner_turn_;
	WorkQueue<PodUid> queue_;
	ChangeLog changes_;
	Figures figures_;
};

} // namespace slurmkube::core

#endif
