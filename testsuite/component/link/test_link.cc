/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's end of the link with real sockets in a private directory: which of several plugins is
 * served. */
#include "src/agent/link/server.h"
#include "src/core/model/names.h"
#include "testsuite/unit/check.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace slurmkube;

namespace
{

/* A server for ClusterName=site, on a thread of its own, and what it has told: "+host" for opened,
 * "!" for alive, "-" for closed. */
class Running : public link::LinkSink
{
      public:
	Running()
	{
		char name[] = "/tmp/slurm-kube-link.XXXXXX";
		dir_ = mkdtemp(name);
		is_listening_ = server_.listen(path()).ok();
		server_.cluster_is("uid");
		thread_ = std::thread([this] { loop_.run(); });
	}
	~Running() override
	{
		loop_.stop();
		thread_.join();
		std::filesystem::remove_all(dir_);
	}
	Running(const Running &) = delete;
	Running &operator=(const Running &) = delete;

	[[nodiscard]] std::string path() const { return dir_ + "/s"; }
	[[nodiscard]] bool is_listening() const { return is_listening_; }
	/* What it has told, once that has this length; else after 10 s. */
	std::string told(std::size_t length)
	{
		for (int i = 0; i < 1000; i++) {
			{
				const std::lock_guard lock(mutex_);
				if (told_.size() >= length)
					return told_;
			}
			std::this_thread::sleep_for(std::chrono::milliseconds(10));
		}
		const std::lock_guard lock(mutex_);
		return told_;
	}
	std::string told_is(const std::string &wanted) { return told(wanted.size()); }

	void opened(const core::PluginHello &hello) override { tell("+" + hello.host); }
	void arrived(codec::LinkMessage message) override
	{
		tell(std::holds_alternative<codec::Alive>(message) ? "!" : "");
	}
	void closed() override { tell("-"); }

      private:
	void tell(const std::string &what)
	{
		const std::lock_guard lock(mutex_);
		told_ += what;
	}

	std::string dir_;
	std::mutex mutex_;
	std::string told_; /* guarded by mutex_ */
	agent::Loop loop_;
	link::Server server_{loop_, *this, "kube", "site"};
	bool is_listening_ = false;
	std::thread thread_;
};

class Plugin
{
      public:
	explicit Plugin(const Running &agent) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))
	{
		const std::string path = agent.path();
		sockaddr_un address{};
		address.sun_family = AF_UNIX;
		memcpy(address.sun_path, path.c_str(), path.size() + 1);
		const timeval limit{60, 0};
		(void)setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		CHECK_EQUAL(connect(fd_.get(), reinterpret_cast<const sockaddr *>(&address),
				    sizeof(address)),
			0);
	}
	void say(const codec::LinkMessage &message)
	{
		const std::string line = codec::encode_link(++seq_, message) + "\n";
		(void)!send(fd_.get(), line.data(), line.size(), MSG_NOSIGNAL);
	}
	void greet(const std::string &host, const std::string &slurm_cluster = "site")
	{
		core::PluginHello hello;
		hello.protocol = names::k_link_protocol;
		hello.cluster_name = slurm_cluster;
		hello.host = host;
		say(hello);
	}
	/* One line; empty: the agent has closed the link. */
	std::string hear()
	{
		std::string line;
		char c = 0;
		while (read(fd_.get(), &c, 1) == 1 && c != '\n')
			line += c;
		return line;
	}
	/* Up to the first line of the snapshot. */
	void open(const std::string &host)
	{
		greet(host);
		CHECK(hear().find("\"welcome\"") != std::string::npos);
		say(codec::SnapshotBegin{});
	}

      private:
	UniqueFd fd_;
	std::uint64_t seq_ = 0;
};

void the_plugin_of_another_slurmctld_does_not_cut_the_link()
{
	Running agent;
	REQUIRE(agent.is_listening());
	Plugin good(agent);
	good.open("a");
	CHECK_EQUAL(agent.told_is("+a"), "+a");
	for (int i = 0; i < 3; i++) {
		Plugin stranger(agent);
		stranger.greet("x", "test");
		CHECK_EQUAL(stranger.hear(), "");
	}
	good.say(codec::Alive{});
	CHECK_EQUAL(agent.told_is("+a!"), "+a!");
}

void a_plugin_that_refuses_the_agent_does_not_cut_the_link()
{
	Running agent;
	Plugin good(agent);
	good.open("a");
	Plugin other(agent);
	other.greet("b");
	CHECK(other.hear().find("\"welcome\"") != std::string::npos);
	other.say(codec::Refused{"another agent is served"});
	CHECK_EQUAL(other.hear(), "");
	good.say(codec::Alive{});
	CHECK_EQUAL(agent.told_is("+a!"), "+a!");
}

void a_newer_plugin_replaces_the_old_one()
{
	Running agent;
	Plugin old(agent);
	old.open("a");
	CHECK_EQUAL(agent.told_is("+a"), "+a");
	Plugin newer(agent);
	newer.open("b");
	CHECK_EQUAL(agent.told_is("+a-+b"), "+a-+b");
	CHECK_EQUAL(old.hear(), "");
	newer.say(codec::Alive{});
	CHECK_EQUAL(agent.told_is("+a-+b!"), "+a-+b!");
}

void of_two_that_are_accepted_the_newer_one_is_served()
{
	Running agent;
	Plugin first(agent), second(agent);
	first.greet("a");
	CHECK(first.hear().find("\"welcome\"") != std::string::npos);
	second.open("b");
	CHECK_EQUAL(first.hear(), "");
	CHECK_EQUAL(agent.told_is("+b"), "+b");
}

void silent_connections_do_not_cut_the_link()
{
	Running agent;
	Plugin good(agent);
	good.open("a");
	CHECK_EQUAL(agent.told_is("+a"), "+a");
	std::vector<Plugin> silent;
	for (int i = 0; i < 20; i++)
		silent.emplace_back(agent);
	CHECK_EQUAL(silent.front().hear(), "");
	good.say(codec::Alive{});
	CHECK_EQUAL(agent.told_is("+a!"), "+a!");
	silent.back().open("b");
	CHECK_EQUAL(agent.told_is("+a!-+b"), "+a!-+b");
}

} // namespace

int main()
{
	return check::run_tests("link",
		{
			TEST(the_plugin_of_another_slurmctld_does_not_cut_the_link),
			TEST(a_plugin_that_refuses_the_agent_does_not_cut_the_link),
			TEST(a_newer_plugin_replaces_the_old_one),
			TEST(of_two_that_are_accepted_the_newer_one_is_served),
			TEST(silent_connections_do_not_cut_the_link),
		});
}
