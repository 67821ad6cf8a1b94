/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of World that knows the components of workloads whose roles do not fit one job. Each
 * component is a gang with a job and members of its own. Its key says to which workload it belongs
 * (component_key()). Decisions are made for all components together: reconcile/together.h.
 */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report.h"
#include "src/core/world/extended_resources.h"
#include "src/core/world/parts.h"
#include "src/core/world/pod_devices.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* The pod that stands for a component while none of its pods has come: its template, with the
 * options that the owners have for all pods. */
std::shared_ptr<const Pod> stand_in_for(
	const PodUid &key, const GangId &id, const ComponentRoles &component, const PodEntry &first)
{
	const auto role = std::ranges::find_if(
		component.roles, [](const Role &one) { return one.pod_template && one.pods > 0; });
	if (role == component.roles.end())
		return nullptr;
	auto pod = std::make_shared<Pod>(*role->pod_template);
	pod->uid = key;
	pod->name_space = id.name_space;
	pod->name = id.name;
	pod->created = first.pod->created;
	pod->annotations.insert(first.inherited.begin(), first.inherited.end());
	return pod;
}

} // namespace

std::uint32_t workload_rank_of(const Gang &gang, std::uint32_t rank)
{
	return rank < gang.workload_ranks.size() ? gang.workload_ranks[rank] : rank;
}

std::uint32_t workload_size_of(const Gang &gang)
{
	return gang.workload_size > 0 ? gang.workload_size
				      : static_cast<std::uint32_t>(gang.ranks.size());
}

std::optional<std::uint32_t> rank_in_component(const Gang &gang, std::uint32_t workload_rank)
{
	if (gang.workload_ranks.empty())
		return workload_rank;
	const auto found = std::ranges::lower_bound(gang.workload_ranks, workload_rank);
	if (found == gang.workload_ranks.end() || *found != workload_rank)
		return std::nullopt;
	return static_cast<std::uint32_t>(found - gang.workload_ranks.begin());
}

/*
 * If the owner has grown or shrunk, its present size may lead to other components. Components that
 * run stay as they are, so a pod of one of their roles joins them.
 */
std::optional<PodUid> World::component_that_runs(const InGang &in) const
{
	for (const PodUid &key : components_of_workload(state_, {in.gang.key})) {
		const auto found = state_.gangs.find(key);
		if (found == state_.gangs.end() || key.text == in.gang.key)
			continue;
		const Gang &gang = found->second;
		const bool has_role =
			std::ranges::find(gang.roles, in.role, &Role::name) != gang.roles.end();
		if (has_role && !may_take_roles(key, gang))
			return key;
	}
	return std::nullopt;
}

/* The same for an agent that finds the component running: a pod of that role is bound under that
 * key, so the component keeps the role. */
void World::keep_role(const PodUid &key, const InGang &in)
{
	Gang &gang = state_.gangs.at(key);
	std::set<std::string> kept = {in.role};
	for (const Role &role : gang.roles)
		kept.insert(role.name);
	std::map<std::uint32_t, Role> by_rank;
	for (const ComponentRoles &component : in.components) {
		std::size_t rank = 0;
		for (const Role &role : component.roles) {
			if (kept.contains(role.name) && rank < component.workload_ranks.size())
				by_rank.emplace(component.workload_ranks[rank], role);
			rank += role.pods;
		}
	}
	ComponentRoles whole;
	for (auto &[first, role] : by_rank) {
		for (std::uint32_t i = 0; i < role.pods; i++)
			whole.workload_ranks.push_back(first + i);
		whole.roles.push_back(std::move(role));
	}
	if (whole.roles.size() <= gang.roles.size())
		return;
	shape_again(gang, key, ranks_of(whole.roles));
	gang.roles = std::move(whole.roles);
	take_workload_ranks(gang, std::move(whole.workload_ranks));
}

/* Bound pods keep the ranks in their annotations. */
void World::take_workload_ranks(Gang &gang, std::vector<std::uint32_t> ranks)
{
	if (ranks == gang.workload_ranks)
		return;
	gang.workload_ranks = std::move(ranks);
	for (auto &[uid, rank] : gang.members) {
		const PodEntry &entry = state_.pods.at(uid);
		if (entry.pod && entry.pod_rank)
			rank = rank_in_component(gang, *entry.pod_rank);
	}
}

/* The first pod of any component creates all components: some controllers make the other pods only
 * when the first ones are Ready. */
void World::join_components(const InGang &in, const PodEntry &first, Now now)
{
	const std::string workload = workload_key(in.gang.key);
	for (std::size_t n = 0; n < in.components.size(); n++) {
		GangId id = in.gang;
		id.key = component_key(workload, n);
		const PodUid key{id.key};
		Gang &gang = gang_at(key, id, now);
		gang.owner = in.owner;
		gang.was_seen = true;
		take_component(key, gang, in.components);
		if (in.components.size() > 1)
			gang.stand_in = stand_in_for(key, id, in.components[n], first);
	}
}

void World::take_component(
	const PodUid &key, Gang &gang, const std::vector<ComponentRoles> &components)
{
	const std::size_t n = component_of_key(key.text);
	if (n >= components.size())
		return drop_roles(key, gang);
	const bool is_known = components[n].roles == gang.roles &&
		components.size() == gang.components &&
		(components.size() == 1 || components[n].workload_ranks == gang.workload_ranks);
	if (is_known || components[n].roles.empty() || !may_take_roles(key, gang))
		return;
	std::vector<std::uint32_t> ranks;
	if (components.size() > 1)
		ranks = components[n].workload_ranks;
	gang.components = components.size();
	gang.workload_size = 0;
	for (const ComponentRoles &one : components)
		gang.workload_size += static_cast<std::uint32_t>(one.workload_ranks.size());
	take_workload_ranks(gang, std::move(ranks));
	take_roles(key, gang, components[n].roles);
}

/* The owner does not have these roles: nothing waits for them, and a pending job for them is
 * cancelled. */
void World::drop_roles(const PodUid &key, Gang &gang)
{
	gang.components = 1;
	gang.stand_in.reset();
	if (!may_take_roles(key, gang))
		return;
	gang.roles.clear();
	gang.workload_ranks.clear();
	shape_again(gang, key, {});
	const SlurmJob *job = state_.current_job(key);
	if (job_side(job) == JobSide::pending)
		gang.outgrown = job->id;
}

/* Whether other components have pods, for which this component may have to wait. */
bool World::has_pods_of_others(const PodUid &key) const
{
	const std::vector<PodUid> keys = components_of_workload(state_, key);
	const auto has_pods = [&](const PodUid &one) {
		const auto gang = state_.gangs.find(one);
		return one != key && gang != state_.gangs.end() && !gang->second.members.empty();
	};
	return std::ranges::any_of(keys, has_pods);
}

void World::wake_components(const PodUid &key)
{
	for (const PodUid &one : components_of_workload(state_, key))
		queue_.mark(one);
}

/* Nodes whose taints the templates tolerate must be in service for the pods to come, and the claims
 * of templates must be watched. */
void World::note_roles(const Gang &gang)
{
	for (const Role &role : gang.roles) {
		if (!role.pod_template)
			continue;
		note_tolerations(*role.pod_template);
		if (!role.pod_template->constraints.claims.empty())
			state_.claims.want();
	}
}

/* Settles what was observed of the component's pods since the last look: which pods are members,
 * and in which rank. */
void World::settle_members(const PodUid &key, Now now)
{
	Gang &gang = state_.gangs.at(key);
	clocks_.stop(key, Clock::unlinked);
	forget_provisional(key, now);
	note_ends(gang, now);
	note_new_run(key, gang);
	assign_free_ranks(gang);
	assign_ranks(gang, key);
	note_bound_members(key, gang);
	note_backed_roles(state_, key, gang);
	Findings found(clocks_, now);
	const FactsReader reader(sources(), found);
	const bool is_known = gang.per_node || are_claims_unread(state_, gang);
	if (const Pod *pod = is_known ? nullptr : reader.first_member(gang))
		apply_plan(gang, reader.plan_of(gang, *pod));
}

ComponentFacts World::gather_gang(
	const PodUid &key, bool is_one_of_several, std::optional<Result<JobSpec>> &spec, Now now)
{
	Findings found(clocks_, now);
	const FactsReader reader(sources(), found);
	ComponentFacts facts = reader.facts_of_gang(key, spec);
	if (is_one_of_several)
		reader.note_component(key, facts);
	apply(key, found, now);
	return facts;
}

HoldLimit World::gather_hold_limit(
	const PodUid &key, const std::vector<ComponentFacts> &components, Now now)
{
	if (components.size() < 2)
		return {};
	Findings found(clocks_, now);
	note_holding(key, components, now);
	const HoldLimit limit = FactsReader(sources(), found).hold_limit(key);
	apply(key, found, now);
	return limit;
}

/* Two components may have places on one node. */
void World::note_room_together(std::vector<ComponentFacts> &components, Now now)
{
	if (components.size() < 2)
		return;
	std::vector<ComponentFacts *> all;
	for (ComponentFacts &facts : components)
		all.push_back(&facts);
	Findings found(clocks_, now);
	FactsReader(sources(), found).note_common_room(all);
}

void World::act_on_workload(const std::vector<PodUid> &keys,
	std::vector<ComponentFacts> &components, const HoldLimit &limit, Now now,
	std::vector<PodAction> &out)
{
	const auto gives_back = [](const ComponentFacts &f) {
		return f.others.gives_back && job_side(f.job) == JobSide::allocated;
	};
	const bool is_given_back = std::ranges::any_of(components, gives_back);
	const std::size_t before = out.size();
	for (std::size_t i = 0; i < keys.size(); i++) {
		if (is_given_back)
			state_.gangs.at(keys[i]).goes_first = !gives_back(components[i]);
		Findings found(clocks_, now);
		FactsReader(sources(), found).note_letting_go(keys[i], components[i]);
		apply(keys[i], found, now);
		act_on(keys[i], components[i], now, out);
	}
	const auto ends = [](const PodAction &next) {
		const auto *complete = std::get_if<Complete>(&next.action);
		return complete && complete->wait_status == k_status_given_back;
	};
	if (is_given_back &&
		std::any_of(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(), ends))
		note_given_back(keys.front(), limit, now);
}

void World::look_at_workload(const PodUid &first, Now now, std::vector<PodAction> &out)
{
	const std::vector<PodUid> keys = components_of_workload(state_, first);
	for (const PodUid &key : keys)
		settle_members(key, now);
	std::vector<std::optional<Result<JobSpec>>> specs(keys.size());
	std::vector<ComponentFacts> components;
	for (std::size_t i = 0; i < keys.size(); i++)
		components.push_back(gather_gang(keys[i], keys.size() > 1, specs[i], now));
	note_room_together(components, now);
	const HoldLimit limit = gather_hold_limit(first, components, now);
	stand_together(components, limit);
	act_on_workload(keys, components, limit, now, out);
	for (const PodUid &key : keys)
		drop_gang_if_empty(key);
}

} // namespace slurmkube::core
