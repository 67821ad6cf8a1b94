/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.h - small files that hold credentials: read whole, or made in memory only.
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

/* not_found, denied, too_large (over 1 MiB), io. The name is in the error. Blocks as a local file
 * does. */
Result<std::string> read_small_file(const std::string &name);

/* A file that only this process can name, for libraries that want a file name. */
Result<UniqueFd> memory_file(const char *label, std::string_view contents);
std::string path_of(const UniqueFd &fd);

/* Absolute names stay; others are taken from base's directory. */
std::string beside(const std::string &base, const std::string &name);

/* Without blanks and newlines at both ends. */
std::string trimmed(std::string_view text);

} // namespace slurmkube::kube

#endif
