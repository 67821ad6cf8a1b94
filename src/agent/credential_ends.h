/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * credential_ends.h - until when the agent's credentials for the API server are valid.
 */
#ifndef SLURMKUBE_AGENT_CREDENTIAL_ENDS_H
#define SLURMKUBE_AGENT_CREDENTIAL_ENDS_H

#include "src/agent/config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace slurmkube::agent
{

struct CredentialEnd {
	const char *name;      /* "client certificate", "CA" or "metrics certificate" */
	std::string file;      /* for messages */
	std::int64_t ends = 0; /* seconds since the epoch */
};

/* Of the files that the kubeconfig names at present, or has within, and of
 * metrics.tls_cert_file. Files without a certificate are
 * left out: the line files of skube check is about them. The first certificate of the client's file
 * is its own. Of the authorities the one counts that is valid longest, because old ones stay in the
 * file while they are replaced. */
std::vector<CredentialEnd> certificate_ends(const Config &config);

} // namespace slurmkube::agent

#endif
