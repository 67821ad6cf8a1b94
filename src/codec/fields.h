/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fields.h - a strict reader for the members of one JSON object.
 *
 * For slurm-kube's own formats (marker, link), where a wrong type is an error of the writer and
 * must not be read as a default. The reader keeps the first error, which names its key. Later reads
 * still work, so a decoder checks once, at the end. An output is only written if its key is valid.
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
	/* The object is borrowed for the life of the reader. A value that is not an object is an
	 * error. unnamed: whether keys are required until must() is called. */
	explicit Fields(json_object *object, Need unnamed = Need::optional);

	void read(const char *key, std::string &out);
	void read(const char *key, bool &out);
	void read(const char *key, double &out);
	template <std::integral T> void read(const char *key, T &out)
	{
		std::int64_t value = 0;
		/* a number that does not fit T is an error and is not truncated */
		if (integer(key, value, low<T>(), high<T>()))
			out = static_cast<T>(value);
	}

	[[nodiscard]] bool has(const char *key) const { return get(object_, key) != nullptr; }

	/* must(true): from here on every key is required. must(false): keys are optional. */
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
