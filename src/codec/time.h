/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time.h - converts RFC 3339 times of the Kubernetes API to seconds since the epoch, and back.
 */
#ifndef SLURMKUBE_CODEC_TIME_H
#define SLURMKUBE_CODEC_TIME_H

#include "src/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace slurmkube::codec
{

/* For example "2026-11-21T03:08:57Z". A fraction of a second is cut off; any offset is accepted.
 * invalid: any other text. */
Result<std::int64_t> parse_time(std::string_view text);

/* "2026-11-21T03:08:57Z" */
std::string format_time(std::int64_t seconds);
/* "2026-11-21T03:08:57.123456Z", the form of metav1.MicroTime. */
std::string format_micro_time(std::int64_t microseconds);

} // namespace slurmkube::codec

#endif
