/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_wire.cc - objects in protobuf: the wire format, the envelope, the schema and events.
 * component/kube (wire_tests.py) compares what a real server sends with its JSON.
 */
#include "src/codec/list_page.h"
#include "src/codec/pod.h"
#include "src/codec/pod_schema.h"
#include "src/codec/protobuf.h"
#include "src/codec/view.h"
#include "src/codec/wire.h"
#include "testsuite/unit/check.h"

#include <functional>

using namespace slurmkube;
using namespace slurmkube::codec;

namespace
{

constexpr std::size_t k_most = 1 << 20;

std::string varint(std::uint64_t value)
{
	std::string out;
	for (; value >= 0x80; value >>= 7)
		out += static_cast<char>(value | 0x80);
	return out + static_cast<char>(value);
}

std::string field(std::uint32_t number, const std::string &bytes)
{
	return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}

std::string number_field(std::uint32_t number, std::uint64_t value)
{
	return varint(number << 3) + varint(value);
}

std::string envelope(const std::string &kind, const std::string &raw)
{
	return std::string("k8s\0", 4) + field(1, field(1, "v1") + field(2, kind)) + field(2, raw) +
		field(3, "") + field(4, "");
}

/* A pod with the fields that every pod has. */
std::string pod_message(const std::string &name, const std::string &more_metadata = "")
{
	return field(1,
		       field(1, name) + field(2, "") + field(3, "d") + field(5, "u-" + name) +
			       field(6, "12") + more_metadata) +
		field(2, field(10, "") + field(19, "slurm")) + field(3, field(1, "Pending"));
}

std::string pod(const std::string &name, const std::string &more_metadata = "")
{
	return envelope("Pod", pod_message(name, more_metadata));
}

std::string event(const std::string &type, const std::string &object)
{
	return field(1, type) + field(2, field(1, object));
}

std::string text_of(const std::string &bytes)
{
	const auto object = object_from_wire(bytes, k_most);
	return object ? to_text(object->get()) : object.error().what;
}

constexpr char k_pod_text[] =
	R"({"metadata":{"name":"p","namespace":"d","uid":"u-p","resourceVersion":"12"},)"
	R"("spec":{"schedulerName":"slurm"},"status":{"phase":"Pending"}})";

void a_pod_is_what_is_read_of_it()
{
	CHECK_EQUAL(text_of(pod("p")), k_pod_text);
	const std::string managed = field(17, field(1, "kubelet") + field(2, "Update")),
			  generation = number_field(7, 3),
			  owner_fixed = varint(30 << 3 | 1) + "12345678";
	CHECK_EQUAL(text_of(pod("p", managed + generation + owner_fixed)), k_pod_text);
	CHECK_EQUAL(text_of(k_pod_text), k_pod_text);
}

void maps_times_and_empty_texts_are_as_in_json()
{
	const std::string labels = field(11, field(1, "a") + field(2, "b")) +
		field(11, field(1, "empty")) + field(11, field(1, "a") + field(2, "later"));
	const std::string times = field(8, number_field(1, 1795230537)) + field(9, "");
	const auto object = object_from_wire(pod("p", labels + times), k_most);
	REQUIRE(object.ok());
	json_object *metadata = get(object->get(), "metadata");
	CHECK_EQUAL(to_text(get(metadata, "labels")), R"({"a":"later","empty":""})");
	CHECK_EQUAL(get_string(metadata, "creationTimestamp"), "2026-11-21T03:08:57Z");
	CHECK(get(metadata, "deletionTimestamp") == nullptr); /* the zero time */
}

/* The grace period tells when a deleted pod has held an ended job for too long. */
void a_deletion_has_its_grace()
{
	const std::string deleted = field(9, number_field(1, 1795230537)) + number_field(10, 3600);
	const auto object = object_from_wire(pod("p", deleted), k_most);
	REQUIRE(object.ok());
	const auto read = pod_from_json(object->get());
	REQUIRE(read.ok());
	CHECK(read->deleting);
	CHECK_EQUAL(read->deletion_grace_seconds, 3600);
}

void numbers_keep_their_sign()
{
	const std::string ended =
		number_field(1, static_cast<std::uint64_t>(std::int64_t{-1})) + number_field(2, 9);
	const std::string status = field(8, field(1, "main") + field(2, field(3, ended)));
	const auto object = object_from_wire(envelope("Pod", field(3, status)), k_most);
	REQUIRE(object.ok());
	json_object *end = get(array_at(get(object->get(), "status", "containerStatuses"), 0),
		"state", "terminated");
	CHECK_EQUAL(get_int(end, "exitCode"), -1);
	CHECK_EQUAL(get_int(end, "signal"), 9);
}

void lists_say_where_they_go_on()
{
	const std::string metadata = field(1, "") + field(2, "77"),
			  items = field(2, pod_message("a")) + field(2, pod_message("b"));
	const std::string last = envelope("PodList", field(1, metadata + field(3, "")) + items),
			  more = envelope(
				  "PodList", field(1, metadata + field(3, "tok_-==")) + items);
	const auto list = object_from_wire(more, k_most);
	REQUIRE(list.ok());
	CHECK_EQUAL(array_size(get(list->get(), "items")), 2U);
	CHECK_EQUAL(get_string(get(list->get(), "metadata"), "resourceVersion"), "77");
	CHECK_EQUAL(next_page_of(more), "tok_-==");
	CHECK_EQUAL(next_page_of(last), "");
	CHECK_EQUAL(next_page_of(more.substr(0, 20)), "");
}

void events_have_a_type_and_an_object()
{
	const auto made = event_from_wire(event("ADDED", pod("p")), k_most);
	REQUIRE(made.ok());
	CHECK_EQUAL(to_text(made->get()),
		std::string(R"({"type":"ADDED","object":)") + k_pod_text + "}");
	const std::string gone = field(2, "Failure") + field(3, "too old") + field(4, "Expired") +
		number_field(6, 410);
	const auto failed = event_from_wire(event("ERROR", envelope("Status", gone)), k_most);
	REQUIRE(failed.ok());
	CHECK_EQUAL(get_int(get(failed->get(), "object"), "code"), 410);
	CHECK_EQUAL(get_string(get(failed->get(), "object"), "reason"), "Expired");
	CHECK(event_from_wire(R"({"type":"ADDED","object":{}})", k_most).ok());
}

/* What cannot be parsed is an error, never an incomplete object. */
void what_is_not_understood_is_refused()
{
	const std::string whole = pod("p");
	for (std::size_t size = 0; size < whole.size() - field(3, "").size() - field(4, "").size();
		size++)
		CHECK(!object_from_wire(whole.substr(0, size), k_most).ok());
	CHECK(object_from_wire(whole, whole.size() - 1).error().code == Errc::too_large);
	CHECK(event_from_wire(event("ADDED", whole), 10).error().code == Errc::too_large);
	const std::string wrong[] = {
		envelope("Secret", pod_message("p")),                 /* nobody reads such */
		std::string("k8s\0", 4) + field(2, pod_message("p")), /* of no kind */
		envelope("Pod", field(1, number_field(1, 7))),        /* a name that is a number */
		envelope("Pod",
			field(1,
				varint(1 << 3 | 5) +
					"1234")), /* a name of four bytes without a length */
		envelope("Pod", field(2, field(4, "x"))),      /* a number that is a text */
		envelope("Pod", field(1, varint(1 << 3 | 3))), /* a group */
		envelope("Pod", field(0, "x")),                /* no field has this number */
		envelope("Pod",
			std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
				11)),                         /* longer than the message */
		envelope("Pod", std::string(11, '\xff')),     /* an unterminated tag */
		envelope("Pod", field(1, field(11, "\x0a"))), /* half an entry */
		std::string("k8s\0", 4) + field(1, field(2, "Pod")) + field(2, pod_message("p")) +
			field(3, "gzip"),
	};
	for (const std::string &bytes : wrong)
		CHECK(object_from_wire(bytes, k_most).error().code == Errc::invalid);
	for (const std::string &frame : {std::string("x"), field(1, "ADDED"), event("ADDED", "{}"),
		     event("ADDED", whole).substr(0, 30)})
		CHECK(event_from_wire(frame, k_most).error().code == Errc::invalid);
}

/* Reading a field that no ProtoSchema names does not compile. */
static_assert(!find_member(schema::k_metadata, "managedFields").is_there);
static_assert(find_member(schema::k_volume, "ephemeral").member.number == 29);

/* Where JSON contains more, readers see only what protobuf carries. */
void views_read_what_json_says()
{
	const auto json =
		parse_json(R"({"spec":{"nodeName":"n","volumes":[{"name":"v","ephemeral":{}}],
		"containers":[{"name":"a"},{"name":"b"}]},"metadata":{"annotations":{"k":"v"}}})",
			k_most);
	REQUIRE(json.ok());
	const View<schema::k_pod> pod(json->get());
	const auto spec = pod.object<"spec">();
	CHECK_EQUAL(spec.text<"nodeName">(), "n");
	CHECK_EQUAL(spec.text<"schedulerName">("none"), "none");
	CHECK_EQUAL(spec.integer<"activeDeadlineSeconds">(7), 7);
	CHECK(spec.objects<"volumes">()[0].has<"ephemeral">());
	CHECK(!spec.objects<"volumes">()[0].object<"persistentVolumeClaim">());
	CHECK(!spec.objects<"volumes">()[1]);
	CHECK_EQUAL(pod.object<"metadata">().entry<"annotations">("k"), "v");
	std::string names;
	for (const auto container : spec.objects<"containers">())
		names += container.text<"name">();
	CHECK_EQUAL(names, "ab");
	CHECK_EQUAL(pod.object<"status">().text<"phase">(), "");
}

/* object_of() recurses as deep as the schemas do. */
void shapes_have_an_end()
{
	constexpr int deepest = 12;
	const std::function<int(const ProtoSchema &, int)> depth = [&](const ProtoSchema &schema,
									   int at) {
		int most = at;
		for (const Member &member : schema.members) {
			const bool has_shape = member.as == As::object ||
				member.as == As::objects || member.as == As::inlined;
			CHECK_EQUAL(member.schema != nullptr, has_shape);
			if (member.schema != nullptr && at < deepest)
				most = std::max(most, depth(*member.schema, at + 1));
		}
		return most;
	};
	for (const char *kind : {"Pod", "PodList", "Status"}) {
		REQUIRE(schema_of(kind) != nullptr);
		CHECK(depth(*schema_of(kind), 1) < deepest);
	}
	CHECK(schema_of("Node") == nullptr);
}

} // namespace

int main()
{
	return check::run_tests("wire",
		{
			TEST(a_pod_is_what_is_read_of_it),
			TEST(maps_times_and_empty_texts_are_as_in_json),
			TEST(a_deletion_has_its_grace),
			TEST(numbers_keep_their_sign),
			TEST(lists_say_where_they_go_on),
			TEST(events_have_a_type_and_an_object),
			TEST(what_is_not_understood_is_refused),
			TEST(views_read_what_json_says),
			TEST(shapes_have_an_end),
		});
}
