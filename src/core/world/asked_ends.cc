/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/asked_ends.h"

#include "src/core/model/outcome.h"

namespace slurmkube::core
{

void AskedEnds::ask(const Complete &end)
{
	note({.end = end});
}

void AskedEnds::ask(const Cancel &cancel)
{
	note({.end = {cancel.job, k_status_cancelled, cancel.for_absence}, .is_cancel = true});
}

void AskedEnds::note(AskedEnd end)
{
	last_ = end.end.job;
	is_first_ = counted_.insert(end.end.job).second;
	if (const AskedEnd *before = find(end.end.job))
		end.lives_until_us = before->lives_until_us;
	ends_.insert_or_assign(end.end.job, end);
}

void AskedEnds::may_come(std::int64_t now_us)
{
	if (const auto found = last_ ? ends_.find(*last_) : ends_.end(); found != ends_.end())
		found->second.lives_until_us = now_us + k_request_lives_us;
}

std::optional<JobId> AskedEnds::is_void(std::int64_t now_us) const
{
	const AskedEnd *asked = last_ ? find(*last_) : nullptr;
	return asked && asked->lives_until_us <= now_us ? last_ : std::nullopt;
}

const AskedEnd *AskedEnds::find(JobId job) const
{
	const auto found = ends_.find(job);
	return found == ends_.end() ? nullptr : &found->second;
}

void AskedEnds::forget(JobId job)
{
	ends_.erase(job);
	counted_.erase(job);
}

} // namespace slurmkube::core
