/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unix_listener.h - a listening unix socket with exact rights, taken over from a predecessor that
 * is gone.
 */
#ifndef SLURMKUBE_AGENT_UNIX_LISTENER_H
#define SLURMKUBE_AGENT_UNIX_LISTENER_H

#include "src/base/owned.h"
#include "src/base/result.h"

#include <string>

#include <sys/types.h>

namespace slurmkube::agent
{

/* Non-blocking, close-on-exec. conflict: somebody answers there. invalid: the path is too long for
 * a socket. */
Result<UniqueFd> listen_unix(const std::string &path, mode_t mode);

} // namespace slurmkube::agent

#endif
