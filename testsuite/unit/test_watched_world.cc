/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The life of a pod as a watcher sees it, and what it costs to compare many objects. */
#include "src/agent/watch/table.h"
#include "src/agent/watch/watched_world.h"
#include "src/codec/json.h"
#include "src/core/inspect/selection.h"
#include "testsuite/unit/gang_stage.h"
#include "testsuite/unit/world_stage.h"

#include <ctime>

using namespace slurmkube;
using namespace slurmkube::check;

namespace
{

using watch::ObjectId;

constexpr std::size_t k_enough = 1'000'000;

watch::Wish all_of(ctl::Peer peer)
{
	watch::Wish wish{.peer = peer, .selections = {}};
	for (auto &selection : wish.selections)
		selection = core::Selection{};
	return wish;
}

/* A world and one watcher. */
struct Watched {
	Stage stage;
	watch::WatchedWorld world{stage.world};
	watch::Table table{world};
	std::size_t watcher = 0;

	explicit Watched(ctl::Peer peer = {.user = 0, .is_operator = true})
	{
		stage.world.changes().keep(true);
		watcher = table.join(all_of(peer)).value_or(0);
		table.walk(k_enough);
		(void)events();
	}

	/* Compares what the world has noted, as the hub does. */
	void look()
	{
		const watch::Changed changed = world.take_changes();
		if (changed.is_all) {
			table.begin_walk();
			table.walk(k_enough);
		}
		for (const ObjectId &id : changed.objects)
			table.look(id);
	}

	/* "added pod Pending", one line for each event. */
	std::string events()
	{
		look();
		std::string all, line;
		for (std::size_t most = k_enough; table.next(watcher, most, line); line.clear())
			all += brief(line);
		return all;
	}
	static std::string brief(const std::string &line)
	{
		const auto event = codec::parse_json(line.substr(0, line.size() - 1), 1 << 16);
		CHECK(event.ok());
		const auto text = [&](auto... keys) {
			json_object *member = codec::get(event->get(), keys...);
			return member ? " " + std::string(json_object_get_string(member)) : "";
		};
		return text("type").substr(1) + text("kind") + text("object", "phase") +
			text("object", "node") + text("object", "state") + text("object", "pods") +
			"\n";
	}
};

void the_life_of_a_pod()
{
	Watched w;
	Stage &s = w.stage;
	s.world.observe(core::PodSeen{s.pod("a")}, s.now);
	CHECK_EQUAL(w.events(), "added pod Pending \n");
	CHECK_EQUAL(s.act(), "submit:a#1");
	s.allocate("a", 7);
	CHECK_EQUAL(w.events(), "added job n1 running\nchanged pod Pending \n");
	CHECK_EQUAL(s.act(), "bind:a@n1");
	CHECK_EQUAL(w.events(), "changed pod Pending n1\nchanged node 1\n");
	s.world.answer(core::BindAnswered{{"a"}, Ok{}}, s.now);
	Pod bound = s.pod("a");
	bound.node_name = "n1";
	bound.annotations = allocation_annotations(7);
	bound.phase = PodPhase::running;
	s.world.observe(core::PodSeen{bound}, s.now);
	CHECK_EQUAL(w.events(), "changed pod Running n1\n");
	s.world.observe(core::PodSeen{end_of(bound, PodPhase::succeeded, 0)}, s.now);
	CHECK_EQUAL(w.events(), "changed pod Succeeded n1\nchanged node 0\n");
	CHECK_EQUAL(s.act(), "complete:7=0");
	s.world.observe(core::JobSeen{Stage::job(7, "a", JobState::complete)}, s.now);
	CHECK_EQUAL(w.events(), "changed job  complete\nchanged pod Succeeded n1\n");
	s.world.observe(core::PodGone{{"a"}, bound}, s.now);
	CHECK_EQUAL(w.events(), "gone pod\n");
	s.world.observe(core::JobGone{{7}}, s.now);
	CHECK_EQUAL(w.events(), "gone job\n");
}

void what_a_pod_waits_for()
{
	Watched w;
	Stage &s = w.stage;
	s.world.observe(core::PodSeen{s.pod("a")}, s.now);
	(void)s.act();
	s.world.observe(core::JobSeen{Stage::job(7, "a", JobState::pending)}, s.now);
	s.world.answer(core::SubmitAnswered{{"a"}, Submitted{.job = {7}, .node = ""}}, s.now);
	(void)w.events();
	s.pass(5 * k_second);
	CHECK(s.act().find("report:a:SlurmPending") != std::string::npos);
	CHECK_EQUAL(w.events(), "changed pod Pending \n");
}

void nodes_change_on_both_sides()
{
	Watched w;
	Stage &s = w.stage;
	s.node(false);
	CHECK_EQUAL(w.events(), "changed node 0\n");
	SlurmNode drained = slurm_node("n1", 0);
	drained.drain = true;
	s.world.observe(core::SlurmNodeSeen{drained});
	CHECK_EQUAL(w.events(), "changed node 0\n");
	s.world.observe(core::SlurmNodeGone{"n1"});
	CHECK_EQUAL(w.events(), "changed node 0\n");
	s.world.observe(core::NodeGone{"n1"}, s.now);
	CHECK_EQUAL(w.events(), "gone node\n");
}

/* slurmctld tells of all jobs anew. */
void a_snapshot_changes_any_object()
{
	Watched w;
	Stage &s = w.stage;
	run_pod(s, "a", 7);
	(void)w.events();
	s.world.observe(core::LinkLost{});
	CHECK_EQUAL(w.events(), "");
	s.connect({});
	CHECK(w.events().find("gone job") != std::string::npos);
}

void the_pods_of_a_gang_show_its_job()
{
	GangStage s(2);
	s.start(2);
	watch::WatchedWorld world(s.world);
	s.world.changes().keep(true);
	SlurmJob job = s.running(nodes({{"n1", 8}, {"n2", 8}}));
	job.state = JobState::cancelled;
	s.world.observe(core::JobSeen{job}, s.now);
	const std::set<ObjectId> noted = world.take_changes().objects;
	for (const char *uid : {"u0", "u1"})
		CHECK(noted.contains({.kind = ListKind::pods, .number = 0, .name = uid}));
	CHECK(noted.contains({.kind = ListKind::jobs, .number = 7, .name = {}}));
}

/* The rules of identity give the pods of a namespace to another user. */
void pods_may_change_hands()
{
	Watched w({.user = 1, .is_operator = false});
	Stage &s = w.stage;
	s.world.observe(core::PodSeen{s.pod("a")}, s.now);
	CHECK_EQUAL(w.events(), "added pod Pending \n");
	auto rules = s.world.state().settings.policy.namespaces;
	rules.front().user_id = 2;
	s.world.observe(core::IdentityRulesSet{rules, 0});
	CHECK_EQUAL(w.events(), "gone pod\n");
	rules.front().user_id = 1;
	s.world.observe(core::IdentityRulesSet{rules, 0});
	CHECK_EQUAL(w.events(), "added pod Pending \n");
}

void nothing_is_noted_for_nobody()
{
	Stage s;
	run_pod(s, "a", 7);
	CHECK(!s.world.changes().is_any());
	s.world.changes().keep(true);
	s.node(false);
	CHECK(s.world.changes().is_any());
	s.world.changes().keep(false);
	s.node(true);
	CHECK(!s.world.changes().is_any());
}

/* A log that nobody takes does not grow. */
void many_changes_are_all()
{
	core::ChangeLog log;
	log.keep(true);
	for (std::uint32_t i = 0; i < 2 * core::ChangeLog::k_names_max; i++)
		log.note(JobId{i});
	CHECK(log.take().is_all);
	log.note(JobId{1});
	CHECK(!log.take().is_all);
}

double cpu_seconds()
{
	timespec used{};
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

/* Printed, not judged: 5,000 running pods with their jobs. */
void the_cost_of_all_objects()
{
	constexpr int k_pods = 5000;
	Watched w;
	Stage &s = w.stage;
	for (int i = 0; i < k_pods; i++) {
		const std::string uid = "5f3c1a52-0000-0000-0000-" + std::to_string(i);
		Pod pod = s.pod(uid);
		pod.node_name = "n1";
		pod.phase = PodPhase::running;
		const auto number = static_cast<std::uint32_t>(i + 1);
		pod.annotations = allocation_annotations(number);
		s.world.observe(core::PodSeen{pod}, s.now);
		s.world.observe(core::JobSeen{Stage::job(number, uid, JobState::running)}, s.now);
	}
	double begin = cpu_seconds();
	w.look();
	const double compared = cpu_seconds() - begin;
	begin = cpu_seconds();
	std::string lines;
	std::size_t events = 0;
	for (std::size_t most = k_enough; w.table.next(w.watcher, most, lines); events++) {
	}
	const double sent = cpu_seconds() - begin;
	begin = cpu_seconds();
	w.table.begin_walk();
	w.table.walk(k_enough);
	const double walked = cpu_seconds() - begin;
	CHECK(events >= 2 * k_pods);
	(void)printf("# %zu events of %zu bytes: looks %.1f us each, lines %.1f us each, a walk "
		     "%.1f us each\n",
		events, lines.size() / events, compared * 1e6 / static_cast<double>(events),
		sent * 1e6 / static_cast<double>(events),
		walked * 1e6 / static_cast<double>(events));
}

} // namespace

int main()
{
	return check::run_tests("watched_world",
		{
			TEST(the_life_of_a_pod),
			TEST(what_a_pod_waits_for),
			TEST(nodes_change_on_both_sides),
			TEST(a_snapshot_changes_any_object),
			TEST(the_pods_of_a_gang_show_its_job),
			TEST(pods_may_change_hands),
			TEST(nothing_is_noted_for_nobody),
			TEST(many_changes_are_all),
			TEST(the_cost_of_all_objects),
		});
}
