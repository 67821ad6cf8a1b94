/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/shared_claims.h"

#include "src/core/device/steps.h"
#include "src/core/policy/gres.h"
#include "src/core/reconcile/report_parts.h"
#include "src/core/world/parts.h"
#include "src/core/world/pod_devices.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

void add_named(const Pod &pod, const std::string &name_space, std::set<ResourceClaimId> &out)
{
	for (const PodResourceClaim &one : pod.resource_claims) {
		if (!one.is_own && !one.claim.empty())
			out.insert({name_space, one.claim});
	}
}

/* The pointer is valid until the next call. */
Result<const DeviceDemand *> demand_of_shared(
	const State &state, const std::set<ResourceClaimId> &ids)
{
	std::vector<const ResourceClaim *> claims;
	for (const ResourceClaimId &id : ids) {
		const ResourceClaim *claim = state.resource_claims.find(id);
		if (!claim)
			return Error{Errc::again, resource_claim_missing(id.name)};
		claims.push_back(claim);
	}
	const Result<DeviceDemand> &demand =
		state.resource_claims.demand_of(claims, device_sources(state));
	if (demand && !demand->cpus.empty())
		return Error{Errc::invalid, k_no_cpus_for_gangs};
	return demand ? Result<const DeviceDemand *>(&*demand)
		      : Result<const DeviceDemand *>(demand.error());
}

/* The claim is reserved for a pod that has ended or is about to. Until Kubernetes has removed that,
 * the claim may keep the devices of an earlier job. */
bool is_used_by_ending(const State &state, const ResourceClaim &claim)
{
	return std::ranges::any_of(claim.reserved_for, [&](const std::string &uid) {
		const PodEntry *entry = state.entry({uid});
		const PodSide side = entry ? side_of(*entry) : PodSide::absent;
		return !is_live_side(side) || side == PodSide::stopping;
	});
}

/* Where pods of the gang are bound. */
std::set<std::string> bound_nodes(const State &state, const Gang &gang)
{
	std::set<std::string> out;
	for (const auto &[uid, rank] : gang.members) {
		const PodEntry &entry = state.pods.at(uid);
		if (is_bound_side(side_of(entry)))
			out.insert(bound_node_of(entry));
	}
	return out;
}

/* A claim that pods of another job of the workload name, too; nullptr: there is none. */
const ResourceClaimId *claim_of_another_job(
	const State &state, const PodUid &key, const std::set<ResourceClaimId> &ids)
{
	for (const PodUid &other : components_of_workload(state, key)) {
		const auto gang = state.gangs.find(other);
		if (other == key || gang == state.gangs.end())
			continue;
		const std::set<ResourceClaimId> theirs = shared_claims(state, gang->second);
		const auto same = std::ranges::find_if(
			ids, [&](const ResourceClaimId &id) { return theirs.contains(id); });
		if (same != ids.end())
			return &*same;
	}
	return nullptr;
}

/* The text is for users. */
Status can_be_on_one_node(const State &state, const PodUid &key, const Gang &gang,
	const std::string &gres, const JobSpec &spec)
{
	const std::set<ResourceClaimId> ids = shared_claims(state, gang);
	const std::string &name = ids.begin()->name;
	if (const ResourceClaimId *other = claim_of_another_job(state, key, ids))
		return Error{Errc::invalid, shared_claim_of_jobs(other->name, gang.id)};
	if (gang.ranks.size() > k_claim_users_most)
		return Error{Errc::invalid, shared_claim_of_many(name, gang.id, gang.ranks.size())};
	if (spec.options.min_nodes.value_or(1) > 1)
		return Error{Errc::invalid, shared_claim_on_nodes(name, *spec.options.min_nodes)};
	for (const Gres &one : gres_from_text(gres)) {
		if (lists_gres(spec.options.gres, one.name) ||
			lists_gres(spec.gres_of_task, one.name))
			return Error{Errc::invalid, claims_and_gres(one.name)};
	}
	return Ok{};
}

} // namespace

bool names_claims(const Pod &pod)
{
	return std::ranges::any_of(pod.resource_claims,
		[](const PodResourceClaim &one) { return !one.is_own && !one.claim.empty(); });
}

std::set<ResourceClaimId> shared_claims(const State &state, const Gang &gang)
{
	std::set<ResourceClaimId> out;
	for (const auto &[uid, rank] : gang.members) {
		const PodEntry &entry = state.pods.at(uid);
		if (entry.pod && is_live_side(side_of(entry)))
			add_named(*entry.pod, gang.id.name_space, out);
	}
	for (const Role &role : gang.roles) {
		if (role.pod_template && role.pods > 0)
			add_named(*role.pod_template, gang.id.name_space, out);
	}
	return out;
}

std::optional<std::string> gres_on_node(
	const State &state, const Gang &gang, std::vector<Rank> &ranks)
{
	const std::set<ResourceClaimId> ids = shared_claims(state, gang);
	/* if pods run on several nodes, the pod that names the claim has come later: what runs gets
	 * a job without it */
	if (ids.empty() || bound_nodes(state, gang).size() > 1)
		return std::nullopt;
	Resources all;
	for (Rank &rank : ranks) {
		std::erase_if(rank.requests.extended, [&](const auto &one) {
			if (!is_claimed_resource(one.first))
				return false;
			all.extended[one.first] += one.second;
			return true;
		});
	}
	if (const auto demand = demand_of_shared(state, ids)) {
		for (const Gres &one : (*demand)->gres)
			all.extended[claimed_resource(one)] += static_cast<std::int64_t>(one.count);
	}
	const auto text = gres_of_pod(all, {});
	return text ? *text : std::string();
}

Status ask_for_one_node(const State &state, const PodUid &key, const Gang &gang,
	const std::string &gres, JobSpec &spec)
{
	const std::set<std::string> bound = bound_nodes(state, gang);
	/* what runs needs its job whatever its claims say by now */
	if (bound.empty()) {
		if (const Status can = can_be_on_one_node(state, key, gang, gres, spec); !can)
			return can;
	}
	if (bound.size() <= 1)
		spec.options.max_nodes = 1;
	spec.options.gres += (spec.options.gres.empty() || gres.empty() ? "" : ",") + gres;
	return Ok{};
}

Status exclude_for_shared(const State &state, const Gang &gang, std::set<std::string> &excluded)
{
	const std::set<ResourceClaimId> ids = shared_claims(state, gang);
	if (ids.empty() || !bound_nodes(state, gang).empty())
		return Ok{};
	const auto found = demand_of_shared(state, ids);
	if (!found || ((*found)->fit.empty() && (*found)->unfit.empty()))
		return Ok{};
	const DeviceDemand &demand = **found;
	std::map<std::string, std::size_t> reasons;
	bool fits_any = false;
	for (const auto &[name, record] : state.slurm_nodes) {
		fits_any = fits_any || demand.fit.contains(name);
		if (demand.fit.contains(name) || !state.kube_nodes.contains(name))
			continue;
		excluded.insert(name);
		const auto why = demand.unfit.find(name);
		reasons[why == demand.unfit.end() ? k_no_devices : why->second]++;
	}
	if (!fits_any && !reasons.empty())
		return Error{Errc::not_found,
			no_node_for_shared(ids.begin()->name, reasons_text(reasons))};
	return Ok{};
}

std::string trouble_of_shared(const State &state, const PodUid &key, const Gang &gang)
{
	const std::set<ResourceClaimId> ids = shared_claims(state, gang);
	if (ids.empty())
		return {};
	if (!are_devices_listed(state))
		return resource_claims_unread(unreadable_devices(state));
	for (const ResourceClaimId &id : ids) {
		if (std::string trouble = trouble_of_claim(state, id, key); !trouble.empty())
			return trouble;
		if (is_used_by_ending(state, *state.resource_claims.find(id)))
			return resource_claim_in_use(id.name);
	}
	const auto demand = demand_of_shared(state, ids);
	return demand ? std::string() : demand.error().what;
}

} // namespace slurmkube::core
