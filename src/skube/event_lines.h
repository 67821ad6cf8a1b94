/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_lines.h - lines from an open connection to the agent, as they come.
 */
#ifndef SLURMKUBE_SKUBE_EVENT_LINES_H
#define SLURMKUBE_SKUBE_EVENT_LINES_H

#include "src/base/owned.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

namespace slurmkube::skube
{

class EventLines
{
      public:
	enum class Got { line, end, silence, too_long, no_reader };

	/* output: the descriptor to which the caller writes. */
	EventLines(UniqueFd connection, int output)
	    : connection_(std::move(connection)), output_(output)
	{
	}

	/* Whether take() has a line without waiting. */
	[[nodiscard]] bool has_line() const
	{
		return text_.find('\n', start_) != std::string::npos;
	}
	/* Waits for the next line, without its end, for so long. no_reader: nobody reads the output
	 * any more. */
	Got take(std::string &line, std::chrono::milliseconds patience);

      private:
	Got read_some(std::chrono::milliseconds patience);

	UniqueFd connection_;
	int output_;
	std::string text_;
	std::size_t start_ = 0; /* of what has not been taken */
};

} // namespace slurmkube::skube

#endif
