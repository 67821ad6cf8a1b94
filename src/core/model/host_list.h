/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host_list.h - Slurm's host list expressions ("n[1-3,7],rack[0-1]u[01-20]"), counted before they
 * are expanded.
 *
 * Slurm expands whatever it is given, under its locks: eight factors of nine are 43 million names.
 * So foreign host lists are read here, and slurmctld is only ever sent names of nodes that it has.
 */
#ifndef SLURMKUBE_CORE_MODEL_HOST_LIST_H
#define SLURMKUBE_CORE_MODEL_HOST_LIST_H

#include "src/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::core
{

inline constexpr std::size_t k_host_list_bytes_max = 1024;
inline constexpr std::size_t k_hosts_max = 4096;      /* names that a list stands for */
inline constexpr std::size_t k_host_brackets_max = 3; /* pairs in one name */
inline constexpr std::size_t k_host_digits_max = 9;   /* of a number, with leading zeros */
inline constexpr std::size_t k_host_name_max = 253;   /* bytes, as in Kubernetes */

/* The names, in the order of the list, repeated ones included. invalid: not a host list, or beyond
 * a limit: said before anything is expanded. */
Result<std::vector<std::string>> expand_hosts(std::string_view text);

} // namespace slurmkube::core

#endif
