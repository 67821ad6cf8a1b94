/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/lease/lease.h"

#include "src/base/time_units.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_duration_seconds = 40, k_longest_seconds = 600;
constexpr std::int64_t k_renew_us = 10 * k_second_us;
/* While the API server does not answer, no holder can renew its Lease. */
constexpr std::int64_t k_gap_us = 10 * k_second_us;
/* The plugin sends a line each 250 ms. The agent of a slurmctld that hangs does not take the Lease
 * back from the backup controller. */
constexpr std::int64_t k_silence_us = 5 * k_second_us;
/* The first is a failover. A slurmctld that has just lost control may cause the second. */
constexpr unsigned k_first_takings_most = 2;
/* Two agents may each take the other one for the second. */
constexpr unsigned k_takings_most = 5;
/* An API server that has just started refuses everything until it has read its roles. */
constexpr std::int64_t k_refused_us = 10 * k_second_us;
/* A write may have been carried out that long before its answer. */
constexpr std::int64_t k_answer_us = 5 * k_second_us;
constexpr std::int64_t k_takings_us = 60 * k_second_us;

constexpr std::string_view k_name_prefix = "slurmkubed-";
constexpr std::size_t k_name_max = 200; /* names of Leases have at most 253 bytes */

bool is_plain(std::string_view name)
{
	constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyz0123456789-";
	return !name.empty() && name.size() <= k_name_max && name.back() != '-' &&
		name.find_first_not_of(plain) == std::string_view::npos;
}

/* FNV-1a */
std::uint64_t hash_of(std::string_view text)
{
	std::uint64_t hash = 0xcbf29ce484222325;
	for (const char c : text)
		hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
	return hash;
}

} // namespace

std::string text_of(const LeaseHolder &holder)
{
	return holder.cluster + "@" + holder.host + "_" + std::to_string(holder.control_since_us);
}

LeaseHolder lease_holder_of(std::string_view text)
{
	const LeaseHolder other{std::string(text), "", 0};
	const std::size_t at = text.rfind('@'), line = text.rfind('_');
	if (at == std::string_view::npos || line == std::string_view::npos || line < at)
		return other;
	const std::string_view number = text.substr(line + 1);
	LeaseHolder holder{std::string(text.substr(0, at)),
		std::string(text.substr(at + 1, line - at - 1)), 0};
	const auto [end, error] = std::from_chars(
		number.data(), number.data() + number.size(), holder.control_since_us);
	const bool is_number = error == std::errc{} && end == number.data() + number.size();
	return is_number ? holder : other;
}

std::string lease_name(std::string_view scheduler_name)
{
	if (is_plain(scheduler_name))
		return std::string(k_name_prefix) + std::string(scheduler_name);
	/* a plain name has no dot, so this is the Lease of no other name */
	char text[32];
	(void)snprintf(text, sizeof(text), "x.%016llx",
		static_cast<unsigned long long>(hash_of(scheduler_name)));
	return std::string(k_name_prefix) + text;
}

bool stands_aside(const LeaseState &state)
{
	return state.standing == LeaseStanding::other_cluster ||
		state.standing == LeaseStanding::contested;
}

bool is_fresh(const LeaseState &state, Now now)
{
	return state.read_us == 0 ||
		now.mono_us - state.read_us <= k_duration_seconds * k_second_us;
}

LeaseVerdict judge_lease(const LeaseFacts &f)
{
	if (!f.is_read)
		return {f.is_refused ? LeaseStanding::free : LeaseStanding::undecided, false};
	const bool may_write = f.self && (f.is_due || !f.is_refused);
	if (f.self && f.held == f.self)
		return {LeaseStanding::free, f.is_due};
	const bool is_of_cluster = f.held && f.held->cluster == f.cluster;
	if (!f.held || f.is_expired) {
		/* another agent may take the Lease at the same time */
		const bool is_free = !f.self || f.was_ours || f.is_refused || is_of_cluster;
		return {is_free ? LeaseStanding::free : LeaseStanding::undecided, may_write};
	}
	if (!is_of_cluster)
		return {LeaseStanding::other_cluster, false};
	const bool is_second =
		f.first_takings >= k_first_takings_most || f.takings >= k_takings_most;
	if (f.is_contested || (f.self && is_second))
		return {LeaseStanding::contested, false};
	return {LeaseStanding::free, may_write};
}

LeaseJudge::LeaseJudge(std::string lease, std::string slurm_cluster)
{
	state_.lease = std::move(lease);
	state_.self.cluster = std::move(slurm_cluster);
}

/* A slurmctld that has lost control and taken it again has done so by Slurm's rules. */
void LeaseJudge::link_opened(const PluginHello &hello, Now now)
{
	self_ = {hello.cluster_name, hello.host, hello.control_since_us};
	state_.self = *self_;
	heard_us_ = now.mono_us;
	takings_us_.clear();
	first_takings_us_.clear();
	was_ours_ = false;
}

void LeaseJudge::link_closed()
{
	self_.reset();
	writing_is_refused_ = writing_failed_ = false;
}

void LeaseJudge::seen(std::optional<LeaseRecord> record, Now now)
{
	const bool is_gap = !is_read_ || now.mono_us - read_us_ > k_gap_us;
	if (is_gap || record != record_)
		changed_us_ = now.mono_us;
	if (was_ours_ && record_ && record && record->holder != record_->holder &&
		!before_us_.contains(record->holder))
		after_us_.insert(record->holder);
	record_ = std::move(record);
	read_us_ = now.mono_us;
	is_read_ = true;
	reading_is_refused_ = false;
	refused_since_us_ = 0;
	if (const auto held = holder())
		was_ours_ = held == self_;
	if (!writing_failed_)
		state_.trouble.clear();
}

void LeaseJudge::written(LeaseRecord record, Now now)
{
	const bool is_taking = !is_expired() && holder() && holder() != self_;
	const std::string before = record_ ? record_->holder : "";
	state_.is_new = state_.is_new || (!record_ && !was_ours_);
	writing_is_refused_ = writing_failed_ = false;
	seen(std::move(record), now);
	changed_us_ = written_us_ = renewed_us_ = now.mono_us;
	if (!is_taking)
		return;
	takings_us_.push_back(now.mono_us);
	if (after_us_.contains(before))
		return;
	before_us_.insert(before);
	first_takings_us_.push_back(now.mono_us);
}

void LeaseJudge::not_read(std::string trouble, bool is_refusal, Now now)
{
	state_.trouble = std::move(trouble);
	if (!is_refusal && !reading_is_refused_)
		refused_since_us_ = 0;
	if (!is_refusal)
		return; /* it says nothing about our rights */
	if (refused_since_us_ == 0)
		refused_since_us_ = now.mono_us;
	reading_is_refused_ = now.mono_us - refused_since_us_ >= k_refused_us;
}

void LeaseJudge::not_written(std::string trouble, bool is_refusal, Now now)
{
	state_.trouble = std::move(trouble);
	writing_is_refused_ = is_refusal;
	writing_failed_ = true;
	if (!is_refusal)
		return;
	written_us_ = now.mono_us;
	state_.is_new = state_.is_new || (is_read_ && !record_ && !was_ours_);
}

/* A hung slurmctld is not in control for certain. */
std::optional<LeaseHolder> LeaseJudge::self(Now now) const
{
	return now.mono_us - heard_us_ <= k_silence_us ? self_ : std::nullopt;
}

std::optional<LeaseHolder> LeaseJudge::holder() const
{
	if (!record_ || record_->holder.empty())
		return std::nullopt;
	return lease_holder_of(record_->holder);
}

bool LeaseJudge::is_expired() const
{
	if (!record_)
		return true;
	const std::int64_t seconds =
		std::clamp<std::int64_t>(record_->duration_seconds, 1, k_longest_seconds);
	return read_us_ - changed_us_ >= seconds * k_second_us;
}

LeaseFacts LeaseJudge::facts(Now now) const
{
	return {.cluster = state_.self.cluster,
		.self = self(now),
		.held = holder(),
		.is_read = is_read_,
		.is_expired = is_expired(),
		.is_due = written_us_ == 0 || now.mono_us - written_us_ >= k_renew_us,
		.was_ours = was_ours_,
		.is_refused = reading_is_refused_ || writing_is_refused_,
		.is_contested = is_contested_,
		.takings = static_cast<unsigned>(takings_us_.size()),
		.first_takings = static_cast<unsigned>(first_takings_us_.size())};
}

std::optional<LeaseRecord> LeaseJudge::decide(Now now)
{
	for (std::vector<std::int64_t> *times : {&takings_us_, &first_takings_us_})
		std::erase_if(
			*times, [&](std::int64_t at) { return now.mono_us - at > k_takings_us; });
	LeaseFacts found = facts(now);
	/* the other controller has stopped, or an administrator has deleted the Lease */
	if (found.is_read && (!found.held || found.is_expired))
		found.is_contested = false;
	const LeaseVerdict verdict = judge_lease(found);
	is_contested_ = found.is_contested || verdict.standing == LeaseStanding::contested;
	state_.standing = verdict.standing;
	state_.held = found.held;
	/* another agent counts from our last renewal */
	const bool is_ours = found.held && found.held == self_ && renewed_us_ > 0;
	state_.read_us = reading_is_refused_ ? 0
		: is_ours                    ? std::min(read_us_, renewed_us_ - k_answer_us)
					     : read_us_;
	return verdict.writes ? std::optional(record_of(*found.self, now)) : std::nullopt;
}

LeaseRecord LeaseJudge::record_of(const LeaseHolder &self, Now now) const
{
	LeaseRecord fresh = record_.value_or(LeaseRecord{});
	const std::string holder = text_of(self);
	if (fresh.holder != holder) {
		fresh.transitions += fresh.holder.empty() ? 0 : 1;
		fresh.acquired_s = now.wall_s;
		fresh.holder = holder;
	}
	fresh.duration_seconds = k_duration_seconds;
	fresh.renewed_s = now.wall_s;
	return fresh;
}

} // namespace slurmkube::core
