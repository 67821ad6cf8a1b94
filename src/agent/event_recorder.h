/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_recorder.h - writes events about pods while the connection to the API server is idle.
 *
 * tell() only queues. The recorder sends an event only while the client has no queue and few
 * requests in flight, so that an event never delays a binding, a deletion or a condition. Best
 * effort: failures are not reported. On the loop's thread.
 */
#ifndef SLURMKUBE_AGENT_EVENT_RECORDER_H
#define SLURMKUBE_AGENT_EVENT_RECORDER_H

#include "src/agent/kube/client.h"
#include "src/agent/loop.h"
#include "src/core/model/pod.h"
#include "src/core/world/event_queue.h"

namespace slurmkube::agent
{

class EventRecorder
{
      public:
	explicit EventRecorder(kube::Client &client) : client_(client) {}
	EventRecorder(const EventRecorder &) = delete;
	EventRecorder &operator=(const EventRecorder &) = delete;
	~EventRecorder();

	/* action: what was done or tried, one word. warning: the outcome is not what the user
	 * wanted. */
	void tell(const core::Pod &pod, bool warning, const char *action,
		const core::Condition &what);

	[[nodiscard]] const core::EventQueue &queue() const { return queue_; }

      private:
	void send_some();

	kube::Client &client_;
	core::EventQueue queue_;
	Loop::TimerId timer_ = 0;
};

} // namespace slurmkube::agent

#endif
