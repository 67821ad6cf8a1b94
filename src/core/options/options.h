/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the options that users write on pods. Annotations, the sbatch string, `skube explain
 * options` and the manual page all come from one table.
 *
 * slurm-kube.io/NAME is our own form. Prefixes of other projects are read as aliases, each with its
 * own names and formats: slurmjob.slinky.slurm.net/ and the older slinky.slurm.net/ (slurm-bridge),
 * sunk.coreweave.com/ (SUNK). slurm-kube.io/ annotations override the words of
 * slurm-kube.io/sbatch, which override aliases. Two aliases with different requests for the same
 * option are refused, and so are unknown keys under these prefixes. Annotations that the other
 * projects themselves write on pods are ignored.
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

/* What an option's function may use. "now" in a value means the pod's creation, so that the same
 * pod always gives the same job. */
struct OptionContext {
	const Policy &policy;
	const NamespaceRule &rule;
	const Pod &pod;
};

using Apply = Status (*)(const std::string &value, const OptionContext &context, JobSpec &spec);

enum class Argument { required, optional, none }; /* of the option in sbatch */

struct Option {
	std::string_view name;    /* after our prefix */
	std::string_view takes;   /* describes the value, as printed in the manual page */
	std::string_view meaning; /* complete sentences */
	Apply apply;

	std::string_view sbatch = {}; /* long option; empty: none */
	char letter = 0;              /* short option */
	Argument argument = Argument::required;
	std::string_view implied = {}; /* value if sbatch's option is given without one */
	Apply apply_sbatch = nullptr;  /* nullptr: same as apply */

	std::string_view bridge = {}, sunk = {}; /* alias names; empty: none */
	Apply apply_sunk = nullptr;              /* nullptr: same as apply */

	/* first Slurm version with the option; empty: all supported versions */
	std::string_view since = {};
	bool fixed = false; /* cannot be changed while the job waits */
};

std::span<const Option> options();
const Option *find_option(std::string_view name);

/* Records in spec.options.given that the option was requested. */
void note_given(const Option &option, JobSpec &spec);
bool is_given(std::string_view name, const JobSpec &spec);

/* An sbatch option that is refused, with the reason. */
struct RefusedOption {
	std::string_view sbatch;
	char letter;
	std::string_view reason;
};
std::span<const RefusedOption> refused_options();

/* Whether the annotation has a prefix of options. The rest of the key may be misspelled. */
bool is_option_key(std::string_view key);

/* Applies all annotations that are options; stops at the first error, which names the
 * annotation. */
Status apply_options(const std::map<std::string, std::string> &annotations,
	const OptionContext &context, JobSpec &spec);

/* Applies the words of an sbatch command line, without "sbatch" and without a script. */
Status apply_sbatch_words(const std::string &text, const OptionContext &context, JobSpec &spec);

/* Text with up to three similar names, or with all names if none is similar. */
std::string suggestions(std::string_view name);

} // namespace slurmkube::core

#endif
