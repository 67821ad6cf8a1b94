/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options/bounds.h - limits for expressions in options: for the length of lists, for numbers and
 * for nesting.
 *
 * slurmctld parses these texts while it holds its locks and expands some of them: host lists to
 * names, arrays in dependencies to tasks (each of which it compares with all others), features in
 * parentheses to all combinations (24.11: 2^n lists). Without limits one pod could keep slurmctld
 * busy. Each set_ function sets its target or returns invalid with the limit that is exceeded.
 * Whether a name exists is left to Slurm.
 */
#ifndef SLURMKUBE_CORE_OPTIONS_BOUNDS_H
#define SLURMKUBE_CORE_OPTIONS_BOUNDS_H

#include "src/base/result.h"

#include <cstdint>
#include <string>

namespace slurmkube::core
{

inline constexpr std::size_t k_expression_max = 512;  /* bytes of an expression of features */
inline constexpr std::size_t k_features_max = 32;     /* names in it */
inline constexpr std::size_t k_alternatives_max = 16; /* "|" in it */
/* pairs; with the limits above at most 625 combinations */
inline constexpr std::size_t k_parentheses_max = 4;
inline constexpr std::size_t k_counted_features_max = 8; /* "a*2"; each costs slurmctld a search */
inline constexpr std::size_t k_dependencies_max = 100;   /* jobs */
/* licenses, generic resources, reservations */
inline constexpr std::size_t k_list_items_max = 32;
/* bytes of a name or of a list of names */
inline constexpr std::size_t k_name_max = 256;
inline constexpr std::size_t k_address_max = 254;

inline constexpr std::int64_t k_node_count_max = 100'000;
inline constexpr std::int64_t k_tasks_per_node_max = 65'000; /* 16 bits in Slurm */
/* Slurm reads bit 15 as "threads instead of cores" */
inline constexpr std::int64_t k_job_number_max = 0x7fffffff;
inline constexpr std::int64_t k_spec_max = 8192;
inline constexpr std::int64_t k_segment_max = 65'532;
inline constexpr std::int64_t k_threads_per_core_max = 1024;
inline constexpr std::int64_t k_switches_max = 1'000'000;
/* The year 2096. The highest 32-bit values mean "not set" and "infinite" in Slurm. Points in time
 * must also be within k_limit_minutes_max of the pod's creation. */
inline constexpr std::int64_t k_time_max = 4'000'000'000;
inline constexpr std::int64_t k_memory_bytes_max = std::int64_t{1} << 60;
inline constexpr std::size_t k_time_text_max = 64; /* bytes of a time or a time limit */

Status set_hosts(const std::string &value, std::string &target);
Status set_features(const std::string &value, std::string &target);
Status set_dependency(const std::string &value, std::string &target);
/* NAME[:COUNT] or NAME:TYPE:COUNT, separated by commas or semicolons */
Status set_counts(const std::string &value, std::string &target);
/* A name, or a list of names */
Status set_names(const std::string &value, std::string &target);
/* slurmctld passes the address to MailProg as an argument, so it must not be readable as an option,
 * a file or a command. */
Status set_address(const std::string &value, std::string &target);
/* Checks the length of a time or a time limit. */
Status check_time_text(const std::string &value);

} // namespace slurmkube::core

#endif
