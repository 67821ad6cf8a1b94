/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_watch.cc - the inner half of JobWatch: finding new ids, and one look at one job.
 */
#include "src/plugins/job_submit/kube/job_watch.h"

#include "src/base/guard.h"
#include "src/plugins/job_submit/kube/job_facts.h"

#include <algorithm>
#include <functional>
#include <new>
#include <string_view>

#include <sys/syscall.h>
#include <unistd.h>

namespace slurmkube::plugin
{

namespace
{

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
	configuring_.erase(known->first);
	held_ -= known->second.nodes;
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

/*
 * Slurm alone knows the number of the next job, and looks into StateSaveLocation before it tells it:
 * not under a lock that we hold. Numbers follow each other, with a gap where a submission failed or
 * a job was forgotten.
 */
void JobWatch::find_new(unsigned misses_max)
{
	std::uint32_t id = last_id_ + 1;
	for (unsigned misses = 0; misses < misses_max;) {
		Found found;
		{
			Hold hold(KUBE_READ, meter_);
			for (; misses < misses_max && hold.has_time(); id++) {
				const bool is_there = meet(id, found);
				misses = is_there ? 0 : misses + 1;
				last_id_ = is_there ? id : last_id_;
			}
		}
		deal_with(found);
	}
}

/* Those that may be ours, whatever their numbers; and the newest, for those that come after it. */
void JobWatch::list_jobs()
{
	struct Listed {
		const JobWatch &watch;
		Ids &ids;
		std::uint32_t newest;
		bool failed;
	} listed = {*this, to_meet_, last_id_, false};
	auto add = [](void *context, std::uint32_t id, const kube_marker_texts *texts) noexcept {
		auto &to = *static_cast<Listed *>(context);
		to.newest = id;
		auto failed = [&](const char *) { to.failed = true; };
		guard(0, failed, [&] {
			if (claims_marker({texts->admin_comment, texts->copy}) && !to.watch.jobs_.contains(id))
				to.ids.push_back(id);
			return 0;
		});
	};
	kube_seam_each_job(add, &listed);
	last_id_ = listed.newest;
	if (listed.failed)
		throw std::bad_alloc(); /* not through Slurm's code, which called us; the keeper starts over */
}

/* Finds what find_new() cannot: numbers that leap far or begin anew. One hold for the list, which is rarely wanted. */
void JobWatch::find_by_list()
{
	const std::int64_t worked_before = meter_.worked();
	list_look_.began(now_ns(), 0);
	for (bool is_first = true; is_first || !to_meet_.empty(); is_first = false) {
		Found found;
		{
			Hold hold(KUBE_READ, meter_);
			if (is_first)
				list_jobs();
			while (!to_meet_.empty() && hold.has_time()) {
				(void)meet(to_meet_.back(), found);
				to_meet_.pop_back();
			}
		}
		deal_with(found);
	}
	list_look_.ended(meter_.worked() - worked_before);
}

bool JobWatch::first_look()
{
	find_by_list();
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
	configuring_.clear();
	to_meet_.clear();
	hot_ = slow_ = ended_ = {};
	held_ = 0;
	unmarked_.clear();
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
	find_new(k_likely_misses);
	if (registry_.waits_for(serials)) {
		if (!list_look_.is_due(now, 0))
			return;
		find_by_list();
	}
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

void JobWatch::note_configuring(std::uint32_t id, Known &known, bool is_so)
{
	known.configuring = is_so;
	if (is_so)
		configuring_.insert(id);
	else
		configuring_.erase(id);
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
	const bool had_begun = !known.configuring && !is_pending(known.state);
	known.never_began |= is_over && !is_news && glance.was_running && !had_begun;
	job->configuring |= known.never_began;
	note_configuring(id, known, glance.configuring);
	known.fingerprint = glance.fingerprint;
	known.raw_state = glance.raw_state;
	if (auto node = set_of(known.state).extract(id); !node.empty())
		set_of(glance.state).insert(std::move(node));
	known.state = glance.state;
	held_ -= known.nodes;
	held_ += known.nodes = job->nodes.size();
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
