/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/top.h"

#include "src/base/text.h"
#include "src/codec/json.h"
#include "src/skube/options.h"
#include "src/skube/printed.h"
#include "src/skube/request.h"
#include "src/skube/terminal.h"
#include "src/skube/views.h"
#include "src/skube/yaml.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <poll.h>
#include <unistd.h>

namespace slurmkube::skube
{

namespace
{

using Clock = std::chrono::steady_clock;
using codec::array_at;
using codec::array_size;
using codec::get;
using codec::get_int;

constexpr std::chrono::milliseconds k_live{2000}, k_first{1000};

/* The columns of a line; colours have none, and neither have bytes of UTF-8 that do not begin a
 * character. */
std::string cut_to_width(const std::string &line, std::size_t width)
{
	std::size_t columns = 0, end = 0;
	for (; end < line.size(); end++) {
		if (line[end] == '\033')
			end = std::min(line.find('m', end), line.size() - 1);
		else if ((static_cast<unsigned char>(line[end]) & 0xC0U) != 0x80U &&
			columns++ == width)
			break;
	}
	const bool has_color = line.find('\033') < end;
	return end == line.size() ? line : line.substr(0, end) + (has_color ? "\033[0m" : "");
}

std::string bounded(const std::string &page, std::size_t width)
{
	if (width == 0)
		return page;
	std::string all;
	for (std::size_t at = 0; at < page.size();) {
		const std::size_t end = page.find('\n', at);
		all += cut_to_width(page.substr(at, end - at), width) + "\n";
		at = end + 1;
	}
	return all;
}

std::string with_title(const Table &table, TextStyle style)
{
	return table.size() > 0 ? "\n" + table.text(style) : "";
}

Table pods_table(json_object *rows)
{
	Table table({{"PODS"}, {"COUNT", true}, {"REASON"}});
	for (std::size_t i = 0; i < array_size(rows); i++) {
		json_object *row = array_at(rows, i);
		table.add({printed(row, "state"), std::to_string(get_int(row, "count")),
			printed(row, "reason")});
	}
	return table;
}

Table jobs_table(json_object *rows)
{
	Table table({{"JOBS", false, true}, {"COUNT", true}, {"REASON"}});
	for (std::size_t i = 0; i < array_size(rows); i++) {
		json_object *row = array_at(rows, i);
		table.add({job_state_text(printed(row, "state")),
			std::to_string(get_int(row, "count")), printed(row, "reason")});
	}
	return table;
}

std::string nodes_line(json_object *nodes)
{
	std::string line = "nodes:";
	for (const auto &[name, text] :
		{std::pair("in_service", "in service"), std::pair("drained", "drained"),
			std::pair("down", "DOWN"), std::pair("not_ready", "not Ready")})
		line += std::string(line.size() > 6 ? ", " : " ") +
			std::to_string(get_int(nodes, name)) + " " + text;
	return line;
}

/* A counter that is less than before is that of another agent. */
std::string rate_text(const TopSample &sample, const char *name)
{
	const std::int64_t now = get_int(get(sample.now, "counters"), name),
			   before = get_int(get(sample.before, "counters"), name);
	if (!sample.before || sample.seconds <= 0 || now < before)
		return "-";
	char text[32];
	(void)snprintf(
		text, sizeof(text), "%.1f", static_cast<double>(now - before) / sample.seconds);
	return text;
}

Table rates_table(const TopSample &sample)
{
	Table table({{"RATE"}, {"PER_S", true}, {"TOTAL", true}});
	for (const char *name : {"submitted", "bound", "completed", "cancelled", "submit_failed",
		     "bind_failed", "kube_requests", "kube_failures"})
		table.add({name, rate_text(sample, name),
			std::to_string(get_int(get(sample.now, "counters"), name))});
	return table;
}

std::string oldest_line(const TopSample &sample)
{
	json_object *pod = get(sample.now, "oldest");
	if (!pod)
		return "no pod waits";
	const std::string why = printed(pod, "waiting_for");
	return "oldest waiting pod: " + printed(pod, "namespace") + "/" + printed(pod, "name") +
		" for " + age_text(sample.clock - get_int(pod, "created")) +
		(why.empty() ? "" : ": " + why);
}

/* Replaces the page that is there, line by line, so that it does not flicker. */
std::string over_the_last(const std::string &page)
{
	std::string all = "\033[H";
	for (const char c : page)
		all += c == '\n' ? std::string("\033[K\n") : std::string(1, c);
	return all + "\033[J";
}

int print(const std::string &text)
{
	return fputs(text.c_str(), stdout) >= 0 && fflush(stdout) == 0 ? k_fine : k_wrong;
}

int no_sample(const Error &error)
{
	(void)fprintf(stderr, "skube: %s\n", error.what.c_str());
	return error.code == Errc::invalid ? k_wrong : k_unreachable;
}

int print_data(const TopRequest &wanted)
{
	const auto reply = ask(wanted.socket, "top");
	if (!reply)
		return no_sample(reply.error());
	return print(
		wanted.format == Format::yaml ? yaml_text(reply->get()) : json_text(reply->get()));
}

int pages(const TopRequest &wanted, bool is_live)
{
	codec::Json before;
	Clock::time_point at;
	pollfd reader{STDOUT_FILENO, 0, 0};
	for (;;) {
		auto reply = ask(wanted.socket, "top");
		if (!reply)
			return no_sample(reply.error());
		const Clock::time_point now = Clock::now();
		const TopSample sample{reply->get(), before.get(),
			std::chrono::duration<double>(now - at).count(),
			static_cast<std::int64_t>(time(nullptr))};
		const std::string page = top_page(sample, style_of_output(false));
		if (is_live && print(over_the_last(page)) != k_fine)
			return k_wrong;
		if (!is_live && before)
			return print(page);
		const auto pause = before ? k_live : k_first;
		before = std::move(*reply);
		at = now;
		if (poll(&reader, 1, static_cast<int>(pause.count())) != 0)
			return k_fine; /* the reader has gone */
	}
}

} // namespace

std::string top_page(const TopSample &sample, TextStyle style)
{
	std::string page = ping_view(sample.now) + nodes_line(get(sample.now, "nodes")) + "\n" +
		oldest_line(sample) + "\n";
	for (const Table &table :
		{pods_table(get(sample.now, "pods")), jobs_table(get(sample.now, "jobs")),
			rates_table(sample), latencies_table(get(sample.now, "stage_latencies"))})
		page += with_title(table, style);
	return bounded(page, style.width);
}

int top(const TopRequest &wanted)
{
	if (wanted.format != Format::table)
		return print_data(wanted);
	return pages(wanted, isatty(STDOUT_FILENO) != 0 && !wanted.once);
}

} // namespace slurmkube::skube
