/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/marker_copy.h"

#include "src/codec/marker.h"

namespace slurmkube::plugin
{

namespace
{

std::optional<core::Marker> read(std::string_view text)
{
	if (!codec::looks_like_marker(text))
		return std::nullopt;
	auto marker = codec::marker_from_text(text);
	return marker ? std::optional(std::move(*marker)) : std::nullopt;
}

std::string_view trimmed(std::string_view text)
{
	const std::size_t first = text.find_first_not_of(" \t\r\n");
	return first == std::string_view::npos
		? std::string_view()
		: text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/* A marker contains ASCII only. A site's text may have any encoding, so other bytes become '?'. */
std::string as_note(std::string_view text)
{
	std::string note(trimmed(text));
	for (char &c : note)
		if (static_cast<unsigned char>(c) >= 0x80)
			c = '?';
	return note;
}

/* The text that a script has put before or after the marker. */
std::string around(std::string_view marker_text, std::string_view text)
{
	const std::size_t at =
		marker_text.empty() ? std::string_view::npos : text.find(marker_text);
	if (at == std::string_view::npos)
		return as_note(text);
	return as_note(std::string(trimmed(text.substr(0, at))) + " " +
		std::string(trimmed(text.substr(at + marker_text.size()))));
}

} // namespace

/* JSON contains a brace, however the rest is written. */
bool may_claim_marker(const MarkerTexts &texts) noexcept
{
	return texts.admin_comment.find('{') != std::string_view::npos ||
		texts.copy.find('{') != std::string_view::npos;
}

bool claims_marker(const MarkerTexts &texts)
{
	return codec::looks_like_marker(texts.admin_comment) ||
		codec::looks_like_marker(texts.copy);
}

std::optional<core::Marker> marker_of(const MarkerTexts &texts)
{
	std::optional<core::Marker> comment = read(texts.admin_comment), copy = read(texts.copy);
	if (!copy || (comment && same_identity(*comment, *copy)))
		return comment;
	std::string note = around(texts.copy, texts.admin_comment);
	if (!codec::looks_like_marker(note))
		copy->note = std::move(note);
	return copy;
}

std::optional<core::Marker> with_text(
	const core::Marker &marker, std::string_view marker_text, std::string_view text)
{
	if (std::optional<core::Marker> wanted = read(text)) {
		if (!same_identity(*wanted, marker))
			return std::nullopt;
		if (wanted->note.empty())
			wanted->note = marker.note;
		return wanted;
	}
	core::Marker noted = marker;
	noted.note = around(marker_text, text);
	return codec::looks_like_marker(noted.note) ? std::nullopt
						    : std::optional(std::move(noted));
}

std::string comment_of(const core::Marker &marker)
{
	return codec::marker_to_fitting_text(marker);
}

std::string copy_of(core::Marker marker)
{
	marker.note.clear();
	return codec::marker_to_text(marker);
}

MarkerFault fault_of(const MarkerTexts &texts, const core::Marker &marker)
{
	std::optional<core::Marker> comment = read(texts.admin_comment), copy = read(texts.copy);
	return {!comment || !same_identity(*comment, marker),
		!copy || !same_identity(*copy, marker)};
}

bool same_identity(const core::Marker &a, const core::Marker &b)
{
	return a.attempt == b.attempt && a.uid == b.uid && a.cluster == b.cluster;
}

} // namespace slurmkube::plugin
