/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names in Slurm that nodes have by their labels. */
#include "src/core/policy/label_names.h"
#include "testsuite/unit/place_stage.h"

#include <random>
#include <set>
#include <sstream>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

constexpr char k_label[] = "slurm-kube.io/slurm-node";

/* "a=x b": node a with the label x, and node b without. */
std::map<std::string, KubeNode> nodes_of(const std::string &text)
{
	std::map<std::string, KubeNode> nodes;
	std::istringstream words(text);
	for (std::string word; words >> word;) {
		const std::size_t equal = word.find('=');
		KubeNode node = kube_node(word.substr(0, equal), "uid-" + word, 1000);
		if (equal != std::string::npos)
			node.labels[k_label] = word.substr(equal + 1);
		nodes[node.name] = node;
	}
	return nodes;
}

NodeNames before_of(const std::string &text, const std::string &prefix = "")
{
	LabelNames names;
	std::istringstream words(text);
	for (std::string word; words >> word;) {
		const std::size_t equal = word.find('=');
		const std::string node = word.substr(0, equal), name = word.substr(equal + 1);
		names.in_slurm[node] = name;
		if (!name.empty())
			names.in_kubernetes[name] = node;
	}
	return {prefix, text.empty() ? nullptr : std::make_shared<const LabelNames>(names)};
}

std::string text_of(const NodeNames &names)
{
	std::string text;
	if (names.by_label)
		for (const auto &[node, name] : names.by_label->in_slurm)
			text += (text.empty() ? "" : " ") + node + "=" + name;
	return text;
}

void a_label_gives_a_name_that_no_other_node_has()
{
	const struct {
		const char *before, *nodes, *in_use, *names;
		std::size_t troubles;
	} rows[] = {
		{"", "a b", "", "", 0},
		{"", "a=x b", "", "a=x", 0},
		{"", "a=a b", "", "", 0},
		{"", "a= b", "", "", 0},
		/* its own name goes before another's label */
		{"", "a=b b", "", "a=", 1},
		{"a=b", "a=b b", "", "a=", 1},
		/* names that are exchanged, or handed on */
		{"", "a=b b=a", "", "a=b b=a", 0},
		{"", "a=b b=c", "", "a=b b=c", 0},
		/* of two labels neither, unless one was there before */
		{"", "a=x b=x", "", "a= b=", 2},
		{"b=x", "a=x b=x", "", "a= b=x", 1},
		{"a= b=", "b=x", "", "b=x", 0},
		/* the label goes, changes, or comes */
		{"a=x", "a b", "", "", 0},
		{"a=x", "a b", "a", "a=x", 1},
		{"a=x", "b", "a", "a=x", 1},
		{"a=x", "b", "", "", 0},
		{"a=x", "a=y", "a", "a=x", 1},
		{"a=x", "a=y", "", "a=y", 0},
		{"", "a=x", "a", "a=a", 1},
		/* who needs its name keeps it, also from nodes of that name */
		{"a=x", "a=x x", "a", "a=x x=", 1},
		{"a=x", "a=x x", "", "a=", 1},
		{"a=x", "a b=x", "a", "a=x b=", 2},
		{"a=x b=y", "a=y b=x", "a", "a=x b=", 2},
	};
	for (const auto &row : rows) {
		const std::set<std::string> in_use{row.in_use};
		const FoundNames found = names_by_label(nodes_of(row.nodes), before_of(row.before),
			[&](const std::string &name) { return in_use.contains(name); });
		const std::string names = row.names;
		/* a node that keeps its own name needs no entry */
		CHECK_EQUAL(std::string(row.nodes) + ": " + text_of(found.names),
			std::string(row.nodes) + ": " + (names == "a=a" ? "" : names));
		CHECK_EQUAL(found.troubles.size(), row.troubles);
	}
}

void at_the_start_no_node_keeps_a_name()
{
	const FoundNames found = names_by_label(nodes_of("a=y"), before_of("a=x"), {});
	CHECK_EQUAL(text_of(found.names), "a=y");
	CHECK(found.troubles.empty());
}

void troubles_say_what_happens()
{
	const FoundNames found = names_by_label(nodes_of("a=y b c=b"), before_of("a=x"),
		[](const auto &name) { return name == "a"; });
	CHECK_EQUAL(found.troubles.size(), 2U);
	CHECK_EQUAL(found.troubles.at(0),
		"node a keeps the name x in Slurm while it has jobs of pods; then it is y");
	CHECK_EQUAL(found.troubles.at(1),
		"node c takes no pods: its name in Slurm would be b, which is that of node b");
}

void names_are_translated_by_label()
{
	const NodeNames names = names_by_label(nodes_of("a=x b c=b d"), {"k-"}, {}).names;
	CHECK_EQUAL(names.in_slurm("a"), "x");
	CHECK_EQUAL(names.in_slurm("b"), "k-b");
	CHECK_EQUAL(names.in_slurm("c"), "b");
	CHECK_EQUAL(names.in_kubernetes("x"), "a");
	CHECK_EQUAL(names.in_kubernetes("b"), "c");
	CHECK_EQUAL(names.in_kubernetes("k-b"), "b");
	/* the record that a had before */
	CHECK_EQUAL(names.in_kubernetes("k-a"), "/k-a");
	CHECK(names.is_left_behind("/k-a") && !names.is_left_behind("/k-z") &&
		!names.is_left_behind("b"));
	CHECK_EQUAL(names.in_slurm("/k-a"), "k-a");
	const NodeNames none = names_by_label(nodes_of("a=b b"), {""}, {}).names;
	CHECK(none.has_no_name("a") && !none.has_no_name("b"));
	CHECK_EQUAL(none.in_slurm("a"), "/a");
}

/* Labels change at random, and pods come and go. */
void no_name_is_given_twice_and_none_is_taken_from_a_node_in_use()
{
	std::minstd_rand random(4711);
	NodeNames names;
	for (int round = 0; round < 5000; round++) {
		std::map<std::string, KubeNode> nodes;
		std::set<std::string> in_use;
		for (const char *name : {"a", "b", "c", "d"}) {
			if (random() % 5 == 0)
				continue;
			KubeNode node = kube_node(name, name, 1000);
			if (random() % 2 == 0)
				node.labels[k_label] = std::string(1, "abcdxy"[random() % 6]);
			nodes[name] = node;
			/* no pod is on a node that had no name */
			if (random() % 3 == 0 && names.in_kubernetes(names.in_slurm(name)) == name)
				in_use.insert(name);
		}
		const NodeNames before = names;
		names = names_by_label(nodes, before, [&](const std::string &name) {
			return in_use.contains(name);
		}).names;
		std::set<std::string> given;
		for (const auto &[name, node] : nodes) {
			if (names.has_no_name(name))
				continue;
			CHECK(given.insert(names.in_slurm(name)).second);
			CHECK_EQUAL(names.in_kubernetes(names.in_slurm(name)), name);
		}
		for (const std::string &name : in_use)
			CHECK_EQUAL(names.in_slurm(name), before.in_slurm(name));
	}
}

/* ---- World ---- */

struct NamedStage : PlaceStage {
	void label(const std::string &value)
	{
		KubeNode n = node("n2");
		if (!value.empty())
			n.labels[k_label] = value;
		world.observe(NodeSeen{n}, now);
	}
	/* The names, if they are others; then Slurm's report with them. */
	std::string renamed()
	{
		const auto names = world.take_names(now);
		if (!names)
			return "-";
		world.observe(LinkLost{});
		report();
		return text_of(*names);
	}
	void report()
	{
		world.observe(LinkOpened{{}});
		for (const char *name : {"n1", "hybrid", "n3"}) {
			SlurmNode record = slurm_node(world.names().in_kubernetes(name), 4);
			record.is_hybrid = name == std::string("hybrid");
			world.observe(SlurmNodeSeen{record});
		}
		if (job)
			world.observe(JobSeen{*job}, now);
		world.observe(SnapshotEnded{}, now);
	}
	void run(const std::string &uid)
	{
		Pod p = pod(uid);
		p.node_name = "n2";
		p.phase = PodPhase::running;
		p.annotations = allocation_annotations(7);
		world.observe(PodSeen{p}, now);
		job = make_job(
			7, make_marker("default", "pod-" + uid, "Pod", uid, 1), JobState::running);
		job->nodes = {make_allocation("n2", 1, 64, "0")};
		world.observe(JobSeen{*job}, now);
		(void)act();
	}
	void end(const std::string &uid)
	{
		Pod p = *world.state().pod({uid});
		p.phase = PodPhase::succeeded;
		world.observe(PodSeen{p}, now);
		job->state = JobState::complete;
		world.observe(JobSeen{*job}, now);
		(void)act();
	}
	std::optional<SlurmJob> job;
};

void a_node_keeps_its_name_while_a_pod_runs_there()
{
	NamedStage s;
	s.label("hybrid");
	CHECK_EQUAL(s.renamed(), "n2=hybrid");
	CHECK(s.world.state().slurm_node("n2") && s.world.state().slurm_node("n2")->is_hybrid);
	CHECK_EQUAL(s.renamed(), "-");
	s.run("a");
	s.label("");
	CHECK_EQUAL(s.renamed(), "-");
	CHECK_EQUAL(s.world.nodes().namer().troubles().size(), 1U);
	s.end("a");
	CHECK_EQUAL(s.renamed(), "-"); /* looked at each second */
	s.now.mono_us += 1'100'000;
	CHECK_EQUAL(s.renamed(), "");
	CHECK(!s.world.state().slurm_node("n2") && s.world.nodes().namer().troubles().empty());
}

void nothing_is_renamed_while_slurmctld_is_away()
{
	NamedStage s;
	CHECK_EQUAL(s.renamed(), "-");
	s.world.observe(LinkLost{});
	s.label("hybrid");
	CHECK(!s.world.take_names(s.now));
	s.report();
	CHECK_EQUAL(s.renamed(), "n2=hybrid");
	/* also by a configuration that is read again */
	s.world.observe(SettingsSet{PlaceStage::settings()}, s.now);
	CHECK_EQUAL(s.world.names().in_slurm("n2"), "hybrid");
}

/* Another node has the name, so that its record is not used for this one, and none is made. */
void a_node_without_a_name_is_not_managed()
{
	NamedStage s;
	s.label("n1");
	CHECK_EQUAL(s.renamed(), "n2=");
	CHECK(!is_managed(*s.world.state().kube_node("n2"), s.world.state().settings.nodes));
	CHECK(is_managed(*s.world.state().kube_node("n1"), s.world.state().settings.nodes));
	CHECK(!s.world.state().slurm_node("n2") && s.world.state().slurm_node("n1"));
}

} // namespace

int main()
{
	return check::run_tests("label names",
		{
			TEST(a_label_gives_a_name_that_no_other_node_has),
			TEST(at_the_start_no_node_keeps_a_name),
			TEST(troubles_say_what_happens),
			TEST(names_are_translated_by_label),
			TEST(no_name_is_given_twice_and_none_is_taken_from_a_node_in_use),
			TEST(a_node_keeps_its_name_while_a_pod_runs_there),
			TEST(nothing_is_renamed_while_slurmctld_is_away),
			TEST(a_node_without_a_name_is_not_managed),
		});
}
