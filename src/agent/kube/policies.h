/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policies.h - admission policies that have to name the scheduler: what the API server refuses or
 * fills in by itself.
 *
 * etc/policies.yaml and etc/policy-scheduler-name.yaml are what slurmkubed prints for its default
 * name; a unit test compares.
 */
#ifndef SLURMKUBE_AGENT_KUBE_POLICIES_H
#define SLURMKUBE_AGENT_KUBE_POLICIES_H

#include <string>

namespace slurmkube::kube
{

/* ValidatingAdmissionPolicies and their bindings, as YAML. scheduler_name: a name of Kubernetes, as
 * the configuration's reader lets it through. */
std::string policies(const std::string &scheduler_name);

/* The MutatingAdmissionPolicy that fills in spec.schedulerName, and its binding. */
std::string scheduler_name_policy(const std::string &scheduler_name);

} // namespace slurmkube::kube

#endif
