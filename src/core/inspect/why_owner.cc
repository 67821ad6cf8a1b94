/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `skube why KIND/NAME` and `skube why job/ID`: all pods of an owner, by what they wait for, and
 * its components with their jobs. */
#include "src/core/gang/components.h"
#include "src/core/inspect/selection.h"
#include "src/core/inspect/waits.h"
#include "src/core/inspect/why.h"
#include "src/core/model/outcome.h"
#include "src/core/world/pod_claims.h"

#include <map>

namespace slurmkube::core
{

namespace
{

using Lines = std::vector<WhyLine>;

/* What an owner's pods wait for takes some microseconds per pod. */
constexpr std::size_t k_pods_most = 10'000;

struct OwnerName {
	std::string kind; /* in capitals */
	const std::string &name_space, &name;
};

std::string counted(std::size_t count, const char *what)
{
	return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string job_line(const SlurmJob *job)
{
	if (!job)
		return "no job";
	return "job " + std::to_string(job->id.number) + ", " + slurm_state_name(job->state) +
		", attempt " + std::to_string(job->marker.attempt) +
		(job->reason.empty() || job->state != JobState::pending ? "" : ", " + job->reason) +
		(job->nodes.empty() ? "" : ", " + counted(job->nodes.size(), "node"));
}

bool is_of(const GangId &id, const OwnerName &owner)
{
	return id.name_space == owner.name_space && id.name == owner.name &&
		upper(id.kind) == owner.kind;
}

bool is_controlled(const Pod &pod, const OwnerName &owner)
{
	return pod.controller && pod.name_space == owner.name_space &&
		pod.controller->name == owner.name && upper(pod.controller->kind) == owner.kind;
}

std::string component_text(const World &world, const PodUid &key, const Gang &gang, Now now)
{
	const Component *component = world.state().component(key);
	std::string text = counted(gang.ranks.size(), "rank") + ", " +
		counted(gang.members.size(), "pod") + "; " +
		job_line(world.state().current_job(key));
	if (component && component->stage_since_us > 0)
		text += "; " + std::string(stage_text(component->stage)) + " for " +
			seconds_text(now.mono_us - component->stage_since_us);
	return text + (component && component->trouble ? "; " + component->trouble->message : "");
}

/* Pods by what they wait for; an example of each. */
struct Waiting {
	std::map<std::string, std::pair<std::size_t, std::string>> causes;
	std::map<const Gang *, std::string> claims; /* what each gang waits for */
	std::size_t pods = 0, alone = 0;
	bool is_cut = false;
};

const std::string &claims_of(Waiting &all, const World &world, const Gang &gang)
{
	const auto [found, is_new] = all.claims.try_emplace(&gang);
	if (is_new)
		found->second = claim_trouble_of_gang(world.state(), gang);
	return found->second;
}

void add(Waiting &all, const World &world, const PodEntry &entry, Now now)
{
	if (all.pods == k_pods_most) {
		all.is_cut = true;
		return;
	}
	PodStory story = pod_story(world, entry, now);
	if (story.gang)
		story.claims_of_gang = &claims_of(all, world, *story.gang);
	all.pods++;
	all.alone += story.gang ? 0 : 1;
	auto &[count, example] = all.causes[waits_text(story)];
	if (count++ == 0)
		example = story.pod.name_space + "/" + story.pod.name;
}

} // namespace

std::vector<const PodEntry *> pods_of_owner(const World &world, const std::string &kind,
	const std::string &name_space, const std::string &name)
{
	const OwnerName owner{upper(kind), name_space, name};
	std::vector<const PodEntry *> pods;
	for (const auto &[uid, entry] : world.state().pods) {
		const Gang *gang = world.state().gang_of(entry);
		if (entry.pod &&
			(is_controlled(*entry.pod, owner) || (gang && is_of(gang->id, owner))))
			pods.push_back(&entry);
	}
	return pods;
}

Lines why_owner(const World &world, const std::string &kind, const std::string &name_space,
	const std::string &name, Now now)
{
	const OwnerName owner{upper(kind), name_space, name};
	Lines lines;
	std::string shown = kind;
	for (const auto &[key, gang] : world.state().gangs) {
		if (!is_of(gang.id, owner))
			continue;
		shown = gang.id.kind;
		lines.push_back({"component " + std::to_string(component_of_key(key.text)),
			component_text(world, key, gang, now)});
	}
	Waiting all;
	for (const PodEntry *entry : pods_of_owner(world, kind, name_space, name))
		add(all, world, *entry, now);
	if (lines.empty() && all.pods == 0)
		return {};
	lines.insert(lines.begin(),
		{"owner",
			shown + " " + name_space + "/" + name + ", " + counted(all.pods, "pod") +
				(all.is_cut ? " or more" : "") +
				(all.alone ? ", " + std::to_string(all.alone) +
							" of them with a job of their own"
					   : "")});
	for (const auto &[cause, pods] : all.causes)
		lines.push_back({"waits for",
			cause + " (" + counted(pods.first, "pod") + ", for example " + pods.second +
				")"});
	return lines;
}

Lines why_job(const World &world, JobId id, Now now)
{
	const SlurmJob *job = world.state().job(id);
	if (!job)
		return {};
	const Marker &marker = job->marker;
	Lines about = marker.kind == k_pod_kind
		? why(world, marker.name_space, marker.name, now)
		: why_owner(world, marker.kind, marker.name_space, marker.name, now);
	if (about.empty())
		about.push_back({"pod",
			marker.kind + " " + marker.name_space + "/" + marker.name +
				", of which the agent sees no pod"});
	about.insert(about.begin(), {"this job", job_line(job)});
	return about;
}

} // namespace slurmkube::core
