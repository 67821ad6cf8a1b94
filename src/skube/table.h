/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - columns as squeue prints them: as wide as needed, numbers aligned to the right, two
 * blanks in between. Pure.
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
	bool is_state = false; /* may have a colour */
};

/* What the output can show. The default is for files and pipes. */
struct TextStyle {
	std::size_t width = 0; /* columns of the terminal; 0: unlimited */
	bool has_color = false;
};

class Table
{
      public:
	explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

	/* Needs as many cells as there are columns. Control characters become '?', an empty cell
	 * "-". */
	void add(std::vector<std::string> cells);
	/* Titles and rows. A line that is wider than the style allows is cut in its last column,
	 * but not below 16 characters. */
	[[nodiscard]] std::string text(TextStyle style = {}) const;
	/* Only the rows. widths: of the columns printed before, which grow as needed, so that rows
	 * which are printed later stand below the first ones. */
	[[nodiscard]] std::string rows_text(
		TextStyle style, std::vector<std::size_t> &widths) const;
	[[nodiscard]] std::string titles_text(
		TextStyle style, const std::vector<std::size_t> &widths) const;
	[[nodiscard]] std::size_t size() const { return rows_.size(); }

      private:
	[[nodiscard]] std::vector<std::size_t> widths() const;
	[[nodiscard]] std::string line(const std::vector<std::string> &cells,
		const std::vector<std::size_t> &widths, TextStyle style) const;

	std::vector<Column> columns_;
	std::vector<std::vector<std::string>> rows_;
};

/* Seconds in Slurm's form: "5:07", "1:02:03", "2-03:04:05". */
std::string duration_text(std::int64_t seconds);

/* Seconds in kubectl's form, two units at most: "45s", "4m12s", "3h5m", "2d4h", "400d". */
std::string age_text(std::int64_t seconds);

} // namespace slurmkube::skube

#endif
