/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/policy/slinky_node.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

std::string joined(const std::vector<std::string> &words)
{
	std::string text;
	for (const std::string &word : words)
		text += (text.empty() ? "" : ",") + word;
	return text;
}

void words_become_features()
{
	const struct {
		const char *partitions, *spec, *features, *refused;
	} rows[] = {
		{"", "", "", ""},
		{"slurm-bridge", "", "slurm-bridge", ""},
		{"slurm-bridge, gpu,,gpu ,", "", "slurm-bridge,gpu", ""},
		{"", "nn-75bfcf47ca3e4f7dc,GPU", "k8s/nn-75bfcf47ca3e4f7dc,k8s/GPU", ""},
		{"a", "a,location=us-east-2,b/c", "a,k8s/a,k8s/location=us-east-2,k8s/b/c", ""},
		/* what Slurm would read as operators, or as other words of the node line */
		{"a State=DOWN,b", "", "b", "a State=DOWN"},
		{"a|b,a&b,[a],(a),a*2,\"a\",a/b,a=b", "", "", "a|b,a&b,[a],(a),a*2,\"a\",a/b,a=b"},
		{"", "x y,x#,x:y,x\ny", "", "x y,x#,x:y,x?y"},
		{"\xc3\xa4,\xff", "", "", "\xc3\xa4,?"},
		/* the features that say whose node it is */
		{"kube,kube-beta,kubes", "kube", "kubes,k8s/kube", "kube,kube-beta"},
	};
	for (const auto &row : rows) {
		const SlinkyFeatures found = slinky_features(
			{{k_external_partitions, row.partitions}, {k_features_spec, row.spec}},
			"kube");
		CHECK_EQUAL(joined(found.features), row.features);
		CHECK_EQUAL(joined(found.refused), row.refused);
	}
	CHECK(slinky_features({}, "kube").features.empty());
	CHECK_EQUAL(joined(slinky_features({{k_external_partitions, "kube,pods-a,b"}}, "pods")
				    .features),
		"kube,b");
}

void they_are_limited()
{
	std::string many, bad;
	for (int i = 0; i < 1000; i++) {
		many += "f" + std::to_string(i) + ",";
		bad += "f|" + std::to_string(i) + ",";
	}
	SlinkyFeatures found = slinky_features({{k_external_partitions, many}}, "kube");
	CHECK_EQUAL(found.features.size(), 32U);
	CHECK_EQUAL(found.refused.size(), 8U);
	found = slinky_features({{k_features_spec, bad}}, "kube");
	CHECK_EQUAL(found.features.size(), 0U);
	CHECK_EQUAL(found.refused.size(), 8U);
	const std::string longest(64, 'a'), longer(65, 'a');
	found = slinky_features({{k_external_partitions, longest + "," + longer}}, "kube");
	CHECK_EQUAL(joined(found.features), longest);
	CHECK_EQUAL(joined(found.refused), longest); /* a short form of it */
	/* the word that the limit cuts would be another one */
	found = slinky_features(
		{{k_external_partitions, "a," + std::string(4090, ' ') + "b,bcdef"}}, "kube");
	CHECK_EQUAL(joined(found.features), "a,b");
	found = slinky_features({{k_external_partitions, std::string(5000, 'a')}}, "kube");
	CHECK_EQUAL(joined(found.features), "");
}

void a_reason_is_one_short_line()
{
	const std::string longest(200, 'x');
	const struct {
		std::string given, reason;
	} rows[] = {{"", ""}, {" \n", ""}, {" GPU ECC error detected\n", "GPU ECC error detected"},
		{"a\nNodeName=b", "a?NodeName=b"}, {longest + "y", longest},
		{std::string(199, 'x') + "\xc3\xa4", std::string(199, 'x') + "?"}};
	for (const auto &row : rows)
		CHECK_EQUAL(slinky_cordon_reason({{k_cordon_reason, row.given}}), row.reason);
	CHECK_EQUAL(slinky_cordon_reason({{"other", "x"}}), "");
	CHECK(is_of_slinky(k_features_spec) && is_of_slinky(k_cordon_reason) &&
		is_of_slinky(k_external_partitions) && is_of_slinky(k_topology_spec));
	CHECK(!is_of_slinky("topology.slinky.slurm.net/other"));
}

} // namespace

int main()
{
	return check::run_tests("slinky_node",
		{TEST(words_become_features), TEST(they_are_limited),
			TEST(a_reason_is_one_short_line)});
}
