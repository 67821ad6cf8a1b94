/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base64.h - standard base64 with padding, as in the *-data fields of a kubeconfig. Blanks and
 * newlines are skipped.
 */
#ifndef SLURMKUBE_CODEC_BASE64_H
#define SLURMKUBE_CODEC_BASE64_H

#include "src/base/result.h"

#include <string>
#include <string_view>

namespace slurmkube::codec
{

/* invalid: not base64, or incomplete. */
Result<std::string> decode_base64(std::string_view text);

} // namespace slurmkube::codec

#endif
