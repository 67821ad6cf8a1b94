/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a component among the others of its workload. */
#include "src/base/time_units.h"
#include "src/core/reconcile/report.h"
#include "src/core/world/facts_reader.h"
#include "src/core/world/parts.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* For how long after the first sight of a pod the first pods of other components are awaited,
 * because many controllers make all pods at once. If a controller makes them only when other pods
 * run, this time is lost once. */
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
	for (const Rank &rank : gang.ranks) {
		size.milli_cpu += rank.requests.milli_cpu;
		size.memory_bytes += rank.requests.memory_bytes;
		for (const auto &[resource, amount] : rank.requests.extended)
			size.devices += resource == "ephemeral-storage" ? 0 : amount;
	}
	return size;
}

} // namespace

std::vector<PodUid> components_of_workload(const State &state, const PodUid &key)
{
	const PodUid workload{workload_key(key.text)};
	std::vector<PodUid> keys;
	/* In this order: "uid", "uid+1", "uid+2". */
	for (auto next = state.gangs.lower_bound(workload); next != state.gangs.end(); next++) {
		const std::string &text = next->first.text;
		if (!text.starts_with(workload.text) ||
			(text.size() > workload.text.size() &&
				text[workload.text.size()] != k_component_mark))
			break;
		if (text.size() == workload.text.size() || is_component_key(text))
			keys.push_back(next->first);
	}
	if (std::ranges::find(keys, key) == keys.end()) /* a job whose marker has another key */
		keys.push_back(key);
	return keys;
}

bool is_any_of_others(const State &state, const PodUid &key, bool (*is_so)(PodSide))
{
	for (const PodUid &one : components_of_workload(state, key)) {
		const auto is_such = [&](const auto &member) {
			return is_so(side_of(state.pods.at(member.first)));
		};
		const auto gang = state.gangs.find(one);
		if (one != key && gang != state.gangs.end() &&
			std::ranges::any_of(gang->second.members, is_such))
			return true;
	}
	return false;
}

/* While no pod of the component has come, those of the others say it: they have the same owner. In
 * doubt pods stay. */
void FactsReader::note_end_together(const PodUid &key, const Gang &gang, ComponentFacts &f) const
{
	const std::vector<PodUid> asked = gang.members.empty() ? components_of_workload(state_, key)
							       : std::vector<PodUid>{key};
	const auto end_together = [&](bool if_unknown) {
		const auto says_so = [&](const auto &member) {
			return state_.pods.at(member.first).ends_together.value_or(if_unknown);
		};
		return std::ranges::all_of(asked, [&](const PodUid &one) {
			const auto found = state_.gangs.find(one);
			return found == state_.gangs.end() ||
				std::ranges::all_of(found->second.members, says_so);
		});
	};
	f.next_ends_together = end_together(true);
	f.ends_together =
		f.job ? !f.job->marker.ends_apart && end_together(true) : end_together(false);
}

void FactsReader::note_component(const PodUid &key, ComponentFacts &f) const
{
	const Gang &gang = state_.gangs.at(key);
	f.component = "component " + std::to_string(component_of_key(key.text)) + " (" +
		roles_text(gang) + ")";
	f.size = size_of(gang);
	f.goes_first = gang.goes_first;
	note_end_together(key, gang, f);
	std::int64_t expected_us = 0;
	for (const PodUid &one : gang.members.empty() ? components_of_workload(state_, key)
						      : std::vector<PodUid>()) {
		for (const auto &[uid, rank] : state_.gangs.at(one).members)
			expected_us = std::max(
				expected_us, state_.pods.at(uid).first_seen_us + k_first_pod_us);
	}
	f.is_awaited = now_.mono_us < expected_us;
	if (f.is_awaited)
		found_.look_later(key, expected_us);
	f.end_seen_us = f.job ? state_.components.at(key).end_seen_us_of(f.job->id) : 0;
	f.held_since_us = found_.since(
		key, Clock::held, job_side(f.job) == JobSide::allocated && !has_own_bound(f));
}

HoldLimit FactsReader::hold_limit(const PodUid &key) const
{
	const std::string workload = workload_key(key.text);
	HoldLimit limit{.now = now_, .hold_seconds = state_.settings.components_wait_seconds};
	if (const auto tries = holdings_.tries.find(workload);
		tries != holdings_.tries.end() && now_.mono_us < tries->second.next_us) {
		limit.pause = tried_again_at(tries->second.next_epoch_seconds);
		found_.look_later(key, tries->second.next_us);
	}
	const auto own = holdings_.held.find(workload);
	if (own == holdings_.held.end())
		return limit;
	const Holding &holding = own->second;
	const std::int64_t due_us = holding.since_us + limit.hold_seconds * k_second_us;
	if (now_.mono_us < due_us)
		found_.look_later(key, due_us);
	for (const auto &[other_key, other] : holdings_.held) {
		if (other_key == workload || !gives_way_to(holding, workload, other, other_key))
			continue;
		const std::int64_t both_us = std::max(holding.since_us, other.since_us) +
			give_way_us(limit.hold_seconds);
		limit.gives_way = limit.gives_way || now_.mono_us >= both_us;
		if (now_.mono_us < both_us)
			found_.look_later(key, both_us);
	}
	return limit;
}

} // namespace slurmkube::core
