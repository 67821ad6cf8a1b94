/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wanted.h - the requests of a pod's claims, each with what is asked of Slurm for it.
 *
 * Pure. For claims without alternatives.
 */
#ifndef SLURMKUBE_CORE_DEVICE_WANTED_H
#define SLURMKUBE_CORE_DEVICE_WANTED_H

#include "src/core/device/fit.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::core
{

/* A request with the type that is asked of Slurm. */
struct Wanted {
	const ResourceClaim *claim;
	const DeviceRequest *request;
	RequestFit fit;
	std::optional<std::string> type; /* nullopt: any */
	std::int64_t count = 0;          /* on each node */
};

/* In the order of the claims. cost grows by what the evaluation costs. Errors: as for fit_of(); a
 * claim asks for what Slurm cannot be told. */
Result<std::vector<Wanted>> wanted_by(const std::vector<const ResourceClaim *> &claims,
	const DeviceSources &from, std::size_t &cost);

/* The devices on the node that Slurm may choose from. */
RequestFit::Count count_on(const Wanted &wanted, const std::string &node);

/* Those that meet the request, of any type. */
std::size_t matching_on(const Wanted &wanted, const std::string &node);

} // namespace slurmkube::core

#endif
