/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unix_listener.h - a listening Unix socket with the given permissions. A socket file that a dead
 * process left is replaced.
 */
#ifndef SLURMKUBE_AGENT_UNIX_LISTENER_H
#define SLURMKUBE_AGENT_UNIX_LISTENER_H

#include "src/base/owned.h"
#include "src/base/result.h"

#include <string>

#include <sys/types.h>

namespace slurmkube::agent
{

/* Non-blocking, close-on-exec. conflict: a process listens at path. invalid: path is empty or too
 * long for a socket address. io: other failures. */
Result<UniqueFd> listen_unix(const std::string &path, mode_t mode);

} // namespace slurmkube::agent

#endif
