/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/foreign_partitions.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::plugin;

namespace
{

constexpr std::int64_t k_second = ForeignPartitions::k_for_ns;

void an_answer_counts_for_a_second()
{
	ForeignPartitions partitions;
	int looks = 0;
	bool there = false;
	const auto look = [&] {
		looks++;
		return std::optional(there);
	};
	CHECK(!partitions.has_foreign("kube", "kube-alpha", 5, look));
	there = true;
	CHECK(!partitions.has_foreign("kube", "kube-alpha", 4 + k_second, look));
	CHECK_EQUAL(looks, 1);
	CHECK(partitions.has_foreign("kube", "kube-alpha", 5 + k_second, look));
	CHECK_EQUAL(looks, 2);
}

void each_cluster_and_partition_has_its_answer()
{
	ForeignPartitions partitions;
	const auto yes = [] { return std::optional(true); };
	const auto no = [] { return std::optional(false); };
	CHECK(partitions.has_foreign("p", "kube-alpha", 1, yes));
	CHECK(!partitions.has_foreign("p", "kube-beta", 1, no));
	CHECK(!partitions.has_foreign("q", "kube-alpha", 1, no));
	CHECK(partitions.has_foreign("p", "kube-alpha", 2, no));
}

void old_answers_are_forgotten()
{
	ForeignPartitions partitions;
	const auto yes = [] { return std::optional(true); };
	CHECK(partitions.has_foreign("p", "f", 1, yes));
	for (std::size_t i = 0; i <= ForeignPartitions::k_known_max; i++)
		(void)partitions.has_foreign("no" + std::to_string(i), "f", 1, yes);
	CHECK(!partitions.has_foreign("p", "f", 1, [] { return std::optional(false); }));
}

/* Requests may name partitions that do not exist, with texts of any length. */
void what_does_not_exist_is_not_remembered()
{
	ForeignPartitions partitions;
	CHECK(partitions.has_foreign("p", "f", 1, [] { return std::optional(true); }));
	for (std::size_t i = 0; i <= ForeignPartitions::k_known_max; i++)
		CHECK(!partitions.has_foreign(
			"no" + std::to_string(i), "f", 1, [] { return std::optional<bool>(); }));
	CHECK(partitions.has_foreign("p", "f", 1, [] { return std::optional(false); }));
}

} // namespace

int main()
{
	return check::run_tests("plugin foreign partitions",
		{
			TEST(an_answer_counts_for_a_second),
			TEST(each_cluster_and_partition_has_its_answer),
			TEST(old_answers_are_forgotten),
			TEST(what_does_not_exist_is_not_remembered),
		});
}
