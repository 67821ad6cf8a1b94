/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/controller_watch.h"
#include "testsuite/unit/check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

using namespace slurmkube;
using namespace slurmkube::slurm;

namespace
{

std::int64_t start_of(int pid)
{
	std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
	std::string line;
	std::getline(file, line);
	std::istringstream words(line.substr(line.rfind(')') + 1));
	const std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
	return std::stoll(all.at(19));
}

core::PluginHello hello_of(int pid)
{
	std::array<char, 256> host{};
	(void)gethostname(host.data(), host.size() - 1);
	core::PluginHello hello;
	hello.pid = pid;
	hello.process_start = start_of(pid);
	hello.host = host.data();
	return hello;
}

void a_process_is_known_by_host_pid_and_start()
{
	const core::PluginHello own = hello_of(getpid());
	CHECK(is_alive_here(own));
	core::PluginHello other = own;
	other.process_start++; /* the pid was given again */
	CHECK(!is_alive_here(other));
	other = own;
	other.host += "-2";
	CHECK(!is_alive_here(other));
	other = own;
	other.process_start = 0; /* an older plugin */
	CHECK(!is_alive_here(other));
	other = own;
	other.pid = 0;
	CHECK(!is_alive_here(other));
}

void a_process_that_was_killed_is_not_alive()
{
	const pid_t child = fork();
	if (child == 0) {
		(void)pause();
		_exit(0);
	}
	const core::PluginHello hello = hello_of(child);
	CHECK(is_alive_here(hello));
	(void)kill(child, SIGSTOP);
	CHECK(is_alive_here(hello));
	(void)kill(child, SIGKILL);
	siginfo_t ended = {};
	(void)waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
	CHECK(!is_alive_here(hello)); /* a zombie */
	(void)waitpid(child, nullptr, 0);
	CHECK(!is_alive_here(hello));
}

constexpr std::int64_t k_second = 1'000'000, k_now = 100 * k_second;

void open(ControllerWatch &watch, const core::PluginHello &hello, std::int64_t now)
{
	watch.link_opened(hello);
	watch.link_heard(now, now);
	watch.agreed(watch.term());
}

void only_the_present_term_is_certain()
{
	ControllerWatch watch;
	CHECK_EQUAL(watch.term(), 0U);
	CHECK(watch.is_certain(0, k_now));
	CHECK(!watch.has_lost_link());
	core::PluginHello hello = hello_of(getpid());
	open(watch, hello, k_now);
	const std::uint64_t first = watch.term();
	CHECK(watch.is_certain(first, k_now));
	CHECK(!watch.is_certain(0, k_now));
	CHECK(!watch.has_lost_link());
	watch.link_closed();
	CHECK(watch.has_lost_link());
	CHECK(!watch.is_certain(first, k_now));
	watch.link_opened(hello); /* the same slurmctld: the same jobs */
	CHECK_EQUAL(watch.term(), first);
	CHECK(!watch.is_certain(first, k_now));
	watch.link_heard(k_now, k_now);
	CHECK(watch.is_certain(first, k_now));
	for (std::int64_t *changed : {&hello.process_start, &hello.control_since_us}) {
		const std::uint64_t before = watch.term();
		++*changed;
		open(watch, hello, k_now);
		CHECK(!watch.is_certain(before, k_now));
		CHECK(watch.term() != before);
	}
}

/* A copy of slurm.conf for tests may name another slurmctld, with the same ClusterName. */
void nothing_is_certain_before_both_sides_have_agreed_on_a_job()
{
	ControllerWatch watch;
	core::PluginHello hello = hello_of(getpid());
	watch.link_opened(hello);
	watch.link_heard(k_now, k_now);
	CHECK(!watch.is_certain(watch.term(), k_now));
	watch.agreed(watch.term() - 1);
	CHECK(!watch.is_certain(watch.term(), k_now));
	watch.agreed(watch.term());
	CHECK(watch.is_certain(watch.term(), k_now));
	hello.control_since_us++;
	watch.link_opened(hello);
	watch.link_heard(k_now, k_now);
	CHECK(!watch.is_certain(watch.term(), k_now));
}

/* slurmctld was killed, and the link does not show it yet. */
void a_call_without_an_answer_raises_a_doubt()
{
	ControllerWatch watch;
	open(watch, hello_of(getpid()), k_now);
	const std::uint64_t term = watch.term();
	watch.doubt(k_now);
	CHECK(!watch.is_certain(term, k_now));
	watch.link_heard(k_now + 1, k_now + k_second);
	CHECK(watch.is_certain(term, k_now + k_second));
	watch.doubt(k_now + 4 * k_second);
	watch.link_closed();
	watch.link_opened(hello_of(getpid()));
	CHECK(!watch.is_certain(term, k_now + 5 * k_second));
	watch.link_heard(k_now + 5 * k_second, k_now + 5 * k_second);
	CHECK(watch.is_certain(term, k_now + 5 * k_second));
}

/* The loop was away, and slurmctld may hang since. */
void a_line_counts_when_it_was_sent()
{
	ControllerWatch watch;
	open(watch, hello_of(getpid()), k_now);
	const std::uint64_t term = watch.term();
	watch.link_heard(k_now + k_second, k_now + 5 * k_second);
	CHECK(!watch.is_certain(term, k_now + 5 * k_second));
	watch.doubt(k_now + 6 * k_second);
	watch.link_heard(k_now + 6 * k_second - 1, k_now + 20 * k_second);
	CHECK(!watch.is_certain(term, k_now + 20 * k_second));
	watch.link_heard(k_now + 20 * k_second, k_now + 20 * k_second);
	CHECK(watch.is_certain(term, k_now + 20 * k_second));
	watch.link_heard(k_now + 90 * k_second, k_now + 21 * k_second); /* not our clock */
	CHECK(!watch.is_certain(term, k_now + 23 * k_second));
}

void a_line_of_an_older_plugin_counts_when_it_comes()
{
	ControllerWatch watch;
	open(watch, hello_of(getpid()), k_now);
	watch.doubt(k_now);
	watch.link_heard(0, k_now + k_second); /* it may have been sent before */
	CHECK(!watch.is_certain(watch.term(), k_now + k_second));
	watch.link_heard(0, k_now + 3 * k_second);
	CHECK(watch.is_certain(watch.term(), k_now + 3 * k_second));
}

void a_slurmctld_that_hangs_is_not_certain()
{
	ControllerWatch watch;
	open(watch, hello_of(getpid()), k_now);
	CHECK(watch.is_certain(watch.term(), k_now + k_second));
	CHECK(!watch.is_certain(watch.term(), k_now + k_second + 1));
	watch.link_heard(k_now + 2 * k_second, k_now + 2 * k_second);
	CHECK(watch.is_certain(watch.term(), k_now + 2 * k_second + 1));
}

} // namespace

int main()
{
	return check::run_tests("controller watch",
		{
			TEST(a_process_is_known_by_host_pid_and_start),
			TEST(a_process_that_was_killed_is_not_alive),
			TEST(only_the_present_term_is_certain),
			TEST(nothing_is_certain_before_both_sides_have_agreed_on_a_job),
			TEST(a_call_without_an_answer_raises_a_doubt),
			TEST(a_line_counts_when_it_was_sent),
			TEST(a_line_of_an_older_plugin_counts_when_it_comes),
			TEST(a_slurmctld_that_hangs_is_not_certain),
		});
}
