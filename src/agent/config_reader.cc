/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/config_reader.h"

#include "src/base/text.h"

#include <algorithm>
#include <charconv>

namespace slurmkube::agent
{

namespace
{

std::string joined(const std::vector<std::string_view> &words)
{
	std::string all;
	for (const std::string_view word : words)
		all += (all.empty() ? "" : ", ") + std::string(word);
	return all;
}

bool has_control_character(std::string_view text)
{
	return std::any_of(text.begin(), text.end(),
		[](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

} // namespace

void Reader::fail(std::size_t line, const std::string &sentence)
{
	std::string key;
	for (const std::string &part : path_)
		key += (key.empty() || part.front() == '[' ? "" : ".") + part;
	errors_.emplace_back(line,
		file_name_ + ":" + std::to_string(line) + ": " + key + (key.empty() ? "" : ": ") +
			printable(sentence));
}

void Reader::fail_for_now(const Yaml &at, const std::string &sentence)
{
	for_now_++;
	fail(at, sentence);
}

std::vector<std::string> Reader::take_errors()
{
	std::stable_sort(errors_.begin(), errors_.end(),
		[](const auto &a, const auto &b) { return a.first < b.first; });
	std::vector<std::string> texts;
	for (auto &[line, text] : errors_)
		texts.push_back(std::move(text));
	errors_.clear();
	return texts;
}

void Reader::enter(const std::string &name)
{
	path_.push_back(name);
}

void Reader::leave()
{
	path_.pop_back();
}

std::string Reader::renamed(const Yaml &key, const char *name)
{
	std::string prefix;
	for (const std::string &part : path_)
		prefix += (prefix.empty() || part.starts_with('[') ? "" : ".") + part;
	prefix += prefix.empty() ? "" : ".";
	notes_.push_back(file_name_ + ":" + std::to_string(key.line()) + ": " + prefix +
		key.text() + ": is now called '" + name + "': rename it");
	return name;
}

bool Reader::key_fits(const Yaml &key, const std::string &name,
	const std::vector<std::string_view> &names, std::set<std::string> &seen)
{
	if (!key.is_scalar() || std::find(names.begin(), names.end(), name) == names.end()) {
		fail(key, "'" + name + "' is not a key here; known are " + joined(names));
		return false;
	}
	if (!seen.insert(name).second) {
		fail(key, "'" + name + "' stands here twice");
		return false;
	}
	return true;
}

bool Reader::text(const Yaml &value, std::string &out)
{
	const std::string read = value.text();
	if (!value.is_scalar() || read.empty() || has_control_character(read)) {
		fail(value, "must be a text on one line, not empty");
		return false;
	}
	out = read;
	return true;
}

bool Reader::text_of(
	const Yaml &value, std::string_view characters, const char *what, std::string &out)
{
	const std::string read = value.text();
	if (!value.is_scalar() || read.empty() ||
		read.find_first_not_of(characters) != std::string::npos) {
		fail(value, "'" + read + "' is not " + what);
		return false;
	}
	out = read;
	return true;
}

bool Reader::path(const Yaml &value, std::string &out)
{
	std::string read;
	if (!text(value, read))
		return false;
	if (read.front() != '/') {
		fail(value, "'" + read + "' is not an absolute path");
		return false;
	}
	out = read;
	return true;
}

bool Reader::boolean(const Yaml &value, bool &out)
{
	const std::string read = value.text();
	if (read != "true" && read != "false") {
		fail(value, "'" + read + "' is neither true nor false");
		return false;
	}
	out = read == "true";
	return true;
}

bool Reader::integer(const Yaml &value, std::int64_t least, std::int64_t most, std::int64_t &out)
{
	const std::string read = value.text();
	std::int64_t number = 0;
	const auto [end, error] = std::from_chars(read.data(), read.data() + read.size(), number);
	if (error != std::errc() || end != read.data() + read.size() || number < least ||
		number > most) {
		fail(value,
			"'" + read + "' is not a number from " + std::to_string(least) + " to " +
				std::to_string(most));
		return false;
	}
	out = number;
	return true;
}

bool Reader::text_list(const Yaml &value, std::string_view characters, const char *what,
	std::vector<std::string> &out)
{
	if (!value.is_sequence()) {
		fail(value, "must be a list, as in [one, two]");
		return false;
	}
	std::vector<std::string> read;
	bool fine = true;
	for (const Yaml &item : value.items()) {
		std::string word;
		if (text_of(item, characters, what, word))
			read.push_back(word);
		else
			fine = false;
	}
	if (fine)
		out = std::move(read);
	return fine;
}

} // namespace slurmkube::agent
