/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log.h - one line per event: a fixed message, followed by key=value.
 *
 * The destination is set once at the start: the agent writes to stderr with systemd's <level>
 * prefixes, as JSON, or to the journal (src/agent/log_sinks.h); the plugin passes lines to Slurm's
 * own log. base and core never log. Secrets and whole objects are never logged. Any thread may
 * call.
 */
#ifndef SLURMKUBE_BASE_LOG_H
#define SLURMKUBE_BASE_LOG_H

#include <string>
#include <vector>

namespace slurmkube
{

enum class LogLevel { error, warning, info, debug };

/* line has no newline and is valid during the call only. Must be callable from any thread and must
 * not throw. */
using LogSink = void (*)(LogLevel level, const char *line);

/* A member of an event. key: lower case letters and underscores. */
struct LogField {
	const char *key;
	std::string value;
};
using LogFields = std::vector<LogField>;

/* The same event as a line, and its parts: what happened, and the members that are not empty,
 * without control characters. The conditions of LogSink hold. */
using EventSink = void (*)(
	LogLevel level, const char *line, const char *what, const LogFields &fields);

/* Before any thread is started. A null sink drops everything. */
void log_open(LogSink sink, LogLevel least_important);
/* Before any thread is started. Without it events go to the LogSink as lines. */
void log_events_to(EventSink sink);
/* Before any thread is started: receives all audited events, whatever the level. */
void log_audit_to(EventSink sink);

/* At any time, from any thread. */
void log_level(LogLevel least_important);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* what: a few words that are the same for every event of its kind. Members without a value are left
 * out. */
void log_event(LogLevel level, const char *what, LogFields fields);

/* The same for what an auditor asks for later: each binding, deletion and refusal of a pod. */
void log_audited(LogLevel level, const char *what, LogFields fields);

/* "bound pod=a/b job=7 result="exit code 1"": what log_event() makes of its arguments. */
std::string event_line(const char *what, const LogFields &fields);

/* Sink for daemons: "<3>text\n" on stderr. */
void log_to_stderr(LogLevel level, const char *line);

} // namespace slurmkube

#endif
