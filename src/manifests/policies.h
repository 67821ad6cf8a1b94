/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policies.h - the admission policies that contain the scheduler's name: what the API server
 * refuses or fills in.
 *
 * etc/policies.yaml and etc/policy-scheduler-name.yaml are what slurmkubed prints for the default
 * name; a unit test compares them.
 */
#ifndef SLURMKUBE_MANIFESTS_POLICIES_H
#define SLURMKUBE_MANIFESTS_POLICIES_H

#include "src/manifests/site.h"

#include <string>

namespace slurmkube::manifests
{

/* ValidatingAdmissionPolicies and their bindings, as YAML. */
std::string policy_objects(const Site &site);

/* The MutatingAdmissionPolicy that fills in spec.schedulerName, and its binding. */
std::string scheduler_name_objects(const Site &site);

/* etc/policies.yaml: policy_objects() for the default account, with a comment at the top. The
 * scheduler's name must be one that the reader of the configuration accepts: it is not escaped. */
std::string policies(const Site &site);

/* etc/policy-scheduler-name.yaml, in the same way. */
std::string scheduler_name_policy(const Site &site);

} // namespace slurmkube::manifests

#endif
