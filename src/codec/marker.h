/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * marker.h - the text in admin_comment that says for whom an external job stands
 * (doc/design/protocol.md, section 1).
 *
 * The plugin decides rights by it, so it is read strictly: every key present, of its type, without
 * control characters, at most k_marker_bytes_max in all. The texts of errors go to whoever
 * submitted the job.
 */
#ifndef SLURMKUBE_CODEC_MARKER_H
#define SLURMKUBE_CODEC_MARKER_H

#include "src/codec/json.h"
#include "src/core/model/job.h"

namespace slurmkube::codec
{

inline constexpr std::size_t k_marker_bytes_max = 1024;

std::string marker_to_text(const core::Marker &marker);
/* With as much of the note, which is ASCII, as k_marker_bytes_max leaves room for. */
std::string marker_to_fitting_text(core::Marker marker);

/* invalid: a sentence that names the key. too_large: longer than k_marker_bytes_max. */
Result<core::Marker> marker_from_text(std::string_view text);

/*
 * Does somebody want this text to be a marker? True for every JSON object with the key
 * "slurm-kube", and for what begins like one, well formed or not: a forger must not get by with a
 * text that only looks broken to us. A note in words may have both the name and a brace.
 */
bool looks_like_marker(std::string_view text);

/* The same as an object, for link.cc. */
Json marker_to_json(const core::Marker &marker);
Result<core::Marker> marker_from_json(json_object *object);

} // namespace slurmkube::codec

#endif
