/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options/change.h - options that are changed while the job waits.
 *
 * The marker of the job has a digest of the options that Slurm was given. So an agent that restarts
 * sees a change that was made while it was away. Options that the pod does not name are never
 * changed: what administrators did with scontrol stays.
 *
 *	"HASH FIXED NAME,NAME,..."     HASH: of all annotations that are options; FIXED: of those
 *	                               that cannot be changed; NAMEs of the rest, as in the table
 *	"HASH FIXED NAME,... MINUTES"  MINUTES: the time limit, where activeDeadlineSeconds sets it;
 *	                               it is only raised, see option_change()
 */
#ifndef SLURMKUBE_CORE_OPTIONS_CHANGE_H
#define SLURMKUBE_CORE_OPTIONS_CHANGE_H

#include "src/core/options/options.h"

#include <string>
#include <vector>

namespace slurmkube::core
{

/* Of a pod as it is now; the first word of its mark. */
std::string options_hash(const Pod &pod);

/* plain: the job as it would be without options */
std::string options_mark(const Pod &pod, const JobSpec &plain, const JobSpec &spec);

/* Names of options, as in the table. removed: the pod named them before and no longer does. */
struct OptionChange {
	std::vector<std::string> given, removed;
	bool operator==(const OptionChange &) const = default;
};

/* Of nodes that a job is kept off, in their order; empty without one. Short, for markers. */
std::string exclusions_digest(const std::vector<std::string> &excluded);

bool has_hash(std::string_view mark, std::string_view hash);

/* Whether the job was told a limit that comes from a deadline, and this deadline leaves more time.
 * seconds: 0: none */
bool is_deadline_raised(std::string_view mark, std::int64_t seconds);

/*
 * A limit that comes from a deadline is told only if it is raised: a deadline that is gone may be
 * that of an owner which we cannot see, and Kubernetes itself ends what lasts too long. invalid:
 * something differs that cannot be changed; the text says what can be done.
 */
Result<OptionChange> option_change(std::string_view told, std::string_view wanted);

} // namespace slurmkube::core

#endif
