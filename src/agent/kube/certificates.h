/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * certificates.h - until when the certificates of a PEM file are valid (RFC 5280, 4.1.2.5).
 */
#ifndef SLURMKUBE_AGENT_KUBE_CERTIFICATES_H
#define SLURMKUBE_AGENT_KUBE_CERTIFICATES_H

#include "src/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace slurmkube::kube
{

/* notAfter of each certificate of the file, in its order, as seconds since the epoch. invalid: the
 * file has no certificate. not_found, denied: the file cannot be read. Thread-safe. */
Result<std::vector<std::int64_t>> certificate_ends(const std::string &file);

} // namespace slurmkube::kube

#endif
