/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of App that asks slurmctld about native jobs within which pods run. */
#include "src/agent/app.h"

#include <utility>

namespace slurmkube::agent
{

namespace
{

constexpr std::chrono::milliseconds k_next_question{core::NativeJobs::k_pause_us / 1000 + 10};

core::NativeJobAnswered answered_about(core::JobId id, Result<slurm::NativeReply> reply)
{
	if (!reply)
		return {id, reply.error()};
	if (!reply->job)
		return {id, Error{Errc::not_found, "slurmctld does not know it any more"},
			reply->described};
	return {id, std::move(*reply->job), reply->described};
}

} // namespace

/* One job at a time. World says when the next question is due: rounds come at least each second,
 * and one follows the answer. */
void App::ask_for_native_job()
{
	const std::optional<core::JobId> id = world_.take_job_question(now());
	if (!id)
		return;
	calls_.native_job(*id, [this, id = *id](Result<slurm::NativeReply> reply) {
		if (reply && reply->job)
			for (std::string &node : reply->job->nodes)
				node = world_.names().in_kubernetes(node);
		world_.observe(answered_about(id, std::move(reply)), now());
		want_round();
		loop_.after(k_next_question, [this] { want_round(); });
	});
}

} // namespace slurmkube::agent
