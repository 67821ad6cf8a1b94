/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policies.h - the admission policies that contain the scheduler's name: what the API server
 * refuses or fills in.
 *
 * etc/policies.yaml and etc/policy-scheduler-name.yaml are what slurmkubed prints for the default
 * name; a unit test compares them.
 */
#ifndef SLURMKUBE_AGENT_KUBE_POLICIES_H
#define SLURMKUBE_AGENT_KUBE_POLICIES_H

#include <string>

namespace slurmkube::kube
{

/* ValidatingAdmissionPolicies and their bindings, as YAML. scheduler_name must be a name that the
 * reader of the configuration accepts: it is not escaped. */
std::string policies(const std::string &scheduler_name);

/* The MutatingAdmissionPolicy that fills in spec.schedulerName, and its binding. */
std::string scheduler_name_policy(const std::string &scheduler_name);

} // namespace slurmkube::kube

#endif
