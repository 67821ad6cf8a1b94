/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_role.h - a pod's role in its owner and its index within that role, from the labels that the
 * owner's controller sets. Pure.
 */
#ifndef SLURMKUBE_CORE_GANG_POD_ROLE_H
#define SLURMKUBE_CORE_GANG_POD_ROLE_H

#include "src/core/model/owner.h"
#include "src/core/model/pod.h"

#include <cstdint>
#include <optional>
#include <string>

namespace slurmkube::core
{

struct PodRole {
	std::string role;
	std::optional<std::uint32_t> index;
};

PodRole pod_role_of(const Pod &pod, const Owner &owner);

/* Empty if the pod has no such label. */
std::string label_value(const Pod &pod, const char *key);
/* nullopt if the pod has no such label, or if the value is not a decimal number of 32 bits. */
std::optional<std::uint32_t> label_number(const Pod &pod, const char *key);

} // namespace slurmkube::core

#endif
