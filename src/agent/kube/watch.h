/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.h - lists and watches one kind of object, without end.
 *
 * Lists in pages, then watches from the version of the list. After a clean end, an error or a
 * restart of the server, the watch continues from the last version; if the server has discarded
 * that version (410 in any form), the watch lists again. On the loop's thread. The sink may get the
 * same object more than once, and must take each as its present state.
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

/* Objects are in the form of JSON, whatever the encoding, and valid during the call. The sink must
 * not destroy the watch. */
struct WatchSink {
	virtual void upserted(json_object *object) = 0;
	virtual void deleted(json_object *last_state) = 0;
	/* All objects of a complete list have been delivered by upserted(); all others are gone. */
	virtual void listed(const std::set<std::string> &live_uids) = 0;
	virtual ~WatchSink() = default;
};

struct WatchOptions {
	std::string path;           /* "/api/v1/pods" */
	std::string field_selector; /* "spec.schedulerName=slurm" */
	std::string label_selector;
	std::string accept = k_json; /* k_protobuf for pods only (codec/pod_schema.h) */
	unsigned page_size = 500;
	/* 404 to the first list means that there are no such objects. The server is asked again
	 * each minute, because it may be upgraded. Once a list has come, 404 is an error. */
	bool may_be_unserved = false;
	std::chrono::milliseconds silence{150'000};
	/* range of timeoutSeconds, which is random */
	std::chrono::seconds least_timeout{300}, longest_timeout{600};
	/* short, because pods wait: the few streams of one agent cannot overload a server that
	 * restarts */
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
	/* Starts in the loop's next round. client and sink must outlive the object. */
	Watch(Client &client, WatchOptions options, WatchSink &sink);
	Watch(const Watch &) = delete;
	Watch &operator=(const Watch &) = delete;
	~Watch();

	/* Drops the list or stream in progress. The next listed() is for a list that begins after
	 * this call, and that the server reads from etcd. */
	void list_again();
	/* Whether a complete list has been delivered; stays true. */
	[[nodiscard]] bool synced() const { return synced_; }
	[[nodiscard]] bool healthy() const { return trouble_.empty(); }
	/* The last failure; empty while a stream is open, and after a success. */
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
	void not_served();
	void expired(const std::string &why);
	void failed(const std::string &why, std::chrono::milliseconds not_before = {});
	void went_well();
	[[nodiscard]] std::string selectors() const;
	std::uint32_t random() { return static_cast<std::uint32_t>(random_()); }

	Client &client_;
	WatchOptions options_;
	WatchSink &sink_;
	std::minstd_rand random_;
	std::string version_;             /* watch from there; empty: list first */
	std::string continue_;            /* next page; empty: first */
	std::set<std::string> live_uids_; /* of the list in progress */
	bool unpaged_ = false;            /* the continue token has expired: list without pages */
	bool synced_ = false;
	bool heard_ = false;        /* the stream has brought an event */
	bool distrust_ = false;     /* the last stream fell silent: use a new connection */
	unsigned mute_streams_ = 0; /* streams in a row without an event */
	std::string trouble_;
	WatchCounters counters_;
	StreamId stream_ = 0;
	agent::Loop::TimerId timer_ = 0;
	/* A request cannot be cancelled. An answer that arrives after the watch was destroyed, or
	 * after list_again(), finds this expired and is dropped. */
	std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

} // namespace slurmkube::kube

#endif
