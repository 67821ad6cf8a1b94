/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log_sinks.h - where the agent's log goes (lines or JSON on stderr, fields in systemd's journal),
 * and the audit log.
 *
 * Lines keep the order of events, because a format writes all of them in one way.
 */
#ifndef SLURMKUBE_AGENT_LOG_SINKS_H
#define SLURMKUBE_AGENT_LOG_SINKS_H

#include "src/base/log.h"
#include "src/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace slurmkube::agent
{

enum class LogFormat {
	automatic, /* journal if stderr is connected with it (JOURNAL_STREAM of systemd.exec(5)) */
	text,
	json,
	journal,
};

/* Before any thread is started. */
void open_log(LogFormat format, LogLevel least_important);

/* Opens the audit log, or opens it again after a rotation; an empty path closes it. On the loop's
 * thread, like all audited events. io: it cannot be opened, and the former file stays in use. */
Status open_audit_log(const std::string &path);

/* ---- what the sinks write, for tests ---- */

/* {"time":"...","level":"info","event":"bound","pod":"a/b"} without a newline. A line that is no
 * event has the member "message" instead of "event". */
std::string json_line(
	std::int64_t micros, LogLevel level, const char *what, const LogFields *fields);
/* "MESSAGE=...", "PRIORITY=6", "SLURMKUBE_EVENT=bound", "SLURMKUBE_POD=a/b" */
std::vector<std::string> journal_fields(
	LogLevel level, const char *line, const char *what, const LogFields &fields);

} // namespace slurmkube::agent

#endif
