/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/gres_conf.h"

#include <algorithm>
#include <cctype>

namespace slurmkube::plugin
{

namespace
{

std::string lower(std::string_view text)
{
	std::string out(text);
	std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
	return out;
}

/* One blank-separated word of a line: Key=Value, or Include. A quoted value may hold anything, and is never believed to name a node. */
void take_word(GresConf &conf, std::string_view word, bool quoted)
{
	std::size_t equals = word.find('=');
	std::string key = lower(word.substr(0, equals));
	std::string_view value = equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
	if (key == "nodename" && !value.empty() && !quoted)
		conf.hosts.emplace_back(value);
	/* however it is written: AutoDetect+=nvml is the same to Slurm */
	std::string all = lower(word);
	conf.unsafe |= key == "include" || (all.find("autodetect") != std::string::npos && all != "autodetect=off");
}

void take_words(GresConf &conf, std::string_view line)
{
	constexpr std::string_view blanks = " \t\r\v\f";
	bool quoted = line.find('"') != std::string_view::npos;
	for (std::size_t at = 0; (at = line.find_first_not_of(blanks, at)) != std::string_view::npos;) {
		std::size_t stop = std::min(line.find_first_of(blanks, at), line.size());
		take_word(conf, line.substr(at, stop - at), quoted);
		at = stop;
	}
}

/* Up to a '#' that no backslash escapes. */
std::string_view without_comment(std::string_view line)
{
	bool escaped = false;
	for (std::size_t i = 0; i < line.size(); i++) {
		if (line[i] == '#' && !escaped)
			return line.substr(0, i);
		escaped = line[i] == '\\' && !escaped;
	}
	return line;
}

/* Ends with an odd number of backslashes: the next line belongs to it. */
bool goes_on(std::string_view line)
{
	line = line.substr(0, line.find_last_not_of(" \t\r\v\f") + 1);
	return (line.size() - (line.find_last_not_of('\\') + 1)) % 2 == 1;
}

std::string without_backslashes(std::string_view line)
{
	std::string out(line);
	std::erase(out, '\\');
	return out;
}

} // namespace

/* Lines as Slurm makes them (common/parse_config.c): comments go first, then lines are joined, then backslashes vanish. */
GresConf parse_gres_conf(std::string_view text)
{
	GresConf conf;
	conf.unsafe = text.find('\0') != std::string_view::npos; /* Slurm would see less than we do */
	std::string joined;
	while (!text.empty()) {
		std::size_t end = text.find('\n');
		std::string_view line = without_comment(text.substr(0, end));
		text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
		joined += without_backslashes(goes_on(line) ? line.substr(0, line.find_last_of('\\')) : line);
		if (goes_on(line) && !text.empty())
			continue;
		take_words(conf, joined);
		joined.clear();
	}
	return conf;
}

} // namespace slurmkube::plugin
