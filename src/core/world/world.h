/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world.h - everything observed, by pod and component, and what follows from it.
 *
 * The agent's only state, owned by its one thread; the simulator drives the same class. Sources tell what they observe, the answers of actions come
 * back, and take_actions() says what to do next. Nothing here does I/O or reads a clock: every call that needs it is given Now.
 *
 * Invariants: a pod holds its share of a node (Occupancy) from the moment a binding is sent until it is terminal or gone; no action is returned while
 * is_known() is false; an action of one kind for one pod is never returned again before its answer.
 */
#ifndef SLURMKUBE_CORE_WORLD_WORLD_H
#define SLURMKUBE_CORE_WORLD_WORLD_H

#include "src/core/gang/seating.h"
#include "src/core/reconcile/together.h"
#include "src/core/translate/translate.h"
#include "src/core/world/answers.h"
#include "src/core/world/clocks.h"
#include "src/core/world/figures.h"
#include "src/core/world/members.h"
#include "src/core/world/node_filter.h"
#include "src/core/world/node_planner.h"
#include "src/core/world/observation.h"
#include "src/core/world/place_queue.h"
#include "src/core/world/review_queue.h"
#include "src/core/world/state.h"
#include "src/core/world/unanswered.h"
#include "src/core/world/work_queue.h"

#include <deque>
#include <memory>
#include <set>
#include <unordered_map>

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
	/* Owners to be asked for; each is answered by owner_seen(). */
	std::vector<OwnerId> take_questions(Now now);
	/* Nodes that no watch shows, or that are not Ready: how does the API server see them now? Each is answered by node_looked_up(). */
	std::set<std::string> take_node_questions(Now now);
	/* The earliest moment (mono_us) at which taking may give something without an event; nullopt: none. */
	[[nodiscard]] std::optional<std::int64_t> next_look_us() const { return queue_.next_us(); }

	/* After LinkOpened: begin new lists of pods and nodes, and tell of no other. Says so once. */
	bool take_list_request() { return state_.sync.take_list_request(); }

	/* ---- looking ---- */
	[[nodiscard]] const State &state() const { return state_; }
	[[nodiscard]] const NodePlanner &nodes() const { return nodes_; }
	/* The node with what pods of others leave of it. */
	[[nodiscard]] KubeNode as_left(const KubeNode &node) const { return filter_.as_left(state_, node); }
	/* More nodes are not Ready, or have vanished, than may be believed: none of them is taken for gone. */
	[[nodiscard]] bool holds_unready_nodes() const { return nodes_.holds_unready(state_.slurm_nodes.size(), state_.settings.nodes.max_gone_percent); }
	[[nodiscard]] bool holds_absent_nodes() const { return nodes_.holds_absent(state_.slurm_nodes.size(), state_.settings.nodes.max_gone_percent); }
	/* More jobs are without pods than may be believed; how many. 0: it is not so. */
	[[nodiscard]] std::size_t held_absent_pods() const { return held_absent_pods_; }
	/* Users named by namespaces' annotations who have not been looked up, or not found when they were. */
	[[nodiscard]] std::set<std::string> people_wanted() const;
	/* Which owner a pod waits for that is not placed yet; empty: none. */
	[[nodiscard]] std::string wanted_owner(const PodUid &uid) const;
	[[nodiscard]] const Unanswered &unanswered() const { return unanswered_; }
	[[nodiscard]] const Edges &edges() const { return figures_.edges; }
	[[nodiscard]] const Clocks &clocks() const { return clocks_; }
	[[nodiscard]] const Counters &counters() const { return figures_.counters; }

      private:
	/* Whose owners were last looked at, and when the next are. */
	struct OwnerTurn {
		PodUid last;
		std::int64_t next_us = 0;
	};

	/* ---- one for each Observation and Answer: world/facade.cc ---- */
	struct Observer;
	struct Answerer;
	void pod_seen(Pod pod, Now now);
	void pod_gone(const PodUid &uid, std::optional<Pod> last, Now now);
	void pods_listed(const std::set<std::string> &live_uids, Now now);
	void node_seen(KubeNode node, Now now);
	void node_gone(const std::string &name, Now now);
	void nodes_listed(const std::set<std::string> &live_uids);
	void cluster_seen(std::string uid);
	void namespace_seen(Namespace seen);
	void namespace_gone(const std::string &name);
	void namespaces_listed(const std::set<std::string> &live_uids);
	void set_identity_rules(std::vector<NamespaceRule> rules, std::uint32_t least_uid);
	void person_found(const std::string &name, const Result<Person> &person);
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
	void updated(const PodUid &pod, const std::string &mark, JobId job, const Status &answer, Now now);
	void completed(const PodUid &pod, const Status &answer, bool was_cancel, Now now);
	void bound(const PodUid &pod, const Status &answer, Now now);
	void provided(const PodUid &pod, const Status &answer, Now now);
	void removed(const PodUid &pod, const Status &answer, Now now);
	void reported(const PodUid &pod, const Status &answer, Now now);
	void pods_looked_up(const PodUid &key, const Result<Sight> &sight, Now now);
	void looked_up(const PodUid &pod, const Result<Sight> &sight, Now now);
	void node_changed(const std::string &name, const Status &answer, Now now);
	void node_looked_up(const std::string &name, const Result<NodeSight> &sight, Now now);

	PodEntry &touch_pod(const PodUid &uid);
	Component &touch_component(const PodUid &key);
	void look_later(const PodUid &uid, std::int64_t at_us);
	void drop_if_empty(const PodUid &uid);
	void forget_job(JobId id);
	void leave_with_job(const PodUid &uid, const SlurmJob &job);
	/* ---- pods out of sight: world/sight.cc ---- */
	void note_unseen(const PodUid &uid, Now now);
	bool is_surely_gone(const PodUid &uid, const PodEntry &entry, JobSide job, Now now);
	void seen_again(const PodUid &uid, PodEntry &entry);
	void look_for_unseen(Now now, std::vector<PodAction> &out);
	void count_absent_pods();
	[[nodiscard]] bool is_out_of_sight(const PodUid &uid) const;
	[[nodiscard]] bool is_held(const SlurmJob *job) const;
	void forget_provisional(const PodUid &uid, Now now);
	void note_vanished(const PodUid &uid, JobId id, Now now);
	void wait_after_vanishing(const PodUid &uid, const Component &component, std::optional<Condition> &waits_for, Now now);
	bool is_surely_native(const PodUid &uid, const Component &component, Now now);
	void note_end(const PodUid &uid, PodEntry &entry, const Pod &pod, Now now);
	[[nodiscard]] NodeView node_view() const;
	[[nodiscard]] bool is_lost(const std::string &node) const;
	void note_stray(const PodUid &key, Component &component, const SlurmJob &job);
	void note_strays(const PodUid &key);
	void note_pod_times(PodEntry &entry, const Pod &pod, Now now);
	[[nodiscard]] bool is_start_expired(const PodUid &uid, const PodEntry &entry, const SlurmJob *job, Now now);
	void note_job_times(Component &component, const SlurmJob &job, Now now);
	void look_for_late_binding(const PodUid &uid, PodEntry &entry, Now now, std::vector<PodAction> &out);
	void settle_share(const PodUid &uid, PodEntry &entry, Now now);
	void wake_waiters(const std::string &node);
	void wake_unbound(const std::string &name_space); /* empty: of all */
	void retry_all();
	/* The obstacle of passing failures is gone. */
	void retry_now(const PodUid &key);
	void failed(Retries &retries, const PodUid &uid, const Error &error, Now now);
	void note_unsubmitted(const PodUid &pod, Component &component, const Error &error, Now now);
	[[nodiscard]] SlurmJob job_as_answered(const PodUid &pod, const Component &component, const Submitted &answer) const;
	/* error: nullptr if there was none */
	void note_answer(const PodUid &uid, const Error *error, Now now);
	bool is_submit_due(const PodUid &key, Now now);

	/* ---- placement (world/place.cc) ---- */
	void note_demands(const Pod &pod);
	void note_tolerations(const Pod &pod);
	[[nodiscard]] bool counts_for_taints(const Pod &pod) const;
	[[nodiscard]] bool is_tolerated_by_any(const Taint &taint) const;
	void taints_changed(const std::vector<Taint> &taints);
	void review_taints(Now now);
	void forget_demands(const PodUid &uid);
	void note_options(const PodUid &uid, const Pod &pod, const Component &component, std::optional<Result<JobSpec>> &spec, ComponentFacts &facts);
	[[nodiscard]] static bool is_told_places(const Component &component, const SlurmJob &job, const JobSpec &spec);
	static void note_told_places(Component &component, const SlurmJob *job, Action &action);
	void note_places(const PodUid &uid, const Pod &pod, Component &component, std::optional<Result<JobSpec>> &spec, ComponentFacts &facts);
	void note_gang_change(const PodUid &key, Gang &gang, Component &component, std::optional<Result<JobSpec>> &spec, ComponentFacts &facts);
	void review_places(Now now);
	/* at_once: so many of a gang come to one node */
	void place(const PodUid &uid, const Pod &pod, std::optional<Result<JobSpec>> &spec, std::uint32_t at_once = 1);
	Result<const Places *> places_for(const PodUid &uid, const Pod &pod, const JobSpec &spec, std::uint32_t at_once, std::optional<Places> &own);
	void place_changed();
	void others_changed(const std::set<std::string> &nodes);
	/* ---- company: world/company.cc ---- */
	void company_changed();
	void wake_behind();
	void namespaces_changed();
	void select_namespaces(Pod &pod);
	/* ---- volume claims: world/claims.cc ---- */
	void wake_claimants(const std::set<PodUid> &users);
	void wake_all_claimants();
	void hold_for_claims(const PodUid &uid, const Pod &pod, std::optional<Result<JobSpec>> &spec, std::optional<Condition> &waits_for, Now now);
	void check_claims(const PodUid &uid, PodEntry &entry, const KubeNode &node, PlaceFacts &facts, Now now);
	/* ---- gangs: world/owners.cc, world/seats.cc, world/gang_spec.cc, world/gang.cc ---- */
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
	void shape_again(Gang &gang, const PodUid &key, std::vector<Seat> seats);
	[[nodiscard]] bool has_live_job(const PodUid &key) const;
	[[nodiscard]] bool is_asked_for(const PodUid &key) const;
	void seat_anew(Gang &gang, const PodUid &key, const std::vector<const Pod *> &pods);
	void seat_members(Gang &gang, const PodUid &key);
	void seat_unranked(Gang &gang);
	void leave(Gang &gang, const PodUid &uid);
	void note_standalone(const PodUid &key, const PodUid &uid, PodEntry &entry);
	void note_bound_members(const PodUid &key, const Gang &gang);
	[[nodiscard]] bool may_be_gang(const PodUid &key, const std::string &name_space) const;
	bool rejoin(const PodUid &uid, PodEntry &entry, Now now);
	[[nodiscard]] static bool is_bound_member(const PodEntry &entry);
	static void note_marks(PodEntry &entry);
	[[nodiscard]] std::size_t pods_of(const Gang &gang, const PodUid &key) const;
	void note_misfits(Gang &gang, ComponentFacts &facts);
	void note_ends(Gang &gang, Now now);
	bool take_back(const PodUid &key, const Bind &bind, const PodUid &uid);
	void report_ungrouped(const PodUid &uid, PodEntry &entry, Now now, std::vector<PodAction> &out);
	bool is_due(const PodUid &key, Now now);
	void note_given_back(const std::string &workload, std::int64_t hold_seconds, Now now);
	void note_taken(const PodUid &key, Gang &gang, const ComponentFacts &facts, const Action &action, Now now);
	ComponentFacts facts_of_gang(const PodUid &key, Gang &gang, Now now, std::optional<Result<JobSpec>> &spec);
	/* ---- components: world/components.cc ---- */
	[[nodiscard]] std::vector<PodUid> components_of_workload(const PodUid &key) const;
	[[nodiscard]] std::optional<PodUid> component_that_runs(const InGang &in) const;
	void seat_by_ranks(Gang &gang, std::vector<std::uint32_t> ranks);
	void keep_role(const PodUid &key, const InGang &in);
	void join_components(const InGang &in, const PodEntry &first, Now now);
	[[nodiscard]] bool has_company(const PodUid &key) const;
	void wake_components(const PodUid &key);
	void note_component(const PodUid &key, const Gang &gang, ComponentFacts &facts, Now now);
	HoldLimit hold_limit(const PodUid &workload, const std::vector<ComponentFacts> &components, Now now);
	void look_at_workload(const PodUid &key, Now now, std::vector<PodAction> &out);
	[[nodiscard]] bool is_any_of_others(const PodUid &key, bool (*is_so)(PodSide)) const;
	void drop_roles(const PodUid &key, Gang &gang);
	void take_component(const PodUid &key, Gang &gang, const std::vector<ComponentRoles> &components);
	std::vector<bool> taken_seats(const Gang &gang) const;
	Members members_of(const Gang &gang);
	void seat_holders(const Gang &gang, const Members &members, const SlurmJob &job, const std::vector<std::string> &node_of_task, Seating &seating) const;
	Seating seating_of(const Gang &gang, const Members &members, const SlurmJob &job) const;
	[[nodiscard]] bool is_in_service(const std::string &node) const;
	void pin_nodes(const Members &members, ComponentFacts &facts) const;
	RankFacts facts_of_member(const Gang &gang, const Component &component, const Member &member, const Seating &seating, const SlurmJob *job, Now now);
	void note_ranks(const PodUid &key, Gang &gang, Component &component, const Members &members, ComponentFacts &facts, Now now);
	static std::uint32_t count_empty_seats(const Gang &gang, const Members &members);
	void note_common_room(ComponentFacts &facts);
	void note_gang_absence(const PodUid &key, Gang &gang, ComponentFacts &facts, Now now);
	void note_what_is_missing(const PodUid &key, const Gang &gang, const Component &component, ComponentFacts &facts, Now now);
	[[nodiscard]] NodeSizes node_sizes(const std::set<std::string> &excluded) const;
	[[nodiscard]] std::vector<Seat> seats_as_seen(const Gang &gang) const;
	void plan(Gang &gang);
	void spec_of(const PodUid &key, Gang &gang, std::optional<Result<JobSpec>> &spec);
	/* ---- what roles demand: world/gang_roles.cc ---- */
	[[nodiscard]] const Pod *first_member(const Gang &gang) const;
	[[nodiscard]] RolePods pods_of_roles(const Gang &gang) const;
	[[nodiscard]] static std::int64_t deadline_of(const RolePods &roles);
	[[nodiscard]] Status check_roles(const Gang &gang, const RolePods &roles) const;
	void exclude_for_roles(const PodUid &key, const Gang &gang, const RolePods &roles, std::optional<Result<JobSpec>> &spec);
	void note_roles(const Gang &gang);
	bool are_nodes_known(const PodUid &key, const Members &members);
	void note_gang_times(const PodUid &key, Gang &gang, const Members &members, ComponentFacts &facts, Now now);
	void note_never_came(const PodUid &key, Gang &gang, const ComponentFacts &facts, Now now);
	void wait_after_never_came(const PodUid &key, const Gang &gang, ComponentFacts &facts, Now now);
	/* Whether it has been so for that long; looked at again by then. */
	bool is_over(const PodUid &uid, Clock clock, bool is_so, std::int64_t limit_us, Now now);
	void drop_gang_if_empty(const PodUid &key);

	[[nodiscard]] bool is_deletion_slow(const Pod &pod) const;
	/* ---- a component, and a pod alone: world/pod_facts.cc, world/rank_facts.cc ---- */
	ComponentFacts facts_of_component(const PodUid &key, const Component &component, Now now);
	static void note_goes_on(ComponentFacts &facts);
	ComponentFacts facts_of_pod(const PodUid &uid, PodEntry &entry, Component &component, Now now, std::optional<Result<JobSpec>> &spec);
	void note_absence(const PodUid &uid, PodEntry &entry, PodSide side, ComponentFacts &facts, Now now);
	void note_place(const PodUid &uid, PodEntry &entry, ComponentFacts &facts, Now now);
	void note_wishes(const PodUid &uid, const PodEntry &entry, Component &component, PodSide side, std::optional<Result<JobSpec>> &spec, ComponentFacts &facts, Now now);
	void note_wrong_allocation(const PodUid &key, Component &component, ComponentFacts &facts, Now now);
	void note_letting_go(const PodUid &key, ComponentFacts &facts, Now now);
	RankFacts facts_of_rank(const PodUid &uid, PodEntry &entry, const Component &component, const SlurmJob *job, Now now);
	PlaceFacts facts_of_place(const PodUid &uid, PodEntry &entry, const PodUid &key, std::string name, Now now);
	void act_on(const PodUid &key, const ComponentFacts &facts, Now now, std::vector<PodAction> &out);
	static void enter(Component &component, ComponentStage stage, Now now);
	void mark_busy(const PodUid &uid, const Action &action, Now now);
	void note_submission(const PodUid &key, const JobSpec &spec, Now now);
	[[nodiscard]] std::vector<JobId> surplus_of(const PodUid &key, const Component &component, const SlurmJob *current) const;
	[[nodiscard]] std::uint32_t next_attempt(const PodUid &key) const;
	bool accept(const PodUid &uid, Action &action, Now now);
	void note_job_action(const PodUid &key, Action &action, Now now);
	/* ---- without a link, and with the next one: world/standby.cc ---- */
	void doubt_lists(const PluginHello &hello);
	void forget_on_standby(Now now);
	void forget_gangs_on_standby(Now now);
	void report_unlinked(Now now, std::vector<PodAction> &out);
	bool accept_report(const PodUid &uid, PodEntry &entry, const Report &report, Now now);
	[[nodiscard]] std::vector<PodUid> by_age(const std::set<PodUid> &uids) const;
	void look_at_pod(const PodUid &uid, PodEntry &entry, Now now, std::vector<PodAction> &out);
	void look_at(const PodUid &key, Now now, std::vector<PodAction> &out);
	[[nodiscard]] bool must_give_way(const std::string &node) const;
	bool has_given_way_time(const PodUid &uid, Component &component, bool is_in_the_way, Now now);
	/* ---- an allocation that others are still in the way of: world/room.cc ---- */
	bool is_room_late(const PodUid &key, const ComponentFacts &facts, Now now);
	static void note_crowded(Component &component, Crowded crowded);
	static void note_crowded(Component &component, const ComponentFacts &facts);
	void note_placeless(Gang &gang, ComponentFacts &facts, Now now);
	[[nodiscard]] std::string crowded_text(const Crowded &crowded, const Pod &pod) const;
	[[nodiscard]] std::string holder_text(const std::string &node) const;
	void exclude_crowded(const PodUid &uid, const Pod &pod, Places &places);
	void wait_for_share(const PodUid &key, const ComponentFacts &facts);

	State state_;
	NodeFilter filter_;
	std::set<PodUid> by_namespaces_; /* pods of anybody whose affinity goes by labels of namespaces */
	Unanswered unanswered_;
	std::int64_t standby_look_us_ = 0;
	Clocks clocks_;
	std::size_t held_absent_pods_ = 0;
	std::set<PodUid> unseen_; /* pods that a list did not show, and the API server has not denied */
	std::map<JobId, std::int64_t> provisional_until_us_; /* jobs known from our own submission only */
	std::vector<SlurmJob> snapshot_jobs_;
	std::vector<SlurmNode> snapshot_nodes_;
	NodePlanner nodes_;
	std::map<std::string, Tries> tries_; /* by workload_key(): of those that had nodes for some components only */
	std::map<std::string, Holding> holdings_; /* by workload_key(): of those that wait for the rest of their components */
	std::map<std::string, std::set<PodUid>> waiters_; /* pods with an allocation on a node that cannot take them now */

	PlaceQueue places_;
	ReviewQueue reviews_;
	OwnerTurn owner_turn_;

	WorkQueue<PodUid> queue_;
	Figures figures_;
};

} // namespace slurmkube::core

#endif
