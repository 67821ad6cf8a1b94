/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rows.h - the columns and words of rows that kubectl prints with --output jsonpath.
 */
#ifndef SLURMKUBE_SKUBE_ROWS_H
#define SLURMKUBE_SKUBE_ROWS_H

#include "src/base/programs.h"

#include <algorithm>
#include <sstream>
#include <string>

namespace slurmkube::skube
{

/* The columns of a row, as many as wanted; the last one has all that is left, also separators. */
inline Words columns(const std::string &row, std::size_t count)
{
	Words all;
	for (std::size_t begin = 0; all.size() < count;) {
		const bool is_last = all.size() + 1 == count;
		const std::size_t end =
			is_last ? row.size() : std::min(row.find('|', begin), row.size());
		all.push_back(begin > row.size() ? "" : row.substr(begin, end - begin));
		begin = end + 1;
	}
	return all;
}

inline Words words_of(const std::string &text)
{
	Words all;
	std::istringstream in(text);
	for (std::string one; in >> one;)
		all.push_back(one);
	return all;
}

inline bool has(const Words &words, const std::string &one)
{
	return std::ranges::find(words, one) != words.end();
}

} // namespace slurmkube::skube

#endif
