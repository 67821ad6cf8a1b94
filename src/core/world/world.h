/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world.h - everything observed, grouped by pod, and what follows from it. A gang is a group without a pod, which has the job, and its members' groups, which
 * have the pods.
 *
 * The agent's only state, owned by its one thread; the simulator drives the same class. Sources call the observing half, the answers of actions come
 * back through the answering half, and take_actions() says what to do next. Nothing here does I/O or reads a clock: every call that needs it is given Now.
 *
 * Invariants: a pod holds its share of a node (Occupancy) from the moment a binding is sent until it is terminal or gone; no action is returned while
 * is_known() is false; an action of one kind for one pod is never returned again before its answer.
 */
#ifndef SLURMKUBE_CORE_WORLD_WORLD_H
#define SLURMKUBE_CORE_WORLD_WORLD_H

#include "src/core/placement/foreign.h"
#include "src/core/model/latency.h"
#include "src/core/gang/shape.h"
#include "src/core/placement/occupancy.h"
#include "src/core/reconcile/reconcile.h"
#include "src/core/reconcile/reconcile_gang.h"
#include "src/core/gang/seating.h"
#include "src/core/model/now.h"
#include "src/core/world/claim_store.h"
#include "src/core/world/cluster_jobs.h"
#include "src/core/world/node_planner.h"
#include "src/core/world/owner_store.h"
#include "src/core/world/review_queue.h"
#include "src/core/world/sync.h"
#include "src/core/world/taint_store.h"
#include "src/core/world/unanswered.h"
#include "src/core/world/work_queue.h"
#include "src/core/placement/surroundings.h"
#include "src/core/translate/translate.h"

#include <deque>
#include <memory>
#include <set>
#include <unordered_map>

namespace slurmkube::core
{

struct Settings {
	Policy policy;
	NodePolicy nodes;
	std::int64_t forced_delete_hold_us = 3'000'000;
	std::int64_t report_interval_us = 30'000'000;
	std::int64_t start_limit_us = 0; /* 0: a bound pod may take any time to start */
	std::int64_t grace_most_seconds = 3600; /* that a pod may take to end after its job; 0: as long as it says */
	bool needs_fresh_lists = false; /* after a takeover nothing is done before pods and nodes have been listed anew */
	bool needs_cluster = false; /* nothing is done before it is known which cluster this is */
	unsigned max_gone_percent = 50; /* of jobs of unknown clusters may be without pods at once */
	bool sees_foreign_pods = false;  /* they are told of, and nothing is done before their list is complete */
	std::optional<std::uint32_t> own_uid = {}; /* as whom slurmctld knows this agent */
	std::int64_t gang_hold_us = 10'000'000;  /* an allocation without a live pod is kept so long: a JobSet that restarts takes its nodes again */
	/* a pod with an allocation waits so long for a node that can take it, which is charged */
	std::int64_t room_wait_us = 60'000'000;
	std::int64_t claim_wait_us = 600'000'000; /* a pod with an allocation waits so long for its volume claims; 0: for ever */
	/* pods of an allocated gang may take so long to come, and to get a place; 0: for ever */
	std::int64_t gang_wait_us = 600'000'000;
};

/* What slurm_allocate_resources answered. */
struct Submitted {
	JobId job;
	std::string node; /* empty: pending */
	std::uint32_t cpus = 0;
	std::string partition = {}, account = {};
};

/* A node that a pod had, and that could not take it: it asks for another until that is over. */
struct Crowded {
	std::string node;
	std::optional<Resources> need; /* of a lead: for its pods that were to go there */
};

struct Group {
	bool is_placed = false;  /* it is known whether the pod runs alone; until then nothing is done about it */
	std::optional<PodUid> gang; /* the lead of the gang that it is a member of */
	PodUid loose_of;            /* the lead of the PodGroup that does without it; empty: none */
	std::optional<Error> refusal; /* what its owners say makes no sense */
	std::map<std::string, std::string> inherited; /* options of its owners */
	std::set<std::string> inherited_keys;         /* those that its pod does not name itself */
	std::vector<OwnerId> owners;                  /* who was asked for them */
	std::int64_t deadline_seconds = 0;            /* of its owners; 0: none */
	std::int64_t own_deadline_seconds = 0;        /* of the pod itself; 0: none */
	std::optional<Pod> pod;  /* as the watch shows it, with inherited options */
	std::uint32_t pod_attempt = 0;         /* what its annotations say of its binding; 0: nothing */
	std::optional<std::uint32_t> pod_rank; /* the same */
	std::shared_ptr<const Pod> last; /* last sight of a pod that is gone: few are, and a pod takes over a kilobyte */
	std::vector<JobId> jobs;
	std::vector<JobId> answered; /* jobs that our own submissions were told of */
	std::set<JobId> strays;      /* jobs of a bound pod that Slurm has started elsewhere, or not at all, after it forgot their start */
	std::vector<JobId> given_up; /* jobs that we ended ourselves, of a pod by cancelling: their end says nothing about pods that live */
	std::set<std::string> member_nodes; /* of a gang's lead: where members are bound */
	std::uint32_t member_attempt = 0;   /* and the highest attempt under which */
	Busy busy;
	std::string assumed_node; /* a binding was sent or has succeeded, and no watch has shown it */
	std::string held_node;    /* where Occupancy counts it */
	std::string late_node;    /* a binding there has failed without a clear answer: it may still take effect */
	std::int64_t late_until_us = 0; /* from then on the API server is asked; 0: there is none such */
	Condition reported;
	std::optional<Condition> trouble;
	unsigned failures = 0;
	bool is_refused = false; /* Slurm wants no such job: a lasting failure */
	bool is_gone = false;    /* the API server says that there is no such pod */
	std::int64_t gone_since_us = 0; /* when it first said so */
	bool saw_deletion = false; /* a watch has told of it */
	bool is_unseen = false;    /* a list did not show it: the pod is as it was seen last */
	std::optional<std::uint32_t> end_status; /* as of the first sight of a terminal phase: a deletion that follows does not change it */
	std::uint32_t submitted_attempt = 1;
	/* 0: not set; all monotonic microseconds */
	std::int64_t first_seen_us = 0, submitted_us = 0, allocated_us = 0, job_ended_us = 0, terminal_us = 0;
	std::int64_t retry_at_us = 0, slurm_quiet_until_us = 0, remove_quiet_until_us = 0, look_quiet_until_us = 0;
	std::int64_t last_report_us = 0, missing_since_us = 0, hold_until_us = 0;
	std::int64_t starting_since_us = 0; /* bound, nothing of it runs, and it may: the clock of start_limit_us */
	std::int64_t bound_us = 0, deleted_us = 0, gone_us = 0;
	unsigned vanished = 0; /* jobs, one after the other, that Slurm no longer has and whose end nobody has told */
	std::int64_t vanished_at_us = 0, submit_not_before_us = 0;
	std::optional<Condition> vanished_text;
	std::vector<JobId> unheard_of; /* jobs that Slurm answered with and the plugin has never told of: to be cancelled */
	std::optional<JobId> cancelling;
	unsigned given_back = 0; /* allocations, to a pod without a job */
	std::int64_t gate_look_at_us = 0; /* when the binding gate is tried again without an event */
	std::int64_t room_wait_since_us = 0; /* its allocation is on a node that cannot take it */
	std::vector<Crowded> crowded;        /* such nodes, given back; the latest last */
	std::int64_t unbound_at_us = 0; /* the API server said so */
	JobId told_job;                      /* whose options we have changed, to those of told_mark */
	std::string told_mark, refused_mark; /* refused: Slurm did not want them */
	std::string refused_text;
	/* places_mark() of nodes that its waiting job is kept off; nothing: its marker says it */
	std::optional<std::string> told_places;
	bool is_reviewed = false;              /* whether they are still the right ones is to be looked at */
	std::optional<ClaimStep> told_step;    /* what was last written for a claim of it, or is being written */
	std::int64_t claims_since_us = 0;      /* it has an allocation and waits for its claims */
	std::int64_t unplaced_since_us = 0; /* its owners are being asked for */
	std::int64_t in_the_way_since_us = 0; /* it has an allocation that a running pod without a job needs */
};

struct SeatEnd {
	std::uint32_t attempt = 0;
	std::int64_t created = 0; /* of the pod */
	std::uint32_t status = 0; /* wait status */
};

/* Of a group that leads a gang. */
struct Gang {
	GangId id;
	OwnerId owner;
	std::uint32_t minimum = 0; /* of a PodGroup */
	std::vector<Seat> seats;   /* empty: not known yet */
	std::vector<Role> roles;   /* that they were made from */
	GangShape shape;
	std::optional<std::uint32_t> per_node; /* at most so many tasks, 0: as many as fit; not there: not planned yet */
	std::map<PodUid, std::optional<std::uint32_t>> members; /* and their seats */
	std::map<PodUid, std::string> newcomers; /* members without an index, and their roles: they take a seat with the next look */
	std::map<std::uint32_t, SeatEnd> ends; /* of who was in a seat last */
	std::set<std::uint32_t> standalone; /* seats whose pods were too large for the allocation: they have jobs of their own */
	unsigned given_back = 0; /* allocations that were too small, since a pod was bound */
	std::uint32_t first_attempt = 0; /* ends under an earlier one say nothing of the present job; 0: the job's own */
	/* monotonic microseconds; 0: not so */
	std::int64_t looked_us = 0; /* when all members were last looked at */
	std::int64_t absent_since_us = 0, late_since_us = 0, missing_since_us = 0;
	std::int64_t empty_since_us = 0; /* while there is no link */
	bool was_seen = false; /* a member, by this agent */
	unsigned never_came = 0; /* jobs in a row that were ended for want of pods */
	std::int64_t submit_not_before_us = 0; /* after the last of them */
	std::optional<Condition> late_text;
	JobId outgrown; /* a job that waits for another number of tasks than the owner wants by now */
	std::int64_t letting_go_since_us = 0; /* its allocation is wrong, and what the API server says of its members decides */
};

/* Who matters to a pod that is to be placed, besides those who hold a share of the node. */
struct Company {
	std::map<std::string, Holders> there; /* by node: with an allocation there, not bound yet; to a pod that minds nobody, also those bound there that may mind it */
	Surroundings surroundings;
};

/* What pods of one template have in common: where they may not run, whoever else does. Valid while the nodes and what others hold of them stay as they are. */
struct Places {
	/* of the pod */
	std::string node_name; /* of one that is bound */
	std::map<std::string, std::string> node_selector;
	std::optional<std::vector<NodeTerm>> node_terms;
	std::vector<Toleration> tolerations;
	Resources requests;
	/* the answer, in the order of names */
	std::vector<std::string> excluded;
	std::map<std::string, std::size_t> reasons; /* and of how many nodes */
	std::vector<std::string> oversized;         /* the others' Slurm records that are larger than what is left there: our own pods count as well */
	std::size_t candidates = 0;
};

/* What a GET said of a pod. */
enum class Sight { absent, unbound, bound };

struct Edges {
	Latency watch_to_submit, submit_to_allocated, allocated_to_bound, bound_to_running, ended_to_pod_deleted, pod_deleted_to_job_ended, pod_terminal_to_job_ended,
	    node_change_to_slurm;
};

struct Counters {
	std::uint64_t updated = 0, submitted = 0, submit_failed = 0, bound = 0, bind_failed = 0, completed = 0, cancelled = 0, removed = 0, reported = 0, readopted = 0, gate_waits = 0, not_started = 0;
};

class World
{
      public:
	explicit World(Settings settings) : settings_(std::move(settings)), sync_(settings_.sees_foreign_pods), clusters_(settings_.policy.cluster_uid) {}

	/* ---- observing: Kubernetes ---- */
	void pod_seen(Pod pod, Now now);
	/* last: the object of a DELETED event, if there was one */
	void pod_gone(const PodUid &uid, std::optional<Pod> last, Now now);
	void pods_listed(const std::set<std::string> &live_uids, Now now);
	void node_seen(KubeNode node, Now now = {});
	void node_gone(const std::string &name, Now now = {});
	void nodes_listed(const std::set<std::string> &live_uids);

	/* ---- observing: which cluster this is (world/sight.cc) ---- */
	/* uid: of its namespace kube-system */
	void cluster_seen(std::string uid);
	/* The lists have begun anew: it may be another by now, and nothing is done until it is told. */
	void cluster_doubted() { clusters_.doubt(); }
	[[nodiscard]] bool is_cluster_known() const { return clusters_.is_known() || !settings_.needs_cluster; }
	/* Why nothing is done: live jobs stand for pods of another cluster under our cluster's name. */
	[[nodiscard]] bool holds_other_cluster() const { return !clusters_.of_other_clusters().empty(); }
	[[nodiscard]] const std::map<JobId, std::string> &jobs_of_other_clusters() const { return clusters_.of_other_clusters(); }
	/* Of this very cluster, under another name than the configuration has: an agent with that name asked for them. */
	[[nodiscard]] std::map<JobId, std::string> jobs_of_other_names() const { return clusters_.of_other_names(); }
	/* More jobs are without pods than may be believed; how many. 0: it is not so. */
	[[nodiscard]] std::size_t held_absent_pods() const { return held_absent_pods_; }

	/* ---- observing: identities (world/identity.cc) ---- */
	void namespace_seen(Namespace seen);
	void namespace_gone(const std::string &name);
	void namespaces_listed(const std::set<std::string> &live_uids);
	/* Other rules: all namespaces must be told and listed anew, and no pod is anybody until then. */
	void set_identity_rules(std::vector<NamespaceRule> rules, std::uint32_t least_uid);
	/* Users named by namespaces' annotations who have not been looked up, or not found when they were. */
	[[nodiscard]] std::set<std::string> people_wanted() const;
	void person_found(const std::string &name, const Result<Person> &person);
	/* An empty optional: there is no such object. An error is asked about again. */
	void owner_seen(const OwnerId &id, Result<std::optional<Owner>> answer, Now now);

	/* ---- observing: bound pods of other schedulers (world/place.cc) ---- */
	void foreign_seen(Pod pod);
	void foreign_gone(const PodUid &uid);
	void foreign_listed(const std::set<std::string> &live_uids);

	/* ---- observing: volumes (world/claims.cc) ---- */
	/* A pod with claims has been seen: they must be told of. */
	[[nodiscard]] bool wants_claims() const { return claims_.is_wanted(); }
	void claims_unreadable(std::string why) { claims_.set_unreadable(std::move(why)); } /* for texts; empty: they are not */
	void claim_seen(Claim claim, Now now);
	void claim_gone(const ClaimId &id);
	void volume_seen(Volume volume);
	void volume_gone(const std::string &name);
	void class_seen(StorageClass storage_class);
	void class_gone(const std::string &name);
	/* ---- observing: Slurm's partitions ---- */
	/* Those in which no pod can run, and why; as a whole. */
	void partitions_refused(std::map<std::string, std::string> refused);
	void claims_listed(const std::set<std::string> &live_uids);
	void volumes_listed(const std::set<std::string> &live_uids);
	void classes_listed(const std::set<std::string> &live_uids);

	/* ---- observing: Slurm ---- */
	void link_opened(PluginHello hello);
	/* After link_opened(): begin new lists of pods and nodes, and tell of no other. Says so once. */
	bool take_list_request() { return sync_.take_list_request(); }
	void link_lost();
	void job_seen(SlurmJob job, Now now);
	void job_gone(JobId id, Now now = {});
	void slurm_node_seen(SlurmNode node);
	void slurm_node_gone(const std::string &name);
	void snapshot_ended(Now now); /* what was seen since link_opened() is all there is */

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

	/* ---- answering ---- */
	void submitted(const PodUid &pod, const Result<Submitted> &answer, Now now);
	void updated(const PodUid &pod, const std::string &mark, JobId job, const Status &answer, Now now);
	void completed(const PodUid &pod, const Status &answer, bool was_cancel, Now now);
	void bound(const PodUid &pod, const Status &answer, Now now);
	void provided(const PodUid &pod, const Status &answer, Now now);
	void removed(const PodUid &pod, const Status &answer, Now now);
	void reported(const PodUid &pod, const Status &answer, Now now);
	/* false: there is no pod of that name, or it has another uid */
	void looked_up(const PodUid &pod, const Result<Sight> &sight, Now now);
	void node_changed(const std::string &name, const Status &answer, Now now);
	/* slurmctld has carried out a request, or refused it. */
	void slurm_answered(Now now) { unanswered_.slurm_answered(now); }
	void node_looked_up(const std::string &name, const Result<NodeSight> &sight, Now now);

	/* ---- looking ---- */
	[[nodiscard]] bool is_known() const { return is_listed() && is_fresh() && sync_.has_link() && is_cluster_known() && !holds_other_cluster(); }
	[[nodiscard]] bool is_listed() const { return sync_.is_listed(); }
	[[nodiscard]] bool is_fresh() const { return sync_.is_fresh(); }
	[[nodiscard]] bool has_link() const { return sync_.has_link(); }
	[[nodiscard]] const PluginHello &plugin() const { return sync_.plugin(); }
	[[nodiscard]] const Settings &settings() const { return settings_; }
	[[nodiscard]] const std::map<PodUid, Group> &groups() const { return groups_; }
	[[nodiscard]] const std::map<JobId, SlurmJob> &jobs() const { return jobs_; }
	[[nodiscard]] const std::map<std::string, KubeNode> &kube_nodes() const { return kube_nodes_; }
	[[nodiscard]] const std::map<std::string, SlurmNode> &slurm_nodes() const { return slurm_nodes_; }
	[[nodiscard]] const Occupancy &occupancy() const { return occupancy_; }
	/* The node with what pods of others leave of it. */
	[[nodiscard]] KubeNode as_left(const KubeNode &node) const;
	/* More nodes have vanished than may be believed: none of them is taken for gone. */
	[[nodiscard]] bool holds_unready_nodes() const { return nodes_.holds_unready(slurm_nodes_.size(), settings_.nodes.max_gone_percent); }
	[[nodiscard]] const NodeDoubts &unready_nodes() const { return nodes_.unready(); }
	[[nodiscard]] bool holds_absent_nodes() const { return nodes_.holds_absent(slurm_nodes_.size(), settings_.nodes.max_gone_percent); }
	[[nodiscard]] const NodeDoubts &absent_nodes() const { return nodes_.absent(); }
	[[nodiscard]] const ForeignPods &foreign_pods() const { return foreign_; }
	[[nodiscard]] const Claims &claims() const { return claims_.known(); }
	[[nodiscard]] const Unanswered &unanswered() const { return unanswered_; }
	[[nodiscard]] const Edges &edges() const { return edges_; }
	[[nodiscard]] const Counters &counters() const { return counters_; }
	[[nodiscard]] const std::map<PodUid, Gang> &gangs() const { return gangs_; }
	[[nodiscard]] const SlurmJob *current_job(const Group &group) const;
	/* The same, for a member that of its gang. */
	[[nodiscard]] const SlurmJob *job_of(const Group &group) const;
	/* The group that has the job of this one: a member's lead, else itself. */
	[[nodiscard]] const Group &lead_of(const Group &group) const;
	[[nodiscard]] const Gang *gang_of(const Group &group) const;
	/* Which owner a pod waits for that is not placed yet; empty: none. */
	[[nodiscard]] std::string wanted_owner(const PodUid &uid) const;
	[[nodiscard]] const Pod *pod_of(const PodUid &uid) const;

      private:
	Group &touch(const PodUid &uid);
	void look_later(const PodUid &uid, std::int64_t at_us);
	void drop_if_empty(const PodUid &uid);
	void forget_job(JobId id);
	/* ---- pods out of sight: world/sight.cc ---- */
	void note_unseen(const PodUid &uid, Now now);
	bool is_surely_gone(const PodUid &uid, const Group &group, JobSide job, Now now);
	void seen_again(const PodUid &uid, Group &group);
	void look_for_unseen(Now now, std::vector<PodAction> &out);
	void count_absent_pods();
	[[nodiscard]] bool is_out_of_sight(const PodUid &uid) const;
	[[nodiscard]] bool is_held(const SlurmJob *job) const;
	void forget_provisional(const PodUid &uid, Now now);
	void note_vanished(const PodUid &uid, JobId id, Now now);
	void wait_after_vanishing(const PodUid &uid, const Group &group, std::optional<Condition> &waits_for, Now now);
	bool is_surely_native(const PodUid &uid, const Group &group, Now now);
	void note_end(Group &group, const Pod &pod, Now now);
	[[nodiscard]] NodeView node_view() const;
	[[nodiscard]] bool is_lost(const std::string &node) const;
	[[nodiscard]] static bool is_answer_lost(const Group &group, const SlurmJob &job);
	[[nodiscard]] static bool stands_for_pod(const Group &group, const SlurmJob &job);
	[[nodiscard]] static bool stands_for_members(const Group &lead, const SlurmJob &job);
	static void note_stray(Group &group, const SlurmJob &job);
	/* lead: who has the job, the pod's own group or its gang's */
	[[nodiscard]] static bool is_given_up(const Group &group, const SlurmJob &ended);
	[[nodiscard]] static bool has_bound_pods(const Group &group);
	[[nodiscard]] static bool is_about_pod(const Pod &pod, const Group &lead, const SlurmJob &ended);
	void note_pod_times(Group &group, const Pod &pod, Now now);
	[[nodiscard]] bool is_start_expired(const PodUid &uid, Group &group, bool is_starting, Now now);
	void note_job_times(Group &group, const SlurmJob &job, Now now);
	void look_for_late_binding(const PodUid &uid, Group &group, Now now, std::vector<PodAction> &out);
	void settle_share(const PodUid &uid, Group &group, Now now);
	void wake_waiters(const std::string &node);
	void wake_unbound(const std::string &name_space); /* empty: of all */
	void retry_all();
	/* The obstacle of passing failures is gone. */
	static void retry_now(Group &group);
	void failed(Group &group, const PodUid &uid, const Error &error, Now now);
	/* error: nullptr if there was none */
	void note_answer(const PodUid &uid, const Error *error, Now now);
	bool is_submit_due(const PodUid &uid, const Group &group, Now now);

	/* ---- placement (world/place.cc) ---- */
	void note_demands(const Pod &pod);
	void note_tolerations(const Pod &pod);
	[[nodiscard]] bool counts_for_taints(const Pod &pod) const;
	[[nodiscard]] bool is_tolerated_by_any(const Taint &taint) const;
	void taints_changed(const std::vector<Taint> &taints);
	void review_taints(Now now);
	void forget_demands(const PodUid &uid);
	void note_options(const PodUid &uid, const Group &group, std::optional<Result<JobSpec>> &spec, GroupFacts &facts);
	[[nodiscard]] static bool is_told_places(const Group &group, const SlurmJob &job, const JobSpec &spec);
	static void note_told_places(Group &group, const SlurmJob *job, Action &action);
	void note_places(const PodUid &uid, Group &group, std::optional<Result<JobSpec>> &spec, GroupFacts &facts);
	void note_gang_change(const PodUid &lead, Gang &gang, Group &group, std::optional<Result<JobSpec>> &spec, GangFacts &facts);
	void review_places(Now now);
	/* at_once: so many of a gang come to one node */
	void place(const PodUid &uid, const Pod &pod, std::optional<Result<JobSpec>> &spec, std::uint32_t at_once = 1);
	void wish(const Pod &pod, JobSpec &spec) const;
	[[nodiscard]] Status names_known_nodes(const JobSpec &spec) const;
	void exclude_unwanted(JobSpec &spec) const;
	void check_place(const PodUid &uid, const Group &group, const KubeNode &node, GroupFacts &facts) const;
	/* world/places.cc */
	const Places &places_of(const Pod &pod);
	[[nodiscard]] std::string too_large(const JobSpec &spec, const Places &places) const;
	[[nodiscard]] Places work_out_places(const Pod &pod) const;
	void exclude_more(const PodUid &uid, const Pod &pod, const Company *company, Places &places) const;
	[[nodiscard]] std::optional<Refusal> node_refuses_in_queue(const Pod &pod, const KubeNode &node, const SlurmNode &record, const std::vector<std::string> &ignored) const;
	[[nodiscard]] std::optional<Refusal> others_refuse_in_queue(const PodUid &uid, const Pod &pod, const KubeNode &node, const Company *company) const;
	[[nodiscard]] std::optional<Refusal> room_refuses_for_good(const Pod &pod, const KubeNode &node, const SlurmNode *record, const Resources &taken) const;
	[[nodiscard]] bool is_oversized(const KubeNode &node, const SlurmNode &record) const;
	[[nodiscard]] Resources taken_on(const std::string &node, const PodUid &except) const;
	[[nodiscard]] const Resources &room_on(const KubeNode &node) const;
	void forget_places(const std::string &node = {}); /* empty: what is left of all nodes may be other than it was */
	void place_changed();
	void wake_nowhere(Now now);
	void others_changed(const std::set<std::string> &nodes);
	[[nodiscard]] bool is_concerned(const Pod &pod) const;
	/* ---- company: world/company.cc ---- */
	void note_company(const Pod &pod);
	void forget_company(const PodUid &uid);
	void company_changed();
	void wake_behind();
	void wake_behind_in_time(Now now);
	void select_namespaces(Pod &pod);
	void namespaces_changed();
	[[nodiscard]] const KubeNode *kube_node(const std::string &name) const;
	[[nodiscard]] Holders holders_of(const std::string &node, const PodUid &except) const;
	[[nodiscard]] Holders staying_on(const std::string &node, const PodUid &except) const;
	void add_holders(const PodUid &uid, const Pod &pod, Surroundings &out) const;
	void add_averse(const PodUid &uid, Company &out) const;
	[[nodiscard]] Company company_of(const PodUid &uid, const Pod &pod, bool with_allocated, std::uint32_t at_once) const;
	[[nodiscard]] bool must_wait_for_other(const PodUid &uid, const Pod &pod) const;
	[[nodiscard]] bool is_not_looked_at(const Group &group) const;
	/* ---- volume claims: world/claims.cc ---- */
	void wake_claimants(const std::set<PodUid> &users);
	void wake_all_claimants();
	[[nodiscard]] std::string claim_trouble(const PodUid &uid, const Pod &pod) const;
	[[nodiscard]] const Pod *user_of(const ClaimId &id, const PodUid &except) const;
	[[nodiscard]] std::optional<Refusal> claims_refuse(const Pod &pod, const KubeNode &node) const;
	void hold_for_claims(const PodUid &uid, const Pod &pod, std::optional<Result<JobSpec>> &spec, std::optional<Condition> &waits_for, Now now);
	void check_claims(const PodUid &uid, Group &group, const KubeNode &node, GroupFacts &facts, Now now);
	[[nodiscard]] std::string claim_trouble_of_gang(const Gang &gang) const;
	void exclude_for_claims(const Gang &gang, std::set<std::string> &excluded) const;
	/* ---- gangs: world/owners.cc, world/seats.cc, world/gang_spec.cc, world/gang.cc ---- */
	void assign(const PodUid &uid, Group &group, Now now);
	void join(const PodUid &uid, Group &group, InGang in, Now now);
	void stay_alone(Group &group, std::map<std::string, std::string> inherited);
	static void inherit(Group &group, std::map<std::string, std::string> inherited);
	void inherit_again(const PodUid &uid, Group &group);
	void ask_owners_again(Now now);
	void owner_changed(const OwnerId &id);
	Gang &gang_at(const PodUid &lead, const GangId &id, Now now);
	void take_roles(const PodUid &lead, Gang &gang, std::vector<Role> roles);
	[[nodiscard]] bool may_take_roles(const PodUid &lead, const Gang &gang) const;
	void roles_changed(const OwnerId &id, const Owner &owner);
	void shape_again(Gang &gang, const PodUid &lead, std::vector<Seat> seats);
	[[nodiscard]] bool has_live_job(const PodUid &lead) const;
	[[nodiscard]] bool is_asked_for(const PodUid &lead) const;
	void seat_anew(Gang &gang, const PodUid &lead, const std::vector<const Pod *> &pods);
	void seat_members(Gang &gang, const PodUid &lead);
	void seat_newcomers(Gang &gang);
	void leave(Gang &gang, const PodUid &uid);
	void note_loose(const PodUid &lead, const PodUid &uid, Group &group);
	void note_bound_members(const Gang &gang, Group &lead);
	[[nodiscard]] bool may_be_gang(const PodUid &key, const std::string &name_space) const;
	bool rejoin(const PodUid &uid, Group &group, Now now);
	[[nodiscard]] static bool is_bound_member(const Group &group);
	static void note_marks(Group &group);
	[[nodiscard]] std::size_t pods_of(const Gang &gang, const PodUid &lead) const;
	void note_misfits(Gang &gang, GangFacts &facts);
	void note_ends(Gang &gang, Now now);
	bool take_back(const PodUid &lead, const Bind &bind, const PodUid &uid);
	void report_unplaced(const PodUid &uid, Group &group, Now now, std::vector<PodAction> &out);
	bool is_due(const PodUid &lead, Gang &gang, Now now);
	void look_at_gang(const PodUid &lead, Now now, std::vector<PodAction> &out);
	GangFacts facts_of_gang(const PodUid &lead, Gang &gang, Group &group, Now now, std::optional<Result<JobSpec>> &spec);
	std::vector<bool> taken_seats(const Gang &gang) const;
	/* As one look at the gang finds it; valid until groups or members change. */
	struct Member {
		const PodUid *uid;
		Group *group;
		std::optional<std::uint32_t> seat;
		PodSide side;
	};
	using Members = std::vector<Member>;
	Members members_of(const Gang &gang);
	using SeatHolders = std::unordered_map<std::uint32_t, const PodUid *>;
	struct Seating {
		std::unordered_map<std::uint32_t, std::string> node_of_seat; /* of those who wait; empty: it has no place */
		SeatHolders holders;
	};
	void seat_holders(const Gang &gang, const Members &members, const SlurmJob &job, const std::vector<std::string> &node_of_task, Seating &seating) const;
	Seating seating_of(const Gang &gang, const Members &members, const SlurmJob &job) const;
	[[nodiscard]] bool is_in_service(const std::string &node) const;
	void pin_nodes(const Members &members, GangFacts &facts) const;
	MemberFacts facts_of_member(const Gang &gang, const Group &lead, const Member &member, const Seating &seating, const SlurmJob *job, Now now);
	void choose_node(const Gang &gang, const Member &member, const Seating &seating, MemberFacts &facts, Now now);
	[[nodiscard]] NodeSizes node_sizes(const std::set<std::string> &excluded) const;
	[[nodiscard]] std::vector<Seat> seats_as_seen(const Gang &gang) const;
	void plan(Gang &gang);
	void spec_of(const PodUid &lead, Gang &gang, const Group &group, std::optional<Result<JobSpec>> &spec);
	/* world/gang_roles.cc. What a role demands: its member of the lowest rank, or its template while none has come. */
	struct RolePod {
		std::string name;
		const Pod *pod;
	};
	using RolePods = std::vector<RolePod>;
	[[nodiscard]] const Pod *first_member(const Gang &gang) const;
	[[nodiscard]] RolePods pods_of_roles(const Gang &gang) const;
	[[nodiscard]] static std::int64_t deadline_of(const RolePods &roles);
	[[nodiscard]] Status check_roles(const Gang &gang, const RolePods &roles) const;
	void exclude_for_roles(const PodUid &lead, const Gang &gang, const RolePods &roles, std::optional<Result<JobSpec>> &spec);
	void note_roles(const Gang &gang);
	void note_wrong_allocation(const PodUid &lead, Gang &gang, Group &group, GangFacts &facts, Now now);
	void note_gang_times(const PodUid &lead, Gang &gang, const Members &members, GangFacts &facts, Now now);
	void note_never_came(const PodUid &lead, Gang &gang, const GangFacts &facts, Now now);
	void wait_after_never_came(const PodUid &lead, const Gang &gang, GangFacts &facts, Now now);
	bool is_over(const PodUid &lead, bool is_so, std::int64_t &since_us, std::int64_t limit_us, Now now);
	void drop_gang_if_empty(const PodUid &lead);

	[[nodiscard]] bool is_deletion_slow(const Pod &pod) const;
	GroupFacts facts_of(const PodUid &uid, Group &group, Now now, std::optional<Result<JobSpec>> &spec);
	[[nodiscard]] std::vector<JobId> surplus_of(const Group &group, const SlurmJob *current) const;
	[[nodiscard]] std::uint32_t next_attempt(const Group &group) const;
	bool accept(const PodUid &uid, Group &group, Action &action, Now now);
	/* ---- without a link, and with the next one: world/standby.cc ---- */
	void doubt_lists(const PluginHello &hello);
	void forget_on_standby(Now now);
	void forget_gangs_on_standby(Now now);
	void report_unlinked(Now now, std::vector<PodAction> &out);
	bool accept_report(const PodUid &uid, Group &group, const Report &report, Now now);
	[[nodiscard]] std::vector<PodUid> by_age(const std::set<PodUid> &uids) const;
	void look_at_group(const PodUid &uid, Now now, std::vector<PodAction> &out);
	[[nodiscard]] bool must_give_way(const std::string &node) const;
	bool has_given_way_time(const PodUid &uid, Group &group, bool is_in_the_way, Now now);
	/* ---- an allocation that others are still in the way of: world/room.cc ---- */
	bool is_room_late(const PodUid &uid, Group &group, const GroupFacts &facts, Now now);
	bool is_gang_room_late(const PodUid &lead, Group &group, const GangFacts &facts, Now now);
	static void note_crowded(Group &group, Crowded crowded);
	static void note_crowded(Group &lead, const GangFacts &facts);
	void note_placeless(const PodUid &lead, Gang &gang, GangFacts &facts, Now now);
	[[nodiscard]] std::string crowded_text(const Crowded &crowded, const Pod &pod) const;
	[[nodiscard]] std::string holder_text(const std::string &node) const;
	void exclude_crowded(const PodUid &uid, const Pod &pod, Places &places);
	[[nodiscard]] Status is_fit_for_pods(const std::string &partitions) const;
	void wait_for_share(const PodUid &uid, const GroupFacts &facts);

	Settings settings_;
	Sync sync_;
	Unanswered unanswered_;
	std::int64_t standby_look_us_ = 0;
	std::map<PodUid, Group> groups_;
	std::map<JobId, SlurmJob> jobs_;
	ClusterJobs clusters_;
	std::size_t held_absent_pods_ = 0;
	std::set<PodUid> unseen_; /* pods that a list did not show, and the API server has not denied */
	std::map<JobId, std::int64_t> provisional_until_us_; /* jobs known from our own submission only */
	std::vector<SlurmJob> snapshot_jobs_;
	std::vector<SlurmNode> snapshot_nodes_;
	std::map<std::string, KubeNode> kube_nodes_;
	std::map<std::string, SlurmNode> slurm_nodes_;
	NodePlanner nodes_;
	Occupancy occupancy_;
	std::map<std::string, std::set<PodUid>> waiters_; /* pods with an allocation on a node that cannot take them now */

	std::map<std::string, std::string> refused_partitions_; /* and why */
	ForeignPods foreign_;
	std::deque<Places> known_places_; /* the latest first */
	mutable std::unordered_map<std::string, Resources> rooms_; /* by node; what is not there has to be worked out */
	std::set<PodUid> choosy_;  /* pods of ours that mind who is beside them */
	std::set<PodUid> averse_, far_minded_; /* those that may keep others off their node, and off its zone or the like */
	std::set<PodUid> by_namespaces_;        /* pods of anybody whose affinity goes by labels of namespaces */
	std::set<PodUid> nowhere_; /* pods that no node may take */
	std::set<PodUid> behind_;  /* pods that wait for the node of another which they must not meet */
	TaintStore taints_;
	bool place_changed_ = false;
	ReviewQueue reviews_;
	ClaimStore claims_;
	std::int64_t seen_us_ = 0; /* monotonic; when something was last decided */
	std::int64_t nowhere_next_us_ = 0, behind_next_us_ = 0;
	std::map<PodUid, Gang> gangs_;
	std::map<PodUid, std::set<PodUid>> loose_; /* by lead: pods of a PodGroup that run alone, since the others did not need them */
	OwnerStore owners_;
	PodUid owners_last_; /* whose owners were last looked at */
	std::int64_t owners_next_us_ = 0;

	WorkQueue<PodUid> queue_;
	Edges edges_;
	Counters counters_;
};

} // namespace slurmkube::core

#endif
