/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and pods with volume claims: before submission, between allocation and binding, and when
 * a provisioner refuses a node. */
#include "src/core/model/outcome.h"
#include "testsuite/unit/gang_stage.h"
#include "testsuite/unit/world_facts.h"

using namespace slurmkube;
using namespace slurmkube::check;

namespace
{

/* Nodes n1 and n2; the storage classes "local" and "late" wait for the first consumer. */
struct Stage {
	World world;
	Now now = k_start;
	std::string text; /* of the last report */

	Stage() : world(settings())
	{
		for (const char *name : {"n1", "n2"}) {
			KubeNode n = kube_node(name, std::string("uid-") + name, 4000);
			n.labels[names::k_hostname_label] = name;
			world.observe(core::NodeSeen{n}, now);
		}
		world.observe(core::NodesListed{{"uid-n1", "uid-n2"}});
		world.observe(core::PodsListed{{}}, now);
		world.observe(core::ForeignListed{{}});
		world.observe(core::LinkOpened{{}});
		for (const char *name : {"n1", "n2"})
			world.observe(core::SlurmNodeSeen{slurm_node(name, 4)});
		world.observe(core::SnapshotEnded{}, now);
		world.observe(core::ClassSeen{
			{"local", "uid-local", "kubernetes.io/no-provisioner", true, {}}});
		world.observe(core::ClassSeen{{"late", "uid-late", "csi.example.com", true, {}}});
	}

	void listed()
	{
		world.observe(core::ClassesListed{{"uid-local", "uid-late"}});
		world.observe(core::VolumesListed{{"uid-v1", "uid-v2"}});
		world.observe(core::ClaimsListed{{"uid-c"}});
	}

	static Settings settings()
	{
		Settings s = plain_settings();
		s.sees_foreign_pods = true;
		s.report_interval_us = 0;
		return s;
	}

	static Pod pod(const std::string &uid)
	{
		Pod p = make_pod("default", "pod-" + uid, uid, make_requests(1000));
		p.constraints.claims = {{"c", false}};
		return p;
	}

	static Claim claim(const std::string &storage_class)
	{
		return unbound_claim("c", storage_class);
	}

	static Claim bound(const std::string &volume)
	{
		Claim c = claim("local");
		c.volume = volume;
		c.is_bound = true;
		return c;
	}

	static Volume volume(const std::string &name, const std::string &node)
	{
		Volume v = free_volume(name, node);
		v.access_modes.insert("ReadWriteOncePod");
		return v;
	}

	std::string act()
	{
		std::string out;
		for (const auto &[uid, action] : world.take_actions(now)) {
			out += out.empty() ? "" : " ";
			out += word_of(uid, action);
			if (const auto *r = std::get_if<Report>(&action)) {
				text = r->not_scheduled.message;
				world.answer(core::ReportAnswered{uid, Ok{}}, now);
			}
		}
		return out;
	}

	void allocate(const std::string &uid, std::uint32_t id, const std::string &where)
	{
		world.answer(core::SubmitAnswered{{uid},
				     Submitted{.job = {id}, .node = where, .cpus = 1}},
			now);
	}

	void tell_job(const std::string &uid, std::uint32_t id, JobState state,
		const std::string &node = "")
	{
		SlurmJob j = make_job(id, make_marker("default", "pod-" + uid, "Pod", uid), state);
		if (!node.empty())
			j.nodes = {make_allocation(node, 1, 64, "0")};
		world.observe(core::JobSeen{j}, now);
	}

	void end_job(const std::string &uid, std::uint32_t id)
	{
		tell_job(uid, id, JobState::failed);
	}

	void wait(std::int64_t seconds) { now.mono_us += seconds * k_second; }
};

void claims_are_asked_for_with_the_first_pod_that_has_one()
{
	Stage s;
	Pod plain = Stage::pod("a");
	plain.constraints.claims.clear();
	s.world.observe(core::PodSeen{plain}, s.now);
	CHECK_EQUAL(s.act(), "submit:a");
	CHECK(!s.world.state().claims.is_wanted());
	s.world.observe(core::PodSeen{Stage::pod("b")}, s.now);
	CHECK(s.world.state().claims.is_wanted());
	s.world.observe(core::ClaimsUnreadable{"forbidden"});
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:b:SlurmWaitsForVolume");
	CHECK_EQUAL(s.text, "its volume claims have not been read yet: forbidden");
	s.world.observe(core::ClaimSeen{Stage::bound("v1")}, s.now);
	s.world.observe(core::VolumeSeen{Stage::volume("v1", "n1")});
	CHECK_EQUAL(s.act(), "");
	s.listed();
	CHECK_EQUAL(s.act(), "submit:b-n2");
}

void a_missing_claim_is_waited_for()
{
	Stage s;
	s.listed();
	s.world.observe(core::PodSeen{Stage::pod("a")}, s.now);
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForVolume");
	CHECK_EQUAL(s.text, "volume claim c does not exist");
	s.world.observe(core::VolumeSeen{Stage::volume("v2", "n2")});
	s.world.observe(core::ClaimSeen{Stage::bound("v2")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a-n1");
}

/* The claim gets a volume when Slurm has chosen the node, and the pod is bound when the claim
 * is. */
void a_claim_that_waits_gets_a_volume_of_the_node()
{
	Stage s;
	s.listed();
	s.world.observe(core::ClaimSeen{Stage::claim("local")}, s.now);
	s.world.observe(core::VolumeSeen{Stage::volume("v1", "n1")});
	s.world.observe(core::VolumeSeen{Stage::volume("v2", "n2")});
	s.world.observe(core::PodSeen{Stage::pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a");
	s.allocate("a", 7, "n2");
	CHECK_EQUAL(s.act(), "give:v2");
	s.wait(1);
	CHECK_EQUAL(s.act(), ""); /* one write, one answer */
	s.world.answer(core::WriteClaimAnswered{{"a"}, Ok{}}, s.now);
	s.wait(1);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForVolume");
	CHECK_EQUAL(s.text, "Slurm job 7 has node n2; volume claim c is being bound for it");
	Volume given = Stage::volume("v2", "n2");
	given.claim = ClaimId{"default", "c"};
	given.claim_uid = "uid-c";
	s.world.observe(core::VolumeSeen{given});
	CHECK_EQUAL(s.act(), "");
	s.world.observe(core::ClaimSeen{Stage::bound("v2")}, s.now);
	CHECK_EQUAL(s.act(), "bind:a@n2");
}

void a_write_that_fails_is_tried_again_with_what_is_true_then()
{
	Stage s;
	s.listed();
	s.world.observe(core::ClaimSeen{Stage::claim("local")}, s.now);
	s.world.observe(core::VolumeSeen{Stage::volume("v1", "n1")});
	s.world.observe(core::PodSeen{Stage::pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a-n2");
	s.allocate("a", 7, "n1");
	CHECK_EQUAL(s.act(), "give:v1");
	s.world.answer(core::WriteClaimAnswered{{"a"}, Error{Errc::conflict, "changed"}}, s.now);
	CHECK_EQUAL(s.act(), "");
	Volume later = Stage::volume("v1", "n1");
	later.resource_version = "6";
	s.world.observe(core::VolumeSeen{later});
	s.wait(2);
	CHECK_EQUAL(s.act(), "give:v1");
	s.world.answer(core::WriteClaimAnswered{{"a"}, Error{Errc::conflict, "changed"}}, s.now);
	later.claim = ClaimId{"default", "another"};
	later.is_available = false;
	s.world.observe(core::VolumeSeen{later});
	s.wait(2);
	/* the pod may be bound already; if it is not, the allocation is given back */
	CHECK_EQUAL(s.act(), "look:a");
}

void a_provisioner_may_refuse_the_node()
{
	Stage s;
	s.listed();
	s.world.observe(core::ClaimSeen{Stage::claim("late")}, s.now);
	s.world.observe(core::PodSeen{Stage::pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a");
	s.allocate("a", 7, "n1");
	CHECK_EQUAL(s.act(), "select:n1");
	s.world.answer(core::WriteClaimAnswered{{"a"}, Ok{}}, s.now);
	Claim told = Stage::claim("late");
	told.selected_node = "n1";
	s.world.observe(core::ClaimSeen{told}, s.now);
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForVolume");
	s.world.observe(core::ClaimSeen{Stage::claim("late")}, s.now);
	CHECK_EQUAL(s.act(), "look:a");
	s.world.answer(core::LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=given-back");
	s.world.answer(core::CompleteAnswered{{"a"}, Ok{}, false}, s.now);
	s.end_job("a", 7);
	s.wait(5);
	CHECK_EQUAL(s.act(), "submit:a-n1");
	s.allocate("a", 8, "n2");
	CHECK_EQUAL(s.act(), "select:n2");
}

void who_waits_too_long_for_a_claim_gives_the_node_back()
{
	Stage s;
	s.listed();
	s.world.observe(core::ClaimSeen{Stage::claim("late")}, s.now);
	s.world.observe(core::PodSeen{Stage::pod("a")}, s.now);
	(void)s.act();
	s.allocate("a", 7, "n1");
	s.tell_job("a", 7, JobState::running, "n1");
	CHECK_EQUAL(s.act(), "select:n1");
	s.world.answer(core::WriteClaimAnswered{{"a"}, Ok{}}, s.now);
	s.wait(599);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForVolume");
	s.wait(2);
	CHECK_EQUAL(s.act(), "look:a");
}

/* The second pod is not even submitted: with an allocation it could only wait for the first to
 * end. */
void a_claim_for_one_pod_is_for_one_pod()
{
	Stage s;
	s.listed();
	Claim one = Stage::bound("v1");
	one.access_modes = {"ReadWriteOncePod"};
	s.world.observe(core::ClaimSeen{one}, s.now);
	s.world.observe(core::VolumeSeen{Stage::volume("v1", "n1")});
	Pod foreign = Stage::pod("f");
	foreign.node_name = "n2";
	s.world.observe(core::ForeignSeen{foreign});
	s.world.observe(core::PodSeen{Stage::pod("a")}, s.now);
	s.world.observe(core::PodSeen{Stage::pod("b")}, s.now);
	s.wait(2);
	CHECK_EQUAL(s.act(), "report:a:SlurmWaitsForVolume report:b:SlurmWaitsForVolume");
	CHECK_EQUAL(s.text, "volume claim c is ReadWriteOncePod and in use by default/pod-f");
	s.world.observe(core::ForeignGone{{"f"}});
	s.wait(2);
	CHECK_EQUAL(s.act(), "submit:a-n2 report:b:SlurmWaitsForVolume");
	CHECK_EQUAL(s.text, "volume claim c is ReadWriteOncePod and in use by default/pod-a");
	s.allocate("a", 7, "n1");
	CHECK_EQUAL(s.act(), "bind:a@n1");
	s.world.answer(core::BindAnswered{{"a"}, Ok{}}, s.now);
	Pod done = Stage::pod("a");
	done.node_name = "n1";
	done.phase = PodPhase::succeeded;
	s.world.observe(core::PodSeen{done}, s.now);
	s.wait(2);
	CHECK_EQUAL(s.act(), "complete:7 submit:b-n2");
}

/* For example, another pod takes the claim after the allocation. */
void what_is_forbidden_at_the_binding_is_given_back()
{
	Stage s;
	s.listed();
	s.world.observe(core::ClaimSeen{Stage::bound("v1")}, s.now);
	s.world.observe(core::VolumeSeen{Stage::volume("v1", "n1")});
	s.world.observe(core::PodSeen{Stage::pod("a")}, s.now);
	CHECK_EQUAL(s.act(), "submit:a-n2");
	s.world.observe(core::ClaimGone{{"default", "c"}});
	s.allocate("a", 7, "n1");
	CHECK_EQUAL(s.act(), "look:a");
	s.world.answer(core::LookUpAnswered{{"a"}, PodLookup::unbound}, s.now);
	CHECK_EQUAL(s.act(), "complete:7=given-back");
}

/* Each pod of a gang has its own claim, for example an ephemeral volume. A node must reach the
 * volumes of all pods, not only that of the first. */
void a_gang_is_kept_off_nodes_that_one_of_its_volumes_cannot_reach()
{
	GangStage stage(2);
	for (const std::string name : {"n1", "n2", "n3", "n4"}) {
		KubeNode node = kube_node(name, name + "-uid", 8000);
		node.labels[names::k_hostname_label] = name;
		stage.world.observe(core::NodeSeen{node}, stage.now);
	}
	stage.world.observe(core::VolumeSeen{free_volume("v0", "")});
	stage.world.observe(core::VolumeSeen{free_volume("v1", "n3")});
	for (std::uint32_t i = 0; i < 2; i++) {
		const std::string name = "c" + std::to_string(i);
		Claim claim = unbound_claim(name, "local");
		claim.id.name_space = "a";
		claim.volume = "v" + std::to_string(i);
		claim.is_bound = true;
		stage.world.observe(core::ClaimSeen{claim}, stage.now);
		Pod pod = stage.pod(i);
		pod.constraints.claims = {{name, false}};
		stage.world.observe(core::PodSeen{pod}, stage.now);
	}
	stage.world.observe(core::ClassesListed{{}});
	stage.world.observe(core::VolumesListed{{"uid-v0", "uid-v1"}});
	stage.world.observe(core::ClaimsListed{{"uid-c0", "uid-c1"}});
	const auto submits = only<Submit>(stage.take());
	REQUIRE(submits.size() == 1);
	CHECK((submits.front().second.spec.excluded_nodes ==
		std::vector<std::string>{"n1", "n2", "n4"}));
}

void time_in_the_queue_is_not_time_for_the_claim()
{
	Stage s;
	s.listed();
	s.world.observe(core::ClaimSeen{Stage::claim("late")}, s.now);
	s.world.observe(core::PodSeen{Stage::pod("a")}, s.now);
	(void)s.act();
	s.allocate("a", 7, "n1");
	s.tell_job("a", 7, JobState::running, "n1");
	CHECK_EQUAL(s.act(), "select:n1");
	s.world.answer(core::WriteClaimAnswered{{"a"}, Ok{}}, s.now);
	Claim selected = Stage::claim("late");
	selected.selected_node = "n1";
	selected.resource_version = "2";
	s.world.observe(core::ClaimSeen{selected}, s.now);
	s.tell_job("a", 7, JobState::node_fail);
	(void)s.act();
	selected.selected_node = "";
	selected.resource_version = "3";
	s.world.observe(core::ClaimSeen{selected}, s.now);
	s.wait(5);
	(void)s.act();
	CHECK_EQUAL(s.world.clocks().since({"a"}, Clock::claims), 0);
}

/* Each event causes a look, and each look plans the next one. The plans of all these looks must not
 * add up: one look per two seconds, and not one per event. */
void events_do_not_multiply_the_looks_that_are_planned()
{
	Stage s;
	s.listed();
	Pod pod = Stage::pod("a");
	for (int i = 1; i <= 600; i++) {
		pod.resource_version = std::to_string(i);
		s.world.observe(core::PodSeen{pod}, s.now);
		(void)s.act();
		s.now.mono_us += k_second / 3;
	}
	const std::int64_t end = s.now.mono_us + 60 * k_second;
	int looks = 0;
	while (const auto next = s.world.next_look_us()) {
		if (*next > end)
			break;
		s.now.mono_us = std::max(s.now.mono_us, *next);
		(void)s.act();
		looks++;
	}
	CHECK(looks >= 20);
	CHECK(looks <= 40);
}

} // namespace

int main()
{
	return check::run_tests("world_claims",
		{TEST(claims_are_asked_for_with_the_first_pod_that_has_one),
			TEST(a_missing_claim_is_waited_for),
			TEST(a_claim_that_waits_gets_a_volume_of_the_node),
			TEST(a_write_that_fails_is_tried_again_with_what_is_true_then),
			TEST(a_provisioner_may_refuse_the_node),
			TEST(who_waits_too_long_for_a_claim_gives_the_node_back),
			TEST(a_claim_for_one_pod_is_for_one_pod),
			TEST(what_is_forbidden_at_the_binding_is_given_back),
			TEST(a_gang_is_kept_off_nodes_that_one_of_its_volumes_cannot_reach),
			TEST(time_in_the_queue_is_not_time_for_the_claim),
			TEST(events_do_not_multiply_the_looks_that_are_planned)});
}
