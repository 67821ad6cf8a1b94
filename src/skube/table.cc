/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/table.h"

#include "src/base/text.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace slurmkube::skube
{

namespace
{

constexpr char k_no_color[] = "\x1b[0m";
constexpr std::string_view k_cut = "...";

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

/* At most the characters that are left of the width, of which `used` are taken. */
std::string cut(const std::string &text, std::size_t width, std::size_t used)
{
	constexpr std::size_t least = 16;
	const std::size_t room = std::max(width > used ? width - used : 0, least);
	if (width == 0 || width_of(text) <= room)
		return text;
	std::size_t end = 0;
	for (std::size_t seen = 0; end < text.size(); end++) {
		const bool starts = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
		if (starts && ++seen > room - k_cut.size())
			break;
	}
	return text.substr(0, end) + std::string(k_cut);
}

/* Red for what went wrong, yellow for what does not run; nullptr for the rest. The text may have
 * several words: "IDLE+DRAIN", "Ready,cordoned". */
const char *color_of(const std::string &state)
{
	for (const char *bad : {"FAIL", "Failed", "TIMEOUT", "OUT_OF_MEMORY", "DEADLINE", "DOWN",
		     "NotReady", "ERROR", "ABSENT", "absent"})
		if (state.find(bad) != std::string::npos)
			return "\x1b[31m";
	for (const char *waits : {"PENDING", "Pending", "SUSPENDED", "PREEMPTED", "CANCELLED",
		     "DRAIN", "cordoned", "UNKNOWN", "Unknown", "unknown"})
		if (state.find(waits) != std::string::npos)
			return "\x1b[33m";
	return nullptr;
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

std::vector<std::size_t> Table::widths() const
{
	std::vector<std::size_t> widths;
	for (std::size_t i = 0; i < columns_.size(); i++) {
		widths.push_back(width_of(columns_[i].title));
		for (const auto &row : rows_)
			widths[i] = std::max(widths[i], width_of(row[i]));
	}
	return widths;
}

std::string Table::line(const std::vector<std::string> &cells,
	const std::vector<std::size_t> &widths, TextStyle style) const
{
	std::string line;
	std::size_t used = 0;
	for (std::size_t i = 0; i < cells.size(); i++) {
		const bool is_last = i + 1 == cells.size();
		std::string cell = padded(cells[i], widths[i], columns_[i].right);
		if (is_last && !columns_[i].right)
			cell = cut(cells[i], style.width, used);
		used += widths[i] + 2;
		const char *color =
			style.has_color && columns_[i].is_state ? color_of(cells[i]) : nullptr;
		line += (i ? "  " : "") + (color ? color + cell + k_no_color : cell);
	}
	trim_right(line);
	return line + "\n";
}

std::string Table::titles_text(TextStyle style, const std::vector<std::size_t> &widths) const
{
	std::vector<std::string> titles;
	for (const Column &column : columns_)
		titles.push_back(column.title);
	return line(titles, widths, {.width = style.width});
}

std::string Table::text(TextStyle style) const
{
	std::vector<std::size_t> needed;
	const std::string rows = rows_text(style, needed);
	return titles_text(style, needed) + rows;
}

std::string Table::rows_text(TextStyle style, std::vector<std::size_t> &earlier) const
{
	const std::vector<std::size_t> needed = widths();
	earlier.resize(needed.size());
	for (std::size_t i = 0; i < needed.size(); i++)
		earlier[i] = std::max(earlier[i], needed[i]);
	std::string all;
	for (const auto &row : rows_)
		all += line(row, earlier, style);
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

std::string age_text(std::int64_t seconds)
{
	constexpr std::int64_t minute = 60, hour = 60 * minute, day = 24 * hour;
	seconds = std::max<std::int64_t>(seconds, 0);
	const auto two = [seconds](std::int64_t large, const char *unit, std::int64_t small,
				 const char *rest) {
		const std::int64_t more = seconds % large / small;
		return std::to_string(seconds / large) + unit +
			(more ? std::to_string(more) + rest : "");
	};
	if (seconds < 2 * minute)
		return std::to_string(seconds) + "s";
	if (seconds < hour)
		return two(minute, "m", 1, "s");
	if (seconds < day)
		return two(hour, "h", minute, "m");
	return seconds < 100 * day ? two(day, "d", hour, "h") : std::to_string(seconds / day) + "d";
}

} // namespace slurmkube::skube
