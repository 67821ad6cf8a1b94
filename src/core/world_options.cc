/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and the options of pods whose jobs wait. */
#include "src/core/option_change.h"
#include "src/core/world.h"

namespace slurmkube::core
{

/* A job whose submitter left no mark is not asked about: it is from an earlier version. */
void World::note_options(const PodUid &uid, const Group &group, std::optional<Result<JobSpec>> &spec, GroupFacts &f)
{
	const std::string &told = group.told_job == f.job->id ? group.told_mark : f.job->marker.options;
	if (told.empty() || has_hash(told, options_hash(*f.pod)))
		return;
	spec = translate(*f.pod, settings_.policy, f.job->marker.attempt);
	place(uid, *f.pod, spec);
	f.spec = spec ? &*spec : nullptr;
	f.told_mark = told;
	f.options_changed = f.spec != nullptr;
	if (f.spec && f.spec->ok() && f.spec->value().marker.options == group.refused_mark)
		f.options_trouble = group.refused_text;
}

void World::updated(const PodUid &pod, const std::string &mark, JobId job, const Status &answer, Now now)
{
	Group &group = touch(pod);
	group.busy.slurm = false;
	if (answer) {
		counters_.updated++;
		group.failures = 0;
		group.told_job = job;
		group.told_mark = mark;
		return;
	}
	if (answer.error().code == Errc::invalid || answer.error().code == Errc::denied) {
		group.refused_mark = mark;
		group.refused_text = answer.error().what;
		return;
	}
	failed(group, pod, answer.error(), now);
}

} // namespace slurmkube::core
