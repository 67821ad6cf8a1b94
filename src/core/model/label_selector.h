/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * label_selector.h - label selectors as kubectl takes them: "team=physics,tier in (a, b),!old".
 *
 * Pure. Operators: = == != in notin, a key alone (it is there), !key (it is not). As in Kubernetes
 * != and notin hold where the label is absent too (concepts/overview/working-with-objects/labels).
 */
#ifndef SLURMKUBE_CORE_MODEL_LABEL_SELECTOR_H
#define SLURMKUBE_CORE_MODEL_LABEL_SELECTOR_H

#include "src/base/result.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::core
{

struct LabelRequirement {
	enum class Op { in, not_in, exists, absent };
	std::string key;
	Op op = Op::exists;
	std::vector<std::string> values; /* of in and not_in */
	bool operator==(const LabelRequirement &) const = default;
};

/* All must hold; none: everything matches. */
using LabelSelector = std::vector<LabelRequirement>;

/* invalid: a sentence that quotes the part which is wrong. An empty text is refused: it would match
 * everything. */
Result<LabelSelector> parse_label_selector(std::string_view text);

bool matches(const LabelSelector &selector, const std::map<std::string, std::string> &labels);

} // namespace slurmkube::core

#endif
