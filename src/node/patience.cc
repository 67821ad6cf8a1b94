/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/patience.h"

#include <algorithm>

namespace slurmkube::node
{

bool Patience::is_over(const std::string &life, bool is_excess, Time now)
{
	Account &account = accounts_.try_emplace(life, Account{now}).first->second;
	const Clock::duration passed = now - account.looked;
	account.looked = now;
	if (is_excess)
		account.spent += std::min<Clock::duration>(passed, k_look_max);
	else
		account.spent -= passed / k_patience_returns.count();
	account.spent =
		std::clamp<Clock::duration>(account.spent, Clock::duration::zero(), k_patience);
	return is_excess && account.spent == k_patience;
}

void Patience::forget_before(Time time)
{
	std::erase_if(accounts_, [time](const auto &one) { return one.second.looked < time; });
}

} // namespace slurmkube::node
