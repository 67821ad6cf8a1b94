/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world/unanswered.cc - the part of World that keeps a request which slurmctld cannot digest from being sent again and again.
 *
 * A submission or a change that was sent and not answered may itself be what keeps slurmctld busy: then sending it again stops Slurm for everybody. So each
 * such pod waits longer from time to time, only one of a namespace is tried at a time (call_order.h is about the namespaces), and none before slurmctld has answered somebody again, or has
 * had time to. Others go on as ever. A slurmctld that is away refuses connections: that is another error and means nothing here.
 */
#include "src/core/model/names.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_first_us = 250'000, k_next_us = 10'000'000;
constexpr std::int64_t k_second_us = 1'000'000;
constexpr std::int64_t k_longest_us = 600'000'000;
/* While nobody is answered it is most likely not this pod's fault. */
constexpr std::int64_t k_longest_unheard_us = 60'000'000;
/* A new try is also how to find out that slurmctld answers again. */
constexpr std::int64_t k_quiet_us = 10'000'000;
constexpr unsigned k_doublings_most = 10;

std::int64_t delay_us(unsigned unanswered, bool are_others_answered)
{
	if (unanswered <= 1)
		return k_first_us;
	return std::min(k_next_us << std::min(unanswered - 2, k_doublings_most), are_others_answered ? k_longest_us : k_longest_unheard_us);
}

std::string namespace_of(const Group &group)
{
	const Pod *pod = group.pod ? &*group.pod : group.last.get();
	return pod ? pod->name_space : "";
}

std::string count_text(unsigned count)
{
	return count == 1 ? "once" : std::to_string(count) + " times in a row";
}

} // namespace

void World::note_trying_again(const PodUid &uid, const Group &group)
{
	if (group.unanswered > 0)
		trying_again_[namespace_of(group)] = uid;
}

void World::slurm_answered(Now now)
{
	slurm_answered_us_ = now.mono_us;
}

void World::note_answer(const PodUid &uid, Group &group, const Error *error, Now now)
{
	std::erase_if(trying_again_, [&uid](const auto &each) { return each.second == uid; });
	if (error && error->code == Errc::again)
		return; /* it may never have been sent */
	dirty_.insert(unanswered_.begin(), unanswered_.end()); /* their turn */
	if (!error || error->code != Errc::io) {
		group.unanswered = 0;
		unanswered_.erase(uid);
		slurm_answered(now);
		return;
	}
	unanswered_.insert(uid);
	const bool are_others_answered = slurm_answered_us_ > group.unanswered_us;
	group.unanswered++;
	group.unanswered_us = unanswered_us_ = now.mono_us;
	group.submit_at_us = now.mono_us + delay_us(group.unanswered, group.unanswered > 1 && are_others_answered);
	look_later(uid, group.submit_at_us);
}

/* Errors as these are told already; this one says how often, and when it is tried again. */
Condition World::not_answered(const Group &group, const Error &error, Now now)
{
	return {names::k_reason_retrying, "slurmctld did not answer the request for this pod's job (" + count_text(group.unanswered) + "): " + error.what + "; the next try is in " +
					      std::to_string((group.submit_at_us - now.mono_us + k_second_us - 1) / k_second_us) +
					      " s or more. If other pods get jobs meanwhile, it is this pod's request that slurmctld cannot handle: take slurm-kube.io/ options away, or "
					      "tell an administrator"};
}

bool World::is_submit_due(const PodUid &uid, const Group &group, Now now)
{
	if (group.unanswered == 0)
		return true;
	const auto tried = trying_again_.find(namespace_of(group));
	const bool is_other = tried != trying_again_.end() && tried->second != uid;
	const auto other = is_other ? groups_.find(tried->second) : groups_.end();
	const bool is_taken = other != groups_.end() && other->second.busy.slurm;
	const bool is_quiet = slurm_answered_us_ <= unanswered_us_ && now.mono_us < unanswered_us_ + k_quiet_us && group.unanswered > 1;
	if (now.mono_us >= group.submit_at_us && !is_taken && !is_quiet)
		return true;
	look_later(uid, std::max(group.submit_at_us, now.mono_us + k_second_us));
	return false;
}

} // namespace slurmkube::core
