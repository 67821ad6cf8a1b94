/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/marker.h"

#include "src/codec/fields.h"
#include "src/core/model/names.h"

#include <algorithm>

namespace slurmkube::codec
{

namespace
{

constexpr char k_version_key[] = "slurm-kube";
constexpr std::uint32_t k_id_limit = 0xfffffffe; /* this and the next are Slurm's "not set" */

bool is_plain(std::string_view text)
{
	return std::none_of(text.begin(), text.end(),
		[](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

void check_words(const core::Marker &m, Fields &fields)
{
	const struct {
		const char *key;
		const std::string &value;
	} words[] = {{"cluster", m.cluster}, {"namespace", m.name_space}, {"name", m.name},
		{"kind", m.kind}, {"uid", m.uid}};
	for (const auto &word : words) {
		if (word.value.empty())
			fields.fail(std::string("key '") + word.key + "' is empty");
		if (!is_plain(word.value))
			fields.fail(std::string("key '") + word.key + "' has control characters");
	}
	if (!is_plain(m.options))
		fields.fail("key 'options' has control characters");
	if (!is_plain(m.cluster_uid))
		fields.fail("key 'cluster_uid' has control characters");
}

void check_numbers(const core::Marker &m, Fields &fields)
{
	if (m.attempt == 0)
		fields.fail("key 'attempt' is 0");
	if (m.user_id >= k_id_limit || m.group_id >= k_id_limit)
		fields.fail("key 'user' or 'group' is out of range");
	if (m.since < 0)
		fields.fail("key 'since' is negative");
}

void read_keys(Fields &fields, core::Marker &m)
{
	fields.read("cluster", m.cluster);
	fields.read("namespace", m.name_space);
	fields.read("name", m.name);
	fields.read("kind", m.kind);
	fields.read("uid", m.uid);
	fields.read("attempt", m.attempt);
	fields.read("user", m.user_id);
	fields.read("group", m.group_id);
	fields.must(false);
	fields.read("options", m.options);
	fields.read("exclusions", m.exclusions);
	fields.read("note", m.note);
	fields.read("cluster_uid", m.cluster_uid);
	fields.read("given_up", m.given_up);
	fields.read("since", m.since);
	fields.read("ends_apart", m.ends_apart);
}

} // namespace

Json marker_to_json(const core::Marker &marker)
{
	Json object = new_object();
	put(object.get(), k_version_key, names::k_marker_version);
	put(object.get(), "cluster", marker.cluster);
	put(object.get(), "namespace", marker.name_space);
	put(object.get(), "name", marker.name);
	put(object.get(), "kind", marker.kind);
	put(object.get(), "uid", marker.uid);
	put(object.get(), "attempt", marker.attempt);
	put(object.get(), "user", marker.user_id);
	put(object.get(), "group", marker.group_id);
	if (!marker.cluster_uid.empty())
		put(object.get(), "cluster_uid", marker.cluster_uid);
	if (marker.given_up)
		put(object.get(), "given_up", true);
	if (marker.since > 0)
		put(object.get(), "since", marker.since);
	if (marker.ends_apart)
		put(object.get(), "ends_apart", true);
	if (!marker.options.empty())
		put(object.get(), "options", marker.options);
	if (!marker.exclusions.empty())
		put(object.get(), "exclusions", marker.exclusions);
	if (!marker.note.empty())
		put(object.get(), "note", marker.note);
	return object;
}

std::string marker_to_text(const core::Marker &marker)
{
	return to_text(marker_to_json(marker).get());
}

Result<core::Marker> marker_from_json(json_object *object)
{
	core::Marker marker;
	Fields fields(object, Need::required);
	int version = 0;
	fields.read(k_version_key, version);
	if (fields.ok() && version != names::k_marker_version)
		fields.fail("version " + std::to_string(version) + " is not known here");
	read_keys(fields, marker);
	if (fields.ok()) {
		check_words(marker, fields);
		check_numbers(marker, fields);
	}
	if (!fields.ok())
		return Error{Errc::invalid, "marker: " + fields.fault()};
	return marker;
}

Result<core::Marker> marker_from_text(std::string_view text)
{
	auto object = parse_json(text, k_marker_bytes_max);
	if (!object)
		return in_context("marker", object.error());
	return marker_from_json(object->get());
}

/* In steps: a byte of the note may be up to six of the text. */
std::string marker_to_fitting_text(core::Marker marker)
{
	constexpr std::size_t k_escaped_most = 6;
	marker.note.resize(std::min(marker.note.size(), k_marker_bytes_max));
	std::string text = marker_to_text(marker);
	while (text.size() > k_marker_bytes_max && !marker.note.empty()) {
		const std::size_t excess = text.size() - k_marker_bytes_max;
		marker.note.resize(marker.note.size() -
			std::min(marker.note.size(),
				(excess + k_escaped_most - 1) / k_escaped_most));
		text = marker_to_text(marker);
	}
	return text;
}

bool looks_like_marker(std::string_view text)
{
	const std::size_t first = text.find_first_not_of(" \t\r\n");
	if (text.find('{') == std::string_view::npos)
		return false; /* a note in words */
	if (text[first] == '{' && text.find(k_version_key) != std::string_view::npos)
		return true;
	/* JSON can write the key with escapes, "slurm\u002dkube", and a lenient reader takes
	 * comments before it */
	auto object = parse_json(text, k_marker_bytes_max);
	return object.ok() && get(object->get(), k_version_key) != nullptr;
}

} // namespace slurmkube::codec
