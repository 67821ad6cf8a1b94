/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/log.h"

#include "src/base/text.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace slurmkube
{

namespace
{

constexpr int k_line_max = 2048;

LogSink g_sink = nullptr; /* written by log_open only */
std::atomic<LogLevel> g_least = LogLevel::info;

void emit(LogLevel level, const char *format, va_list args)
{
	if (!g_sink || level > g_least)
		return;
	char line[k_line_max];
	(void)vsnprintf(line, sizeof(line), format, args); /* a longer line is cut */
	/* text from other sources must not look like a line of ours */
	make_printable(line, strlen(line));
	g_sink(level, line);
}

} // namespace

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
