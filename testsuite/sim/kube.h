/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kube.h - a model Kubernetes: API server, kubelets, controllers that make pods again. The truth
 * about pods, for the oracle.
 *
 * Kubelets behave as real ones were measured to: they admit by what they hold, hold a pod until its
 * terminal phase is written, forget a pod removed by force at once while its containers live on for
 * up to two seconds.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_KUBE_H
#define SLURMKUBE_TESTSUITE_SIM_KUBE_H

#include "testsuite/sim/stream.h"

namespace slurmkube::sim
{

/* How a pod's containers end. */
struct End {
	core::PodPhase phase = core::PodPhase::succeeded;
	int exit_code = 0, signal = 0;
	std::string container_reason; /* empty: no container ran */
	std::string status_reason;
};

enum class Binder { nobody, agent, foreigner };
enum class AtKubelet { unseen, held, done };

struct PodTruth {
	core::Pod api; /* as the API server has it, or had it last */
	std::uint64_t key = 0;
	bool exists = true, has_finalizer = false;
	/* deleted by force while its kubelet was stopped: nobody can see its containers */
	bool is_out_of_sight = false;
	std::string owner;
	std::string gang; /* uid of the owner whose pods start together */
	/* the key of its Slurm job: that, or that of a component */
	std::string job_key;
	/* that it must have; of a PodGroup's pods nobody says it */
	std::optional<std::uint32_t> rank;
	Micros created_at = 0;
	/* plan */
	Micros run_us = 0;
	End plan;
	bool ignores_term = false;
	/* life */
	Binder binder = Binder::nobody;
	AtKubelet kubelet = AtKubelet::unseen;
	bool has_containers = false; /* they use the node, whatever the API says */
	bool is_stopping = false;
	/* removed by force while its kubelet was away: nobody can know what its containers do */
	bool is_lost = false;
	Micros ends_at = 0;     /* 0: not started */
	std::optional<End> end; /* set with the terminal phase */
	bool was_deleting_at_end = false;
};

struct NodeTruth {
	core::KubeNode api;
	bool exists = true, kubelet_up = true, is_node_lost = false;
	Micros not_ready_since = 0;        /* 0: Ready */
	Micros made_at = -3600 * k_second; /* the last time */
};

struct Owner {
	std::string name_space, name;
	bool keeps_name = false; /* StatefulSet: the same name again, with a new uid */
	int wanted = 1, made = 0;
	PodTruth mould;
};

struct BindRequest {
	std::string name_space, name, uid, node;
	std::map<std::string, std::string> annotations;
};

class Kube
{
      public:
	Kube(Stage &stage, std::uint64_t seed);

	/* ---- the API, as the server carries it out ---- */
	Status bind(const BindRequest &request, Binder who);
	/* version: of the pod that it is meant for; empty: of any */
	Status set_disruption(const std::string &name_space, const std::string &name,
		const std::string &uid, const std::string &version,
		const core::Condition &condition);
	Status set_not_scheduled(const std::string &name_space, const std::string &name,
		const std::string &uid, const std::string &version,
		const core::Condition &condition);
	/* uid empty: by name alone. grace: 0 is by force */
	Status remove(const std::string &name_space, const std::string &name,
		const std::string &uid, std::optional<std::int64_t> grace);
	[[nodiscard]] PodTruth *find(const std::string &name_space, const std::string &name);

	/* ---- what people and machines do ---- */
	void create(PodTruth pod);
	void create_owner(Owner owner);
	void open_gates(PodTruth &pod);
	void drop_finalizer(PodTruth &pod);
	void set_failed(PodTruth &pod);
	void end_containers(PodTruth &pod);
	void evict(PodTruth &pod);
	void stop_kubelet(NodeTruth &node);
	void stop_kubelets(const NodeTruth *spared); /* nullptr: none is */
	void start_kubelet(NodeTruth &node);
	void delete_node(NodeTruth &node);
	void add_node(NodeTruth &node);
	void node_changed(NodeTruth &node);

	/* As the API server would give it, whatever its kind; nullopt: there is none. */
	[[nodiscard]] std::optional<core::Owner> owner(const core::OwnerId &id) const;

	/* ---- the truth ---- */
	std::map<std::string, PodTruth> pods;   /* by uid; gone ones too */
	std::map<std::string, NodeTruth> nodes; /* by name */
	Collection<core::Pod> pod_store;
	Collection<core::KubeNode> node_store;
	/* requests of the agent, what it asks about owners among them */
	std::uint64_t writes = 0;
	std::uint64_t questions = 0; /* these */
	/* What pods hold on a node: bound ones until their end, and containers that live on. */
	[[nodiscard]] core::Resources load_of(
		const std::string &node, bool *has_foreign = nullptr) const;
	[[nodiscard]] std::vector<std::string> uids_if(
		const std::function<bool(const PodTruth &)> &wanted) const;
	/* Called when the truth about a node's pods has changed. */
	std::function<void(const std::string &node)> on_load;
	/* A binding of the agent's has arrived. */
	std::function<void(const PodTruth &)> on_bound;
	/* Of gangs.cc: a pod of that gang has changed; an owner is asked for. */
	std::function<void(const std::string &gang)> on_member;
	std::function<std::optional<core::Owner>(const core::OwnerId &)> ask_gangs;

      private:
	void publish(PodTruth &pod);
	Status write(PodTruth &pod, std::optional<core::Condition> &place,
		const core::Condition &condition);
	void tell_owner(const PodTruth &pod);
	void vanish(PodTruth &pod);
	void begin_deletion(PodTruth &pod, std::int64_t grace);
	/* kubelet.cc */
	void collect_later(const PodTruth &pod);
	void kubelet_later(const std::string &uid, Topic topic, Micros least, Micros most,
		void (Kube::*step)(PodTruth &));
	void kubelet_looks(PodTruth &pod);
	void admit(PodTruth &pod);
	void start(PodTruth &pod);
	void stop(PodTruth &pod);
	void containers_ended(PodTruth &pod);
	void finish(PodTruth &pod, const End &end);
	void finish_stopped(PodTruth &pod);
	void finish_planned(PodTruth &pod);
	void kill_orphan(PodTruth &pod);
	void remove_finished(PodTruth &pod);
	[[nodiscard]] NodeTruth *kubelet_of(const PodTruth &pod);
	/* controllers.cc */
	void owner_looks(const std::string &owner);
	void make_pod(Owner &owner);

	Stage &stage_;
	std::map<std::string, std::string> names_; /* "ns/name" to uid */
	std::map<std::string, Owner> owners_;
	std::uint64_t version_ = 0;
};

bool is_live(const PodTruth &pod);       /* exists and has no terminal phase */
bool has_succeeded(const PodTruth &pod); /* also when it is gone since */

} // namespace slurmkube::sim

#endif
