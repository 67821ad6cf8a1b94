/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option_policy.h - the admission policy that refuses unknown options and impossible values at
 * `kubectl apply` already, made from the table of options.
 *
 * etc/policy-options.yaml is what slurmkubed --print-options-policy prints; a unit test compares,
 * and shows that it refuses nothing that the agent would take. What depends on the namespace's
 * rule, on Slurm or on the pod's requests is left to the agent.
 */
#ifndef SLURMKUBE_AGENT_KUBE_OPTION_POLICY_H
#define SLURMKUBE_AGENT_KUBE_OPTION_POLICY_H

#include "src/core/options/options.h"

#include <string>

namespace slurmkube::kube
{

/* What every good value matches, in the syntax that RE2 and ECMAScript share; empty: any text may
 * be good. */
std::string value_pattern(const core::Option &option);

/* ValidatingAdmissionPolicy and its binding, as YAML. */
std::string options_policy();

} // namespace slurmkube::kube

#endif
