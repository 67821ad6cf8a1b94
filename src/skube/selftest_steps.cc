/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/selftest_steps.h"

#include "src/base/programs.h"
#include "src/base/text.h"
#include "src/core/model/names.h"
#include "src/skube/printed.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace slurmkube::skube
{

namespace
{

using codec::array_at;
using codec::array_size;
using codec::get;
using codec::get_bool;
using codec::get_int;

/* Without control characters and line breaks. */
json_object *job_of(const Sightings &seen)
{
	return get(seen.why, "data", "job");
}

std::string job_text(const Sightings &seen)
{
	return "job " + std::to_string(job_number(seen.why));
}

bool is_one_of(const std::string &word, std::initializer_list<std::string_view> words)
{
	return std::find(words.begin(), words.end(), word) != words.end();
}

Finding gone()
{
	return {Finding::Is::failed, "the pod is gone: something else has deleted it"};
}

/* The condition PodScheduled with the reason for pods that must be corrected. */
std::string refusal(json_object *pod)
{
	json_object *conditions = get(pod, "status", "conditions");
	for (std::size_t i = 0; i < array_size(conditions); i++) {
		json_object *one = array_at(conditions, i);
		if (printed(one, "type") == "PodScheduled" &&
			printed(one, "reason") == names::k_reason_refused)
			return printed(one, "message", "no message");
	}
	return {};
}

Finding look_at_job(const Sightings &seen)
{
	if (!seen.pod)
		return gone();
	if (const std::string why = refusal(seen.pod); !why.empty())
		return {Finding::Is::failed, "the agent refuses the pod: " + why};
	if (job_number(seen.why) == 0)
		return {Finding::Is::open, "the pod has no job"};
	return {Finding::Is::done,
		job_text(seen) + " submitted in partition " +
			printed(job_of(seen), "partition", "?")};
}

/* A job that has ended has no nodes any more, but its pod has. */
Finding look_at_start(const Sightings &seen)
{
	if (!seen.pod)
		return gone();
	const std::string state = printed(job_of(seen), "state");
	std::string node = printed(job_of(seen), "node");
	if (node.empty())
		node = printed(get(seen.pod, "spec"), "nodeName");
	const bool waits = is_one_of(state, {"", "pending", "unknown"});
	if (!waits && !node.empty())
		return {Finding::Is::done, job_text(seen) + " started on node " + node};
	if (waits || is_one_of(state, {"running", "complete"}))
		return {Finding::Is::open,
			job_text(seen) + " is " + (state.empty() ? "unknown" : state) +
				", reason " + printed(job_of(seen), "reason", "none")};
	return {Finding::Is::failed, job_text(seen) + " ended before it started: " + state};
}

Finding look_at_bind(const Sightings &seen)
{
	if (!seen.pod)
		return gone();
	const std::string node = printed(get(seen.pod, "spec"), "nodeName");
	if (node.empty())
		return {Finding::Is::open, "the pod is not bound"};
	return {Finding::Is::done, "pod bound to node " + node};
}

/* The state of the pod's only container. */
json_object *container_of(json_object *pod)
{
	return get(array_at(get(pod, "status", "containerStatuses"), 0), "state");
}

/* Reasons that the kubelet repeats for ever, or for minutes: more patience does not help. */
bool is_hopeless(const std::string &reason)
{
	return is_one_of(reason,
		{"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull",
			"CreateContainerConfigError", "CrashLoopBackOff"});
}

std::string with_message(const std::string &reason, const std::string &message)
{
	return reason + (message.empty() ? "" : ": " + message);
}

Finding look_at_run(const Sightings &seen)
{
	if (!seen.pod)
		return gone();
	const std::string phase = printed(get(seen.pod, "status"), "phase");
	json_object *state = container_of(seen.pod);
	json_object *ended = get(state, "terminated"), *waits = get(state, "waiting");
	if (phase == "Succeeded" && (!ended || get_int(ended, "exitCode", -1) == 0))
		return {Finding::Is::done, "container ran and ended with exit code 0"};
	if (is_one_of(phase, {"Succeeded", "Failed"}))
		return {Finding::Is::failed,
			ended ? "the container ended with exit code " +
					std::to_string(get_int(ended, "exitCode")) + ", " +
					with_message(printed(ended, "reason", "no reason"),
						printed(ended, "message"))
			      : "the pod failed: " +
					with_message(printed(get(seen.pod, "status"), "reason",
							     "no reason"),
						printed(get(seen.pod, "status"), "message"))};
	const std::string reason = printed(waits, "reason");
	const std::string text = reason.empty()
		? "the pod is " + phase
		: "the container waits: " + with_message(reason, printed(waits, "message"));
	return {is_hopeless(reason) ? Finding::Is::failed : Finding::Is::open, text};
}

Finding look_at_end(const Sightings &seen)
{
	const std::string state = scontrol_value(seen.job, "JobState"),
			  code = scontrol_value(seen.job, "ExitCode");
	const std::string text = job_text(seen) + " " + (state.empty() ? "unknown" : state) +
		(code.empty() ? "" : " " + code);
	if (is_one_of(state, {"", "PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED"}))
		return {Finding::Is::open, text};
	return {state == "COMPLETED" && code == "0:0" ? Finding::Is::done : Finding::Is::failed,
		text};
}

/* Each pair is what Kubernetes says and what Slurm says. */
Finding look_at_agreement(const Sightings &seen)
{
	if (!seen.pod)
		return gone();
	const std::string state = printed(job_of(seen), "state");
	if (state == "running")
		return {Finding::Is::open,
			"the agent has not heard of the end of " + job_text(seen)};
	json_object *annotations = get(seen.pod, "metadata", "annotations");
	std::string node = printed(get(seen.pod, "spec"), "nodeName");
	if (!node.empty())
		node = printed(get(seen.why, "data", "node"), "slurm_name",
			seen.names.in_slurm(node).c_str());
	const std::array<std::array<std::string, 3>, 3> pairs = {
		{{"job", printed(annotations, names::k_allocation_job_id),
			 scontrol_value(seen.job, "JobId")},
			{"node", node, scontrol_value(seen.job, "NodeList")},
			{"agent's state of the job", state,
				scontrol_value(seen.job, "JobState") == "COMPLETED" ? "complete"
										    : "other"}}};
	for (const auto &[what, kube, slurm] : pairs) {
		if (kube.empty() || kube != slurm)
			return {Finding::Is::failed,
				"they differ in the " + what + ": Kubernetes '" + kube +
					"', Slurm '" + slurm + "'"};
	}
	return {Finding::Is::done,
		"pod and job agree: job " + pairs[0][1] + ", node " + pairs[1][1] + ", user " +
			scontrol_value(seen.job, "UserId")};
}

codec::Json quantities()
{
	codec::Json all = codec::new_object();
	codec::put(all.get(), "cpu", "100m");
	codec::put(all.get(), "memory", "64Mi");
	return all;
}

codec::Json container_context()
{
	codec::Json drop = codec::new_array(), capabilities = codec::new_object();
	codec::append(drop.get(), "ALL");
	codec::put(capabilities.get(), "drop", std::move(drop));
	codec::Json context = codec::new_object();
	codec::put(context.get(), "allowPrivilegeEscalation", false);
	codec::put(context.get(), "capabilities", std::move(capabilities));
	return context;
}

codec::Json container_of(const TestPod &pod)
{
	codec::Json resources = codec::new_object(), command = codec::new_array();
	codec::put(resources.get(), "requests", quantities());
	codec::put(resources.get(), "limits", quantities());
	codec::append(command.get(), "/bin/true");
	codec::Json container = codec::new_object();
	codec::put(container.get(), "name", "main");
	codec::put(container.get(), "image", pod.image);
	codec::put(container.get(), "imagePullPolicy", "IfNotPresent");
	codec::put(container.get(), "command", std::move(command));
	codec::put(container.get(), "resources", std::move(resources));
	codec::put(container.get(), "securityContext", container_context());
	return container;
}

codec::Json pod_context()
{
	codec::Json seccomp = codec::new_object(), context = codec::new_object();
	codec::put(seccomp.get(), "type", "RuntimeDefault");
	codec::put(context.get(), "runAsNonRoot", true);
	codec::put(context.get(), "runAsUser", 65534);
	codec::put(context.get(), "seccompProfile", std::move(seccomp));
	return context;
}

codec::Json metadata_of(const TestPod &pod)
{
	codec::Json labels = codec::new_object(), metadata = codec::new_object();
	codec::put(labels.get(), "app.kubernetes.io/name", "skube-selftest");
	codec::put(metadata.get(), "name", pod.name);
	codec::put(metadata.get(), "namespace", pod.name_space);
	codec::put(metadata.get(), "labels", std::move(labels));
	return metadata;
}

} // namespace

const char *name_of(TestStep step)
{
	constexpr std::array names = {
		"agent", "pod", "job", "start", "bind", "run", "end", "agree", "clean"};
	return names.at(static_cast<std::size_t>(step));
}

Finding look_at(TestStep step, const Sightings &seen)
{
	switch (step) {
	case TestStep::job:
		return look_at_job(seen);
	case TestStep::start:
		return look_at_start(seen);
	case TestStep::bind:
		return look_at_bind(seen);
	case TestStep::run:
		return look_at_run(seen);
	case TestStep::end:
		return look_at_end(seen);
	case TestStep::agree:
		return look_at_agreement(seen);
	default:
		return {};
	}
}

std::int64_t job_number(json_object *why)
{
	return get_int(get(why, "data", "job"), "id");
}

std::string remedy_of(TestStep step, const TestPod &pod, std::int64_t job)
{
	const std::string number = std::to_string(job), of_pod = " -n " + pod.name_space;
	switch (step) {
	case TestStep::agent:
		return "run skube check, and correct the first line that fails";
	case TestStep::pod:
		return "correct what kubectl says; kubectl auth can-i create pods" + of_pod +
			" shows whether you may, -n names another namespace";
	case TestStep::job:
		return "correct what the lines above name: the identity rules of slurmkubed.yaml "
		       "and the options of pods (skube explain options)";
	case TestStep::start:
		return "skube show nodes shows which nodes take pods, squeue --start -j " + number +
			" when Slurm expects to start the job; if the nodes are only busy, give "
			"more --timeout";
	case TestStep::bind:
		return "the agent's log has the cause: journalctl SLURMKUBE_JOB=" + number;
	case TestStep::run:
		return "kubectl describe pod shows what the kubelet says; --image names an image "
		       "that has the program /bin/true and that the nodes can pull, now " +
			pod.image;
	case TestStep::end:
		return "scontrol show job " + number +
			" and slurmctld's log show how the job ended";
	case TestStep::agree:
		return "the agent's log has what happened: journalctl SLURMKUBE_JOB=" + number;
	case TestStep::clean:
		break;
	}
	return "kubectl delete pod " + pod.name + of_pod;
}

std::string failed_check(json_object *checks)
{
	json_object *list = get(checks, "checks");
	for (std::size_t i = 0; i < array_size(list); i++) {
		json_object *check = array_at(list, i);
		if (!get_bool(check, "ok"))
			return "skube check fails: " + printed(check, "name") + ": " +
				printed(check, "text") + ": " + printed(check, "remedy");
	}
	return {};
}

codec::Json manifest_of(const Selftest &wanted, const TestPod &pod)
{
	codec::Json containers = codec::new_array(), spec = codec::new_object();
	codec::append(containers.get(), container_of(pod));
	codec::put(spec.get(), "schedulerName", wanted.scheduler_name);
	codec::put(spec.get(), "restartPolicy", "Never");
	codec::put(spec.get(), "terminationGracePeriodSeconds", 1);
	/* becomes the job's time limit, so that backfill can use a short gap */
	codec::put(spec.get(), "activeDeadlineSeconds", timeout_of(wanted));
	codec::put(spec.get(), "automountServiceAccountToken", false);
	codec::put(spec.get(), "securityContext", pod_context());
	codec::put(spec.get(), "containers", std::move(containers));
	codec::Json manifest = codec::new_object();
	codec::put(manifest.get(), "apiVersion", "v1");
	codec::put(manifest.get(), "kind", "Pod");
	codec::put(manifest.get(), "metadata", metadata_of(pod));
	codec::put(manifest.get(), "spec", std::move(spec));
	return manifest;
}

} // namespace slurmkube::skube
