/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control socket with real sockets in a private directory: framing, limits, bad clients. */
#include "src/agent/ctl/server.h"
#include "src/codec/json.h"
#include "testsuite/unit/check.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <unistd.h>

using namespace slurmkube;

namespace
{

/* A server on its own thread, answering {"ok":true,"verb":V,...}. */
class Running
{
      public:
	Running()
	{
		char name[] = "/tmp/slurm-kube-ctl.XXXXXX";
		dir_ = mkdtemp(name);
		listening_ = server_.listen(path()).ok();
		thread_ = std::thread([this] { loop_.run(); });
	}
	~Running()
	{
		loop_.stop();
		thread_.join();
		std::filesystem::remove_all(dir_);
	}
	[[nodiscard]] std::string path() const { return dir_ + "/s"; }
	[[nodiscard]] bool listening() const { return listening_; }

      private:
	/* "later": answers after that many milliseconds; "twice": answers twice */
	void reply(json_object *request, const ctl::Reply &answer)
	{
		const std::string text = text_for(request);
		const std::int64_t later = codec::get_int(request, "later");
		if (later > 0)
			loop_.after(
				std::chrono::milliseconds(later), [answer, text] { answer(text); });
		else
			answer(text);
		if (codec::get_bool(request, "twice"))
			answer(text);
	}
	static std::string text_for(json_object *request)
	{
		codec::Json out = codec::new_object();
		codec::put(out.get(), "ok", true);
		codec::put(out.get(), "verb", codec::get_string(request, "verb"));
		codec::put(out.get(), "padding",
			std::string(
				static_cast<std::size_t>(codec::get_int(request, "size")), 'x'));
		return codec::to_text(out.get());
	}

	std::string dir_;
	agent::Loop loop_;
	ctl::Server server_{loop_,
		[this](json_object *request, const ctl::Reply &answer) { reply(request, answer); }};
	bool listening_ = false;
	std::thread thread_;
};

UniqueFd connected(const std::string &path)
{
	UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	memcpy(address.sun_path, path.c_str(), path.size() + 1);
	const timeval limit{60, 0};
	(void)setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0)
		fd.reset();
	return fd;
}

void say(const UniqueFd &fd, const std::string &text)
{
	CHECK_EQUAL(send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
		static_cast<ssize_t>(text.size()));
}

std::string hear_all(const UniqueFd &fd)
{
	std::string all;
	char piece[65536];
	for (ssize_t got = 0; (got = read(fd.get(), piece, sizeof(piece))) > 0;)
		all.append(piece, static_cast<std::size_t>(got));
	return all;
}

std::string ask(const Running &server, const std::string &text)
{
	const UniqueFd fd = connected(server.path());
	say(fd, text);
	return hear_all(fd);
}

void a_request_gets_one_line_and_the_end()
{
	const Running server;
	REQUIRE(server.listening());
	CHECK_EQUAL(ask(server, "{\"verb\":\"ping\"}\n"),
		"{\"ok\":true,\"verb\":\"ping\",\"padding\":\"\"}\n");
}

void a_request_may_come_byte_by_byte()
{
	const Running server;
	const UniqueFd fd = connected(server.path());
	for (const char c : std::string("{\"verb\":\"x\"}\n"))
		say(fd, std::string(1, c));
	CHECK(hear_all(fd).find("\"verb\":\"x\"") != std::string::npos);
}

void a_large_reply_arrives_whole()
{
	const Running server;
	CHECK_EQUAL(ask(server, "{\"size\":4000000}\n").size(),
		std::string("{\"ok\":true,\"verb\":\"\",\"padding\":\"\"}\n").size() + 4000000);
}

void nonsense_gets_an_error_sentence()
{
	const Running server;
	for (const char *text : {"hello\n", "[1]\n", "\n", "{\"verb\":\n"})
		CHECK(ask(server, text).rfind("{\"ok\":false,\"error\":\"", 0) == 0);
}

void an_endless_line_is_refused()
{
	const Running server;
	CHECK(ask(server, std::string(ctl::k_request_max + 1, ' ')).find("\"ok\":false") !=
		std::string::npos);
}

void a_client_that_leaves_at_once_harms_nobody()
{
	const Running server;
	for (int i = 0; i < 100; i++)
		say(connected(server.path()), "{\"size\":100000}\n");
	CHECK(ask(server, "{}\n").find("\"ok\":true") != std::string::npos);
}

void silent_clients_are_ended_and_make_room()
{
	const Running server;
	std::vector<UniqueFd> silent;
	for (std::size_t i = 0; i < ctl::k_clients_max; i++)
		silent.push_back(connected(server.path()));
	/* the server serves this request once the deadline of the silent clients has passed */
	CHECK(ask(server, "{}\n").find("\"ok\":true") != std::string::npos);
	CHECK_EQUAL(hear_all(silent.front()), "");
}

void an_answer_may_come_later_and_holds_up_nobody()
{
	const Running server;
	const UniqueFd patient = connected(server.path());
	say(patient, "{\"verb\":\"slow\",\"later\":300}\n");
	CHECK(ask(server, "{\"verb\":\"quick\"}\n").find("quick") != std::string::npos);
	pollfd waiting{patient.get(), POLLIN, 0};
	CHECK_EQUAL(poll(&waiting, 1, 0), 0);
	CHECK(hear_all(patient).find("slow") != std::string::npos);
	CHECK_EQUAL(ask(server, "{\"verb\":\"x\",\"twice\":true}\n"),
		"{\"ok\":true,\"verb\":\"x\",\"padding\":\"\"}\n");
}

/* The next client gets the same descriptor, and must not get the other client's answer. */
void an_answer_for_a_client_that_has_left_goes_to_nobody()
{
	const Running server;
	say(connected(server.path()), "{\"verb\":\"left\",\"later\":200}\n");
	const UniqueFd next = connected(server.path());
	say(next, "{\"verb\":\"stays\",\"later\":400}\n");
	CHECK(hear_all(next).find("stays") != std::string::npos);
}

/* More clients than the server serves and the kernel's queue holds. */
void a_crowd_of_silent_clients_starves_nobody()
{
	const Running server;
	std::vector<UniqueFd> silent;
	for (std::size_t i = 0; i < 390; i++)
		silent.push_back(connected(server.path()));
	const auto begin = std::chrono::steady_clock::now();
	for (int i = 0; i < 10; i++)
		CHECK(ask(server, "{}\n").find("\"ok\":true") != std::string::npos);
	/* silent clients have 5 s */
	CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(4));
}

void the_file_is_for_owner_and_group_only()
{
	const Running server;
	struct stat status {
	};
	CHECK_EQUAL(stat(server.path().c_str(), &status), 0);
	CHECK_EQUAL(status.st_mode & 0777, 0660U);
}

void a_second_agent_is_refused_and_a_dead_ones_file_taken_over()
{
	const Running first;
	agent::Loop loop;
	const auto nothing = [](json_object *, const ctl::Reply &answer) { answer("{}"); };
	ctl::Server second(loop, nothing);
	const Status refused = second.listen(first.path());
	REQUIRE(!refused.ok());
	CHECK(refused.error().code == Errc::conflict);

	const std::string stale = first.path() + "-stale";
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	memcpy(address.sun_path, stale.c_str(), stale.size() + 1);
	UniqueFd dead(socket(AF_UNIX, SOCK_STREAM, 0));
	REQUIRE(bind(dead.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) ==
		0);
	dead.reset();
	CHECK(second.listen(stale).ok());
}

} // namespace

int main()
{
	return check::run_tests("ctl",
		{
			TEST(a_request_gets_one_line_and_the_end),
			TEST(a_request_may_come_byte_by_byte),
			TEST(a_large_reply_arrives_whole),
			TEST(nonsense_gets_an_error_sentence),
			TEST(an_endless_line_is_refused),
			TEST(a_client_that_leaves_at_once_harms_nobody),
			TEST(silent_clients_are_ended_and_make_room),
			TEST(an_answer_may_come_later_and_holds_up_nobody),
			TEST(an_answer_for_a_client_that_has_left_goes_to_nobody),
			TEST(a_crowd_of_silent_clients_starves_nobody),
			TEST(the_file_is_for_owner_and_group_only),
			TEST(a_second_agent_is_refused_and_a_dead_ones_file_taken_over),
		});
}
