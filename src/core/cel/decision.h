/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decision.h - how && and ||, all and exists absorb errors.
 */
#ifndef SLURMKUBE_CORE_CEL_DECISION_H
#define SLURMKUBE_CORE_CEL_DECISION_H

#include "src/core/cel/value.h"

#include <optional>

namespace slurmkube::core::cel
{

/* One value decides, and makes errors of other operands
 * irrelevant, whether they come before it or after it. */
class Decision
{
      public:
	explicit Decision(bool decisive) : decisive_(decisive) {}
	/* True: decided. */
	bool take(const Result<Value> &value)
	{
		const bool *truth = value ? as<bool>(*value) : nullptr;
		decided_ = truth != nullptr && *truth == decisive_;
		if (truth == nullptr && !error_)
			error_ = value ? Error{Errc::invalid, "an operand is not true or false"}
				       : value.error();
		return decided_;
	}
	[[nodiscard]] Result<Value> result() const
	{
		if (!decided_ && error_)
			return *error_;
		return Value{decided_ == decisive_};
	}

      private:
	bool decisive_, decided_ = false;
	std::optional<Error> error_;
};

} // namespace slurmkube::core::cel

#endif
