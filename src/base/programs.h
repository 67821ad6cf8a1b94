/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * programs.h - runs other programs (kubectl, scontrol, squeue) without a shell. They use their own
 * credentials and the caller's environment and standard error. Each call waits until the program
 * ends; several threads may call.
 */
#ifndef SLURMKUBE_BASE_PROGRAMS_H
#define SLURMKUBE_BASE_PROGRAMS_H

#include "src/base/result.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube
{

using Words = std::vector<std::string>;

/* The standard output of the program, which gets no signal mask from the caller. not_found: no such
 * program in PATH. invalid: the exit status is not 0. too_large: the output has more than 256 MiB.
 * io: the program has not ended within the limit, and was killed. */
Result<std::string> output_of(
	const Words &words, std::optional<std::chrono::milliseconds> limit = std::nullopt);
/* The same in a process group of its own, which Ctrl-C does not reach, with that text, at most 16
 * KiB, as the program's standard input. The program cannot ask questions on the terminal. */
Result<std::string> output_apart(const Words &words, const std::string &input = {});
/* The program writes to the caller's standard output. */
Status run_program(const Words &words);

/* The command as a user would type it. */
std::string command_line(const Words &words);
std::vector<std::string> lines_of(const std::string &text);
/* The word after KEY= in a row of scontrol --oneliner, such as "NodeName=n1 Arch=..."; empty: there
 * is none. */
std::string scontrol_value(const std::string &row, const std::string &key);

} // namespace slurmkube

#endif
