/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * label_selector.h - label selectors in kubectl's syntax: "team=physics,tier in (a, b),!old".
 *
 * Pure. Operators: =, ==, !=, in, notin, a key alone (the label exists), !key (it does not). As in
 * Kubernetes, != and notin also match if the label is absent
 * (concepts/overview/working-with-objects/labels).
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

/* All requirements must match. An empty selector matches everything. */
using LabelSelector = std::vector<LabelRequirement>;

/* invalid: the error quotes the wrong part. An empty text is invalid, because it would match
 * everything. too_large: more than 4096 bytes. */
Result<LabelSelector> parse_label_selector(std::string_view text);

bool matches(const LabelSelector &selector, const std::map<std::string, std::string> &labels);

} // namespace slurmkube::core

#endif
