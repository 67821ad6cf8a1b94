/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_role.h - which role of its owner a pod has, and its index there, by the labels that each
 * controller sets. Pure.
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

/* Empty: it has no such label. */
std::string label_value(const Pod &pod, const char *key);
/* Nothing: it has no such label, or that is no number. */
std::optional<std::uint32_t> label_number(const Pod &pod, const char *key);

} // namespace slurmkube::core

#endif
