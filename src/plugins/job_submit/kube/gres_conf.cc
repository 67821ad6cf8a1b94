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

/* One blank-separated word of a line: Key=Value, or Include. Nothing in gres.conf that matters here is quoted. */
void take_word(GresConf &conf, std::string_view word)
{
	std::size_t equals = word.find('=');
	std::string key = lower(word.substr(0, equals));
	std::string_view value = equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
	if (key == "nodename" && !value.empty())
		conf.hosts.emplace_back(value);
	conf.unsafe |= key == "include" || (key == "autodetect" && lower(value) != "off");
}

} // namespace

GresConf parse_gres_conf(std::string_view text)
{
	GresConf conf;
	while (!text.empty()) {
		std::size_t end = text.find('\n');
		std::string_view line = text.substr(0, end);
		text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
		line = line.substr(0, line.find('#'));
		for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r\\", at)) != std::string_view::npos;) {
			std::size_t stop = std::min(line.find_first_of(" \t\r", at), line.size());
			take_word(conf, line.substr(at, stop - at));
			at = stop;
		}
	}
	return conf;
}

} // namespace slurmkube::plugin
