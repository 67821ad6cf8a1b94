/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base64.h - standard base64 with padding, as the *-data fields of a kubeconfig have it. Blanks and
 * newlines are skipped.
 */
#ifndef SLURMKUBE_CODEC_BASE64_H
#define SLURMKUBE_CODEC_BASE64_H

#include "src/base/result.h"

#include <string>
#include <string_view>

namespace slurmkube::codec
{

Result<std::string> decode_base64(std::string_view text);

} // namespace slurmkube::codec

#endif
