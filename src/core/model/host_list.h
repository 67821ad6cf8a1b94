/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host_list.h - Slurm's host list expressions ("n[1-3,7],rack[0-1]u[01-20]"), counted before they
 * are expanded.
 *
 * slurmctld expands every host list that it gets while it holds its locks: eight pairs of brackets
 * with nine numbers each stand for 43 million names. Host lists from users are therefore expanded
 * here, with limits, and slurmctld only gets names of nodes that it has.
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
inline constexpr std::size_t k_hosts_max = 4096;      /* names in a list after it is expanded */
inline constexpr std::size_t k_host_brackets_max = 3; /* pairs of brackets in one name */
inline constexpr std::size_t k_host_digits_max = 9;   /* of a number, with leading zeros */
inline constexpr std::size_t k_host_name_max = 253;   /* bytes, as in Kubernetes */

/* The names in the order of the list, with repetitions. invalid: not a host list, or beyond a
 * limit; the number of names is checked before the list is expanded. */
Result<std::vector<std::string>> expand_hosts(std::string_view text);

/* The names of a list without brackets, of any length: "n1,n2". */
std::vector<std::string> split_hosts(std::string_view plain);

} // namespace slurmkube::core

#endif
