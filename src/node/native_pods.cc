/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/native_pods.h"

#include "src/base/log.h"
#include "src/base/text.h"
#include "src/core/model/names.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace slurmkube::node
{

namespace
{

constexpr int k_idle_ms = 1000, k_busy_ms = 200;
constexpr std::chrono::hours k_prune_after{24}, k_prune_every{1};

Error native_refusal(const Pod &pod, const std::string &reason)
{
	return {Errc::denied, "slurm-kube: pod " + pod.name_space + "/" + pod.name + ": " + reason};
}

void drain(int fd)
{
	std::uint64_t count = 0;
	while (::read(fd, &count, sizeof count) == sizeof count)
		;
}

} // namespace

Result<core::NativeMark> mark_of(const Pod &pod)
{
	const auto mark = core::mark_from_text(pod.native_job);
	const bool has_own_job = mark && !pod.job.empty();
	if (!mark || pod.job != names::k_job_id_native)
		return native_refusal(pod,
			"annotation " + std::string(names::k_allocation_native_job) +
				(has_own_job ? " and a job of its own exclude each other"
					     : " is not a mark of slurmkubed"));
	return *mark;
}

NativePods::NativePods(
	const std::filesystem::path &state_directory, const Cgroups &cgroups, bool is_allowed)
    : cgroups_(cgroups), is_allowed_(is_allowed), jobs_(state_directory), memory_(jobs_, cgroups),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
	if (!is_allowed && !jobs_.is_used())
		return;
	if (Result<Records> records = Records::open(jobs_.directory()); records)
		records_ = *std::move(records);
	else
		log_error("%s, so pods in native jobs are refused",
			printable(records.error().what).c_str());
}

NativePods::~NativePods()
{
	is_stopping_ = true;
	wake();
	if (keeper_.joinable())
		keeper_.join();
}

Result<Confinement> NativePods::confinement(const Pod &pod, const Container &container) const
{
	const Result<core::NativeMark> mark = mark_of(pod);
	if (!mark)
		return mark.error();
	const std::string job = "Slurm job " + std::to_string(mark->job.number);
	if (!is_allowed_)
		return native_refusal(pod,
			"pods in native jobs are not allowed on this node: PodsInNativeJobs=yes in "
			"slurmkube-node.conf");
	if (const std::string why = misfit(*mark, jobs_.opened(mark->job.number)); !why.empty())
		return native_refusal(pod, why);
	for (const Device &device : container.devices)
		if (device.kind != 'p')
			return native_refusal(pod,
				"device " + device.path + ": pods in native jobs have no devices");
	const std::optional<CpuSet> set = cgroups_.cpuset_of(mark->job.number, mark->user_id);
	if (!set)
		return native_refusal(pod, job + " has no processors on this node");
	if (cgroups_.is_frozen(mark->job.number))
		return native_refusal(pod, job + " is suspended");
	const Result<std::int64_t> share = memory_share_of(pod);
	if (!share)
		return share.error();
	if (*share == 0)
		return native_refusal(pod, "its share of the job's memory is not known");
	const bool is_within = container.memory_limit > 0 && container.memory_limit <= *share;
	return Confinement{set->cpus, set->mems, is_within ? 0 : *share};
}

Result<Ok> NativePods::take_memory(const Pod &pod, const std::string &pod_cgroup) const
{
	const Result<core::NativeMark> mark = mark_of(pod);
	const Result<std::int64_t> share = memory_share_of(pod);
	if (!mark || !share)
		return mark ? share.error() : mark.error();
	const std::string job = "Slurm job " + std::to_string(mark->job.number);
	if (!memory_.is_limited(*mark))
		return native_refusal(pod,
			"slurmd does not limit the memory of " + job +
				": ConstrainRAMSpace=yes in cgroup.conf");
	const auto known = memory_.share_of(pod.uid);
	if (known && known->is_low && known->mark == *mark && known->bytes == *share)
		return Ok{};
	if (const Result<Ok> asked = memory_.ask({pod.uid, *mark, *share, pod_cgroup}); !asked)
		return native_refusal(pod, asked.error().what);
	wake();
	return native_refusal(pod,
		job + " does not leave " + std::to_string(*share >> 20) +
			" MiB of its memory to the pod at present: what its processes use, with "
			"cached files, counts");
}

Result<Ok> NativePods::check_memory(const Pod &pod) const
{
	const Result<core::NativeMark> mark = mark_of(pod);
	if (!mark)
		return mark.error();
	const auto known = memory_.share_of(pod.uid);
	if (known && known->is_low && known->mark == *mark)
		return Ok{};
	return native_refusal(pod,
		"Slurm job " + std::to_string(mark->job.number) +
			" does not leave its memory to the pod any more");
}

void NativePods::announce(const Pod &pod) const
{
	const Result<core::NativeMark> mark = mark_of(pod);
	const Result<std::int64_t> share = memory_share_of(pod);
	if (!mark || !share || pod.cgroup_parent.empty() || !confinement(pod, {}))
		return;
	const Result<std::string> parent = pod.cgroup_parent.starts_with('/')
		? cgroup_of(pod.cgroup_parent + "/sandbox")
		: cgroup_of(pod.cgroup_parent + ":sandbox:sandbox");
	const auto cgroup = parent ? pod_cgroup_of(pod, *parent) : std::nullopt;
	if (cgroup)
		(void)take_memory(pod, *cgroup);
}

void NativePods::wake() const
{
	const std::uint64_t one = 1;
	(void)!::write(wake_.get(), &one, sizeof one);
}

void NativePods::start_keeper()
{
	if (records_)
		keeper_ = std::thread([this] { keep_memory(); });
}

/* A step that starts writes the limit anew, so limits are looked at often while there are any. */
void NativePods::keep_memory()
{
	auto next_prune = std::chrono::steady_clock::now();
	while (!is_stopping_) {
		const bool is_busy = memory_.keep() > 0;
		if (const auto now = std::chrono::steady_clock::now(); now >= next_prune) {
			jobs_.prune(cgroups_, k_prune_after);
			next_prune = now + k_prune_every;
		}
		pollfd waits = {wake_.get(), POLLIN, 0};
		if (::poll(&waits, 1, is_busy ? k_busy_ms : k_idle_ms) > 0)
			drain(wake_.get());
	}
}

} // namespace slurmkube::node
