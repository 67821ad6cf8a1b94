/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request.h - one question to the agent over its control socket (doc/design/protocol.md section 3).
 */
#ifndef SLURMKUBE_SKUBE_REQUEST_H
#define SLURMKUBE_SKUBE_REQUEST_H

#include "src/codec/json.h"

#include <string>

namespace slurmkube::skube
{

/*
 * pod: of the verbs that are about one, "namespace/name".
 * Asks and waits for the reply, at most 10 s. The errors' texts say what to do.
 * io: nobody listens there, or it did not answer. denied: no right to ask. invalid: the agent says
 * no (its sentence is the text).
 */
Result<codec::Json> ask(
	const std::string &socket_path, const std::string &verb, const std::string &pod = {});

} // namespace slurmkube::skube

#endif
