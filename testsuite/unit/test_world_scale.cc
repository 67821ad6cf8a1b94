/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cost of large gangs and large clusters compared with small ones, as ratios of this
 * process's CPU time. */
#include "src/core/model/outcome.h"
#include "testsuite/unit/gang_stage.h"

#include <algorithm>
#include <ctime>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

constexpr std::uint32_t k_nodes = 100, k_pods = k_is_sanitized ? 200 : 1000, k_node_cpus = 64;
constexpr std::int64_t k_between_events_us = 400;
/* one large gang compared with a hundred small ones, in CPU time of this process */
constexpr double k_most_times = 3;

std::string node_name(std::uint32_t i)
{
	return "node-" + std::to_string(i);
}

/* The complete lives of the pods of equally large Jobs on a hundred nodes, one event after the
 * other. is_indexed: the pods know their ranks. */
struct Gangs {
	World world{plain_settings()};
	Now now = k_start;
	std::uint32_t jobs, size;
	bool is_indexed;
	std::map<PodUid, unsigned> bindings;
	std::set<std::uint32_t> ended;

	Gangs(std::uint32_t n, bool indexed) : jobs(n), size(k_pods / n), is_indexed(indexed)
	{
		std::set<std::string> uids;
		for (std::uint32_t i = 0; i < k_nodes; i++)
			world.observe(NodeSeen{kube_node(node_name(i),
					      *uids.insert(node_name(i) + "-uid").first,
					      1000 * k_node_cpus)},
				now);
		world.observe(NodesListed{uids});
		world.observe(PodsListed{{}}, now);
		world.observe(LinkOpened{{}});
		for (std::uint32_t i = 0; i < k_nodes; i++)
			world.observe(SlurmNodeSeen{slurm_node(node_name(i), k_node_cpus)});
		world.observe(SnapshotEnded{}, now);
	}

	[[nodiscard]] Owner owner(const OwnerId &id) const
	{
		Owner out;
		out.id = id;
		out.uid = id.name + "-uid";
		out.roles = {{.name = "", .pods = size, .each = check::size(1000, 64)}};
		out.starts_together = true;
		return out;
	}

	[[nodiscard]] Pod pod(std::uint32_t number) const
	{
		const std::string name = "job" + std::to_string(number / size),
				  index = std::to_string(number % size);
		Pod p;
		p.name_space = "a";
		p.name = name + "-" + index;
		p.uid = {p.name + "-0000-0000-0000-000000000000"};
		p.created = now.wall_s;
		p.requests = check::size(1000, 64);
		if (is_indexed)
			p.labels = {{"batch.kubernetes.io/job-completion-index", index}};
		else
			p.annotations = {{"slurm-kube.io/gang", "true"}};
		p.controller = OwnerRef{"batch/v1", "Job", name, name + "-uid"};
		return p;
	}

	/* slurmctld's part: ten pods per node. */
	void submit(const PodUid &lead, const Submit &action)
	{
		SlurmJob job;
		job.id = {100 + static_cast<std::uint32_t>(std::stoul(lead.text.substr(3)))};
		job.marker = action.spec.marker;
		job.state = JobState::running;
		const std::uint32_t on = std::max(size / 10, 1U);
		for (std::uint32_t i = 0; i < on; i++)
			job.nodes.push_back(
				make_allocation(node_name((job.id.number - 100) * on + i),
					action.spec.tasks * action.spec.cpus / on));
		world.answer(SubmitAnswered{lead, Submitted{.job = job.id, .node = ""}}, now);
		world.observe(JobSeen{job}, now);
	}

	/* Each event is followed by a pass. */
	std::vector<World::PodAction> take()
	{
		now.mono_us += k_between_events_us;
		for (const OwnerId &id : world.take_questions(now))
			world.observe(OwnerSeen{id, std::optional<Owner>(owner(id))}, now);
		return world.take_actions(now);
	}

	void show_bound(const PodUid &uid, const Bind &bind)
	{
		Pod seen = *world.state().pod(uid);
		seen.node_name = bind.node;
		seen.annotations[names::k_allocation_job_id] = std::to_string(bind.job.number);
		seen.annotations[names::k_allocation_attempt] = "1";
		seen.annotations[names::k_allocation_rank] = std::to_string(*bind.rank);
		world.observe(PodSeen{seen}, now);
	}

	/* Continues until nothing happens for a second. */
	void answer_all(std::vector<World::PodAction> todo)
	{
		for (int idle = 0; idle < 2500;) {
			std::vector<World::PodAction> next;
			idle = todo.empty() ? idle + 1 : 0;
			const auto keep = [&](std::vector<World::PodAction> more) {
				std::ranges::move(more, std::back_inserter(next));
			};
			for (const World::PodAction &action : todo) {
				if (const auto *submitted = std::get_if<Submit>(&action.action)) {
					submit(action.pod, *submitted);
				} else if (const auto *bind = std::get_if<Bind>(&action.action)) {
					bindings[action.pod]++;
					world.answer(BindAnswered{action.pod, Ok{}}, now);
					keep(take());
					show_bound(action.pod, *bind);
				} else if (const auto *complete =
						   std::get_if<Complete>(&action.action)) {
					ended.insert(complete->job.number);
					CHECK_EQUAL(complete->wait_status, 0U);
					world.answer(
						CompleteAnswered{action.pod, Ok{}, false}, now);
				}
				keep(take());
			}
			keep(take());
			todo = std::move(next);
		}
	}

	/* Thousands of events, never two at once. */
	void live()
	{
		std::vector<World::PodAction> todo;
		for (std::uint32_t i = 0; i < k_pods; i++) {
			world.observe(PodSeen{pod(i)}, now);
			std::ranges::move(take(), std::back_inserter(todo));
		}
		answer_all(std::move(todo));
		todo.clear();
		for (std::uint32_t i = 0; i < k_pods; i++) {
			Pod ended_pod = *world.state().pod(pod(i).uid);
			ended_pod.phase = PodPhase::succeeded;
			world.observe(PodSeen{ended_pod}, now);
			std::ranges::move(take(), std::back_inserter(todo));
		}
		answer_all(std::move(todo));
	}
};

double cpu_seconds()
{
	timespec used{};
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

/* Seconds of CPU time. */
double cost_of(std::uint32_t jobs, bool is_indexed)
{
	Gangs cluster(jobs, is_indexed);
	const double begin = cpu_seconds();
	cluster.live();
	const double used = cpu_seconds() - begin;
	CHECK_EQUAL(cluster.bindings.size(), std::size_t{k_pods});
	CHECK(std::ranges::all_of(
		cluster.bindings, [](const auto &one) { return one.second == 1; }));
	CHECK_EQUAL(cluster.ended.size(), std::size_t{jobs});
	return used;
}

void compare(bool is_indexed)
{
	const double small = cost_of(100, is_indexed), large = cost_of(1, is_indexed);
	(void)printf("# %u pods in gangs of %u: %.3f s, in one: %.3f s\n", k_pods, k_pods / 100,
		small, large);
	CHECK(large < k_most_times * small);
}

void a_gang_of_a_thousand_costs_little_more_than_small_ones()
{
	compare(true);
}

void ranks_of_pods_without_an_index_are_found_as_fast()
{
	compare(false);
}

/* Seconds for 500 pods of one template, submitted one by one. Each node has pods of others, one
 * of which uses a host port. */
double cost_of_pods_on(std::uint32_t nodes)
{
	Settings settings = plain_settings();
	settings.sees_foreign_pods = true;
	World world(settings);
	Now now = k_start;
	std::set<std::string> uids;
	world.observe(LinkOpened{{}});
	for (std::uint32_t i = 0; i < nodes; i++) {
		world.observe(
			NodeSeen{kube_node(node_name(i), *uids.insert(node_name(i) + "-uid").first,
				1000 * k_node_cpus)},
			now);
		world.observe(SlurmNodeSeen{slurm_node(node_name(i), k_node_cpus - 8)});
		for (std::uint32_t number = 0; number < 10; number++) {
			Pod daemon;
			daemon.uid = {"daemon-" + std::to_string(i) + "-" + std::to_string(number)};
			daemon.node_name = node_name(i);
			daemon.requests = check::size(100, 64);
			if (number == 0)
				daemon.constraints.host_ports = {{"0.0.0.0", "TCP", 9100}};
			world.observe(ForeignSeen{daemon});
		}
	}
	world.observe(NodesListed{uids});
	world.observe(PodsListed{{}}, now);
	world.observe(ForeignListed{{}});
	world.observe(SnapshotEnded{}, now);
	(void)world.take_actions(now);
	const double begin = cpu_seconds();
	std::size_t submitted = 0;
	for (std::uint32_t i = 0; i < 500; i++) {
		Pod p;
		p.uid = {"pod-" + std::to_string(i)};
		p.name_space = "a";
		p.name = p.uid.text;
		p.requests = check::size(1000, 64);
		now.mono_us += k_between_events_us;
		world.observe(PodSeen{p}, now);
		submitted += only<Submit>(world.take_actions(now)).size();
	}
	CHECK_EQUAL(submitted, std::size_t{500});
	return cpu_seconds() - begin;
}

void a_pod_costs_little_more_on_many_nodes()
{
	const double few = cost_of_pods_on(100), many = cost_of_pods_on(2000);
	(void)printf("# 500 pods on 100 nodes: %.4f s, on 2,000 nodes: %.4f s\n", few, many);
	CHECK(many < 5 * few);
}

} // namespace

int main()
{
	return check::run_tests("world_scale",
		{
			TEST(a_gang_of_a_thousand_costs_little_more_than_small_ones),
			TEST(ranks_of_pods_without_an_index_are_found_as_fast),
			TEST(a_pod_costs_little_more_on_many_nodes),
		});
}
