/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and gangs whose pods share a claim for devices. */
#include "testsuite/unit/device_gang.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

/* The pods name claim "all"; some have claims of their own, too. */
struct Stage : DeviceGang {
	explicit Stage(std::uint32_t pods) : DeviceGang(pods)
	{
		Pod each = pod(0);
		each.resource_claims = {{"s", "all", false, false}};
		job.roles.front().pod_template = std::make_shared<Pod>(each);
	}

	[[nodiscard]] Pod sharing(std::uint32_t index, const std::string &life = "") const
	{
		Pod p = pod(index, life);
		p.resource_claims = {{"s", "all", false, false}};
		return p;
	}

	/* The claim that is shared; with devices it is allocated, for these pods. */
	[[nodiscard]] static ResourceClaim shared(const std::vector<std::string> &devices = {},
		std::vector<std::string> users = {}, const std::string &node = "n1")
	{
		ResourceClaim out = claim("all", {request("r")});
		out.id.name_space = "a";
		out.finalizers = {k_claim_finalizer};
		if (devices.empty())
			return out;
		out.allocation.emplace();
		for (const std::string &name : devices)
			out.allocation->results.push_back({"r", {{k_driver, node}, name}});
		out.reserved_for = std::move(users);
		return out;
	}

	void tell(ResourceClaim one)
	{
		one.resource_version = std::to_string(++version);
		world.observe(ResourceClaimSeen{std::move(one)});
	}

	/* Claims are listed, and the pods come. */
	void begin(std::uint32_t pods)
	{
		tell(shared());
		world.observe(ResourceClaimsListed{{shared().uid}});
		for (std::uint32_t i = 0; i < pods; i++)
			world.observe(PodSeen{sharing(i)}, now);
	}

	/* All pods fit into one task. */
	[[nodiscard]] SlurmJob on_n1(std::uint64_t devices, const char *indices) const
	{
		SlurmJob j = running(nodes({{"n1", 1}}));
		j.nodes = {make_allocation("n1", 1, 1024, "0")};
		j.nodes.back().gres = {{"gpu", "", devices, indices}};
		return j;
	}

	/* Their job gets nodes. */
	void allocated(const SlurmJob &started)
	{
		world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, now);
		world.observe(JobSeen{started}, now);
	}

	/* All goes well, until pods 0 and 1 run. */
	void run_two()
	{
		begin(2);
		(void)act();
		allocated(on_n1(1, "1"));
		(void)act();
		tell(shared({"gpu-1"}, {"u0", "u1"}));
		(void)act();
		see_running({"u0", "u1"});
	}

	/* What the pods do within some seconds, after answers that none of them is bound. */
	std::string act_unbound()
	{
		std::string all;
		for (const auto &[uid, action] : take_unbound())
			all += word_of(uid, action) + " ";
		return all;
	}

	int version = 10;
};

void a_job_on_one_node_with_the_devices_once()
{
	Stage s(3);
	s.begin(3);
	CHECK_EQUAL(s.act(), "submit=*1@gpu:1");
}

/* One write for all, and no pod is bound before. */
void the_claim_is_reserved_for_all_pods()
{
	Stage s(3);
	s.begin(3);
	(void)s.act();
	s.allocated(s.on_n1(1, "1"));
	CHECK_EQUAL(s.act(), "allocate:all=gpu-1+u1+u2");
	s.pass(2 * k_second);
	CHECK(!has(s.act(), "bind"));
	/* as if another scheduler had removed one of them */
	s.tell(Stage::shared({"gpu-1"}, {"u0", "u2"}));
	CHECK(has(s.act(), "reserve:all+u1"));
	s.tell(Stage::shared({"gpu-1"}, {"u0", "u2", "u1"}));
	CHECK_EQUAL(s.act(), "bind:u0@n1 bind:u1@n1 bind:u2@n1");
}

/* A pod of the gang comes after the others are bound. */
void a_late_pod_is_added()
{
	Stage s(3);
	s.begin(2);
	CHECK_EQUAL(s.act(), "submit=*1@gpu:1");
	s.allocated(s.on_n1(1, "1"));
	CHECK_EQUAL(s.act(), "allocate:all=gpu-1+u1");
	s.tell(Stage::shared({"gpu-1"}, {"u0", "u1"}));
	CHECK_EQUAL(s.act(), "bind:u0@n1 bind:u1@n1");
	s.see_running({"u0", "u1"});
	s.world.observe(PodSeen{s.sharing(2)}, s.now);
	CHECK_EQUAL(s.act(), "reserve:all+u2");
	s.tell(Stage::shared({"gpu-1"}, {"u0", "u1", "u2"}));
	CHECK_EQUAL(s.act(), "bind:u2@n1");
}

/* It shares the device with containers of the pod before, as that one shared it. */
void a_replacement_is_added()
{
	Stage s(2);
	s.run_two();
	const Pod last = *s.world.state().pod({"u1"});
	s.world.observe(PodGone{last.uid, last}, s.now);
	s.world.observe(PodSeen{s.sharing(1, "b")}, s.now);
	/* Kubernetes has not removed the reservation of the pod before yet */
	CHECK(has(s.act(), "reserve:all+u1b"));
	s.tell(Stage::shared({"gpu-1"}, {"u0", "u1b"}));
	CHECK(has(s.act(), "bind:u1b@n1"));
}

/* A single pod is given the device only when no container of the gang has it. */
void no_other_claim_gets_the_device()
{
	Stage s(2);
	s.run_two();
	const auto &claims = s.world.state().resource_claims;
	const DeviceId device{{k_driver, "n1"}, "gpu-1"};
	const ResourceClaim *holder = claims.holder_of(device, {"a", "other"});
	CHECK(holder && holder->id.name == "all");
	s.tell(Stage::shared({"gpu-1"}, {"u1"}));
	CHECK(claims.last_users_of(device) == (std::vector<std::string>{"u0", "u1"}));
	s.tell(Stage::shared());
	s.tell(Stage::shared({"gpu-1"}, {"u5"}));
	CHECK(claims.last_users_of(device) == std::vector<std::string>{"u5"});
}

void own_claims_are_added()
{
	Stage s(2);
	Pod each = s.sharing(0);
	each.resource_claims.push_back({"c", "", true, false, "one-gpu"});
	s.job.roles.front().pod_template = std::make_shared<Pod>(each);
	s.tell_claims(2);
	s.tell(Stage::shared());
	for (std::uint32_t i = 0; i < 2; i++) {
		Pod p = s.with_claim(i);
		p.resource_claims.push_back({"s", "all", false, false});
		s.world.observe(PodSeen{p}, s.now);
	}
	CHECK_EQUAL(s.act(), "submit=*1@gpu:3");
	s.allocated(s.on_n1(3, "0-2"));
	CHECK_EQUAL(s.act(), "allocate:all=gpu-0+u1");
	s.tell(Stage::shared({"gpu-0"}, {"u0", "u1"}));
	CHECK_EQUAL(s.act(), "allocate:claim-0=gpu-1 allocate:claim-1=gpu-2");
	s.allocate(0, "n1", {"gpu-1"});
	s.pass(2 * k_second);
	CHECK(!has(s.act(), "bind"));
	s.allocate(1, "n1", {"gpu-2"});
	s.pass(11 * k_second); /* a release by an agent before may still come */
	CHECK_EQUAL(s.act(), "bind:u0@n1 bind:u1@n1");
}

/* The claim must not keep the devices of a job that has ended. */
void pods_without_a_job_leave_one_by_one()
{
	Stage s(2);
	s.begin(2);
	(void)s.act();
	s.allocated(s.on_n1(1, "1"));
	(void)s.act();
	s.tell(Stage::shared({"gpu-1"}, {"u0", "u1"}));
	SlurmJob ended = s.on_n1(1, "1");
	ended.state = JobState::complete;
	ended.end_time = s.now.wall_s;
	s.world.observe(JobSeen{ended}, s.now);
	(void)s.take_unbound();
	s.pass(12 * k_second);
	std::string all = s.act_unbound();
	CHECK(has(all, "leave:all-u0") && !has(all, "u1") && !has(all, "release"));
	s.world.answer(WriteClaimAnswered{{"u0"}, Ok{}}, s.now);
	s.tell(Stage::shared({"gpu-1"}, {"u1"}));
	s.pass(2 * k_second);
	all = s.act_unbound();
	CHECK(has(all, "release:all") && !has(all, "leave"));
}

/* Another pod, which is not of the gang, has it. */
void a_claim_of_others_is_waited_for()
{
	Stage s(2);
	s.begin(2);
	s.tell(Stage::shared({"gpu-1"}, {"somebody"}));
	s.pass(2 * k_second);
	CHECK(has(s.act(), "report:u0:SlurmWaitsForDevice"));
	CHECK(has(s.text, "resource claim all is in use by other pods"));
	s.tell(Stage::shared());
	CHECK_EQUAL(s.act(), "submit=*1@gpu:1");
}

/* Kubernetes has not freed the claim of the run before, which may have another device. */
void a_claim_of_pods_that_have_ended()
{
	Stage s(2);
	s.run_two();
	for (std::uint32_t i = 0; i < 2; i++)
		s.end(i, PodPhase::failed, 1);
	SlurmJob ended = s.on_n1(1, "1");
	ended.state = JobState::complete;
	ended.end_time = s.now.wall_s;
	s.world.observe(JobSeen{ended}, s.now);
	(void)s.act();
	s.pass(60 * k_second);
	for (std::uint32_t i = 0; i < 2; i++)
		s.world.observe(PodSeen{s.sharing(i, "b")}, s.now);
	(void)s.act();
	s.pass(2 * k_second);
	CHECK(!has(s.act(), "submit"));
	CHECK(has(s.text, "resource claim all is in use"));
	s.tell(Stage::shared());
	CHECK(has(s.act(), "submit=*1@gpu:1"));
}

void what_cannot_be_on_one_node()
{
	Stage s(2);
	ResourceClaim large = Stage::shared();
	large.requests = {request("r", 5)};
	s.begin(2);
	s.tell(large);
	s.pass(2 * k_second);
	CHECK(has(s.act(), "SlurmNoNode"));
	CHECK(has(s.text, "share resource claim all: 2 nodes: each has 4 of the 5 devices"));
	/* n1 has eight CPUs */
	Stage wide(9);
	wide.job.roles.front().each = size(1000, 64);
	wide.begin(9);
	wide.pass(2 * k_second);
	CHECK(has(wide.act(), "SlurmNoNode"));
	CHECK(has(wide.text, "on one node with gpu:1 (the pods share a resource claim)"));
	CHECK(has(wide.text, "each node that its pods may use holds at most 8"));
}

void what_is_refused()
{
	Stage s(2);
	Pod p = s.sharing(0);
	p.annotations["slurm-kube.io/min-nodes"] = "2";
	s.begin(0);
	s.world.observe(PodSeen{p}, s.now);
	s.world.observe(PodSeen{s.sharing(1)}, s.now);
	s.pass(2 * k_second);
	CHECK(has(s.act(), "SlurmRefused"));
	CHECK(has(s.text, "min-nodes 2: the pods share resource claim all"));
	Stage both(2);
	p = both.sharing(0);
	p.annotations["slurm-kube.io/gres"] = "gpu:1";
	both.begin(0);
	both.world.observe(PodSeen{p}, both.now);
	both.world.observe(PodSeen{both.sharing(1)}, both.now);
	both.pass(2 * k_second);
	CHECK(has(both.act(), "SlurmRefused"));
	CHECK(has(both.text, "both ask for GRES gpu"));
	Stage many(257);
	many.begin(2);
	many.pass(2 * k_second);
	CHECK(has(many.act(), "SlurmRefused"));
	CHECK(has(many.text, "named by 257 pods of Job train"));
}

/* An administrator has changed the job. */
void a_job_on_several_nodes_is_given_back()
{
	Stage s(2);
	s.begin(2);
	(void)s.act();
	s.allocated(s.on({{"n1", {1, "1"}}, {"n2", {1, "0"}}}));
	const auto actions = s.take_unbound();
	CHECK(only<Complete>(actions).size() == 1);
	for (const auto &[uid, action] : actions)
		CHECK(!has(word_of(uid, action), "allocate"));
}

/* A pod that names a claim has come when others ran on two nodes: each node of the new job would
 * have to have all devices. */
void what_runs_on_several_nodes_gets_its_job_again()
{
	Stage s(3);
	s.job.roles.front().each = size(8000, 64);
	s.job.roles.front().pod_template = std::make_shared<Pod>(s.pod(0));
	s.world.observe(ResourceClaimsListed{{}});
	s.start(2, nodes({{"n1", 8}, {"n2", 8}, {"n3", 8}}));
	s.tell(Stage::shared());
	s.world.observe(PodSeen{s.sharing(2)}, s.now);
	s.world.observe(LinkLost{});
	s.connect({});
	std::vector<std::pair<PodUid, Submit>> submits;
	for (int i = 0; i < 20 && submits.empty(); i++) {
		s.pass(10 * k_second);
		submits = only<Submit>(s.take_unbound());
	}
	REQUIRE(submits.size() == 1);
	CHECK_EQUAL(submits.front().second.spec.options.gres, "");
	CHECK_EQUAL(submits.front().second.spec.tasks, 3U);
}

} // namespace

int main()
{
	return check::run_tests("world_shared_claims",
		{TEST(a_job_on_one_node_with_the_devices_once),
			TEST(the_claim_is_reserved_for_all_pods), TEST(a_late_pod_is_added),
			TEST(a_replacement_is_added), TEST(no_other_claim_gets_the_device),
			TEST(own_claims_are_added), TEST(pods_without_a_job_leave_one_by_one),
			TEST(a_claim_of_others_is_waited_for),
			TEST(a_claim_of_pods_that_have_ended), TEST(what_cannot_be_on_one_node),
			TEST(what_is_refused), TEST(a_job_on_several_nodes_is_given_back),
			TEST(what_runs_on_several_nodes_gets_its_job_again)});
}
