/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options/values.h - the kinds of values that options take, read strictly.
 *
 * Every function either sets its target or returns an error whose text says what is allowed; the
 * caller adds key and value.
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
inline constexpr std::size_t k_token_max = 1024; /* Slurm's own limit for most of its texts */

/* One of the allowed, else denied: the text lists them. */
Status choose(
	const std::string &value, const std::vector<std::string> &allowed, std::string &target);
/* The same; "*" among the allowed lets everything through to Slurm, which knows the user's
 * rights. */
Status choose_or_any(
	const std::string &value, const std::vector<std::string> &allowed, std::string &target);

/* Printable bytes, at least one */
Status set_text(const std::string &value, std::string &target);
/* Visible ASCII without quotes and backslashes: names, lists, expressions */
Status set_token(const std::string &value, std::string &target);
/* true, yes, 1 or empty; false, no, 0 */
Status set_flag(const std::string &value, bool &target);

/* nullopt: not a whole number from least to most */
std::optional<std::int64_t> whole_number(
	const std::string &value, std::int64_t least, std::int64_t most);
Error not_from_to(std::int64_t least, std::int64_t most);

/* The two highest values of Slurm's integers mean "not set" and "infinite". */
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
/* A size as sbatch --mem has it, MiB unless K, M, G or T follows; in MiB, rounded up. */
Result<std::uint64_t> parse_slurm_memory(const std::string &value);

} // namespace slurmkube::core

#endif
