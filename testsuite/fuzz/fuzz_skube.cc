/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_skube.cc - the control socket: requests as the agent's server reads them, and replies as
 * skube prints them.
 *
 * An odd first byte selects a request, an even one a reply. Nothing in a reply may reach a terminal
 * as anything but text.
 */
#include "src/agent/ctl/server.h"
#include "src/codec/json.h"
#include "src/skube/event_text.h"
#include "src/skube/list.h"
#include "src/skube/top.h"
#include "src/skube/views.h"
#include "testsuite/fuzz/fuzz.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace slurmkube;
using namespace slurmkube::fuzz;

namespace
{

constexpr std::int64_t k_now = 1'790'000'000;

/* Each list in each format, sorted by each column. */
void check_lists(json_object *reply)
{
	for (const skube::List *list :
		{&skube::jobs_list(), &skube::pods_list(), &skube::nodes_list()}) {
		for (const skube::Format format :
			{skube::Format::table, skube::Format::wide, skube::Format::name})
			MUST(is_printable(
				skube::list_text(*list, reply, {.format = format, .now = k_now}),
				"\n"));
		for (const skube::Format format : {skube::Format::json, skube::Format::yaml})
			MUST(!skube::list_text(*list, reply, {.format = format}).empty());
		for (std::size_t i = 0; i < list->columns.size(); i++)
			(void)skube::list_text(
				*list, reply, {.sort = {{i, i % 2 == 0}}, .now = k_now});
	}
}

void check_reply(std::string_view text)
{
	const auto reply = codec::parse_json(text, std::size_t{1} << 20);
	if (!reply)
		return;
	json_object *object = reply->get();
	for (const std::string &view : {skube::ping_view(object), skube::check_view(object),
		     skube::slurm_conf_view(object), skube::topology_conf_view(object),
		     skube::diag_view(object), skube::why_view(object), skube::devices_view(object),
		     skube::top_page({.now = object, .before = object, .seconds = 1}, {})})
		MUST(is_printable(view, "\n"));
	(void)skube::all_checks_passed(object);
	check_lists(object);
	MUST(is_printable(skube::EventText().of(object, ""), "\n"));
}

/* A server that answers each request with the request itself. */
class Peer
{
      public:
	Peer()
	    : server_(loop_,
		      [](json_object *request, const ctl::Peer &, const ctl::Reply &answer,
			      const ctl::Take &) { answer(codec::to_text(request)); })
	{
		MUST(server_.listen(path_).ok());
	}
	std::string ask(std::string_view bytes)
	{
		const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
		sockaddr_un address{};
		address.sun_family = AF_UNIX;
		path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
		MUST(connect(fd.get(), reinterpret_cast<const sockaddr *>(&address),
			     sizeof(address)) == 0);
		MUST(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
			static_cast<ssize_t>(bytes.size()));
		(void)shutdown(fd.get(), SHUT_WR);
		std::string answer;
		loop_.set(fd.get(), 1 /* EPOLLIN */,
			[&](std::uint32_t) { read_some(fd.get(), answer); });
		loop_.run();
		loop_.remove(fd.get());
		return answer;
	}

      private:
	void read_some(int fd, std::string &answer)
	{
		char piece[4096];
		const ssize_t got = read(fd, piece, sizeof(piece));
		if (got > 0)
			answer.append(piece, static_cast<std::size_t>(got));
		else
			loop_.stop();
	}
	std::string path_ = "/tmp/fuzz-skube-" + std::to_string(getpid());
	agent::Loop loop_;
	ctl::Server server_;
};

void check_request(std::string_view bytes)
{
	Peer peer;
	const std::string answer = peer.ask(bytes);
	/* no answer to an incomplete line, otherwise exactly one line of JSON */
	MUST((bytes.find('\n') == std::string_view::npos) == answer.empty() ||
		bytes.size() > ctl::k_request_max);
	MUST(answer.empty() || answer.find('\n') == answer.size() - 1);
	MUST(answer.empty() || codec::parse_json(answer, std::size_t{1} << 20).ok());
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	Input input(data, size);
	if (input.byte() % 2 == 0)
		check_reply(input.rest());
	else
		check_request(input.rest().substr(0, 16384));
	return 0;
}
