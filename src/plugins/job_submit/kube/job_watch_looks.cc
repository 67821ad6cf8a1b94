/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_watch_looks.cc - the part of JobWatch that decides when to look at which jobs, and handles
 * what a look has found.
 */
#include "src/base/log.h"
#include "src/plugins/job_submit/kube/guard.h"
#include "src/plugins/job_submit/kube/job_facts.h"
#include "src/plugins/job_submit/kube/job_watch.h"

#include <algorithm>
#include <ctime>

namespace slurmkube::plugin
{

namespace
{

constexpr std::int64_t k_all_new_every = 1000 * k_ms;
constexpr unsigned k_all_misses = 2048; /* 0.1 ms; skips failed submissions in a row */
constexpr std::size_t k_refill = 256;
/* after this time the slow look comes before the hot look, which may never end in a busy cluster */
constexpr std::int64_t k_slow_is_late = 5000 * k_ms;

} // namespace

/* ---- handling of what was found ---- */

void JobWatch::finish(Found &found)
{
	Ids again;
	for (std::uint32_t id : found.prologs)
		kube_seam_finish_prolog(id, feature_.c_str());
	for (std::uint32_t id : found.epilogs)
		kube_seam_finish_epilog(id, feature_.c_str());
	for (std::uint32_t id : found.inactive)
		kube_seam_keep_active(id);
	for (Mend &mend : found.mends)
		write_marker(mend);
	again.swap(found.epilogs);
	again.insert(again.end(), found.prologs.begin(), found.prologs.end());
	again.insert(again.end(), found.marred.begin(), found.marred.end());
	found.prologs.clear();
	found.inactive.clear();
	found.marred.clear();
	for (std::uint32_t id : again)
		look_at(id, found);
	/* jobs that still wait do so for native nodes, whose slurmd will answer */
	found.epilogs.clear();
	found.prologs.clear();
	found.inactive.clear();
	found.marred.clear();
}

/* Markers are parsed and made here, and not under the write lock, for which all of slurmctld
 * waits. */
std::vector<JobWatch::Mend> JobWatch::prepare_mends(const Ids &ids) const
{
	std::vector<Mend> mends;
	for (std::uint32_t id : ids) {
		const auto known = jobs_.find(id);
		if (known == jobs_.end())
			continue;
		const Known &job = known->second;
		mends.push_back(
			{id, job.texts, job.fault, comment_of(job.marker), copy_of(job.marker)});
	}
	return mends;
}

void JobWatch::tell_mends(const std::vector<Mend> &mends) const
{
	for (const Mend &mend : mends) {
		const auto known = jobs_.find(mend.id);
		if (mend.is_done && mend.fault.comment && known != jobs_.end())
			log_info("JobId=%u stands for pod %s: its admin_comment was overwritten, "
				 "and the marker "
				 "is written back",
				mend.id, describe(known->second.marker).c_str());
	}
}

/* In portions, because each call takes about 10 us. */
void JobWatch::write_pass(Found &found)
{
	static constexpr std::size_t k_portion = 16;
	auto take = [](Ids &from, Ids &to) {
		std::size_t n = std::min(from.size(), k_portion);
		to.assign(from.end() - static_cast<std::ptrdiff_t>(n), from.end());
		from.resize(from.size() - n);
	};
	const bool has_epilogs = !found.epilogs.empty();
	wants_kick_ |= has_epilogs;
	while (!found.prologs.empty() || !found.epilogs.empty() || !found.inactive.empty() ||
		!found.marred.empty()) {
		Found portion;
		take(found.prologs, portion.prologs);
		take(found.epilogs, portion.epilogs);
		take(found.inactive, portion.inactive);
		take(found.marred, portion.marred);
		portion.mends = prepare_mends(portion.marred);
		{
			LockHold hold(KUBE_WRITE, meter_);
			finish(portion);
		}
		tell_mends(portion.mends);
		found.starts += portion.starts;
		found.ends += portion.ends;
		std::move(portion.changed.begin(), portion.changed.end(),
			std::back_inserter(found.changed));
		std::move(portion.gone.begin(), portion.gone.end(), std::back_inserter(found.gone));
	}
	registry_.write_lock_passed();
	if (has_epilogs)
		kube_seam_save();
}

void JobWatch::deal_with(Found &found)
{
	if (!found.prologs.empty() || !found.epilogs.empty() || !found.inactive.empty() ||
		!found.marred.empty())
		write_pass(found);
	starts_.found(found.starts);
	ends_.found(found.ends);
	wants_kick_ |= found.ends > 0 || found.untried;
	deliver(found);
}

void JobWatch::deliver(Found &found)
{
	for (core::SlurmJob &job : found.changed) {
		auto known = jobs_.find(job.id.number);
		if (known != jobs_.end() && is_ended(known->second.state))
			registry_.forget(job.id, known->second.marker);
		feed_.job(std::move(job));
	}
	for (std::uint32_t id : found.gone) {
		auto known = jobs_.find(id);
		if (known == jobs_.end())
			continue;
		registry_.forget({id}, known->second.marker);
		erase(known);
		feed_.job_gone({id});
	}
}

/* ---- when to look ---- */

/*
 * Takes pending jobs from the oldest on, because those start first, and other jobs from the newest
 * on: a job that has run for long will probably run on, and most jobs that end are young. Starts
 * come before ends; slurmctld counts a cancelled pending job as an end.
 */
void JobWatch::refill(Sweep &sweep)
{
	sweep.ids.clear();
	sweep.next = 0;
	const auto take_pending = [&] {
		for (auto id = pending_.upper_bound(sweep.pending_after);
			id != pending_.end() && sweep.ids.size() < k_refill; ++id)
			sweep.ids.push_back(sweep.pending_after = *id);
		sweep.takes_pending = !sweep.ids.empty();
	};
	const auto take_active = [&] {
		for (auto id = active_.lower_bound(sweep.active_before);
			id != active_.begin() && sweep.ids.size() < k_refill;)
			sweep.ids.push_back(sweep.active_before = *--id);
		sweep.takes_active = !sweep.ids.empty();
	};
	if (sweep.pending_first && sweep.takes_pending)
		take_pending();
	if (sweep.ids.empty() && sweep.takes_active)
		take_active();
	if (sweep.ids.empty() && sweep.takes_pending)
		take_pending();
}

/* Looks during one hold. */
void JobWatch::look_on(Sweep &sweep, Found &found)
{
	LockHold hold(KUBE_READ, meter_);
	do {
		std::uint32_t id = sweep.ids[sweep.next++];
		if (!sweep.is_counted || may_have_moved(id))
			look_at(id, found);
	} while (sweep.next < sweep.ids.size() && hold.has_time());
}

/* Goes on as long as the budget lasts; the next tick does the rest. */
void JobWatch::go_on(Sweep &sweep)
{
	while (!sweep.is_done() && meter_.can_hold()) {
		if (sweep.is_counted && starts_.wanted() == 0 && ends_.wanted() == 0)
			sweep = {};
		else if (sweep.next >= sweep.ids.size())
			refill(sweep);
		if (sweep.ids.empty())
			return;
		Found found;
		look_on(sweep, found);
		deal_with(found);
	}
}

/* Looks during one hold; the next tick goes on with the following ids. */
void JobWatch::look_at_configuring()
{
	if (configuring_.ids.empty() || !meter_.can_hold())
		return;
	Found found;
	{
		LockHold hold(KUBE_READ, meter_);
		for (std::size_t left = configuring_.ids.size();
			left > 0 && !configuring_.ids.empty() && hold.has_time(); left--) {
			auto next = configuring_.ids.upper_bound(configuring_.last);
			configuring_.last =
				next == configuring_.ids.end() ? *configuring_.ids.begin() : *next;
			if (may_have_moved(configuring_.last))
				look_at(configuring_.last, found);
		}
	}
	deal_with(found);
}

void JobWatch::go_on_slowly(Sweep &sweep, SlowLook &look)
{
	if (sweep.is_done())
		return;
	go_on(sweep);
	if (sweep.is_done())
		look.ended(meter_.worked() - sweep.worked_before);
}

/*
 * Starts are found among pending jobs; ends among active jobs, and among pending jobs that are
 * cancelled. Changes that an unfinished look has not found yet are searched for again from the
 * first job on, because most changes are there.
 */
void JobWatch::count(const kube_pulse &pulse)
{
	if (hot_.is_done()) {
		starts_.give_up();
		ends_.give_up();
	}
	const unsigned starts = starts_.wanted(), ends = ends_.wanted();
	starts_.counted(pulse.started);
	ends_.counted(pulse.ended);
	before_ = pulse;
	if (starts_.wanted() == starts && ends_.wanted() == ends)
		return;
	hot_ = {};
	hot_.is_counted = hot_.takes_pending = true;
	/* Decided by the new starts, not by all missing ones: starts of native jobs are counted
	 * too, and searching for those must not delay the search for ends. */
	hot_.pending_first = starts_.wanted() != starts;
	hot_.takes_active = ends_.wanted() != 0;
}

void JobWatch::start_slow(const kube_pulse &pulse)
{
	std::int64_t now = now_ns();
	bool may_strike = pulse.inactive_limit != 0 &&
		looks_.slow.is_older_than(now, pulse.inactive_limit * (1000 * k_ms) / 6);
	if (slow_.is_done() && (may_strike || looks_.slow.is_due(now, pulse.last_job_update))) {
		looks_.slow.began(now, time(nullptr));
		slow_ = {};
		slow_.ids.assign(active_.begin(), active_.end());
		slow_.ids.insert(slow_.ids.end(), pending_.begin(), pending_.end());
		slow_.worked_before = meter_.worked();
	}
	if (ended_.is_done() && looks_.ended.is_due(now, pulse.last_job_update)) {
		looks_.ended.began(now, time(nullptr));
		ended_ = {};
		ended_.ids.assign(ended_ids_.begin(), ended_ids_.end());
		ended_.worked_before = meter_.worked();
	}
}

void JobWatch::tick(const kube_pulse &pulse)
{
	const bool are_submitted = pulse.submitted != before_.submitted;
	count(pulse);
	if (registry_.has_tickets())
		settle_tickets();
	if (registry_.has_tickets() || are_submitted)
		find_new(k_likely_misses);
	if (now_ns() - all_new_at_ >= k_all_new_every &&
		pulse.last_job_update >= time(nullptr) - 3) {
		all_new_at_ = now_ns();
		find_new(k_all_misses);
	}
	look_at_configuring();
	start_slow(pulse);
	if (looks_.slow.is_older_than(now_ns(), k_slow_is_late))
		go_on_slowly(slow_, looks_.slow);
	go_on(hot_);
	go_on_slowly(slow_, looks_.slow);
	go_on_slowly(ended_, looks_.ended);
}

} // namespace slurmkube::plugin
