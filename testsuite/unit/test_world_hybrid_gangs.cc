/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and gangs on a hybrid node: n1 has a slurmd, and the site's record in Slurm. */
#include "testsuite/unit/gang_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

struct HybridGang : GangStage {
	explicit HybridGang(std::uint32_t pods, Resources each = size(4000, 64),
		Settings settings = plain_settings())
	    : GangStage(pods, std::move(each), std::move(settings))
	{
		SlurmNode n = slurm_node("n1", 8);
		n.is_hybrid = true;
		n.features = "kube-hybrid";
		world.observe(SlurmNodeSeen{n});
		(void)world.take_node_actions(now);
	}

	/* The memory that each binding names, after the job got so much on the node. */
	std::string shares_of(std::uint32_t pods, std::uint64_t mib, const char *node = "n1")
	{
		all_pods(pods);
		return shares_of_job(pods * 4, mib, node);
	}

	std::string shares_of_job(std::uint32_t cpus, std::uint64_t mib, const char *node)
	{
		(void)take();
		world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, now);
		world.observe(JobSeen{running({make_allocation(node, cpus, mib)})}, now);
		std::string text;
		for (const auto &[uid, bind] : only<Bind>(take()))
			text += (text.empty() ? "" : " ") + std::to_string(bind.memory_mib);
		return text;
	}
};

void each_pod_may_use_what_its_task_has()
{
	CHECK_EQUAL(HybridGang(2, size(4000, 100)).shares_of(2, 200), "100 100");
	CHECK_EQUAL(HybridGang(2).shares_of(2, 8000), "64 64"); /* a whole node: not shared out */
	CHECK_EQUAL(HybridGang(2).shares_of(2, 0), "0 0");      /* Slurm counts no memory */
	CHECK_EQUAL(HybridGang(2).shares_of(2, 128, "n2"), "0 0"); /* an external node */
}

/* Four pods of 250m are one task of one CPU. */
void pods_that_share_a_task_share_its_memory()
{
	HybridGang s(4, size(250, 100));
	s.all_pods(4);
	CHECK_EQUAL(s.shares_of_job(1, 400, "n1"), "100 100 100 100");
}

void the_option_for_more_memory_counts()
{
	HybridGang s(2);
	for (std::uint32_t i = 0; i < 2; i++) {
		Pod p = s.pod(i);
		p.annotations["slurm-kube.io/mem-per-node"] = "1Gi";
		s.world.observe(PodSeen{p}, s.now);
	}
	CHECK_EQUAL(s.shares_of_job(8, 2048, "n1"), "1024 1024");
}

/* Epilog waits as long as the pod that takes longest. */
void the_job_has_the_longest_grace_period_of_its_pods()
{
	HybridGang s(2);
	for (std::uint32_t i = 0; i < 2; i++) {
		Pod p = s.pod(i);
		p.termination_grace_seconds = i == 0 ? 5 : 90;
		s.world.observe(PodSeen{p}, s.now);
	}
	const auto submits = only<Submit>(s.take());
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.grace_seconds, 90U);
}

} // namespace

int main()
{
	return check::run_tests("world_hybrid_gangs",
		{
			TEST(each_pod_may_use_what_its_task_has),
			TEST(pods_that_share_a_task_share_its_memory),
			TEST(the_option_for_more_memory_counts),
			TEST(the_job_has_the_longest_grace_period_of_its_pods),
		});
}
