/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requests.h - the requests of a client: queue, limit of requests in flight, repeats after 401, 429
 * and 503, and giving up a connection that does not answer.
 */
#ifndef SLURMKUBE_AGENT_KUBE_REQUESTS_H
#define SLURMKUBE_AGENT_KUBE_REQUESTS_H

#include "src/agent/kube/multi.h"
#include "src/agent/kube/session.h"
#include "src/agent/kube/transfer.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace slurmkube::kube
{

class Requests
{
      public:
	explicit Requests(Session &session);
	Requests(const Requests &) = delete;
	Requests &operator=(const Requests &) = delete;
	~Requests();

	void send(Request request, OnResponse on_response);
	[[nodiscard]] std::size_t in_flight() const { return flying_.size(); }
	[[nodiscard]] std::size_t queued() const
	{
		return urgent_.size() + queue_.size() + patient_.size();
	}

      private:
	using Clock = agent::Clock;
	struct Pending {
		Request request;
		OnResponse on_response;
		unsigned sends = 0;
		std::string token; /* the token that the request was sent with */
		Clock::time_point sent{};
		std::unique_ptr<Transfer> transfer;
		agent::Loop::TimerId deadline_timer = 0;
	};

	/* What a server has asked for with Retry-After. */
	struct Pause {
		Clock::time_point until{};
		agent::Loop::TimerId timer = 0;
	};

	void open_multi();
	void pump();
	void drop_outdated();
	[[nodiscard]] bool may_fly_patient(unsigned cap) const;
	unsigned *flying_like(const Request &request);
	void take_off(std::deque<Pending> &from);
	std::optional<Pending> land(CURL *easy);
	Status fly(Pending pending);
	void look_after();
	void stir_if_stalled();
	void stir();
	void watch_over(CURL *easy, Pending &pending);
	void overdue(CURL *easy);
	void progress(const std::vector<Multi::Finished> &finished);
	void finish(Pending pending, CURLcode code);
	void no_answer(Pending pending, CURLcode code);
	void answered(Pending pending);
	bool repeat_with_new_token(Pending &pending);
	bool repeat_after_pause(Pending &pending);
	void hold(Pause &pause, Clock::duration length);
	std::deque<Pending> &lane_of(const Request &request);
	[[nodiscard]] static bool may_repeat_unanswered(const Pending &pending);
	void repeat(Pending pending);
	/* Calls back in the loop's next round. */
	void answer_later(OnResponse on_response, Error error);
	void flush_answers();
	void give_connection_up();

	Session &session_;
	std::unique_ptr<Multi> multi_;
	/* urgent, patient: requests with is_urgent and with can_wait */
	std::deque<Pending> urgent_, queue_, patient_;
	unsigned urgent_flying_ = 0, patient_flying_ = 0;
	std::map<CURL *, Pending> flying_;
	std::vector<std::pair<OnResponse, Error>> answers_;
	Pause pause_, urgent_pause_;
	Clock::time_point last_answer_{}, stirred_{};
	bool stirring_ = false;
	agent::Loop::TimerId answers_timer_ = 0, give_up_timer_ = 0, stir_timer_ = 0;
};

} // namespace slurmkube::kube

#endif
