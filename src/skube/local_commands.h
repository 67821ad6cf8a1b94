/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * local_commands.h - the commands that work without the agent: explain, kubeconfig, teardown, help.
 */
#ifndef SLURMKUBE_SKUBE_LOCAL_COMMANDS_H
#define SLURMKUBE_SKUBE_LOCAL_COMMANDS_H

#include "src/skube/options.h"

namespace slurmkube::skube
{

/* command: one of Commands that needs no agent. Returns the exit status. */
int run_local(unsigned command, Options &options);

} // namespace slurmkube::skube

#endif
