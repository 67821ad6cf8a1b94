/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_names.h - replaces node names in what goes to Slurm by Slurm's names, and in what the
 * plugin reports by those of Kubernetes (core/model/node_names.h).
 */
#ifndef SLURMKUBE_AGENT_TRANSLATE_NAMES_H
#define SLURMKUBE_AGENT_TRANSLATE_NAMES_H

#include "src/codec/link.h"
#include "src/core/model/node_names.h"
#include "src/core/model/spec.h"

namespace slurmkube::agent
{

core::JobSpec for_slurm(core::JobSpec spec, const core::NodeNames &names);
core::NodeSpec for_slurm(core::NodeSpec spec, const core::NodeNames &names);
codec::LinkMessage for_kubernetes(codec::LinkMessage message, const core::NodeNames &names);

} // namespace slurmkube::agent

#endif
