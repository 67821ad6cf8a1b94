/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names in Slurm that nodes have by their labels. */
#include "src/core/policy/label_names.h"
#include "src/core/reconcile/node_sync.h"
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

/* "a=x b~y": a job of a pod runs on node a under the name x; one of several nodes on b, as y. */
InUse in_use_of(const std::string &text)
{
	InUse found;
	std::istringstream words(text);
	for (std::string word; words >> word;) {
		const std::size_t sign = word.find_first_of("=~");
		NamesInUse &names = found[word.substr(0, sign)];
		(word[sign] == '=' ? names.sure : names.likely).insert(word.substr(sign + 1));
	}
	return found;
}

bool any(const std::string &)
{
	return true;
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
		const char *nodes, *in_use, *names;
		std::size_t troubles;
	} rows[] = {
		{"a b", "", "", 0},
		{"a=x b", "", "a=x", 0},
		{"a=a b", "", "", 0},
		{"a= b", "", "", 0},
		/* its own name goes before another's label */
		{"a=b b", "", "a=", 1},
		/* names that are exchanged, or handed on */
		{"a=b b=a", "", "a=b b=a", 0},
		{"a=b b=x", "", "a=b b=x", 0},
		/* of two labels neither */
		{"a=x b=x", "", "a= b=", 2},
		/* words of slurmctld, and names that it does not have */
		{"a=ALL b", "", "a=", 1},
		{"a=aLl b", "", "a=", 1},
		{"a=Default b", "", "a=", 1},
		{"a=native b", "", "a=", 1},
		/* the label has gone, has changed, or has come; the node may be gone, too */
		{"a b", "a=x", "a=x", 1},
		{"b", "a=x", "a=x", 1},
		{"a=y b", "a=x", "a=x", 1},
		{"a=x b", "a=a", "a=a", 1},
		/* who needs its name keeps it */
		{"a=x x", "a=x", "a=x x=", 1},
		{"a b=x", "a=x", "a=x b=", 2},
		{"a=y b=x", "a=x", "a=x b=", 2},
		{"a=x b=x", "b=x", "a= b=x", 1},
		{"a=b b", "b=b", "a=", 1},
		{"a=b", "b=b", "a=", 1},
		/* one of the two was forged, or its job is lost */
		{"a=x b", "a=x a=y", "a=x", 0},
		{"a b", "a=x a=y", "a=", 1},
		{"a b", "a=b b=b", "", 0},
		{"a b=x", "a=x b=x", "b=x", 0},
		{"a b", "a=x b=x", "a=x", 1},
		/* a node that is not hybrid keeps its own name only */
		{"a b", "a=native", "", 0},
		{"a=x b", "a=a", "a=a", 1},
		/* the pods of a gang: their owner may exchange what their bindings say */
		{"a b", "a~x b~y", "a=x b=y", 2},
		{"a=x b=y", "a~x b~y", "a=x b=y", 0},
		{"a b", "a~b b~a", "a= b=", 2},
		{"a b", "a~b b~a a=a b=b", "", 0},
		{"a=x b=y", "a~y b~x", "a= b=", 2},
		{"a b=x", "a~x", "a= b=x", 1},
		{"a b", "a~native", "", 0},
		/* the label of one, and the forged binding there, against the other's job */
		{"a=x b=x", "a~x b=x", "a= b=x", 1},
	};
	for (const auto &row : rows) {
		const FoundNames found =
			names_by_label(nodes_of(row.nodes), "", in_use_of(row.in_use),
				[](const std::string &name) { return name != "native"; });
		const std::string title = std::string(row.nodes) + " (" + row.in_use + "): ";
		CHECK_EQUAL(title + text_of(found.names), title + row.names);
		CHECK_EQUAL(found.troubles.size(), row.troubles);
	}
}

void troubles_say_what_happens()
{
	const FoundNames found = names_by_label(nodes_of("a=y b c=b d=e"), "", in_use_of("a=x"),
		[](const std::string &name) { return name != "e"; });
	CHECK_EQUAL(found.troubles.size(), 3U);
	CHECK_EQUAL(found.troubles.at(0),
		"node a keeps the name x in Slurm while it has jobs of pods; then it is y");
	CHECK_EQUAL(found.troubles.at(1),
		"node c takes no pods: its name in Slurm would be b, which is that of node b");
	CHECK_EQUAL(found.troubles.at(2),
		"node d takes no pods: its name in Slurm would be e, and Slurm has no hybrid node "
		"of this name");
}

void names_are_translated_by_label()
{
	const NodeNames names = names_by_label(nodes_of("a=k-x b c=k-b2 d=x"), "k-", {}, any).names;
	CHECK_EQUAL(names.in_slurm("a"), "k-x");
	CHECK_EQUAL(names.in_slurm("b"), "k-b");
	CHECK_EQUAL(names.in_slurm("c"), "k-b2");
	CHECK(names.has_no_name("d")); /* names without the prefix are those of other clusters */
	CHECK_EQUAL(names.in_kubernetes("k-x"), "a");
	CHECK_EQUAL(names.in_kubernetes("k-b"), "b");
	CHECK_EQUAL(names.in_kubernetes("k-b2"), "c");
	/* the record that a had before */
	CHECK_EQUAL(names.in_kubernetes("k-a"), "/k-a");
	CHECK(names.is_left_behind("/k-a") && !names.is_left_behind("/k-z") &&
		!names.is_left_behind("b"));
	CHECK_EQUAL(names.in_slurm("/k-a"), "k-a");
	CHECK(names.has_own_name("b") && !names.has_own_name("a"));
	const NodeNames none = names_by_label(nodes_of("a=b b"), "", {}, any).names;
	CHECK(none.has_no_name("a") && !none.has_no_name("b"));
	CHECK_EQUAL(none.in_slurm("a"), "/a");
}

/* A node is external until its label has been looked at: no record is made for it. */
void a_node_whose_label_is_new_has_no_name_yet()
{
	const auto nodes = nodes_of("a=x b=b c");
	const NodeNames none, later = names_by_label(nodes, "", {}, any).names;
	for (const auto &[name, node] : nodes) {
		CHECK_EQUAL(has_name_in_slurm(node, none), name != "a");
		CHECK(has_name_in_slurm(node, later));
	}
	const NodeNames refused = names_by_label(nodes_of("a=c c"), "", {}, any).names;
	CHECK(!has_name_in_slurm(nodes.at("a"), refused));
}

/* Labels change at random, and jobs come and go. */
void no_name_is_given_twice_and_none_is_taken_from_a_node_in_use()
{
	std::minstd_rand random(4711);
	NodeNames names;
	InUse in_use;
	for (int round = 0; round < 5000; round++) {
		std::map<std::string, KubeNode> nodes;
		for (const char *name : {"a", "b", "c", "d"}) {
			if (random() % 5 == 0)
				continue;
			KubeNode node = kube_node(name, name, 1000);
			if (random() % 2 == 0)
				node.labels[k_label] = std::string(1, "abcdxy"[random() % 6]);
			nodes[name] = node;
		}
		names = names_by_label(nodes, "", in_use, any).names;
		std::set<std::string> given;
		for (const auto &[name, node] : nodes) {
			if (names.has_no_name(name))
				continue;
			CHECK(given.insert(names.in_slurm(name)).second);
			CHECK_EQUAL(names.in_kubernetes(names.in_slurm(name)), name);
		}
		for (const auto &[name, used] : in_use)
			CHECK_EQUAL(names.in_slurm(name), *used.sure.begin());
		in_use.clear();
		for (const auto &[name, node] : nodes) {
			if (random() % 3 == 0 && !names.has_no_name(name))
				in_use[name].sure.insert(names.in_slurm(name));
		}
	}
}

/* ---- World ---- */

/* Node n2 has the record "hybrid", n1 and n3 have external ones. */
struct NamedStage : PlaceStage {
	NamedStage() { report(); }

	void label(const std::string &value, const std::string &name = "n2")
	{
		KubeNode n = node(name);
		if (!value.empty())
			n.labels[k_label] = value;
		world.observe(NodeSeen{n}, now);
	}
	/* The names, if they are others; then Slurm's report with them, if it matters. */
	std::string renamed(std::int64_t after_us = 301'000'000)
	{
		now.mono_us += after_us;
		const NodeNames before = world.names();
		if (world.take_names(now)) {
			world.observe(LinkLost{});
			report();
			reports++;
		}
		return before == world.names() ? "-" : text_of(world.names());
	}
	void report()
	{
		world.observe(LinkOpened{{}});
		for (const char *name : {"n1", "hybrid", "n3"}) {
			SlurmNode record = slurm_node(world.names().in_kubernetes(name), 4);
			record.is_hybrid = name == std::string("hybrid");
			world.observe(SlurmNodeSeen{record});
		}
		for (SlurmJob one : jobs) {
			for (NodeAllocation &share : one.nodes)
				share.node = world.names().in_kubernetes(share.node);
			world.observe(JobSeen{one}, now);
		}
		world.observe(SnapshotEnded{}, now);
	}
	/* As the binding and Slurm say. */
	void run(const std::string &uid, std::uint32_t id, const std::string &node,
		const std::string &record)
	{
		Pod p = pod(uid);
		p.node_name = node;
		p.phase = PodPhase::running;
		p.annotations = allocation_annotations(id);
		if (record != node)
			p.annotations["allocation.slurm-kube.io/slurm-node"] = record;
		world.observe(PodSeen{p}, now);
		SlurmJob job = make_job(
			id, make_marker("default", "pod-" + uid, "Pod", uid, 1), JobState::running);
		job.nodes = {make_allocation(record, 1, 64, "0")};
		jobs.push_back(job);
		report();
		(void)act();
	}
	void end(const std::string &uid)
	{
		Pod p = *world.state().pod({uid});
		p.phase = PodPhase::succeeded;
		world.observe(PodSeen{p}, now);
		jobs.front().state = JobState::complete;
		report();
		(void)act();
	}
	std::vector<SlurmJob> jobs;
	unsigned reports = 0;
};

void a_node_keeps_its_name_while_a_pod_runs_there()
{
	NamedStage s;
	s.label("hybrid");
	CHECK_EQUAL(s.renamed(), "n2=hybrid");
	CHECK(is_hybrid(s.world.state().slurm_node("n2")));
	CHECK_EQUAL(s.renamed(), "-");
	s.run("a", 7, "n2", "hybrid");
	s.label("");
	CHECK_EQUAL(s.renamed(), "-");
	CHECK_EQUAL(s.world.nodes().namer().troubles().size(), 1U);
	CHECK_EQUAL(s.act(), "");
	s.end("a");
	CHECK_EQUAL(s.renamed(), "");
	CHECK(!s.world.state().slurm_node("n2") && s.world.nodes().namer().troubles().empty());
}

/* As after a restart of the agent: the label has gone, has changed, or belongs to another node. */
void an_agent_that_starts_finds_the_names_of_running_pods()
{
	for (const char *label : {"", "other", "n1"}) {
		NamedStage s;
		s.label(label);
		s.run("a", 7, "n2", "hybrid");
		CHECK_EQUAL(s.renamed(), "n2=hybrid");
		s.now.mono_us += 60'000'000;
		CHECK_EQUAL(s.act(), "");
		CHECK(is_hybrid(s.world.state().slurm_node("n2")));
	}
	/* n1 may not have it meanwhile */
	NamedStage s;
	s.label("hybrid", "n1");
	s.run("a", 7, "n2", "hybrid");
	CHECK_EQUAL(s.renamed(), "n1= n2=hybrid");
}

/* Whoever may write annotations names another job, or another node. */
void a_forged_annotation_gives_no_name()
{
	NamedStage s;
	s.run("a", 7, "n2", "hybrid");
	s.run("b", 8, "n1", "n1");
	CHECK_EQUAL(s.renamed(), "n2=hybrid");
	for (const auto &[job, record] :
		{std::pair("7", "hybrid"), std::pair("8", "hybrid"), std::pair("8", "n3")}) {
		Pod p = *s.world.state().pod({"b"});
		p.annotations["allocation.slurm-kube.io/job-id"] = job;
		p.annotations["allocation.slurm-kube.io/slurm-node"] = record;
		s.world.observe(PodSeen{p}, s.now);
		CHECK_EQUAL(s.renamed(), "-");
	}
}

/* Nor does it make a pod independent of its job. */
void a_forged_annotation_does_not_part_a_pod_from_its_job()
{
	NamedStage s;
	s.run("b", 8, "n1", "n1");
	Pod p = *s.world.state().pod({"b"});
	p.annotations["allocation.slurm-kube.io/slurm-node"] = "elsewhere";
	s.world.observe(PodSeen{p}, s.now);
	s.report();
	CHECK(s.world.state().job_of({"b"}) && s.world.state().job_of({"b"})->id == JobId{8});
}

/* A restored slurmctld runs the job again, on another node: its pod is where it was. */
void a_job_that_runs_again_elsewhere_gives_no_name()
{
	NamedStage s;
	s.label("hybrid");
	CHECK_EQUAL(s.renamed(), "n2=hybrid");
	s.run("a", 7, "n2", "hybrid");
	s.jobs.front().nodes = {make_allocation("n3", 1, 64, "0")};
	s.report();
	CHECK_EQUAL(s.renamed(), "-");
}

/* The pod's job is lost, and the label means another machine: no job is made for the pod there. */
void no_job_is_made_for_a_pod_whose_node_has_another_name()
{
	for (const bool is_right : {true, false}) {
		NamedStage s;
		s.label("hybrid");
		CHECK_EQUAL(s.renamed(), "n2=hybrid");
		s.run("a", 7, "n2", is_right ? "hybrid" : "old");
		s.jobs.clear();
		s.report();
		(void)s.act();
		std::string seen;
		for (int i = 0; i < 30; i++) {
			s.now.mono_us += k_second;
			seen += s.act();
		}
		CHECK_EQUAL(seen.find("submit:a") != std::string::npos, is_right);
	}
}

void nothing_is_renamed_while_slurmctld_is_away_nor_all_the_time()
{
	NamedStage s;
	CHECK_EQUAL(s.renamed(), "-");
	s.world.observe(LinkLost{});
	s.label("hybrid");
	CHECK(!s.world.take_names(s.now));
	s.report();
	CHECK_EQUAL(s.renamed(), "n2=hybrid");
	/* ever more rarely */
	for (const int seconds : {5, 5, 5, 5, 5, 5, 5, 60, 60}) {
		s.label(s.world.names().by_label ? "" : "hybrid");
		CHECK_EQUAL(s.renamed((seconds - 1) * k_second), "-");
		CHECK(s.renamed(2 * k_second) != "-");
	}
	CHECK_EQUAL(s.reports, 10U);
	CHECK_EQUAL(text_of(s.world.names()), "");
	s.label("hybrid");
	CHECK_EQUAL(s.renamed(), "n2=hybrid");
	/* also by a configuration that is read again */
	s.world.observe(SettingsSet{PlaceStage::settings()}, s.now);
	CHECK_EQUAL(s.world.names().in_slurm("n2"), "hybrid");
}

/* Slurm has no hybrid node of that name, or not yet. */
void a_node_without_a_name_is_not_managed()
{
	NamedStage s;
	s.label("n1");
	CHECK_EQUAL(s.renamed(), "n2=");
	CHECK_EQUAL(s.reports, 0U); /* Slurm has no record that is concerned */
	CHECK(!is_managed(*s.world.state().kube_node("n2"), s.world.state().settings.nodes));
	CHECK(is_managed(*s.world.state().kube_node("n1"), s.world.state().settings.nodes));
	CHECK(!s.world.state().slurm_node("n2") && s.world.state().slurm_node("n1"));
	s.label("coming");
	CHECK_EQUAL(s.renamed(), "-");
	SlurmNode record = slurm_node(s.world.names().in_kubernetes("coming"), 4);
	record.is_hybrid = true;
	s.world.observe(SlurmNodeSeen{record});
	CHECK_EQUAL(s.renamed(), "n2=coming");
	/* Slurm's record is gone: the agent makes none of that name */
	s.world.observe(SlurmNodeGone{"n2"});
	const KubeNode node = *s.world.state().kube_node("n2");
	PluginHello hello;
	hello.slurm_version_number = (24U << 16) | (11U << 8);
	const NodePolicy &policy = s.world.state().settings.nodes;
	CHECK(!reconcile_node({.kube = &node, .plugin = &hello}, policy));
	CHECK(reconcile_node({.kube = s.world.state().kube_node("n1"), .plugin = &hello}, policy));
	CHECK_EQUAL(s.renamed(), "n2=");
}

/* Its pod has another job now, because slurmctld has lost the first. */
void the_job_of_a_later_attempt_counts_too()
{
	NamedStage s;
	s.run("a", 7, "n2", "hybrid");
	s.jobs.front().id = {9};
	s.jobs.front().marker.attempt = 2;
	s.report();
	CHECK_EQUAL(s.renamed(), "n2=hybrid");
}

} // namespace

int main()
{
	return check::run_tests("label names",
		{
			TEST(a_label_gives_a_name_that_no_other_node_has),
			TEST(troubles_say_what_happens),
			TEST(names_are_translated_by_label),
			TEST(a_node_whose_label_is_new_has_no_name_yet),
			TEST(no_name_is_given_twice_and_none_is_taken_from_a_node_in_use),
			TEST(a_node_keeps_its_name_while_a_pod_runs_there),
			TEST(an_agent_that_starts_finds_the_names_of_running_pods),
			TEST(a_forged_annotation_gives_no_name),
			TEST(a_forged_annotation_does_not_part_a_pod_from_its_job),
			TEST(a_job_that_runs_again_elsewhere_gives_no_name),
			TEST(no_job_is_made_for_a_pod_whose_node_has_another_name),
			TEST(nothing_is_renamed_while_slurmctld_is_away_nor_all_the_time),
			TEST(a_node_without_a_name_is_not_managed),
			TEST(the_job_of_a_later_attempt_counts_too),
		});
}
