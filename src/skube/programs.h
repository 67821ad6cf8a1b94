/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * programs.h - other programs (kubectl, scontrol, squeue), run without a shell. They bring their
 * own credentials and write to our standard error.
 */
#ifndef SLURMKUBE_SKUBE_PROGRAMS_H
#define SLURMKUBE_SKUBE_PROGRAMS_H

#include "src/base/result.h"

#include <string>
#include <vector>

namespace slurmkube::skube
{

using Words = std::vector<std::string>;

/* What it prints, at most 256 MiB. not_found: no such program in PATH. invalid: its exit status is
 * not 0. */
Result<std::string> output_of(const Words &words);
/* Its standard output is ours. */
Status run_program(const Words &words);

/* As one would type it. */
std::string command_line(const Words &words);
std::vector<std::string> lines_of(const std::string &text);

} // namespace slurmkube::skube

#endif
