/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/costs.h"

#include <algorithm>
#include <bit>
#include <ctime>

namespace slurmkube::plugin
{

namespace
{

constexpr unsigned k_sub_bits = 3; /* 8 buckets per power of two */

std::int64_t read_clock(clockid_t clock)
{
	timespec t = {};
	(void)clock_gettime(clock, &t); /* cannot fail */
	return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

} // namespace

std::int64_t now_ns()
{
	return read_clock(CLOCK_MONOTONIC);
}

std::int64_t thread_ns()
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

std::size_t Histogram::bucket_of(std::uint64_t ns)
{
	if (ns < (1U << k_sub_bits))
		return ns;
	auto shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - k_sub_bits;
	std::size_t bucket =
		(std::size_t{shift + 1} << k_sub_bits) + ((ns >> shift) - (1U << k_sub_bits));
	return std::min(bucket, k_buckets - 1);
}

double Histogram::upper_end_us(std::size_t bucket)
{
	if (bucket < (1U << k_sub_bits))
		return static_cast<double>(bucket + 1) / 1000;
	std::size_t shift = (bucket >> k_sub_bits) - 1;
	std::uint64_t mantissa = (bucket & ((1U << k_sub_bits) - 1)) + (1U << k_sub_bits) + 1;
	return static_cast<double>(mantissa << shift) / 1000;
}

void Histogram::record(std::int64_t ns)
{
	auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
	buckets_[bucket_of(value)].fetch_add(1, std::memory_order_relaxed);
	count_.fetch_add(1, std::memory_order_relaxed);
	sum_ns_.fetch_add(value, std::memory_order_relaxed);
	std::uint64_t max = max_ns_.load(std::memory_order_relaxed);
	while (value > max && !max_ns_.compare_exchange_weak(max, value, std::memory_order_relaxed))
		continue;
}

double Histogram::percentile_us(std::uint64_t count, std::uint64_t per_thousand) const
{
	std::uint64_t left = count * (1000 - per_thousand) / 1000; /* samples above it */
	for (std::size_t i = k_buckets; i-- > 0;) {
		std::uint64_t here = buckets_[i].load(std::memory_order_relaxed);
		if (here > left)
			return upper_end_us(i);
		left -= here;
	}
	return 0;
}

core::Cost Histogram::read() const
{
	core::Cost cost;
	cost.count = count_.load(std::memory_order_relaxed);
	if (cost.count == 0)
		return cost;
	cost.max_us = static_cast<double>(max_ns_.load(std::memory_order_relaxed)) / 1000;
	cost.mean_us = static_cast<double>(sum_ns_.load(std::memory_order_relaxed)) / 1000 /
		static_cast<double>(cost.count);
	cost.p99_us = std::min(percentile_us(cost.count, 990), cost.max_us);
	return cost;
}

} // namespace slurmkube::plugin
