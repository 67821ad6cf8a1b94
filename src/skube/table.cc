/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/table.h"

#include "src/base/text.h"

#include <algorithm>
#include <cstdio>

namespace slurmkube::skube
{

namespace
{

/* Names of pods and reasons must not send control sequences to a terminal. */
std::string cell_text(std::string text)
{
	return text.empty() ? "-" : printable(std::move(text));
}

/* Counts characters and not bytes: continuation bytes of UTF-8 have no width. */
std::size_t width_of(const std::string &text)
{
	return static_cast<std::size_t>(std::count_if(text.begin(), text.end(),
		[](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::string &text, std::size_t width, bool right)
{
	const std::string blanks(width - std::min(width, width_of(text)), ' ');
	return right ? blanks + text : text + blanks;
}

void trim_right(std::string &line)
{
	line.erase(line.find_last_not_of(' ') + 1);
}

} // namespace

void Table::add(std::vector<std::string> cells)
{
	cells.resize(columns_.size());
	std::transform(cells.begin(), cells.end(), cells.begin(), cell_text);
	rows_.push_back(std::move(cells));
}

std::string Table::text() const
{
	std::vector<std::size_t> widths;
	std::vector<std::string> titles;
	for (std::size_t i = 0; i < columns_.size(); i++) {
		titles.push_back(columns_[i].title);
		widths.push_back(width_of(columns_[i].title));
		for (const auto &row : rows_)
			widths[i] = std::max(widths[i], width_of(row[i]));
	}
	std::string all;
	const auto add_line = [&](const std::vector<std::string> &cells) {
		std::string line;
		for (std::size_t i = 0; i < cells.size(); i++)
			line += (i ? "  " : "") + padded(cells[i], widths[i], columns_[i].right);
		trim_right(line);
		all += line + "\n";
	};
	add_line(titles);
	for (const auto &row : rows_)
		add_line(row);
	return all;
}

std::string duration_text(std::int64_t seconds)
{
	constexpr std::int64_t minute = 60, hour = 60 * minute, day = 24 * hour;
	seconds = std::max<std::int64_t>(seconds, 0);
	const auto days = static_cast<long long>(seconds / day);
	const auto hours = static_cast<int>(seconds % day / hour),
		   minutes = static_cast<int>(seconds % hour / minute);
	const auto rest = static_cast<int>(seconds % minute);
	char text[64];
	if (days)
		(void)snprintf(
			text, sizeof(text), "%lld-%02d:%02d:%02d", days, hours, minutes, rest);
	else if (hours)
		(void)snprintf(text, sizeof(text), "%d:%02d:%02d", hours, minutes, rest);
	else
		(void)snprintf(text, sizeof(text), "%d:%02d", minutes, rest);
	return text;
}

} // namespace slurmkube::skube
