/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/owner_store.h"

#include "src/core/reconcile/report_parts.h"

#include <algorithm>
#include <utility>

namespace slurmkube::core
{

namespace
{

/* since the answer, if no pod waits for it */
constexpr std::int64_t k_forgotten_us = 300'000'000;
/* An owner may get other options while its pods wait, so an older answer is renewed. */
constexpr std::int64_t k_old_us = 30'000'000;
constexpr std::size_t k_kept = 10'000;

bool says_else(const Owner &one, const Owner &other)
{
	return one.annotations != other.annotations ||
		one.deadline_seconds != other.deadline_seconds;
}

} // namespace

OwnerStore::Change OwnerStore::seen(const OwnerId &id, Result<std::optional<Owner>> answer, Now now)
{
	Entry &entry = entries_[id];
	Change change;
	const bool was_known = entry.answer && *entry.answer;
	const bool is_there = answer && *answer;
	change.is_other =
		is_there && (was_known ? says_else(**entry.answer, **answer) : entry.is_again);
	entry.is_asked = entry.is_again = false;
	entry.trouble = answer ? "" : answer.error().what;
	if (answer) {
		entry.answer = std::move(*answer);
		entry.answered_us = entry.asked_us;
	}
	entry.ask_at_us = is_there ? 0 : now.mono_us + k_owner_again_us;
	change.waiting = std::exchange(entry.waiting, {});
	change.owner = entry.answer && *entry.answer ? &**entry.answer : nullptr;
	return change;
}

OwnerAnswer OwnerStore::answer_of(const OwnerId &id) const
{
	const auto found = entries_.find(id);
	return found != entries_.end() && found->second.answer ? &*found->second.answer : nullptr;
}

OwnerAnswer OwnerStore::answer_for(
	const OwnerId &id, const std::string &uid, std::int64_t since_us) const
{
	const OwnerAnswer answer = answer_of(id);
	if (!answer)
		return nullptr;
	const bool is_other = !*answer || uid.empty() || (*answer)->uid != uid;
	return is_answered_since(id, is_other ? since_us : since_us - k_owner_fresh_us) ? answer
											: nullptr;
}

bool OwnerStore::is_answered_since(const OwnerId &id, std::int64_t since_us) const
{
	const auto found = entries_.find(id);
	return found != entries_.end() && found->second.answered_us >= since_us;
}

void OwnerStore::ask(const OwnerId &id, std::int64_t newer_than_us)
{
	const Entry &entry = entries_[id];
	if (!entry.is_asked && !(entry.answer && entry.answered_us >= newer_than_us))
		questions_.insert(id);
}

void OwnerStore::ask_for(const PodUid &pod, const OwnerId &id, std::int64_t newer_than_us)
{
	entries_[id].waiting.insert(pod);
	ask(id, newer_than_us);
}

bool OwnerStore::ask_again(const OwnerId &id, Now now)
{
	Entry &entry = entries_[id];
	/* also one that was not found: it may have been the API server's error */
	const bool is_old = !entry.answer || now.mono_us - entry.answered_us >= k_old_us;
	if (entry.is_asked || !is_old || !questions_.insert(id).second)
		return false;
	entry.is_again = true;
	return true;
}

std::vector<OwnerId> OwnerStore::take_questions(Now now)
{
	forget_old(now);
	std::vector<OwnerId> out;
	for (auto it = questions_.begin(); it != questions_.end();) {
		Entry &entry = entries_[*it];
		if (entry.ask_at_us > now.mono_us) {
			it++;
			continue;
		}
		entry.is_asked = true;
		entry.asked_us = now.mono_us;
		out.push_back(*it);
		it = questions_.erase(it);
	}
	return out;
}

void OwnerStore::forget_old(Now now)
{
	if (entries_.size() <= k_kept)
		return;
	std::erase_if(entries_, [&](const auto &one) {
		const Entry &entry = one.second;
		return !entry.is_asked && entry.waiting.empty() &&
			!questions_.contains(one.first) &&
			now.mono_us - entry.answered_us > k_forgotten_us;
	});
}

bool OwnerStore::has_ungrouped_pods(const std::string &name_space) const
{
	return std::ranges::any_of(entries_, [&](const auto &one) {
		const Entry &entry = one.second;
		return one.first.name_space == name_space && !entry.waiting.empty() &&
			(!entry.answer || !entry.trouble.empty());
	});
}

std::string OwnerStore::wanted_by(const PodUid &pod) const
{
	for (const auto &[id, entry] : entries_) {
		if (entry.waiting.contains(pod))
			return owner_unanswered(id.kind, id.name, entry.trouble);
	}
	return {};
}

} // namespace slurmkube::core
