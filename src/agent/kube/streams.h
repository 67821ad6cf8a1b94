/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streams.h - the watch streams of a client: delivers frames as they arrive, and how each stream
 * ended.
 */
#ifndef SLURMKUBE_AGENT_KUBE_STREAMS_H
#define SLURMKUBE_AGENT_KUBE_STREAMS_H

#include "src/agent/kube/multi.h"
#include "src/agent/kube/session.h"
#include "src/agent/kube/transfer.h"
#include "src/codec/frames.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace slurmkube::kube
{

class Streams
{
      public:
	explicit Streams(Session &session);
	Streams(const Streams &) = delete;
	Streams &operator=(const Streams &) = delete;
	~Streams();

	StreamId open(StreamRequest request, OnFrame on_frame, OnStreamEnd on_end);
	void close(StreamId id);

      private:
	using Clock = agent::Clock;
	struct Stream {
		Stream(StreamRequest asked, OnFrame frame, OnStreamEnd end)
		    : request(std::move(asked)), on_frame(std::move(frame)), on_end(std::move(end)),
		      frames(request.frame_limit)
		{
		}
		StreamRequest request;
		OnFrame on_frame;
		OnStreamEnd on_end;
		codec::FrameReader frames;
		std::string other_body; /* body of an answer with another status than 200 */
		std::string token;
		std::unique_ptr<Transfer> transfer;
		std::optional<Error> failed; /* the error if the stream could not be started */
		Clock::time_point last_byte{};
		agent::Loop::TimerId timer = 0;
		bool opened = false;
		bool closed = false;
	};
	/* Shared, because a callback may close the stream that is calling it. */
	using Held = std::shared_ptr<Stream>;

	Status fly(Stream &stream);
	void progress(const std::vector<Multi::Finished> &finished);
	void notice_open(Stream &stream);
	void take_bytes(StreamId id, const Held &stream);
	void finish(StreamId id, const Held &stream, CURLcode code);
	void end(StreamId id, const Held &stream, Result<Response> how);
	void land(Stream &stream);
	void watch_silence(StreamId id, Stream &stream, Clock::duration wait);
	void check_silence(StreamId id);

	Session &session_;
	std::map<StreamId, Held> streams_;
	StreamId last_id_ = 0;
	Multi multi_;
};

} // namespace slurmkube::kube

#endif
