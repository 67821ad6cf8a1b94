/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kube.h - a model Kubernetes: API server, kubelets, and controllers that recreate pods. It holds
 * the true state of pods, which the oracle checks.
 *
 * The kubelets behave as real kubelets were measured to: a kubelet admits a pod by the pods that it
 * holds, and holds a pod until the terminal phase is written. It forgets a force-deleted pod at
 * once, although the containers live on for up to two seconds.
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
	/* force-deleted while its kubelet was stopped: nothing can see its containers */
	bool is_out_of_sight = false;
	std::string owner;
	std::string gang; /* uid of the owner whose pods start together */
	/* the key of its Slurm job: the gang's, or its component's */
	std::string job_key;
	/* the rank that the pod must get; a PodGroup assigns no ranks */
	std::optional<std::uint32_t> rank;
	Micros created_at = 0;
	/* plan */
	Micros run_us = 0;
	End plan;
	bool ignores_term = false;
	/* life */
	Binder binder = Binder::nobody;
	AtKubelet kubelet = AtKubelet::unseen;
	bool has_containers = false; /* these use the node, whatever the API says */
	bool is_stopping = false;
	/* force-deleted while its kubelet was away: the state of its containers is unknown */
	bool is_lost = false;
	Micros ends_at = 0;     /* 0: not started */
	std::optional<End> end; /* set with the terminal phase */
	bool was_deleting_at_end = false;
	/* ---- devices: devices.h ---- */
	std::uint32_t devices = 0;        /* of its claim; 0: it has none */
	std::vector<core::DeviceId> used; /* while it has containers */
};

struct NodeTruth {
	core::KubeNode api;
	bool exists = true, kubelet_up = true, is_node_lost = false;
	Micros not_ready_since = 0;        /* 0: Ready */
	Micros made_at = -3600 * k_second; /* when the node was last created */
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
	/* version: resourceVersion that the write requires; empty: any */
	Status set_disruption(const std::string &name_space, const std::string &name,
		const std::string &uid, const std::string &version,
		const core::Condition &condition);
	Status set_not_scheduled(const std::string &name_space, const std::string &name,
		const std::string &uid, const std::string &version,
		const core::Condition &condition);
	/* uid empty: delete by name alone. grace 0: force deletion */
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
	void stop_kubelets(const NodeTruth *spared); /* nullptr: stop all kubelets */
	void start_kubelet(NodeTruth &node);
	void delete_node(NodeTruth &node);
	void add_node(NodeTruth &node);
	void node_changed(NodeTruth &node);
	void name_claim(PodTruth &pod, const std::string &claim);
	/* The owner as the API server returns it, whatever its kind; nullopt: it does not exist. */
	[[nodiscard]] std::optional<core::Owner> owner(const core::OwnerId &id) const;

	/* ---- the truth ---- */
	std::map<std::string, PodTruth> pods;   /* by uid, including deleted pods */
	std::map<std::string, NodeTruth> nodes; /* by name */
	Collection<core::Pod> pod_store;
	Collection<core::KubeNode> node_store;
	/* all requests of the agent, including its questions about owners, nodes and the cluster */
	std::uint64_t writes = 0;
	std::uint64_t questions = 0; /* only these questions */
	/* What pods hold on a node: bound pods until their end, and containers that outlive
	 * their pod. */
	[[nodiscard]] core::Resources load_of(
		const std::string &node, bool *has_foreign = nullptr) const;
	[[nodiscard]] std::vector<std::string> uids_if(
		const std::function<bool(const PodTruth &)> &wanted) const;
	/* Called when the truth about a node's pods has changed. */
	std::function<void(const std::string &node)> on_load;
	/* Called when a binding sent by the agent takes effect. */
	std::function<void(const PodTruth &)> on_bound;
	/* Set by gangs.cc. on_member: a pod of that gang has changed; ask_gangs: looks up an
	 * owner. */
	std::function<void(const std::string &gang)> on_member;
	std::function<std::optional<core::Owner>(const core::OwnerId &)> ask_gangs;
	/* Set by devices.cc. A pod has changed; a node has come or gone; whether the kubelet may
	 * start the pod's containers. */
	std::function<void(const PodTruth &)> on_pod = [](const PodTruth &) {};
	std::function<void(const NodeTruth &)> on_node = [](const NodeTruth &) {};
	std::function<bool(PodTruth &)> prepare = [](PodTruth &) { return true; };

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
bool has_succeeded(const PodTruth &pod); /* true even if the pod is gone */

} // namespace slurmkube::sim

#endif
