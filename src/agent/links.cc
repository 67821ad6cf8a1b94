/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/links.h"

#include "src/agent/kube/writes.h"
#include "src/agent/translate_names.h"

#include <utility>

namespace slurmkube::agent
{

/* ---- Kubernetes ---- */

void ApiServer::bind(kube::BindPod bind, Done done)
{
	kube::bind_pod(client_, std::move(bind), std::move(done));
}

void ApiServer::set_conditions(const kube::SetConditions &write, Done done)
{
	kube::set_conditions(client_, write, std::move(done));
}

void ApiServer::report_drain(const core::ReportDrain &what, std::int64_t transition_time, Done done)
{
	kube::set_drain_condition(client_, what, transition_time, std::move(done));
}

void ApiServer::remove(const DeletePod &what, Done done)
{
	kube::delete_pod(
		client_, what.name_space, what.name, what.uid, what.grace_seconds, std::move(done));
}

void ApiServer::provide(const core::ClaimStep &step, Done done)
{
	kube::provide(client_, step, std::move(done));
}

void ApiServer::tell(
	const core::Pod &pod, bool warning, const char *action, const core::Condition &what)
{
	recorder_.tell(pod, warning, action, what);
}

void ApiServer::get_pod(
	const std::string &name_space, const std::string &name, Answer<core::Pod> done)
{
	kube::get_pod(client_, name_space, name, std::move(done));
}

void ApiServer::find_pod(const std::string &name_space,
	std::function<bool(const core::Pod &)> is_it, Answer<bool> done)
{
	kube::find_pod(client_, name_space, std::move(is_it), std::move(done));
}

void ApiServer::get_owner(const core::OwnerId &id, Answer<std::optional<core::Owner>> done)
{
	kube::get_owner(client_, id, std::move(done));
}

void ApiServer::look_at_node(const std::string &name, Answer<core::NodeLookup> done)
{
	kube::look_at_node(client_, name, std::move(done));
}

void ApiServer::cluster_uid(Answer<std::string> done)
{
	kube::cluster_uid(client_, std::move(done));
}

void ApiServer::after(std::chrono::milliseconds delay, std::function<void()> call)
{
	client_.after(delay, std::move(call));
}

/* ---- Slurm ---- */

void Controller::submit(const core::JobSpec &spec, Answer<core::Submitted> done)
{
	calls_.submit(for_slurm(spec, names_),
		[done = std::move(done), user = spec.user_id, &names = names_](
			const Result<slurm::SubmitReply> &reply) {
			if (!reply)
				return done(reply.error());
			done(core::Submitted{.job = reply->id,
				.node = reply->node.empty() ? "" : names.in_kubernetes(reply->node),
				.cpus = reply->cpus,
				.partition = reply->partition,
				.account = reply->account,
				.user_id = user});
		});
}

void Controller::update(core::JobId job, const core::Update &change, Done done)
{
	calls_.update(
		job, for_slurm(change.spec, names_), change.given, change.removed, std::move(done));
}

void Controller::complete(const core::MarkedJob &job, std::uint32_t wait_status, Done done)
{
	calls_.complete(job, wait_status, std::move(done));
}

void Controller::expire(const core::MarkedJob &job, Done done)
{
	calls_.expire(job, std::move(done));
}

void Controller::cancel(const core::MarkedJob &job, Done done)
{
	calls_.cancel(job, std::move(done));
}

void Controller::give_up(const core::MarkedJob &job, Done done)
{
	calls_.give_up(job, std::move(done));
}

void Controller::create_node(const core::NodeSpec &spec, core::Family family, Done done)
{
	calls_.node_create(for_slurm(spec, names_), family, std::move(done));
}

void Controller::delete_node(const std::string &name, Done done)
{
	calls_.node_delete(names_.in_slurm(name), std::move(done));
}

void Controller::set_node_state(const core::SetNodeState &change, Done done)
{
	calls_.node_set_state(
		names_.in_slurm(change.name), change.change, change.reason, std::move(done));
}

void Controller::set_node_extra(const core::SetNodeExtra &change, Done done)
{
	calls_.node_set_extra(names_.in_slurm(change.name), change.extra, std::move(done));
}

} // namespace slurmkube::agent
