/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sight.h - why the agent does nothing: it is not sure that its Kubernetes cluster is that of the
 * jobs. Texts for the log and `skube check`; what is decided is in world/unseen_pods.cc.
 */
#ifndef SLURMKUBE_CORE_INSPECT_SIGHT_H
#define SLURMKUBE_CORE_INSPECT_SIGHT_H

#include "src/core/world/world.h"

#include <string>

namespace slurmkube::core
{

/* Empty: it is not so. */
std::string other_cluster_text(const World &world);
/* Live jobs of this cluster under another name; others go on. */
std::string other_name_text(const World &world);
std::string absent_pods_text(const World &world);

std::string other_cluster_remedy(const World &world);
std::string other_name_remedy(const World &world);
std::string absent_pods_remedy();

} // namespace slurmkube::core

#endif
