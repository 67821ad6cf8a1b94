/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fields.h - reads the members of one JSON object into C++ values, strictly.
 *
 * For our own formats (marker, link), where a wrong type is a fault of the writer and must not be
 * read as a default. The first fault is kept and names its key; later reads still work, so a
 * decoder checks once, at its end. An output is untouched unless its key was fine.
 */
#ifndef SLURMKUBE_CODEC_FIELDS_H
#define SLURMKUBE_CODEC_FIELDS_H

#include "src/codec/json.h"

#include <concepts>
#include <limits>

namespace slurmkube::codec
{

enum class Need { optional, required };

class Fields
{
      public:
	/* Borrowed for the life of the reader. Anything but an object is a fault. */
	explicit Fields(json_object *object, Need unnamed = Need::optional);

	void read(const char *key, std::string &out);
	void read(const char *key, bool &out);
	void read(const char *key, double &out);
	template <std::integral T> void read(const char *key, T &out)
	{
		std::int64_t value = 0;
		/* what does not fit T is a fault, never cut */
		if (integer(key, value, low<T>(), high<T>()))
			out = static_cast<T>(value);
	}

	/* The key must be there from here on; must(false) undoes it. */
	void must(bool required) { need_ = required ? Need::required : Need::optional; }
	void fail(const std::string &what);

	[[nodiscard]] bool ok() const { return fault_.empty(); }
	[[nodiscard]] const std::string &fault() const { return fault_; }

      private:
	template <class T> static constexpr std::int64_t low()
	{
		return std::is_signed_v<T>
			? static_cast<std::int64_t>(std::numeric_limits<T>::min())
			: 0;
	}
	template <class T> static constexpr std::int64_t high()
	{
		return sizeof(T) < sizeof(std::int64_t)
			? static_cast<std::int64_t>(std::numeric_limits<T>::max())
			: std::numeric_limits<std::int64_t>::max();
	}
	json_object *member(const char *key, json_type type, const char *type_name);
	bool integer(const char *key, std::int64_t &out, std::int64_t least, std::int64_t most);

	json_object *object_;
	Need need_;
	std::string fault_;
};

} // namespace slurmkube::codec

#endif
