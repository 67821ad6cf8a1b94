/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * look.h - asks Kubernetes and Slurm for each `skube check` whether they work, with a time limit.
 *
 * A question without an answer in time keeps its initial value in Findings: "no answer within 3 s".
 * On the loop's thread. Only the last answer about the agent's rights is remembered: it takes a
 * request per right, and on a busy server these give way to bindings.
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

/* Less than the time that a client of the control socket has. */
inline constexpr std::chrono::seconds k_look_time{3};
inline constexpr char k_no_answer[] = "no answer within 3 s";

struct Findings {
	std::string api_version;
	std::string api_trouble = k_no_answer;
	std::vector<kube::Right> rights;
	std::string rights_trouble = k_no_answer;
	std::int64_t rights_age_seconds = 0;
	std::string slurm_trouble = k_no_answer;
	slurm::Survey slurm;                       /* valid if slurm_trouble is empty */
	std::optional<double> clock_ahead_seconds; /* the API server's clock minus ours */
};

class Look
{
      public:
	using Done = std::function<void(const Findings &)>;

	/* loop, client and calls must outlive the object. */
	Look(Loop &loop, kube::Client &client, slurm::Calls &calls)
	    : loop_(loop), client_(client), calls_(calls)
	{
	}
	Look(const Look &) = delete;
	Look &operator=(const Look &) = delete;
	~Look();

	/* Calls done once, later, within k_look_time. A caller within one second after the
	 * beginning of a running look shares its findings. rights_for: as in
	 * manifests::needed_rights(). */
	void begin(slurm::KubeNodes nodes, const manifests::RightsFor &rights_for, Done done);

	/* Asks one question with the same time limit. trouble is empty if the API server has just
	 * answered the list request. */
	void list_one(const std::string &path_and_query,
		std::function<void(const std::string &trouble)> done);

      private:
	struct Round {
		Findings findings;
		std::vector<Done> waiting;
		manifests::RightsFor rights_for = {};
		int open = 0; /* questions without an answer */
		bool is_over = false;
		Loop::TimerId timer = 0;
		Clock::time_point begun{};
	};
	using RoundPtr = std::shared_ptr<Round>;

	void ask_api(const RoundPtr &round);
	void ask_rights(const RoundPtr &round);
	void ask_slurm(const RoundPtr &round, slurm::KubeNodes nodes);
	void answered(const RoundPtr &round);
	void end(RoundPtr round);

	Loop &loop_;
	kube::Client &client_;
	slurm::Calls &calls_;
	std::shared_ptr<Round> current_;
	std::set<std::shared_ptr<Round>> rounds_;          /* those that are not over */
	std::vector<std::weak_ptr<Round>> survey_waiters_; /* of the survey that is running */
	std::vector<kube::Right> rights_;                  /* the last answer */
	Clock::time_point rights_at_{};
	std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

} // namespace slurmkube::agent

#endif
