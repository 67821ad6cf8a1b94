/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz.h - what the fuzz targets share: an input of bytes to take apart, and the check of a
 * property.
 *
 * A target is a file fuzz_NAME.cc with LLVMFuzzerTestOneInput. testsuite/fuzz/fuzz links it with
 * libFuzzer; make check links it with replay.cc and runs it on the stored inputs. A violated
 * property aborts the process, as a sanitizer's finding does.
 */
#ifndef SLURMKUBE_TESTSUITE_FUZZ_FUZZ_H
#define SLURMKUBE_TESTSUITE_FUZZ_FUZZ_H

#include "src/base/result.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace slurmkube::fuzz
{

[[noreturn]] inline void broken(const char *expression, const char *file, int line)
{
	(void)fprintf(stderr, "%s:%d: broken: %s\n", file, line, expression);
	abort();
}

/* True unless result is an error without a text, on which a user could not act. */
template <class T> bool says_why(const Result<T> &result)
{
	return result.ok() || !result.error().what.empty();
}

inline bool is_printable(std::string_view text, std::string_view also = {})
{
	return std::all_of(text.begin(), text.end(), [&](char c) {
		return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) ||
			also.find(c) != std::string_view::npos;
	});
}

class Input
{
      public:
	Input(const std::uint8_t *data, std::size_t size)
	    : rest_(reinterpret_cast<const char *>(data), size)
	{
	}

	/* The next byte; 0 at the end. */
	unsigned char byte()
	{
		if (rest_.empty())
			return 0;
		const auto first = static_cast<unsigned char>(rest_.front());
		rest_.remove_prefix(1);
		return first;
	}
	/* The text up to the next newline, which is consumed, too. */
	std::string line()
	{
		const std::size_t end = std::min(rest_.find('\n'), rest_.size());
		const std::string taken(rest_.substr(0, end));
		rest_.remove_prefix(std::min(end + 1, rest_.size()));
		return taken;
	}
	[[nodiscard]] bool empty() const { return rest_.empty(); }
	[[nodiscard]] std::string_view rest() const { return rest_; }

      private:
	std::string_view rest_;
};

} // namespace slurmkube::fuzz

#define MUST(expression)                                                                           \
	((expression) ? (void)0 : ::slurmkube::fuzz::broken(#expression, __FILE__, __LINE__))

#endif
