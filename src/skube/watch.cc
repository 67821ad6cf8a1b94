/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/watch.h"

#include "src/codec/json.h"

namespace slurmkube::skube
{

/* What has to differ for a row to be printed again. */
std::string Watch::content_of(json_object *row, const Look &look) const
{
	if (look.format == Format::json)
		return codec::to_text(row);
	std::string content;
	for (const ListColumn &one : list_.columns)
		if (!one.is_a_clock && is_shown(one, look))
			content += one.text(row, look.now) + '\n';
	return content;
}

std::string Watch::table_text(const std::vector<json_object *> &rows, const Look &look)
{
	Table table = table_of(list_, look);
	for (json_object *row : rows)
		table.add(cells_of(list_, row, look));
	const std::string text = table.rows_text(look.style, widths_);
	if (std::exchange(has_titles_, true))
		return text;
	return table.titles_text(look.style, widths_) + text;
}

std::string Watch::update(json_object *reply, const Look &look)
{
	std::map<std::string, std::string> now;
	std::vector<json_object *> changed;
	for (json_object *row : sorted_rows(list_, reply, look)) {
		const std::string name = list_.name(row);
		std::string content = content_of(row, look);
		const auto before = seen_.find(name);
		if (before == seen_.end() || before->second != content)
			changed.push_back(row);
		now[name] = std::move(content);
	}
	seen_ = std::move(now);
	if (look.format != Format::json)
		return table_text(changed, look);
	std::string lines;
	for (json_object *row : changed)
		lines += codec::to_text(row) + "\n";
	return lines;
}

} // namespace slurmkube::skube
