/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crio_hook.h - what CRI-O's hook looks at: the container's configuration, its record, and its job.
 */
#ifndef SLURMKUBE_NODE_CRIO_HOOK_H
#define SLURMKUBE_NODE_CRIO_HOOK_H

#include "src/node/cgroups.h"
#include "src/node/settings.h"

#include <string_view>

namespace slurmkube::node
{

/* state: see id_of_state(). Records that the container has its first process, if it is seen.
 * Errors: those of created_container() and check_processors(). */
Result<Ok> may_run(std::string_view state, const Settings &settings, const Cgroups &cgroups);

} // namespace slurmkube::node

#endif
