/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about the roles of a gang: which constraints they have on nodes.
 *
 * Controllers make the pods of some roles only after others are Ready, and these pods run in the
 * same allocation. So the constraints of a role come from its owner's template until the first pod
 * of the role has come.
 */
#include "src/core/gang/role_conflict.h"
#include "src/core/model/outcome.h"
#include "src/core/placement/placement.h"
#include "src/core/world/extended_resources.h"
#include "src/core/world/facts_reader.h"
#include "src/core/world/parts.h"
#include "src/core/world/pod_claims.h"
#include "src/core/world/shared_claims.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* Each of them costs a look at all nodes. */
constexpr std::size_t k_unlike_roles_most = 32;

/* Whether two templates mean the same for nodes. Owners may have hundreds of templates that differ
 * only in their commands. */
bool are_constrained_alike(const Pod &one, const Pod &other, bool is_by_labels)
{
	return one.constraints == other.constraints && one.requests == other.requests &&
		one.backed == other.backed && one.unsupported_fields == other.unsupported_fields &&
		(!is_by_labels || one.labels == other.labels) && one.node_name == other.node_name &&
		one.active_deadline_seconds == other.active_deadline_seconds;
}

/* The pods of a PodGroup differ in names, claims and sizes. Everything else is judged for each kind
 * of them: what selects nodes, what is not supported, and whether there is a deadline. */
bool are_one_kind_of_group(const Pod &one, const Pod &other)
{
	const auto judged = [](SchedulingConstraints constraints) {
		constraints.claims.clear(); /* exclude_for_claims() looks at each */
		constraints.preferences.clear();
		return constraints;
	};
	return judged(one.constraints) == judged(other.constraints) &&
		one.unsupported_fields == other.unsupported_fields &&
		(one.active_deadline_seconds > 0) == (other.active_deadline_seconds > 0);
}

std::string owner_text(const Gang &gang)
{
	return gang.id.kind + " " + gang.id.name;
}

/* A PodGroup has no roles, so its texts name pods. */
std::string role_text(const Gang &gang, const std::string &name)
{
	return (gang.minimum > 0 ? "pod '" : "role '") + name + "'";
}

/* Which of two pods stands for their role: one that lives, then the lower rank. */
bool stands_before(const std::pair<std::uint32_t, const Pod *> &one,
	const std::pair<std::uint32_t, const Pod *> &other)
{
	return std::pair(is_terminal(*one.second), one.first) <
		std::pair(is_terminal(*other.second), other.first);
}

bool has_terms(const Pod &pod)
{
	return !pod.constraints.affinity.empty() || !pod.constraints.anti_affinity.empty() ||
		!pod.constraints.spreads.empty();
}

} // namespace

const Pod *FactsReader::first_member(const Gang &gang) const
{
	const Pod *first = nullptr;
	std::uint32_t lowest = 0;
	for (const auto &[uid, rank] : gang.members) {
		const auto &pod = state_.pods.at(uid).pod;
		if (!rank || *rank >= gang.ranks.size() || !pod || (first && *rank >= lowest))
			continue;
		first = &*pod;
		lowest = *rank;
	}
	return first ? first : gang.stand_in.get();
}

/* The first pod of each kind. Of a PodGroup the one with the longest deadline, because the job
 * lasts until the last pod has ended. */
RolePods FactsReader::unlike_ones(const Gang &gang, std::map<std::uint32_t, RolePod> by_rank) const
{
	const bool is_pod_group = gang.minimum > 0;
	RolePods out;
	for (auto &[first_rank, role] : by_rank) {
		const bool is_by_labels = !is_pod_group && is_concerned(state_, *role.pod);
		const auto is_like = [=, &wanted = *role.pod](const RolePod &known) {
			return is_pod_group
				? are_one_kind_of_group(*known.pod, wanted)
				: are_constrained_alike(*known.pod, wanted, is_by_labels);
		};
		if (out.size() > k_unlike_roles_most)
			break;
		const auto known = std::ranges::find_if(out, is_like);
		if (known == out.end())
			out.push_back(std::move(role));
		else if (is_pod_group &&
			known->pod->active_deadline_seconds < role.pod->active_deadline_seconds)
			*known = std::move(role);
	}
	return out;
}

/*
 * In rank order, and at most one more than k_unlike_roles_most. Templates count only while no pod
 * of the gang is bound: afterwards it has its nodes, and pods that have not come must not exclude
 * them. A pod that has ended stands for its role only if no other pod does: it still names its
 * node, which says nothing about the nodes of its successor.
 */
RolePods FactsReader::pods_of_roles(const Gang &gang) const
{
	std::map<std::string_view, std::pair<std::uint32_t, const Pod *>> firsts;
	bool is_running = false, has_live = false;
	/* a PodGroup has no templates: its pods may be of any kind, so each is judged */
	const bool is_pod_group = gang.minimum > 0;
	for (const auto &[uid, rank] : gang.members) {
		const PodEntry &entry = state_.pods.at(uid);
		if (!rank || *rank >= gang.ranks.size() || !entry.pod)
			continue;
		const bool is_bound = is_bound_side(side_of(entry));
		is_running = is_running || is_bound;
		has_live = has_live || !is_terminal(*entry.pod);
		/* bound pods have their nodes, so one stands for all of them */
		const std::string &role =
			is_pod_group && !is_bound ? entry.pod->name : gang.ranks[*rank].role;
		const std::pair<std::uint32_t, const Pod *> own(*rank, &*entry.pod);
		auto &first = firsts.try_emplace(role, own).first->second;
		first = std::min(first, own, stands_before);
	}
	std::uint32_t rank = 0;
	for (const Role &role : gang.roles) {
		if (!is_running && role.pod_template && role.pods > 0)
			firsts.try_emplace(role.name, rank, &template_of(gang, role));
		rank += role.pods;
	}
	std::map<std::uint32_t, RolePod> by_rank;
	for (const auto &[role, first] : firsts) {
		if (!is_pod_group || !has_live || !is_terminal(*first.second))
			by_rank.emplace(first.first, RolePod{std::string(role), first.second});
	}
	return unlike_ones(gang, std::move(by_rank));
}

/* The longest deadline, because the job lasts until its last pod has ended; 0: a role has no
 * deadline. */
std::int64_t FactsReader::deadline_of(const RolePods &roles)
{
	std::int64_t latest = 0;
	for (const RolePod &role : roles) {
		if (role.pod->active_deadline_seconds <= 0)
			return 0;
		latest = std::max(latest, role.pod->active_deadline_seconds);
	}
	return latest;
}

/* Slurm allocates the nodes of all roles at once, and cannot be told which roles belong together on
 * a node. */
Status FactsReader::check_roles(const Gang &gang, const RolePods &roles) const
{
	if (roles.size() > k_unlike_roles_most)
		return Error{Errc::invalid,
			owner_text(gang) + " has more than " + std::to_string(k_unlike_roles_most) +
				" templates that ask for different nodes, resources or labels: "
				"make them alike, or set the "
				"annotation slurm-kube.io/gang: \"false\" on " +
				owner_text(gang)};
	for (const RolePod &role : roles) {
		if (const Status fine = check_constraints(*role.pod, state_.settings.policy); !fine)
			return roles.size() == 1 && gang.components == 1
				? fine
				: Status(in_context(
					  role_text(gang, role.name) + " of " + owner_text(gang),
					  fine.error()));
	}
	for (const RolePod &one : roles) {
		if (gang.ranks.size() < 2 || !has_terms(*one.pod))
			continue;
		for (const RolePod &other : roles) {
			if (const std::string trouble = trouble_at_once(*one.pod, *other.pod);
				!trouble.empty())
				return Error{Errc::invalid,
					trouble +
						" is not supported yet: remove it, or use another "
						"schedulerName"};
		}
	}
	return Ok{};
}

/* Excludes nodes of other components of the workload, if their pods conflict with pods of these
 * roles. */
void FactsReader::exclude_siblings(
	const PodUid &key, const RolePods &roles, std::set<std::string> &excluded) const
{
	for (const PodUid &other : components_of_workload(state_, key)) {
		const SlurmJob *job = other == key ? nullptr : state_.current_job(other);
		const auto gang = state_.gangs.find(other);
		if (job_side(job) != JobSide::allocated || gang == state_.gangs.end())
			continue;
		const RolePods theirs = pods_of_roles(gang->second);
		const auto meets = [&](const RolePod &one) {
			return std::ranges::any_of(theirs, [&](const RolePod &role) {
				return are_in_conflict(*one.pod, *role.pod);
			});
		};
		for (const NodeAllocation &share : std::ranges::any_of(roles, meets)
				? job->nodes
				: std::vector<NodeAllocation>{})
			excluded.insert(share.node);
	}
}

namespace
{

/* The nodes to which Slurm may give jobs of pods. */
std::size_t count_candidates(const State &state)
{
	return static_cast<std::size_t>(
		std::ranges::count_if(state.slurm_nodes, [&](const auto &node) {
			return node.second.is_hybrid || state.kube_nodes.contains(node.first);
		}));
}

} // namespace

/* Each node has to suit all roles, because it is not known which role will get which node. */
void FactsReader::exclude_for_roles(const PodUid &key, const Gang &gang, const RolePods &roles,
	std::uint32_t per_node, std::optional<Result<JobSpec>> &spec) const
{
	std::set<std::string> excluded;
	std::vector<RoleNodes> judged;
	for (const RolePod &role : roles) {
		place(key, *role.pod, spec, std::max(per_node, 1U));
		if (!spec)
			return;
		if (!*spec) {
			if (roles.size() > 1 || gang.components > 1)
				*spec = in_context(
					role_text(gang, role.name) + " of " + owner_text(gang),
					spec->error());
			return;
		}
		if (!role.pod->node_name.empty())
			continue; /* bound already */
		judged.push_back({role_text(gang, role.name), (*spec)->excluded_nodes,
			reasons_text(filter_.exclusions_for(state_, *role.pod).reasons)});
		excluded.insert((*spec)->excluded_nodes.begin(), (*spec)->excluded_nodes.end());
	}
	if (std::string conflict =
			role_conflict(judged, count_candidates(state_), owner_text(gang));
		!conflict.empty()) {
		found_.placing = Placing::unschedulable;
		*spec = Error{Errc::not_found, std::move(conflict)};
		return;
	}
	exclude_siblings(key, roles, excluded);
	exclude_for_claims(state_, gang, excluded);
	if (const Status shared = exclude_for_shared(state_, gang, excluded); !shared) {
		found_.placing = Placing::unschedulable;
		*spec = shared.error();
		return;
	}
	(*spec)->excluded_nodes.assign(excluded.begin(), excluded.end());
	filter_.exclude_unwanted(state_, **spec);
}

} // namespace slurmkube::core
