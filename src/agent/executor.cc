/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/executor.h"

#include "src/base/log.h"
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace slurmkube::agent
{

namespace
{

constexpr std::chrono::seconds k_ask_again{1};
constexpr std::size_t k_logged_nodes_bytes = 256;

template <class... F> struct Overloaded : F... {
	using F::operator()...;
};
template <class... F> Overloaded(F...) -> Overloaded<F...>;

/* With "..." at the end if there are more. */
std::string first_nodes(const core::SlurmJob &job)
{
	std::string list = core::node_list_of(job.nodes, k_logged_nodes_bytes);
	const auto listed = static_cast<std::size_t>(std::ranges::count(list, ',')) + 1;
	return job.nodes.size() > listed ? list + ",..." : list;
}

/* By Slurm's times. Empty before the job starts. */
LogFields times_of(const core::World &world, core::JobId id, core::Now now)
{
	const auto job = world.state().jobs.find(id);
	if (job == world.state().jobs.end() || job->second.nodes.empty() ||
		job->second.start_time <= 0)
		return {};
	const std::int64_t start = job->second.start_time;
	return {{"queued_seconds", std::to_string(start - job->second.submit_time)},
		{"ran_seconds", std::to_string(std::max<std::int64_t>(now.wall_s - start, 0))}};
}

} // namespace

std::string name_of(const core::World &world, const core::PodUid &uid)
{
	const auto found = world.state().pods.find(uid);
	const auto gang = world.state().gangs.find(uid);
	if (gang != world.state().gangs.end())
		return gang->second.id.name_space + "/" + gang->second.id.name;
	if (found == world.state().pods.end())
		return uid.text;
	const core::Pod *pod = found->second.pod ? &*found->second.pod
		: found->second.last             ? &*found->second.last
						 : nullptr;
	return pod ? pod->name_space + "/" + pod->name : uid.text;
}

LogFields with(LogFields fields, LogFields more)
{
	std::ranges::move(more, std::back_inserter(fields));
	return fields;
}

LogFields about(const core::World &world, const core::PodUid &uid, core::JobId job)
{
	const bool is_gang = world.state().gangs.contains(uid);
	LogFields fields = {{is_gang ? "workload" : "pod", name_of(world, uid)}, {"uid", uid.text}};
	if (job.number > 0)
		fields.push_back({"job", std::to_string(job.number)});
	const auto known = world.state().jobs.find(job);
	if (known == world.state().jobs.end())
		return fields;
	fields.push_back({"user_id", std::to_string(known->second.user_id)});
	fields.push_back({"nodes", first_nodes(known->second)});
	return fields;
}

void log_failure(const char *what, const LogFields &fields, const Error &error)
{
	log_event(LogLevel::warning, what, with(fields, {{"error", error.what}}));
}

void Executor::carry_out(const core::PodUid &pod, const core::Action &action)
{
	std::visit(Overloaded{
			   [&](const core::Submit &a) { submit(pod, a); },
			   [&](const core::Update &a) { update(pod, a); },
			   [&](const core::Cancel &a) {
				   complete(pod, a.job, core::k_status_cancelled, a.for_absence);
			   },
			   [&](const core::Complete &a) {
				   complete(pod, a.job, a.wait_status, a.for_absence);
			   },
			   [&](const core::Bind &a) { bind(pod, a); },
			   [&](const core::WriteClaim &a) { provide(pod, a); },
			   [&](const core::LookUp &a) { look_up(pod, a); },
			   [&](const core::DeletePod &a) { remove(pod, a); },
			   [&](const core::Report &a) { report(pod, a); },
		   },
		action);
}

/* slurmctld may report the job before it answers the submission, and the pod may be bound by then.
 * The event "submitted" is logged first in any case, and once. */
void Executor::log_submitted(const core::PodUid &pod, core::JobId job)
{
	const auto known = submitting_.extract(pod);
	if (known)
		log_event(LogLevel::debug, "submitted",
			with(known.mapped(), {{"job", std::to_string(job.number)}}));
}

/* key: of the component that is submitted. Of a gang, its first pod speaks for all. */
void Executor::tell_unused_class(const core::PodUid &key)
{
	const auto gang = world_.state().gangs.find(key);
	const bool is_gang = gang != world_.state().gangs.end() && !gang->second.members.empty();
	const core::Pod *pod =
		world_.state().pod(is_gang ? gang->second.members.begin()->first : key);
	if (pod && unused_classes_.is_news(*pod, world_.state().settings.policy))
		kube_.tell(*pod, false, "Submitting", core::class_unused(pod->priority_class));
}

void Executor::submit(const core::PodUid &pod, const core::Submit &action)
{
	tell_unused_class(pod);
	const LogFields whom = about(world_, pod, {});
	submitting_[pod] =
		with(whom, {{"partition", action.spec.partition}, {"as", action.spec.as_whom}});
	slurm_.submit(action.spec, [this, pod, whom](const Result<core::Submitted> &reply) {
		if (reply)
			log_submitted(pod, reply->job);
		submitting_.erase(pod);
		if (!reply)
			log_failure("submission failed", whom, reply.error());
		world_.answer(core::SubmitAnswered{pod, reply}, now());
		want_round();
	});
}

void Executor::update(const core::PodUid &pod, const core::Update &action)
{
	auto done = [this, pod, job = action.job, mark = action.spec.marker.options,
			    whom = about(world_, pod, action.job)](const Status &answer) {
		if (answer)
			log_event(LogLevel::info, "options changed", whom);
		else
			log_failure("change of options failed", whom, answer.error());
		world_.answer(core::UpdateAnswered{pod, mark, job, answer}, now());
		want_round();
	};
	slurm_.update(action.job, action, std::move(done));
}

void Executor::complete(
	const core::PodUid &pod, core::JobId job, std::uint32_t wait_status, bool for_absence)
{
	const bool is_cancel = wait_status == core::k_status_cancelled;
	auto done = [this, pod, job, wait_status, is_cancel,
			    whom = with(about(world_, pod, job), times_of(world_, job, now()))](
			    const Status &answer) {
		const std::string result = is_cancel ? "" : core::result_text(wait_status);
		if (answer)
			log_event(LogLevel::info, is_cancel ? "cancelled" : "ended",
				with(whom, {{"result", result}}));
		else
			log_failure(is_cancel ? "cancelling failed" : "ending failed", whom,
				answer.error());
		if (const core::Pod *ended =
				answer && !is_cancel ? world_.state().pod(pod) : nullptr;
			ended && core::is_terminal(*ended))
			kube_.tell(*ended, false, "Completing", core::completed(job, wait_status));
		world_.answer(core::CompleteAnswered{pod, answer, is_cancel}, now());
		want_round();
	};
	const core::MarkedJob marked{job, world_.state().marker_of(pod, job)};
	if (for_absence && world_.state().job(job))
		slurm_.give_up(marked, std::move(done));
	else if (is_cancel)
		slurm_.cancel(marked, std::move(done));
	else if (wait_status == core::k_status_deadline)
		slurm_.expire(marked, std::move(done));
	else
		slurm_.complete(marked, wait_status, std::move(done));
}

void Executor::ask_for(const core::OwnerId &id)
{
	kube_.get_owner(id, [this, id](const Result<std::optional<core::Owner>> &answer) {
		if (!answer)
			log_warning("asking for %s %s/%s: %s", id.kind.c_str(),
				id.name_space.c_str(), id.name.c_str(),
				answer.error().what.c_str());
		world_.observe(core::OwnerSeen{id, answer}, now());
		want_round();
	});
}

void Executor::ask_for_node(const std::string &name)
{
	kube_.look_at_node(name, [this, name](const Result<core::NodeLookup> &sight) {
		static const std::map<core::NodeLookup, const char *> k_texts{
			{core::NodeLookup::none, "was deleted from Kubernetes"},
			{core::NodeLookup::not_ready, "exists and is not Ready"},
			{core::NodeLookup::ready, "exists and is Ready: what runs there goes on"}};
		if (!sight)
			log_warning("asking for a node: %s", sight.error().what.c_str());
		else
			log_info("node=%s %s", name.c_str(), k_texts.at(*sight));
		world_.answer(core::NodeLookUpAnswered{name, sight}, now());
		want_round();
	});
}

/* Asked at startup, and again after each list of pods: another cluster may have taken over the
 * address of the API server. */
void Executor::ask_for_cluster()
{
	if (std::exchange(cluster_asked_, true))
		return;
	kube_.cluster_uid([this](const Result<std::string> &uid) {
		cluster_unknown_ = uid ? "" : uid.error().what;
		if (uid) {
			cluster_asked_ = false;
			world_.observe(core::ClusterSeen{*uid});
			return want_round();
		}
		kube_.after(k_ask_again, [this] {
			cluster_asked_ = false;
			want_round();
		});
	});
}

/* Each node would have the same error at each interval, so it is logged once. */
void Executor::report_drain(const core::ReportDrain &action)
{
	auto done = [this, name = action.name, condition = action.condition](const Status &answer) {
		if (answer) {
			log_info("condition SlurmDrain set node=%s status=%s reason=%s",
				name.c_str(), condition.status.c_str(), condition.reason.c_str());
			drain_reports_fail_ = false;
		} else if (!std::exchange(drain_reports_fail_, true)) {
			log_error("%s; nodes.report_drains needs the right to patch nodes/status: "
				  "see the line rights of 'skube check'; it is tried again",
				answer.error().what.c_str());
		}
		world_.answer(core::DrainReportAnswered{name, answer}, now());
		want_round();
	};
	kube_.report_drain(action, action.changes_status ? now().wall_s : 0, std::move(done));
}

void Executor::carry_out(const core::NodeAction &action)
{
	const auto answered = [this](const char *what, std::string name) {
		return [this, what, name = std::move(name)](const Status &answer) {
			if (answer)
				log_info("%s node=%s", what, name.c_str());
			else
				log_warning("%s failed node=%s: %s", what, name.c_str(),
					answer.error().what.c_str());
			world_.answer(core::NodeChangeAnswered{name, answer}, now());
			want_round();
		};
	};
	std::visit(Overloaded{
			   [&](const core::CreateNode &a) {
				   slurm_.create_node(a.spec, world_.state().sync.plugin().family,
					   answered("node created in Slurm", a.spec.name));
			   },
			   [&](const core::DeleteNode &a) {
				   slurm_.delete_node(
					   a.name, answered("node deleted in Slurm", a.name));
			   },
			   [&](const core::SetNodeState &a) {
				   slurm_.set_node_state(
					   a, answered("node state changed in Slurm", a.name));
			   },
			   [&](const core::SetNodeExtra &a) {
				   slurm_.set_node_extra(
					   a, answered("devices noted in Slurm's record", a.name));
			   },
			   [&](const core::ReportDrain &a) { report_drain(a); },
		   },
		action);
}

} // namespace slurmkube::agent
