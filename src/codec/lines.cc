/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/lines.h"

namespace slurmkube::codec
{

void LineReader::add(std::string_view bytes)
{
	/* Delivered lines are dropped here, not in next(): its views stay valid until now. */
	buffer_.erase(0, begin_);
	scanned_ -= begin_;
	begin_ = 0;
	buffer_ += bytes;
}

std::optional<std::string_view> LineReader::next()
{
	while (!too_long_) {
		const std::size_t newline = buffer_.find('\n', scanned_);
		const std::size_t end = newline == std::string::npos ? buffer_.size() : newline;
		if (end - begin_ > longest_) {
			too_long_ = true;
			return std::nullopt;
		}
		if (newline == std::string::npos) {
			scanned_ = end;
			return std::nullopt;
		}
		std::string_view line(buffer_.data() + begin_, end - begin_);
		begin_ = scanned_ = newline + 1;
		if (!line.empty() && line.back() == '\r')
			line.remove_suffix(1);
		if (!line.empty())
			return line;
	}
	return std::nullopt;
}

} // namespace slurmkube::codec
