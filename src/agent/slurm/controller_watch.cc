/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/controller_watch.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace slurmkube::slurm
{

namespace
{

constexpr int k_state_field = 3, k_start_field = 22; /* proc_pid_stat(5) */
/* A line of an older plugin that comes sooner after the doubt may have been sent before it. */
constexpr std::int64_t k_line_is_later_us = 2'000'000;
/* The plugin sends a line each 250 ms. libslurm waits for a slurmctld that hangs, and its successor
 * would get the call. */
constexpr std::int64_t k_silence_us = 1'000'000;

std::string host_name()
{
	std::array<char, 256> name{};
	return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : std::string();
}

} // namespace

bool is_alive_here(const core::PluginHello &hello)
{
	if (hello.pid <= 0 || hello.process_start == 0 || hello.host != host_name())
		return false;
	std::ifstream file("/proc/" + std::to_string(hello.pid) + "/stat");
	std::string line;
	std::getline(file, line);
	/* the program's name, field 2, may contain blanks and ends with the last ')' */
	const std::size_t name_end = line.rfind(')');
	if (name_end == std::string::npos)
		return false;
	std::istringstream words(line.substr(name_end + 1));
	std::string word, state;
	for (int field = k_state_field; field <= k_start_field && words >> word; field++)
		state = field == k_state_field ? word : state;
	return state != "Z" && state != "X" && word == std::to_string(hello.process_start);
}

void ControllerWatch::link_opened(const core::PluginHello &hello)
{
	const std::lock_guard lock(mutex_);
	if (term_ == 0 || !hello.has_same_state(hello_) || hello.host != hello_.host) {
		term_++;
		is_agreed_ = false;
	}
	hello_ = hello;
	is_open_ = true;
	heard_us_ = 0; /* the first line that says when it was sent comes at once */
}

void ControllerWatch::link_heard(std::int64_t sent_us, std::int64_t now_us)
{
	const std::lock_guard lock(mutex_);
	heard_us_ = sent_us > 0 ? std::min(sent_us, now_us) : now_us;
	if (heard_us_ > doubted_us_ + (sent_us > 0 ? 0 : k_line_is_later_us))
		doubted_us_ = 0;
}

void ControllerWatch::agreed(std::uint64_t term)
{
	const std::lock_guard lock(mutex_);
	is_agreed_ = is_agreed_ || term == term_;
}

void ControllerWatch::doubt(std::int64_t now_us)
{
	const std::lock_guard lock(mutex_);
	doubted_us_ = now_us;
}

void ControllerWatch::link_closed()
{
	const std::lock_guard lock(mutex_);
	is_open_ = false;
}

bool ControllerWatch::has_lost_link() const
{
	const std::lock_guard lock(mutex_);
	return term_ != 0 && !is_open_;
}

std::uint64_t ControllerWatch::term() const
{
	const std::lock_guard lock(mutex_);
	return term_;
}

bool ControllerWatch::is_certain(std::uint64_t term, std::int64_t now_us) const
{
	core::PluginHello hello;
	{
		const std::lock_guard lock(mutex_);
		if (term_ == 0)
			return true;
		if (term != term_ || !is_open_ || !is_agreed_ || doubted_us_ != 0 ||
			now_us > heard_us_ + k_silence_us)
			return false;
		hello = hello_;
	}
	return is_alive_here(hello);
}

} // namespace slurmkube::slurm
