/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe.cc - drives src/agent/slurm from a shell: makes one call and prints its result as key=value
 * words on stdout.
 *
 *	probe CONF submit [name=|cpus=|memory=|minutes=|partition=|account=|qos=|uid=|node=|pod=|
 *		attempt=|priority=]...
 *	probe CONF complete JOB STATUS | cancel JOB | ping
 *	probe CONF give-up JOB POD | give-up-asked-twice JOB POD: the second one loses slurmctld
 *		after it has written the note
 *	probe CONF node-create NAME ADDRESS PORT CPUS MIB FEATURE emulated|native
 *	probe CONF node-state NAME drain|undrain|down|up [REASON] | node-delete NAME
 *	probe CONF survey NAME...: prints SlurmUser, and for each partition how many of these
 *		nodes + how many others it has
 *	probe CONF figures [SECONDS]: prints Slurm's own metrics, all pages; with SECONDS a second
 *		time, asked for with what is known from the first
 *	probe CONF burst COUNT WORKERS: submits all jobs at once, then ends them all
 *
 * A failed call prints error=CODE and the text. Every run also prints stall_ms: the longest time
 * during which the event loop was blocked.
 */
#include "src/agent/loop.h"
#include "src/agent/slurm/calls.h"
#include "src/agent/slurm/jobs.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace slurmkube;

namespace
{

constexpr auto k_tick = std::chrono::milliseconds(10);
constexpr const char *k_codes[] = {
	"invalid", "not_found", "conflict", "denied", "again", "too_large", "io", "internal"};

using Words = std::vector<std::string>;
using Seconds = std::chrono::duration<double>;

class Probe
{
      public:
	Probe(const std::string &conf, int workers)
	    : calls_(loop_, slurm::Settings{.conf = conf, .workers = workers})
	{
		tick();
	}

	int run(const Words &words);

      private:
	void tick();
	void finish(int exit_status);
	void failed(const Error &error);
	slurm::Done<Ok> status();
	void submit(const Words &words);
	void node(const Words &words);
	void give_up_asked_twice(std::uint32_t job, const std::string &pod);
	void figures(int pause, const slurm::figures::Answers &before);
	void burst(int count);
	void burst_submitted(Result<slurm::SubmitReply> reply);
	void burst_end();

	agent::Loop loop_;
	slurm::Calls calls_;
	agent::Clock::time_point last_tick_ = agent::Clock::now(), burst_start_;
	agent::Clock::duration stall_{};
	int exit_status_ = 0, outstanding_ = 0;
	std::map<std::string, int> results_;
	std::vector<core::JobId> jobs_;
};

void Probe::tick()
{
	const auto now = agent::Clock::now();
	stall_ = std::max(stall_, now - last_tick_ - k_tick);
	last_tick_ = now;
	(void)loop_.after(k_tick, [this] { tick(); });
}

void Probe::finish(int exit_status)
{
	exit_status_ = exit_status;
	loop_.stop();
}

void Probe::failed(const Error &error)
{
	(void)printf(
		"error=%s text=%s ", k_codes[static_cast<int>(error.code)], error.what.c_str());
	finish(1);
}

slurm::Done<Ok> Probe::status()
{
	return [this](const Status &result) {
		if (!result)
			return failed(result.error());
		(void)printf("ok ");
		finish(0);
	};
}

core::JobSpec spec_of(std::map<std::string, std::string> words)
{
	const auto number = [&words](const char *key, unsigned long fallback) {
		return words.count(key) ? std::strtoul(words[key].c_str(), nullptr, 10) : fallback;
	};
	core::JobSpec spec;
	spec.name = words.count("name") ? words["name"] : "probe";
	spec.partition = words["partition"];
	spec.account = words["account"];
	spec.qos = words["qos"];
	spec.required_node = words["node"];
	spec.comment = "from the probe";
	spec.user_id = static_cast<std::uint32_t>(number("uid", 0));
	spec.group_id = spec.user_id;
	spec.cpus = static_cast<std::uint32_t>(number("cpus", 1));
	spec.memory_mib = number("memory", 0);
	spec.time_limit_minutes = static_cast<std::uint32_t>(number("minutes", 0));
	if (words.count("priority"))
		spec.priority = static_cast<std::uint32_t>(number("priority", 0));
	spec.marker = {.cluster = "kube",
		.name_space = "default",
		.name = spec.name,
		.kind = "Pod",
		.uid = words["pod"].empty() ? "u" : words["pod"],
		.attempt = static_cast<std::uint32_t>(number("attempt", 1))};
	return spec;
}

void Probe::submit(const Words &words)
{
	std::map<std::string, std::string> keys;
	for (const std::string &word : words) {
		const auto equals = word.find('=');
		if (equals != std::string::npos)
			keys[word.substr(0, equals)] = word.substr(equals + 1);
	}
	calls_.submit(spec_of(keys), [this](Result<slurm::SubmitReply> reply) {
		if (!reply)
			return failed(reply.error());
		(void)printf("job=%u existed=%d allocated=%d node=%s cpus=%u ", reply->id.number,
			reply->existed ? 1 : 0, reply->allocated ? 1 : 0, reply->node.c_str(),
			reply->cpus);
		finish(0);
	});
}

void Probe::node(const Words &w)
{
	const std::map<std::string, core::NodeStateChange> changes = {
		{"drain", core::NodeStateChange::drain},
		{"undrain", core::NodeStateChange::undrain}, {"down", core::NodeStateChange::down},
		{"up", core::NodeStateChange::up}};
	if (w[0] == "node-delete")
		return calls_.node_delete(w.at(1), status());
	if (w[0] == "node-state")
		return calls_.node_set_state(
			w.at(1), changes.at(w.at(2)), w.size() > 3 ? w[3] : "", status());
	calls_.node_create(
		{.name = w.at(1),
			.address = w.at(2),
			.port = std::atoi(w.at(3).c_str()),
			.cpus = static_cast<std::uint32_t>(std::atoi(w.at(4).c_str())),
			.memory_mib = static_cast<std::uint64_t>(std::atoi(w.at(5).c_str())),
			.features = w.at(6),
			.gres = ""},
		w.at(7) == "native" ? core::Family::native : core::Family::emulated, status());
}

/* The second question whose job it is finds no slurmctld. */
void Probe::give_up_asked_twice(std::uint32_t job, const std::string &pod)
{
	int asked = 0;
	const auto same = [&]() -> Status {
		return ++asked == 1 ? Status(Ok{}) : Error{Errc::again, "no connection"};
	};
	Status result = slurm::give_up_job({{job}, spec_of({{"pod", pod}}).marker}, same);
	loop_.post([this, result = std::move(result)] { status()(result); });
}

void Probe::figures(int pause, const slurm::figures::Answers &before)
{
	using slurm::figures::Kind;
	calls_.figures(before, {Kind::jobs, Kind::nodes, Kind::partitions, Kind::scheduler},
		[this, pause](const slurm::figures::Answers &answers) {
			for (const auto &[page, text] : answers.pages)
				(void)printf("%s", text->c_str());
			for (const auto &[kind, trouble] : answers.troubles)
				(void)printf("# no answer about %s: %s\n",
					slurm::figures::name_of(kind), trouble.c_str());
			if (answers.jobs)
				(void)printf("# private: %d updated: %lld\n",
					answers.jobs->is_private ? 1 : 0,
					static_cast<long long>(answers.jobs->updated));
			(void)printf("# end\n");
			if (pause < 0) {
				(void)printf("# ");
				return finish(answers.troubles.empty() ? 0 : 1);
			}
			(void)fflush(stdout);
			(void)loop_.after(std::chrono::seconds(pause),
				[this, answers] { figures(-1, answers); });
		});
}

void Probe::burst(int count)
{
	burst_start_ = agent::Clock::now();
	outstanding_ = count;
	for (int i = 0; i < count; i++)
		calls_.submit(spec_of({{"pod", "burst-" + std::to_string(i)}}),
			[this](auto reply) { burst_submitted(std::move(reply)); });
}

void Probe::burst_submitted(Result<slurm::SubmitReply> reply)
{
	results_[reply ? (reply->allocated ? "allocated" : "pending")
		       : k_codes[static_cast<int>(reply.error().code)]]++;
	if (reply)
		jobs_.push_back(reply->id);
	if (--outstanding_ > 0)
		return;
	for (const auto &[result, n] : results_)
		(void)printf("%s=%d ", result.c_str(), n);
	const std::set<core::JobId> different(jobs_.begin(), jobs_.end());
	(void)printf("different=%zu per_second=%.0f ", different.size(),
		static_cast<double>(jobs_.size()) /
			Seconds(agent::Clock::now() - burst_start_).count());
	burst_end();
}

void Probe::burst_end()
{
	outstanding_ = static_cast<int>(jobs_.size());
	if (jobs_.empty())
		return finish(1);
	for (const core::JobId &job : jobs_) {
		calls_.complete({job, {}}, 0, [this](const Status &result) {
			results_["ended"] += result ? 1 : 0;
			if (--outstanding_ == 0) {
				(void)printf("ended=%d ", results_["ended"]);
				finish(0);
			}
		});
	}
}

int Probe::run(const Words &words)
{
	const std::string &verb = words.at(0);
	const auto number = [&words](std::size_t i) {
		return static_cast<std::uint32_t>(std::strtoul(words.at(i).c_str(), nullptr, 10));
	};
	if (verb == "submit")
		submit(words);
	else if (verb == "complete")
		calls_.complete({{number(1)}, {}}, number(2), status());
	else if (verb == "cancel")
		calls_.cancel({{number(1)}, {}}, status());
	else if (verb == "give-up")
		calls_.give_up({{number(1)}, spec_of({{"pod", words.at(2)}}).marker}, status());
	else if (verb == "give-up-asked-twice")
		give_up_asked_twice(number(1), words.at(2));
	else if (verb == "ping")
		calls_.ping(status());
	else if (verb == "survey")
		calls_.survey({.external = {words.begin() + 1, words.end()}, .hybrid = {}},
			[this](const Result<slurm::Survey> &result) {
				if (!result)
					return failed(result.error());
				(void)printf("slurm_user=%u ", result->slurm_user_id);
				for (const slurm::Partition &p : result->partitions)
					(void)printf("%s=%zu+%zu%s ", p.name.c_str(), p.external,
						p.others, p.is_up ? "" : ",not-up");
				for (const std::string &name : result->to_suspend)
					(void)printf("suspends=%s ", name.c_str());
				finish(0);
			});
	else if (verb == "sharing")
		calls_.sharing_partitions({words.begin() + 1, words.end()},
			[this](const Result<slurm::SharingPartitions> &result) {
				if (!result)
					return failed(result.error());
				for (const auto &[name, why] : result->refused)
					(void)printf("refused=%s ", name.c_str());
				for (const std::string &name : result->suspending)
					(void)printf("suspending=%s ", name.c_str());
				finish(0);
			});
	else if (verb == "figures")
		figures(words.size() > 1 ? static_cast<int>(number(1)) : -1, {});
	else if (verb == "burst")
		burst(static_cast<int>(number(1)));
	else
		node(words);
	loop_.run();
	(void)printf("stall_ms=%lld\n",
		static_cast<long long>(
			std::chrono::duration_cast<std::chrono::milliseconds>(stall_).count()));
	return exit_status_;
}

} // namespace

int main(int argc, char **argv)
{
	const Words words(argv + std::min(argc, 2), argv + argc);
	if (words.empty())
		return 2;
	const int workers = words[0] == "burst" ? std::atoi(words.at(2).c_str()) : 1;
	return Probe(argv[1], workers).run(words);
}
