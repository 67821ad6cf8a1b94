/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/pod_claims.h"

#include "src/core/model/outcome.h"
#include "src/core/reconcile/report_parts.h"

#include <algorithm>

namespace slurmkube::core
{

const Pod *user_of(const State &state, const ClaimId &id, const PodUid &except)
{
	const PodUid &key = state.component_key_of(except);
	for (const PodUid &uid : state.claims.users_of(id)) {
		const auto found = state.pods.find(uid);
		if (uid == except || found == state.pods.end() || found->second.component == key)
			continue;
		const PodEntry &entry = found->second;
		const Pod *pod = entry.pod ? &*entry.pod : entry.last ? &*entry.last : nullptr;
		const SlurmJob *job = state.job_of(uid);
		const bool will = entry.pod && !is_terminal(*entry.pod) &&
			(state.component_of(uid).busy.slurm || (job && is_live(*job)));
		if (pod && (!entry.held_node.empty() || will))
			return pod;
	}
	for (const auto &[uid, pod] : state.foreign.all()) {
		if (pod.name_space == id.name_space &&
			std::ranges::any_of(pod.constraints.claims,
				[&](const PodClaim &claim) { return claim.name == id.name; }))
			return &pod;
	}
	return nullptr;
}

std::string claim_trouble(const State &state, const PodUid &uid, const Pod &pod)
{
	if (pod.constraints.claims.empty())
		return "";
	if (!state.claims.known().is_listed())
		return claims_unread(state.claims.unreadable());
	if (std::string trouble = state.claims.known().trouble_of(pod); !trouble.empty())
		return trouble;
	for (const ClaimId &id : state.claims.known().exclusive(pod)) {
		if (const Pod *other = user_of(state, id, uid))
			return claim_in_use(id.name, *other);
	}
	return "";
}

std::optional<Refusal> claims_refuse(const State &state, const Pod &pod, const KubeNode &node)
{
	return state.claims.refuses(pod, node, state.seen_us);
}

std::string claim_trouble_of_gang(const State &state, const Gang &gang)
{
	for (const Role &role : gang.roles) {
		if (role.pod_template && !role.pod_template->constraints.claims.empty() &&
			!state.claims.known().is_listed())
			return claim_trouble(state, {}, *role.pod_template);
	}
	std::set<ClaimId> taken;
	for (const auto &[uid, rank] : gang.members) {
		const auto &pod = state.pods.at(uid).pod;
		if (!pod || is_terminal(*pod))
			continue;
		if (std::string trouble = claim_trouble(state, uid, *pod); !trouble.empty())
			return trouble;
		for (const ClaimId &id : state.claims.known().exclusive(*pod)) {
			if (!taken.insert(id).second)
				return claim_not_shared(id.name, gang.id);
		}
	}
	return "";
}

void exclude_for_claims(const State &state, const Gang &gang, std::set<std::string> &excluded)
{
	std::vector<const Pod *> pods;
	for (const auto &[uid, rank] : gang.members) {
		const auto &pod = state.pods.at(uid).pod;
		const auto is_same = [&](const Pod *one) {
			return one->constraints.claims == pod->constraints.claims;
		};
		if (pod && !pod->constraints.claims.empty() && std::ranges::none_of(pods, is_same))
			pods.push_back(&*pod);
	}
	for (const Pod *pod : pods) {
		for (const auto &[name, record] : state.slurm_nodes) {
			const auto node = state.kube_nodes.find(name);
			if (node != state.kube_nodes.end() &&
				claims_refuse(state, *pod, node->second))
				excluded.insert(name);
		}
	}
}

} // namespace slurmkube::core
