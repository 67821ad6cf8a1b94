/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines.h - bytes as they come to whole lines.
 *
 * Pure framing for streams of one JSON object a line; chunks may end at any byte. A line that is longer than the limit is an error for good:
 * the caller gives the stream up. What comes after the last newline is kept and never delivered by itself.
 */
#ifndef SLURMKUBE_CODEC_LINES_H
#define SLURMKUBE_CODEC_LINES_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slurmkube::codec
{

class LineReader
{
      public:
	explicit LineReader(std::size_t longest) : longest_(longest) {}

	void add(std::string_view bytes);
	/* The next line without its newline (and without a carriage return before it), empty lines left out. Valid until the next add(). */
	std::optional<std::string_view> next();
	/* A line, or what has come of one, exceeds the limit. Then next() gives nothing. */
	[[nodiscard]] bool too_long() const { return too_long_; }
	[[nodiscard]] std::size_t pending() const { return buffer_.size() - begin_; }

      private:
	std::size_t longest_;
	std::string buffer_;
	std::size_t begin_ = 0;   /* first byte not yet delivered */
	std::size_t scanned_ = 0; /* no newline in [begin_, scanned_) */
	bool too_long_ = false;
};

} // namespace slurmkube::codec

#endif
