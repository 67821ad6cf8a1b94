/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.h - the small files in which the daemon, prologs and epilogs keep what they know.
 *
 * A file is replaced by rename(2), so a reader sees all of it or none.
 */
#ifndef SLURMKUBE_NODE_FILES_H
#define SLURMKUBE_NODE_FILES_H

#include "src/base/digits.h"
#include "src/base/result.h"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace slurmkube::node
{

/* Empty if the file cannot be read. */
std::vector<std::string> lines_in(const std::filesystem::path &file);
/* Without hidden files; empty if the directory cannot be read. */
std::vector<std::filesystem::path> files_in(const std::filesystem::path &directory);
/* io: not written. */
Result<Ok> replace_file(const std::filesystem::path &file, const std::string &content);

/* By CLOCK_BOOTTIME: unlike the wall clock, it makes no steps. */
std::int64_t seconds_since_boot();
std::int64_t seconds_since_epoch();

/* All of the text as a number without a sign. text: may be nullptr. */
template <class T> bool read_number(const char *text, T &number)
{
	if (!text || !is_digit(*text))
		return false;
	const char *const end = text + std::strlen(text);
	const auto [after, error] = std::from_chars(text, end, number);
	return error == std::errc() && after == end;
}

/* Letters, digits, - and _: may be a part of a file's name. */
bool is_plain_name(const std::string &name);

} // namespace slurmkube::node

#endif
