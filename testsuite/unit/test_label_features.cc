/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/policy/label_features.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

const LabelFeatures k_rules = {{"topology.kubernetes.io/zone", ""}, {"disk", "d-"}};
const std::set<std::string> k_known = {"zone_a", "zone_b", "d-ssd"};

Preference wish(int weight, std::vector<Requirement> labels)
{
	return {weight, NodeTerm{std::move(labels), {}}};
}

void a_feature_is_a_prefix_and_a_value()
{
	CHECK_EQUAL(
		features_of({{"topology.kubernetes.io/zone", "a"}, {"disk", "ssd"}, {"other", "x"}},
			k_rules),
		"zone_a,d-ssd");
	CHECK_EQUAL(features_of({{"disk", ""}}, k_rules), "");
	CHECK_EQUAL(features_of({{"disk", "a,kube"}}, k_rules), ""); /* would be two features */
	CHECK_EQUAL(features_of({{"disk", "ssd"}}, {}), "");
	CHECK(has_feature("kube,zone_a", "zone_a") && !has_feature("kube,zone_ab", "zone_a"));
}

void the_heaviest_wish_that_slurm_can_read_is_told()
{
	const Requirement zone_a{"topology.kubernetes.io/zone", SelectorOp::in, {"a"}},
		zone_ab{"topology.kubernetes.io/zone", SelectorOp::in, {"a", "b"}};
	const Requirement ssd{"disk", SelectorOp::in, {"ssd"}},
		no_ssd{"disk", SelectorOp::not_in, {"ssd"}}, other{"cores", SelectorOp::in, {"8"}};
	const struct {
		std::vector<Preference> wishes;
		const char *prefer;
	} rows[] = {
		{{}, ""},
		{{wish(1, {zone_a})}, "zone_a"},
		{{wish(1, {zone_ab})}, "zone_a|zone_b"},
		{{wish(1, {zone_a, ssd})}, "zone_a&d-ssd"},
		{{wish(1, {zone_ab, ssd})}, ""},
		{{wish(1, {zone_a}), wish(5, {ssd})}, "d-ssd"},
		{{wish(1, {zone_a}), wish(5, {no_ssd}), wish(6, {other}), wish(7, {})}, "zone_a"},
		{{wish(1, {{"disk", SelectorOp::in, {"tape"}}})},
			""}, /* no node has it: Slurm would refuse the job */
		{{wish(1, {{"disk", SelectorOp::in, {"tape", "ssd"}}})}, "d-ssd"},
		{{wish(0, {zone_a})}, ""},
	};
	for (const auto &row : rows)
		CHECK_EQUAL(prefer_of(row.wishes, k_rules, k_known), row.prefer);
	Preference named = wish(9, {zone_a});
	named.term.fields = {{"metadata.name", SelectorOp::in, {"n1"}}};
	CHECK_EQUAL(prefer_of({named}, k_rules, k_known), "");
}

} // namespace

int main()
{
	return check::run_tests("label_features",
		{TEST(a_feature_is_a_prefix_and_a_value),
			TEST(the_heaviest_wish_that_slurm_can_read_is_told)});
}
