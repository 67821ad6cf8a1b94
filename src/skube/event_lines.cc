/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/event_lines.h"

#include <array>
#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace slurmkube::skube
{

namespace
{

using Clock = std::chrono::steady_clock;

/* A row takes less than 10 KiB. */
constexpr std::size_t k_line_max = std::size_t{1} << 20;

} // namespace

EventLines::Got EventLines::read_some(std::chrono::milliseconds patience)
{
	std::array<pollfd, 2> watched{pollfd{connection_.get(), POLLIN, 0}, pollfd{output_, 0, 0}};
	if (poll(watched.data(), watched.size(), static_cast<int>(patience.count())) <= 0)
		return Got::silence;
	if (watched[1].revents != 0)
		return Got::no_reader;
	std::array<char, 65536> piece;
	const ssize_t got = read(connection_.get(), piece.data(), piece.size());
	if (got <= 0)
		return Got::end;
	text_.erase(0, std::exchange(start_, 0));
	text_.append(piece.data(), static_cast<std::size_t>(got));
	return text_.size() > k_line_max && !has_line() ? Got::too_long : Got::line;
}

EventLines::Got EventLines::take(std::string &line, std::chrono::milliseconds patience)
{
	const auto until = Clock::now() + patience;
	while (!has_line()) {
		const auto left =
			std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
		const Got got = left.count() > 0 ? read_some(left) : Got::silence;
		if (got != Got::line)
			return got;
	}
	const std::size_t end = text_.find('\n', start_);
	line = text_.substr(start_, end - start_);
	start_ = end + 1;
	return Got::line;
}

} // namespace slurmkube::skube
