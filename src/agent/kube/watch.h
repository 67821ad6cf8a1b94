/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.h - list and watch of one kind, for ever.
 *
 * Lists in pages, then watches from the list's version; goes on from the last version after clean
 * ends, errors and server restarts, and lists again when the server has forgotten that version (410
 * in any of its schema). On the loop's thread. The sink hears an object more than once and must
 * take each as "this is its state now".
 */
#ifndef SLURMKUBE_AGENT_KUBE_WATCH_H
#define SLURMKUBE_AGENT_KUBE_WATCH_H

#include "src/agent/kube/client.h"
#include "src/codec/json.h"
#include "src/core/model/backoff.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>

namespace slurmkube::kube
{

/* Objects are as in JSON, whatever they came in, and borrowed for the call. The sink must not
 * destroy the watch. */
struct WatchSink {
	virtual void upserted(json_object *object) = 0;
	virtual void deleted(json_object *last_state) = 0;
	/* A complete list was delivered as upserts: everything else is gone. */
	virtual void listed(const std::set<std::string> &live_uids) = 0;
	virtual ~WatchSink() = default;
};

struct WatchOptions {
	std::string path;           /* "/api/v1/pods" */
	std::string field_selector; /* "spec.schedulerName=slurm" */
	std::string label_selector;
	std::string accept = k_json; /* k_protobuf only for pods: codec/pod_schema.h */
	unsigned page_size = 500;
	std::chrono::milliseconds silence{150'000};
	/* timeoutSeconds is chosen between */
	std::chrono::seconds least_timeout{300}, longest_timeout{600};
	/* two streams of one agent: a server that comes back is not hurt, and pods wait for us */
	core::Backoff backoff{std::chrono::milliseconds(100), std::chrono::milliseconds(2000)};
};

struct WatchCounters {
	std::uint64_t lists = 0; /* completed */
	std::uint64_t pages = 0;
	std::uint64_t expired = 0; /* 410 */
	std::uint64_t streams = 0; /* opened */
	std::uint64_t events = 0;  /* added, modified, deleted */
	std::uint64_t bookmarks = 0;
	std::uint64_t errors = 0;
	std::uint64_t silences = 0;
};

class Watch
{
      public:
	/* Starts by itself on the loop's next round. client and sink must outlive it. */
	Watch(Client &client, WatchOptions options, WatchSink &sink);
	Watch(const Watch &) = delete;
	Watch &operator=(const Watch &) = delete;
	~Watch();

	/* What was begun is forgotten: the next listed() that the sink hears of is begun after this
	 * call, and read from etcd. */
	void list_again();
	/* A complete list has been delivered at least once. Stays true. */
	[[nodiscard]] bool synced() const { return synced_; }
	[[nodiscard]] bool healthy() const { return trouble_.empty(); }
	/* The last failure; empty while a stream is open or after a success. */
	[[nodiscard]] const std::string &trouble() const { return trouble_; }
	[[nodiscard]] const WatchCounters &counters() const { return counters_; }

      private:
	void proceed();
	void proceed_after(std::chrono::milliseconds delay);
	void list_page();
	void page_arrived(const Result<Response> &answer);
	void take_page(json_object *list, bool is_next_asked);
	void list_complete(std::string version);
	void open_stream();
	void frame_arrived(std::string_view frame);
	void take_event(json_object *event);
	void take_error(json_object *status);
	void stream_ended(const Result<Response> &end);
	void ended_cleanly();
	void fell_silent(const std::string &why);
	void refused(const Response &answer);
	void expired(const std::string &why);
	void failed(const std::string &why, std::chrono::milliseconds not_before = {});
	void went_well();
	[[nodiscard]] std::string selectors() const;
	std::uint32_t random() { return static_cast<std::uint32_t>(random_()); }

	Client &client_;
	WatchOptions options_;
	WatchSink &sink_;
	std::minstd_rand random_;
	std::string version_;             /* where to go on; empty: list first */
	std::string continue_;            /* next page; empty: first */
	std::set<std::string> live_uids_; /* of the list under way */
	bool unpaged_ = false; /* the continue token expired: this list comes in one piece */
	bool synced_ = false;
	bool heard_ = false;        /* the stream has brought something */
	bool distrust_ = false;     /* the last stream fell silent */
	unsigned mute_streams_ = 0; /* streams in a row that brought nothing */
	std::string trouble_;
	WatchCounters counters_;
	StreamId stream_ = 0;
	agent::Loop::TimerId timer_ = 0;
	/* Requests cannot be recalled: an answer whose watch is gone, or that nobody waits for any
	 * more, finds this expired. */
	std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

} // namespace slurmkube::kube

#endif
