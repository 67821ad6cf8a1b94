/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames.h - bytes as they come to whole frames of a watch.
 *
 * Pure framing; chunks may end at any byte. A frame is a line, as watches in JSON have them, or,
 * where its first byte is 0, four bytes of length (big-endian) and so many bytes, as those in
 * protobuf do (k8s.io/apimachinery pkg/util/framer): no JSON begins with a 0. A frame that is
 * longer than the limit is an error for good: the caller gives the stream up. What comes of a frame
 * without its end is kept and never delivered by itself.
 */
#ifndef SLURMKUBE_CODEC_FRAMES_H
#define SLURMKUBE_CODEC_FRAMES_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slurmkube::codec
{

class FrameReader
{
      public:
	/* The limit on a frame with length is also 16 MiB: a longer one does not begin with a 0. */
	explicit FrameReader(std::size_t longest) : longest_(longest) {}

	void add(std::string_view bytes);
	/* The next frame without its newline (and without a carriage return before it) or its
	 * length; empty ones left out. Valid until the next add(). */
	std::optional<std::string_view> next();
	/* A frame, or what has come of one, exceeds the limit. Then next() gives nothing. */
	[[nodiscard]] bool too_long() const { return too_long_; }
	[[nodiscard]] std::size_t pending() const { return buffer_.size() - begin_; }

      private:
	std::optional<std::string_view> take(std::size_t begin, std::size_t end, std::size_t next);
	std::optional<std::string_view> next_line();
	std::optional<std::string_view> next_counted();

	std::size_t longest_;
	std::string buffer_;
	std::size_t begin_ = 0;   /* first byte not yet delivered */
	std::size_t scanned_ = 0; /* no newline in [begin_, scanned_) */
	bool too_long_ = false;
};

} // namespace slurmkube::codec

#endif
