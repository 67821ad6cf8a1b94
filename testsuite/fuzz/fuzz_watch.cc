/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_watch.cc - what an API server sends: chunks of bytes become frames, frames in JSON or
 * protobuf become events; list pages and Status objects.
 */
#include "src/agent/kube/client.h"
#include "src/codec/frames.h"
#include "src/codec/list_page.h"
#include "src/codec/managed_fields.h"
#include "src/codec/node.h"
#include "src/codec/pod.h"
#include "src/codec/wire.h"
#include "testsuite/fuzz/fuzz.h"

#include <vector>

using namespace slurmkube;
using namespace slurmkube::fuzz;

namespace
{

constexpr std::size_t k_longest = 2048;

struct Frames {
	std::vector<std::string> all;
	bool too_long = false;
};

/* step determines the sizes of the chunks; 0: everything at once. */
Frames frames_of(std::string_view bytes, std::size_t step)
{
	codec::FrameReader reader(k_longest);
	Frames frames;
	for (std::size_t size = step; !bytes.empty() && !reader.too_long();
		size = size * 3 % 31 + 1) {
		const std::size_t chunk = step == 0 ? bytes.size() : std::min(size, bytes.size());
		reader.add(bytes.substr(0, chunk));
		bytes.remove_prefix(chunk);
		while (auto frame = reader.next())
			frames.all.emplace_back(*frame);
		MUST(reader.too_long() || reader.pending() <= k_longest + 4);
	}
	frames.too_long = reader.too_long();
	return frames;
}

void take_object(json_object *object)
{
	const auto pod = codec::pod_from_json(object);
	MUST(says_why(pod));
	const auto node = codec::node_from_json(object);
	MUST(says_why(node));
	MUST(!pod || !pod->uid.text.empty());
	MUST(!node || !node->name.empty());
}

/* Empties every array named managedFields. */
void empty_managed_fields(json_object *value)
{
	for (std::size_t i = 0; i < codec::array_size(value); i++)
		empty_managed_fields(codec::array_at(value, i));
	if (!json_object_is_type(value, json_type_object))
		return;
	json_object_object_foreach(value, key, member)
	{
		if (std::string_view(key) == "managedFields" &&
			json_object_is_type(member, json_type_array))
			(void)json_object_array_del_idx(
				member, 0, json_object_array_length(member));
		else
			empty_managed_fields(member);
	}
}

/* without_managed_fields() removes managedFields, which the agent never reads, and nothing else. */
void take_cut(const std::string &line)
{
	const std::string cut = codec::without_managed_fields(line);
	MUST(cut.size() <= line.size());
	const auto whole = codec::parse_json(line, k_longest),
		   less = codec::parse_json(cut, k_longest);
	if (!whole)
		return;
	MUST(less.ok());
	empty_managed_fields(whole->get());
	empty_managed_fields(less->get()); /* an array written with spaces is not cut */
	MUST(codec::to_text(whole->get()) == codec::to_text(less->get()));
}

void take_line(const std::string &line)
{
	take_cut(line);
	const auto event = codec::parse_json(line, k_longest);
	MUST(says_why(event));
	if (!event)
		return;
	take_object(event->get());
	take_object(codec::get(event->get(), "object"));
	/* writing and reading again yields the same object */
	const std::string text = codec::to_text(event->get());
	MUST(text.find('\n') == std::string::npos);
	const auto again = codec::parse_json(text, 8 * k_longest);
	MUST(again.ok() && codec::to_text(again->get()) == text);
}

void take_list(json_object *list)
{
	json_object *items = codec::get(list, "items");
	for (std::size_t i = 0; i < codec::array_size(items); i++)
		take_object(codec::array_at(items, i));
}

/* Reads the bytes as Watch does, and as the errors of requests do. */
void take_wire(const std::string &bytes)
{
	const Error error = kube::error_of({500, bytes});
	MUST(!error.what.empty() && error.what.size() <= 2000);
	const auto object = codec::object_from_wire(bytes, k_longest),
		   event = codec::event_from_wire(bytes, k_longest);
	MUST(says_why(object) && says_why(event));
	if (object) {
		take_object(object->get());
		take_list(object->get());
		MUST(codec::next_page_of(bytes).size() < bytes.size() + 1);
	}
	if (event)
		take_object(codec::get(event->get(), "object"));
}

void take_frame(const std::string &frame)
{
	MUST(!frame.empty() && frame.size() <= k_longest);
	take_wire(frame);
	if (frame.find('\n') == std::string::npos)
		take_line(frame);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	Input input(data, size);
	const std::size_t step = input.byte() % 31 + 1U;
	const Frames whole = frames_of(input.rest(), 0), pieces = frames_of(input.rest(), step);
	MUST(whole.all == pieces.all && whole.too_long == pieces.too_long);
	for (const std::string &frame : whole.all)
		take_frame(frame);
	return 0;
}
