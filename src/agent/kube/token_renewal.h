/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * token_renewal.h - renews the token of the agent's service account with the TokenRequest API
 * before it expires.
 *
 * Only a token in a file whose directory is writable for the agent is renewed, for example a file
 * that `skube kubeconfig` has created. Other token files are rotated by others. The functions that
 * decide are pure.
 */
#ifndef SLURMKUBE_AGENT_KUBE_TOKEN_RENEWAL_H
#define SLURMKUBE_AGENT_KUBE_TOKEN_RENEWAL_H

#include "src/agent/kube/client.h"
#include "src/agent/kube/token.h"

#include <functional>
#include <string>

namespace slurmkube::kube
{

/* The namespace in the subject of a service account's token; empty: of another token. */
std::string account_namespace_of(const std::string &subject);

/* From two thirds of the token's life on; false if the token lacks either time. now: seconds since
 * the epoch. */
bool renewal_due(const TokenClaims &claims, std::int64_t now);

/* The request for a new token of the same service account and the same lifetime. invalid: the
 * token's subject is not a service account. */
Result<Request> renewal_request(const TokenClaims &claims);

/* Replaces file atomically; only its owner can read it. */
Status write_token_file(const std::string &file, const std::string &token);

/* Calls done later; if it succeeded, the client's token file has the new token. */
void renew_token(Client &client, std::function<void(Status)> done);

} // namespace slurmkube::kube

#endif
