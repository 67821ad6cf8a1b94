/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "testsuite/sim/gangs.h"

#include "src/core/gang/components.h"
#include "src/core/model/names.h"

#include <algorithm>

namespace slurmkube::sim
{

namespace
{

constexpr unsigned k_gang_pods_most = 24; /* per owner, in total */
constexpr unsigned k_pause_percent = 25;
/* "g" and eight digits; each recreation of an owner appends one letter */
constexpr std::size_t k_uid_length = 9;

std::string text_of(const GangTruth &gang)
{
	static constexpr const char *k_sorts[] = {"Job ", "JobSet ", "PodGroup "};
	return k_sorts[static_cast<int>(gang.sort)] + gang.name_space + "/" + gang.name;
}

/* The uid of a JobSet's child Job, which changes with each restart. */
std::string child_uid(const GangTruth &gang, std::size_t role)
{
	return gang.uid + ".j" + std::to_string(role) + "." + std::to_string(gang.generation);
}

} // namespace

Gangs::Gangs(Stage &stage, Kube &kube) : stage_(stage), kube_(kube)
{
	kube_.on_member = [this](const std::string &uid) { look(uid); };
	kube_.ask_gangs = [this](const core::OwnerId &id) { return owner(id); };
}

const GangTruth *Gangs::find(const std::string &uid) const
{
	const auto found = gangs_.find(uid);
	return found == gangs_.end() ? nullptr : &found->second;
}

std::vector<std::string> Gangs::uids_if(const std::function<bool(const GangTruth &)> &wanted) const
{
	std::vector<std::string> out;
	for (const auto &[uid, gang] : gangs_) {
		if (wanted(gang))
			out.push_back(uid);
	}
	return out;
}

std::vector<const PodTruth *> Gangs::members(const std::string &uid) const
{
	std::vector<const PodTruth *> out;
	for (auto pod = kube_.pods.lower_bound(uid + ".");
		pod != kube_.pods.end() && pod->first.starts_with(uid + "."); pod++)
		out.push_back(&pod->second);
	return out;
}

/* ---- users ---- */

void Gangs::create(GangTruth gang)
{
	const auto same = [&](const GangTruth &other) {
		return other.exists && other.name_space == gang.name_space &&
			other.name == gang.name;
	};
	if (gangs_.contains(gang.uid) || !uids_if(same).empty())
		return;
	const std::string uid = gang.uid;
	std::uint32_t pods = 0;
	for (const core::Role &role : gang.roles)
		pods += role.pods;
	stage_.tell([&] {
		return text_of(gang) + " is created (uid " + uid + ", " + std::to_string(pods) +
			" pods)";
	});
	gang.component_of_role.assign(gang.roles.size(), 0);
	const auto components = core::components_of(gang.roles);
	for (std::size_t n = 0; n < components.size(); n++) {
		for (std::size_t role = 0; role < gang.roles.size(); role++)
			gang.component_of_role[role] =
				std::ranges::find(components[n].roles, gang.roles[role].name,
					&core::Role::name) != components[n].roles.end()
				? n
				: gang.component_of_role[role];
	}
	gangs_[uid] = std::move(gang);
	look(uid);
}

std::vector<std::string> job_keys_of(const GangTruth &gang)
{
	const std::size_t last =
		gang.component_of_role.empty() ? 0 : std::ranges::max(gang.component_of_role);
	std::vector<std::string> keys;
	for (std::size_t n = 0; n <= last; n++)
		keys.push_back(core::component_key(gang.uid, n));
	return keys;
}

void Gangs::remove(const std::string &uid, bool is_made_anew)
{
	GangTruth &gang = gangs_.at(uid);
	gang.exists = false;
	stage_.tell([&] { return text_of(gang) + " is deleted"; });
	look(uid);
	if (!is_made_anew)
		return;
	GangTruth next = gang;
	next.uid += "n";
	next.mould.api.uid.text = next.uid;
	next.exists = true;
	next.is_suspended = next.is_finished = next.has_succeeded = false;
	next.generation = next.made = 0;
	next.pods_by_rank.clear();
	next.failures.clear();
	stage_.line.after(stage_.dice.between(Topic::controller, hash_of(uid), k_ms, 3 * k_second),
		[this, next] { create(next); });
}

void Gangs::set_suspended(const std::string &uid, bool is_suspended)
{
	GangTruth &gang = gangs_.at(uid);
	gang.is_suspended = is_suspended;
	stage_.tell(
		[&] { return text_of(gang) + (is_suspended ? " is suspended" : " is resumed"); });
	look(uid);
}

std::optional<core::Owner> Gangs::owner(const core::OwnerId &id) const
{
	for (const auto &[uid, gang] : gangs_) {
		if (!gang.exists || gang.name_space != id.name_space)
			continue;
		core::Owner out;
		out.id = id;
		out.uid = uid;
		out.is_finished = gang.is_finished || gang.is_suspended;
		out.has_succeeded = gang.has_succeeded;
		const bool is_top = gang.name == id.name;
		if (is_top && gang.sort == GangSort::pod_group && id.kind == "PodGroup") {
			out.starts_together = true;
			out.minimum = gang.minimum;
			return out;
		}
		if (is_top &&
			((gang.sort == GangSort::job_set && id.kind == "JobSet") ||
				(gang.sort == GangSort::indexed_job && id.kind == "Job"))) {
			out.starts_together = true;
			out.roles = gang.roles;
			return out;
		}
		for (std::size_t role = 0; gang.sort == GangSort::job_set && id.kind == "Job" &&
			role < gang.roles.size();
			role++) {
			if (id.name != gang.name + "-" + gang.roles[role].name)
				continue;
			out.uid = child_uid(gang, role);
			out.controller = core::OwnerRef{
				"jobset.x-k8s.io/v1alpha2", "JobSet", gang.name, uid};
			return out;
		}
	}
	return std::nullopt;
}

/* ---- controllers ---- */

void Gangs::look(const std::string &uid)
{
	const auto found = gangs_.find(uid);
	if (found == gangs_.end())
		return;
	stage_.line.after(
		stage_.dice.between(Topic::controller, hash_of(uid), k_ms, found->second.slowest),
		[this, uid] { step(gangs_.at(uid)); });
}

void Gangs::step(GangTruth &gang)
{
	if (!gang.exists || gang.is_suspended || gang.is_finished)
		return stop_all(gang);
	if (gang.sort == GangSort::pod_group)
		fill_group(gang);
	else
		fill_ranks(gang);
}

void Gangs::stop_all(const GangTruth &gang)
{
	for (const PodTruth *pod : members(gang.uid)) {
		if (pod->exists && !pod->api.deleting && (is_live(*pod) || !gang.exists))
			(void)kube_
				.remove(pod->api.name_space, pod->api.name, pod->api.uid.text,
					std::nullopt)
				.ok();
	}
}

/* Counts a failed pod. False: the owner has failed for good. */
bool Gangs::forgive(GangTruth &gang, const std::string &pod_uid)
{
	if (!gang.failures.insert(pod_uid).second)
		return true;
	if (gang.tries_left-- > 0 && gang.made < k_gang_pods_most)
		return true;
	gang.is_finished = true;
	stage_.tell([&] { return text_of(gang) + " has failed"; });
	stop_all(gang);
	return false;
}

bool Gangs::is_due(const GangTruth &gang, std::size_t role) const
{
	for (std::uint32_t rank = 0; gang.in_order && role > 0 && rank < gang.roles[0].pods;
		rank++) {
		const auto latest = gang.pods_by_rank.find(rank);
		if (latest == gang.pods_by_rank.end() ||
			kube_.pods.at(latest->second).api.phase == core::PodPhase::pending)
			return false;
	}
	return true;
}

void Gangs::fill_ranks(GangTruth &gang)
{
	std::uint32_t rank = 0, done = 0;
	for (std::size_t role = 0; role < gang.roles.size(); role++) {
		for (std::uint32_t index = 0; index < gang.roles[role].pods; index++, rank++) {
			const auto latest = gang.pods_by_rank.find(rank);
			const PodTruth *pod = latest == gang.pods_by_rank.end()
				? nullptr
				: &kube_.pods.at(latest->second);
			if (pod && has_succeeded(*pod)) {
				done++;
				continue;
			}
			const bool goes_on = pod && is_live(*pod) &&
				(!pod->api.deleting || !gang.replaces_early);
			if (goes_on || (!pod && !is_due(gang, role)))
				continue;
			if (pod && !forgive(gang, pod->api.uid.text))
				return;
			if (pod && gang.sort == GangSort::job_set)
				return start_again(gang);
			make(gang, role, index, rank);
			if (pauses(gang))
				return look(gang.uid);
		}
	}
	if (done < rank)
		return;
	gang.is_finished = gang.has_succeeded = true;
	stage_.tell([&] { return text_of(gang) + " has succeeded"; });
}

/* Deletes all pods; when they are gone, the JobSet recreates its Jobs. */
void Gangs::start_again(GangTruth &gang)
{
	bool is_any = false;
	for (const PodTruth *pod : members(gang.uid)) {
		if (!pod->exists)
			continue;
		is_any = true;
		gang.failures.insert(pod->api.uid.text); /* a deleted pod is no failure */
		if (!pod->api.deleting)
			(void)kube_
				.remove(pod->api.name_space, pod->api.name, pod->api.uid.text,
					std::nullopt)
				.ok();
	}
	if (is_any)
		return look(gang.uid);
	gang.generation++;
	gang.restarted_at = stage_.now();
	gang.pods_by_rank.clear();
	stage_.tell([&] { return text_of(gang) + " starts again"; });
	look(gang.uid);
}

void Gangs::fill_group(GangTruth &gang)
{
	std::uint32_t there = 0;
	for (const PodTruth *pod : members(gang.uid))
		there += has_succeeded(*pod) || (is_live(*pod) && !pod->api.deleting) ? 1U : 0U;
	for (; there < gang.roles[0].pods && gang.made < k_gang_pods_most; there++) {
		make(gang, 0, gang.made, std::nullopt);
		if (pauses(gang))
			return look(gang.uid);
	}
}

/* True: the controller makes a pause here, so that not all pods arrive at once. */
bool Gangs::pauses(const GangTruth &gang)
{
	return stage_.dice.chance(Topic::controller, hash_of(gang.uid), k_pause_percent);
}

void Gangs::make(
	GangTruth &gang, std::size_t role, std::uint32_t index, std::optional<std::uint32_t> rank)
{
	PodTruth pod = gang.mould;
	const std::string number = std::to_string(gang.made++);
	const std::uint64_t draw = mix(hash_of(gang.uid) + gang.made);
	pod.gang = gang.uid;
	pod.job_key = core::component_key(gang.uid, gang.component_of_role[role]);
	pod.rank = rank;
	pod.api.uid.text = gang.uid + "." + number;
	pod.api.name_space = gang.name_space;
	pod.api.name = gang.name + "-" + std::to_string(role) + "-" + number +
		gang.uid.substr(k_uid_length);
	if (role < gang.first_with_devices) {
		pod.devices = 0;
		pod.api.resource_claims.clear();
	}
	pod.api.requests = gang.roles[role].each;
	if (gang.roles[role].pod_template)
		pod.api.constraints.tolerations =
			gang.roles[role].pod_template->constraints.tolerations;
	if (role + 1 == gang.roles.size()) {
		pod.api.requests.milli_cpu += gang.growth.milli_cpu;
		pod.api.requests.memory_bytes += gang.growth.memory_bytes;
	}
	pod.api.gated = gang.mould.api.gated && draw % 2 == 0;
	if (draw / 2 % 4 != 0)
		pod.plan = {core::PodPhase::succeeded, 0, 0, "Completed", ""};
	pod.run_us += static_cast<Micros>(draw / 8 % 3000) * k_ms;
	const std::string job = gang.sort == GangSort::job_set
		? gang.name + "-" + gang.roles[role].name
		: gang.name;
	if (gang.sort == GangSort::pod_group)
		pod.api.labels["scheduling.x-k8s.io/pod-group"] = gang.name;
	else
		pod.api.controller = core::OwnerRef{"batch/v1", "Job", job,
			gang.sort == GangSort::job_set ? child_uid(gang, role) : gang.uid};
	pod.api.labels["batch.kubernetes.io/job-completion-index"] = std::to_string(index);
	pod.api.labels["jobset.sigs.k8s.io/replicatedjob-name"] = gang.roles[role].name;
	pod.api.labels["jobset.sigs.k8s.io/job-index"] = "0";
	pod.api.labels[names::k_jobset_restart] = std::to_string(gang.generation);
	if (rank)
		gang.pods_by_rank[*rank] = pod.api.uid.text;
	kube_.create(std::move(pod));
}

} // namespace slurmkube::sim
