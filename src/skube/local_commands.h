/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * local_commands.h - the commands that do not only print a reply of the agent. Most work without
 * the agent, some run other programs.
 */
#ifndef SLURMKUBE_SKUBE_LOCAL_COMMANDS_H
#define SLURMKUBE_SKUBE_LOCAL_COMMANDS_H

#include "src/skube/options.h"

#include <string>
#include <vector>

namespace slurmkube::skube
{

/* 0: no such command, or a wrong number of words. */
unsigned local_command(const std::vector<std::string> &words);
/* What the command takes, for an error; nullptr: no such command, or one without words. */
const char *usage_of_local(const std::string &name);

/* For words that local_command() knows. Returns the exit status. */
int run_local(Options &options);

} // namespace slurmkube::skube

#endif
