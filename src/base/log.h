/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log.h - one line per event: a fixed message, followed by key=value.
 *
 * The destination is set once at the start: the agent writes to stderr with systemd's <level>
 * prefixes, the plugin passes lines to Slurm's own log. base and core never log. Secrets and whole
 * objects are never logged. Any thread may call.
 */
#ifndef SLURMKUBE_BASE_LOG_H
#define SLURMKUBE_BASE_LOG_H

namespace slurmkube
{

enum class LogLevel { error, warning, info, debug };

/* line has no newline and is valid during the call only. Must be callable from any thread and must
 * not throw. */
using LogSink = void (*)(LogLevel level, const char *line);

/* Before any thread is started. A null sink drops everything. */
void log_open(LogSink sink, LogLevel least_important);

/* At any time, from any thread. */
void log_level(LogLevel least_important);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sink for daemons: "<3>text\n" on stderr. */
void log_to_stderr(LogLevel level, const char *line);

} // namespace slurmkube

#endif
