/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A gang whose pods have claims for devices, and two nodes with devices. */
#ifndef SLURMKUBE_TESTSUITE_UNIT_DEVICE_GANG_H
#define SLURMKUBE_TESTSUITE_UNIT_DEVICE_GANG_H

#include "testsuite/unit/device_facts.h"
#include "testsuite/unit/gang_stage.h"

namespace slurmkube::check
{

inline Settings with_devices()
{
	Settings s = plain_settings();
	s.report_interval_us = 0;
	s.devices = {rule("gpu")};
	s.policy.has_device_rules = true;
	return s;
}

/* An Indexed Job of small pods with a claim each, and nodes n1 and n2 with four devices. */
struct DeviceGang : GangStage {
	static constexpr char k_list[] = "slurm-kube:gpu@gpu.example.com=gpu-0,gpu-1,gpu-2,gpu-3";

	explicit DeviceGang(std::uint32_t pods) : GangStage(pods, size(100, 64), with_devices())
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
		world.observe(TaintRulesListed{}, now);
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
					std::to_string(s->spec.tasks) +
					(s->spec.options.max_nodes == 1U
							? "@" + s->spec.options.gres
							: "");
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
inline void submit(DeviceGang &s, std::uint32_t count, const SlurmJob &job)
{
	s.tell_claims(count);
	s.all_with_claims(count);
	(void)s.act();
	s.world.answer(SubmitAnswered{{"train-uid"}, Submitted{.job = {7}, .node = ""}}, s.now);
	s.world.observe(JobSeen{job}, s.now);
}

} // namespace slurmkube::check

#endif
