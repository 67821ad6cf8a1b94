/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream.h - the objects of one kind in the model API server, and a client's list and watch of
 * them, as src/agent/kube/watch.cc implements it.
 *
 * Events arrive in order within a stream, but not across streams. A stream can be delayed, broken
 * and resumed, and can repeat an event. After a 410 the client lists again, in pages.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_STREAM_H
#define SLURMKUBE_TESTSUITE_SIM_STREAM_H

#include "testsuite/sim/stage.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace slurmkube::sim
{

template <class T> struct Change {
	bool gone = false;
	std::shared_ptr<const T> object;
};

template <class T> class Stream;

/* What the API server stores of one kind, and its change history. */
template <class T> struct Collection {
	std::map<std::string, std::shared_ptr<const T>> objects; /* by uid */
	std::vector<Change<T>> history;
	std::vector<Stream<T> *> streams;

	void put(const std::string &uid, const T &object)
	{
		auto copy = std::make_shared<const T>(object);
		objects[uid] = copy;
		append({false, std::move(copy)});
	}
	void remove(const std::string &uid, const T &last)
	{
		objects.erase(uid);
		append({true, std::make_shared<const T>(last)});
	}

      private:
	void append(Change<T> change)
	{
		history.push_back(std::move(change));
		for (Stream<T> *stream : streams)
			stream->appended();
	}
};

template <class T> struct StreamSink {
	std::function<void(const Change<T> &)> changed;
	std::function<void(const std::set<std::string> &)> listed;
	/* true: the client is frozen, and the call is repeated later */
	std::function<bool(Timeline::Call)> defer;
	std::function<bool()> may_connect;
};

template <class T> class Stream
{
      public:
	Stream(Stage &stage, std::uint64_t key, Collection<T> &source, StreamSink<T> sink)
	    : stage_(stage), key_(key), source_(source), sink_(std::move(sink))
	{
		source_.streams.push_back(this);
	}
	Stream(const Stream &) = delete;
	Stream &operator=(const Stream &) = delete;
	~Stream() { std::erase(source_.streams, this); }

	/* A client that has just started: it lists first. */
	void restart()
	{
		must_list_ = true;
		close();
		connect_after(0);
	}
	void close()
	{
		epoch_++;
		is_open_ = false;
		tail_ = 0;
	}
	void interrupt()
	{
		close();
		connect_after(stage_.dice.between(Topic::reconnect, key_, 0, 2 * k_second));
	}
	void expire()
	{
		must_list_ = true;
		interrupt();
	}
	void slow_down(Micros until) { slow_until_ = until; }
	/* Delivers the last event once more. */
	void repeat()
	{
		if (is_open_ && next_ > 0 && heard_)
			sink_.changed(source_.history[next_ - 1]);
	}
	void appended()
	{
		if (is_open_)
			deliver_later(source_.history.size() - 1);
	}

      private:
	void connect_after(Micros delay)
	{
		stage_.line.after(delay, [this, epoch = epoch_] {
			if (epoch == epoch_)
				connect();
		});
	}

	void connect()
	{
		if (!sink_.may_connect()) {
			connect_after(stage_.dice.between(
				Topic::reconnect, key_, 100 * k_ms, 2 * k_second));
			return;
		}
		if (must_list_)
			list();
		else
			open();
	}

	void open()
	{
		is_open_ = true;
		heard_ = false;
		for (std::size_t i = next_; i < source_.history.size(); i++)
			deliver_later(i);
	}

	Micros delay()
	{
		const Micros longest = stage_.now() < slow_until_ ? 3 * k_second : 30 * k_ms;
		return stage_.dice.between(Topic::latency, key_, k_ms, longest);
	}

	/* Calls arrive in the order in which they were made. */
	void later(std::function<void()> call)
	{
		tail_ = std::max(tail_, stage_.now() + delay());
		stage_.line.at(tail_,
			[this, epoch = epoch_, call = std::move(call)] { arrive(epoch, call); });
	}

	void arrive(std::uint64_t epoch, const std::function<void()> &call)
	{
		if (epoch != epoch_ || sink_.defer([this, epoch, call] { arrive(epoch, call); }))
			return;
		call();
	}

	void deliver_later(std::size_t index)
	{
		later([this, index] {
			next_ = index + 1;
			heard_ = true;
			sink_.changed(source_.history[index]);
		});
	}

	/* Lists the current state, in pages of four. */
	void list()
	{
		auto uids = std::make_shared<std::set<std::string>>();
		std::vector<std::shared_ptr<const T>> page;
		const auto send = [&] {
			later([this, page = std::move(page)] {
				for (const auto &object : page)
					sink_.changed({false, object});
			});
			page = {};
		};
		for (const auto &[uid, object] : source_.objects) {
			uids->insert(uid);
			page.push_back(object);
			if (page.size() == 4)
				send();
		}
		send();
		later([this, uids, end = source_.history.size()] {
			must_list_ = false;
			next_ = end;
			sink_.listed(*uids);
			open();
		});
	}

	Stage &stage_;
	std::uint64_t key_;
	Collection<T> &source_;
	StreamSink<T> sink_;
	std::size_t next_ = 0;
	std::uint64_t epoch_ = 0;
	bool is_open_ = false, must_list_ = true, heard_ = false;
	Micros tail_ = 0, slow_until_ = 0;
};

} // namespace slurmkube::sim

#endif
