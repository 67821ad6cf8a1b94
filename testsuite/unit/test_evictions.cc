/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/policy/evictions.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

const std::string k_safe = "cluster-autoscaler.kubernetes.io/safe-to-evict";
const std::string k_disrupt = "karpenter.sh/do-not-disrupt";
using Annotations = std::map<std::string, std::string>;
const Annotations k_one = {{k_safe, "false"}};
const Annotations k_both = {{k_safe, "false"}, {k_disrupt, "true"}};

/* Also one of a NodeClaim without a NodePool, and one that is not registered yet. */
void a_node_of_karpenter_gets_its_annotation()
{
	for (const char *label : {"karpenter.sh/nodepool", "karpenter.sh/registered"}) {
		KubeNode node;
		node.labels = {{"disk", "ssd"}, {label, ""}};
		CHECK(not_to_evict(&node) == k_both);
	}
	KubeNode early;
	early.taints = {
		{"other", "", "NoSchedule"}, {"karpenter.sh/unregistered", "", "NoExecute"}};
	CHECK(not_to_evict(&early) == k_both);
}

void another_node_does_not()
{
	KubeNode node;
	node.labels = {{"karpenter", "x"}, {"my-karpenter.sh/nodepool", "y"}};
	node.taints = {{"karpenter", "", "NoSchedule"}};
	CHECK(not_to_evict(&node) == k_one);
}

void an_unknown_node_may_be_karpenters()
{
	CHECK(not_to_evict(nullptr) == k_both);
}

} // namespace

int main()
{
	return check::run_tests("evictions",
		{
			TEST(a_node_of_karpenter_gets_its_annotation),
			TEST(another_node_does_not),
			TEST(an_unknown_node_may_be_karpenters),
		});
}
