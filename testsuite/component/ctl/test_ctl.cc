/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control socket with real sockets in a private directory: framing, limits, bad clients. */
#include "src/agent/ctl/server.h"
#include "src/codec/json.h"
#include "testsuite/unit/check.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

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
		(void)chmod(name, 0755); /* other users connect, too */
		listening_ = server_.listen(path()).ok();
		beat();
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
	/* the longest time between two of the loop's timers, since the start */
	[[nodiscard]] std::chrono::milliseconds longest_gap() const { return gap_; }

      private:
	void beat()
	{
		const auto now = std::chrono::steady_clock::now();
		gap_ = std::max(gap_.load(),
			std::chrono::duration_cast<std::chrono::milliseconds>(now - beat_));
		beat_ = now;
		loop_.after(std::chrono::milliseconds(1), [this] { beat(); });
	}
	/* "later": answers after that many milliseconds; "twice": answers twice; "busy": keeps the
	 * loop busy for that long */
	void reply(json_object *request, const ctl::Peer &peer, const ctl::Reply &answer)
	{
		const std::string text =
			codec::get_string(request, "verb") == "who" ? who(peer) : text_for(request);
		std::this_thread::sleep_for(
			std::chrono::milliseconds(codec::get_int(request, "busy")));
		const std::int64_t later = codec::get_int(request, "later");
		if (later > 0)
			loop_.after(
				std::chrono::milliseconds(later), [answer, text] { answer(text); });
		else
			answer(text);
		if (codec::get_bool(request, "twice"))
			answer(text);
	}
	static std::string who(const ctl::Peer &peer)
	{
		return std::to_string(peer.user) + (peer.is_operator ? " operator" : "");
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
	std::chrono::steady_clock::time_point beat_ = std::chrono::steady_clock::now();
	std::atomic<std::chrono::milliseconds> gap_{};
	agent::Loop loop_;
	ctl::Server server_{loop_,
		[this](json_object *request, const ctl::Peer &peer, const ctl::Reply &answer,
			const ctl::Take &) { reply(request, peer, answer); }};
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

constexpr uid_t k_nobody = 65534;

/* A connection of another user with these groups, the first of which is its primary group. Needs
 * root, as which testsuite/check runs. The kernel has credentials per thread, and takes those of
 * the thread that connects. */
UniqueFd connected_as(const Running &server, uid_t user, const std::vector<gid_t> &groups)
{
	UniqueFd fd;
	std::thread([&] {
		const gid_t first = groups.front();
		if (syscall(SYS_setgroups, groups.size(), groups.data()) == 0 &&
			syscall(SYS_setresgid, first, first, first) == 0 &&
			syscall(SYS_setresuid, user, user, user) == 0)
			fd = connected(server.path());
	}).join();
	return fd;
}

/* The server ends connections of a user who has too many before it reads. Then send() may fail, and
 * the answer is empty. */
std::string ask_as(const Running &server, uid_t user, const std::vector<gid_t> &groups,
	const std::string &text)
{
	const UniqueFd fd = connected_as(server, user, groups);
	(void)send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
	return hear_all(fd);
}

void the_handler_knows_who_asks()
{
	const Running server;
	const std::string who = "{\"verb\":\"who\"}\n";
	CHECK_EQUAL(ask(server, who), "0 operator\n");
	CHECK_EQUAL(ask_as(server, k_nobody, {k_nobody}, who), "65534\n");
	const gid_t ours = getegid();
	CHECK_EQUAL(ask_as(server, k_nobody, {ours}, who), "65534 operator\n");
	std::vector<gid_t> many(100, k_nobody); /* more than fit at first */
	many.push_back(ours);
	CHECK_EQUAL(ask_as(server, k_nobody, many, who), "65534 operator\n");
	many.back() = k_nobody;
	CHECK_EQUAL(ask_as(server, k_nobody, many, who), "65534\n");
}

void a_user_who_asks_without_a_pause_is_refused()
{
	const Running server;
	int answered = 0;
	std::string last;
	for (int i = 0; i < 60; i++) {
		last = ask_as(server, k_nobody, {k_nobody}, "{}\n");
		answered += last.rfind("{\"ok\":true", 0) == 0 ? 1 : 0;
	}
	CHECK(answered >= 20 && answered < 40);
	CHECK(last.find("you have asked too often") != std::string::npos);
	for (int i = 0; i < 60; i++) /* an operator is not */
		CHECK(ask(server, "{}\n").find("\"ok\":true") != std::string::npos);
}

/* They have asked, too. Their questions come while the server is busy, so that it sees each
 * question together with its end. */
void users_who_hang_up_are_counted()
{
	const Running server;
	/* The one question of each round that gets an answer would not be refused: it comes less
	 * often than twice a second. */
	bool is_refused = false;
	for (int round = 0; round < 30 && !is_refused; round++) {
		const UniqueFd busy = connected(server.path());
		say(busy, "{\"busy\":600}\n");
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
		/* A slow machine sends the last ones when the server refuses them already. */
		for (std::size_t i = 0; i < ctl::k_clients_of_user_max; i++) {
			const UniqueFd leaving = connected_as(server, k_nobody, {k_nobody});
			(void)send(leaving.get(), "{}\n", 3, MSG_NOSIGNAL);
		}
		CHECK(hear_all(busy).find("\"ok\":true") != std::string::npos);
		is_refused = ask_as(server, k_nobody, {k_nobody}, "{}\n")
				     .find("you have asked too often") != std::string::npos;
	}
	CHECK(is_refused);
	CHECK(ask(server, "{}\n").find("\"ok\":true") != std::string::npos);
}

/* Otherwise questions that come at once would hold up scheduling together. */
void other_work_is_done_between_two_answers()
{
	const Running server;
	std::vector<UniqueFd> clients;
	for (int i = 0; i < 20; i++) {
		clients.push_back(connected(server.path()));
		say(clients.back(), "{\"busy\":50}\n");
	}
	for (const UniqueFd &fd : clients)
		CHECK(hear_all(fd).find("\"ok\":true") != std::string::npos);
	CHECK(server.longest_gap() < std::chrono::milliseconds(500));
}

/* Questions that wait for their answers keep their places, so only their number protects others. */
void users_leave_room_for_operators()
{
	const Running server;
	std::vector<UniqueFd> waiting;
	for (uid_t user = 1000; user < 1010; user++) {
		for (int i = 0; i < 10; i++) {
			waiting.push_back(connected_as(server, user, {user}));
			(void)send(waiting.back().get(), "{\"later\":3000}\n", 15, MSG_NOSIGNAL);
		}
	}
	CHECK(ask(server, "{}\n").find("\"ok\":true") != std::string::npos);
	std::size_t open = 0;
	for (const UniqueFd &fd : waiting) {
		pollfd one{fd.get(), POLLIN | POLLRDHUP, 0};
		open += poll(&one, 1, 0) == 0 ? 1U : 0U;
	}
	CHECK_EQUAL(open, ctl::k_clients_of_users_max);
}

void a_second_agent_is_refused_and_a_dead_ones_file_taken_over()
{
	const Running first;
	agent::Loop loop;
	const auto nothing = [](json_object *, const ctl::Peer &, const ctl::Reply &answer,
				     const ctl::Take &) { answer("{}"); };
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
			TEST(the_handler_knows_who_asks),
			TEST(a_user_who_asks_without_a_pause_is_refused),
			TEST(users_who_hang_up_are_counted),
			TEST(other_work_is_done_between_two_answers),
			TEST(users_leave_room_for_operators),
			TEST(a_second_agent_is_refused_and_a_dead_ones_file_taken_over),
		});
}
