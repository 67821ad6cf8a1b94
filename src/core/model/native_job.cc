/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/native_job.h"

#include "src/base/digits.h"

#include <charconv>

namespace slurmkube::core
{

namespace
{

/* Takes a number and the colon behind it. */
template <class T> bool take_number(std::string_view &text, T &number)
{
	if (text.empty() || !is_digit(text.front()))
		return false;
	const char *const end = text.data() + text.size();
	const auto [after, error] = std::from_chars(text.data(), end, number);
	if (error != std::errc() || after == end || *after != ':')
		return false;
	text.remove_prefix(static_cast<std::size_t>(after - text.data()) + 1);
	return true;
}

} // namespace

std::string text_of(const NativeMark &mark)
{
	return std::to_string(mark.job.number) + ":" + std::to_string(mark.user_id) + ":" +
		std::to_string(mark.restarts) + ":" + std::to_string(mark.start) + ":" +
		mark.cluster;
}

std::optional<NativeMark> mark_from_text(std::string_view text)
{
	NativeMark mark;
	const bool ok = take_number(text, mark.job.number) && take_number(text, mark.user_id) &&
		take_number(text, mark.restarts) && take_number(text, mark.start) &&
		text.find_first_of(": \t\n") == std::string_view::npos;
	mark.cluster = text;
	return ok && mark.job.number > 0 && mark.start > 0 ? std::optional(mark) : std::nullopt;
}

} // namespace slurmkube::core
