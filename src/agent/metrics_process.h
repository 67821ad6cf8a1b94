/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics_process.h - the families process_*, which each client library of Prometheus has.
 */
#ifndef SLURMKUBE_AGENT_METRICS_PROCESS_H
#define SLURMKUBE_AGENT_METRICS_PROCESS_H

#include "src/codec/metrics_text.h"

#include <cstdint>

namespace slurmkube::agent
{

/* started: seconds since the epoch. Reads /proc; a family that cannot be read is left out. */
void add_process(codec::MetricsText &out, std::int64_t started);

} // namespace slurmkube::agent

#endif
