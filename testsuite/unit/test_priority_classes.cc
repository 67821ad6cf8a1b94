/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/policy/priority_classes.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

Policy policy_of(std::vector<PriorityClassRule> rules)
{
	Policy policy;
	policy.priority_classes = std::move(rules);
	return policy;
}

Pod pod_of(const char *name_space, const char *priority_class)
{
	Pod pod;
	pod.name_space = name_space;
	pod.priority_class = priority_class;
	return pod;
}

void a_class_without_a_rule_is_news_once_per_namespace()
{
	const Policy policy = policy_of({{"mapped", "", 10}});
	UnusedClasses classes;
	const struct {
		const char *name_space, *priority_class;
		bool is_news;
	} rows[] = {
		{"a", "", false},
		{"a", "mapped", false},
		{"a", "high", true},
		{"a", "high", false},
		{"b", "high", true},
		{"a", "low", true},
		{"a", "system-node-critical", true},
		{"a", "system-cluster-critical", true},
		{"a", "system-cluster-critical", false},
		{"b", "high", false},
	};
	for (const auto &row : rows)
		CHECK_EQUAL(classes.is_news(pod_of(row.name_space, row.priority_class), policy),
			row.is_news);
}

void a_rule_that_is_added_or_removed_counts()
{
	UnusedClasses classes;
	CHECK(!classes.is_news(pod_of("a", "high"), policy_of({{"high", "", 1}})));
	CHECK(classes.is_news(pod_of("a", "high"), policy_of({})));
	CHECK(!classes.is_news(pod_of("a", "high"), policy_of({})));
}

void what_is_remembered_is_bounded()
{
	UnusedClasses classes;
	std::size_t news = 0;
	for (std::size_t i = 0; i < UnusedClasses::k_most + 100; i++)
		news += classes.is_news(pod_of("a", std::to_string(i).c_str()), {}) ? 1U : 0U;
	CHECK_EQUAL(news, UnusedClasses::k_most);
	CHECK(!classes.is_news(pod_of("a", "0"), {}));
}

} // namespace

int main()
{
	return check::run_tests("priority_classes",
		{TEST(a_class_without_a_rule_is_news_once_per_namespace),
			TEST(a_rule_that_is_added_or_removed_counts),
			TEST(what_is_remembered_is_bounded)});
}
