/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/plugin.h"

#include "src/base/log.h"
#include "src/base/text.h"
#include "src/node/device_access.h"

#include <algorithm>
#include <iterator>

namespace slurmkube::node
{

namespace
{

Error pod_refusal(const Pod &pod, const std::string &reason)
{
	return {Errc::denied, "slurm-kube: pod " + pod.name_space + "/" + pod.name + ": " + reason};
}

std::string not_of_job(const Device &device, std::uint32_t job)
{
	return "Slurm has not given device " + device.path + " (" + device.kind + " " +
		std::to_string(device.major) + ":" + std::to_string(device.minor) + ") to job " +
		std::to_string(job) +
		": gres.conf must have the files in the order of the devices' numbers "
		"(doc/hybrid.md, Devices)";
}

bool is_in_native_job(const Pod &pod)
{
	return !pod.native_job.empty();
}

bool has_job(const Pod &pod)
{
	return !pod.job.empty() || is_in_native_job(pod);
}

/* Its own job, or the native one within which it runs; 0: none. */
Result<std::uint32_t> any_job_of(const Pod &pod)
{
	if (!is_in_native_job(pod))
		return job_of(pod);
	const Result<core::NativeMark> mark = mark_of(pod);
	return mark ? Result<std::uint32_t>(mark->job.number) : mark.error();
}

} // namespace

Plugin::Plugin(const Records &records, const Cgroups &cgroups, const NativePods &native,
	std::string system_cpus)
    : records_(records), cgroups_(cgroups), native_(native), system_cpus_(std::move(system_cpus))
{
}

std::string Plugin::answer(const RpcRequest &request)
{
	const Result<std::string> payload = payload_for(request);
	if (payload)
		return rpc_response(*payload);
	log_warning("%s: %s", printable(request.method).c_str(),
		printable(payload.error().what).c_str());
	return rpc_refusal(payload.error().what);
}

/* An event for which there is nothing to do is answered with an empty message. */
Result<std::string> Plugin::payload_for(const RpcRequest &request)
{
	const std::string &method = request.method;
	if (method == "Configure") {
		const Result<std::string> runtime = parse_configuration(request.payload);
		if (!runtime)
			return runtime;
		log_info("connected to %s", printable(*runtime).c_str());
		return subscription(native_.is_allowed());
	}
	if (method == "Synchronize") {
		Result<Inventory> piece = parse_inventory(request.payload);
		return piece ? synchronize(std::move(*piece)) : piece.error();
	}
	if (method == "StateChange") {
		const Result<StateChange> change = parse_state_change(request.payload);
		return change ? event_payload(*change) : change.error();
	}
	if (method == "RunPodSandbox") {
		const Result<Pod> pod = parse_sandbox_request(request.payload);
		if (pod)
			native_.announce(*pod);
		return std::string();
	}
	return method.ends_with("Container") ? container_payload(request)
					     : Result<std::string>(std::string());
}

/* NRI before 0.12 says most things so: CRI-O 1.36 and containerd 2.2 also ask so whether a
 * container may start. */
Result<std::string> Plugin::event_payload(const StateChange &change)
{
	switch (static_cast<NriEvent>(change.event)) {
	case NriEvent::run_pod_sandbox:
		native_.announce(change.request.pod);
		break;
	case NriEvent::start_container:
		return start(change.request);
	case NriEvent::post_start_container:
		started(change.request);
		break;
	case NriEvent::remove_container:
		removed(change.request);
		break;
	default:
		break;
	}
	return std::string();
}

Result<std::string> Plugin::container_payload(const RpcRequest &request)
{
	const std::string &method = request.method;
	const Result<ContainerRequest> container = parse_container_request(request.payload);
	if (!container)
		return container.error();
	if (method == "CreateContainer")
		return create(*container);
	if (method == "UpdateContainer")
		return update(*container);
	if (method == "StartContainer")
		return start(*container);
	if (method == "PostStartContainer")
		started(*container);
	if (method == "RemoveContainer")
		removed(*container);
	return std::string();
}

/* A number that Slurm gives to another job after its last one begins anew, if that is a pod's by
 * its own prolog: a pod of the last job must not get what a native job has. */
JobFacts Plugin::facts_of(std::uint32_t job)
{
	Records::JobState state = records_.state_of(job);
	const std::optional<CpuSet> set = cgroups_.cpuset_of(job);
	if (state == Records::JobState::cleared && set && records_.grace_of(job)) {
		records_.reopen(job);
		state = Records::JobState::open;
	}
	return {state != Records::JobState::open, set};
}

Result<Confinement> Plugin::allowed(const Pod &pod, const Container &container)
{
	if (is_in_native_job(pod))
		return native_.confinement(pod, container);
	const Result<std::uint32_t> job = job_of(pod);
	if (!job)
		return job.error();
	std::optional<JobFacts> facts;
	if (*job != 0)
		facts = facts_of(*job);
	return confinement_of(pod, container, facts, system_cpus_);
}

Result<Ok> Plugin::record(const ContainerRequest &request, std::uint32_t job, bool is_started)
{
	const Result<std::string> cgroup = cgroup_of(request.container.cgroups_path);
	if (!cgroup)
		return cgroup.error();
	const Records *records = is_in_native_job(request.pod) ? native_.records() : &records_;
	if (!records)
		return Error{
			Errc::denied, "slurm-kube: no container of a native job can be recorded"};
	return records->keep_container(job, request.container.id, *cgroup, is_started);
}

void Plugin::forget(const ContainerRequest &request) const
{
	const Records *records = is_in_native_job(request.pod) ? native_.records() : &records_;
	if (records)
		records->forget_container(request.container.id);
}

/* The sum of the pod's containers, of which the runtime does not know how many will come. The
 * kubelet has made the cgroup, and limits it only if every container has a limit. */
Result<Ok> Plugin::limit_pod(const ContainerRequest &request)
{
	const Result<std::int64_t> share = memory_share_of(request.pod);
	const Result<std::string> cgroup = cgroup_of(request.container.cgroups_path);
	if (!has_job(request.pod) || !share || *share == 0 || !cgroup)
		return Ok{};
	const std::optional<std::string> pod = pod_cgroup_of(request.pod, *cgroup);
	if (!pod && is_in_native_job(request.pod))
		return pod_refusal(request.pod, "the kubelet makes no cgroups of pods");
	if (!pod)
		return Ok{};
	const Result<Ok> limited = cgroups_.limit_memory(*pod, *share);
	return limited ? limited : Error{Errc::denied, "slurm-kube: " + limited.error().what};
}

/* Whatever chose the container's devices, none of them may be one that Slurm has given to another
 * job. */
Result<Ok> Plugin::check_devices(const ContainerRequest &request)
{
	const Result<std::uint32_t> number = job_of(request.pod);
	const std::uint32_t job = number ? *number : 0;
	std::vector<Device> devices;
	std::ranges::copy_if(request.container.devices, std::back_inserter(devices),
		[](const Device &one) { return one.kind != 'p'; });
	if (job == 0 || devices.empty() || is_in_native_job(request.pod))
		return Ok{};
	for (const Device &one : devices)
		if (one.kind != 'c' && one.kind != 'b')
			return pod_refusal(request.pod,
				"device " + one.path + " is of a kind that is not known");
	const std::optional<std::filesystem::path> cgroup = cgroups_.device_cgroup_of(job);
	if (!cgroup)
		return pod_refusal(request.pod,
			"slurmd does not keep devices from Slurm job " + request.pod.job + ", so " +
				devices.front().path +
				" may be another job's: ConstrainDevices=yes in cgroup.conf");
	cgroups_.remove_probes();
	const auto denied = denied_device(*cgroup, devices, records_.directory());
	if (!denied)
		return pod_refusal(request.pod, denied.error().what);
	return *denied ? Result<Ok>(pod_refusal(request.pod, not_of_job(**denied, job)))
		       : Result<Ok>(Ok{});
}

/* A pod in a native job takes its memory from that of the job. */
Result<Ok> Plugin::take_memory(const ContainerRequest &request) const
{
	if (!is_in_native_job(request.pod))
		return Ok{};
	const Result<std::string> cgroup = cgroup_of(request.container.cgroups_path);
	const auto pod = cgroup ? pod_cgroup_of(request.pod, *cgroup) : std::nullopt;
	return pod ? native_.take_memory(request.pod, *pod)
		   : pod_refusal(request.pod, "its cgroup is not known");
}

Result<std::string> Plugin::create(const ContainerRequest &request)
{
	const Result<std::uint32_t> job = any_job_of(request.pod);
	if (!job)
		return job.error();
	if (*job != 0)
		if (const Result<Ok> written = record(request, *job, false); !written)
			return written.error();
	const Result<Confinement> confinement = allowed(request.pod, request.container);
	if (confinement && *job != 0)
		if (const std::string overlap =
				cpu_overlap(std::to_string(*job), confinement->cpus, system_cpus_);
			!overlap.empty())
			log_error("%s", overlap.c_str());
	const Result<Ok> checked =
		confinement ? check_devices(request) : Result<Ok>(confinement.error());
	const Result<Ok> limited = checked ? limit_pod(request) : checked;
	const Result<Ok> has_memory = limited ? take_memory(request) : limited;
	if (has_memory)
		return adjustment(*confinement);
	forget(request);
	return has_memory.error();
}

/* The container was created when its job lived, perhaps without us, and perhaps a later plugin has
 * given it devices. Its first process, the runtime's, waits in its cgroup now: where it is not
 * seen, the job's epilog would not see it either. */
Result<Ok> Plugin::may_start(const ContainerRequest &request)
{
	const Result<Confinement> confinement = allowed(request.pod, request.container);
	if (!confinement)
		return confinement.error();
	if (const Result<Ok> checked = check_devices(request); !checked)
		return checked;
	if (is_in_native_job(request.pod))
		if (const Result<Ok> low = native_.check_memory(request.pod); !low)
			return low.error();
	const Result<std::string> cgroup = cgroup_of(request.container.cgroups_path);
	if (has_job(request.pod) && (!cgroup || !cgroups_.has_processes(*cgroup)))
		return Error{Errc::denied,
			"slurm-kube: no process of the container is in the cgroup " +
				request.container.cgroups_path +
				": see CgroupRoot in slurmkube-node(8)"};
	return Ok{};
}

/* CRI-O takes an error here as a warning, and starts the container unless its first process is
 * gone. */
Result<std::string> Plugin::start(const ContainerRequest &request)
{
	const Result<Ok> may = may_start(request);
	if (may)
		return std::string();
	if (const Result<std::string> cgroup = cgroup_of(request.container.cgroups_path); cgroup)
		cgroups_.kill_processes(*cgroup);
	return may.error();
}

/* Slurm's list stays, whatever the kubelet changes, and no resize is above the pod's share. The
 * kubelet may have raised the pod's limit just now. A container whose job has ended is not changed
 * at all: CRI-O takes processors from the container's environment (OPENSHIFT_SHARED_CPUS). */
Result<std::string> Plugin::update(const ContainerRequest &request)
{
	Container resized = request.container;
	resized.memory_limit = request.new_memory_limit;
	Result<Confinement> confinement = allowed(request.pod, resized);
	if (!confinement)
		return confinement.error();
	if (request.new_memory_limit == 0)
		confinement->memory_limit = 0;
	if (const Result<Ok> limited = limit_pod(request); !limited)
		return limited.error();
	return updates({{request.container.id, *confinement}});
}

void Plugin::started(const ContainerRequest &request)
{
	const Result<std::uint32_t> job = any_job_of(request.pod);
	if (!job || *job == 0)
		return;
	if (const Result<Ok> written = record(request, *job, true); !written)
		log_warning("%s", printable(written.error().what).c_str());
}

/* A runtime that could not kill a process removes the container all the same. */
void Plugin::removed(const ContainerRequest &request)
{
	const Result<std::string> cgroup = cgroup_of(request.container.cgroups_path);
	if (has_job(request.pod) && cgroup && cgroups_.has_processes(*cgroup))
		log_error("container %s is removed, but has processes in %s",
			printable(request.container.id).c_str(), printable(*cgroup).c_str());
	else
		forget(request);
}

} // namespace slurmkube::node
