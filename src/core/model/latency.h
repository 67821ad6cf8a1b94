/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latency.h - a log-linear histogram of durations: constant memory, quantiles within 4 %.
 */
#ifndef SLURMKUBE_CORE_MODEL_LATENCY_H
#define SLURMKUBE_CORE_MODEL_LATENCY_H

#include <array>
#include <cstdint>

namespace slurmkube::core
{

class Latency
{
      public:
	void add(std::uint64_t microseconds);

	[[nodiscard]] std::uint64_t count() const { return count_; }
	[[nodiscard]] std::uint64_t max_us() const { return max_us_; }
	[[nodiscard]] double mean_us() const;
	[[nodiscard]] std::uint64_t sum_us() const { return sum_us_; }
	/* The number of values of at most 2^power milliseconds; power below k_histogram_powers. */
	[[nodiscard]] std::uint64_t up_to_ms(unsigned power) const;
	static constexpr unsigned k_histogram_powers = 20; /* up to 524 s */
	/* Upper bound of the bucket that contains the quantile, at most max_us(); 0 if there are no
	 * values. share in (0, 1]. */
	[[nodiscard]] std::uint64_t quantile_us(double share) const;

      private:
	static constexpr unsigned k_sub_bits = 5; /* 32 buckets for each power of two */
	static constexpr unsigned k_powers = 40;  /* 12 days; the last bucket has the rest */
	static std::size_t bucket_of(std::uint64_t microseconds);
	static std::uint64_t upper_bound_of(std::size_t bucket);

	std::array<std::uint32_t, (k_powers - k_sub_bits + 1) << k_sub_bits> buckets_{};
	/* values of at most 2^i milliseconds that exceed 2^(i-1); exact, unlike buckets_ */
	std::array<std::uint64_t, k_histogram_powers> by_power_{};
	std::uint64_t count_ = 0, sum_us_ = 0, max_us_ = 0;
};

} // namespace slurmkube::core

#endif
