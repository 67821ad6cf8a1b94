/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/log.h"

#include "src/base/text.h"

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

namespace slurmkube
{

namespace
{

constexpr int k_line_max = 2048;

LogSink g_sink = nullptr;     /* written by log_open only */
EventSink g_events = nullptr; /* written by log_events_to only */
EventSink g_audit = nullptr;  /* written by log_audit_to only */
std::atomic<LogLevel> g_least = LogLevel::info;

__attribute__((format(printf, 2, 0))) void emit(LogLevel level, const char *format, va_list args)
{
	if (!g_sink || level > g_least)
		return;
	char line[k_line_max];
	(void)vsnprintf(line, sizeof(line), format, args); /* a longer line is cut */
	/* text from other sources must not look like a line of ours */
	make_printable(line, strlen(line));
	g_sink(level, line);
}

/* Blanks would end the value, and an empty value is hard to see. */
std::string quoted(const std::string &value)
{
	const bool is_plain = !value.empty() && value.find_first_of(" \"=\\") == std::string::npos;
	if (is_plain)
		return value;
	std::string out = "\"";
	for (const char c : value) {
		if (c == '"' || c == '\\')
			out += '\\';
		out += c;
	}
	return out + '"';
}

void clean(LogFields &fields)
{
	std::erase_if(fields, [](const LogField &field) { return field.value.empty(); });
	for (LogField &field : fields) {
		field.value.resize(std::min<std::size_t>(field.value.size(), k_line_max));
		field.value = printable(std::move(field.value));
	}
}

/* audit: nullptr for an event that is not audited. */
void tell(LogLevel level, const char *what, LogFields fields, EventSink audit)
{
	const bool is_logged = g_sink && level <= g_least;
	if (!is_logged && !audit)
		return;
	clean(fields);
	const std::string line = printable(event_line(what, fields).substr(0, k_line_max));
	if (audit)
		audit(level, line.c_str(), what, fields);
	if (is_logged && g_events)
		g_events(level, line.c_str(), what, fields);
	else if (is_logged)
		g_sink(level, line.c_str());
}

} // namespace

void log_events_to(EventSink sink)
{
	g_events = sink;
}

void log_audit_to(EventSink sink)
{
	g_audit = sink;
}

std::string event_line(const char *what, const LogFields &fields)
{
	std::string line = what;
	for (const LogField &field : fields)
		line += std::string(" ") + field.key + "=" + quoted(field.value);
	return line;
}

void log_event(LogLevel level, const char *what, LogFields fields)
{
	tell(level, what, std::move(fields), nullptr);
}

void log_audited(LogLevel level, const char *what, LogFields fields)
{
	tell(level, what, std::move(fields), g_audit);
}

void log_open(LogSink sink, LogLevel least_important)
{
	g_sink = sink;
	g_least = least_important;
}

void log_level(LogLevel least_important)
{
	g_least = least_important;
}

#define SLURMKUBE_LOG(name)                                                                        \
	void log_##name(const char *format, ...)                                                   \
	{                                                                                          \
		va_list args;                                                                      \
		va_start(args, format);                                                            \
		emit(LogLevel::name, format, args);                                                \
		va_end(args);                                                                      \
	}

SLURMKUBE_LOG(error)
SLURMKUBE_LOG(warning)
SLURMKUBE_LOG(info)
SLURMKUBE_LOG(debug)

void log_to_stderr(LogLevel level, const char *line)
{
	constexpr int k_syslog_level[] = {3, 4, 6, 7}; /* sd-daemon(3) */
	(void)fprintf(stderr, "<%d>%s\n", k_syslog_level[static_cast<int>(level)], line);
}

} // namespace slurmkube
