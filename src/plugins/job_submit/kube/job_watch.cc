/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_watch.cc - the inner half of JobWatch: finding new ids, and one look at one job.
 */
#include "src/plugins/job_submit/kube/job_watch.h"

#include "src/base/log.h"
#include "src/plugins/job_submit/kube/guard.h"
#include "src/plugins/job_submit/kube/job_facts.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include <sys/syscall.h>
#include <unistd.h>

namespace slurmkube::plugin
{

namespace
{

constexpr unsigned k_likely_misses = 16; /* ids that Slurm may leap over between two looks at its own number */
constexpr std::uint32_t k_leap_max = 100'000;
constexpr std::int64_t k_write_lock_every = 250 * k_ms;

std::size_t hash_of(const MarkerTexts &texts)
{
	return std::hash<std::string_view>{}(texts.admin_comment) * 31 + std::hash<std::string_view>{}(texts.copy);
}

std::optional<MarkerTexts> texts_of(std::uint32_t id)
{
	kube_marker_texts texts = {};
	if (!kube_seam_marker_texts(id, &texts))
		return std::nullopt;
	return MarkerTexts{texts.admin_comment, texts.copy};
}

/* What has ended is nobody's any more. */
MarkerFault fault_of_job(std::uint32_t id, const MarkerTexts &texts, const core::Marker &marker)
{
	return kube_seam_job_is_finished(id) ? MarkerFault{} : fault_of(texts, marker);
}

bool thread_is_alive(int thread)
{
	return syscall(SYS_tgkill, getpid(), thread, 0) == 0;
}

} // namespace

/* ---- what is known ---- */

JobWatch::IdSet &JobWatch::set_of(kube_job_state state)
{
	return is_pending(state) ? pending_ : is_active(state) ? active_ : ended_ids_;
}

void JobWatch::erase(std::map<std::uint32_t, Known>::iterator known)
{
	set_of(known->second.state).erase(known->first);
	jobs_.erase(known);
}

/* ---- new ids ---- */

/* False: no such job. */
bool JobWatch::meet(std::uint32_t id, Found &found)
{
	const auto texts = texts_of(id);
	if (!texts)
		return false;
	if (jobs_.contains(id) || !claims_marker(*texts))
		return true;
	auto marker = marker_of(*texts);
	if (!marker)
		return true; /* an administrator's text; the hook lets no other through */
	if (!kube_seam_job_is_finished(id))
		registry_.found({id}, *marker);
	Known known;
	known.marker = std::move(*marker);
	known.texts = hash_of(*texts);
	known.fault = fault_of_job(id, *texts, known.marker);
	set_of(known.state).insert(id);
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
		kube_seam_each_job([](void *ids, std::uint32_t id, const kube_marker_texts *) { static_cast<Ids *>(ids)->push_back(id); }, &to_meet_);
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
	if (how == Find::all && last_id_ == UINT32_MAX)
		to_meet_.reserve(k_leap_max); /* the list is taken in one hold: at least it shall not grow there */
	for (bool done = false; !done;) {
		Found found;
		{
			Hold hold(KUBE_READ, meter_);
			if (how == Find::likely)
				find_likely(hold, found);
			done = how == Find::likely || find_all(hold, found);
		}
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
	starts_ = Tally(before_.started);
	ends_ = Tally(before_.ended);
	registry_.set_built();
	return true;
}

void JobWatch::reset()
{
	jobs_.clear();
	pending_.clear();
	active_.clear();
	ended_ids_.clear();
	to_meet_.clear();
	hot_ = slow_ = ended_ = {};
	listed_ = false;
}

/* The write lock is taken for its own sake (Registry::settled). Serials first, then the look, then drop: a job made in between is found by the look.
 */
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

/* False: the id is another job's now. */
bool JobWatch::read_marker(std::uint32_t id, Known &known)
{
	const auto texts = texts_of(id);
	if (!texts)
		return false;
	if (hash_of(*texts) == known.texts)
		return true;
	auto marker = marker_of(*texts);
	if (!marker || !same_identity(*marker, known.marker))
		return false;
	known.marker = std::move(*marker); /* its options may have been changed */
	known.texts = hash_of(*texts);
	known.fault = fault_of_job(id, *texts, known.marker);
	return true;
}

/*
 * A site's script wrote over the marker, or the job is of a plugin that kept no copy. Texts that have
 * changed since are left alone: the next look reads them, and finds what is wrong with those.
 */
void JobWatch::write_marker(Mend &mend)
{
	const auto known = jobs_.find(mend.id);
	const auto texts = texts_of(mend.id);
	if (known == jobs_.end() || !texts)
		return;
	known->second.fault = {};
	if (hash_of(*texts) != mend.texts)
		return;
	mend.is_done = kube_seam_write_marker(mend.id, mend.fault.comment ? mend.comment.c_str() : nullptr,
					      mend.fault.copy ? mend.copy.c_str() : nullptr);
	if (const auto written = texts_of(mend.id)) /* known already: not to be parsed under this lock */
		known->second.texts = hash_of(*written);
}

void JobWatch::note_change(std::uint32_t id, Known &known, const kube_job_glance &glance, Found &found)
{
	auto job = read_marker(id, known) ? copy_job(id, known.marker) : std::nullopt;
	if (!job) {
		found.gone.push_back(id);
		return;
	}
	/* one that is over when we meet it has started and ended unseen: who counts only what he saw would look for it among all others */
	const bool is_news = known.state == KUBE_JOB_UNKNOWN, is_over = is_ended(glance.state);
	found.starts += (is_active(glance.state) && !is_active(known.state)) || (is_news && is_over && !job->nodes.empty());
	found.ends += is_over && (is_news || is_live(known.state));
	found.untried |= glance.untried && known.state == KUBE_JOB_UNKNOWN;
	known.fingerprint = glance.fingerprint;
	known.raw_state = glance.raw_state;
	if (auto node = set_of(known.state).extract(id); !node.empty())
		set_of(glance.state).insert(std::move(node));
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
	if (known->second.fault.comment || known->second.fault.copy)
		found.marred.push_back(id);
}

} // namespace slurmkube::plugin
