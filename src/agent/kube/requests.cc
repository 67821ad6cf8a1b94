/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/requests.h"

#include "src/base/log.h"

#include <algorithm>

namespace slurmkube::kube
{

namespace
{

using namespace std::chrono_literals;

constexpr long k_connections = 4; /* only one is used if the server speaks HTTP/2 */
constexpr unsigned k_most_sends = 5;
constexpr unsigned k_urgent_most = 2;   /* in flight, beside max_in_flight of the others */
constexpr unsigned k_patient_share = 8; /* patient requests may use 1/8 of max_in_flight */
/* libcurl ends a transfer at its deadline; if it does not, this class does so after this time. */
constexpr std::chrono::milliseconds k_overdue{500};
constexpr std::chrono::seconds k_longest_pause{30};
/* An answer that stops for this long in the middle is lost. Deadlines are much longer, because some
 * lists take long to begin. */
constexpr std::chrono::seconds k_longest_silence{10};

} // namespace

Requests::Requests(Session &session) : session_(session)
{
	open_multi();
}

Requests::~Requests()
{
	for (const agent::Loop::TimerId timer :
		{pause_.timer, urgent_pause_.timer, answers_timer_, give_up_timer_, stir_timer_})
		session_.loop.cancel(timer);
	for (const auto &[easy, pending] : flying_) {
		session_.loop.cancel(pending.deadline_timer);
		multi_->remove(easy);
	}
}

void Requests::open_multi()
{
	multi_ = std::make_unique<Multi>(session_.loop, k_connections,
		[this](const std::vector<Multi::Finished> &finished) { progress(finished); });
}

void Requests::send(Request request, OnResponse on_response)
{
	if (!request.is_urgent && queued() >= session_.options.max_queued) {
		answer_later(std::move(on_response),
			Error{Errc::again, "too many requests wait for the API server"});
		return;
	}
	Pending pending;
	pending.request = std::move(request);
	pending.on_response = std::move(on_response);
	lane_of(pending.request).push_back(std::move(pending));
	pump();
}

std::deque<Requests::Pending> &Requests::lane_of(const Request &request)
{
	if (request.is_urgent)
		return urgent_;
	return request.can_wait ? patient_ : queue_;
}

/* Must not call back, because send() must not. */
void Requests::pump()
{
	const unsigned cap = std::clamp(session_.options.max_in_flight, 1U, 64U);
	while (!urgent_.empty() && urgent_flying_ < k_urgent_most &&
		Clock::now() >= urgent_pause_.until)
		take_off(urgent_);
	while (flying_.size() - urgent_flying_ < cap && Clock::now() >= pause_.until) {
		drop_outdated();
		if (!queue_.empty())
			take_off(queue_);
		else if (may_fly_patient(cap))
			take_off(patient_);
		else
			break;
	}
}

/* What waits for long may have come to nothing meanwhile. */
void Requests::drop_outdated()
{
	while (!patient_.empty() && patient_.front().request.is_outdated &&
		patient_.front().request.is_outdated()) {
		answer_later(std::move(patient_.front().on_response),
			Error{Errc::conflict,
				"the object has changed before the request was sent"});
		patient_.pop_front();
	}
}

/* Keeps most of the limit free: the server would serve patient requests in turn with urgent ones
 * that come later. */
bool Requests::may_fly_patient(unsigned cap) const
{
	return !patient_.empty() && patient_flying_ < std::max(1U, cap / k_patient_share);
}

void Requests::take_off(std::deque<Pending> &from)
{
	Pending pending = std::move(from.front());
	from.pop_front();
	OnResponse on_response = pending.on_response;
	if (auto done = fly(std::move(pending)); !done)
		answer_later(std::move(on_response), done.error());
}

/* The number of those in flight of its lane; nullptr: it is not counted. */
unsigned *Requests::flying_like(const Request &request)
{
	if (request.is_urgent)
		return &urgent_flying_;
	return request.can_wait ? &patient_flying_ : nullptr;
}

/* Removes the request from those in flight; empty: it is not in flight. */
std::optional<Requests::Pending> Requests::land(CURL *easy)
{
	auto node = flying_.extract(easy);
	if (node.empty())
		return std::nullopt;
	if (unsigned *flying = flying_like(node.mapped().request))
		--*flying;
	return std::move(node.mapped());
}

Status Requests::fly(Pending pending)
{
	pending.sent = Clock::now();
	pending.token = session_.token->text(pending.sent);
	pending.sends++;
	auto transfer =
		Transfer::make({session_.access, session_.options, pending.token}, pending.request);
	if (!transfer)
		return transfer.error();
	CURL *easy = (*transfer)->easy();
	pending.transfer = std::move(*transfer);
	if (auto done = multi_->add(easy); !done)
		return done;
	session_.counters.requests++;
	if (unsigned *flying = flying_like(pending.request))
		++*flying;
	watch_over(easy, flying_.emplace(easy, std::move(pending)).first->second);
	look_after();
	return Ok{};
}

/* Wakes at the deadline, or when the answer has stopped in the middle. */
void Requests::watch_over(CURL *easy, Pending &pending)
{
	const Clock::time_point now = Clock::now(), begun = pending.transfer->last_byte();
	const Clock::time_point lost =
		(begun == Clock::time_point{} ? now : begun) + k_longest_silence;
	const Clock::time_point end = std::min<Clock::time_point>(
		pending.sent + pending.request.deadline + k_overdue, lost);
	pending.deadline_timer = session_.loop.after(
		std::max<Clock::duration>(end - now, 0ms), [this, easy] { overdue(easy); });
}

void Requests::overdue(CURL *easy)
{
	const auto found = flying_.find(easy);
	if (found == flying_.end())
		return;
	const Clock::time_point now = Clock::now(), last = found->second.transfer->last_byte();
	const bool has_stopped = last != Clock::time_point{} && now - last >= k_longest_silence;
	if (!has_stopped && now < found->second.sent + found->second.request.deadline + k_overdue) {
		watch_over(easy, found->second);
		return;
	}
	auto pending = land(easy);
	multi_->remove(easy);
	no_answer(std::move(*pending), CURLE_OPERATION_TIMEDOUT);
	pump();
}

void Requests::progress(const std::vector<Multi::Finished> &finished)
{
	for (const Multi::Finished &one : finished) {
		if (auto pending = land(one.easy))
			finish(std::move(*pending), one.code);
	}
	pump();
}

void Requests::finish(Pending pending, CURLcode code)
{
	session_.loop.cancel(pending.deadline_timer);
	/* A server that refuses a request may also close the connection in the middle of the body
	 * (seen with 401 of Kubernetes 1.37): the status counts. */
	const bool is_refusal = pending.transfer->status() >= 300;
	if (code == CURLE_OK || is_refusal)
		answered(std::move(pending));
	else
		no_answer(std::move(pending), code);
}

/* At most once, and never POST, because the server may have acted on it. */
bool Requests::may_repeat_unanswered(const Pending &pending)
{
	return pending.request.method != Method::post && pending.sends < 2;
}

void Requests::no_answer(Pending pending, CURLcode code)
{
	session_.counters.failures++;
	const Error error = pending.transfer->failure(code);
	/* if the server closes a connection after refusing one request, others on it fail too */
	if (error.code == Errc::io && code != CURLE_OPERATION_TIMEDOUT &&
		may_repeat_unanswered(pending)) {
		repeat(std::move(pending));
		return;
	}
	if (code == CURLE_OPERATION_TIMEDOUT) {
		session_.counters.timeouts++;
		/* No request was answered while this one waited: the connection or its server is
		 * dead. libcurl would keep the connection in its cache and reuse it for the next
		 * request. */
		if (last_answer_ < pending.sent && give_up_timer_ == 0)
			give_up_timer_ = session_.loop.after(0ms, [this] { give_connection_up(); });
	}
	pending.on_response(error);
}

void Requests::give_connection_up()
{
	give_up_timer_ = 0;
	session_.counters.reconnects++;
	auto abandoned = std::move(flying_);
	flying_.clear();
	urgent_flying_ = patient_flying_ = 0;
	for (const auto &[easy, pending] : abandoned) {
		session_.loop.cancel(pending.deadline_timer);
		multi_->remove(easy);
	}
	open_multi();
	for (auto &[easy, pending] : abandoned) {
		if (may_repeat_unanswered(pending))
			repeat(std::move(pending));
		else
			answer_later(std::move(pending.on_response),
				Error{Errc::io,
					"the connection to the API server gave no answers any "
					"more"});
	}
	pump();
}

void Requests::answered(Pending pending)
{
	last_answer_ = Clock::now();
	session_.counters.answers++;
	Response response{
		.status = pending.transfer->status(), .body = pending.transfer->take_body()};
	session_.counters.answers_by_status[{pending.request.method, response.status}]++;
	session_.counters.bytes_received += response.body.size();
	if (response.status == 401 && repeat_with_new_token(pending))
		return;
	if ((response.status == 429 || response.status == 503) && repeat_after_pause(pending))
		return;
	response.retry_after = pending.transfer->retry_after();
	if (response.status == 401)
		response.note = session_.token->refusal(agent::now().wall_s);
	if (response.status >= 300 && !pending.request.any_status)
		pending.on_response(error_of(response, pending.request.path));
	else
		pending.on_response(std::move(response));
}

bool Requests::repeat_with_new_token(Pending &pending)
{
	session_.counters.unauthorized++;
	const Clock::time_point now = Clock::now();
	/* another request may have found the new token already */
	const bool renewed =
		session_.token->text(now) != pending.token || session_.token->refused(now);
	if (!renewed || pending.sends >= 2)
		return false;
	repeat(std::move(pending));
	return true;
}

/* The server has not acted on such a request, so that any may be repeated; Retry-After asks for
 * that. */
bool Requests::repeat_after_pause(Pending &pending)
{
	session_.counters.throttled++;
	const auto pause = pending.transfer->retry_after();
	if (!pause)
		return false;
	hold(pending.request.is_urgent ? urgent_pause_ : pause_, std::min(*pause, k_longest_pause));
	if (pending.sends >= k_most_sends)
		return false;
	repeat(std::move(pending));
	return true;
}

void Requests::hold(Pause &pause, Clock::duration length)
{
	pause.until = std::max(pause.until, Clock::now() + length);
	session_.loop.cancel(pause.timer);
	pause.timer = session_.loop.after(pause.until - Clock::now(), [this, &pause] {
		pause.timer = 0;
		pump();
	});
}

void Requests::repeat(Pending pending)
{
	session_.counters.repeats++;
	pending.transfer.reset();
	lane_of(pending.request).push_front(std::move(pending));
}

void Requests::answer_later(OnResponse on_response, Error error)
{
	answers_.emplace_back(std::move(on_response), std::move(error));
	if (answers_timer_ == 0)
		answers_timer_ = session_.loop.after(0ms, [this] { flush_answers(); });
}

void Requests::flush_answers()
{
	answers_timer_ = 0;
	std::vector<std::pair<OnResponse, Error>> answers;
	answers.swap(answers_);
	for (const auto &[on_response, error] : answers)
		on_response(error);
}

} // namespace slurmkube::kube
