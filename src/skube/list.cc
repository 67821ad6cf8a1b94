/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/list.h"

#include "src/base/text.h"
#include "src/codec/json.h"
#include "src/core/model/natural_order.h"
#include "src/skube/yaml.h"

#include <algorithm>

namespace slurmkube::skube
{

namespace
{

bool less(const SortValue &a, const SortValue &b)
{
	return a.number != b.number ? a.number < b.number : core::natural_less(a.text, b.text);
}

/* A row with what it is sorted by, so that each value is computed once. */
struct SortableRow {
	json_object *row;
	std::vector<SortValue> values;
};

SortValue value_of(const ListColumn &column, json_object *row, std::int64_t now)
{
	return column.number ? SortValue{column.number(row, now)}
			     : SortValue{0, column.text(row, now)};
}

bool is_before(const std::vector<SortKey> &keys, const SortableRow &a, const SortableRow &b)
{
	for (std::size_t i = 0; i < a.values.size(); i++) {
		const bool descending = i < keys.size() && keys[i].descending;
		const SortValue &first = descending ? b.values[i] : a.values[i];
		const SortValue &second = descending ? a.values[i] : b.values[i];
		if (less(first, second))
			return true;
		if (less(second, first))
			return false;
	}
	return false;
}

std::string titles_of(const List &list)
{
	std::string all;
	for (const ListColumn &one : list.columns)
		all += (all.empty() ? "" : ", ") + one.column.title;
	return all;
}

std::string names_text(const List &list, const std::vector<json_object *> &rows)
{
	std::string all;
	for (json_object *row : rows)
		all += printable(list.name(row)) + "\n";
	return all;
}

/* The whole reply, with its rows in their order. */
codec::Json data_of(const List &list, json_object *reply, const std::vector<json_object *> &rows)
{
	codec::Json all = codec::new_object();
	if (!json_object_is_type(reply, json_type_object))
		return all;
	json_object_object_foreach(reply, key, value)
	{
		json_object_object_add(all.get(), key, json_object_get(value));
	}
	codec::Json ordered = codec::new_array();
	for (json_object *row : rows)
		codec::append(ordered.get(), codec::Json(json_object_get(row)));
	codec::put(all.get(), list.verb, std::move(ordered));
	return all;
}

} // namespace

bool is_shown(const ListColumn &column, const Look &look)
{
	return !column.is_wide || look.format == Format::wide;
}

Result<std::vector<SortKey>> parse_sort(const List &list, const std::string &text)
{
	std::vector<SortKey> keys;
	for (std::size_t start = 0; start <= text.size() && !text.empty();) {
		const std::size_t end = std::min(text.find(',', start), text.size());
		std::string word = text.substr(start, end - start);
		SortKey key{.descending = word.starts_with('-')};
		if (key.descending || word.starts_with('+'))
			word.erase(0, 1);
		const auto found = std::ranges::find(list.columns, core::upper(word),
			[](const ListColumn &one) { return one.column.title; });
		if (found == list.columns.end())
			return Error{Errc::invalid,
				"no column '" + word + "' to sort by; there are " +
					titles_of(list)};
		key.column = static_cast<std::size_t>(found - list.columns.begin());
		keys.push_back(key);
		start = end + 1;
	}
	return keys;
}

std::vector<json_object *> sorted_rows(const List &list, json_object *reply, const Look &look)
{
	json_object *array = codec::get(reply, list.verb);
	std::vector<SortableRow> rows;
	for (std::size_t i = 0; i < codec::array_size(array); i++) {
		SortableRow row{codec::array_at(array, i), {}};
		for (const SortKey &key : look.sort)
			row.values.push_back(value_of(list.columns[key.column], row.row, look.now));
		for (SortValue &value : list.order(row.row))
			row.values.push_back(std::move(value));
		rows.push_back(std::move(row));
	}
	std::ranges::stable_sort(
		rows, [&](const auto &a, const auto &b) { return is_before(look.sort, a, b); });
	std::vector<json_object *> sorted;
	for (const SortableRow &row : rows)
		sorted.push_back(row.row);
	return sorted;
}

Table table_of(const List &list, const Look &look)
{
	std::vector<Column> columns;
	for (const ListColumn &one : list.columns)
		if (is_shown(one, look))
			columns.push_back(one.column);
	return Table(std::move(columns));
}

std::vector<std::string> cells_of(const List &list, json_object *row, const Look &look)
{
	std::vector<std::string> cells;
	for (const ListColumn &one : list.columns)
		if (is_shown(one, look))
			cells.push_back(one.text(row, look.now));
	return cells;
}

std::string list_text(const List &list, json_object *reply, const Look &look)
{
	const std::vector<json_object *> rows = sorted_rows(list, reply, look);
	switch (look.format) {
	case Format::name:
		return names_text(list, rows);
	case Format::json:
		return json_text(data_of(list, reply, rows).get());
	case Format::yaml:
		return yaml_text(data_of(list, reply, rows).get());
	case Format::table:
	case Format::wide:
		break;
	}
	Table table = table_of(list, look);
	for (json_object *row : rows)
		table.add(cells_of(list, row, look));
	return table.text(look.style);
}

} // namespace slurmkube::skube
