/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selectors.h - do these labels match? As k8s.io/apimachinery/pkg/labels and
 * component-helpers/scheduling/corev1/nodeaffinity have it.
 */
#ifndef SLURMKUBE_CORE_MODEL_SELECTORS_H
#define SLURMKUBE_CORE_MODEL_SELECTORS_H

#include "src/core/model/node.h"
#include "src/core/model/pod.h"

namespace slurmkube::core
{

using Labels = std::map<std::string, std::string>;

/* A requirement that the API would not accept; a node term with one matches nothing. */
bool is_valid(const Requirement &requirement);

bool matches(const Requirement &requirement, const Labels &labels);
bool matches(const NodeTerm &term, const KubeNode &node);
bool matches(const PodSelector &selector, const Labels &labels);

/* term: of a pod in the namespace home */
bool matches(const PodTerm &term, const std::string &home, const Pod &other);

} // namespace slurmkube::core

#endif
