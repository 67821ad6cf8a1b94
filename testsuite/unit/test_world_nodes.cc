/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes that disappear from the agent's view: a node that has lost its label continues to run, a
 * deleted node is set DOWN or removed, and a mass disappearance is not believed. */
#include "testsuite/unit/world_stage.h"

#include <set>

using namespace slurmkube;
using namespace slurmkube::check;
using namespace slurmkube::core;

namespace
{

/* Nodes n0, n1, ... in Kubernetes and in Slurm, and a Slurm that carries out each request. */
struct Cluster {
	World world;
	Now now = k_start;
	std::map<std::string, SlurmNode> slurm;
	std::set<std::string> unready; /* nodes that the API server reports as NotReady */
	std::set<std::string> gone;    /* nodes that the API server does not have */
	bool has_dynamic_nodes;

	explicit Cluster(int nodes, Settings settings = plain_settings(), bool dynamic = false)
	    : world(std::move(settings)), has_dynamic_nodes(dynamic)
	{
		for (int i = 0; i < nodes; i++) {
			slurm[name_of(i)] = slurm_node(name_of(i), 4);
			slurm[name_of(i)].dynamic = dynamic;
		}
	}

	static std::string name_of(int i) { return "n" + std::to_string(i); }

	void show(int i)
	{
		world.observe(
			NodeSeen{check::kube_node(name_of(i), "uid-" + name_of(i), 4000)}, now);
	}

	/* The first nodes, as many as listed, are in the list. */
	void start(int listed)
	{
		std::set<std::string> uids;
		for (int i = 0; i < listed; i++) {
			show(i);
			uids.insert("uid-" + name_of(i));
		}
		world.observe(NodesListed{uids});
		world.observe(PodsListed{{}}, now);
		PluginHello hello;
		hello.slurm_version_number =
			has_dynamic_nodes ? (24U << 16) | (11U << 8) : 22U << 16;
		world.observe(LinkOpened{hello});
		for (const auto &[name, node] : slurm)
			world.observe(SlurmNodeSeen{node});
		world.observe(SnapshotEnded{}, now);
	}

	void vanish(int i, bool is_gone)
	{
		if (is_gone)
			gone.insert(name_of(i));
		world.observe(NodeGone{name_of(i)}, now);
	}

	static const char *verb_of(NodeStateChange change)
	{
		switch (change) {
		case NodeStateChange::drain:
			return "drain:";
		case NodeStateChange::undrain:
			return "undrain:";
		case NodeStateChange::down:
			return "down:";
		case NodeStateChange::up:
			break;
		}
		return "up:";
	}

	std::string carry_out(const SetNodeState &set)
	{
		SlurmNode &node = slurm.at(set.name);
		if (set.change == NodeStateChange::drain || set.change == NodeStateChange::undrain)
			node.drain = set.change == NodeStateChange::drain;
		else
			node.base = set.change == NodeStateChange::down ? NodeBase::down
									: NodeBase::idle;
		/* RESUME ends both DOWN and drain */
		node.drain = node.drain && set.change != NodeStateChange::up;
		if (!set.reason.empty())
			node.reason = set.reason;
		world.answer(NodeChangeAnswered{set.name, Ok{}}, now);
		world.observe(SlurmNodeSeen{node});
		return verb_of(set.change) + set.name;
	}

	/* Ten passes, a second apart; returns the changes of nodes. */
	std::string rounds()
	{
		std::string out;
		for (int i = 0; i < 10; i++) {
			for (const NodeAction &action : world.take_node_actions(now)) {
				const auto *set = std::get_if<SetNodeState>(&action);
				const auto *deleted = std::get_if<DeleteNode>(&action);
				out += (out.empty() ? "" : " ") +
					(set                      ? carry_out(*set)
							: deleted ? "delete:" + deleted->name
								  : "create");
				if (deleted)
					world.observe(SlurmNodeGone{deleted->name});
			}
			for (const std::string &name : world.take_node_questions(now))
				world.answer(NodeLookUpAnswered{name,
						     gone.contains(name) ? NodeLookup::none
							     : unready.contains(name)
							     ? NodeLookup::not_ready
							     : NodeLookup::ready},
					now);
			now.mono_us += k_second;
		}
		return out;
	}

	Pod pod(const std::string &uid, const std::string &node) const
	{
		Pod p = make_pod("default", "pod-" + uid, uid, make_requests(1000));
		p.node_name = node;
		p.phase = node.empty() ? PodPhase::pending : PodPhase::running;
		if (!node.empty())
			p.annotations = allocation_annotations(7);
		return p;
	}

	void run_pod(
		const std::string &uid, const std::string &node, JobState state = JobState::running)
	{
		world.observe(PodSeen{pod(uid, node)}, now);
		world.observe(JobSeen{Stage::job(7, uid, state)}, now);
		slurm.at(node).base = NodeBase::mixed;
		world.observe(SlurmNodeSeen{slurm.at(node)});
	}

	/* The watch reports NotReady; unready says whether the API server confirms it. */
	void lose_ready(int i, bool is_so = true)
	{
		KubeNode node = kube_node(name_of(i).c_str(), "uid-" + name_of(i), 8000);
		node.ready = false;
		if (is_so)
			unready.insert(name_of(i));
		world.observe(NodeSeen{node}, now);
	}

	std::string act()
	{
		std::string out;
		for (const auto &[uid, action] : world.take_actions(now))
			out += (out.empty() ? "" : " ") +
				(std::holds_alternative<DeletePod>(action) ? "remove:" + uid.text
									   : word_of(uid, action));
		return out;
	}
};

void a_node_that_loses_its_label_is_drained_and_its_pod_goes_on()
{
	for (const bool dynamic : {false, true}) {
		Cluster c(3, plain_settings(), dynamic);
		c.start(3);
		c.run_pod("a", "n1");
		CHECK_EQUAL(c.rounds(), "");
		c.vanish(1, false);
		CHECK_EQUAL(c.rounds(), "drain:n1");
		CHECK_EQUAL(
			c.slurm.at("n1").reason, "slurm-kube: not a managed node of Kubernetes");
		CHECK_EQUAL(c.act(), "");
		c.world.observe(PodGone{{"a"}, std::nullopt}, c.now);
		c.now.mono_us += 10 * k_second;
		(void)c.act();
		c.slurm.at("n1").base = NodeBase::idle;
		c.world.observe(SlurmNodeSeen{c.slurm.at("n1")});
		CHECK_EQUAL(c.rounds(), ""); /* nor deleted when nothing is left there */
		c.show(1);
		CHECK_EQUAL(c.rounds(), "undrain:n1");
	}
}

void a_deleted_node_is_down_or_deleted_once_its_pods_are_gone()
{
	for (const bool dynamic : {false, true}) {
		Cluster c(3, plain_settings(), dynamic);
		c.start(3);
		c.run_pod("a", "n1");
		c.vanish(1, true);
		CHECK_EQUAL(c.rounds(), "drain:n1");
		CHECK_EQUAL(c.act(), "");
		c.world.observe(PodGone{{"a"}, c.pod("a", "n1")}, c.now);
		CHECK_EQUAL(c.act(), "complete:7");
		c.now.mono_us += 10 * k_second; /* as after a forced deletion */
		(void)c.act();
		c.slurm.at("n1").base = NodeBase::idle;
		c.world.observe(SlurmNodeSeen{c.slurm.at("n1")});
		CHECK_EQUAL(c.rounds(), dynamic ? "delete:n1" : "down:n1");
		if (dynamic)
			continue;
		CHECK_EQUAL(c.slurm.at("n1").reason, "slurm-kube: deleted from Kubernetes");
		c.show(1);
		CHECK_EQUAL(c.rounds(), "up:n1");
	}
}

/* As with the kubeconfig of another cluster, whose API server knows none of these nodes. */
void many_nodes_that_vanish_at_once_are_not_taken_for_gone()
{
	for (const bool dynamic : {false, true}) {
		Cluster c(20, plain_settings(), dynamic);
		for (const auto &[name, node] : c.slurm)
			c.gone.insert(name);
		c.start(0);
		CHECK(c.rounds().find("d:") == std::string::npos);
		for (const auto &[name, node] : c.slurm)
			CHECK(node.drain && node.base == NodeBase::idle);
		CHECK(c.world.holds_absent_nodes());
		CHECK_EQUAL(c.rounds(), "");
		for (int i = 0; i < 20; i++)
			c.show(i);
		CHECK_EQUAL(c.rounds().find("undrain:n0"), 0U);
		CHECK(!c.world.holds_absent_nodes());
		for (const auto &[name, node] : c.slurm)
			CHECK(!node.drain && node.base == NodeBase::idle);
	}
}

constexpr std::int64_t k_unready_seconds = 40;

void a_node_that_is_not_ready_is_down_when_the_api_server_says_it_too()
{
	Cluster c(20);
	c.start(20);
	c.lose_ready(1);
	CHECK_EQUAL(c.rounds(), "drain:n1");
	c.now.mono_us += k_unready_seconds * k_second;
	CHECK_EQUAL(c.rounds(), "down:n1");
	c.now.mono_us += 60 * k_second; /* the API server's answer is outdated by now */
	c.world.observe(SlurmNodeSeen{c.slurm.at("n1")});
	CHECK_EQUAL(c.rounds(), "");
	c.unready.clear();
	c.show(1);
	CHECK_EQUAL(c.rounds(), "up:n1");
}

/* The watch is stuck, and the kubelet has long been back. */
void a_node_that_a_watch_has_lost_only_is_drained()
{
	Cluster c(20);
	c.start(20);
	c.run_pod("a", "n1");
	c.lose_ready(1, false);
	CHECK_EQUAL(c.rounds(), "drain:n1");
	c.now.mono_us += 3600 * k_second;
	CHECK_EQUAL(c.rounds(), "");
	CHECK_EQUAL(c.act(), "");
	c.show(1);
	CHECK_EQUAL(c.rounds(), "undrain:n1");
}

/* The API server cannot reach their network, but the pods there run. */
void many_nodes_that_are_not_ready_at_once_are_only_drained()
{
	Cluster c(20);
	c.start(20);
	c.run_pod("a", "n1");
	for (int i = 0; i < 5; i++)
		c.lose_ready(i);
	CHECK_EQUAL(c.rounds(), "drain:n0 drain:n1 drain:n2 drain:n3 drain:n4");
	c.now.mono_us += 3600 * k_second;
	CHECK_EQUAL(c.rounds(), "");
	CHECK_EQUAL(c.act(), "");
	CHECK(c.world.holds_unready_nodes());
	for (int i = 1; i < 4; i++) { /* returning nodes end the doubt about the rest */
		c.unready.erase(Cluster::name_of(i));
		c.show(i);
	}
	const std::string done = c.rounds();
	CHECK(done.find("down:n0") != std::string::npos &&
		done.find("down:n4") != std::string::npos &&
		done.find("undrain:n1") != std::string::npos);
	CHECK(!c.world.holds_unready_nodes());
}

/* A wrong nodes.selector and a restart: every node exists. */
void an_empty_list_drains_and_ends_nothing()
{
	Cluster c(20);
	c.start(0);
	c.run_pod("a", "n1");
	const std::string done = c.rounds();
	CHECK(done.find("down") == std::string::npos &&
		done.find("drain:n19") != std::string::npos);
	CHECK_EQUAL(c.act(), "");
	c.now.mono_us += 3600 * k_second;
	CHECK_EQUAL(c.rounds(), "");
	CHECK_EQUAL(c.act(), "");
	CHECK_EQUAL(c.world.nodes().absent().refuted(), 20U);
}

/* Slurm's own commands confirm the loss of the nodes that they name. */
void an_administrator_settles_what_was_too_much()
{
	Cluster c(20);
	c.start(20);
	for (int i = 0; i < 4; i++)
		c.vanish(i, true);
	CHECK_EQUAL(c.rounds(), "drain:n0 drain:n1 drain:n2 drain:n3");
	CHECK(c.world.holds_absent_nodes());
	for (const char *name : {"n0", "n1"}) {
		c.slurm.at(name).base = NodeBase::down;
		c.slurm.at(name).reason = "gone";
		c.world.observe(SlurmNodeSeen{c.slurm.at(name)});
	}
	CHECK_EQUAL(c.rounds(), "down:n2 down:n3");
	CHECK(!c.world.holds_absent_nodes());
	CHECK_EQUAL(c.slurm.at("n0").reason, "gone");
}

void one_node_may_always_go_and_a_prepared_one_does_not_count()
{
	Cluster c(3);
	c.slurm.at("n0").drain = true; /* as an autoscaler does it */
	c.slurm.at("n0").reason = "slurm-kube: taint ToBeDeletedByClusterAutoscaler:NoSchedule";
	c.start(3);
	(void)c.rounds();
	c.slurm.at("n0").drain = true;
	c.world.observe(SlurmNodeSeen{c.slurm.at("n0")});
	c.vanish(0, true);
	c.vanish(1, true);
	CHECK_EQUAL(c.rounds(), "drain:n1 down:n0 down:n1");
}

/* The job would hold the lost node between allocation and binding, forever, and be charged. */
void a_waiting_pod_gives_back_its_allocation_on_a_lost_node()
{
	Cluster c(2);
	c.start(2);
	c.world.observe(PodSeen{c.pod("a", "")}, c.now);
	CHECK_EQUAL(c.act(), "submit:a");
	c.vanish(1, false);
	c.world.answer(
		SubmitAnswered{{"a"}, Submitted{.job = {7}, .node = "n1", .cpus = 1}}, c.now);
	c.world.observe(JobSeen{Stage::job(7, "a", JobState::running)}, c.now);
	c.now.mono_us += 2 * k_second;
	/* Slurm has not drained the node yet, and would allocate it again */
	CHECK_EQUAL(c.act(), "report:a:SlurmPending");
	CHECK_EQUAL(c.rounds(), "drain:n1");
	CHECK_EQUAL(c.act(), "look:a");
	c.world.answer(LookUpAnswered{{"a"}, PodLookup::unbound}, c.now);
	CHECK_EQUAL(c.act(), "complete:7=given-back");
}

/* kube.conf names no clusters, or an old one is in use. */
void a_node_of_another_cluster_is_managed_only_while_our_job_is_there()
{
	Cluster c(1);
	c.slurm.at("n0").features = "kube,kube-beta";
	c.start(1);
	CHECK_EQUAL(c.rounds(), "");
	KubeNode cordoned = check::kube_node("n0", "uid-n0", 4000);
	cordoned.unschedulable = true;
	c.world.observe(NodeSeen{cordoned}, c.now);
	CHECK_EQUAL(c.rounds(), "");
	SlurmJob job = make_job(1, make_marker("default", "a", "Pod", "a"), JobState::running);
	job.nodes = {make_allocation("n0", 1, 64, "0")};
	c.world.observe(JobSeen{job}, c.now);
	c.world.observe(SlurmNodeSeen{c.slurm.at("n0")}); /* slurmctld reports it, too */
	CHECK_EQUAL(c.rounds(), "drain:n0");
}

void without_management_no_state_is_changed()
{
	Settings settings = plain_settings();
	settings.nodes.manage = false;
	Cluster c(3, settings);
	c.start(3);
	c.vanish(1, true);
	KubeNode cordoned = check::kube_node("n0", "uid-n0", 4000);
	cordoned.unschedulable = true;
	c.world.observe(NodeSeen{cordoned}, c.now);
	CHECK_EQUAL(c.rounds(), "");
}

/* The request was sent before the node came back. */
void a_late_answer_is_not_believed()
{
	NodeDoubts absent;
	absent.doubt("a", true, true);
	CHECK_EQUAL(absent.take_questions(0).size(), 1U);
	absent.clear("a");
	absent.doubt("a", true, true);
	CHECK_EQUAL(absent.take_questions(0).size(), 0U); /* one request at a time */
	absent.answered("a", false, 0);
	CHECK(!absent.is_confirmed("a", 0));
	CHECK_EQUAL(absent.take_questions(0).size(), 1U);
	absent.answered("a", Error{Errc::denied, "no"}, 0);
	CHECK(!absent.is_confirmed("a", 0));
	CHECK_EQUAL(absent.take_questions(29 * k_second).size(), 0U);
	CHECK_EQUAL(absent.take_questions(30 * k_second).size(), 1U);
	absent.answered("a", false, 30 * k_second);
	CHECK(absent.is_confirmed("a", 60 * k_second));
	CHECK(!absent.is_confirmed("a", 61 * k_second)); /* it may have been made again */
	CHECK_EQUAL(absent.take_questions(59 * k_second).size(), 0U);
	CHECK_EQUAL(absent.take_questions(60 * k_second).size(), 1U);
	absent.answered("a", false, 60 * k_second);
	CHECK(!absent.are_too_many(1, 10));
	absent.doubt("b", true, true);
	CHECK(absent.are_too_many(10, 10) && !absent.are_too_many(20, 10));
	absent.clear("a");
	CHECK(!absent.is_confirmed("a", 60 * k_second) && absent.names().size() == 1);
}

void questions_are_few_at_a_time()
{
	NodeDoubts absent;
	for (int i = 0; i < 5000; i++)
		absent.doubt("n" + std::to_string(i), true, true);
	const auto first = absent.take_questions(0);
	CHECK_EQUAL(first.size(), 8U);
	CHECK_EQUAL(absent.take_questions(0).size(), 0U);
	absent.answered(first.front(), true, 0);
	CHECK_EQUAL(absent.take_questions(0).size(), 1U);
	CHECK_EQUAL(absent.refuted(), 1U);
}

} // namespace

int main()
{
	return check::run_tests("world_nodes",
		{
			TEST(a_node_that_loses_its_label_is_drained_and_its_pod_goes_on),
			TEST(a_deleted_node_is_down_or_deleted_once_its_pods_are_gone),
			TEST(many_nodes_that_vanish_at_once_are_not_taken_for_gone),
			TEST(a_node_that_is_not_ready_is_down_when_the_api_server_says_it_too),
			TEST(a_node_that_a_watch_has_lost_only_is_drained),
			TEST(many_nodes_that_are_not_ready_at_once_are_only_drained),
			TEST(an_empty_list_drains_and_ends_nothing),
			TEST(an_administrator_settles_what_was_too_much),
			TEST(one_node_may_always_go_and_a_prepared_one_does_not_count),
			TEST(a_waiting_pod_gives_back_its_allocation_on_a_lost_node),
			TEST(a_node_of_another_cluster_is_managed_only_while_our_job_is_there),
			TEST(without_management_no_state_is_changed),
			TEST(a_late_answer_is_not_believed),
			TEST(questions_are_few_at_a_time),
		});
}
