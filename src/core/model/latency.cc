/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/latency.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace slurmkube::core
{

std::size_t Latency::bucket_of(std::uint64_t microseconds)
{
	const std::uint64_t value =
		std::min<std::uint64_t>(microseconds, (std::uint64_t{1} << k_powers) - 1);
	if (value < (1U << k_sub_bits))
		return static_cast<std::size_t>(value);
	const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - k_sub_bits - 1;
	const std::uint64_t sub = (value >> shift) - (1U << k_sub_bits);
	return static_cast<std::size_t>(((shift + 1) << k_sub_bits) + sub);
}

std::uint64_t Latency::upper_bound_of(std::size_t bucket)
{
	const std::size_t group = bucket >> k_sub_bits;
	const std::uint64_t sub = bucket & ((1U << k_sub_bits) - 1);
	if (group == 0)
		return sub;
	return ((sub + (1U << k_sub_bits) + 1) << (group - 1)) - 1;
}

void Latency::add(std::uint64_t microseconds)
{
	buckets_.at(bucket_of(microseconds))++;
	for (std::size_t power = 0; power < by_power_.size(); power++) {
		if (microseconds <= std::uint64_t{1000} << power) {
			by_power_.at(power)++;
			break;
		}
	}
	count_++;
	sum_us_ += microseconds;
	max_us_ = std::max(max_us_, microseconds);
}

std::uint64_t Latency::up_to_ms(unsigned power) const
{
	std::uint64_t count = 0;
	for (std::size_t i = 0; i <= power && i < by_power_.size(); i++)
		count += by_power_.at(i);
	return count;
}

double Latency::mean_us() const
{
	return count_ == 0 ? 0 : static_cast<double>(sum_us_) / static_cast<double>(count_);
}

std::uint64_t Latency::quantile_us(double share) const
{
	const auto wanted =
		static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
	std::uint64_t seen = 0;
	for (std::size_t i = 0; i < buckets_.size(); i++) {
		seen += buckets_.at(i);
		if (seen >= wanted && seen > 0)
			return std::min(upper_bound_of(i), max_us_);
	}
	return 0;
}

} // namespace slurmkube::core
