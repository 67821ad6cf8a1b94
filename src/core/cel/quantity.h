/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quantity.h - Kubernetes quantities of any size, to be compared exactly.
 *
 * core/model/quantity.h rounds to whole numbers of an int64, which is right for requests. A
 * selector may compare 1500m with 1.5 or 1E30 with 1Ei, so here a quantity is a decimal number. The
 * rules are those of k8s.io/apimachinery/pkg/api/resource: more than nine decimals are rounded away
 * from zero, and a number with a binary suffix is at most 2^63-1.
 */
#ifndef SLURMKUBE_CORE_CEL_QUANTITY_H
#define SLURMKUBE_CORE_CEL_QUANTITY_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slurmkube::core::cel
{

class Quantity
{
      public:
	/* Nothing: not a quantity. */
	static std::optional<Quantity> parse(std::string_view text);

	/* -1, 0 or 1 */
	[[nodiscard]] int sign() const;
	/* -1: less than other, 0: equal, 1: greater */
	[[nodiscard]] int compare(const Quantity &other) const;

      private:
	[[nodiscard]] int compare_magnitude(const Quantity &other) const;
	void normalize();
	void multiply_by_1024(int times);
	void round_up_to_nano();

	/* The number is 0.DIGITS * 10^point. No leading or trailing zeros; zero has no digits. */
	bool negative_ = false;
	std::string digits_;
	std::int64_t point_ = 0;
};

} // namespace slurmkube::core::cel

#endif
