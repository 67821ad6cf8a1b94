/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * executor.h - carries out actions: each action starts one call, and its outcome becomes an answer
 * for World. The executor knows neither libcurl nor libslurm, so that the simulator can use it too.
 *
 * On the loop's thread. Callbacks hold a pointer to the executor: KubeSide and SlurmSide must have
 * stopped calling back before the executor is destroyed.
 */
#ifndef SLURMKUBE_AGENT_EXECUTOR_H
#define SLURMKUBE_AGENT_EXECUTOR_H

#include "src/agent/sides.h"
#include "src/base/log.h"
#include "src/core/policy/priority_classes.h"

#include <map>
#include <utility>

namespace slurmkube::agent
{

/* The last answer that shows whether bindings work. not_found and conflict are not recorded: they
 * are about the pod. */
struct LastBinding {
	core::Now at;
	std::string pod;     /* empty: none yet */
	std::string trouble; /* empty: accepted */
};

class Executor
{
      public:
	struct Callbacks {
		std::function<core::Now()> now;
		std::function<void()> want_round;
	};
	Executor(core::World &world, KubeSide &kube, SlurmSide &slurm, Callbacks callbacks)
	    : world_(world), kube_(kube), slurm_(slurm), callbacks_(std::move(callbacks))
	{
	}
	Executor(const Executor &) = delete;
	Executor &operator=(const Executor &) = delete;
	~Executor() = default;

	/* Each of these starts one request and later reports its outcome to World. */
	void carry_out(const core::PodUid &pod, const core::Action &action);
	void carry_out(const core::NodeAction &action);
	void ask_for(const core::OwnerId &id);
	void ask_for_node(const std::string &name);
	void ask_for_cluster();

	[[nodiscard]] const LastBinding &last_binding() const { return last_binding_; }
	/* Why the uid of the cluster could not be read; empty: the uid is known, or the question
	 * has not been answered yet. */
	[[nodiscard]] const std::string &cluster_unknown() const { return cluster_unknown_; }

      private:
	[[nodiscard]] core::Now now() const { return callbacks_.now(); }
	void want_round() const { callbacks_.want_round(); }
	void log_submitted(const core::PodUid &pod, core::JobId job);
	void submit(const core::PodUid &pod, const core::Submit &action);
	void tell_unused_class(const core::PodUid &key);
	void update(const core::PodUid &pod, const core::Update &action);
	void complete(const core::PodUid &pod, core::JobId job, std::uint32_t wait_status,
		bool for_absence);
	void report_drain(const core::ReportDrain &action);
	/* executor_pods.cc */
	[[nodiscard]] kube::BindPod binding_of(
		const core::Pod &pod, const core::Bind &action) const;
	void bind(const core::PodUid &pod, const core::Bind &action);
	void provide(const core::PodUid &pod, const core::WriteClaim &action);
	void look_up(const core::PodUid &pod, const core::LookUp &action);
	void look_for_members(const core::PodUid &key, const std::string &name_space);
	void note_removal(const core::PodUid &pod, const core::Pod &about,
		const core::DeletePod &action, const Status &answer);
	void remove(const core::PodUid &pod, const core::DeletePod &action);
	void report(const core::PodUid &pod, const core::Report &action);

	core::World &world_;
	KubeSide &kube_;
	SlurmSide &slurm_;
	const Callbacks callbacks_;
	LastBinding last_binding_;
	/* for each submission without an answer: what the log tells of it */
	std::map<core::PodUid, LogFields> submitting_;
	core::UnusedClasses unused_classes_;
	bool cluster_asked_ = false;
	std::string cluster_unknown_;
	bool drain_reports_fail_ = false; /* and that was logged */
};

/* "namespace/name" of the pod or gang for the log; the uid if it is unknown. */
std::string name_of(const core::World &world, const core::PodUid &uid);
/* Who and where, for events: pod or workload, uid, job, user_id, nodes. job 0: none. */
LogFields about(const core::World &world, const core::PodUid &uid, core::JobId job);
LogFields with(LogFields fields, LogFields more);
void log_failure(const char *what, const LogFields &fields, const Error &error);

} // namespace slurmkube::agent

#endif
