/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option_change.h - options that are changed while the job waits.
 *
 * With its job goes a mark, in the marker: which options it was given, and two digests. A restarted agent so knows what Slurm was told, and a change made while it
 * was away is seen. Options that nobody named on the pod are never touched: what administrators did with scontrol stays.
 *
 *	mark = "HASH FIXED NAME,NAME,..."     HASH: all annotations that are options; FIXED: what cannot be changed; NAMEs of the rest, as in the table
 */
#ifndef SLURMKUBE_CORE_OPTION_CHANGE_H
#define SLURMKUBE_CORE_OPTION_CHANGE_H

#include "src/core/options.h"

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

bool has_hash(std::string_view mark, std::string_view hash);

/* invalid: something differs that cannot be changed; the text says what can be done. */
Result<OptionChange> option_change(std::string_view told, std::string_view wanted);

} // namespace slurmkube::core

#endif
