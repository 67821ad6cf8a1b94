/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * teardown_parts.h - what teardown_ask.cc and teardown_ask_slurm.cc share.
 */
#ifndef SLURMKUBE_SKUBE_TEARDOWN_PARTS_H
#define SLURMKUBE_SKUBE_TEARDOWN_PARTS_H

#include "src/base/text.h"
#include "src/skube/teardown.h"

#include <string>

namespace slurmkube::skube
{

/* Keeps the first failure, and asks nothing after it. */
class Asker
{
      public:
	Words lines(const Words &words)
	{
		if (!status_)
			return {};
		auto text = output_of(words);
		if (!text)
			status_ = text.error();
		return text ? lines_of(printable_lines(*text)) : Words();
	}
	[[nodiscard]] const Status &status() const { return status_; }

      private:
	static std::string printable_lines(const std::string &text)
	{
		std::string all;
		for (const std::string &line : lines_of(text))
			all += printable(line) + "\n";
		return all;
	}
	Status status_ = Ok{};
};

/* teardown_ask_slurm.cc: nodes, partitions, jobs and lines of slurm.conf. */
void ask_slurm(Asker &ask, Leftovers &left);

} // namespace slurmkube::skube

#endif
