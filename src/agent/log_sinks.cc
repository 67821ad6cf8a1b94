/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/log_sinks.h"

#include "src/agent/loop.h"
#include "src/base/guard.h"
#include "src/base/owned.h"
#include "src/codec/json.h"
#include "src/codec/time.h"

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace slurmkube::agent
{

namespace
{

/* both: on the loop's thread */
UniqueFd g_audit_file; // NOLINT: its destructor closes a descriptor
bool g_is_audit_lost = false;

constexpr std::array k_levels = {"error", "warning", "info", "debug"};
constexpr std::array k_priorities = {'3', '4', '6', '7'}; /* sd-daemon(3) */

/* A sink must not throw; what it cannot write is lost. */
template <class F> void write_guarded(F &&write)
{
	guard(
		0, [](const char *) {}, [&] { return write(), 0; });
}

bool write_line(int fd, std::string text)
{
	text += '\n';
	/* one call, so that lines of several threads do not mix */
	return ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

void json_to_stderr(LogLevel level, const char *line)
{
	write_guarded([&] {
		(void)write_line(STDERR_FILENO, json_line(wall_us(), level, line, nullptr));
	});
}

void event_to_stderr(LogLevel level, const char *, const char *what, const LogFields &fields)
{
	write_guarded([&] {
		(void)write_line(STDERR_FILENO, json_line(wall_us(), level, what, &fields));
	});
}

void event_to_journal(LogLevel level, const char *line, const char *what, const LogFields &fields)
{
	write_guarded([&] {
		std::vector<std::string> texts = journal_fields(level, line, what, fields);
		std::vector<iovec> parts;
		parts.reserve(texts.size());
		for (std::string &text : texts)
			parts.push_back({text.data(), text.size()});
		if (sd_journal_sendv(parts.data(), static_cast<int>(parts.size())) < 0)
			log_to_stderr(level, line);
	});
}

void line_to_journal(LogLevel level, const char *line)
{
	event_to_journal(level, line, nullptr, {});
}

void event_to_audit_log(LogLevel level, const char *, const char *what, const LogFields &fields)
{
	write_guarded([&] {
		if (!g_audit_file)
			return;
		const bool is_written =
			write_line(g_audit_file.get(), json_line(wall_us(), level, what, &fields));
		if (!is_written && !std::exchange(g_is_audit_lost, true))
			log_error("audit log: events are lost: %s",
				std::generic_category().message(errno).c_str());
		g_is_audit_lost = g_is_audit_lost && !is_written;
	});
}

/* systemd sets JOURNAL_STREAM to device and inode of the stream that it has connected. */
bool is_stderr_the_journal()
{
	const char *stream = getenv("JOURNAL_STREAM"); // NOLINT(concurrency-mt-unsafe)
	struct stat about {
	};
	if (!stream || fstat(STDERR_FILENO, &about) != 0)
		return false;
	return std::to_string(about.st_dev) + ":" + std::to_string(about.st_ino) == stream;
}

} // namespace

std::string json_line(
	std::int64_t micros, LogLevel level, const char *what, const LogFields *fields)
{
	codec::Json line = codec::new_object();
	codec::put(line.get(), "time", codec::format_micro_time(micros));
	codec::put(line.get(), "level", k_levels.at(static_cast<std::size_t>(level)));
	codec::put(line.get(), fields ? "event" : "message", what);
	for (const LogField &field : fields ? *fields : LogFields{})
		codec::put(line.get(), field.key, field.value);
	return codec::to_text(line.get());
}

std::vector<std::string> journal_fields(
	LogLevel level, const char *line, const char *what, const LogFields &fields)
{
	std::vector<std::string> out = {std::string("MESSAGE=") + line,
		std::string("PRIORITY=") + k_priorities.at(static_cast<std::size_t>(level)),
		"SYSLOG_IDENTIFIER=slurmkubed"};
	if (what)
		out.push_back(std::string("SLURMKUBE_EVENT=") + what);
	for (const LogField &field : fields) {
		std::string name = "SLURMKUBE_";
		for (const char *c = field.key; *c; c++)
			name += *c >= 'a' && *c <= 'z' ? static_cast<char>(*c - 'a' + 'A') : *c;
		out.push_back(name + "=" + field.value);
	}
	return out;
}

void open_log(LogFormat format, LogLevel least_important)
{
	const bool is_journal = format == LogFormat::journal ||
		(format == LogFormat::automatic && is_stderr_the_journal());
	log_events_to(is_journal                    ? event_to_journal
			: format == LogFormat::json ? event_to_stderr
						    : nullptr);
	log_open(is_journal                         ? line_to_journal
			: format == LogFormat::json ? json_to_stderr
						    : log_to_stderr,
		least_important);
	log_audit_to(event_to_audit_log);
}

Status open_audit_log(const std::string &path)
{
	if (path.empty()) {
		g_audit_file = UniqueFd();
		return Ok{};
	}
	/* O_NONBLOCK: a FIFO without a reader is an error and no wait */
	constexpr int k_flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	UniqueFd opened(open(path.c_str(), k_flags, S_IRUSR | S_IWUSR | S_IRGRP));
	if (!opened)
		return Error{Errc::io,
			"audit_log: '" + path +
				"' cannot be written: " + std::generic_category().message(errno)};
	g_audit_file = std::move(opened);
	return Ok{};
}

} // namespace slurmkube::agent
