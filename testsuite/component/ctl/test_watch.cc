/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watchers with real sockets in a private directory: bad clients, slow ones, many of them, and the
 * end of the agent. */
#include "src/agent/ctl/server.h"
#include "src/agent/watch/hub.h"
#include "src/codec/json.h"
#include "testsuite/unit/check.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace slurmkube;
using namespace std::chrono_literals;

namespace
{

constexpr char k_ask[] = "{\"verb\":\"watch\"}\n";

/* Nodes by name, each with a row. */
class Nodes : public watch::Source
{
      public:
	std::optional<watch::Sight> look(const watch::ObjectId &id) override
	{
		const auto found = rows.find(id.name);
		if (found == rows.end())
			return std::nullopt;
		return watch::Sight{.row = found->second,
			.identity = "\"" + id.name + "\"",
			.facts = {},
			.is_for_all = true};
	}
	[[nodiscard]] std::optional<watch::ObjectId> after(const watch::ObjectId &id) const override
	{
		const auto found = rows.upper_bound(id.name);
		return found == rows.end() ? std::nullopt : std::optional(node(found->first));
	}
	void keep_changes(bool kept) override { is_kept = kept; }
	[[nodiscard]] bool has_changes() override { return !changed.objects.empty(); }
	watch::Changed take_changes() override { return std::exchange(changed, {}); }
	[[nodiscard]] bool is_ready() const override { return ready; }

	static watch::ObjectId node(const std::string &name)
	{
		return {.kind = core::ListKind::nodes, .number = 0, .name = name};
	}

	std::map<std::string, std::string> rows;
	watch::Changed changed;
	bool is_kept = false, ready = true;
};

watch::Times short_times()
{
	return {.heartbeat = 300ms,
		.stall = 1000ms,
		.tick = 100ms,
		.pause = 10ms,
		.walk = 60'000ms,
		.linger = 500ms};
}

/* A server with a hub, on its own thread. */
class Running
{
      public:
	Running()
	{
		char name[] = "/tmp/slurm-kube-watch.XXXXXX";
		dir_ = mkdtemp(name);
		(void)chmod(name, 0755);
		CHECK(server_.listen(path()).ok());
		beat();
		thread_ = std::thread([this] { loop_.run(); });
	}
	~Running()
	{
		stop();
		std::filesystem::remove_all(dir_);
	}
	/* Ends the loop and then the hub, as the agent does. */
	void stop()
	{
		if (!thread_.joinable())
			return;
		loop_.stop();
		thread_.join();
		hub_.reset();
	}
	[[nodiscard]] std::string path() const { return dir_ + "/s"; }

	/* Runs on the loop's thread. */
	void on_loop(const std::function<void()> &call)
	{
		std::promise<void> done;
		loop_.post([&] {
			call();
			done.set_value();
		});
		done.get_future().wait();
	}
	void set(const std::string &name, const std::string &row)
	{
		on_loop([&] {
			nodes_.rows[name] = row;
			tell(name);
		});
	}
	void remove(const std::string &name)
	{
		on_loop([&] {
			nodes_.rows.erase(name);
			tell(name);
		});
	}
	void set_ready(bool ready)
	{
		on_loop([&] {
			nodes_.ready = ready;
			hub_->changed();
		});
	}
	bool is_kept()
	{
		bool kept = false;
		on_loop([&] { kept = nodes_.is_kept; });
		return kept;
	}
	/* Of the loop, since it was last asked for. */
	std::chrono::milliseconds longest_gap()
	{
		std::chrono::milliseconds gap{};
		on_loop([&] { gap = std::exchange(gap_, std::chrono::milliseconds{}); });
		return gap;
	}

      private:
	void tell(const std::string &name)
	{
		nodes_.changed.objects.insert(Nodes::node(name));
		hub_->changed();
	}
	void beat()
	{
		const auto now = std::chrono::steady_clock::now();
		gap_ = std::max(
			gap_, std::chrono::duration_cast<std::chrono::milliseconds>(now - beat_));
		beat_ = now;
		loop_.after(1ms, [this] { beat(); });
	}
	void reply(json_object *request, const ctl::Peer &peer, const ctl::Reply &answer,
		const ctl::Take &take)
	{
		/* "as": another user than the test's */
		const ctl::Peer as{.user = codec::get_int(request, "as", peer.user),
			.is_operator = !codec::get(request, "as")};
		if (codec::get_string(request, "verb") != "watch")
			return answer("{\"ok\":true}");
		if (const std::string refused = hub_->refusal(as); !refused.empty())
			return answer(ctl::error_reply(refused));
		watch::Wish wish{.peer = as, .selections = {}};
		wish.selections[static_cast<std::size_t>(core::ListKind::nodes)] =
			core::Selection{};
		hub_->serve(take(), wish, "{\"ok\":true,\"watch\":1}");
		answer("{\"ok\":false}"); /* which nobody gets */
	}

	std::string dir_;
	std::chrono::steady_clock::time_point beat_ = std::chrono::steady_clock::now();
	std::chrono::milliseconds gap_{};
	agent::Loop loop_;
	Nodes nodes_;
	std::optional<watch::Hub> hub_{std::in_place, loop_, nodes_, short_times()};
	ctl::Server server_{loop_,
		[this](json_object *request, const ctl::Peer &peer, const ctl::Reply &answer,
			const ctl::Take &take) { reply(request, peer, answer, take); }};
	std::thread thread_;
};

/* A client that reads line by line. */
class Client
{
      public:
	explicit Client(const Running &server, const std::string &request = k_ask)
	    : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))
	{
		sockaddr_un address{};
		address.sun_family = AF_UNIX;
		const std::string path = server.path();
		memcpy(address.sun_path, path.c_str(), path.size() + 1);
		const timeval limit{20, 0};
		(void)setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		CHECK(connect(fd_.get(), reinterpret_cast<const sockaddr *>(&address),
			      sizeof(address)) == 0);
		say(request);
	}
	void say(const std::string &text)
	{
		CHECK_EQUAL(send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL),
			static_cast<ssize_t>(text.size()));
	}
	/* "": the connection has ended. */
	std::string line()
	{
		for (;;) {
			const auto end = text_.find('\n');
			if (end != std::string::npos) {
				const std::string first = text_.substr(0, end);
				text_.erase(0, end + 1);
				return first;
			}
			char piece[65536];
			const ssize_t got = read(fd_.get(), piece, sizeof(piece));
			if (got <= 0)
				return "";
			text_.append(piece, static_cast<std::size_t>(got));
		}
	}
	/* The next line that is not a sign of life; not for ever, because these go on. */
	std::string event()
	{
		std::string one = line();
		for (int i = 0; i < 50 && one.find("\"alive\"") != std::string::npos; i++)
			one = line();
		return one;
	}
	/* Up to the mark that the list is complete. */
	std::size_t take_list()
	{
		CHECK_EQUAL(event(), "{\"ok\":true,\"watch\":1}");
		std::size_t objects = 0;
		for (std::string one = event(); one != "{\"type\":\"synced\"}"; one = event()) {
			if (one.empty()) {
				CHECK(!one.empty());
				break;
			}
			objects++;
		}
		return objects;
	}
	[[nodiscard]] const UniqueFd &fd() const { return fd_; }
	void close() { fd_.reset(); }

      private:
	UniqueFd fd_;
	std::string text_;
};

std::string event(const std::string &type, const std::string &object)
{
	return R"({"type":")" + type + R"(","kind":"node","object":)" + object + "}";
}

void the_list_and_then_the_changes()
{
	Running server;
	server.set("a", "1");
	Client client(server);
	CHECK_EQUAL(client.event(), "{\"ok\":true,\"watch\":1}");
	CHECK_EQUAL(client.event(), event("added", "1"));
	CHECK_EQUAL(client.event(), "{\"type\":\"synced\"}");
	server.set("a", "2");
	CHECK_EQUAL(client.event(), event("changed", "2"));
	server.set("b", "3");
	CHECK_EQUAL(client.event(), event("added", "3"));
	server.remove("a");
	CHECK_EQUAL(client.event(), event("gone", "\"a\""));
}

void signs_of_life_come_while_nothing_changes()
{
	Running server;
	Client client(server);
	(void)client.take_list();
	CHECK_EQUAL(client.line(), R"({"type":"alive","ready":true})");
	CHECK_EQUAL(client.line(), R"({"type":"alive","ready":true})");
	server.set_ready(false);
	CHECK_EQUAL(client.line(), R"({"type":"alive","ready":false})");
}

void the_agent_says_that_it_stops()
{
	Running server;
	Client client(server);
	(void)client.take_list();
	server.stop();
	CHECK_EQUAL(client.event(), R"({"type":"closed","reason":"slurmkubed stops"})");
	CHECK_EQUAL(client.event(), "");
}

/* A megabyte of rows, more than the kernel keeps for it. */
void a_client_that_never_reads_is_closed_with_the_reason()
{
	Running server;
	const std::string large(1000, 'x');
	for (int i = 0; i < 1000; i++)
		server.set("n" + std::to_string(i), "\"" + large + "\"");
	Client quick(server);
	CHECK_EQUAL(quick.take_list(), std::size_t{1000});
	/* what a list of this size takes on this machine, at present */
	const auto without = server.longest_gap();
	Client slow(server);
	/* each change is an occasion to send the slow one more than it has room for */
	for (int i = 0; i < 40; i++) {
		server.set("n0", std::to_string(i));
		CHECK_EQUAL(quick.event(), event("changed", std::to_string(i)));
	}
	std::this_thread::sleep_for(2000ms);
	std::string last, before;
	for (std::string one = slow.line(); !one.empty(); one = slow.line())
		before = std::exchange(last, one);
	CHECK_EQUAL(last, R"({"type":"closed","reason":"too slow: nothing was read for 1 s"})");
	CHECK(codec::parse_json(before, 1 << 20).ok()); /* no half line before it */
	CHECK(server.longest_gap() < 500ms + 3 * without);
}

/* It reads, but less than there is: it gets the newest rows, and stays. */
void a_client_that_reads_slowly_stays()
{
	Running server;
	const std::string large(1000, 'x');
	for (int i = 0; i < 400; i++)
		server.set("n" + std::to_string(i), "\"" + large + "\"");
	Client slow(server);
	std::string all;
	for (int round = 0; round < 40; round++) {
		server.set("z", std::to_string(round));
		std::this_thread::sleep_for(50ms);
		for (int i = 0; i < 10; i++)
			all += slow.line() + "\n";
	}
	std::size_t of_z = 0;
	for (std::string one = slow.line(); one.find("\"alive\"") == std::string::npos;
		one = slow.line()) {
		REQUIRE(!one.empty());
		all += one + "\n";
	}
	for (int round = 0; round < 40; round++)
		of_z += all.find("\"object\":" + std::to_string(round) + "}") != std::string::npos
			? 1U
			: 0U;
	CHECK(of_z < 40);
	CHECK(all.find("\"object\":39}") != std::string::npos);
	CHECK(all.find("closed") == std::string::npos);
}

void a_client_that_closes_in_the_middle_harms_nobody()
{
	Running server;
	const std::string large(1000, 'x');
	for (int i = 0; i < 1000; i++)
		server.set("n" + std::to_string(i), "\"" + large + "\"");
	Client stays(server);
	CHECK_EQUAL(stays.take_list(), std::size_t{1000});
	for (int i = 0; i < 50; i++) {
		Client leaves(server);
		if (i % 2 == 0)
			(void)leaves.event();
		leaves.close();
	}
	server.set("n0", "1");
	CHECK_EQUAL(stays.event(), event("changed", "1"));
	Client next(server);
	CHECK_EQUAL(next.take_list(), std::size_t{1000});
}

void a_client_may_end_its_half()
{
	Running server;
	Client client(server);
	(void)shutdown(client.fd().get(), SHUT_WR);
	(void)client.take_list();
	server.set("a", "1");
	CHECK_EQUAL(client.event(), event("added", "1"));
}

/* What follows the request is not read, however long it is. */
void more_requests_on_the_connection_are_ignored()
{
	Running server;
	Client client(server, std::string(k_ask) + k_ask);
	(void)client.take_list();
	client.say("nonsense\n");
	server.set("a", "1");
	CHECK_EQUAL(client.event(), event("added", "1"));
}

void a_request_in_two_halves()
{
	Running server;
	Client client(server, "{\"verb\":\"wa");
	std::this_thread::sleep_for(50ms);
	client.say("tch\"}\n");
	CHECK_EQUAL(client.take_list(), std::size_t{0});
}

void a_hundred_watchers()
{
	Running server;
	std::vector<Client> clients;
	std::size_t served = 0, refused = 0;
	for (int i = 0; i < 100; i++) {
		clients.emplace_back(server);
		const std::string first = clients.back().event();
		served += first.find("\"ok\":true") != std::string::npos ? 1U : 0U;
		refused += first.find("serves 16 watches already") != std::string::npos ? 1U : 0U;
	}
	CHECK_EQUAL(served, watch::k_watchers_max);
	CHECK_EQUAL(refused, 100 - watch::k_watchers_max);
	Client other(server, "{\"verb\":\"ping\"}\n");
	CHECK_EQUAL(other.line(), "{\"ok\":true}");
	server.set("a", "1");
	for (std::size_t i = 0; i < served; i++) {
		CHECK_EQUAL(clients[i].event(), "{\"type\":\"synced\"}");
		CHECK_EQUAL(clients[i].event(), event("added", "1"));
	}
}

/* Also of a client to which there is nothing to send. */
void a_place_is_free_at_once()
{
	Running server;
	for (int round = 0; round < 3; round++) {
		std::vector<Client> clients;
		for (std::size_t i = 0; i < watch::k_watchers_max; i++) {
			clients.emplace_back(server);
			CHECK_EQUAL(clients.back().take_list(), std::size_t{0});
		}
	}
}

void users_have_few_watches()
{
	Running server;
	std::vector<Client> clients;
	const auto as = [&](int user) {
		clients.emplace_back(
			server, R"({"verb":"watch","as":)" + std::to_string(user) + "}\n");
		return clients.back().event();
	};
	for (int user = 1; user <= 4; user++) {
		CHECK(as(user).find("\"ok\":true") != std::string::npos);
		CHECK(as(user).find("\"ok\":true") != std::string::npos);
		CHECK(as(user).find("you have 2 watches already") != std::string::npos);
	}
	CHECK(as(5).find("users have 8 watches already") != std::string::npos);
	Client operators(server);
	(void)operators.take_list();
}

/* The objects are kept for a moment, for the next watcher. */
void nothing_is_noted_without_watchers()
{
	Running server;
	CHECK(!server.is_kept());
	Client client(server);
	(void)client.take_list();
	CHECK(server.is_kept());
	client.close();
	std::this_thread::sleep_for(200ms);
	CHECK(server.is_kept());
	for (int i = 0; i < 100 && server.is_kept(); i++)
		std::this_thread::sleep_for(100ms);
	CHECK(!server.is_kept());
	server.set("a", "1");
	Client next(server);
	CHECK_EQUAL(next.take_list(), std::size_t{1});
}

} // namespace

int main()
{
	return check::run_tests("watch",
		{
			TEST(the_list_and_then_the_changes),
			TEST(signs_of_life_come_while_nothing_changes),
			TEST(the_agent_says_that_it_stops),
			TEST(a_client_that_never_reads_is_closed_with_the_reason),
			TEST(a_client_that_reads_slowly_stays),
			TEST(a_client_that_closes_in_the_middle_harms_nobody),
			TEST(a_client_may_end_its_half),
			TEST(more_requests_on_the_connection_are_ignored),
			TEST(a_request_in_two_halves),
			TEST(a_hundred_watchers),
			TEST(a_place_is_free_at_once),
			TEST(users_have_few_watches),
			TEST(nothing_is_noted_without_watchers),
		});
}
