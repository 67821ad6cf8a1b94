/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * toleration.h - whether taints are tolerated: those of nodes by pods, those of devices by claims.
 *
 * Pure. Source: ToleratesTaint() of k8s.io/api/core/v1, and for devices that of
 * k8s.io/dynamic-resource-allocation/resourceclaim, which is a copy.
 */
#ifndef SLURMKUBE_CORE_MODEL_TOLERATION_H
#define SLURMKUBE_CORE_MODEL_TOLERATION_H

#include "src/core/model/node.h"

#include <vector>

namespace slurmkube::core
{

bool tolerates(const std::vector<Toleration> &tolerations, const Taint &taint);

} // namespace slurmkube::core

#endif
