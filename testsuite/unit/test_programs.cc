/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that ours run: their output and how they end. */
#include "src/base/programs.h"
#include "testsuite/unit/check.h"

#include <csignal>

using namespace slurmkube;

namespace
{

void the_output_comes_whole()
{
	const auto text = output_of({"echo", "a  b"});
	CHECK(text.ok() && *text == "a  b\n");
	const auto much = output_of({"head", "-c", "1000000", "/dev/zero"});
	CHECK(much.ok() && much->size() == 1000000);
}

void what_cannot_be_run_or_fails_is_an_error()
{
	const auto missing = output_of({"no-such-program-of-ours"});
	CHECK(!missing.ok() && missing.error().code == Errc::not_found);
	const auto fails = output_of({"false"});
	CHECK(!fails.ok() && fails.error().code == Errc::invalid);
}

/* The program ends although its remaining output is not read. */
void too_much_output_is_an_error()
{
	const auto endless = output_of({"cat", "/dev/zero"});
	CHECK(!endless.ok() && endless.error().code == Errc::too_large);
}

void a_program_that_does_not_end_is_killed()
{
	const auto began = std::chrono::steady_clock::now();
	const auto silent = output_of({"sleep", "300"}, std::chrono::milliseconds(200));
	CHECK(!silent.ok() && silent.error().code == Errc::io);
	const auto lingers = output_of(
		{"sh", "-c", "echo x; exec >&-; exec sleep 300"}, std::chrono::milliseconds(200));
	CHECK(!lingers.ok() && lingers.error().code == Errc::io);
	CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(100));
	const auto quick = output_of({"echo", "x"}, std::chrono::seconds(100));
	CHECK(quick.ok() && *quick == "x\n");
}

/* As in the agent's workers: otherwise SIGTERM could not end the program. */
void a_program_inherits_no_blocked_or_ignored_signal()
{
	sigset_t all, before;
	(void)sigfillset(&all);
	CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, &all, &before), 0);
	const auto handler = std::signal(SIGPIPE, SIG_IGN);
	const auto text = output_of({"grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"});
	(void)std::signal(SIGPIPE, handler);
	(void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
	CHECK(text.ok() && text->find("SigBlk:\t0000000000000000") != std::string::npos);
	const std::size_t ignored = text->find("SigIgn:\t");
	CHECK(ignored != std::string::npos &&
		(std::stoull(text->substr(ignored + 8), nullptr, 16) >> (SIGPIPE - 1) & 1) == 0);
}

} // namespace

int main()
{
	return check::run_tests("programs",
		{TEST(the_output_comes_whole), TEST(what_cannot_be_run_or_fails_is_an_error),
			TEST(too_much_output_is_an_error),
			TEST(a_program_that_does_not_end_is_killed),
			TEST(a_program_inherits_no_blocked_or_ignored_signal)});
}
