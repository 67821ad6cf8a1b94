/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * execute.cc - the half of App that carries actions out: each starts one call and turns its outcome into an answer for World.
 */
#include "src/agent/app.h"
#include "src/core/model/amounts.h"
#include "src/base/log.h"
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report.h"

#include <memory>
#include <utility>

namespace slurmkube::agent
{

namespace
{

constexpr std::chrono::seconds k_ask_again{1};
constexpr char k_pod_scheduled[] = "PodScheduled";
constexpr char k_disruption_target[] = "DisruptionTarget";
/* A condition reaches the API server well before the deletion then; its answer takes many times that when the server is busy. */
constexpr std::chrono::milliseconds k_head_start{20};
constexpr std::size_t k_node_list_bytes = 16 << 10; /* annotations have 256 KiB in all, and every pod of a gang carries this one */

template <class... F> struct Overloaded : F... {
	using F::operator()...;
};
template <class... F> Overloaded(F...) -> Overloaded<F...>;

std::string name_of(const core::World &world, const core::PodUid &uid)
{
	const auto found = world.state().groups.find(uid);
	const auto gang = world.state().gangs.find(uid);
	if (gang != world.state().gangs.end())
		return gang->second.id.name_space + "/" + gang->second.id.name;
	if (found == world.state().groups.end())
		return uid.text;
	const core::Pod *pod = found->second.pod ? &*found->second.pod : found->second.last ? &*found->second.last : nullptr;
	return pod ? pod->name_space + "/" + pod->name : uid.text;
}

void log_outcome(const char *what, const std::string &pod, core::JobId job, const Status &answer, const std::string &rest = {})
{
	if (answer)
		log_info("%s pod=%s job=%u%s", what, pod.c_str(), job.number, rest.c_str());
	else
		log_warning("%s failed pod=%s job=%u: %s", what, pod.c_str(), job.number, answer.error().what.c_str());
}

/* What a program of a gang wants to know of its place in it. */
void add_gang(const core::World &world, const core::PodUid &pod, std::uint32_t rank, std::map<std::string, std::string> &annotations)
{
	const core::Group &member = world.state().groups.at(pod);
	const auto gang = member.gang ? world.state().gangs.find(*member.gang) : world.state().gangs.end();
	if (gang == world.state().gangs.end())
		return;
	annotations[names::k_allocation_rank] = std::to_string(rank);
	annotations[names::k_allocation_size] = std::to_string(core::ranks_of(gang->second));
	annotations[names::k_allocation_gang] = gang->first.text;
	if (const core::SlurmJob *job = world.state().job_of(member))
		annotations[names::k_allocation_nodes] = core::node_list_of(job->nodes, k_node_list_bytes);
}

/* What a program may want to know of its job. A container takes it by fieldRef (doc/user.md); an annotation that is missing is empty there. */
void add_job(const core::World &world, const core::Bind &action, std::map<std::string, std::string> &annotations)
{
	annotations[names::k_allocation_nodes] = action.node;
	const auto found = world.state().jobs.find(action.job);
	if (found == world.state().jobs.end())
		return;
	annotations[names::k_allocation_partition] = found->second.partition;
	annotations[names::k_allocation_account] = found->second.account;
}

/* What an event needs of a pod that may be gone by then. */
core::Pod name_only(const core::Pod &pod)
{
	core::Pod name;
	name.uid = pod.uid;
	name.name_space = pod.name_space;
	name.name = pod.name;
	return name;
}

} // namespace

void App::carry_out(const core::PodUid &pod, const core::Action &action)
{
	std::visit(Overloaded{
		       [&](const core::Submit &a) { submit(pod, a); },
		       [&](const core::Update &a) { update(pod, a); },
		       [&](const core::Cancel &a) { complete(pod, a.job, core::k_status_cancelled, a.for_absence); },
		       [&](const core::Complete &a) { complete(pod, a.job, a.wait_status, a.for_absence); },
		       [&](const core::Bind &a) { bind(pod, a); },
		       [&](const core::Provide &a) { provide(pod, a); },
		       [&](const core::LookUp &a) { look_up(pod, a); },
		       [&](const core::Remove &a) { remove(pod, a); },
		       [&](const core::Report &a) { report(pod, a); },
		   },
		   action);
}

/* Slurm's news of the job and its binding may come before the answer to its submission: the line comes first all the same, and once. */
void App::log_submitted(const core::PodUid &pod, core::JobId job, const std::string &node)
{
	const auto about = submitting_.extract(pod);
	if (about)
		log_info("submitted %s job=%u node=%s", about.mapped().c_str(), job.number, node.empty() ? "-" : node.c_str());
}

void App::submit(const core::PodUid &pod, const core::Submit &action)
{
	const std::string name = action.spec.marker.name_space + "/" + action.spec.marker.name;
	submitting_[pod] = "pod=" + name + " uid=" + pod.text + " partition=" + action.spec.partition + " as=\"" + action.spec.as_whom + "\"";
	calls_.submit(action.spec, [this, pod, name](const Result<slurm::SubmitReply> &reply) {
		if (reply)
			log_submitted(pod, reply->id, reply->node);
		submitting_.erase(pod);
		if (!reply)
			log_warning("submission failed pod=%s: %s", name.c_str(), reply.error().what.c_str());
		const auto answer = reply ? Result<core::Submitted>(core::Submitted{.job = reply->id, .node = reply->node, .cpus = reply->cpus, .partition = reply->partition, .account = reply->account}) :
					    Result<core::Submitted>(reply.error());
		world_.answer(core::SubmitAnswered{pod, answer}, now());
		want_round();
	});
}

void App::update(const core::PodUid &pod, const core::Update &action)
{
	auto done = [this, pod, job = action.job, mark = action.spec.marker.options, name = name_of(world_, pod)](const Status &answer) {
		log_outcome("options changed", name, job, answer);
		world_.answer(core::UpdateAnswered{pod, mark, job, answer}, now());
		want_round();
	};
	calls_.update(action.job, action.spec, action.given, action.removed, std::move(done));
}

void App::complete(const core::PodUid &pod, core::JobId job, std::uint32_t wait_status, bool for_absence)
{
	const bool is_cancel = wait_status == core::k_status_cancelled;
	auto done = [this, pod, job, wait_status, is_cancel, name = name_of(world_, pod)](const Status &answer) {
		log_outcome(is_cancel ? "cancelled" : answer ? "ended" : "completed", name, job, answer, is_cancel ? "" : " result=\"" + core::result_text(wait_status) + "\"");
		if (const core::Pod *ended = answer && !is_cancel ? world_.state().pod(pod) : nullptr; ended && core::is_terminal(*ended))
			teller_.tell(*ended, false, "Completing", core::completed(job, wait_status));
		world_.answer(core::CompleteAnswered{pod, answer, is_cancel}, now());
		want_round();
	};
	const auto known = world_.state().jobs.find(job);
	if (for_absence && known != world_.state().jobs.end())
		calls_.give_up(job, known->second.marker, std::move(done));
	else if (is_cancel)
		calls_.cancel(job, std::move(done));
	else if (wait_status == core::k_status_deadline)
		calls_.expire(job, std::move(done));
	else
		calls_.complete(job, wait_status, std::move(done));
}

void App::bind(const core::PodUid &pod, const core::Bind &action)
{
	const core::Pod *known = world_.state().pod(pod);
	if (!known)
		return world_.answer(core::BindAnswered{pod, Error{Errc::not_found, "the pod is gone"}}, now());
	log_submitted(world_.state().groups.at(pod).gang.value_or(pod), action.job, action.node);
	kube::BindPod request;
	request.name_space = known->name_space;
	request.name = known->name;
	request.uid = pod.text;
	request.node = action.node;
	request.annotations = {{names::k_allocation_job_id, std::to_string(action.job.number)},
			       {names::k_allocation_cluster, config_.cluster},
			       {names::k_allocation_node, action.node},
			       {names::k_allocation_cpus, std::to_string(core::whole_cpus(action.cpus, config_.nodes.cpu_unit))},
			       {names::k_allocation_attempt, std::to_string(action.attempt)}};
	add_job(world_, action, request.annotations);
	if (action.rank)
		add_gang(world_, pod, *action.rank, request.annotations);
	kube::bind_pod(client_, std::move(request), [this, pod, action, name = name_of(world_, pod)](const Status &answer) {
		log_outcome("bound", name, action.job, answer);
		if (answer || (answer.error().code != Errc::not_found && answer.error().code != Errc::conflict))
			last_binding_ = {now(), name, answer ? "" : answer.error().what};
		if (const core::Pod *bound = answer ? world_.state().pod(pod) : nullptr)
			teller_.tell(*bound, false, "Binding", core::bound_to_node(action, config_.nodes.cpu_unit));
		world_.answer(core::BindAnswered{pod, answer}, now());
		want_round();
	});
}

void App::provide(const core::PodUid &pod, const core::Provide &action)
{
	const auto *give = std::get_if<core::GiveVolume>(&action.step);
	const std::string what = "claim " + core::claim_of(action.step).name + (give ? " given volume " + give->volume : " told its node");
	kube::provide(client_, action.step, [this, pod, job = action.job, what, name = name_of(world_, pod)](const Status &answer) {
		log_outcome(what.c_str(), name, job, answer);
		world_.answer(core::ProvideAnswered{pod, answer}, now());
		want_round();
	});
}

void App::ask_for(const core::OwnerId &id)
{
	kube::get_owner(client_, id, [this, id](Result<std::optional<core::Owner>> answer) {
		if (!answer)
			log_warning("asking for %s %s/%s: %s", id.kind.c_str(), id.name_space.c_str(), id.name.c_str(), answer.error().what.c_str());
		world_.observe(core::OwnerSeen{id, std::move(answer)}, now());
		want_round();
	});
}

void App::ask_for_node(const std::string &name)
{
	kube::look_at_node(client_, name, [this, name](const Result<core::NodeSight> &sight) {
		static const std::map<core::NodeSight, const char *> k_texts{
			{core::NodeSight::none, "was deleted from Kubernetes"},
			{core::NodeSight::not_ready, "exists and is not Ready"},
			{core::NodeSight::ready, "exists and is Ready: what runs there goes on"}};
		if (!sight)
			log_warning("asking for a node: %s", sight.error().what.c_str());
		else
			log_info("node=%s %s", name.c_str(), k_texts.at(*sight));
		world_.answer(core::NodeLookUpAnswered{name, sight}, now());
		want_round();
	});
}

/* Pods that World has are told of as they are: only those out of its sight count. */
void App::look_for_members(const core::PodUid &lead, const std::string &name_space)
{
	const auto gang = world_.state().gangs.find(lead);
	if (gang == world_.state().gangs.end())
		return world_.answer(core::LookUpAnswered{lead, Error{Errc::not_found, "the gang is gone"}}, now());
	const auto is_member = [this, lead, id = gang->second.id](const core::Pod &pod) {
		return !world_.state().pod(pod.uid) && core::may_be_member(pod, lead.text, id);
	};
	auto done = [this, lead, name = name_of(world_, lead)](const Result<bool> &found) {
		if (!found)
			log_warning("looking for pods of gang=%s: %s", name.c_str(), found.error().what.c_str());
		else if (*found)
			log_warning("gang=%s has pods that this agent does not see: its job is kept. Is scheduler_name right, "
				    "and may the agent watch all pods?",
				    name.c_str());
		Result<core::Sight> sight = core::Sight::absent;
		if (!found)
			sight = found.error();
		else if (*found)
			sight = core::Sight::bound;
		world_.answer(core::LookUpAnswered{lead, sight}, now());
		want_round();
	};
	kube::find_pod(client_, name_space, is_member, std::move(done));
}

/* At the start, and whenever the pods have been listed: behind one address there may be another cluster. */
void App::ask_for_cluster()
{
	if (std::exchange(cluster_.is_asked, true))
		return;
	kube::cluster_uid(client_, [this](const Result<std::string> &uid) {
		cluster_.unknown = uid ? "" : uid.error().what;
		if (uid) {
			cluster_.is_asked = false;
			world_.observe(core::ClusterSeen{*uid});
			return want_round();
		}
		loop_.after(k_ask_again, [this] {
			cluster_.is_asked = false;
			want_round();
		});
	});
}

void App::look_up(const core::PodUid &pod, const core::LookUp &action)
{
	if (action.name.empty())
		return look_for_members(pod, action.name_space);
	kube::get_pod(client_, action.name_space, action.name, [this, pod](const Result<core::Pod> &found) {
		const bool is_absent = found ? found->uid.text != pod.text : found.error().code == Errc::not_found;
		if (is_absent)
			world_.answer(core::LookUpAnswered{pod, core::Sight::absent}, now());
		else if (found)
			world_.answer(core::LookUpAnswered{pod, found->node_name.empty() ? core::Sight::unbound : core::Sight::bound}, now());
		else
			world_.answer(core::LookUpAnswered{pod, found.error()}, now());
		want_round();
	});
}

/*
 * The condition first: a Job's podFailurePolicy looks at it when the pod has ended. That takes a kubelet longer than the head start, so for a bound pod a late answer
 * does not hold up the deletion; a pod without a node is gone at once. A failure holds up nothing, except for a pod that did not start: that one is deleted only if nothing
 * has changed since we looked, because it may run by now.
 */
void App::remove(const core::PodUid &pod, const core::Remove &action)
{
	const core::Pod *known = world_.state().pod(pod);
	if (!known)
		return world_.answer(core::RemoveAnswered{pod, Ok{}}, now());
	const std::string name_space = known->name_space, name = known->name;
	const bool is_conditional = action.not_started, is_bound = !known->node_name.empty();
	const kube::PodCondition condition{.type = is_conditional ? names::k_condition_start_limit : k_disruption_target,
					   .status = true,
					   .reason = action.disruption.reason,
					   .message = action.disruption.message,
					   .transition_time = now().wall_s};
	log_info("deleting pod=%s/%s: %s", name_space.c_str(), name.c_str(), action.disruption.message.c_str());
	auto removed = [this, pod, name_space, name, about = name_only(*known), why = action.disruption](const Status &answer) {
		if (answer)
			teller_.tell(about, true, "Deleting", why);
		else
			log_warning("deleting failed pod=%s/%s: %s", name_space.c_str(), name.c_str(), answer.error().what.c_str());
		world_.answer(core::RemoveAnswered{pod, answer}, now());
		want_round();
	};
	const std::int64_t most = world_.state().settings.grace_most_seconds;
	const bool is_slow = most > 0 && known->termination_grace_seconds > most;
	const auto grace = is_slow ? std::optional<std::int64_t>(most) : std::nullopt;
	auto said = [this, pod, name_space, name, is_conditional, grace, removed, is_over = std::make_shared<bool>(false)](const Status &written) {
		if (std::exchange(*is_over, true))
			return;
		if (is_conditional && !written)
			removed(written);
		else
			kube::delete_pod(client_, name_space, name, pod.text, grace, removed);
	};
	kube::set_conditions(client_, {name_space, name, pod.text, {condition}, is_conditional ? known->resource_version : ""}, said);
	if (!is_conditional && is_bound)
		client_.after(k_head_start, [said] { said(Ok{}); });
}

void App::report(const core::PodUid &pod, const core::Report &action)
{
	const core::Pod *known = world_.state().pod(pod);
	if (!known)
		return world_.answer(core::ReportAnswered{pod, Ok{}}, now());
	const bool is_new = !known->not_scheduled;
	if (action.not_scheduled.reason == names::k_reason_refused)
		log_warning("refused pod=%s/%s uid=%s: %s", known->name_space.c_str(), known->name.c_str(), pod.text.c_str(), action.not_scheduled.message.c_str());
	if (action.not_scheduled.reason == names::k_reason_refused)
		teller_.tell(*known, true, "Scheduling", action.not_scheduled);
	const kube::PodCondition condition{.type = k_pod_scheduled,
					   .status = false,
					   .reason = action.not_scheduled.reason,
					   .message = action.not_scheduled.message,
					   .transition_time = is_new ? now().wall_s : 0};
	/* a binding passes it on its way: "not scheduled" must not be said of a bound pod */
	kube::SetConditions write{known->name_space, known->name, pod.text, {condition}, known->resource_version};
	write.can_wait = true;
	kube::set_conditions(client_, write, [this, pod](const Status &answer) {
		world_.answer(core::ReportAnswered{pod, answer}, now());
		want_round();
	});
}

void App::carry_out(const core::NodeAction &action)
{
	const auto answered = [this](const char *what, std::string name) {
		return [this, what, name = std::move(name)](const Status &answer) {
			if (answer)
				log_info("%s node=%s", what, name.c_str());
			else
				log_warning("%s failed node=%s: %s", what, name.c_str(), answer.error().what.c_str());
			world_.answer(core::NodeChangeAnswered{name, answer}, now());
			want_round();
		};
	};
	std::visit(Overloaded{
		       [&](const core::CreateNode &a) { calls_.node_create(a.spec, world_.state().sync.plugin().family, answered("node created in Slurm", a.spec.name)); },
		       [&](const core::DeleteNode &a) { calls_.node_delete(a.name, answered("node deleted in Slurm", a.name)); },
		       [&](const core::SetNodeState &a) {
			       calls_.node_set_state(a.name, a.change, a.reason, answered("node state changed in Slurm", a.name));
		       },
		   },
		   action);
}

} // namespace slurmkube::agent
