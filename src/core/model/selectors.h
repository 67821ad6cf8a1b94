/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selectors.h - whether labels match a selector, by the rules of k8s.io/apimachinery/pkg/labels and
 * component-helpers/scheduling/corev1/nodeaffinity.
 */
#ifndef SLURMKUBE_CORE_MODEL_SELECTORS_H
#define SLURMKUBE_CORE_MODEL_SELECTORS_H

#include "src/core/model/node.h"
#include "src/core/model/pod.h"

namespace slurmkube::core
{

using Labels = std::map<std::string, std::string>;

/* Whether the API would accept the requirement. A node term with an invalid requirement matches no
 * node. */
bool is_valid(const Requirement &requirement);

bool matches(const Requirement &requirement, const Labels &labels);
bool matches(const NodeTerm &term, const KubeNode &node);
bool matches(const PodSelector &selector, const Labels &labels);

/* home: namespace of the pod that the term belongs to. */
bool matches(const PodTerm &term, const std::string &home, const Pod &other);

} // namespace slurmkube::core

#endif
