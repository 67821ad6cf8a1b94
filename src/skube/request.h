/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request.h - sends one request to the agent's control socket (doc/design/protocol.md section 3).
 */
#ifndef SLURMKUBE_SKUBE_REQUEST_H
#define SLURMKUBE_SKUBE_REQUEST_H

#include "src/base/owned.h"
#include "src/codec/json.h"

#include <string>

namespace slurmkube::skube
{

/*
 * Sends {"verb": verb, ...} and waits for the reply for at most 10 s. more: an object whose members
 * go into the request, or null. The texts of errors say what to do. io: no agent listens there, or
 * it did not answer. denied: no permission to connect. invalid: the agent refuses; again: it has
 * just started and cannot answer yet. Of these two the text is the agent's.
 */
Result<codec::Json> ask(
	const std::string &socket_path, const std::string &verb, codec::Json more = nullptr);

/* Sends the request, and leaves the connection open. The same errors, but for invalid. */
Result<UniqueFd> send_request(
	const std::string &socket_path, const std::string &verb, codec::Json more);

} // namespace slurmkube::skube

#endif
