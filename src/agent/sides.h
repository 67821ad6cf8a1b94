/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sides.h - what the executor asks of Kubernetes and of Slurm. The agent's implementations are in
 * links.h; the simulator has its own.
 *
 * A callback is called once, never within the call that takes it, and not at all after its side has
 * been destroyed. The errors are those of kube/writes.h and slurm/calls.h.
 */
#ifndef SLURMKUBE_AGENT_SIDES_H
#define SLURMKUBE_AGENT_SIDES_H

#include "src/agent/kube/binding.h"
#include "src/core/model/owner.h"
#include "src/core/model/plugin.h"
#include "src/core/model/spec.h"
#include "src/core/world/world.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::agent
{

using Done = std::function<void(const Status &)>;
template <class T> using Answer = std::function<void(const Result<T> &)>;

struct DeletePod {
	std::string name_space, name, uid;
	std::optional<std::int64_t> grace_seconds = {}; /* empty: the pod's own grace period */
};

class KubeSide
{
      public:
	KubeSide() = default;
	KubeSide(const KubeSide &) = delete;
	KubeSide &operator=(const KubeSide &) = delete;
	virtual ~KubeSide() = default;

	virtual void bind(kube::BindPod bind, Done done) = 0;
	virtual void set_conditions(const kube::SetConditions &write, Done done) = 0;
	/* transition_time 0: the condition keeps its own. */
	virtual void report_drain(
		const core::ReportDrain &what, std::int64_t transition_time, Done done) = 0;
	virtual void remove(const DeletePod &what, Done done) = 0;
	virtual void provide(const core::ClaimStep &step, Done done) = 0;
	/* Only queues the event; failures are not reported. */
	virtual void tell(const core::Pod &pod, bool warning, const char *action,
		const core::Condition &what) = 0;

	virtual void get_pod(
		const std::string &name_space, const std::string &name, Answer<core::Pod> done) = 0;
	virtual void find_pod(const std::string &name_space,
		std::function<bool(const core::Pod &)> is_it, Answer<bool> done) = 0;
	virtual void get_owner(
		const core::OwnerId &id, Answer<std::optional<core::Owner>> done) = 0;
	virtual void look_at_node(const std::string &name, Answer<core::NodeLookup> done) = 0;
	virtual void cluster_uid(Answer<std::string> done) = 0;

	virtual void after(std::chrono::milliseconds delay, std::function<void()> call) = 0;
};

class SlurmSide
{
      public:
	SlurmSide() = default;
	SlurmSide(const SlurmSide &) = delete;
	SlurmSide &operator=(const SlurmSide &) = delete;
	virtual ~SlurmSide() = default;

	virtual void submit(const core::JobSpec &spec, Answer<core::Submitted> done) = 0;
	virtual void update(core::JobId job, const core::Update &change, Done done) = 0;
	virtual void complete(const core::MarkedJob &job, std::uint32_t wait_status, Done done) = 0;
	virtual void expire(const core::MarkedJob &job, Done done) = 0;
	virtual void cancel(const core::MarkedJob &job, Done done) = 0;
	virtual void give_up(const core::MarkedJob &job, Done done) = 0;

	virtual void create_node(const core::NodeSpec &spec, core::Family family, Done done) = 0;
	virtual void delete_node(const std::string &name, Done done) = 0;
	virtual void set_node_state(const core::SetNodeState &change, Done done) = 0;
	virtual void set_node_extra(const core::SetNodeExtra &change, Done done) = 0;
};

} // namespace slurmkube::agent

#endif
