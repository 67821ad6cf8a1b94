/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * semver.h - semantic versions (semver.org 2.0.0), as github.com/blang/semver/v4 reads and compares
 * them.
 */
#ifndef SLURMKUBE_CORE_CEL_SEMVER_H
#define SLURMKUBE_CORE_CEL_SEMVER_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace slurmkube::core::cel
{

/* Refers to the text that it was parsed from. Build metadata is checked and not kept, because it
 * does not take part in comparisons. */
struct Semver {
	std::uint64_t major = 0, minor = 0, patch = 0;
	std::string_view prerelease; /* identifiers with dots between them; empty: a release */
};

/* Nothing: not a version. */
std::optional<Semver> parse_semver(std::string_view text);

/* -1: a is before b, 0: equal, 1: after */
int compare(const Semver &a, const Semver &b);

} // namespace slurmkube::core::cel

#endif
