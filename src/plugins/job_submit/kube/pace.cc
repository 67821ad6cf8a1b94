/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/pace.h"

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
