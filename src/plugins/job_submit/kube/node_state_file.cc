/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/node_state_file.h"

#include <algorithm>

namespace slurmkube::plugin
{

namespace
{

constexpr std::string_view k_drain = "drain", k_down = "down";

std::string escaped(std::string_view text)
{
	std::string out;
	for (char c : text) {
		if (c == '\n')
			out += "\\n";
		else if (c == '\\')
			out += "\\\\";
		else
			out += c;
	}
	return out;
}

std::string unescaped(std::string_view text)
{
	std::string out;
	for (std::size_t i = 0; i < text.size(); i++) {
		bool escape = text[i] == '\\' && i + 1 < text.size();
		i += escape;
		out += escape && text[i] == 'n' ? '\n' : text[i];
	}
	return out;
}

/* Takes the text up to the next blank, and removes both from the line. */
std::string_view take_word(std::string_view &line)
{
	std::size_t blank = std::min(line.find(' '), line.size());
	std::string_view word = line.substr(0, blank);
	line.remove_prefix(std::min(blank + 1, line.size()));
	return word;
}

void take_line(std::string_view line, OutOfServiceNodes &map)
{
	std::string_view name = take_word(line), how = take_word(line);
	if (!name.empty() && !line.empty() && (how == k_drain || how == k_down))
		map[std::string(name)] = {how == k_down, unescaped(line)};
}

} // namespace

bool note_node(OutOfServiceNodes &map, const core::SlurmNode &node)
{
	bool down = node.base == core::NodeBase::down;
	if (node.dynamic || node.reason.empty() || (!down && !node.drain))
		return map.erase(node.name) != 0;
	OutOfServiceNode now = {down, node.reason}, &known = map[node.name];
	bool changed = known != now;
	known = std::move(now);
	return changed;
}

std::string to_text(const OutOfServiceNodes &map)
{
	std::string text;
	for (const auto &[name, node] : map)
		text.append(name)
			.append(" ")
			.append(node.down ? k_down : k_drain)
			.append(" ")
			.append(escaped(node.reason))
			.append("\n");
	return text;
}

OutOfServiceNodes out_of_service_from(std::string_view text)
{
	OutOfServiceNodes map;
	while (!text.empty()) {
		std::size_t end = text.find('\n');
		if (end == std::string_view::npos)
			break; /* cut off: half a reason is useless */
		take_line(text.substr(0, end), map);
		text.remove_prefix(end + 1);
	}
	return map;
}

} // namespace slurmkube::plugin
