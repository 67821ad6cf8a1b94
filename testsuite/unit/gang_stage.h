/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gang_stage.h - a World with four nodes of eight CPUs and one owner whose pods start together.
 * Tests put facts in, take actions out and give answers.
 */
#ifndef SLURMKUBE_TESTSUITE_UNIT_GANG_STAGE_H
#define SLURMKUBE_TESTSUITE_UNIT_GANG_STAGE_H

#include "testsuite/unit/world_facts.h"

namespace slurmkube::check
{

inline constexpr std::int64_t k_mib = 1 << 20;
inline Resources size(std::int64_t milli_cpu, std::int64_t mib)
{
	return make_requests(milli_cpu, mib * k_mib);
}

inline std::vector<NodeAllocation> nodes(
	std::initializer_list<std::pair<const char *, std::uint32_t>> list)
{
	std::vector<NodeAllocation> out;
	for (const auto &[name, cpus] : list)
		out.push_back(make_allocation(name, cpus));
	return out;
}

/* Four nodes of eight CPUs, one Indexed Job, and a clock. */
struct GangStage {
	World world;
	Now now = k_start;
	Owner job;

	explicit GangStage(std::uint32_t pods, Resources each = size(4000, 64),
		Settings settings = plain_settings())
	    : world(std::move(settings))
	{
		job.id = {"batch/v1", "Job", "a", "train"};
		job.uid = "train-uid";
		job.roles = {{.name = "", .pods = pods, .each = each}};
		job.starts_together = true;
		for (const char *name : {"n1", "n2", "n3", "n4"})
			world.observe(
				core::NodeSeen{kube_node(name, std::string(name) + "-uid", 8000)},
				now);
		world.observe(core::NodesListed{{"n1-uid", "n2-uid", "n3-uid", "n4-uid"}});
		world.observe(core::PodsListed{{}}, now);
		connect({});
	}

	void connect(const std::vector<SlurmJob> &jobs)
	{
		world.observe(core::LinkOpened{{}});
		for (const char *name : {"n1", "n2", "n3", "n4"})
			world.observe(core::SlurmNodeSeen{slurm_node(name, 8)});
		for (const SlurmJob &one : jobs)
			world.observe(core::JobSeen{one}, now);
		world.observe(core::SnapshotEnded{}, now);
	}

	[[nodiscard]] Pod pod(std::uint32_t index, const std::string &life = "") const
	{
		Pod p = make_pod("a", "train-" + std::to_string(index) + life,
			"u" + std::to_string(index) + life, job.roles.front().each);
		p.created = now.wall_s;
		p.labels = {{"batch.kubernetes.io/job-completion-index", std::to_string(index)}};
		p.controller = OwnerRef{"batch/v1", "Job", "train", "train-uid"};
		return p;
	}

	/* Takes the actions. Each question about an owner is answered at once. */
	std::vector<World::PodAction> take()
	{
		for (const OwnerId &id : world.take_questions(now))
			world.observe(core::OwnerSeen{id, std::optional<Owner>(job)}, now);
		return world.take_actions(now);
	}

	/* The same, after look-ups have been answered: none of the pods is bound. */
	std::vector<World::PodAction> take_unbound()
	{
		auto actions = take();
		for (const auto &[uid, action] : actions) {
			if (std::holds_alternative<LookUp>(action))
				world.answer(core::LookUpAnswered{uid, PodLookup::unbound}, now);
		}
		for (World::PodAction &next : take())
			actions.push_back(std::move(next));
		return actions;
	}

	[[nodiscard]] SlurmJob running(std::vector<NodeAllocation> on, std::uint32_t attempt = 1,
		std::uint32_t id = 7) const
	{
		SlurmJob j = make_job(id, make_marker("a", "train", "Job", "train-uid", attempt),
			on.empty() ? JobState::pending : JobState::running);
		j.nodes = std::move(on);
		return j;
	}

	void all_pods(std::uint32_t count)
	{
		for (std::uint32_t i = 0; i < count; i++)
			world.observe(core::PodSeen{pod(i)}, now);
	}

	/* Goes all the way from the pods' arrival to pods that run on n1 and n2. */
	void start(std::uint32_t count,
		const std::vector<NodeAllocation> &on = nodes({{"n1", 8}, {"n2", 8}}))
	{
		all_pods(count);
		(void)take();
		world.answer(core::SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}},
			now);
		world.observe(core::JobSeen{running(on)}, now);
		for (const World::PodAction &next : take()) {
			if (const auto *bind = std::get_if<Bind>(&next.action)) {
				world.answer(core::BindAnswered{next.pod, Ok{}}, now);
				Pod seen = *world.state().pod(next.pod);
				seen.node_name = bind->node;
				seen.annotations[names::k_allocation_job_id] = "7";
				seen.annotations[names::k_allocation_attempt] = "1";
				seen.annotations[names::k_allocation_rank] =
					std::to_string(*bind->rank);
				seen.phase = PodPhase::running;
				world.observe(core::PodSeen{seen}, now);
			}
		}
	}

	void end(std::uint32_t index, PodPhase phase, int exit_code = 0)
	{
		Pod p = *world.state().pod({"u" + std::to_string(index)});
		p.phase = phase;
		p.ended_containers = {{"main", exit_code, 0, "Error"}};
		p.main_container = "main";
		world.observe(core::PodSeen{p}, now);
	}

	void pass(std::int64_t us) { advance(now, us); }
};

template <class T>
std::vector<std::pair<PodUid, T>> only(const std::vector<World::PodAction> &actions)
{
	std::vector<std::pair<PodUid, T>> out;
	for (const World::PodAction &next : actions) {
		if (const auto *found = std::get_if<T>(&next.action))
			out.emplace_back(next.pod, *found);
	}
	return out;
}

} // namespace slurmkube::check

#endif
