/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native_stage.h - a World for pods within native jobs: n2 is a hybrid node, where job 7 of user 1
 * runs.
 */
#ifndef SLURMKUBE_TESTSUITE_UNIT_NATIVE_STAGE_H
#define SLURMKUBE_TESTSUITE_UNIT_NATIVE_STAGE_H

#include "testsuite/unit/place_stage.h"

namespace slurmkube::check
{

inline constexpr std::int64_t k_native_second = 1'000'000;

inline NativeJob job_of_user(std::uint32_t id = 7)
{
	NativeJob job;
	job.mark = {{id}, 1, 0, 1'790'000'000, "slurm-a"};
	job.state = JobState::running;
	job.partition = "shared";
	job.nodes = {"n2"};
	job.cpus = 2;
	job.memory_mib = 200;
	return job;
}

struct NativeStage : PlaceStage {
	NativeStage()
	{
		Settings s = settings();
		s.policy.pods_in_native_jobs = true;
		world.observe(SettingsSet{s}, now);
		connect("slurm-a");
		(void)world.take_node_actions(now);
	}

	void connect(const char *cluster)
	{
		PluginHello hello;
		hello.cluster_name = cluster;
		world.observe(LinkOpened{hello});
		for (const char *name : {"n1", "n3"})
			world.observe(SlurmNodeSeen{slurm_node(name, 4)});
		world.observe(SlurmNodeSeen{hybrid()});
		world.observe(SnapshotEnded{}, now);
	}

	static SlurmNode hybrid(bool is_completing = false)
	{
		SlurmNode n = slurm_node("n2", 4);
		n.is_hybrid = true;
		n.completing = is_completing;
		n.features = "kube-hybrid";
		return n;
	}

	static Pod asking(const std::string &uid, std::uint32_t job = 7)
	{
		Pod p = pod(uid);
		p.requests = make_requests(1000, std::int64_t{64} << 20);
		p.annotations = {{"slurm-kube.io/job", std::to_string(job)}};
		return p;
	}

	void pass(std::int64_t seconds) { advance(now, seconds * k_native_second); }

	/* act() says "other" of a deletion. "ask:7", or "" */
	std::string question()
	{
		const auto id = world.take_job_question(now);
		return id ? "ask:" + std::to_string(id->number) : "";
	}

	void answer(NativeAnswer what, std::uint32_t job = 7, std::size_t described = 1)
	{
		world.observe(NativeJobAnswered{{job}, std::move(what), described}, now);
	}

	/* Lets time pass until the job is asked for; false: it is not within that time. */
	bool asks_within(std::int64_t seconds, std::uint32_t job = 7)
	{
		for (std::int64_t i = 0; i <= seconds * 10; i++) {
			if (question() == "ask:" + std::to_string(job))
				return true;
			advance(now, k_native_second / 10);
		}
		return false;
	}

	/* Binds the pod within job 7. */
	void run(const std::string &uid)
	{
		world.observe(PodSeen{asking(uid)}, now);
		std::string done = act();
		if (done.empty()) { /* nothing is known of the job, or not enough */
			CHECK(asks_within(2));
			answer(job_of_user());
			done = act();
		}
		CHECK_EQUAL(done, "bind:" + uid + "@n2");
		world.answer(BindAnswered{{uid}, Ok{}}, now);
		world.observe(PodSeen{bound(uid)}, now);
		CHECK_EQUAL(act(), "");
	}

	static Pod bound(const std::string &uid)
	{
		Pod p = asking(uid);
		p.node_name = "n2";
		p.phase = PodPhase::running;
		p.annotations[names::k_allocation_job_id] = "native";
		p.annotations[names::k_allocation_native_job] = text_of(job_of_user().mark);
		return p;
	}
};

inline const NativeAnswer k_no_such_job = Error{Errc::not_found, "Invalid job id specified"};
inline const NativeAnswer k_no_word = Error{Errc::again, "no answer"};

} // namespace slurmkube::check

#endif
