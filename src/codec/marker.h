/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * marker.h - the text in admin_comment that says for which pods a placeholder job stands
 * (doc/design/protocol.md, section 1).
 *
 * The plugin grants rights according to it, so it is read strictly: every required key must be
 * present, have its type and contain no control characters, and the text has at most
 * k_marker_bytes_max bytes. The texts of errors go to the user who submitted the job.
 */
#ifndef SLURMKUBE_CODEC_MARKER_H
#define SLURMKUBE_CODEC_MARKER_H

#include "src/codec/json.h"
#include "src/core/model/job.h"

namespace slurmkube::codec
{

inline constexpr std::size_t k_marker_bytes_max = 1024;

std::string marker_to_text(const core::Marker &marker);
/* The same, with the note cut so that the text has at most k_marker_bytes_max bytes. The note must
 * be ASCII. */
std::string marker_to_fitting_text(core::Marker marker);

/* invalid: the error names the key. too_large: longer than k_marker_bytes_max. */
Result<core::Marker> marker_from_text(std::string_view text);

/*
 * Whether the text is meant to be a marker. True for every JSON object with the key "slurm-kube",
 * and for text that begins like one, even if it is malformed: otherwise a forged marker could pass
 * as an ordinary comment because it only looks malformed to this parser. An ordinary comment may
 * contain both the name and a brace.
 */
bool looks_like_marker(std::string_view text);

/* The same as a JSON object, for link_encode.cc and link_decode.cc. */
Json marker_to_json(const core::Marker &marker);
Result<core::Marker> marker_from_json(json_object *object);

} // namespace slurmkube::codec

#endif
