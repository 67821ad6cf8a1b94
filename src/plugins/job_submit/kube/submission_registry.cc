/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/submission_registry.h"

#include <algorithm>

namespace slurmkube::plugin
{

namespace
{

/* slurmctld 24.05 and later reuses its threads, so only time shows that a submission has failed. */
constexpr std::int64_t k_patience_ns = 2'000'000'000;
constexpr std::uint64_t k_write_locks = 3;
constexpr std::int64_t k_soon_ns = 1'000'000'000;

} // namespace

ClaimAnswer SubmissionRegistry::claim(
	const core::Marker &marker, int thread, std::int64_t now, IsLive is_live)
{
	std::lock_guard lock(mutex_);
	Key key = key_of(marker);
	auto live = live_.find(key);
	if (live != live_.end()) {
		if (is_live(live->second, marker))
			return {Claim::live, live->second};
		live_.erase(live);
	}
	if (!built_)
		return {Claim::unknown, {}};
	if (tickets_.contains(key))
		return {Claim::under_way, {}};
	tickets_.emplace(std::move(key), Ticket{++serial_, thread, now, write_locks_, false});
	return {Claim::granted, {}};
}

void SubmissionRegistry::came_back(int thread)
{
	std::lock_guard lock(mutex_);
	for (auto &[key, ticket] : tickets_)
		ticket.over |= ticket.thread == thread;
}

void SubmissionRegistry::found(core::JobId id, const core::Marker &marker)
{
	std::lock_guard lock(mutex_);
	Key key = key_of(marker);
	tickets_.erase(key);
	live_[std::move(key)] = id;
}

void SubmissionRegistry::forget(core::JobId id, const core::Marker &marker)
{
	std::lock_guard lock(mutex_);
	auto live = live_.find(key_of(marker));
	if (live != live_.end() && live->second == id)
		live_.erase(live);
}

void SubmissionRegistry::set_built(bool is_built)
{
	std::lock_guard lock(mutex_);
	built_ = is_built;
}

bool SubmissionRegistry::has_tickets() const
{
	std::lock_guard lock(mutex_);
	return !tickets_.empty();
}

bool SubmissionRegistry::wants_write_lock(std::int64_t now) const
{
	std::lock_guard lock(mutex_);
	return std::any_of(tickets_.begin(), tickets_.end(),
		[&](const auto &entry) { return now - entry.second.since >= k_soon_ns; });
}

void SubmissionRegistry::write_lock_passed()
{
	std::lock_guard lock(mutex_);
	write_locks_++;
}

std::vector<std::uint64_t> SubmissionRegistry::settled(std::int64_t now, IsAlive is_alive)
{
	std::lock_guard lock(mutex_);
	std::vector<std::uint64_t> serials;
	for (const auto &[key, ticket] : tickets_) {
		bool had_chances = now - ticket.since >= k_patience_ns &&
			write_locks_ - ticket.write_locks >= k_write_locks;
		if (ticket.over || had_chances || !is_alive(ticket.thread))
			serials.push_back(ticket.serial);
	}
	return serials;
}

bool SubmissionRegistry::waits_for(const std::vector<std::uint64_t> &serials) const
{
	std::lock_guard lock(mutex_);
	return std::any_of(tickets_.begin(), tickets_.end(), [&](const auto &entry) {
		return std::find(serials.begin(), serials.end(), entry.second.serial) !=
			serials.end();
	});
}

void SubmissionRegistry::drop(const std::vector<std::uint64_t> &serials)
{
	std::lock_guard lock(mutex_);
	std::erase_if(tickets_, [&](const auto &entry) {
		return std::find(serials.begin(), serials.end(), entry.second.serial) !=
			serials.end();
	});
}

} // namespace slurmkube::plugin
