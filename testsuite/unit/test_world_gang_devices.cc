/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and gangs whose pods have claims for devices. */
#include "testsuite/unit/device_gang.h"
#include "testsuite/unit/unlike_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Stage = DeviceGang;

void a_task_for_each_device()
{
	Stage s(3);
	s.tell_claims(3);
	s.all_with_claims(3);
	CHECK_EQUAL(s.act(), "submit=gpu:1*3");
	Stage two(2);
	two.tell_claims(2, 2);
	two.all_with_claims(2);
	CHECK_EQUAL(two.act(), "submit=gpu:2*2");
}

/* The resource is in the templates, too, and is not asked for twice. */
void extended_resources_of_a_gang()
{
	constexpr char resource[] = "example.com/gpu";
	Stage s(2);
	s.world.observe(DeviceClassSeen{{"gpu", "uid-gpu", {"device.driver == 'gpu.example.com'"},
				{}, resource}},
		s.now);
	s.job.roles.front().each.extended[resource] = 1;
	s.job.roles.front().pod_template.reset();
	s.world.observe(ResourceClaimsListed{{}});
	for (const std::uint32_t i : {0U, 1U}) {
		Pod p = s.pod(i);
		p.container_devices = {{"main", 0, false, {{resource, {0, 1}}}}};
		s.world.observe(PodSeen{p}, s.now);
	}
	CHECK_EQUAL(s.act(), "submit=gpu:1*2");
	s.world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, s.now);
	s.world.observe(JobSeen{s.on({{"n1", {2, "1,3"}}})}, s.now);
	std::vector<ResourceClaim> made;
	for (const auto &[uid, action] : s.take()) {
		const auto *write = std::get_if<WriteClaim>(&action);
		const auto *create = write ? std::get_if<CreateClaim>(&write->step) : nullptr;
		REQUIRE(create != nullptr);
		CHECK_EQUAL(create->pod_uid, uid.text);
		ResourceClaim one = claim(create->claim.name, create->requests);
		one.id = create->claim;
		one.uid = "uid-" + uid.text;
		one.owner_uid = uid.text;
		one.is_extended = true;
		one.finalizers = {k_claim_finalizer};
		made.push_back(one);
		s.world.answer(WriteClaimAnswered{uid, Ok{}}, s.now);
	}
	REQUIRE(made.size() == 2);
	CHECK(made[0].id != made[1].id);
	for (const ResourceClaim &one : made)
		s.world.observe(ResourceClaimSeen{one});
	CHECK_EQUAL(s.act(),
		"allocate:" + made[0].id.name + "=gpu-1 allocate:" + made[1].id.name + "=gpu-3");
	const char *names[] = {"gpu-1", "gpu-3"};
	for (const std::size_t i : {0U, 1U}) {
		made[i].resource_version = "9";
		made[i].allocation =
			Allocation{{{made[i].requests.front().name, {{k_driver, "n1"}, names[i]}}}};
		made[i].reserved_for = {made[i].owner_uid};
		s.world.observe(ResourceClaimSeen{made[i]});
	}
	CHECK_EQUAL(s.act(), "map:" + made[0].id.name + " map:" + made[1].id.name);
	for (const std::size_t i : {0U, 1U}) {
		Pod p = *s.world.state().pod({made[i].owner_uid});
		p.requests.extended[resource] = 1; /* as the API server shows it */
		p.backed.clear();
		p.resource_claims.clear();
		p.extended_claim = ExtendedClaimStatus{
			made[i].id.name, {{"main", resource, made[i].requests.front().name}}};
		s.world.observe(PodSeen{p}, s.now);
	}
	CHECK_EQUAL(s.act(), "bind:u0@n1 bind:u1@n1");
}

/* A RayCluster whose workers request devices as a resource, in pool b. */
struct RayWithDevices : UnlikeStage {
	static constexpr char k_resource[] = "example.com/gpu";

	RayWithDevices()
	{
		Settings settings = with_devices();
		settings.components_wait_seconds = 60;
		world.observe(SettingsSet{settings}, now);
		worker.requests.extended[k_resource] = 1;
		worker.container_devices = {{"main", 0, false, {{k_resource, {0, 1}}}}};
		job.roles[1] = role("gpu", 2, worker);
		for (const char *name : {"n3", "n4"}) {
			world.observe(SliceSeen{slice(
					      name, {device("gpu-0", "a"), device("gpu-1", "a")})},
				now);
			SlurmNode node = slurm_node(name, 8);
			node.gres = "gpu:2";
			node.extra = "slurm-kube:gpu@gpu.example.com=gpu-0,gpu-1";
			world.observe(SlurmNodeSeen{node});
		}
	}

	void list(const std::string &selector = "device.driver == 'gpu.example.com'")
	{
		world.observe(SlicesListed{{"uid-slice-n3", "uid-slice-n4"}}, now);
		world.observe(TaintRulesListed{}, now);
		world.observe(DeviceClassSeen{{"gpu", "uid-gpu", {selector}, {}, k_resource}}, now);
		world.observe(DeviceClassesListed{{"uid-gpu"}}, now);
		world.observe(ResourceClaimsListed{{}});
	}
};

/* The head makes the workers when it runs: their devices are asked for before. */
void devices_of_pods_that_have_not_come()
{
	RayWithDevices s;
	s.head_comes();
	CHECK(s.submit().empty());
	s.pass(2 * k_second);
	CHECK(has(s.told("h"), "have not been read yet"));
	s.list();
	s.pass(2 * k_second);
	const auto first = s.submit();
	REQUIRE(first.size() == 1);
	CHECK_EQUAL(first.front().spec.marker.uid, "ray-uid+1");
	CHECK_EQUAL(first.front().spec.gres_of_task, "gpu:1");
	CHECK_EQUAL(first.front().spec.tasks, 2U);
	CHECK((first.front().spec.excluded_nodes == std::vector<std::string>{"n1", "n2"}));
}

void devices_of_pods_that_have_not_come_and_no_node_has()
{
	RayWithDevices s;
	s.list("device.driver == 'other.example.com'");
	s.head_comes();
	CHECK(s.submit().empty());
	s.pass(2 * k_second);
	CHECK(has(s.told("h"), "role gpu: resource example.com/gpu (DeviceClass gpu)"));
}

void claims_that_are_not_there_are_waited_for()
{
	Stage s(2);
	s.all_with_claims(2);
	s.pass(2 * k_second);
	CHECK(has(s.act(), "report:u0:SlurmWaitsForDevice"));
	CHECK(has(s.text, "have not been read yet"));
	s.tell_claims(1);
	s.pass(2 * k_second);
	(void)s.act();
	CHECK(has(s.text, "claim-1 does not exist"));
	s.tell_claims(2);
	CHECK_EQUAL(s.act(), "submit=gpu:1*2");
}

/* Ranks 0 and 1 go to n1, rank 2 to n2. */
void devices_go_to_ranks_in_their_order()
{
	Stage s(3);
	submit(s, 3, s.on({{"n1", {2, "1,3"}}, {"n2", {1, "0"}}}));
	CHECK_EQUAL(
		s.act(), "allocate:claim-0=gpu-1 allocate:claim-1=gpu-3 allocate:claim-2=gpu-0");
	/* what is written stays; no pod is bound before all is written */
	s.allocate(1, "n1", {"gpu-3"});
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(),
		"report:u0:SlurmWaitsForDevice report:u1:SlurmWaitsForDevice "
		"report:u2:SlurmWaitsForDevice");
	s.allocate(2, "n2", {"gpu-0"});
	s.pass(2 * k_second);
	CHECK_EQUAL(s.act(), "report:u2:SlurmWaitsForDevice");
	CHECK(has(s.text, "claims of other pods that share its job"));
	s.allocate(0, "n1", {"gpu-1"});
	CHECK_EQUAL(s.act(), "bind:u0@n1 bind:u1@n1 bind:u2@n2");
}

/* An agent that takes over finds one claim written, with the device that would be another's. */
void a_claim_that_is_written_keeps_its_device()
{
	Stage s(2);
	s.tell_claims(2);
	s.allocate(1, "n1", {"gpu-0"});
	s.all_with_claims(2);
	(void)s.act();
	s.world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, s.now);
	s.world.observe(JobSeen{s.on({{"n1", {2, "0-1"}}})}, s.now);
	CHECK_EQUAL(s.act(), "allocate:claim-0=gpu-1");
	s.allocate(0, "n1", {"gpu-1"});
	CHECK_EQUAL(s.act(), "");
	s.pass(11 * k_second); /* a release by the agent before may still come */
	CHECK_EQUAL(s.act(), "bind:u0@n1 bind:u1@n1");
}

/* Its user has deleted the claim of a pod that runs. In a gang no index of Slurm's says which
 * device is taken. */
void a_bound_pod_without_its_claim()
{
	for (const bool is_gone : {true, false}) {
		Stage s(2);
		submit(s, 2, s.on({{"n1", {2, "0-1"}}}));
		(void)s.act();
		s.allocate(0, "n1", {"gpu-0"});
		s.allocate(1, "n1", {"gpu-1"});
		CHECK_EQUAL(s.act(), "bind:u0@n1 bind:u1@n1");
		s.see_running({"u0", "u1"});
		if (is_gone) {
			s.world.observe(ResourceClaimGone{{"a", "claim-0"}});
		} else {
			ResourceClaim ends =
				*s.world.state().resource_claims.find({"a", "claim-0"});
			ends.deleting = true;
			s.world.observe(ResourceClaimSeen{ends});
		}
		/* the pod of rank 1 ends, and another one comes */
		s.end(1, PodPhase::failed, 1);
		s.replace_second();
		s.pass(4 * k_second);
		std::string all;
		for (int i = 0; i < 4; i++) {
			all += s.act() + " ";
			s.pass(2 * k_second);
		}
		CHECK(!has(all, "claim-1b=gpu-0"));
		CHECK_EQUAL(has(all, "allocate:claim-1b=gpu-1"), !is_gone);
	}
}

/* The containers of a pod that was deleted by force may still run, when Kubernetes has freed its
 * device. */
void a_device_is_vacated_first()
{
	Stage s(2);
	submit(s, 2, s.on({{"n1", {2, "0-1"}}}));
	(void)s.act();
	s.allocate(0, "n1", {"gpu-0"});
	s.allocate(1, "n1", {"gpu-1"});
	(void)s.act();
	s.see_running({"u0", "u1"});
	s.replace_second();
	CHECK(!has(s.act(), "allocate"));
	s.pass(2 * k_second);
	CHECK(!has(s.act(), "allocate"));
	CHECK(has(s.text, "gpu-1 may still be used by containers"));
	s.pass(4 * k_second);
	CHECK(has(s.act(), "allocate:claim-1b=gpu-1"));
}

/* Slurm gave a device that is not there any more: all is given back, and the node left out. */
void devices_that_cannot_be_used()
{
	Stage s(2);
	submit(s, 2, s.on({{"n1", {2, "0,7"}}}));
	const auto actions = s.take_unbound();
	REQUIRE(only<Complete>(actions).size() == 1);
	s.world.answer(CompleteAnswered{{"train-uid"}, Ok{}, true}, s.now);
	SlurmJob ended = s.on({{"n1", {2, "0,7"}}});
	ended.state = JobState::complete;
	ended.end_time = s.now.wall_s;
	s.world.observe(JobSeen{ended}, s.now);
	s.pass(60 * k_second);
	const auto submits = only<Submit>(s.take());
	REQUIRE(submits.size() == 1);
	CHECK(submits.front().second.spec.excluded_nodes ==
		(std::vector<std::string>{"n1", "n3", "n4"}));
}

/* The job was submitted before the claims were known: nothing is wrong with the node. */
void a_job_without_devices()
{
	Stage s(2);
	SlurmJob job = s.on({{"n1", {2, ""}}});
	job.nodes.front().gres.clear();
	submit(s, 2, job);
	const auto actions = s.take_unbound();
	REQUIRE(only<Complete>(actions).size() == 1);
	s.world.answer(CompleteAnswered{{"train-uid"}, Ok{}, true}, s.now);
	job.state = JobState::complete;
	job.end_time = s.now.wall_s;
	s.world.observe(JobSeen{job}, s.now);
	s.pass(60 * k_second);
	const auto submits = only<Submit>(s.take());
	REQUIRE(submits.size() == 1);
	CHECK(submits.front().second.spec.excluded_nodes == (std::vector<std::string>{"n3", "n4"}));
}

/* The job is cancelled before the pods are bound: the next one may have other devices. */
void claims_are_released_with_the_job()
{
	Stage s(2);
	submit(s, 2, s.on({{"n1", {2, "0-1"}}}));
	(void)s.act();
	s.allocate(0, "n1", {"gpu-0"});
	SlurmJob ended = s.on({{"n1", {2, "0-1"}}});
	ended.state = JobState::complete;
	ended.end_time = s.now.wall_s;
	s.world.observe(JobSeen{ended}, s.now);
	(void)s.take_unbound();
	s.pass(12 * k_second);
	std::string all;
	for (const auto &[uid, action] : s.take_unbound())
		all += word_of(uid, action) + " ";
	CHECK(has(all, "release:claim-0"));
	CHECK(!has(all, "release:claim-1"));
}

/* After a restart the claims may be listed later than pods and jobs. */
void without_the_claims_no_place_is_judged()
{
	Stage s(3);
	s.all_with_claims(3);
	s.world.observe(JobSeen{s.on({{"n1", {2, "1,3"}}, {"n2", {1, "0"}}})}, s.now);
	for (int i = 0; i < 5; i++) {
		const std::string done = s.act();
		CHECK(!has(done, "complete") && !has(done, "bind"));
		s.pass(10 * k_second);
	}
	CHECK_EQUAL(s.text, "its resource claims and the devices of nodes have not been read yet");
	s.tell_claims(3);
	CHECK_EQUAL(
		s.act(), "allocate:claim-0=gpu-1 allocate:claim-1=gpu-3 allocate:claim-2=gpu-0");
}

/* The role lacks the rights, for example: what the job has is charged for. */
void the_wait_for_unread_claims_ends()
{
	Stage s(2);
	s.all_with_claims(2);
	s.world.observe(JobSeen{s.on({{"n1", {2, "1,3"}}})}, s.now);
	std::size_t ends = 0;
	for (std::int64_t waited = 0;
		waited < 2 * s.world.state().settings.claim_wait_us && ends == 0;
		waited += 10 * k_second) {
		s.pass(10 * k_second);
		ends = only<Complete>(s.take_unbound()).size();
	}
	CHECK_EQUAL(ends, 1U);
	s.world.answer(CompleteAnswered{{"train-uid"}, Ok{}, false}, s.now);
	s.pass(10 * k_second);
	CHECK(!has(s.act(), "submit"));
}

} // namespace

int main()
{
	return check::run_tests("world_gang_devices",
		{TEST(a_task_for_each_device), TEST(extended_resources_of_a_gang),
			TEST(devices_of_pods_that_have_not_come),
			TEST(devices_of_pods_that_have_not_come_and_no_node_has),
			TEST(claims_that_are_not_there_are_waited_for),
			TEST(devices_go_to_ranks_in_their_order),
			TEST(a_claim_that_is_written_keeps_its_device),
			TEST(a_bound_pod_without_its_claim), TEST(devices_that_cannot_be_used),
			TEST(a_job_without_devices), TEST(claims_are_released_with_the_job),
			TEST(without_the_claims_no_place_is_judged),
			TEST(the_wait_for_unread_claims_ends), TEST(a_device_is_vacated_first)});
}
