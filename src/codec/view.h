/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view.h - a JSON object of which only the fields in its ProtoSchema can be read.
 *
 * Objects from protobuf contain only the fields of the ProtoSchema. A reader of another field, or
 * of a field as another kind, does not compile; otherwise a field could be read from JSON and be
 * missing from protobuf. As in json.h, getters return the fallback for a member that is absent,
 * null or of a wrong type.
 */
#ifndef SLURMKUBE_CODEC_VIEW_H
#define SLURMKUBE_CODEC_VIEW_H

#include "src/codec/proto_schema.h"

#include <algorithm>
#include <map>
#include <string>

namespace slurmkube::codec
{

/* A field's name as a template argument. */
template <std::size_t N> struct Name {
	char text[N];
	/* NOLINTNEXTLINE(google-explicit-constructor) */
	consteval Name(const char (&from)[N]) { std::copy_n(from, N, text); }
};

struct FoundMember {
	Member member = {};
	bool is_there = false;
};

/* Also finds members of inlined messages. Returns by value, because with UBSan gcc does not accept
 * the comparison of an address as a constant. */
constexpr FoundMember find_member(const ProtoSchema &schema, std::string_view name)
{
	for (const Member &member : schema.members) {
		if (member.as != As::inlined && name == member.name)
			return {member, true};
		if (member.as != As::inlined)
			continue;
		if (const FoundMember inner = find_member(*member.schema, name); inner.is_there)
			return inner;
	}
	return {};
}

template <const ProtoSchema &S> class Views;

template <const ProtoSchema &S> class View
{
      public:
	View(json_object *object) : object_(object) {} /* NOLINT(google-explicit-constructor) */
	/* Whether the object exists. */
	explicit operator bool() const { return object_ != nullptr; }

	template <Name N> [[nodiscard]] bool has() const
	{
		return get(object_, member<N>().name) != nullptr;
	}
	template <Name N> [[nodiscard]] std::string text(std::string_view fallback = {}) const
	{
		return get_string(object_, of_kind<N, As::text, As::time>(), fallback);
	}
	template <Name N> [[nodiscard]] std::int64_t integer(std::int64_t fallback = 0) const
	{
		return get_int(object_, of_kind<N, As::integer>(), fallback);
	}
	template <Name N> [[nodiscard]] bool boolean() const
	{
		return get_bool(object_, of_kind<N, As::boolean>());
	}
	/* An array of texts, or an object whose members are texts or quantities. Borrowed. */
	template <Name N> [[nodiscard]] json_object *values() const
	{
		return get(object_, of_kind<N, As::texts, As::text_map, As::amount_map>());
	}
	/* One member of an object whose members are texts; empty: there is none. */
	template <Name N> [[nodiscard]] std::string entry(const char *key) const
	{
		return get_string(get(object_, of_kind<N, As::text_map>()), key);
	}
	template <Name N> [[nodiscard]] auto object() const
	{
		return View<*member<N>().schema>(get(object_, of_kind<N, As::object>()));
	}
	template <Name N> [[nodiscard]] auto objects() const
	{
		return Views<*member<N>().schema>(get(object_, of_kind<N, As::objects>()));
	}

      private:
	template <Name N> static consteval Member member()
	{
		constexpr FoundMember found = find_member(S, N.text);
		static_assert(found.is_there, "the ProtoSchema has no such field: name it there");
		return found.member;
	}
	template <Name N, As... Kinds> static consteval const char *of_kind()
	{
		static_assert(
			((member<N>().as == Kinds) || ...), "the ProtoSchema says another kind");
		return member<N>().name;
	}
	json_object *object_; /* borrowed */
};

/* An array of objects with the same ProtoSchema. */
template <const ProtoSchema &S> class Views
{
      public:
	struct Iterator {
		json_object *array;
		std::size_t at;
		View<S> operator*() const { return View<S>(array_at(array, at)); }
		Iterator &operator++()
		{
			at++;
			return *this;
		}
		bool operator==(const Iterator &) const = default;
	};
	Views(json_object *array) : array_(array) {} /* NOLINT(google-explicit-constructor) */
	[[nodiscard]] std::size_t size() const { return array_size(array_); }
	[[nodiscard]] View<S> operator[](std::size_t i) const
	{
		return View<S>(array_at(array_, i));
	}
	[[nodiscard]] Iterator begin() const { return {array_, 0}; }
	[[nodiscard]] Iterator end() const { return {array_, size()}; }

      private:
	json_object *array_; /* borrowed */
};

} // namespace slurmkube::codec

#endif
