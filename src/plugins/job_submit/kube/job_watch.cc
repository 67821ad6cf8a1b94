/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/job_watch.h"

#include "src/codec/marker.h"
#include "src/plugins/job_submit/kube/job_facts.h"

#include <algorithm>
#include <ctime>

#include <sys/syscall.h>
#include <unistd.h>

namespace slurmkube::plugin
{

namespace
{

constexpr unsigned k_likely_misses = 16; /* ids that Slurm may leap over between two looks at its own number */
constexpr std::uint32_t k_leap_max = 100'000;
constexpr std::int64_t k_all_new_every = 1000 * k_ms;
constexpr std::int64_t k_write_lock_every = 250 * k_ms;
constexpr std::int64_t k_slow_is_late = 5000 * k_ms; /* then it goes before the hot look, which may never end in a busy cluster */

bool thread_is_alive(int thread)
{
	return syscall(SYS_tgkill, getpid(), thread, 0) == 0;
}

} // namespace

/* ---- new ids ---- */

/* False: no such job. */
bool JobWatch::meet(std::uint32_t id, Found &found)
{
	const char *comment = kube_seam_admin_comment(id);
	if (!comment)
		return false;
	if (jobs_.contains(id) || !codec::looks_like_marker(comment))
		return true;
	auto marker = codec::marker_from_text(comment);
	if (!marker)
		return true; /* an administrator's text; the hook lets no other through */
	if (!kube_seam_job_is_finished(id))
		registry_.found({id}, *marker);
	Known known;
	known.marker = std::move(*marker);
	jobs_.emplace(id, std::move(known));
	look_at(id, found);
	return true;
}

void JobWatch::find_likely(const Hold &hold, Found &found)
{
	unsigned misses = 0;
	for (std::uint32_t id = std::max(last_id_, likely_id_) + 1; misses < k_likely_misses && hold.has_time(); id++) {
		if (meet(id, found))
			likely_id_ = id;
		else
			misses++;
	}
}

/* False: time is up, call again. A number that leaps or runs backwards (it wraps) makes us start over with the list of all jobs. */
bool JobWatch::find_all(const Hold &hold, Found &found)
{
	std::uint32_t end = kube_seam_next_job_id();
	if (end <= last_id_ || end - last_id_ > k_leap_max) {
		kube_seam_each_job([](void *ids, std::uint32_t id, const char *) { static_cast<Ids *>(ids)->push_back(id); }, &to_meet_);
		last_id_ = end - 1;
		likely_id_ = 0;
	}
	while (last_id_ + 1 < end && hold.has_time())
		(void)meet(++last_id_, found);
	while (!to_meet_.empty() && hold.has_time()) {
		(void)meet(to_meet_.back(), found);
		to_meet_.pop_back();
	}
	return last_id_ + 1 >= end && to_meet_.empty();
}

void JobWatch::find_new(Find how)
{
	for (bool done = false; !done;) {
		Found found;
		{
			Hold hold(KUBE_READ, meter_);
			if (how == Find::likely)
				find_likely(hold, found);
			done = how == Find::likely || find_all(hold, found);
		}
		starts_seen_ += found.starts;
		ends_seen_ += found.ends;
		deal_with(found);
	}
}

bool JobWatch::first_look()
{
	if (!listed_) {
		last_id_ = UINT32_MAX; /* find_all() then begins with the list */
		listed_ = true;
	}
	find_new(Find::all);
	kube_seam_pulse(&before_);
	registry_.set_built();
	return true;
}

void JobWatch::reset()
{
	jobs_.clear();
	to_meet_.clear();
	hot_ = slow_ = ended_ = {};
	listed_ = false;
	live_ = 0;
}

/* The write lock is taken for its own sake (Registry::settled). Serials first, then the look, then drop: a job made in between is found by the look. */
void JobWatch::settle_tickets()
{
	std::int64_t now = now_ns();
	if (registry_.wants_write_lock(now) && now - write_locked_at_ >= k_write_lock_every) {
		write_locked_at_ = now;
		{
			Hold hold(KUBE_WRITE, meter_);
		}
		registry_.write_lock_passed();
	}
	std::vector<std::uint64_t> serials = registry_.settled(now, thread_is_alive);
	if (serials.empty())
		return;
	find_new(Find::all);
	registry_.drop(serials);
}

/* ---- one job, under a lock ---- */

void JobWatch::note_change(std::uint32_t id, Known &known, const kube_job_glance &glance, Found &found)
{
	const char *comment = kube_seam_admin_comment(id);
	auto marker = codec::marker_from_text(comment ? comment : "");
	auto job = marker && *marker == known.marker ? copy_job(id, known.marker) : std::nullopt;
	if (!job) {
		found.gone.push_back(id); /* the id is another job's now, or an administrator took the marker away */
		return;
	}
	found.starts += is_active(glance.state) && !is_active(known.state);
	found.ends += is_ended(glance.state) && is_live(known.state);
	found.untried |= glance.untried && known.state == KUBE_JOB_UNKNOWN;
	known.fingerprint = glance.fingerprint;
	known.raw_state = glance.raw_state;
	known.state = glance.state;
	found.changed.push_back(std::move(*job));
}

/* For looks that ask for starts and ends only. */
bool JobWatch::may_have_moved(std::uint32_t id) const
{
	auto known = jobs_.find(id);
	return known != jobs_.end() && known->second.raw_state != kube_seam_job_raw_state(id);
}

void JobWatch::look_at(std::uint32_t id, Found &found)
{
	auto known = jobs_.find(id);
	kube_job_glance glance = {};
	if (known == jobs_.end())
		return;
	if (!kube_seam_job_glance(id, &glance)) {
		found.gone.push_back(id);
		return;
	}
	if (glance.fingerprint != known->second.fingerprint)
		note_change(id, known->second, glance, found);
	if (glance.wants_prolog)
		found.prologs.push_back(id);
	if (glance.wants_epilog)
		found.epilogs.push_back(id);
	if (glance.inactive)
		found.inactive.push_back(id);
}

/* ---- what was found ---- */

void JobWatch::finish(Found &found)
{
	Ids again;
	for (std::uint32_t id : found.prologs)
		kube_seam_finish_prolog(id, feature_.c_str());
	for (std::uint32_t id : found.epilogs)
		kube_seam_finish_epilog(id, feature_.c_str());
	for (std::uint32_t id : found.inactive)
		kube_seam_keep_active(id);
	again.swap(found.epilogs);
	again.insert(again.end(), found.prologs.begin(), found.prologs.end());
	found.prologs.clear();
	found.inactive.clear();
	for (std::uint32_t id : again)
		look_at(id, found);
	/* what a job still waits for are real nodes: they answer for themselves */
	found.epilogs.clear();
	found.prologs.clear();
	found.inactive.clear();
}

/* In portions: each of these calls is some 10 us. */
void JobWatch::write_pass(Found &found)
{
	static constexpr std::size_t k_portion = 16;
	auto take = [](Ids &from, Ids &to) {
		std::size_t n = std::min(from.size(), k_portion);
		to.assign(from.end() - static_cast<std::ptrdiff_t>(n), from.end());
		from.resize(from.size() - n);
	};
	wants_kick_ |= !found.epilogs.empty();
	while (!found.prologs.empty() || !found.epilogs.empty() || !found.inactive.empty()) {
		Found portion;
		take(found.prologs, portion.prologs);
		take(found.epilogs, portion.epilogs);
		take(found.inactive, portion.inactive);
		Hold hold(KUBE_WRITE, meter_);
		finish(portion);
		found.ends += portion.ends;
		std::move(portion.changed.begin(), portion.changed.end(), std::back_inserter(found.changed));
		std::move(portion.gone.begin(), portion.gone.end(), std::back_inserter(found.gone));
	}
	registry_.write_lock_passed();
}

void JobWatch::deal_with(Found &found)
{
	if (!found.prologs.empty() || !found.epilogs.empty() || !found.inactive.empty())
		write_pass(found);
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
		jobs_.erase(known);
		feed_.job_gone({id});
	}
	if (!found.changed.empty() || !found.gone.empty())
		count_live();
}

void JobWatch::count_live()
{
	live_ = static_cast<std::uint64_t>(
		std::count_if(jobs_.begin(), jobs_.end(), [](const auto &entry) { return is_live(entry.second.state); }));
}

/* ---- when to look ---- */

JobWatch::Ids JobWatch::ids_of(bool (*wanted)(kube_job_state)) const
{
	Ids ids;
	for (const auto &[id, known] : jobs_)
		if (wanted(known.state))
			ids.push_back(id);
	return ids;
}

/* As far as the budget goes; the rest in the next tick. */
void JobWatch::go_on(Sweep &sweep)
{
	while (!sweep.is_done() && meter_.can_hold()) {
		Found found;
		{
			Hold hold(KUBE_READ, meter_);
			do {
				std::uint32_t id = sweep.ids[sweep.next++];
				if (!sweep.is_counted() || may_have_moved(id))
					look_at(id, found);
			} while (!sweep.is_done() && hold.has_time());
		}
		bool counted = sweep.is_counted();
		sweep.starts_wanted -= std::min(sweep.starts_wanted, found.starts);
		sweep.ends_wanted -= std::min(sweep.ends_wanted, found.ends);
		if (counted && sweep.starts_wanted == 0 && sweep.ends_wanted == 0)
			sweep.next = sweep.ids.size();
		deal_with(found);
	}
}

void JobWatch::go_on_slowly(Sweep &sweep, SlowLook &look)
{
	if (sweep.is_done())
		return;
	go_on(sweep);
	if (sweep.is_done())
		look.ended(meter_.worked() - sweep.worked_before);
}

/* Starts are among the pending jobs, ends among the others; oldest first, since those go first. */
void JobWatch::start_hot(const kube_pulse &pulse, const Found &seen)
{
	unsigned starts = pulse.started - before_.started, ends = pulse.ended - before_.ended;
	starts = starts > seen.starts ? starts - seen.starts : 0;
	ends = ends > seen.ends ? ends - seen.ends : 0;
	if (starts == 0 && ends == 0)
		return;
	hot_ = {};
	hot_.starts_wanted = starts;
	hot_.ends_wanted = ends;
	if (ends != 0)
		hot_.ids = ids_of(is_active);
	Ids pending = ids_of(is_pending); /* a cancelled one is counted as an end */
	hot_.ids.insert(starts != 0 ? hot_.ids.begin() : hot_.ids.end(), pending.begin(), pending.end());
}

void JobWatch::start_slow(const kube_pulse &pulse)
{
	std::int64_t now = now_ns();
	bool may_strike = pulse.inactive_limit != 0 && slow_look_.is_older_than(now, pulse.inactive_limit * (1000 * k_ms) / 6);
	if (slow_.is_done() && (may_strike || slow_look_.is_due(now, pulse.last_job_update))) {
		slow_look_.began(now, time(nullptr));
		slow_ = {};
		slow_.ids = ids_of(is_live);
		slow_.worked_before = meter_.worked();
	}
	if (ended_.is_done() && ended_look_.is_due(now, pulse.last_job_update)) {
		ended_look_.began(now, time(nullptr));
		ended_ = {};
		ended_.ids = ids_of(is_ended);
		ended_.worked_before = meter_.worked();
	}
}

void JobWatch::tick(const kube_pulse &pulse)
{
	starts_seen_ = ends_seen_ = 0;
	if (registry_.has_tickets())
		settle_tickets();
	if (registry_.has_tickets() || pulse.submitted != before_.submitted)
		find_new(Find::likely);
	if (now_ns() - all_new_at_ >= k_all_new_every && pulse.last_job_update >= time(nullptr) - 3) {
		all_new_at_ = now_ns();
		find_new(Find::all);
	}
	Found seen;
	seen.starts = starts_seen_;
	seen.ends = ends_seen_;
	start_hot(pulse, seen);
	start_slow(pulse);
	before_ = pulse;
	if (slow_look_.is_older_than(now_ns(), k_slow_is_late))
		go_on_slowly(slow_, slow_look_);
	go_on(hot_);
	go_on_slowly(slow_, slow_look_);
	go_on_slowly(ended_, ended_look_);
}

} // namespace slurmkube::plugin
