/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scheduling_constraints.h - reads a pod's constraints on its node from JSON.
 *
 * Constraints that are not supported or exceed the limits are reported. The pod is then refused,
 * because placing it by only a part of its constraints could violate the others.
 */
#ifndef SLURMKUBE_CODEC_SCHEDULING_CONSTRAINTS_H
#define SLURMKUBE_CODEC_SCHEDULING_CONSTRAINTS_H

#include "src/codec/pod_schema.h"
#include "src/codec/view.h"
#include "src/core/model/scheduling_constraints.h"

#include <optional>
#include <set>
#include <string>

namespace slurmkube::codec
{

/* unsupported: receives the paths of fields that cannot be honoured. */
core::SchedulingConstraints constraints_from_json(
	View<schema::k_spec> spec, std::set<std::string> &unsupported);

/* The PersistentVolumeClaims of the pod's volumes. */
std::vector<core::PodClaim> claims_of_pod(
	View<schema::k_spec> spec, const std::string &pod_name, std::set<std::string> &unsupported);

/* A v1 NodeSelector, as in the affinity of a pod or a volume. If it exceeds the limits, the result
 * is empty and matches no node. */
std::vector<core::NodeTerm> node_terms_from_json(View<schema::k_node_selector> node_selector);

/* A metav1 LabelSelector. If it cannot be read, the result matches nothing. */
core::PodSelector selector_from_json(View<schema::k_label_selector> selector);

/* The same, but nullopt if it cannot be read. */
std::optional<core::PodSelector> readable_selector(View<schema::k_label_selector> selector);

/* The topology spread constraints with DoNotSchedule (pod_placement.cc). labels: those of the pod,
 * for matchLabelKeys. */
std::vector<core::Spread> spreads_from_json(Views<schema::k_spread> constraints,
	const std::map<std::string, std::string> &labels, std::set<std::string> &unsupported);

} // namespace slurmkube::codec

#endif
