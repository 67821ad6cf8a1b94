/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/look.h"

#include "src/agent/kube/server_time.h"

#include <utility>

namespace slurmkube::agent
{

namespace
{

/* a caller within this time after the beginning of a look shares its findings */
constexpr std::chrono::seconds k_shared{1};

kube::Request short_request(const std::string &path_and_query)
{
	kube::Request request;
	request.path = path_and_query;
	request.deadline = k_look_time;
	return request;
}

} // namespace

Look::~Look()
{
	for (const RoundPtr &round : rounds_)
		loop_.cancel(round->timer);
}

void Look::begin(slurm::KubeNodes nodes, const manifests::RightsFor &rights_for, Done done)
{
	if (current_ && !current_->is_over && Clock::now() - current_->begun < k_shared)
		return current_->waiting.push_back(std::move(done));
	const RoundPtr round = std::make_shared<Round>();
	current_ = round;
	rounds_.insert(round);
	round->begun = Clock::now();
	round->rights_for = rights_for;
	round->waiting.push_back(std::move(done));
	round->timer = loop_.after(k_look_time, [this, round] { end(round); });
	round->open = 2;
	ask_api(round);
	ask_slurm(round, std::move(nodes));
}

/* If the server does not answer this question, it is asked nothing else. */
void Look::ask_api(const RoundPtr &round)
{
	kube::version(client_,
		[this, round, alive = std::weak_ptr(alive_)](
			const Result<kube::ServerVersion> &answer) {
			if (alive.expired() || round->is_over)
				return;
			round->findings.api_version = answer ? answer->git_version : "";
			round->findings.api_trouble = answer ? "" : answer.error().what;
			if (!answer) {
				round->findings.rights_trouble =
					"not asked: the API server does not answer";
				return answered(round);
			}
			round->open++;
			kube::server_time(
				client_, [this, round, alive](const Result<std::int64_t> &time) {
					if (alive.expired() || round->is_over)
						return;
					if (time)
						round->findings.clock_ahead_seconds =
							static_cast<double>(*time - now().wall_s);
					answered(round);
				});
			ask_rights(round);
		});
}

void Look::ask_rights(const RoundPtr &round)
{
	kube::self_check(client_, round->rights_for,
		[this, round, alive = std::weak_ptr(alive_)](
			Result<std::vector<kube::Right>> answer) {
			if (alive.expired())
				return;
			if (answer) {
				rights_ = *answer;
				rights_at_ = Clock::now();
			}
			if (round->is_over)
				return;
			round->findings.rights_trouble = answer ? "" : answer.error().what;
			round->findings.rights =
				answer ? std::move(*answer) : std::vector<kube::Right>{};
			answered(round);
		});
}

/* Only one survey runs at a time: while slurmctld is down, a survey takes longer than a look, and
 * ends as soon as slurmctld is back. */
void Look::ask_slurm(const RoundPtr &round, slurm::KubeNodes nodes)
{
	survey_waiters_.emplace_back(round);
	if (survey_waiters_.size() > 1)
		return;
	calls_.survey(std::move(nodes),
		[this, alive = std::weak_ptr(alive_)](const Result<slurm::Survey> &answer) {
			if (alive.expired())
				return;
			for (const auto &waiting : std::exchange(survey_waiters_, {})) {
				const RoundPtr open = waiting.lock();
				if (!open || open->is_over)
					continue;
				open->findings.slurm_trouble = answer ? "" : answer.error().what;
				if (answer)
					open->findings.slurm = *answer;
				answered(open);
			}
		});
}

void Look::answered(const RoundPtr &round)
{
	if (--round->open == 0)
		end(round);
}

/* By value: cancel() may destroy the timer's callback with the last other reference. */
void Look::end(RoundPtr round) // NOLINT(performance-unnecessary-value-param)
{
	round->is_over = true;
	loop_.cancel(round->timer);
	rounds_.erase(round);
	Findings &found = round->findings;
	if (found.api_trouble.empty() && found.rights_trouble == k_no_answer && !rights_.empty()) {
		found.rights = rights_;
		found.rights_trouble.clear();
		found.rights_age_seconds =
			std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - rights_at_)
				.count();
	}
	for (const Done &done : std::exchange(round->waiting, {}))
		done(found);
}

void Look::list_one(
	const std::string &path_and_query, std::function<void(const std::string &trouble)> done)
{
	const auto once =
		std::make_shared<std::function<void(const std::string &)>>(std::move(done));
	const auto tell = [once](const std::string &trouble) {
		if (const auto call = std::exchange(*once, nullptr))
			call(trouble);
	};
	const Loop::TimerId timer = loop_.after(k_look_time, [tell] { tell(k_no_answer); });
	client_.send(short_request(path_and_query),
		[this, tell, timer, alive = std::weak_ptr(alive_)](
			const Result<kube::Response> &answer) {
			if (alive.expired())
				return;
			loop_.cancel(timer);
			tell(answer ? "" : answer.error().what);
		});
}

} // namespace slurmkube::agent
