/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * look.h - asks Kubernetes and Slurm, at the moment of a `skube check`, whether they work, each for
 * a bounded time.
 *
 * Questions that have no answer in time stay as Findings is made: "no answer within 3 s". On the
 * loop's thread. The only thing that is remembered is the last answer about our rights, because
 * those 30 questions give way to bindings on a busy server.
 */
#ifndef SLURMKUBE_AGENT_LOOK_H
#define SLURMKUBE_AGENT_LOOK_H

#include "src/agent/kube/client.h"
#include "src/agent/kube/writes.h"
#include "src/agent/slurm/calls.h"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::agent
{

/* less than a client of the control socket has */
inline constexpr std::chrono::seconds k_look_time{3};
inline constexpr char k_no_answer[] = "no answer within 3 s";

struct Findings {
	std::string api_version;
	std::string api_trouble = k_no_answer;
	std::vector<kube::Right> rights;
	std::string rights_trouble = k_no_answer;
	std::int64_t rights_age_seconds = 0;
	std::string slurm_trouble = k_no_answer;
	slurm::Survey slurm;                       /* where slurm_trouble is empty */
	std::optional<double> clock_ahead_seconds; /* the API server's clock minus ours */
};

class Look
{
      public:
	using Done = std::function<void(const Findings &)>;

	/* All must outlive it. */
	Look(Loop &loop, kube::Client &client, slurm::Calls &calls)
	    : loop_(loop), client_(client), calls_(calls)
	{
	}
	Look(const Look &) = delete;
	Look &operator=(const Look &) = delete;
	~Look();

	/* done is called once, within k_look_time, later. Who asks while a look is young and under
	 * way gets its findings. external: Slurm's nodes without slurmd. */
	void begin(std::set<std::string> external, Done done);

	/* The same bound for one question: trouble is empty when the API server has let us list
	 * nodes just now. */
	void list_one(const std::string &path_and_query,
		std::function<void(const std::string &trouble)> done);

      private:
	struct Round {
		Findings findings;
		std::vector<Done> waiting;
		int open = 0; /* questions */
		bool is_over = false;
		Loop::TimerId timer = 0;
		Clock::time_point begun{};
	};
	using RoundPtr = std::shared_ptr<Round>;

	void ask_api(const RoundPtr &round);
	void ask_rights(const RoundPtr &round);
	void ask_slurm(const RoundPtr &round, std::set<std::string> external);
	void answered(const RoundPtr &round);
	void end(RoundPtr round);

	Loop &loop_;
	kube::Client &client_;
	slurm::Calls &calls_;
	std::shared_ptr<Round> current_;
	std::set<std::shared_ptr<Round>> rounds_;          /* not over */
	std::vector<std::weak_ptr<Round>> survey_waiters_; /* of the one survey under way */
	std::vector<kube::Right> rights_;                  /* the last answer */
	Clock::time_point rights_at_{};
	std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

} // namespace slurmkube::agent

#endif
