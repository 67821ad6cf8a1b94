/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.h - small files that hold credentials: reading them, and creating them in memory.
 */
#ifndef SLURMKUBE_AGENT_KUBE_FILES_H
#define SLURMKUBE_AGENT_KUBE_FILES_H

#include "src/base/owned.h"
#include "src/base/result.h"

#include <string>
#include <string_view>

namespace slurmkube::kube
{

inline constexpr std::size_t k_largest_file = std::size_t{1} << 20;

/* Errors: not_found, denied, too_large (over 1 MiB), io; the text names the file. Blocks like any
 * read of a local file. */
Result<std::string> read_small_file(const std::string &name);

/* A file without a name in any directory, for libraries that want a file name (path_of()). */
Result<UniqueFd> memory_file(const char *label, std::string_view contents);
std::string path_of(const UniqueFd &fd);

/* An absolute name is returned unchanged; other names are relative to the directory of base. */
std::string beside(const std::string &base, const std::string &name);

/* Removes blanks and newlines at both ends. */
std::string trimmed(std::string_view text);

} // namespace slurmkube::kube

#endif
