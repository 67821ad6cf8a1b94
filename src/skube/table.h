/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - columns as squeue prints them: as wide as needed, numbers aligned to the right, two
 * blanks in between.
 */
#ifndef SLURMKUBE_SKUBE_TABLE_H
#define SLURMKUBE_SKUBE_TABLE_H

#include <cstdint>
#include <string>
#include <vector>

namespace slurmkube::skube
{

struct Column {
	std::string title;
	bool right = false;
};

class Table
{
      public:
	explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

	/* Needs as many cells as there are columns. Control characters become '?', an empty cell
	 * "-". */
	void add(std::vector<std::string> cells);
	[[nodiscard]] std::string text() const;
	[[nodiscard]] std::size_t size() const { return rows_.size(); }

      private:
	std::vector<Column> columns_;
	std::vector<std::vector<std::string>> rows_;
};

/* Seconds in Slurm's form: "5:07", "1:02:03", "2-03:04:05". */
std::string duration_text(std::int64_t seconds);

} // namespace slurmkube::skube

#endif
