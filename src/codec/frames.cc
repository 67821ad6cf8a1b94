/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/frames.h"

namespace slurmkube::codec
{

namespace
{

constexpr std::size_t k_length_bytes = 4;

std::size_t big_endian(std::string_view bytes)
{
	std::size_t value = 0;
	for (const char byte : bytes)
		value = value << 8 | static_cast<unsigned char>(byte);
	return value;
}

} // namespace

void FrameReader::add(std::string_view bytes)
{
	/* Delivered frames are dropped here and not in next(), so that its views stay valid until
	 * this call. */
	buffer_.erase(0, begin_);
	scanned_ -= begin_;
	begin_ = 0;
	buffer_ += bytes;
}

/* Returns the bytes from begin to end and goes on to `next`. nullopt: the frame is incomplete, or
 * too long. */
std::optional<std::string_view> FrameReader::take(
	std::size_t begin, std::size_t end, std::size_t next)
{
	if (end - begin > longest_) {
		too_long_ = true;
		return std::nullopt;
	}
	if (next > buffer_.size())
		return std::nullopt;
	begin_ = scanned_ = next;
	return std::string_view(buffer_.data() + begin, end - begin);
}

std::optional<std::string_view> FrameReader::next_line()
{
	const std::size_t newline = buffer_.find('\n', scanned_);
	scanned_ = newline == std::string::npos ? buffer_.size() : newline;
	auto line = take(begin_, scanned_, scanned_ + 1);
	if (line && line->ends_with('\r'))
		line->remove_suffix(1);
	return line;
}

std::optional<std::string_view> FrameReader::next_counted()
{
	const std::size_t body = begin_ + k_length_bytes;
	if (body > buffer_.size())
		return std::nullopt;
	const std::size_t end =
		body + big_endian(std::string_view(buffer_).substr(begin_, k_length_bytes));
	return take(body, end, end);
}

std::optional<std::string_view> FrameReader::next()
{
	while (!too_long_ && begin_ < buffer_.size()) {
		const auto frame = buffer_[begin_] == '\0' ? next_counted() : next_line();
		if (!frame || !frame->empty())
			return frame;
	}
	return std::nullopt;
}

} // namespace slurmkube::codec
