/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alternatives.h - the ways to meet claims whose requests have alternatives (firstAvailable).
 *
 * Pure. The rest of device/ sees claims in one of these ways, in which each request asks for one
 * thing.
 */
#ifndef SLURMKUBE_CORE_DEVICE_ALTERNATIVES_H
#define SLURMKUBE_CORE_DEVICE_ALTERNATIVES_H

#include "src/core/device/resource_claim.h"

#include <cstddef>
#include <vector>

namespace slurmkube::core
{

class Alternatives
{
      public:
	/* The claims are borrowed. */
	explicit Alternatives(std::vector<const ResourceClaim *> claims);
	Alternatives(const Alternatives &) = delete;
	Alternatives &operator=(const Alternatives &) = delete;

	/* The claims in this way: a request with alternatives is one of them, and has its name,
	 * REQUEST/ALTERNATIVE. Valid until next(). */
	[[nodiscard]] const std::vector<const ResourceClaim *> &claims() const { return claims_; }
	[[nodiscard]] bool has_choices() const { return !choices_.empty(); }
	/* Goes on to the next way, in the order of kube-scheduler: the last request changes first.
	 * false: there is none, or 64 have been seen. */
	bool next();

      private:
	/* A request with alternatives. */
	struct Choice {
		std::size_t claim = 0, request = 0, chosen = 0;
	};
	[[nodiscard]] const std::vector<DeviceRequest> &of(const Choice &choice) const;
	void make();

	const std::vector<const ResourceClaim *> asked_;
	std::vector<Choice> choices_;
	std::size_t seen_ = 1;
	std::vector<ResourceClaim> made_;
	std::vector<const ResourceClaim *> claims_;
};

} // namespace slurmkube::core

#endif
