/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/metrics_process.h"

#include "src/agent/kube/files.h"

#include <sys/resource.h>

#include <charconv>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace slurmkube::agent
{

namespace
{

using codec::MetricKind;

void add_one(
	codec::MetricsText &out, const char *name, MetricKind kind, const char *help, double value)
{
	out.family(name, kind, help);
	out.sample(value);
}

double seconds_of(const timeval &time)
{
	return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/* The number of pages in memory is the second of /proc/self/statm; 0: unknown. */
double resident_bytes()
{
	const auto text = kube::read_small_file("/proc/self/statm");
	const auto blank = text ? text->find(' ') : std::string::npos;
	long pages = 0;
	if (blank != std::string::npos)
		(void)std::from_chars(text->data() + blank + 1, text->data() + text->size(), pages);
	return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::size_t open_descriptors()
{
	std::error_code error;
	std::size_t count = 0;
	for (std::filesystem::directory_iterator file("/proc/self/fd", error), end;
		!error && file != end; file.increment(error))
		count++;
	return count;
}

} // namespace

void add_process(codec::MetricsText &out, std::int64_t started)
{
	rusage used{};
	rlimit files{};
	(void)getrusage(RUSAGE_SELF, &used); /* cannot fail with these arguments */
	(void)getrlimit(RLIMIT_NOFILE, &files);
	add_one(out, "process_cpu_seconds_total", MetricKind::counter,
		"Total user and system CPU time spent in seconds.",
		seconds_of(used.ru_utime) + seconds_of(used.ru_stime));
	add_one(out, "process_resident_memory_bytes", MetricKind::gauge,
		"Resident memory size in bytes.", resident_bytes());
	add_one(out, "process_open_fds", MetricKind::gauge, "Number of open file descriptors.",
		static_cast<double>(open_descriptors()));
	add_one(out, "process_max_fds", MetricKind::gauge,
		"Maximum number of open file descriptors.", static_cast<double>(files.rlim_cur));
	add_one(out, "process_start_time_seconds", MetricKind::gauge,
		"Start time of the process since unix epoch in seconds.",
		static_cast<double>(started));
}

} // namespace slurmkube::agent
