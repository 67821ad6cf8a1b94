/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/native_pods.h"

#include "src/core/model/amounts.h"
#include "src/core/model/names.h"
#include "src/core/model/node_names.h"
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report_native.h"
#include "src/core/translate/translate.h"
#include "src/core/world/parts.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* A waiting pod looks at what is known, even without an event; more often if others may make room
 * for it. */
constexpr std::int64_t k_native_look_us = 60'000'000, k_room_look_us = 5'000'000;

/* As strings, because each look at any pod searches for them. */
const std::string k_option = std::string(names::k_option_prefix) + "job";
const std::string k_mark = names::k_allocation_native_job, k_own_job = names::k_allocation_job_id;

bool names_native_job(const Pod &pod)
{
	return pod.annotations.contains(k_option);
}

/* By its binding. */
bool has_own_job(const Pod &pod)
{
	const auto job = pod.annotations.find(k_own_job);
	return job != pod.annotations.end() && job->second != names::k_job_id_native;
}

/* Without a record nothing is known of the node, and the mark counts. */
bool is_external(const State &state, const std::string &node)
{
	const SlurmNode *record = state.slurm_node(node);
	return record && !record->is_hybrid;
}

/* With a wrong nodes.name_prefix the pod's node has no record here, and the job's nodes have the
 * names of none; see has_pod_without_record() in node_view.cc, too. With a wrong label it has
 * another name than at the binding. */
bool are_names_right(
	const State &state, const Pod &pod, const std::string &node, const NativeJob &job)
{
	return state.slurm_node(node) && has_name_of_binding(state, pod) &&
		std::ranges::none_of(job.nodes, &NodeNames::is_of_no_node);
}

/* The job and its node are there, so a pod that cannot be bound lacks room. */
bool waits_for_room(const State &state, const JobSpec &spec)
{
	const JobId id{spec.options.native_job};
	const Result<const NativeJob *> job = native_job_for(spec, state.native_jobs.answer(id));
	const KubeNode *node = job ? state.kube_node((*job)->nodes.front()) : nullptr;
	return node && node->ready && !node->unschedulable &&
		state.native_jobs.limit_of_jobs(id, spec.user_id) == 0;
}

} // namespace

std::optional<NativeMark> native_mark_of(const PodEntry &entry)
{
	if (!entry.pod)
		return std::nullopt;
	if (entry.pod->node_name.empty())
		return entry.assumed_node.empty() || !entry.native ? std::nullopt
								   : entry.native->mark;
	const auto mark = entry.pod->annotations.find(k_mark);
	if (mark == entry.pod->annotations.end() || has_own_job(*entry.pod))
		return std::nullopt;
	return mark_from_text(mark->second);
}

bool is_for_native_job(const State &state, const PodEntry &entry, const Component *own)
{
	if (!entry.pod || entry.component || is_terminal(*entry.pod))
		return false;
	if (own && (!own->jobs.empty() || own->busy.slurm))
		return false;
	if (native_mark_of(entry)) /* a record that came after the binding says nothing */
		return !is_external(state, bound_node_of(entry)) ||
			!has_name_of_binding(state, *entry.pod);
	return entry.pod->node_name.empty() && names_native_job(*entry.pod);
}

NativeTenant tenant_of(const PodEntry &entry, const NativeMark &mark)
{
	return {mark, bound_node_of(entry), entry.pod->requests.milli_cpu,
		memory_mib_of(entry.pod->requests, 1)};
}

NativeLook look_at_bound(const State &state, const PodEntry &entry, const NativeMark &mark,
	const std::string &node, Now now)
{
	NativeLook look;
	const std::int64_t answered_us = state.native_jobs.answered_us(mark.job);
	const NativeAnswer *answer = state.native_jobs.answer(mark.job);
	const NativeVerdict verdict =
		judge_bound(mark, node, answer, state.sync.plugin().cluster_name);
	if (verdict.end == NativeEnd::none ||
		(verdict.end == NativeEnd::left_node &&
			!are_names_right(state, *entry.pod, node, **answer)))
		return look;
	if (verdict.end != NativeEnd::certain) {
		const std::int64_t before_us = entry.native ? entry.native->doubt_us : 0;
		const bool was_doubted =
			before_us > 0 && before_us >= state.native_jobs.known_since_us();
		look.doubt_us = was_doubted ? before_us : answered_us;
		if (answered_us < look.doubt_us + NativeJobs::k_doubt_us) {
			look.ask_at_us = look.doubt_us + NativeJobs::k_doubt_us;
			return look;
		}
	}
	const bool may_act = now.mono_us >= entry.retries.retry_at_us &&
		now.mono_us >= entry.remove_quiet_until_us && !entry.busy.remove &&
		!entry.busy.bind;
	if (may_act && !entry.pod->deleting)
		look.action = DeletePod{
			.disruption = native_job_ended(mark, verdict.why), .cause = verdict.cause};
	return look;
}

Result<JobSpec> native_spec_of(const State &state, const Pod &pod)
{
	const Policy &policy = state.settings.policy;
	Result<JobSpec> spec = translate(pod, policy, 1);
	if (!spec)
		return spec;
	if (const Status fits = check_native_pod(pod, *spec); !fits)
		return fits.error();
	return spec;
}

/* Where the pod can be bound in the job that it names. */
Result<NativePlace> FactsReader::native_place_of(
	const PodUid &uid, const PodEntry &entry, const JobSpec &spec) const
{
	const JobId id{spec.options.native_job};
	const Result<const NativeJob *> job = native_job_for(spec, state_.native_jobs.answer(id));
	if (!job)
		return job.error();
	/* no answer of this cluster would judge it */
	if ((*job)->mark.cluster != state_.sync.plugin().cluster_name)
		return Error{Errc::again, native_text::no_answer(id)};
	if (const std::size_t most = state_.native_jobs.limit_of_jobs(id, spec.user_id); most > 0)
		return Error{Errc::again,
			native_text::too_many_jobs_with_pods(
				most, most == NativeJobs::k_of_user_max ? spec.as_whom : "")};
	const std::string &name = (*job)->nodes.front();
	const NativeNode node{state_.kube_node(name), state_.slurm_node(name),
		facts_of_place(uid, entry, uid, name)};
	return place_in(**job, *entry.pod, state_.native_jobs.use(id, uid), node);
}

void World::NativeLooker::take(Action action)
{
	if (world.accept(uid, action, now))
		out.push_back({uid, std::move(action)});
}

/* At most one look is planned at a time: each look plans the next one, and many have another cause.
 */
void World::NativeLooker::look_again(std::int64_t pause_us)
{
	const std::int64_t at_us = now.mono_us + pause_us;
	if (entry.native->look_us > now.mono_us && entry.native->look_us <= at_us)
		return;
	entry.native->look_us = at_us;
	world.look_later(uid, at_us);
}

void World::NativeLooker::wait()
{
	NativeJobs &jobs = world.state_.native_jobs;
	if (entry.late_until_us == 0) /* otherwise its last binding may still take effect */
		jobs.unsettle(uid);
	const Result<JobSpec> spec = entry.refusal ? Result<JobSpec>(*entry.refusal)
						   : native_spec_of(world.state_, *entry.pod);
	if (!spec) { /* until the pod, its namespace or the configuration changes */
		jobs.stop_waiting(uid);
		return tell(spec.error());
	}
	const JobId job{spec->options.native_job};
	if (!jobs.wait(uid, entry.pod->name_space, job, now)) {
		look_again(k_native_look_us);
		return tell(
			{Errc::again, native_text::too_many_jobs(NativeJobs::k_waited_for_max)});
	}
	Findings found(world.clocks_, now);
	const Result<NativePlace> place =
		FactsReader(world.sources(), found).native_place_of(uid, entry, *spec);
	world.apply(uid, found, now);
	const bool lacks_room =
		!place && place.error().code == Errc::again && waits_for_room(world.state_, *spec);
	look_again(lacks_room ? k_room_look_us : k_native_look_us);
	if (place)
		return bind(*spec, *place);
	if (!jobs.answer(job))
		return tell_of_question(job);
	tell(place.error());
}

/* The answer will come within moments. If another condition says what the pod waits for, it stays
 * until then: thousands of pods can wait when slurmctld is back. */
void World::NativeLooker::tell_of_question(JobId job)
{
	if (!entry.pod->not_scheduled)
		tell({Errc::again, native_text::not_asked(job)});
}

void World::NativeLooker::bind(const JobSpec &spec, const NativePlace &place)
{
	const JobId job{spec.options.native_job};
	if (entry.busy.bind || entry.busy.remove)
		return;
	if (now.mono_us < entry.retries.retry_at_us) {
		if (entry.bind_failure)
			tell({Errc::again, native_text::not_bound(*entry.bind_failure)});
		return;
	}
	NativeJobs &jobs = world.state_.native_jobs;
	if (now.mono_us > jobs.answered_us(job) + NativeJobs::k_fresh_us) {
		if (jobs.has_failed(job)) /* it is asked again after a pause */
			return tell({Errc::again, native_text::no_answer(job)});
		jobs.ask_at(job, now.mono_us);
		return tell_of_question(job);
	}
	entry.native->doubt_us = 0;
	Bind bind;
	bind.job = job;
	bind.node = place.node;
	bind.cpus = place.cpus;
	bind.memory_mib = place.memory_mib;
	bind.native = place.mark;
	take(std::move(bind));
	jobs.settle(uid, tenant_of(entry, place.mark));
}

void World::NativeLooker::judge(const NativeMark &mark)
{
	NativeJobs &jobs = world.state_.native_jobs;
	/* It was bound while another Slurm cluster led, whose jobs have the same numbers. */
	if (mark.cluster != world.state_.sync.plugin().cluster_name)
		return jobs.forget(uid);
	jobs.settle(uid, tenant_of(entry, mark));
	const NativeLook look = look_at_bound(world.state_, entry, mark, bound_node_of(entry), now);
	entry.native->doubt_us = look.doubt_us;
	if (look.ask_at_us > 0)
		jobs.ask_at(mark.job, look.ask_at_us);
	if (look.action)
		take(*look.action);
}

void World::NativeLooker::look()
{
	if (!entry.native)
		entry.native.emplace();
	const std::optional<NativeMark> mark = native_mark_of(entry);
	world.enter(world.state_.components[uid],
		mark ? ComponentStage::running : ComponentStage::gathering, now);
	if (side_of(entry) == PodSide::waiting)
		wait();
	else if (mark)
		judge(*mark);
	else
		world.state_.native_jobs.forget(uid);
}

std::optional<JobId> World::take_job_question(Now now)
{
	if (state_.native_jobs.is_empty() || !state_.is_known())
		return std::nullopt;
	return state_.native_jobs.take_question(now);
}

} // namespace slurmkube::core
