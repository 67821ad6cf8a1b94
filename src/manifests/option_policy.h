/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option_policy.h - generates, from the table of options, the admission policy that refuses unknown
 * options and impossible values at `kubectl apply`.
 *
 * etc/policy-options.yaml is the output of slurmkubed --print-options-policy; a unit test compares
 * both, and checks that the policy refuses nothing that the agent accepts. The agent itself checks
 * what depends on the namespace's rule, on Slurm or on the pod's requests.
 */
#ifndef SLURMKUBE_MANIFESTS_OPTION_POLICY_H
#define SLURMKUBE_MANIFESTS_OPTION_POLICY_H

#include "src/core/options/options.h"

#include <string>

namespace slurmkube::manifests
{

/* A pattern that every valid value matches, in the syntax that RE2 and ECMAScript share; empty: the
 * policy cannot check the value. */
std::string value_pattern(const core::Option &option);

/* ValidatingAdmissionPolicy and its binding, as YAML. */
std::string options_objects();

/* etc/policy-options.yaml: the same with a comment at the top. */
std::string options_policy();

} // namespace slurmkube::manifests

#endif
