/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/call_order.h"

#include <algorithm>
#include <utility>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_rest_us = 10'000'000, k_rest_most_us = 60'000'000;
/* beyond it, namespaces without requests are forgotten */
constexpr std::size_t k_remembered_most = 1000;
constexpr unsigned k_unanswered_most = 16; /* a limit, so that a few answers restore trust */

/* No rest after the first unanswered request: another request may have caused it. */
std::int64_t rest_us(unsigned unanswered)
{
	return unanswered < 2 ? 0 : std::min(k_rest_us * (unanswered - 1), k_rest_most_us);
}

} // namespace

std::optional<CallOrder::Id> CallOrder::add(const std::string &name_space)
{
	if (by_namespace_.size() > k_remembered_most)
		std::erase_if(by_namespace_, [](const auto &each) {
			return each.second.waiting.empty() && each.second.under_way == 0;
		});
	Sender &sender = by_namespace_[name_space];
	const bool is_first = name_space.empty();
	const std::size_t most = is_first ? waiting_max_ : waiting_max_ / 2;
	if (sender.waiting.size() >= most || (!is_first && waiting_ >= waiting_max_))
		return std::nullopt;
	sender.waiting.push_back(++last_);
	waiting_++;
	return last_;
}

bool CallOrder::may_send(const Sender &sender, std::int64_t now_us)
{
	if (sender.waiting.empty() || now_us < sender.rests_until_us)
		return false;
	return sender.unanswered == 0 || sender.under_way == 0;
}

/* Half of the workers are reserved for namespaces whose requests are answered. */
bool CallOrder::may_doubted_send() const
{
	const auto is_under_way = [](const auto &each) {
		return !each.first.empty() && each.second.unanswered > 0 &&
			each.second.under_way > 0;
	};
	const auto under_way =
		std::count_if(by_namespace_.begin(), by_namespace_.end(), is_under_way);
	return under_way < std::max(1, senders_ / 2);
}

/* The namespace with the fewest unanswered requests; among equals, the one whose request came
 * first. */
CallOrder::Senders::iterator CallOrder::best(std::int64_t now_us)
{
	const bool is_open = may_doubted_send();
	auto found = by_namespace_.end();
	for (auto each = by_namespace_.begin(); each != by_namespace_.end(); ++each) {
		if (each->first.empty() || !may_send(each->second, now_us) ||
			(each->second.unanswered > 0 && !is_open))
			continue;
		if (found == by_namespace_.end() ||
			std::pair(each->second.unanswered, each->second.waiting.front()) <
				std::pair(found->second.unanswered, found->second.waiting.front()))
			found = each;
	}
	return found;
}

std::optional<CallOrder::Id> CallOrder::take_from(Senders::iterator sender)
{
	const Id id = sender->second.waiting.front();
	sender->second.waiting.pop_front();
	sender->second.under_way++;
	waiting_--;
	namespaces_under_way_ += sender->first.empty() ? 0 : 1;
	under_way_[id] = sender->first;
	return id;
}

std::optional<CallOrder::Id> CallOrder::take(std::int64_t now_us)
{
	const auto first = by_namespace_.find("");
	if (first != by_namespace_.end() && !first->second.waiting.empty())
		return take_from(first);
	if (namespaces_under_way_ >= senders_)
		return std::nullopt;
	const auto sender = best(now_us);
	return sender == by_namespace_.end() ? std::nullopt : take_from(sender);
}

void CallOrder::done(Id id, bool is_answered, std::int64_t now_us)
{
	const auto about = under_way_.extract(id);
	if (!about)
		return;
	const auto found = by_namespace_.find(about.mapped());
	Sender &sender = found->second;
	sender.under_way--;
	namespaces_under_way_ -= found->first.empty() ? 0 : 1;
	sender.unanswered = is_answered ? sender.unanswered / 2
					: std::min(sender.unanswered + 1, k_unanswered_most);
	if (!is_answered)
		sender.rests_until_us = now_us + rest_us(sender.unanswered);
	if (sender.waiting.empty() && sender.under_way == 0 && sender.unanswered == 0)
		by_namespace_.erase(found);
}

std::optional<std::int64_t> CallOrder::rests_until(std::int64_t now_us) const
{
	std::optional<std::int64_t> first;
	for (const auto &[name_space, sender] : by_namespace_) {
		if (!sender.waiting.empty() && sender.rests_until_us > now_us)
			first = std::min(
				first.value_or(sender.rests_until_us), sender.rests_until_us);
	}
	return first;
}

} // namespace slurmkube::core
