/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of World that knows the components of workloads whose roles do not fit one job. Each is a gang of its own,
 * with a job and members; its key's key says which workload it is of (component_key()). What to do is decided for all
 * of them together: reconcile/together.h.
 */
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* Of two workloads that stand in each other's way the later one gives back so soon: the others of either may only be on their way. */
constexpr std::int64_t k_give_way_us = 5'000'000;
constexpr std::int64_t k_second_us = 1'000'000;
/* From a pod to the first of another component, where the controller makes all at once; where it waits for others to run this is lost once. */
constexpr std::int64_t k_first_pod_us = 1'000'000;

std::string roles_text(const Gang &gang)
{
	std::string text;
	for (const Role &role : gang.roles)
		text += (text.empty() ? "" : ", ") + role.name;
	return text;
}

ComponentSize size_of(const Gang &gang)
{
	ComponentSize size;
	for (const Seat &seat : gang.seats) {
		size.milli_cpu += seat.requests.milli_cpu;
		size.memory_bytes += seat.requests.memory_bytes;
		for (const auto &[resource, amount] : seat.requests.extended)
			size.devices += resource == "ephemeral-storage" ? 0 : amount;
	}
	return size;
}

/* While none of its pods has come: the template, with the options that its owners have for all. */
std::shared_ptr<const Pod> stand_in_for(const PodUid &key, const GangId &id, const ComponentRoles &component, const PodEntry &first)
{
	const auto role = std::ranges::find_if(component.roles, [](const Role &one) { return one.pod_template && one.pods > 0; });
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

std::uint32_t rank_of(const Gang &gang, std::uint32_t seat)
{
	return seat < gang.ranks.size() ? gang.ranks[seat] : seat;
}

std::uint32_t ranks_of(const Gang &gang)
{
	return gang.ranks_of_all > 0 ? gang.ranks_of_all : static_cast<std::uint32_t>(gang.seats.size());
}

std::optional<std::uint32_t> seat_of_rank(const Gang &gang, std::uint32_t rank)
{
	if (gang.ranks.empty())
		return rank;
	const auto found = std::ranges::lower_bound(gang.ranks, rank);
	if (found == gang.ranks.end() || *found != rank)
		return std::nullopt;
	return static_cast<std::uint32_t>(found - gang.ranks.begin());
}

/* Those that are known, in their order; of a workload with one, that one. */
std::vector<PodUid> World::components_of_workload(const PodUid &key) const
{
	const PodUid workload{workload_key(key.text)};
	std::vector<PodUid> keys;
	for (auto next = state_.gangs.lower_bound(workload); next != state_.gangs.end(); next++) { /* "uid", "uid+1", "uid+2" */
		const std::string &text = next->first.text;
		if (!text.starts_with(workload.text) || (text.size() > workload.text.size() && text[workload.text.size()] != k_component_mark))
			break;
		if (text.size() == workload.text.size() || is_component_key(text))
			keys.push_back(next->first);
	}
	if (std::ranges::find(keys, key) == keys.end()) /* a job whose marker has another key */
		keys.push_back(key);
	return keys;
}

/*
 * An owner that has grown or shrunk may have other components by its present size. What runs stays as it is, and a pod
 * of one of its roles belongs there.
 */
std::optional<PodUid> World::component_that_runs(const InGang &in) const
{
	for (const PodUid &key : components_of_workload({in.gang.key})) {
		const auto found = state_.gangs.find(key);
		if (found == state_.gangs.end() || key.text == in.gang.key)
			continue;
		const Gang &gang = found->second;
		const bool has_role = std::ranges::find(gang.roles, in.role, &Role::name) != gang.roles.end();
		if (has_role && !may_take_roles(key, gang))
			return key;
	}
	return std::nullopt;
}

/* The same, for an agent that finds it running: a pod of that role is bound under that key. */
void World::keep_role(const PodUid &key, const InGang &in)
{
	Gang &gang = state_.gangs.at(key);
	std::set<std::string> kept = {in.role};
	for (const Role &role : gang.roles)
		kept.insert(role.name);
	std::map<std::uint32_t, Role> by_rank;
	for (const ComponentRoles &component : in.components) {
		std::size_t seat = 0;
		for (const Role &role : component.roles) {
			if (kept.contains(role.name) && seat < component.ranks.size())
				by_rank.emplace(component.ranks[seat], role);
			seat += role.pods;
		}
	}
	ComponentRoles whole;
	for (auto &[first, role] : by_rank) {
		for (std::uint32_t i = 0; i < role.pods; i++)
			whole.ranks.push_back(first + i);
		whole.roles.push_back(std::move(role));
	}
	if (whole.roles.size() <= gang.roles.size())
		return;
	shape_again(gang, key, seats_of(whole.roles));
	gang.roles = std::move(whole.roles);
	seat_by_ranks(gang, std::move(whole.ranks));
}

/* Those that are bound know their ranks. */
void World::seat_by_ranks(Gang &gang, std::vector<std::uint32_t> ranks)
{
	if (ranks == gang.ranks)
		return;
	gang.ranks = std::move(ranks);
	for (auto &[uid, seat] : gang.members) {
		const PodEntry &entry = state_.pods.at(uid);
		if (entry.pod && entry.pod_rank)
			seat = seat_of_rank(gang, *entry.pod_rank);
	}
}

/* Each component is there with the first pod of any: some controllers make pods only when others are Ready. */
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

void World::take_component(const PodUid &key, Gang &gang, const std::vector<ComponentRoles> &components)
{
	const std::size_t n = component_of_key(key.text);
	if (n >= components.size())
		return drop_roles(key, gang);
	const bool is_known = components[n].roles == gang.roles && components.size() == gang.components && (components.size() == 1 || components[n].ranks == gang.ranks);
	if (is_known || components[n].roles.empty() || !may_take_roles(key, gang))
		return;
	std::vector<std::uint32_t> ranks;
	if (components.size() > 1)
		ranks = components[n].ranks;
	gang.components = components.size();
	gang.ranks_of_all = 0;
	for (const ComponentRoles &one : components)
		gang.ranks_of_all += static_cast<std::uint32_t>(one.ranks.size());
	seat_by_ranks(gang, std::move(ranks));
	take_roles(key, gang, components[n].roles);
}

/* Its owner has no such roles any more: nothing waits for it, and what it has goes. */
void World::drop_roles(const PodUid &key, Gang &gang)
{
	gang.components = 1;
	gang.stand_in.reset();
	if (!may_take_roles(key, gang))
		return;
	gang.roles.clear();
	gang.ranks.clear();
	shape_again(gang, key, {});
	const SlurmJob *job = state_.current_job(key);
	if (job_side(job) == JobSide::pending)
		gang.outgrown = job->id;
}

/* Pods of another component, which may be what this one's wait for. */
bool World::has_company(const PodUid &key) const
{
	const std::vector<PodUid> keys = components_of_workload(key);
	const auto has_pods = [&](const PodUid &one) {
		const auto gang = state_.gangs.find(one);
		return one != key && gang != state_.gangs.end() && !gang->second.members.empty();
	};
	return std::ranges::any_of(keys, has_pods);
}

bool World::is_any_of_others(const PodUid &key, bool (*is_so)(PodSide)) const
{
	for (const PodUid &one : components_of_workload(key)) {
		const auto is_such = [&](const auto &member) { return is_so(side_of(state_.pods.at(member.first))); };
		const auto gang = state_.gangs.find(one);
		if (one != key && gang != state_.gangs.end() && std::ranges::any_of(gang->second.members, is_such))
			return true;
	}
	return false;
}

void World::wake_components(const PodUid &key)
{
	for (const PodUid &one : components_of_workload(key))
		queue_.mark(one);
}

void World::note_component(const PodUid &key, const Gang &gang, ComponentFacts &f, Now now)
{
	f.component = "component " + std::to_string(component_of_key(key.text)) + " (" + roles_text(gang) + ")";
	f.size = size_of(gang);
	f.goes_first = gang.goes_first;
	std::int64_t expected_us = 0;
	for (const PodUid &one : gang.members.empty() ? components_of_workload(key) : std::vector<PodUid>()) {
		for (const auto &[uid, seat] : state_.gangs.at(one).members)
			expected_us = std::max(expected_us, state_.pods.at(uid).first_seen_us + k_first_pod_us);
	}
	f.is_awaited = now.mono_us < expected_us;
	if (f.is_awaited)
		look_later(key, expected_us);
	f.job_ended_us = state_.components.at(key).job_ended_us;
	f.allocated_us = state_.components.at(key).allocated_us;
}

/* When what it holds goes back; looked at again by then. */
HoldLimit World::hold_limit(const PodUid &key, const std::vector<ComponentFacts> &components, Now now)
{
	const std::string workload = workload_key(key.text);
	HoldLimit limit{.now = now, .hold_seconds = state_.settings.components_wait_seconds};
	if (has_begun(components))
		tries_.erase(workload);
	if (const auto tries = tries_.find(workload); tries != tries_.end() && now.mono_us < tries->second.next_us) {
		limit.pause = tried_again_at(tries->second.next_epoch_seconds);
		look_later(key, tries->second.next_us);
	}
	const std::int64_t give_way_us = std::min(k_give_way_us, limit.hold_seconds * k_second_us / 2); /* both must not be over at once */
	const Holding holding = holding_of(components, now);
	if (holding.since_us == 0) {
		holdings_.erase(workload);
		return limit;
	}
	if (holdings_.insert_or_assign(workload, holding).second) { /* news for those that hold already */
		for (const auto &[other, held] : holdings_)
			look_later(components_of_workload({other}).front(), now.mono_us + give_way_us);
	}
	const std::int64_t due_us = holding.since_us + limit.hold_seconds * k_second_us;
	if (now.mono_us < due_us)
		look_later(key, due_us);
	for (const auto &[other_key, other] : holdings_) {
		if (other_key == workload || !gives_way_to(holding, workload, other, other_key))
			continue;
		const std::int64_t both_us = std::max(holding.since_us, other.since_us) + give_way_us;
		limit.gives_way = limit.gives_way || now.mono_us >= both_us;
		if (now.mono_us < both_us)
			look_later(key, both_us);
	}
	return limit;
}

void World::note_given_back(const std::string &workload, std::int64_t hold_seconds, Now now)
{
	Tries &tries = tries_[workload];
	const std::int64_t pause = pause_after_tries(++tries.count, hold_seconds);
	tries.next_us = now.mono_us + pause * k_second_us;
	tries.next_epoch_seconds = now.wall_s + pause;
}

void World::look_at_workload(const PodUid &first, Now now, std::vector<PodAction> &out)
{
	const std::vector<PodUid> keys = components_of_workload(first);
	for (const PodUid &key : keys) {
		Gang &gang = state_.gangs.at(key);
		forget_provisional(key, now);
		note_ends(gang, now);
		seat_unranked(gang);
		seat_members(gang, key);
		note_bound_members(key, gang);
	}
	std::vector<std::optional<Result<JobSpec>>> specs(keys.size());
	std::vector<ComponentFacts> components;
	for (std::size_t i = 0; i < keys.size(); i++) {
		Gang &gang = state_.gangs.at(keys[i]);
		components.push_back(facts_of_gang(keys[i], gang, now, specs[i]));
		if (keys.size() > 1)
			note_component(keys[i], gang, components.back(), now);
	}
	const HoldLimit limit = keys.size() > 1 ? hold_limit(first, components, now) : HoldLimit{};
	stand_together(components, limit);
	const auto gives_back = [](const ComponentFacts &f) { return f.others.gives_back && job_side(f.job) == JobSide::allocated; };
	const bool is_given_back = std::ranges::any_of(components, gives_back);
	const std::size_t before = out.size();
	for (std::size_t i = 0; i < keys.size(); i++) {
		if (is_given_back)
			state_.gangs.at(keys[i]).goes_first = !gives_back(components[i]);
		note_letting_go(keys[i], components[i], now);
		act_on(keys[i], components[i], now, out);
	}
	const auto ends = [](const PodAction &next) {
		const auto *complete = std::get_if<Complete>(&next.action);
		return complete && complete->wait_status == k_status_given_back;
	};
	if (is_given_back && std::any_of(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(), ends))
		note_given_back(workload_key(first.text), limit.gives_way ? k_give_way_us / k_second_us : limit.hold_seconds, now);
	for (const PodUid &key : keys)
		drop_gang_if_empty(key);
}

} // namespace slurmkube::core
