/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime.h - the connection to the container runtime.
 */
#ifndef SLURMKUBE_NODE_RUNTIME_H
#define SLURMKUBE_NODE_RUNTIME_H

#include "src/base/result.h"
#include "src/node/plugin.h"

#include <functional>
#include <string>

namespace slurmkube::node
{

/* Connects to the runtime's NRI socket, registers, and answers until the runtime closes the
 * connection (io), sends what is not NRI (invalid, too_large), or refuses us (denied). Blocks; ok
 * when stop_fd becomes readable. connected() is called once the runtime has said which containers
 * run: from now on it asks us. */
Result<Ok> serve_runtime(const std::string &socket, Plugin &plugin, int stop_fd,
	const std::function<void()> &connected);

} // namespace slurmkube::node

#endif
