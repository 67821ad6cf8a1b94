/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_watch_search.cc - the part of JobWatch that finds unknown jobs: by id, in the list of all
 * jobs, and jobs that hold external nodes without a marker.
 *
 * Texts are copied under the lock and parsed without it.
 */
#include "src/plugins/job_submit/kube/job_facts.h"
#include "src/plugins/job_submit/kube/job_walk.h"
#include "src/plugins/job_submit/kube/job_watch.h"

#include <set>

#include <sys/syscall.h>
#include <unistd.h>

namespace slurmkube::plugin
{

namespace
{

constexpr std::int64_t k_write_lock_every = 250 * k_ms;
constexpr std::size_t k_unmarked_max = 32;
/* Only people read the list, so that 30 s is often enough; each search looks at every job. */
constexpr std::int64_t k_unmarked_every = 30'000 * k_ms;

bool thread_is_alive(int thread)
{
	return syscall(SYS_tgkill, getpid(), thread, 0) == 0;
}

} // namespace

/* ---- from an id to a known job ---- */

void JobWatch::note(std::uint32_t id, const MarkerTexts &texts, Candidates &candidates) const
{
	if (may_claim_marker(texts) && !jobs_.contains(id))
		candidates.push_back(
			{id, std::string(texts.admin_comment), std::string(texts.copy)});
}

/* False: no such job. */
bool JobWatch::note(std::uint32_t id, Candidates &candidates) const
{
	const auto texts = texts_of(id);
	if (texts)
		note(id, *texts, candidates);
	return texts.has_value();
}

/* If the texts have changed since they were read, they are read again. */
void JobWatch::enter(Met &met, Found &found, Candidates &changed)
{
	auto &[id, known] = met;
	const auto texts = texts_of(id);
	if (!texts || jobs_.contains(id))
		return;
	if (hash_of(*texts) != known.texts) {
		note(id, *texts, changed);
		return;
	}
	if (kube_seam_job_is_finished(id))
		known.fault = {}; /* the texts of a job that has ended are not repaired */
	else
		registry_.found({id}, known.marker);
	set_of(known.state).insert(id);
	jobs_.emplace(id, std::move(known));
	look_at(id, found);
}

void JobWatch::enter_all(std::vector<Met> &met, Candidates &changed)
{
	for (std::size_t next = 0; next < met.size();) {
		Found found;
		{
			LockHold hold(KUBE_READ, meter_);
			do
				enter(met[next++], found, changed);
			while (next < met.size() && hold.has_time());
		}
		deal_with(found);
	}
}

/* A text that claims to be a marker and cannot be parsed was written by an administrator: the hook
 * admits no such text from others. */
void JobWatch::meet(Candidates candidates)
{
	while (!candidates.empty()) {
		std::vector<Met> met;
		for (const Candidate &candidate : candidates) {
			auto marker = marker_of(candidate.texts());
			if (!marker)
				continue;
			Known known;
			known.texts = hash_of(candidate.texts());
			known.fault = fault_of(candidate.texts(), *marker);
			known.marker = std::move(*marker);
			met.emplace_back(candidate.id, std::move(known));
		}
		candidates.clear();
		enter_all(met, candidates);
	}
}

/* ---- new ids ---- */

/*
 * Only Slurm knows the next job id, and its function looks into StateSaveLocation first, which must
 * not happen while the keeper holds a lock. So probe the ids after the newest known one: ids are
 * consecutive, with gaps where a submission failed or a job was purged.
 */
void JobWatch::find_new(unsigned misses_max)
{
	std::uint32_t id = last_id_ + 1;
	for (unsigned misses = 0; misses < misses_max;) {
		Candidates candidates;
		{
			LockHold hold(KUBE_READ, meter_);
			for (; misses < misses_max && hold.has_time(); id++) {
				const bool is_there = note(id, candidates);
				misses = is_there ? 0 : misses + 1;
				last_id_ = is_there ? id : last_id_;
			}
		}
		meet(std::move(candidates));
	}
}

/*
 * Finds jobs that find_new() misses, because ids have jumped far or started from the beginning
 * again. The newest job is the last one in the list that does not belong to an array: arrays stand
 * behind newer jobs, and their tasks before older jobs (facts.h). If tasks have since taken more
 * ids than find_new() skips, the next ticket without a job leads here again, and its job is the
 * newest then.
 */
void JobWatch::find_by_list()
{
	const std::int64_t worked_before = meter_.worked();
	std::uint32_t newest = last_id_;
	Candidates candidates;
	JobWalk walk(kube_seam_jobs_after, [&](const kube_listed_job &job) {
		newest = job.is_of_array ? newest : job.id;
		note(job.id, {job.texts.admin_comment, job.texts.copy}, candidates);
	});
	looks_.list.began(now_ns(), 0);
	while (!walk.is_done()) {
		{
			LockHold hold(KUBE_READ, meter_);
			walk.go_on();
		}
		meet(std::exchange(candidates, {}));
	}
	last_id_ = newest;
	looks_.list.ended(meter_.worked() - worked_before);
}

void JobWatch::first_look()
{
	find_by_list();
	kube_seam_pulse(&before_);
	starts_ = Tally(before_.started);
	ends_ = Tally(before_.ended);
	registry_.set_built(true);
}

/* Takes the write lock only to let it pass (SubmissionRegistry::settled()). The order matters: get
 * the serial numbers, look, then drop. A job that is created in between is found by the look. */
void JobWatch::settle_tickets()
{
	std::int64_t now = now_ns();
	if (registry_.wants_write_lock(now) && now - write_locked_at_ >= k_write_lock_every) {
		write_locked_at_ = now;
		{
			LockHold hold(KUBE_WRITE, meter_);
		}
		registry_.write_lock_passed();
	}
	std::vector<std::uint64_t> serials = registry_.settled(now, thread_is_alive);
	if (serials.empty())
		return;
	find_new(k_likely_misses);
	if (registry_.waits_for(serials)) {
		if (!looks_.list.is_due(now, 0))
			return;
		find_by_list();
	}
	registry_.drop(serials);
}

/* ---- jobs without a marker ---- */

/* Native jobs that hold an external node, and placeholders that have lost both marker and copy. */
std::string JobWatch::list_unmarked() const
{
	std::set<std::uint32_t> ids;
	JobWalk walk(kube_seam_jobs_after, [&](const kube_listed_job &job) {
		const bool is_ours = jobs_.contains(job.id) || job.texts.admin_comment[0] == '{' ||
			job.texts.copy[0] == '{';
		if (!is_ours && ids.size() < k_unmarked_max &&
			kube_seam_external_nodes_of(job.id, feature_.c_str()) != 0)
			ids.insert(job.id);
	});
	while (!walk.is_done()) {
		LockHold hold(KUBE_READ, meter_);
		walk.go_on();
	}
	std::string text;
	for (std::uint32_t id : ids)
		text += (text.empty() ? "" : ",") + std::to_string(id);
	return text;
}

/*
 * The plugin does not end such jobs; `skube check` reports them. Slurm's counts tell whether there
 * are any. The counts are some time old, so they are compared with the maximum that external jobs
 * have held since: jobs that have just ended are then included.
 */
void JobWatch::find_unmarked(std::uint64_t held)
{
	const std::uint64_t ours = std::exchange(held_.most, held_.now);
	if (held <= ours)
		unmarked_.ids.clear();
	else if (unmarked_.looked_at == 0 || now_ns() - unmarked_.looked_at >= k_unmarked_every) {
		unmarked_.looked_at = now_ns();
		unmarked_.ids = list_unmarked();
	}
}

} // namespace slurmkube::plugin
