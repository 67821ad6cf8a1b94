/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/event_recorder.h"

#include "src/agent/kube/writes.h"

#include <unistd.h>

namespace slurmkube::agent
{

namespace
{

constexpr std::chrono::milliseconds k_pause{100};
constexpr std::size_t k_busy = 4; /* requests in flight; more mean that the connection is busy */

std::string host_name()
{
	char name[128] = "";
	(void)gethostname(name, sizeof(name) - 1); /* if it fails, the event has no host name */
	return name;
}

codec::Event event_of(const core::EventNote &note)
{
	static const std::string host = host_name();
	codec::Event event;
	event.name_space = note.name_space;
	event.name = note.name;
	event.uid = note.uid;
	event.warning = note.warning;
	event.reason = note.reason;
	event.action = note.action;
	event.note = note.text;
	event.reporting_instance = host;
	return event;
}

} // namespace

EventRecorder::~EventRecorder()
{
	client_.loop().cancel(timer_);
}

void EventRecorder::tell(
	const core::Pod &pod, bool warning, const char *action, const core::Condition &what)
{
	queue_.add({.name_space = pod.name_space,
			   .name = pod.name,
			   .uid = pod.uid.text,
			   .warning = warning,
			   .reason = what.reason,
			   .action = action,
			   .text = what.message},
		now().mono_us);
	if (timer_ == 0)
		timer_ = client_.loop().after(k_pause, [this] { send_some(); });
}

void EventRecorder::send_some()
{
	timer_ = 0;
	while (client_.queued() == 0 && client_.in_flight() < k_busy) {
		const auto note = queue_.next(now().mono_us);
		if (!note)
			break;
		(void)kube::post_event(client_, event_of(*note)); /* best effort */
	}
	if (!queue_.empty())
		timer_ = client_.loop().after(k_pause, [this] { send_some(); });
}

} // namespace slurmkube::agent
