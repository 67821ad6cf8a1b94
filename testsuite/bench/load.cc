/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load.cc - sends many requests to an API server as fast as the server answers them: the limit for
 * any scheduler.
 *
 *	load KUBECONFIG IN_FLIGHT < lines        (IN_FLIGHT 1 to 64)
 *
 * A line is METHOD<tab>PATH<tab>BODY; METHOD is POST or DELETE. All lines are read before the first
 * request is sent. The requests use one HTTP/2 connection and the agent's own client, so that a
 * comparison with the agent shows the cost of its other work. Prints one line of JSON: seconds from
 * the first request to the last answer, CPU time during that, the number of answers per status (0:
 * no answer), and the text of the first refusal.
 */
#include "src/agent/kube/client.h"
#include "src/base/log.h"
#include "src/codec/json.h"

#include <curl/curl.h>

#include <charconv>
#include <cstdio>
#include <iostream>
#include <map>

#include <sys/resource.h>

using namespace slurmkube;
using namespace slurmkube::kube;
using codec::Json;
using codec::put;

namespace
{

struct Tally {
	std::size_t waiting = 0;
	std::map<long, std::int64_t> statuses;
	std::string first_refusal;
};

double cpu_seconds()
{
	rusage used{};
	(void)getrusage(RUSAGE_SELF, &used);
	const auto seconds = [](const timeval &t) {
		return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
	};
	return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/* nullopt: the line is not METHOD<tab>PATH<tab>BODY. */
std::optional<Request> request_of(const std::string &line)
{
	const auto first = line.find('\t'), second = line.find('\t', first + 1);
	const std::string method = line.substr(0, first);
	if (second == std::string::npos || (method != "POST" && method != "DELETE"))
		return std::nullopt;
	Request request;
	request.method = method == "POST" ? Method::post : Method::remove;
	request.path = line.substr(first + 1, second - first - 1);
	request.body = line.substr(second + 1);
	request.deadline = std::chrono::seconds(60);
	request.any_status = true;
	return request;
}

std::optional<std::vector<Request>> read_requests()
{
	std::vector<Request> requests;
	for (std::string line; std::getline(std::cin, line);) {
		auto request = request_of(line);
		if (!request)
			return std::nullopt;
		requests.push_back(std::move(*request));
	}
	return requests;
}

void count(Tally &tally, const Result<Response> &answer)
{
	const long status = answer ? answer->status : 0;
	++tally.statuses[status];
	if ((status < 200 || status > 299) && tally.first_refusal.empty())
		tally.first_refusal = answer ? answer->body.substr(0, 500) : answer.error().what;
	--tally.waiting;
}

void print(const Tally &tally, double seconds, double cpu)
{
	Json line = codec::new_object(), statuses = codec::new_object();
	for (const auto &[status, number] : tally.statuses)
		put(statuses.get(), std::to_string(status).c_str(), number);
	put(line.get(), "seconds", seconds);
	put(line.get(), "cpu_s", cpu);
	put(line.get(), "statuses", std::move(statuses));
	put(line.get(), "refusal", tally.first_refusal);
	(void)printf("%s\n", codec::to_text(line.get()).c_str());
}

ClientOptions options_for(unsigned in_flight, std::size_t requests)
{
	ClientOptions options;
	options.max_in_flight = in_flight;
	options.max_queued = requests + 1;
	options.user_agent = "slurm-kube-load";
	return options;
}

int send_all(Access access, std::vector<Request> requests, unsigned in_flight)
{
	agent::Loop loop;
	Client client(loop, std::move(access), options_for(in_flight, requests.size()));
	Tally tally;
	tally.waiting = requests.size();
	const double cpu = cpu_seconds();
	const auto begin = agent::Clock::now();
	for (Request &request : requests)
		client.send(std::move(request), [&](const Result<Response> &answer) {
			count(tally, answer);
			if (tally.waiting == 0)
				loop.stop();
		});
	if (tally.waiting > 0)
		loop.run();
	print(tally, std::chrono::duration<double>(agent::Clock::now() - begin).count(),
		cpu_seconds() - cpu);
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	unsigned in_flight = 0;
	const std::string_view number = argc == 3 ? argv[2] : "";
	if (std::from_chars(number.data(), number.data() + number.size(), in_flight).ec !=
			std::errc() ||
		in_flight < 1 || in_flight > 64) {
		(void)fprintf(stderr,
			"usage: load KUBECONFIG IN_FLIGHT < lines        (IN_FLIGHT 1 to 64)\n");
		return 2;
	}
	log_open(log_to_stderr, LogLevel::warning);
	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	auto access = access_from_kubeconfig(argv[1]);
	auto requests = read_requests();
	if (!access || !requests) {
		(void)fprintf(stderr, "load: %s\n",
			access ? "a line is not METHOD<tab>PATH<tab>BODY"
			       : access.error().what.c_str());
		return 2;
	}
	return send_all(std::move(*access), std::move(*requests), in_flight);
}
