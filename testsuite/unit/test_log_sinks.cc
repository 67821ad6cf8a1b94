/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats of the agent's log, and the audit log. */
#include "src/agent/log_sinks.h"
#include "src/base/owned.h"
#include "testsuite/unit/check.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace slurmkube;
using namespace slurmkube::agent;

namespace
{

namespace fs = std::filesystem;

std::string content(const fs::path &file)
{
	std::ostringstream text;
	text << std::ifstream(file).rdbuf();
	return text.str();
}

struct Folder {
	fs::path path;
	Folder()
	{
		char name[] = "/tmp/slurm-kube-log.XXXXXX";
		REQUIRE(mkdtemp(name) != nullptr);
		path = name;
	}
	~Folder() { fs::remove_all(path); }
};

/* What an open_log() in this format writes to stderr while body runs. */
template <class F> std::string stderr_of(LogFormat format, LogLevel level, F &&body)
{
	const Folder folder;
	const UniqueFd kept(dup(STDERR_FILENO));
	CHECK(freopen((folder.path / "out").c_str(), "w", stderr) != nullptr);
	open_log(format, level);
	body();
	(void)fflush(stderr);
	dup2(kept.get(), STDERR_FILENO);
	log_open(nullptr, LogLevel::info);
	return content(folder.path / "out");
}

void events_are_lines_with_members()
{
	CHECK_EQUAL(event_line("bound", {{"pod", "a/b"}, {"job", "7"}}), "bound pod=a/b job=7");
	CHECK_EQUAL(
		event_line("ended", {{"result", "exit code 1"}}), "ended result=\"exit code 1\"");
	CHECK_EQUAL(event_line("x", {{"text", R"(a "b" \c)"}}), R"(x text="a \"b\" \\c")");
	CHECK_EQUAL(event_line("x", {{"text", "a=b"}}), R"(x text="a=b")");
	const std::string text = stderr_of(LogFormat::text, LogLevel::info, [] {
		log_event(LogLevel::warning, "refused",
			{{"pod", "a/b"}, {"job", ""}, {"why", "no\n<3>x"}});
		log_event(LogLevel::debug, "bound", {{"pod", "a/b"}});
		log_info("stopping: signal=%d", 15);
	});
	CHECK_EQUAL(text, "<4>refused pod=a/b why=no?<3>x\n<6>stopping: signal=15\n");
}

void json_has_one_object_per_line()
{
	const LogFields fields = {{"pod", "a/b"}, {"message", "say \"no\""}};
	CHECK_EQUAL(json_line(1'790'000'000'123'456, LogLevel::info, "ended", &fields),
		R"({"time":"2026-09-21T14:13:20.123456Z","level":"info","event":"ended",)"
		R"("pod":"a/b",)"
		R"("message":"say \"no\""})");
	CHECK_EQUAL(json_line(0, LogLevel::error, "cannot start", nullptr),
		R"({"time":"1970-01-01T00:00:00.000000Z","level":"error",)"
		R"("message":"cannot start"})");
	const std::string text = stderr_of(LogFormat::json, LogLevel::info, [] {
		log_event(LogLevel::info, "ended", {{"pod", "a/b"}});
		log_warning("no answer\n");
	});
	CHECK_EQUAL(std::ranges::count(text, '\n'), 2);
	CHECK(text.find(R"("event":"ended","pod":"a/b"})") != std::string::npos);
	CHECK(text.find(R"("level":"warning","message":"no answer?"})") != std::string::npos);
}

void the_journal_gets_fields()
{
	const std::vector<std::string> expected = {"MESSAGE=ended pod=a/b user_id=7", "PRIORITY=6",
		"SYSLOG_IDENTIFIER=slurmkubed", "SLURMKUBE_EVENT=ended", "SLURMKUBE_POD=a/b",
		"SLURMKUBE_USER_ID=7"};
	CHECK(journal_fields(LogLevel::info, "ended pod=a/b user_id=7", "ended",
		      {{"pod", "a/b"}, {"user_id", "7"}}) == expected);
	CHECK_EQUAL(journal_fields(LogLevel::error, "no", nullptr, {}).size(), 3U);
}

/* The socket of a journal in a private mount namespace; -1: not root, or in a chroot, whose root is
 * no mount that could be made private. */
UniqueFd private_journal()
{
	constexpr char k_folder[] = "/run/systemd/journal";
	if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
		mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
		return {};
	CHECK(mount("none", "/run", "tmpfs", 0, nullptr) == 0);
	fs::create_directories(k_folder);
	UniqueFd receiver(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0));
	sockaddr_un at{.sun_family = AF_UNIX, .sun_path = "/run/systemd/journal/socket"};
	CHECK(bind(receiver.get(), reinterpret_cast<const sockaddr *>(&at), sizeof(at)) == 0);
	return receiver;
}

void the_journal_is_written()
{
	const UniqueFd receiver = private_journal();
	if (!receiver)
		return;
	const std::string rest = stderr_of(LogFormat::journal, LogLevel::info, [] {
		log_event(LogLevel::info, "ended", {{"pod", "a/b"}});
		log_info("stopping");
	});
	CHECK_EQUAL(rest, "");
	std::array<char, 4096> datagram{};
	ssize_t size = recv(receiver.get(), datagram.data(), datagram.size(), 0);
	REQUIRE(size > 0);
	const std::string first(datagram.data(), static_cast<std::size_t>(size));
	CHECK(first.find("MESSAGE=ended pod=a/b\n") != std::string::npos);
	CHECK(first.find("SLURMKUBE_POD=a/b\n") != std::string::npos);
	size = recv(receiver.get(), datagram.data(), datagram.size(), 0);
	REQUIRE(size > 0);
	CHECK(std::string(datagram.data(), static_cast<std::size_t>(size))
			.find("MESSAGE=stopping\n") != std::string::npos);
}

void audited_events_are_kept_whatever_the_level()
{
	const Folder folder;
	const fs::path file = folder.path / "audit.log", old = folder.path / "audit.log.1";
	REQUIRE(open_audit_log(file).ok());
	const std::string text = stderr_of(LogFormat::text, LogLevel::error, [&] {
		log_audited(LogLevel::debug, "bound", {{"pod", "a/b"}});
		log_event(LogLevel::info, "ended", {{"pod", "a/b"}});
		fs::rename(file, old);
		log_audited(LogLevel::info, "deleting", {{"pod", "a/c"}});
		CHECK(open_audit_log(file).ok());
		log_audited(LogLevel::warning, "refused", {{"pod", "a/d"}});
		CHECK(!open_audit_log(folder.path / "no" / "audit.log").ok());
		log_audited(LogLevel::warning, "refused", {{"pod", "a/e"}});
		CHECK(open_audit_log("").ok());
		log_audited(LogLevel::warning, "refused", {{"pod", "a/f"}});
	});
	CHECK_EQUAL(text, "");
	const std::string before = content(old), after = content(file);
	CHECK_EQUAL(std::ranges::count(before, '\n'), 2);
	CHECK(before.find(R"("event":"bound","pod":"a/b")") != std::string::npos);
	CHECK(before.find(R"("event":"deleting","pod":"a/c")") != std::string::npos);
	CHECK_EQUAL(std::ranges::count(after, '\n'), 2);
	CHECK(after.find("a/d") != std::string::npos && after.find("a/e") != std::string::npos);
}

/* Otherwise nobody would notice that the record has holes. */
void an_audit_log_that_cannot_be_written_is_told_once()
{
	REQUIRE(open_audit_log("/dev/full").ok());
	const std::string text = stderr_of(LogFormat::text, LogLevel::error, [] {
		log_audited(LogLevel::info, "bound", {{"pod", "a/b"}});
		log_audited(LogLevel::info, "bound", {{"pod", "a/c"}});
	});
	CHECK_EQUAL(text, "<3>audit log: events are lost: No space left on device\n");
	CHECK(open_audit_log("").ok());
}

} // namespace

int main()
{
	return check::run_tests("log sinks",
		{
			TEST(events_are_lines_with_members),
			TEST(json_has_one_object_per_line),
			TEST(the_journal_gets_fields),
			TEST(audited_events_are_kept_whatever_the_level),
			TEST(an_audit_log_that_cannot_be_written_is_told_once),
			/* the last, because it changes the mounts of this process */
			TEST(the_journal_is_written),
		});
}
