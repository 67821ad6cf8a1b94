/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/gang/grouping.h"

#include "src/core/gang/pod_role.h"
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_chain_max = 8;
constexpr char k_gang_option[] = "slurm-kube.io/gang";
constexpr char k_end_option[] = "slurm-kube.io/end-together";
constexpr char k_pod_group_label[] = "scheduling.x-k8s.io/pod-group";
constexpr char k_lws_name[] = "leaderworkerset.sigs.k8s.io/name";

using Options = std::map<std::string, std::string>;

std::optional<bool> wish(const Options &options, const char *option = k_gang_option)
{
	const auto found = options.find(option);
	if (found == options.end())
		return std::nullopt;
	/* the table of options refuses values that are neither true nor false */
	return found->second != "false" && found->second != "no" && found->second != "0";
}

bool takes_part(const Role &role, const std::vector<std::string> &scheduler_names)
{
	if (!role.pod_template)
		return true;
	const std::string &name = role.pod_template->scheduler_name;
	const bool is_other = !name.empty() && name != "default-scheduler" &&
		!scheduler_names.empty() &&
		std::ranges::find(scheduler_names, name) == scheduler_names.end();
	return !is_other && wish(role.pod_template->annotations) != false;
}

/* The pod's owners that exist, nearest first. */
struct Chain {
	std::vector<const Owner *> owners;
	std::optional<OwnerId> missing; /* owner to look up before the chain is complete */
};

/* The chain ends where an owner reference's uid differs from that of the object with this name: the
 * owner has been deleted, or the author of the pod invented the reference. */
Chain chain_of(const Pod &pod, const OwnerLookup &lookup)
{
	Chain chain;
	std::optional<OwnerRef> next = pod.controller;
	while (next && chain.owners.size() < k_chain_max) {
		const OwnerId id{next->api_version, next->kind, pod.name_space, next->name};
		if (path_of(id).empty())
			break;
		const OwnerAnswer answer = lookup(id, next->uid);
		if (!answer) {
			chain.missing = id;
			break;
		}
		if (!answer->has_value() || (*answer)->uid != next->uid)
			break;
		chain.owners.push_back(&**answer);
		next = (*answer)->controller;
	}
	return chain;
}

Options inherited_from(const std::vector<const Owner *> &owners)
{
	Options options;
	for (const Owner *owner : owners)
		options.insert(owner->annotations.begin(), owner->annotations.end());
	return options;
}

std::uint32_t stage_of(const Owner &owner, const std::string &role)
{
	const auto found = std::ranges::find(owner.roles, role, &Role::name);
	return found == owner.roles.end() ? 0 : found->stage;
}

std::string part_of(const Pod &pod, const Owner &owner, const PodRole &place)
{
	if (owner.id.kind == "LeaderWorkerSet")
		return "/" +
			std::to_string(label_number(pod, "leaderworkerset.sigs.k8s.io/group-index")
					       .value_or(0));
	const std::uint32_t stage = stage_of(owner, place.role);
	return stage == 0 ? "" : "/" + std::to_string(stage);
}

std::uint64_t pods_of(const std::vector<Role> &roles)
{
	std::uint64_t pods = 0;
	for (const Role &role : roles)
		pods += role.pods;
	return pods;
}

std::size_t component_of(const std::vector<ComponentRoles> &components, const std::string &role)
{
	const auto has_role = [&](const ComponentRoles &component) {
		return std::ranges::find(component.roles, role, &Role::name) !=
			component.roles.end();
	};
	const auto found = std::ranges::find_if(components, has_role);
	return found == components.end() ? 0 : static_cast<std::size_t>(found - components.begin());
}

Result<Grouping> gang_of(const Pod &pod, const std::vector<std::string> &scheduler_names,
	const Owner &owner, Options inherited)
{
	PodRole place = pod_role_of(pod, owner);
	InGang in;
	const std::vector<Role> roles =
		roles_of_stage(owner, stage_of(owner, place.role), scheduler_names);
	in.owner = owner.id;
	in.minimum = owner.minimum;
	if (std::max<std::uint64_t>(pods_of(roles), in.minimum) > k_gang_pods_max)
		return Error{Errc::invalid,
			owner.id.kind + " " + owner.id.name + " has more than " +
				std::to_string(k_gang_pods_max) + " pods that start together"};
	in.components = components_of(roles);
	in.component = component_of(in.components, place.role);
	in.gang = {component_key(owner.uid + part_of(pod, owner, place), in.component),
		owner.id.kind, pod.name_space, owner.id.name};
	const std::optional<bool> own = wish(pod.annotations, k_end_option);
	in.ends_together =
		own ? *own : wish(inherited, k_end_option).value_or(!owner.replaces_single_pods);
	in.role = std::move(place.role);
	in.index = place.index;
	in.inherited = std::move(inherited);
	return Grouping{std::move(in)};
}

/* gcc 12 with sanitizers and gcc 14 with -O2 wrongly warn that the storage of the variant's other
 * members is uninitialised */
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

Result<Grouping> alone(Options inherited)
{
	Grouping grouping;
	std::get<Alone>(grouping).inherited = std::move(inherited);
	return grouping;
}

Result<Grouping> asking(const OwnerId &id)
{
	Grouping grouping;
	grouping.emplace<NeedsOwner>().id = id;
	return grouping;
}

#pragma GCC diagnostic pop

/* Groups that the pod names by a label or a field of its spec instead of an owner reference. */
std::vector<OwnerId> named_groups(const Pod &pod)
{
	std::vector<OwnerId> ids;
	if (!pod.scheduling_group.empty())
		ids.push_back({"scheduling.k8s.io/v1beta1", "PodGroup", pod.name_space,
			pod.scheduling_group});
	if (const std::string group = label_value(pod, k_pod_group_label); !group.empty())
		ids.push_back({"scheduling.x-k8s.io/v1alpha1", "PodGroup", pod.name_space, group});
	if (const std::string set = label_value(pod, k_lws_name); !set.empty())
		ids.push_back(
			{"leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", pod.name_space, set});
	return ids;
}

const Owner *topmost_gang(const std::vector<const Owner *> &owners, bool is_wanted)
{
	const Owner *found = nullptr;
	for (const Owner *owner : owners) {
		if (owner->starts_together || (is_wanted && !owner->roles.empty()))
			found = owner;
	}
	return found;
}

} // namespace

std::uint32_t restart_of(const Pod &pod)
{
	return label_number(pod, names::k_jobset_restart).value_or(0);
}

bool may_be_member(const Pod &pod, const std::string &key, const GangId &gang)
{
	if (is_terminal(pod))
		return false;
	const auto noted = pod.annotations.find(names::k_allocation_gang);
	if (!pod.node_name.empty())
		/* the agent writes this annotation with every binding of a member */
		return noted != pod.annotations.end() && noted->second == key;
	const auto is_named = [&](const std::string &text) { return text.starts_with(gang.name); };
	if (pod.controller &&
		(is_named(pod.controller->name) || key.starts_with(pod.controller->uid)))
		return true;
	return pod.scheduling_group == gang.name ||
		std::ranges::any_of(
			pod.labels, [&](const auto &label) { return is_named(label.second); });
}

std::vector<Role> roles_of_stage(
	const Owner &owner, std::uint32_t stage, const std::vector<std::string> &scheduler_names)
{
	std::vector<Role> roles;
	std::ranges::copy_if(owner.roles, std::back_inserter(roles), [&](const Role &role) {
		return role.stage == stage && takes_part(role, scheduler_names);
	});
	return roles;
}

std::vector<Rank> ranks_of(const std::vector<Role> &roles)
{
	std::vector<Rank> ranks;
	for (const Role &role : roles) {
		for (std::uint32_t i = 0; i < role.pods && ranks.size() < k_gang_pods_max; i++)
			ranks.push_back({role.name, i, role.each});
	}
	return ranks;
}

std::optional<std::uint32_t> rank_at(
	const std::vector<Rank> &ranks, const std::string &role, std::uint32_t index)
{
	const auto first = std::ranges::find(ranks, role, &Rank::role);
	if (ranks.end() - first <= static_cast<std::ptrdiff_t>(index))
		return std::nullopt;
	const auto is_it = [&](const Rank &rank) {
		return rank.role == role && rank.index == index;
	};
	/* an owner may give two roles the same name, and then a role's ranks are not contiguous */
	const auto rank = is_it(first[index]) ? first + index
					      : std::ranges::find_if(first, ranks.end(), is_it);
	return rank == ranks.end()
		? std::nullopt
		: std::optional(static_cast<std::uint32_t>(rank - ranks.begin()));
}

namespace
{

Result<Grouping> group_by_chain(const Pod &pod, const std::vector<std::string> &scheduler_names,
	const Chain &chain, const OwnerLookup &lookup)
{
	Options options = inherited_from(chain.owners);
	const std::optional<bool> own = wish(pod.annotations), wanted = own ? own : wish(options);
	if (wanted == false)
		return alone(std::move(options));
	for (const OwnerId &id : named_groups(pod)) {
		const OwnerAnswer answer = lookup(id, "");
		if (!answer)
			return asking(id);
		if (!answer->has_value() && id.api_version.starts_with("scheduling.k8s.io/"))
			return asking(id); /* pods may be created before the group that they name */
		if (!answer->has_value() || !(*answer)->starts_together)
			continue;
		options.insert((*answer)->annotations.begin(), (*answer)->annotations.end());
		return gang_of(pod, scheduler_names, **answer, std::move(options));
	}
	const Owner *owner = topmost_gang(chain.owners, wanted == true);
	return owner ? gang_of(pod, scheduler_names, *owner, std::move(options))
		     : alone(std::move(options));
}

} // namespace

Result<Grouping> group_of(
	const Pod &pod, const std::vector<std::string> &scheduler_names, const OwnerLookup &lookup)
{
	const Chain chain = chain_of(pod, lookup);
	if (chain.missing)
		return asking(*chain.missing);
	auto grouping = group_by_chain(pod, scheduler_names, chain, lookup);
	std::int64_t deadline = 0;
	for (const Owner *owner : chain.owners)
		deadline = earlier_deadline(deadline, owner->deadline_seconds);
	if (auto *alone = grouping ? std::get_if<Alone>(&*grouping) : nullptr)
		alone->deadline_seconds = deadline;
	if (auto *in = grouping ? std::get_if<InGang>(&*grouping) : nullptr)
		in->deadline_seconds = deadline;
	return grouping;
}

} // namespace slurmkube::core
