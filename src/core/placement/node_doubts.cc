/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/placement/node_doubts.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_questions_most = 8; /* questions under way */
constexpr std::int64_t k_after_error_us = 30'000'000;
/* asked again because no watch shows the deletion of an unmanaged node */
constexpr std::int64_t k_after_answer_us = 300'000'000;
constexpr std::int64_t k_believed_us = 30'000'000;

} // namespace

void NodeDoubts::change(Entry &entry, const Entry &to)
{
	count_ += is_counted(to) ? 1U : 0U;
	count_ -= is_counted(entry) ? 1U : 0U;
	entry = to;
}

void NodeDoubts::plan(const std::string &name, const Entry &entry)
{
	if (entry.asks && !under_way_.contains(name))
		due_.emplace(entry.ask_at_us, name);
	else
		due_.erase({entry.ask_at_us, name});
}

void NodeDoubts::doubt(const std::string &name, bool counts, bool asks)
{
	Entry &entry = entries_[name];
	Entry to = entry;
	to.counts = counts;
	to.asks = asks;
	change(entry, to);
	plan(name, to);
}

void NodeDoubts::clear(const std::string &name)
{
	const auto found = entries_.find(name);
	if (found == entries_.end())
		return;
	due_.erase({found->second.ask_at_us, name});
	change(found->second, {});
	entries_.erase(found);
	if (const auto question = under_way_.find(name); question != under_way_.end())
		question->second = true;
}

bool NodeDoubts::are_too_many(std::size_t known, unsigned max_percent) const
{
	return count_ > std::max<std::size_t>(1, known * max_percent / 100);
}

std::vector<std::string> NodeDoubts::names() const
{
	std::vector<std::string> out;
	for (const auto &[name, entry] : entries_) {
		if (is_counted(entry))
			out.push_back(name);
	}
	return out;
}

std::size_t NodeDoubts::refuted() const
{
	return static_cast<std::size_t>(std::ranges::count_if(entries_,
		[](const auto &one) { return one.second.counts && !is_counted(one.second); }));
}

bool NodeDoubts::is_confirmed(const std::string &name, std::int64_t now_us) const
{
	const auto found = entries_.find(name);
	return found != entries_.end() && found->second.is_fine && !*found->second.is_fine &&
		now_us - found->second.answered_us <= k_believed_us;
}

std::vector<std::string> NodeDoubts::take_questions(std::int64_t now_us)
{
	std::vector<std::string> out;
	while (!due_.empty() && due_.begin()->first <= now_us &&
		under_way_.size() < k_questions_most) {
		out.push_back(due_.begin()->second);
		under_way_[out.back()] = false;
		due_.erase(due_.begin());
	}
	return out;
}

void NodeDoubts::answered(const std::string &name, const Result<bool> &is_fine, std::int64_t now_us)
{
	const auto question = under_way_.find(name);
	const bool is_stale = question == under_way_.end() || question->second;
	under_way_.erase(name);
	const auto found = entries_.find(name);
	if (found == entries_.end())
		return;
	Entry to = found->second;
	if (!is_stale) {
		to.ask_at_us = now_us +
			(!is_fine.ok()             ? k_after_error_us
					: *is_fine ? k_after_answer_us
						   : k_believed_us);
		if (is_fine.ok()) {
			to.is_fine = *is_fine;
			to.answered_us = now_us;
		}
	}
	change(found->second, to);
	plan(name, to);
}

} // namespace slurmkube::core
