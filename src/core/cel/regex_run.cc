/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/regex.h"
#include "src/core/cel/utf8.h"

#include <algorithm>

namespace slurmkube::core::cel
{

bool Regex::Set::has(char32_t c) const
{
	const bool listed = std::any_of(ranges.begin(), ranges.end(),
		[&](const auto &range) { return c >= range.first && c <= range.second; });
	return listed != negated;
}

/* All ways through the pattern at once: each step is active at most once per position. */
class RegexRun
{
      public:
	RegexRun(const Regex &regex, std::string_view text)
	    : regex_(regex), text_(text), seen_(regex.steps_.size(), 0)
	{
	}

	bool run()
	{
		for (std::size_t at = 0;;) {
			position_++;
			at_begin_ = at == 0;
			at_end_ = at == text_.size();
			enter_all();
			if (found_ || at_end_)
				return found_;
			const CodePoint next = first_code_point(text_.substr(at));
			consume(next.value);
			at += next.bytes;
		}
	}

      private:
	/* The match may begin at every position. */
	void enter_all()
	{
		active_.clear();
		for (const std::size_t step : entered_)
			enter(step);
		enter(regex_.start_);
	}

	/* Follows the steps that consume nothing. */
	void enter(std::size_t first)
	{
		pending_.push_back(first);
		while (!pending_.empty()) {
			const std::size_t step = pending_.back();
			pending_.pop_back();
			if (seen_[step] != position_) {
				seen_[step] = position_;
				follow(step);
			}
		}
	}

	void follow(std::size_t number)
	{
		const Regex::Step &step = regex_.steps_[number];
		switch (step.kind) {
		case Regex::Step::Kind::set:
			active_.push_back(number);
			return;
		case Regex::Step::Kind::found:
			found_ = true;
			return;
		case Regex::Step::Kind::begin:
			if (!at_begin_)
				return;
			break;
		case Regex::Step::Kind::end:
			if (!at_end_)
				return;
			break;
		case Regex::Step::Kind::either:
			pending_.push_back(step.other);
			break;
		case Regex::Step::Kind::skip:
			break;
		}
		pending_.push_back(step.next);
	}

	void consume(char32_t c)
	{
		entered_.clear();
		for (const std::size_t number : active_) {
			const Regex::Step &step = regex_.steps_[number];
			if (regex_.sets_[step.set].has(c))
				entered_.push_back(step.next);
		}
	}

	const Regex &regex_;
	std::string_view text_;
	std::size_t position_ = 0;
	bool at_begin_ = false, at_end_ = false, found_ = false;
	std::vector<std::size_t> seen_; /* by step: the last position at which it was entered */
	std::vector<std::size_t> active_, entered_, pending_;
};

bool Regex::matches(std::string_view text) const
{
	return RegexRun(*this, text).run();
}

} // namespace slurmkube::core::cel
