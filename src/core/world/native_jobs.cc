/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/native_jobs.h"

#include <algorithm>

namespace slurmkube::core
{

void NativeJobs::drop(const PodUid &pod, std::set<PodUid> Entry::*from, JobId job)
{
	const auto entry = jobs_.find(job);
	if (entry == jobs_.end())
		return;
	(entry->second.*from).erase(pod);
	if (entry->second.tenants.empty() && entry->second.waiting.empty() && in_flight_ != job)
		jobs_.erase(entry);
}

void NativeJobs::stop_waiting(const PodUid &pod)
{
	const auto known = waits_.extract(pod);
	if (!known)
		return;
	const auto &[name_space, job] = known.mapped();
	const auto counts = waited_for_.find(name_space);
	if (--counts->second.at(job) == 0) {
		counts->second.erase(job);
		jobs_.at(job).namespaces.erase(name_space);
	}
	if (counts->second.empty())
		waited_for_.erase(counts);
	drop(pod, &Entry::waiting, job);
}

bool NativeJobs::wait(const PodUid &pod, const std::string &name_space, JobId job, Now now)
{
	const auto known = waits_.find(pod);
	if (known != waits_.end() && known->second.job == job)
		return true;
	stop_waiting(pod);
	std::map<JobId, std::size_t> &counts = waited_for_[name_space];
	if (!counts.contains(job) && counts.size() >= k_waited_for_max)
		return false;
	counts[job]++;
	waits_[pod] = {name_space, job};
	const bool is_new = !jobs_.contains(job);
	Entry &entry = jobs_[job];
	if (is_new) {
		entry.waited_since_us = now.mono_us;
		recall(job, entry, now);
	}
	entry.waiting.insert(pod);
	entry.namespaces.insert(name_space);
	next_us_ = 0;
	return true;
}

void NativeJobs::count(Entry &entry, std::uint32_t user_id)
{
	entry.user_id = user_id;
	with_pods_++;
	with_pods_of_user_[user_id]++;
}

void NativeJobs::discount(const Entry &entry)
{
	with_pods_--;
	const auto of_user = with_pods_of_user_.find(entry.user_id);
	if (--of_user->second == 0)
		with_pods_of_user_.erase(of_user);
}

void NativeJobs::settle(const PodUid &pod, const NativeTenant &tenant)
{
	const auto known = tenants_.find(pod);
	if (known != tenants_.end() && known->second == tenant)
		return stop_waiting(pod);
	Entry &entry = jobs_[tenant.mark.job];
	if (known != tenants_.end() && known->second.mark.job == tenant.mark.job)
		leave_node(entry, known->second.node);
	else
		unsettle(pod);
	if (entry.tenants.empty())
		count(entry, tenant.mark.user_id);
	entry.tenants.insert(pod);
	entry.nodes[tenant.node]++;
	tenants_[pod] = tenant;
	next_us_ = 0;
	stop_waiting(pod); /* last: the entry keeps its answer */
}

void NativeJobs::forget(const PodUid &pod)
{
	if (jobs_.empty())
		return;
	stop_waiting(pod);
	unsettle(pod);
}

void NativeJobs::unsettle(const PodUid &pod)
{
	const auto known = tenants_.extract(pod);
	if (!known)
		return;
	const JobId job = known.mapped().mark.job;
	Entry &entry = jobs_.at(job);
	if (entry.tenants.size() == 1)
		discount(entry);
	leave_node(entry, known.mapped().node);
	drop(pod, &Entry::tenants, job);
	next_us_ = 0;
}

const NativeAnswer *NativeJobs::answer(JobId job) const
{
	const auto entry = jobs_.find(job);
	return entry != jobs_.end() && entry->second.last ? &*entry->second.last : nullptr;
}

std::int64_t NativeJobs::answered_us(JobId job) const
{
	const auto entry = jobs_.find(job);
	return entry != jobs_.end() ? entry->second.answered_us : 0;
}

bool NativeJobs::has_failed(JobId job) const
{
	const auto entry = jobs_.find(job);
	return entry != jobs_.end() && entry->second.has_failed;
}

const NativeTenant *NativeJobs::tenant(const PodUid &pod) const
{
	const auto known = tenants_.find(pod);
	return known != tenants_.end() ? &known->second : nullptr;
}

NativeUse NativeJobs::use(JobId job, const PodUid &but) const
{
	NativeUse use;
	const auto entry = jobs_.find(job);
	if (entry == jobs_.end())
		return use;
	for (const PodUid &pod : entry->second.tenants) {
		if (pod == but)
			continue;
		const NativeTenant &tenant = tenants_.at(pod);
		use.pods++;
		use.milli_cpu += tenant.milli_cpu;
		use.memory_mib += tenant.memory_mib;
	}
	return use;
}

std::size_t NativeJobs::limit_of_jobs(JobId job, std::uint32_t user_id) const
{
	const auto entry = jobs_.find(job);
	if (entry != jobs_.end() && !entry->second.tenants.empty())
		return 0;
	const auto of_user = with_pods_of_user_.find(user_id);
	if (of_user != with_pods_of_user_.end() && of_user->second >= k_of_user_max)
		return k_of_user_max;
	return with_pods_ >= k_with_pods_max ? k_with_pods_max : 0;
}

void NativeJobs::ask_at(JobId job, std::int64_t at_us)
{
	const auto entry = jobs_.find(job);
	if (entry == jobs_.end())
		return;
	entry->second.wanted_us = std::max<std::int64_t>(at_us, 1);
	next_us_ = 0;
}

void NativeJobs::note_completing(const std::string &node, bool is_completing)
{
	if (!is_completing)
		completing_.erase(node);
	else if (completing_.insert(node).second)
		next_us_ = 0;
}

void NativeJobs::leave_node(Entry &entry, const std::string &node)
{
	const auto count = entry.nodes.find(node);
	if (--count->second == 0)
		entry.nodes.erase(count);
}

} // namespace slurmkube::core
