/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options/values.h - strict parsers for the kinds of values that options take.
 *
 * Every function sets its target or returns an error that says what is allowed. The caller adds the
 * key and the value.
 */
#ifndef SLURMKUBE_CORE_OPTIONS_VALUES_H
#define SLURMKUBE_CORE_OPTIONS_VALUES_H

#include "src/base/result.h"
#include "src/core/model/job_options.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::core
{

inline constexpr std::size_t k_text_max = 256;   /* bytes of a job's name or comment */
inline constexpr std::size_t k_token_max = 1024; /* Slurm's own limit for most texts */

/* Accepts a value from the list. denied: any other value; the error lists the allowed ones. */
Status choose(
	const std::string &value, const std::vector<std::string> &allowed, std::string &target);
/* The same, but "*" in the list accepts every name: Slurm itself checks the user's rights. */
Status choose_or_any(
	const std::string &value, const std::vector<std::string> &allowed, std::string &target);

/* Printable bytes, at least one */
Status set_text(const std::string &value, std::string &target);
/* Visible ASCII without quotes and backslashes: names, lists, expressions */
Status set_token(const std::string &value, std::string &target);
/* true, yes, 1 or empty; false, no, 0 */
Status set_flag(const std::string &value, bool &target);

/* nullopt: not a whole number from `least` to `most` */
std::optional<std::int64_t> whole_number(
	const std::string &value, std::int64_t least, std::int64_t most);
Error not_from_to(std::int64_t least, std::int64_t most);

/* The default maximum leaves out the highest values of Slurm's integers, which mean "not set" and
 * "infinite". */
template <class T> Status set_number(const std::string &value, std::int64_t least,
	std::optional<T> &target,
	std::int64_t most = std::numeric_limits<T>::max() - std::int64_t{3})
{
	const auto number = whole_number(value, least, most);
	if (!number)
		return not_from_to(least, most);
	target = static_cast<T>(*number);
	return Ok{};
}

Status set_sharing(const std::string &value, Sharing &target);
Status set_mail_types(const std::string &value, std::uint16_t &target);
/* COUNT[@MINUTES or Slurm time] */
Status set_switches(const std::string &value, JobOptions &target);
/* In MiB, rounded up, from a size in the syntax of sbatch --mem: MiB unless K, M, G or T
 * follows. */
Result<std::uint64_t> parse_slurm_memory(const std::string &value);

} // namespace slurmkube::core

#endif
