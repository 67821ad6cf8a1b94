/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sight.h - texts for the log and `skube check` that say why the agent does nothing: it is not sure
 * that its Kubernetes cluster is the one whose pods the jobs stand for. world/unseen_pods.cc
 * decides that.
 *
 * A text is empty if there is nothing to say; a remedy is meaningful only with its text.
 */
#ifndef SLURMKUBE_CORE_INSPECT_SIGHT_H
#define SLURMKUBE_CORE_INSPECT_SIGHT_H

#include "src/core/world/world.h"

#include <string>

namespace slurmkube::core
{

/* Live jobs under our cluster's name belong to another cluster; the agent does nothing at all. */
std::string other_cluster_text(const World &world);
/* Live jobs of this cluster have another cluster name. Only these jobs are left alone. */
std::string other_name_text(const World &world);
/* Too many jobs are without pods to believe that the pods are gone. */
std::string absent_pods_text(const World &world);

std::string other_cluster_remedy(const World &world);
std::string other_name_remedy(const World &world);
std::string absent_pods_remedy();

} // namespace slurmkube::core

#endif
