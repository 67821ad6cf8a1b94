/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * token_renewal.h - a service account's own token, renewed by the TokenRequest API before it
 * expires.
 *
 * Renewed is what lies in a token file in whose directory we may write, as skube kubeconfig makes
 * it. Any other token file is somebody else's to rotate. The deciding parts are pure.
 */
#ifndef SLURMKUBE_AGENT_KUBE_TOKEN_RENEWAL_H
#define SLURMKUBE_AGENT_KUBE_TOKEN_RENEWAL_H

#include "src/agent/kube/client.h"
#include "src/agent/kube/token.h"

#include <functional>
#include <string>

namespace slurmkube::kube
{

/* From two thirds of its life on. Without both times in it: never. */
bool renewal_due(const TokenClaims &claims, std::int64_t now);

/* The request for another token of the same service account and the same life; invalid: its subject
 * is no service account. */
Result<Request> renewal_request(const TokenClaims &claims);

/* Takes the place of file in one step, readable by its owner only. */
Status write_token_file(const std::string &file, const std::string &token);

/* done: later, with the new token written to the client's token file. */
void renew_token(Client &client, std::function<void(Status)> done);

} // namespace slurmkube::kube

#endif
