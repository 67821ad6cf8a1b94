/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * extended_resource.h - pods that ask for devices in the resources of their containers
 * ("example.com/gpu: 1"): which DeviceClass backs a resource, and the claim that the pod gets for
 * it.
 *
 * Pure. The rules are those of kube-scheduler 1.37 (plugin dynamicresources,
 * extendeddynamicresources.go).
 */
#ifndef SLURMKUBE_CORE_DEVICE_EXTENDED_RESOURCE_H
#define SLURMKUBE_CORE_DEVICE_EXTENDED_RESOURCE_H

#include "src/core/device/resource_claim.h"
#include "src/core/model/pod.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::core
{

inline constexpr char k_extended_claim_annotation[] =
	"resource.kubernetes.io/extended-resource-claim";

/* Whether a DeviceClass can back a resource of this name. */
bool may_be_devices(const std::string &resource);

/* By spec.extendedResourceName, or by the name that every class has. nullptr: no class backs it. */
const DeviceClass *class_of_resource(
	const std::string &resource, const std::map<std::string, DeviceClass> &classes);

/* Says in Pod::backed for which resources the pod gets devices. Those are not among its requests
 * then, and a claim for them is among its claims. A pod that is bound gets devices only for what
 * its status says; everything else of it is from a device plugin. classes: nullptr: they are not
 * known yet, so any resource may be backed. May be repeated. */
void note_backed(Pod &pod, const std::map<std::string, DeviceClass> *classes);
/* Undoes note_backed(): there are no rules for devices. */
void forget_backed(Pod &pod);
/* A resource that is not known to have a class. */
bool is_backing_unknown(const Pod &pod);

struct ExtendedClaim {
	ResourceClaim claim; /* as it has to be created */
	std::vector<DeviceMapping> mappings;
	std::string named; /* the claim that the pod's status names; empty: none */
};

/* For a pod with backed resources. */
ExtendedClaim extended_claim_of(const Pod &pod);

/* The prefix that Kubernetes calls generateName. */
std::string extended_claim_prefix(const std::string &pod_name);

/* Whether a claim that was made for the pod is what the pod needs now. */
bool asks_the_same(const ResourceClaim &made, const ResourceClaim &wanted);

/* "resource example.com/gpu (DeviceClass gpu)" */
std::string backed_text(const Pod &pod);

} // namespace slurmkube::core

#endif
