/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/client.h"

#include "src/agent/kube/requests.h"
#include "src/agent/kube/session.h"
#include "src/agent/kube/streams.h"

#include <map>

namespace slurmkube::kube
{

class Client::Impl
{
      public:
	Impl(agent::Loop &loop, Access access, const ClientOptions &options)
	    : session(loop, std::move(access), options), requests(session), streams(session)
	{
	}
	Impl(const Impl &) = delete;
	Impl &operator=(const Impl &) = delete;
	~Impl()
	{
		for (const auto &[key, timer] : timers)
			session.loop.cancel(timer);
	}
	void after(std::chrono::milliseconds delay, std::function<void()> call)
	{
		const std::uint64_t key = ++last_key;
		timers[key] = session.loop.after(delay, [this, key, call = std::move(call)] {
			timers.erase(key);
			call();
		});
	}

	std::map<std::uint64_t, agent::Loop::TimerId> timers;
	std::uint64_t last_key = 0;
	Session session;
	Requests requests;
	Streams streams;
};

Client::Client(agent::Loop &loop, Access access, ClientOptions options)
    : impl_(std::make_unique<Impl>(loop, std::move(access), options))
{
}

Client::~Client() = default;

void Client::send(Request request, OnResponse on_response)
{
	impl_->requests.send(std::move(request), std::move(on_response));
}

StreamId Client::open_stream(StreamRequest request, OnFrame on_frame, OnStreamEnd on_end)
{
	return impl_->streams.open(std::move(request), std::move(on_frame), std::move(on_end));
}

void Client::close_stream(StreamId id)
{
	impl_->streams.close(id);
}

void Client::replace_access(Access access)
{
	impl_->session.replace_access(std::move(access));
}

void Client::read_token()
{
	(void)impl_->session.token->refused(Token::Clock::now());
}

void Client::after(std::chrono::milliseconds delay, std::function<void()> call)
{
	impl_->after(delay, std::move(call));
}

agent::Loop &Client::loop()
{
	return impl_->session.loop;
}

const ClientCounters &Client::counters() const
{
	return impl_->session.counters;
}

std::size_t Client::in_flight() const
{
	return impl_->requests.in_flight();
}

std::size_t Client::queued() const
{
	return impl_->requests.queued();
}

std::optional<std::int64_t> Client::token_expires() const
{
	return impl_->session.token->expires();
}

std::string Client::token_trouble() const
{
	const Token &token = *impl_->session.token;
	const std::int64_t now = agent::now().wall_s;
	if (token.trouble().empty() && token.expires().value_or(now + 1) <= now)
		return token.refusal(now);
	return token.trouble();
}

const std::string &Client::server() const
{
	return impl_->session.access.server;
}

const Token &Client::token() const
{
	(void)impl_->session.token->text(Token::Clock::now());
	return *impl_->session.token;
}

} // namespace slurmkube::kube
