/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames.h - splits the byte stream of a watch into frames.
 *
 * Pure; chunks of input may end at any byte. In watches in JSON a frame is a line. If the first
 * byte is 0, the frame is a length of four bytes (big-endian) followed by that many bytes, as in
 * watches in protobuf (k8s.io/apimachinery pkg/util/framer); JSON never begins with a 0 byte. A
 * frame that exceeds the limit is a permanent error, after which the caller must close the stream.
 * An incomplete frame is kept until the rest arrives and is never delivered alone.
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
	/* longest: limit in bytes. Frames with a length are also below 16 MiB, because the first
	 * byte of a larger length is not 0. */
	explicit FrameReader(std::size_t longest) : longest_(longest) {}

	void add(std::string_view bytes);
	/* The next frame, without its newline (and a carriage return before it) or its length;
	 * empty frames are skipped. Valid until the next add(). */
	std::optional<std::string_view> next();
	/* A frame, or the received part of one, exceeds the limit. Then next() returns nothing. */
	[[nodiscard]] bool too_long() const { return too_long_; }
	[[nodiscard]] std::size_t pending() const { return buffer_.size() - begin_; }

      private:
	std::optional<std::string_view> take(std::size_t begin, std::size_t end, std::size_t next);
	std::optional<std::string_view> next_line();
	std::optional<std::string_view> next_counted();

	std::size_t longest_;
	std::string buffer_;
	std::size_t begin_ = 0;   /* first byte that is not delivered yet */
	std::size_t scanned_ = 0; /* there is no newline in [begin_, scanned_) */
	bool too_long_ = false;
};

} // namespace slurmkube::codec

#endif
