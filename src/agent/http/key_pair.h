/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * key_pair.h - the certificate and the private key with which the agent serves HTTPS.
 */
#ifndef SLURMKUBE_AGENT_HTTP_KEY_PAIR_H
#define SLURMKUBE_AGENT_HTTP_KEY_PAIR_H

#include "src/base/result.h"

#include <string>

namespace slurmkube::http
{

/* PEM. The certificate of the server is the first one; those that signed it follow. */
struct KeyPair {
	std::string certificates;
	std::string key;
	bool operator==(const KeyPair &) const = default;
};

/* invalid: a file has no certificate or no key without a password, or the key is another
 * certificate's. not_found, denied, too_large, io: as read_small_file(). The text names the file.
 * Blocks like any read of a local file. */
Result<KeyPair> read_key_pair(const std::string &certificate_file, const std::string &key_file);

} // namespace slurmkube::http

#endif
