/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options/bounds.h - what an option's expression may cost slurmctld: every list, number and nesting
 * has a limit here.
 *
 * slurmctld parses these texts under its locks and expands some of them: host lists to names,
 * arrays in dependencies to tasks (each compared with all others), features in parentheses to all
 * combinations (24.11: 2^n lists). A function sets its target, or says which limit does not hold;
 * whether a name exists is for Slurm to say.
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
/* pairs: with the above at most 625 combinations */
inline constexpr std::size_t k_parentheses_max = 4;
inline constexpr std::size_t k_counted_features_max = 8; /* "a*2": each is a search of its own */
inline constexpr std::size_t k_dependencies_max = 100;   /* jobs */
/* licenses, generic resources, reservations */
inline constexpr std::size_t k_list_items_max = 32;
/* bytes of a name, or of a short list of them */
inline constexpr std::size_t k_name_max = 256;
inline constexpr std::size_t k_address_max = 254;

inline constexpr std::int64_t k_node_count_max = 100'000;
inline constexpr std::int64_t k_tasks_per_node_max = 65'000; /* 16 bits in Slurm */
inline constexpr std::int64_t k_spec_max = 8192; /* bit 15 would turn cores into threads */
inline constexpr std::int64_t k_segment_max = 65'532;
inline constexpr std::int64_t k_threads_per_core_max = 1024;
inline constexpr std::int64_t k_switches_max = 1'000'000;
/* 2096; what follows are Slurm's "not set" and "infinite". Points in time also keep within
 * k_limit_minutes_max of the pod's creation */
inline constexpr std::int64_t k_time_max = 4'000'000'000;
inline constexpr std::int64_t k_memory_bytes_max = std::int64_t{1} << 60;
inline constexpr std::size_t k_time_text_max = 64; /* bytes of a time or a time limit */

Status set_hosts(const std::string &value, std::string &target);
Status set_features(const std::string &value, std::string &target);
Status set_dependency(const std::string &value, std::string &target);
/* NAME[:COUNT] with commas or semicolons between them; also NAME:TYPE:COUNT */
Status set_counts(const std::string &value, std::string &target);
/* A name, or a list of names */
Status set_names(const std::string &value, std::string &target);
/* slurmctld gives it to MailProg as an argument: no option, no file and no command may be made of
 * it. */
Status set_address(const std::string &value, std::string &target);
/* Texts of times, which have no use for more */
Status check_time_text(const std::string &value);

} // namespace slurmkube::core

#endif
