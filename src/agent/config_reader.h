/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_reader.h - strict reading of YAML values: each value has the right kind and range, or
 * there is an error with file, line and key.
 *
 * The reader does not stop at the first error: it records the error and leaves the output variable
 * unchanged. Tables of Key list the keys that a mapping may have; they are in config.cc and
 * config_*.cc.
 */
#ifndef SLURMKUBE_AGENT_CONFIG_READER_H
#define SLURMKUBE_AGENT_CONFIG_READER_H

#include "src/agent/kube/yaml_text.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slurmkube::agent
{

class Reader;
using Yaml = kube::YamlNode;

/* Limits and texts that several sections of the configuration share. */
inline constexpr std::int64_t k_day_seconds = std::int64_t{24} * 3600;
inline constexpr std::string_view k_name_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
inline constexpr char k_name[] = "a name of letters, digits, '-', '.' and '_'";

/* One key of a mapping that is read into a T. */
template <class T> struct Key {
	const char *name;
	void (*read)(Reader &reader, const Yaml &value, T &out);
	const char *former = nullptr; /* name in an earlier version; accepted with a note */
};

class Reader
{
      public:
	explicit Reader(std::string file_name) : file_name_(std::move(file_name)) {}

	/* Records "file:line: key: sentence"; key is the one that is being read. */
	void fail(std::size_t line, const std::string &sentence);
	void fail(const Yaml &at, const std::string &sentence) { fail(at.line(), sentence); }

	/* The same for a name that could not be looked up: the file itself may be right. */
	void fail_for_now(const Yaml &at, const std::string &sentence);
	/* Whether there are errors and all of them were recorded by fail_for_now(). */
	[[nodiscard]] bool failed_for_now() const
	{
		return !errors_.empty() && for_now_ == errors_.size();
	}

	/* The errors, sorted by line. */
	[[nodiscard]] std::vector<std::string> take_errors();
	/* Accepted values that should be changed: "file:line: key: sentence". */
	[[nodiscard]] std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

	/* Non-empty text without control characters. This function and those below return false
	 * after an error: the error has been recorded, out is unchanged. */
	bool text(const Yaml &value, std::string &out);
	/* Text of the given characters only. what describes the kind of text in errors: "a name of
	 * letters, digits, '-', '.' and '_'". */
	bool text_of(
		const Yaml &value, std::string_view characters, const char *what, std::string &out);
	bool path(const Yaml &value, std::string &out);
	bool boolean(const Yaml &value, bool &out);
	template <std::integral N>
	bool number(const Yaml &value, std::int64_t least, std::int64_t most, N &out)
	{
		std::int64_t read = 0;
		if (!integer(value, least, most, read))
			return false;
		out = static_cast<N>(read);
		return true;
	}
	bool text_list(const Yaml &value, std::string_view characters, const char *what,
		std::vector<std::string> &out);

	template <class T, std::size_t N>
	void mapping(const Yaml &value, const Key<T> (&keys)[N], T &out);

	/* To be called around each item of a list, so that errors say key[i]. */
	void enter(const std::string &name);
	void leave();

      private:
	bool integer(const Yaml &value, std::int64_t least, std::int64_t most, std::int64_t &out);
	/* false: an error has been recorded. names: the known keys. */
	bool key_fits(const Yaml &key, const std::string &name,
		const std::vector<std::string_view> &names, std::set<std::string> &seen);

	/* Records a note that the key has been renamed, and returns its present name. */
	std::string renamed(const Yaml &key, const char *name);

	std::string file_name_;
	std::vector<std::string> path_;
	std::vector<std::pair<std::size_t, std::string>> errors_; /* line, text */
	std::size_t for_now_ = 0;
	std::vector<std::string> notes_;
};

template <class T, std::size_t N>
void Reader::mapping(const Yaml &value, const Key<T> (&keys)[N], T &out)
{
	if (!value.is_mapping())
		return fail(value, "must be a mapping (key: value lines)");
	std::vector<std::string_view> names;
	for (const Key<T> &key : keys)
		names.emplace_back(key.name);
	std::set<std::string> seen;
	for (const auto &[key_node, member] : value.members()) {
		std::string name = key_node.text();
		for (const Key<T> &key : keys) {
			if (key.former && name == key.former)
				name = renamed(key_node, key.name);
		}
		if (!key_fits(key_node, name, names, seen))
			continue;
		enter(name);
		for (const Key<T> &key : keys) {
			if (name == key.name)
				key.read(*this, member, out);
		}
		leave();
	}
}

} // namespace slurmkube::agent

#endif
