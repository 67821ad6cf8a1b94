/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/budget.h"

#include <algorithm>

namespace slurmkube::plugin
{

bool DutyBudget::can_hold(std::int64_t now)
{
	saved_ = std::min(saved_ + (now - at_) / k_share, k_saved_max);
	at_ = now - (now - at_) % k_share;
	return saved_ > 0;
}

void DutyBudget::spent(std::int64_t ns)
{
	saved_ = std::max(saved_ - ns, -k_debt_max);
}

bool KickBudget::can_kick(std::int64_t now, std::int64_t pass)
{
	saved_ = std::min(saved_ + (now - at_) / share_, k_passes_saved * pass);
	at_ = now - (now - at_) % share_;
	return saved_ >= pass && now - kicked_at_ >= k_every;
}

void KickBudget::kicked(std::int64_t now, std::int64_t pass)
{
	saved_ -= pass;
	kicked_at_ = now;
}

Kicks::Pass Kicks::next(
	std::int64_t now, std::uint32_t passes, std::int64_t pass, std::uint64_t pending)
{
	wants_full_ = wants_full_ && pending != 0;
	if (full_kick_at_ != 0 && passes != full_kick_at_) {
		full_pass_ = pass;
		full_kick_at_ = 0;
	}
	bool all = wants_full_ && full_kick_at_ == 0 && full_budget_.can_kick(now, full_pass_);
	if ((!wants_ && !all) || !budget_.can_kick(now, pass))
		return Pass::none;
	budget_.kicked(now, pass);
	wants_ = false;
	if (!all)
		return Pass::shallow;
	wants_full_ = false;
	full_budget_.kicked(now, full_pass_);
	full_kick_at_ = std::max(passes, 1U);
	return Pass::full;
}

std::int64_t Backoff::next(std::uint32_t random)
{
	std::int64_t wait = step_ - static_cast<std::int64_t>(random) % (step_ / 2);
	step_ = std::min(step_ * 2, k_last);
	return wait;
}

bool SlowLook::is_due(std::int64_t now, std::int64_t changed_second) const
{
	if (began_ == 0 || now - began_ >= at_latest_)
		return true;
	if (now - began_ < std::max(interval_, std::min(cost_ * k_rest, k_rest_max)))
		return false;
	return changed_second >= second_ - k_late;
}

void SlowLook::began(std::int64_t now, std::int64_t wall_second)
{
	began_ = now;
	second_ = wall_second;
}

} // namespace slurmkube::plugin
