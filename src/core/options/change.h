/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options/change.h - changes of options while the job waits.
 *
 * The job's marker contains a text, here called mark, that describes the options that Slurm was
 * given. An agent that restarts can therefore see changes made while it was away. Options that the
 * pod does not name are never changed, so that changes by administrators (scontrol) remain.
 *
 *	"HASH FIXED NAME,NAME,..."     HASH: of all annotations that are options; FIXED: of those
 *	                               that cannot be changed; NAMEs of the rest, as in the table
 *	"HASH FIXED NAME,... MINUTES"  MINUTES: the time limit, if activeDeadlineSeconds sets it;
 *	                               it is only raised, see option_change()
 */
#ifndef SLURMKUBE_CORE_OPTIONS_CHANGE_H
#define SLURMKUBE_CORE_OPTIONS_CHANGE_H

#include "src/core/options/options.h"

#include <string>
#include <vector>

namespace slurmkube::core
{

/* The first word of the mark, for the pod's current annotations. */
std::string options_hash(const Pod &pod);

/* plain: the job as it would be without options. */
std::string options_mark(const Pod &pod, const JobSpec &plain, const JobSpec &spec);

/* Names of options, as in the table. given: options whose values Slurm must get. removed: options
 * that the pod has stopped naming. */
struct OptionChange {
	std::vector<std::string> given, removed;
	bool operator==(const OptionChange &) const = default;
};

/* Digest of the nodes that a job must not use; depends on their order. Empty without nodes. Short
 * enough for markers. */
std::string exclusions_digest(const std::vector<std::string> &excluded);

bool has_hash(std::string_view mark, std::string_view hash);

/* Whether the mark has a time limit from a deadline, and this deadline is longer. seconds: 0: no
 * deadline */
bool is_deadline_raised(std::string_view mark, std::int64_t seconds);

/*
 * Compares the mark in the job with the mark of the pod. A time limit from a deadline is only ever
 * raised: a deadline that has disappeared may belong to an owner which the agent cannot see, and
 * Kubernetes itself ends pods that run too long. invalid: an option differs that cannot be changed;
 * the error says what the user can do.
 */
Result<OptionChange> option_change(std::string_view told, std::string_view wanted);

} // namespace slurmkube::core

#endif
