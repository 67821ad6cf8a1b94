/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a pending job: options that have changed, and nodes that it must not get. */
#include "src/core/options/change.h"
#include "src/core/world/facts_reader.h"
#include "src/core/world/parts.h"
#include "src/core/world/pod_devices.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* Whether Slurm has these exclusions. An earlier agent may have sent them: then the marker says
 * so. */
bool has_exclusions(const Component &component, const SlurmJob &job, const JobSpec &spec)
{
	const std::string told = component.submitted.exclusions.value_or(job.marker.exclusions);
	return told == k_exclusions_not_known ? spec.excluded_nodes.empty()
					      : told == exclusions_digest(spec.excluded_nodes);
}

/* The component has a job, so it must not be among those that wait for a peer, which are woken one
 * at a time. */
void leave_peers(Findings &found)
{
	if (found.placing != Placing::unschedulable)
		found.placing = Placing::possible;
}

} // namespace

/* An empty digest is left by an agent of an earlier version: nothing tells what its options were,
 * so no change is detected. */
void FactsReader::note_options(const PodUid &uid, const Pod &pod, const Component &component,
	std::optional<Result<JobSpec>> &spec, ComponentFacts &f) const
{
	const std::string &told = component.submitted.job == f.job->id ? component.submitted.digest
								       : f.job->marker.options;
	if (told.empty() ||
		(has_hash(told, options_hash(pod)) &&
			!is_deadline_raised(told, pod.active_deadline_seconds)))
		return;
	spec = translate(pod, state_.settings.policy, f.job->marker.attempt);
	place(uid, pod, spec);
	f.spec = spec ? &*spec : nullptr;
	f.change.submitted_digest = told;
	f.change.options = f.spec != nullptr;
	if (f.spec && f.spec->ok() &&
		f.spec->value().marker.options == component.submitted.refused_digest)
		f.change.trouble = component.submitted.refused_text;
}

void FactsReader::note_exclusions_change(const PodUid &uid, const Pod &pod,
	const Component &component, std::optional<Result<JobSpec>> &spec, ComponentFacts &f) const
{
	/* what claims leave out is not known before they are listed, which causes another look */
	if (!pod.resource_claims.empty() && !are_devices_listed(state_))
		return;
	if (!component.submitted.is_reviewed || f.change.options || f.busy.slurm || !f.may_retry ||
		!f.submit_due)
		return;
	found_.is_reviewed = true;
	spec = translate(pod, state_.settings.policy, f.job->marker.attempt);
	place(uid, pod, spec);
	leave_peers(found_);
	if (!spec)
		/* a pod that this one must not meet is on its way to Slurm: judged again after
		 * that */
		found_.needs_review = true;
	/* If no node is left, the job keeps its exclusions: Slurm does not accept a job that cannot
	 * run anywhere, and an allocation is judged again before the binding. */
	if (!spec || !*spec || has_exclusions(component, *f.job, **spec))
		return;
	f.spec = &*spec;
	f.change.exclusions = true;
}

/* A gang has the options of its first pod. While that pod is missing, nothing tells whether they
 * have changed. */
void FactsReader::note_gang_change(const PodUid &key, const Gang &gang, const Component &component,
	std::optional<Result<JobSpec>> &spec, ComponentFacts &f) const
{
	const std::string &told = component.submitted.job == f.job->id ? component.submitted.digest
								       : f.job->marker.options;
	const auto first = std::ranges::find_if(gang.members,
		[&](const auto &m) { return m.second == 0U && state_.pods.at(m.first).pod; });
	const bool has_mark = first != gang.members.end() && !told.empty();
	const bool is_other = has_mark &&
		(!has_hash(told, options_hash(*state_.pods.at(first->first).pod)) ||
			is_deadline_raised(told, deadline_of(pods_of_roles(gang))));
	const bool is_due = component.submitted.is_reviewed && !f.busy.slurm && f.may_retry &&
		f.submit_due && !are_claims_unread(state_, gang);
	if (!is_other && !is_due)
		return;
	found_.is_reviewed = is_due;
	spec_of(key, gang, spec);
	/* the job keeps the shape with which it was submitted, whatever its pods request
	 * meanwhile */
	found_.plan.reset();
	leave_peers(found_);
	found_.needs_review = !spec;
	if (!spec)
		return;
	if (*spec)
		(*spec)->marker.attempt = f.job->marker.attempt;
	f.spec = &*spec;
	f.change.options = is_other;
	f.change.exclusions = *spec && !has_exclusions(component, *f.job, **spec);
	f.change.submitted_digest = told;
	if (*spec && (*spec)->marker.options == component.submitted.refused_digest)
		f.change.trouble = component.submitted.refused_text;
}

} // namespace slurmkube::core
