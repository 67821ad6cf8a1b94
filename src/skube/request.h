/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request.h - sends one request to the agent's control socket (doc/design/protocol.md section 3).
 */
#ifndef SLURMKUBE_SKUBE_REQUEST_H
#define SLURMKUBE_SKUBE_REQUEST_H

#include "src/codec/json.h"

#include <string>

namespace slurmkube::skube
{

/*
 * Asks and waits for the reply for at most 10 s. pod: "namespace/name", for verbs about one pod.
 * The texts of errors say what to do. io: no agent listens there, or it did not answer. denied: no
 * permission to connect. invalid: the agent refuses; the text is the agent's.
 */
Result<codec::Json> ask(
	const std::string &socket_path, const std::string &verb, const std::string &pod = {});

} // namespace slurmkube::skube

#endif
