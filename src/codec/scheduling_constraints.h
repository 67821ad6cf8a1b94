/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scheduling_constraints.h - what a pod's spec constraints of its node, from JSON.
 *
 * What cannot be honoured, or is longer than anybody writes, is not read but named: the pod is
 * refused then, never placed on half of its constraints.
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

/* unsupported: gets the paths of the fields that cannot be honoured */
core::SchedulingConstraints constraints_from_json(
	View<schema::k_spec> spec, std::set<std::string> &unsupported);

/* The PersistentVolumeClaims that its volumes mount. */
std::vector<core::PodClaim> claims_of_pod(
	View<schema::k_spec> spec, const std::string &pod_name, std::set<std::string> &unsupported);

/* v1 NodeSelector, as in a pod's affinity and a volume's. What is too long matches nothing. */
std::vector<core::NodeTerm> node_terms_from_json(View<schema::k_node_selector> node_selector);

/* metav1 LabelSelector. What cannot be read of it matches nothing. */
core::PodSelector selector_from_json(View<schema::k_label_selector> selector);

/* The same; nothing: it cannot be read. */
std::optional<core::PodSelector> readable_selector(View<schema::k_label_selector> selector);

/* Topology spread constraints with DoNotSchedule (pod_placement.cc). labels: the pod's, for
 * matchLabelKeys. */
std::vector<core::Spread> spreads_from_json(Views<schema::k_spread> constraints,
	const std::map<std::string, std::string> &labels, std::set<std::string> &unsupported);

} // namespace slurmkube::codec

#endif
