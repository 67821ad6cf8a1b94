/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.h - what `skube show --watch` prints of each reply: the whole list first, then the rows
 * that are new or have changed, as kubectl does. Pure except for user names.
 */
#ifndef SLURMKUBE_SKUBE_WATCH_H
#define SLURMKUBE_SKUBE_WATCH_H

#include "src/skube/list.h"

#include <map>
#include <string>

namespace slurmkube::skube
{

class Watch
{
      public:
	/* The format must be a table or json; with json each row is one line. */
	explicit Watch(const List &list) : list_(list) {}

	/* What to print of the next reply; may be empty. A row that has left the list is forgotten
	 * without a line, and is new if it comes back. Ages and elapsed times are no changes. */
	std::string update(json_object *reply, const Look &look);

      private:
	[[nodiscard]] std::string content_of(json_object *row, const Look &look) const;
	std::string table_text(const std::vector<json_object *> &rows, const Look &look);

	const List &list_;
	std::map<std::string, std::string> seen_; /* by the name of the row: its content */
	std::vector<std::size_t> widths_;
	bool has_titles_ = false;
};

} // namespace slurmkube::skube

#endif
