/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list.h - the lists of `skube show`: their columns, their order, and their output formats.
 *
 * Pure except for user names. The rows are those of the reply (doc/design/protocol.md section 3);
 * the agent has already applied the selection.
 */
#ifndef SLURMKUBE_SKUBE_LIST_H
#define SLURMKUBE_SKUBE_LIST_H

#include "src/base/result.h"
#include "src/core/inspect/selection.h"
#include "src/skube/table.h"

#include <json-c/json.h>

#include <cstdint>
#include <string>
#include <vector>

namespace slurmkube::skube
{

/* Numbers before texts; texts in natural order (node-2 before node-10). */
struct SortValue {
	std::int64_t number = 0;
	std::string text = {};
};

struct ListColumn {
	Column column;
	bool is_wide;    /* only with -o wide */
	bool is_a_clock; /* its text changes without an event: no change for --watch */
	std::string (*text)(json_object *row, std::int64_t now);
	/* what it is sorted by; nullptr: its text */
	std::int64_t (*number)(json_object *row, std::int64_t now);
};

struct List {
	core::ListKind kind;
	const char *verb; /* of the request, and the key of the rows in the reply */
	std::vector<ListColumn> columns;
	std::string (*name)(json_object *row); /* for -o name, and what identifies the row */
	std::vector<SortValue> (*order)(json_object *row); /* unless --sort says otherwise */
};

const List &jobs_list();
const List &pods_list();
const List &nodes_list();

enum class Format { table, wide, name, json, yaml };

struct SortKey {
	std::size_t column = 0;
	bool descending = false;
};

/* How a reply is shown. */
struct Look {
	Format format = Format::table;
	std::vector<SortKey> sort = {};
	std::int64_t now = 0; /* seconds since the epoch, for ages and elapsed times */
	TextStyle style = {};
};

/* "age,-user": titles in any case, with '-' for descending. invalid: the error names the columns
 * that the list has. */
Result<std::vector<SortKey>> parse_sort(const List &list, const std::string &text);

/* The rows in their order. Borrowed from the reply. */
std::vector<json_object *> sorted_rows(const List &list, json_object *reply, const Look &look);

/* The reply in the format of the look; a final newline unless it is empty. */
std::string list_text(const List &list, json_object *reply, const Look &look);

bool is_shown(const ListColumn &column, const Look &look);
/* The cells of the row in the columns that the look shows. */
std::vector<std::string> cells_of(const List &list, json_object *row, const Look &look);
Table table_of(const List &list, const Look &look); /* without rows */

} // namespace slurmkube::skube

#endif
