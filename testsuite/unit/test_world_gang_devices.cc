/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and gangs whose pods have claims for devices. */
#include "testsuite/unit/device_facts.h"
#include "testsuite/unit/gang_stage.h"

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

Settings with_devices()
{
	Settings s = plain_settings();
	s.report_interval_us = 0;
	s.devices = {rule("gpu")};
	s.policy.has_device_rules = true;
	return s;
}

/* An Indexed Job of small pods with a claim each, and nodes n1 and n2 with four devices. */
struct Stage : GangStage {
	static constexpr char k_list[] = "slurm-kube:gpu@gpu.example.com=gpu-0,gpu-1,gpu-2,gpu-3";

	explicit Stage(std::uint32_t pods) : GangStage(pods, size(100, 64), with_devices())
	{
		Pod each = pod(0);
		each.resource_claims = {{"c", "", true, false, "one-gpu"}};
		job.roles.front().pod_template = std::make_shared<Pod>(each);
		for (const char *name : {"n1", "n2"}) {
			world.observe(SliceSeen{slice(name,
					      {device("gpu-0", "a"), device("gpu-1", "a"),
						      device("gpu-2", "a"), device("gpu-3", "a")})},
				now);
			record(name);
		}
		world.observe(SlicesListed{{"uid-slice-n1", "uid-slice-n2"}}, now);
		world.observe(DeviceClassSeen{{"gpu", "uid-gpu",
				      {"device.driver == 'gpu.example.com'"}, {}, ""}},
			now);
		world.observe(DeviceClassesListed{{"uid-gpu"}}, now);
	}

	void record(const char *name)
	{
		SlurmNode node = slurm_node(name, 8);
		node.gres = "gpu:4";
		node.extra = k_list;
		world.observe(SlurmNodeSeen{node});
	}

	[[nodiscard]] Pod with_claim(std::uint32_t index) const
	{
		Pod p = pod(index);
		p.resource_claims = {
			{"c", "claim-" + std::to_string(index), true, false, "one-gpu"}};
		return p;
	}

	[[nodiscard]] ResourceClaim own_claim(std::uint32_t index, std::int64_t devices) const
	{
		ResourceClaim out =
			claim("claim-" + std::to_string(index), {request("r", devices)});
		out.id.name_space = "a";
		out.owner_uid = "u" + std::to_string(index);
		out.finalizers = {k_claim_finalizer};
		return out;
	}

	void tell_claims(std::uint32_t count, std::int64_t devices = 1)
	{
		std::set<std::string> uids;
		for (std::uint32_t i = 0; i < count; i++) {
			const ResourceClaim one = own_claim(i, devices);
			uids.insert(one.uid);
			world.observe(ResourceClaimSeen{one});
		}
		world.observe(ResourceClaimsListed{uids});
	}

	/* The claim says these devices, and is reserved for its pod. */
	void allocate(std::uint32_t index, const std::string &node,
		const std::vector<std::string> &devices)
	{
		ResourceClaim one = own_claim(index, static_cast<std::int64_t>(devices.size()));
		one.allocation.emplace();
		for (const std::string &name : devices)
			one.allocation->results.push_back({"r", {{k_driver, node}, name}});
		one.reserved_for = {"u" + std::to_string(index)};
		world.observe(ResourceClaimSeen{one});
	}

	void all_with_claims(std::uint32_t count)
	{
		for (std::uint32_t i = 0; i < count; i++)
			world.observe(PodSeen{with_claim(i)}, now);
	}

	[[nodiscard]] SlurmJob
	on(std::vector<std::pair<const char *, std::pair<std::uint32_t, const char *>>> list) const
	{
		SlurmJob j = running(nodes({{"n1", 1}}));
		j.nodes.clear();
		for (const auto &[name, share] : list) {
			j.nodes.push_back(
				make_allocation(name, share.first, 64 * share.first, "0"));
			j.nodes.back().gres = {{"gpu", "", share.first, share.second}};
		}
		return j;
	}

	/* What the actions do, in order of pods: "u0:allocate:claim-0=gpu-2 u1:bind@n1". */
	std::string act()
	{
		std::string out;
		for (const auto &[uid, action] : take()) {
			std::string word = word_of(uid, action);
			if (const auto *s = std::get_if<Submit>(&action))
				word = "submit=" + s->spec.gres_of_task + "*" +
					std::to_string(s->spec.tasks);
			if (const auto *r = std::get_if<Report>(&action)) {
				text = r->not_scheduled.message;
				world.answer(ReportAnswered{uid, Ok{}}, now);
			}
			if (std::holds_alternative<WriteClaim>(action))
				world.answer(WriteClaimAnswered{uid, Ok{}}, now);
			out += (out.empty() ? "" : " ") + word;
		}
		return out;
	}

	/* The bindings of these pods to n1 are answered and seen. */
	void see_running(std::initializer_list<const char *> uids)
	{
		for (const char *uid : uids) {
			world.answer(BindAnswered{{uid}, Ok{}}, now);
			Pod seen = *world.state().pod({uid});
			seen.node_name = "n1";
			seen.phase = PodPhase::running;
			seen.annotations[names::k_allocation_job_id] = "7";
			seen.annotations[names::k_allocation_attempt] = "1";
			seen.annotations[names::k_allocation_rank] = uid[1];
			world.observe(PodSeen{seen}, now);
		}
	}

	/* Pod 1 and its claim are gone, and another pod of its rank comes with a claim of its
	 * own. */
	void replace_second()
	{
		const Pod last = *world.state().pod({"u1"});
		world.observe(PodGone{last.uid, last}, now);
		ResourceClaim next = own_claim(1, 1);
		next.id.name = "claim-1b";
		next.uid = "uid-claim-1b";
		next.owner_uid = "u1b";
		world.observe(ResourceClaimGone{{"a", "claim-1"}});
		world.observe(ResourceClaimSeen{next});
		Pod next_pod = pod(1, "b");
		next_pod.resource_claims = {{"c", "claim-1b", true, false, "one-gpu"}};
		world.observe(PodSeen{next_pod}, now);
	}

	std::string text; /* of the last report */
};

/* The pods come, their job is submitted, and starts. */
void submit(Stage &s, std::uint32_t count, const SlurmJob &job)
{
	s.tell_claims(count);
	s.all_with_claims(count);
	(void)s.act();
	s.world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, s.now);
	s.world.observe(JobSeen{job}, s.now);
}

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

void one_claim_for_all_is_refused()
{
	Stage s(2);
	s.tell_claims(2);
	for (std::uint32_t i = 0; i < 2; i++) {
		Pod p = s.pod(i);
		p.resource_claims = {{"c", "claim-0", false, false}};
		s.world.observe(PodSeen{p}, s.now);
	}
	s.pass(2 * k_second);
	CHECK(has(s.act(), "report:u0:SlurmRefused"));
	CHECK(has(s.text, "use resourceClaimTemplateName"));
}

} // namespace

int main()
{
	return check::run_tests("world_gang_devices",
		{TEST(a_task_for_each_device), TEST(claims_that_are_not_there_are_waited_for),
			TEST(devices_go_to_ranks_in_their_order),
			TEST(a_claim_that_is_written_keeps_its_device),
			TEST(a_bound_pod_without_its_claim), TEST(devices_that_cannot_be_used),
			TEST(a_job_without_devices), TEST(claims_are_released_with_the_job),
			TEST(without_the_claims_no_place_is_judged),
			TEST(a_device_is_vacated_first), TEST(one_claim_for_all_is_refused)});
}
