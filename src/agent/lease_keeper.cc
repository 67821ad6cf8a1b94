/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/lease_keeper.h"

#include "src/agent/loop.h"
#include "src/base/log.h"
#include "src/core/lease/lease_text.h"

#include <utility>

namespace slurmkube::agent
{

namespace
{

constexpr std::chrono::seconds k_period{2};
constexpr unsigned k_conflicts_most = 3; /* in a row, before they are told */

void log_change(const core::LeaseState &before, const core::LeaseState &after)
{
	using core::LeaseStanding;
	const std::string hold = core::lease_hold_text(after);
	if (core::stands_aside(after) && hold != core::lease_hold_text(before))
		log_error("%s; %s", hold.c_str(), core::lease_hold_remedy(after).c_str());
	if (after.standing == LeaseStanding::free &&
		(before.standing != after.standing || before.held != after.held))
		log_info("lease %s", core::lease_holder_text(after).c_str());
	if (before.trouble.empty() && !after.trouble.empty())
		log_warning("%s; %s", core::lease_trouble_text(after).c_str(),
			core::lease_trouble_remedy().c_str());
}

} // namespace

LeaseKeeper::LeaseKeeper(kube::Client &client, const std::string &scheduler_name,
	std::string slurm_cluster, OnChange on_change)
    : client_(client), lease_{kube::own_namespace(client), core::lease_name(scheduler_name)},
      on_change_(std::move(on_change)), judge_(lease_.text(), std::move(slurm_cluster))
{
}

void LeaseKeeper::start()
{
	read();
	client_.after(k_period, [this] { start(); });
}

void LeaseKeeper::opened(const core::PluginHello &hello)
{
	judge_.link_opened(hello, now());
	act();
}

void LeaseKeeper::heard()
{
	judge_.link_heard(now());
}

void LeaseKeeper::closed()
{
	judge_.link_closed();
	act();
}

void LeaseKeeper::read()
{
	if (std::exchange(is_busy_, true))
		return;
	kube::get_lease(
		client_, lease_, [this](const Result<std::optional<core::LeaseRecord>> &answer) {
			is_busy_ = false;
			if (answer)
				judge_.seen(*answer, now());
			else
				judge_.not_read(
					answer.error().what, is_refusal(answer.error()), now());
			act();
		});
}

void LeaseKeeper::act()
{
	const auto record = judge_.decide(now());
	publish();
	if (record && !is_busy_)
		write(*record);
}

void LeaseKeeper::write(const core::LeaseRecord &record)
{
	is_busy_ = true;
	kube::write_lease(client_, lease_, record,
		[this, is_new = record.resource_version.empty()](
			const Result<core::LeaseRecord> &answer) {
			is_busy_ = false;
			written(answer, is_new);
		});
}

void LeaseKeeper::written(const Result<core::LeaseRecord> &answer, bool is_new)
{
	if (answer) {
		conflicts_ = 0;
		judge_.written(*answer, now());
		return act();
	}
	const Error &error = answer.error();
	const bool is_gone = error.code == Errc::not_found;
	/* another agent was quicker, and the next read shows it */
	if ((error.code == Errc::conflict || (is_gone && !is_new)) &&
		++conflicts_ < k_conflicts_most)
		return;
	/* gone, although it was to be created: the namespace does not exist */
	judge_.not_written(error.what, is_gone || is_refusal(error), now());
	judge_.decide(now());
	publish();
}

void LeaseKeeper::publish()
{
	if (judge_.state() == published_)
		return;
	const core::LeaseState before = std::exchange(published_, judge_.state());
	log_change(before, published_);
	on_change_(published_);
}

} // namespace slurmkube::agent
