/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/streams.h"

#include <algorithm>

namespace slurmkube::kube
{

namespace
{

using namespace std::chrono_literals;

constexpr long k_streams_most = 16; /* only one is used if the server speaks HTTP/2 */
constexpr std::size_t k_largest_other_body = std::size_t{1} << 20;
/* Servers send the headers of a watch at once, even if there are no events. */
constexpr std::chrono::milliseconds k_longest_wait_for_headers{30'000};

} // namespace

Streams::Streams(Session &session)
    : session_(session),
      multi_(session.loop, k_streams_most,
	      [this](const std::vector<Multi::Finished> &finished) { progress(finished); })
{
}

Streams::~Streams()
{
	for (const auto &[id, stream] : streams_)
		land(*stream);
}

StreamId Streams::open(StreamRequest request, OnFrame on_frame, OnStreamEnd on_end)
{
	const StreamId id = ++last_id_;
	auto stream = std::make_shared<Stream>(
		std::move(request), std::move(on_frame), std::move(on_end));
	streams_.emplace(id, stream);
	session_.counters.streams++;
	stream->last_byte = Clock::now();
	if (auto done = fly(*stream); !done)
		stream->failed = done.error();
	watch_silence(id, *stream,
		stream->failed ? 0ms
			       : std::min(stream->request.silence, k_longest_wait_for_headers));
	return id;
}

Status Streams::fly(Stream &stream)
{
	Request request;
	request.path = stream.request.path;
	request.accept = stream.request.accept;
	request.deadline = 0ms;
	/* what may arrive between two calls of take_body() */
	request.body_limit = stream.request.frame_limit + k_largest_other_body;
	stream.token = session_.token->text(Clock::now());
	auto transfer = Transfer::make(
		{session_.access, session_.options, stream.token, stream.request.fresh_connection},
		request);
	if (!transfer)
		return transfer.error();
	stream.transfer = std::move(*transfer);
	return multi_.add(stream.transfer->easy());
}

void Streams::close(StreamId id)
{
	const auto found = streams_.find(id);
	if (found == streams_.end())
		return;
	const Held stream = found->second;
	streams_.erase(found);
	land(*stream);
}

/* Nothing happens on the stream after this. */
void Streams::land(Stream &stream)
{
	stream.closed = true;
	session_.loop.cancel(stream.timer);
	stream.timer = 0;
	if (stream.transfer)
		multi_.remove(stream.transfer->easy());
}

void Streams::progress(const std::vector<Multi::Finished> &finished)
{
	const std::map<StreamId, Held> now = streams_;
	for (const auto &[id, stream] : now) {
		if (stream->closed || !stream->transfer)
			continue;
		notice_open(*stream);
		if (!stream->closed)
			take_bytes(id, stream);
		const auto is_this = [&stream = stream](const Multi::Finished &one) {
			return one.easy == stream->transfer->easy();
		};
		const auto ended = std::find_if(finished.begin(), finished.end(), is_this);
		if (ended != finished.end() && !stream->closed)
			finish(id, stream, ended->code);
	}
}

void Streams::notice_open(Stream &stream)
{
	if (stream.opened || stream.transfer->status() != 200)
		return;
	stream.opened = true;
	stream.last_byte = Clock::now();
	multi_.wake_waiting();
	if (stream.request.on_open)
		stream.request.on_open();
}

void Streams::take_bytes(StreamId id, const Held &stream)
{
	if (!stream->transfer->has_body())
		return;
	const std::string bytes = stream->transfer->take_body();
	stream->last_byte = Clock::now();
	session_.counters.bytes_received += bytes.size();
	if (stream->transfer->status() != 200) {
		stream->other_body += bytes.substr(0,
			k_largest_other_body -
				std::min(k_largest_other_body, stream->other_body.size()));
		return;
	}
	stream->frames.add(bytes);
	while (!stream->closed) {
		const auto frame = stream->frames.next();
		if (!frame)
			break;
		stream->on_frame(*frame);
	}
	if (stream->frames.too_long() && !stream->closed)
		end(id, stream,
			Error{Errc::too_large,
				"an event of a watch is longer than " +
					std::to_string(stream->request.frame_limit) + " bytes"});
}

void Streams::finish(StreamId id, const Held &stream, CURLcode code)
{
	const long status = stream->transfer->status();
	if (code != CURLE_OK) {
		Error error = stream->transfer->failure(code);
		/* again is reserved for silence */
		error.code = error.code == Errc::again ? Errc::io : error.code;
		end(id, stream, std::move(error));
		return;
	}
	Response response{.status = status,
		.body = std::move(stream->other_body),
		.retry_after = stream->transfer->retry_after()};
	if (status == 401) {
		session_.counters.unauthorized++;
		response.note = session_.token->refusal(agent::now().wall_s);
		/* the next stream uses the new token if there is one */
		if (session_.token->text(Clock::now()) == stream->token)
			(void)session_.token->refused(Clock::now());
	}
	end(id, stream, std::move(response));
}

void Streams::end(StreamId id, const Held &stream, Result<Response> how)
{
	streams_.erase(id);
	land(*stream);
	stream->on_end(std::move(how));
}

void Streams::watch_silence(StreamId id, Stream &stream, Clock::duration wait)
{
	stream.timer = session_.loop.after(wait, [this, id] { check_silence(id); });
}

void Streams::check_silence(StreamId id)
{
	const auto found = streams_.find(id);
	if (found == streams_.end())
		return;
	const Held stream = found->second;
	if (stream->failed) {
		end(id, stream, *stream->failed);
		return;
	}
	const bool has_headers = stream->transfer->status() != 0;
	const auto limit = has_headers
		? stream->request.silence
		: std::min(stream->request.silence, k_longest_wait_for_headers);
	const Clock::duration quiet = Clock::now() - stream->last_byte;
	if (quiet < limit)
		watch_silence(id, *stream, limit - quiet);
	else
		end(id, stream,
			Error{Errc::again,
				"nothing came for " + std::to_string(limit.count() / 1000) + " s"});
}

} // namespace slurmkube::kube
