/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/report_native.h"

#include "src/core/model/amounts.h"
#include "src/core/model/names.h"
#include "src/core/reconcile/sides.h"

namespace slurmkube::core
{

namespace
{

std::string native_name(JobId id)
{
	return "Slurm job " + std::to_string(id.number);
}

std::string native_name(const NativeJob &job)
{
	return native_name(job.mark.job);
}

std::string native_node(const NativeJob &job)
{
	return "node " + (job.nodes.empty() ? std::string("(none)") : job.nodes.front());
}

} // namespace

Condition not_in_native_job(const Error &why)
{
	return {why.code == Errc::again ? names::k_reason_pending : names::k_reason_refused,
		why.what};
}

Condition native_job_ended(const NativeMark &mark, const std::string &what)
{
	return {names::k_reason_job_ended,
		native_name(mark.job) + ", within which the pod ran, " + what};
}

Condition bound_in_native_job(const NativeMark &mark, const std::string &node)
{
	return {names::k_reason_bound,
		"the pod is bound to node " + node + " and runs within " + native_name(mark.job)};
}

namespace native_text
{

std::string had_own_job()
{
	return "option job cannot be added to a pod with a job of its own, until Slurm has "
	       "forgotten that job; make a new pod";
}

std::string other_option(const std::string &name)
{
	return "option " + name +
		" cannot be given beside option job, because the job has its options already; "
		"leave it out";
}

std::string devices()
{
	return "pods with option job cannot have devices or huge pages; leave option job out, and "
	       "the pod gets a job with them";
}

std::string memory_volume()
{
	return "pods with option job cannot have volumes in memory, which keep memory of the job "
	       "when no process of the pod is left; leave out medium of emptyDir";
}

std::string no_memory_request()
{
	return "pods with option job must request memory, which the job gives to them; set "
	       "resources.requests.memory";
}

std::string long_grace(std::int64_t most_seconds)
{
	return "terminationGracePeriodSeconds of pods with option job can be at most " +
		std::to_string(most_seconds) +
		", because the node waits for them when the job ends";
}

std::string unbound_claim(const std::string &claim)
{
	return "volume claim " + claim +
		" is not bound, and the node of a pod with option job is not chosen for its "
		"volumes; use a claim that is bound";
}

std::string not_asked(JobId id)
{
	return "slurmctld is being asked about " + native_name(id);
}

std::string no_answer(JobId id)
{
	return "slurmctld has not answered about " + native_name(id) + "; it is asked again";
}

std::string unknown_job(JobId id, const std::string &as_whom)
{
	return "there is no " + native_name(id) + " of " + as_whom +
		"; option job must name a running job of this user";
}

std::string wrong_kind(const NativeJob &job)
{
	if (job.is_of_pod)
		return native_name(job) + " is the job of a pod; option job must name a native job";
	if (job.is_het)
		return native_name(job) +
			" is a component of a heterogeneous job, which can have "
			"no pods";
	return native_name(job) + " stands for an array of " + std::to_string(job.described) +
		" tasks; name another task, or submit the job without an array";
}

std::string not_started(const NativeJob &job)
{
	return native_name(job) + ", within which the pod is to run, has not started";
}

std::string suspended(const NativeJob &job)
{
	return native_name(job) + ", within which the pod is to run, is suspended";
}

std::string in_prolog(const NativeJob &job)
{
	return native_name(job) + ", within which the pod is to run, is in its Prolog";
}

std::string has_ended(const NativeJob &job)
{
	const bool is_completing = job.state == JobState::running;
	return native_name(job) + ", within which the pod was to run, has ended (" +
		(is_completing ? "completing" : state_text(job.state)) + ")";
}

std::string unsuitable(const NativeJob &job)
{
	return native_name(job) + " can have no pods: " + job.unsuitable;
}

std::string shared(const NativeJob &job)
{
	return native_name(job) +
		" was submitted with --oversubscribe, so other jobs may have its processors; "
		"submit "
		"it without";
}

std::string several_nodes(const NativeJob &job)
{
	return native_name(job) + " has " + std::to_string(job.nodes.size()) +
		" nodes; pods can run only in jobs with one node";
}

std::string no_memory(const NativeJob &job)
{
	return native_name(job) +
		" has no memory that Slurm counts, so none can be given to pods; submit it with "
		"--mem, where SelectTypeParameters counts memory";
}

std::string too_large(const NativeJob &job, std::int64_t milli_cpu, std::uint64_t memory_mib)
{
	return native_name(job) + " has " + cpus_text(job.cpus, k_whole_cpu) + " and " +
		std::to_string(job.memory_mib) + " MiB, and the pod requests " +
		std::to_string(milli_cpu) + "m CPU and " + std::to_string(memory_mib) +
		" MiB; request less, or use a larger job";
}

std::string no_room_in_job(const NativeJob &job)
{
	return "other pods have too much of " + native_name(job) + "; waiting until they end";
}

std::string not_hybrid(const NativeJob &job)
{
	return native_name(job) + " has " + native_node(job) +
		", which is not a hybrid node; pods run only there";
}

std::string node_not_ready(const NativeJob &job)
{
	return native_node(job) + " of " + native_name(job) + " is not Ready in Kubernetes";
}

std::string node_refuses(const NativeJob &job, const std::string &why)
{
	return native_node(job) + " of " + native_name(job) + " cannot take the pod: " + why;
}

std::string node_full(const NativeJob &job, const std::string &holder)
{
	return native_node(job) + " of " + native_name(job) + " has no room for the pod" +
		(holder.empty() ? "" : "; " + holder);
}

std::string too_many_pods(const NativeJob &job, std::size_t most)
{
	return native_name(job) + " can have " + std::to_string(most) +
		" pods at a time, and has them; waiting until one ends";
}

std::string not_bound(const Error &why)
{
	return "the binding failed and is tried again: " + why.what;
}

std::string too_many_jobs(std::size_t most)
{
	return "pods of this namespace wait for " + std::to_string(most) +
		" native jobs already, which is the maximum";
}

std::string too_many_jobs_with_pods(std::size_t most, const std::string &as_whom)
{
	return std::to_string(most) + " native jobs" + (as_whom.empty() ? "" : " of " + as_whom) +
		" have pods at present, which is the maximum; waiting until one ends";
}

} // namespace native_text

} // namespace slurmkube::core
