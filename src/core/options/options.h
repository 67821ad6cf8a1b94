/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the options that users write on pods: one table, from which annotations, the sbatch
 * string, `skube explain options` and the manual page follow.
 *
 * slurm-kube.io/NAME is ours. The rivals' prefixes are read as aliases, each with its own names and
 * formats: slurmjob.slinky.slurm.net/ and the older slinky.slurm.net/ (slurm-bridge),
 * sunk.coreweave.com/ (SUNK). Precedence, highest first: ours, the words of slurm-kube.io/sbatch,
 * aliases. Two aliases that ask for different things are refused, and so is every key that nobody
 * knows. What the rivals write on pods themselves is no option and no error.
 */
#ifndef SLURMKUBE_CORE_OPTIONS_OPTIONS_H
#define SLURMKUBE_CORE_OPTIONS_OPTIONS_H

#include "src/core/model/spec.h"
#include "src/core/policy/policy.h"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace slurmkube::core
{

/* What an option may look at. A word like "now" means the pod's creation, so that the same pod
 * always makes the same job. */
struct OptionContext {
	const Policy &policy;
	const NamespaceRule &rule;
	const Pod &pod;
};

using Apply = Status (*)(const std::string &value, const OptionContext &context, JobSpec &spec);

enum class Argument { required, optional, none }; /* of the sbatch option */

struct Option {
	std::string_view name;    /* after our prefix */
	std::string_view takes;   /* what the value is, in words; as a manual page prints it */
	std::string_view meaning; /* sentences */
	Apply apply;

	std::string_view sbatch = {}; /* long option; empty: none */
	char letter = 0;              /* short option */
	Argument argument = Argument::required;
	std::string_view implied = {}; /* its value when sbatch's option has none */
	Apply apply_sbatch = nullptr;  /* nullptr: as apply */

	std::string_view bridge = {}, sunk = {}; /* alias names; empty: none */
	Apply apply_sunk = nullptr;              /* nullptr: as apply */

	/* the first Slurm that has it; empty: all that we know */
	std::string_view since = {};
	bool fixed = false; /* cannot be changed while the job waits */
};

std::span<const Option> options();
const Option *find_option(std::string_view name);

/* Notes that the option was asked for. */
void note_given(const Option &option, JobSpec &spec);
bool is_given(std::string_view name, const JobSpec &spec);

/* An sbatch option that is refused, and why. */
struct RefusedOption {
	std::string_view sbatch;
	char letter;
	std::string_view reason;
};
std::span<const RefusedOption> refused_options();

/* May this annotation be an option, or somebody's mistake in writing one? */
bool is_option_key(std::string_view key);

/* All annotations that are options. The first error ends it. */
Status apply_options(const std::map<std::string, std::string> &annotations,
	const OptionContext &context, JobSpec &spec);

/* The words of an sbatch command line, without "sbatch" and without a script. */
Status apply_sbatch_words(const std::string &text, const OptionContext &context, JobSpec &spec);

/* Up to three names that may have been meant; all, if none is like it. */
std::string suggestions(std::string_view name);

} // namespace slurmkube::core

#endif
