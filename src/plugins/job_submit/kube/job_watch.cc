/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_watch.cc - the part of JobWatch that looks at one job under a lock.
 */
#include "src/plugins/job_submit/kube/job_watch.h"

#include "src/plugins/job_submit/kube/job_facts.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <string_view>
#include <utility>

namespace slurmkube::plugin
{

namespace
{

constexpr std::int64_t k_blame_s = SlurmdProlog::k_blame_ns / 1'000'000'000;

/* The texts of a job that has ended are not repaired. */
MarkerFault fault_of_job(std::uint32_t id, const MarkerTexts &texts, const core::Marker &marker)
{
	return kube_seam_job_is_finished(id) ? MarkerFault{} : fault_of(texts, marker);
}

} // namespace

std::size_t hash_of(const MarkerTexts &texts)
{
	return std::hash<std::string_view>{}(texts.admin_comment) * 31 +
		std::hash<std::string_view>{}(texts.copy);
}

std::optional<MarkerTexts> texts_of(std::uint32_t id)
{
	kube_marker_texts texts = {};
	if (!kube_seam_marker_texts(id, &texts))
		return std::nullopt;
	return MarkerTexts{texts.admin_comment, texts.copy};
}

/* ---- the known jobs ---- */

JobWatch::IdSet &JobWatch::set_of(kube_job_state state)
{
	return is_pending(state) ? pending_ : is_active(state) ? active_ : ended_ids_;
}

void JobWatch::erase(std::map<std::uint32_t, Known>::iterator known)
{
	set_of(known->second.state).erase(known->first);
	configuring_.ids.erase(known->first);
	held_.now -= known->second.nodes;
	jobs_.erase(known);
}

void JobWatch::reset()
{
	jobs_.clear();
	pending_.clear();
	active_.clear();
	ended_ids_.clear();
	configuring_.ids.clear();
	hot_ = slow_ = ended_ = {};
	held_.now = held_.most = 0;
	unmarked_.looked_at = 0;
	unmarked_.ids.clear();
}

/* ---- one job, under a lock ---- */

/* False: the id belongs to another job. */
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
	known.marker = std::move(*marker); /* the options may have changed */
	known.texts = hash_of(*texts);
	known.fault = fault_of_job(id, *texts, known.marker);
	return true;
}

/*
 * Restores the marker after a site's script has overwritten it, or adds the copy that an older
 * plugin did not make. If the texts have changed since they were read, they are left alone: the
 * next look reads them and finds what is wrong.
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
	mend.is_done =
		kube_seam_write_marker(mend.id, mend.fault.comment ? mend.comment.c_str() : nullptr,
			mend.fault.copy ? mend.copy.c_str() : nullptr);
	/* the text is known, so it need not be parsed under the lock */
	if (const auto written = texts_of(mend.id))
		known->second.texts = hash_of(*written);
}

/* While a job ends, what the last look saw counts. A slurmd begins Prolog when slurmctld's own
 * configuration of the job is over. A job that has run for long when the plugin starts has no news.
 */
void JobWatch::note_configuring(
	std::uint32_t id, Known &known, const kube_job_glance &glance, std::int64_t started)
{
	const std::int64_t now = now_ns();
	const bool settles = !kube_seam_notes_failed_prologs();
	if (is_active(glance.state) && (!glance.configuring || glance.slurmd_prolog)) {
		const bool is_old =
			known.state == KUBE_JOB_UNKNOWN && time(nullptr) - started > k_blame_s;
		known.prolog.see(glance.slurmd_prolog, settles, now);
		if (!std::exchange(known.has_begun, true) && !is_old && !glance.slurmd_prolog &&
			kube_seam_job_has_slurmd(id))
			known.prolog.missed(settles, now);
	}
	known.configuring =
		glance.configuring || (is_active(glance.state) && known.prolog.settles(now));
	if (known.configuring)
		configuring_.ids.insert(id);
	else
		configuring_.ids.erase(id);
}

/* PrologSlurmctld or a Prolog has failed, so that the job was cancelled: pods that wait must ask
 * for another one. */
bool JobWatch::never_began(std::uint32_t id, const Known &known, const kube_job_glance &glance,
	const core::SlurmJob &job)
{
	if (!is_ended(glance.state) || !glance.had_nodes)
		return false;
	const bool is_news = known.state == KUBE_JOB_UNKNOWN;
	const bool had_begun = !known.configuring && !is_pending(known.state);
	if (!is_news && !had_begun && kube_seam_has_prolog())
		return true;
	if (glance.state != KUBE_JOB_CANCELLED || !kube_seam_job_has_slurmd(id))
		return false;
	if (kube_seam_notes_failed_prologs())
		return glance.prolog_failed;
	if (is_news)
		return job.end_time - job.start_time <= k_blame_s;
	return !had_begun || known.prolog.may_end_job(now_ns());
}

void JobWatch::note_change(
	std::uint32_t id, Known &known, const kube_job_glance &glance, Found &found)
{
	auto job = read_marker(id, known) ? copy_job(id, known.marker) : std::nullopt;
	if (!job) {
		found.gone.push_back(id);
		return;
	}
	/* A job that has ended before it was seen has both started and ended since the last look.
	 * If only what was seen were counted, a search for these changes would visit all other
	 * jobs. */
	const bool is_news = known.state == KUBE_JOB_UNKNOWN, is_over = is_ended(glance.state);
	found.starts += (is_active(glance.state) && !is_active(known.state)) ||
		(is_news && is_over && !job->nodes.empty());
	found.ends += is_over && (is_news || is_live(known.state));
	found.untried |= glance.untried && known.state == KUBE_JOB_UNKNOWN;
	known.never_began |= never_began(id, known, glance, *job);
	note_configuring(id, known, glance, job->start_time);
	job->configuring |= known.never_began || known.configuring;
	known.fingerprint = glance.fingerprint;
	known.raw_state = glance.raw_state;
	if (auto node = set_of(known.state).extract(id); !node.empty())
		set_of(glance.state).insert(std::move(node));
	known.state = glance.state;
	held_.now -= known.nodes;
	held_.now += known.nodes = kube_seam_external_nodes_of(id, feature_.c_str());
	held_.most = std::max(held_.most, held_.now);
	found.changed.push_back(std::move(*job));
}

/* A prolog that was waited for without a sign of its failure. */
bool JobWatch::has_settled(const Known &known)
{
	return known.configuring && known.prolog.has_settled(now_ns());
}

/* For looks that search only for starts and ends. */
bool JobWatch::may_have_moved(std::uint32_t id) const
{
	auto known = jobs_.find(id);
	return known != jobs_.end() &&
		(has_settled(known->second) ||
			known->second.raw_state != kube_seam_job_raw_state(id));
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
	if (glance.fingerprint != known->second.fingerprint || has_settled(known->second))
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
