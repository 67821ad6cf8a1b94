/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a pod's claims for devices, before its submission and before its binding. */
#include "src/core/device/cores.h"
#include "src/core/device/deal.h"
#include "src/core/reconcile/report.h"
#include "src/core/reconcile/report_parts.h"
#include "src/core/world/facts_reader.h"
#include "src/core/world/hybrid_devices.h"
#include "src/core/world/parts.h"
#include "src/core/world/pod_devices.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* For how long a node is left out whose devices could not be used. Its slices or its record in
 * Slurm may be in order again then. */
constexpr std::int64_t k_unfit_us = 300'000'000;
/* How long a binding of an earlier agent may be under way. */
constexpr std::int64_t k_late_us = 10'000'000;
/* How long an answer of the API server that a pod is not bound may be used. */
constexpr std::int64_t k_believed_us = 1'000'000;

ClaimStep claim_step(const DeviceStep &step)
{
	return std::visit([](const auto &one) { return ClaimStep(one); }, step);
}

/* The claim is as it was when its release was sent, so that the release may still come. */
bool is_being_released(const PodEntry &entry, const ResourceClaim &claim)
{
	const std::optional<ReleaseDevices> &open = entry.open_release;
	return open && open->claim == claim.id && open->uid == claim.uid &&
		open->version == claim.resource_version;
}

/* The claim has devices that it must give back, which another claim of the pod may be to get. */
bool is_wrong(const ClaimDeal &deal)
{
	return deal.claim->allocation && !is_allocated(deal);
}

std::vector<const ClaimDeal *> wrong_ones_first(const std::vector<ClaimDeal> &deals)
{
	std::vector<const ClaimDeal *> out;
	for (const ClaimDeal &one : deals)
		out.push_back(&one);
	std::stable_partition(
		out.begin(), out.end(), [](const ClaimDeal *one) { return is_wrong(*one); });
	return out;
}

bool is_written_here(const PodEntry &entry, const ResourceClaim &claim)
{
	if (!entry.submitted_step)
		return false;
	/* that comes only after the devices of the claim were sure */
	if (const auto *mapped = std::get_if<MapRequests>(&*entry.submitted_step))
		return mapped->claim == claim.id;
	const auto *allocated = std::get_if<AllocateDevices>(&*entry.submitted_step);
	const auto *reserved = std::get_if<ReserveClaim>(&*entry.submitted_step);
	/* an allocation shows by itself that it was written */
	return (allocated && allocated->claim == claim.id && allocated->uid == claim.uid) ||
		(reserved && reserved->claim == claim.id && reserved->uid == claim.uid &&
			reserved->version != claim.resource_version);
}

/* The same for a claim that pods of a gang share: one of them writes for all. */
bool is_written_for(const State &state, const ClaimUsers &users, const ResourceClaim &claim)
{
	return std::ranges::any_of(users.waiting, [&](const ClaimUser &user) {
		const PodEntry *entry = state.entry({user.uid});
		return entry && is_written_here(*entry, claim);
	});
}

/* Pods that have not been bound leave a claim one after the other, so that their writes do not
 * conflict. */
bool leaves_next(const State &state, const ResourceClaim &claim, const Pod &pod)
{
	const auto next = std::ranges::find_if(claim.reserved_for, [&](const std::string &uid) {
		const PodEntry *entry = state.entry({uid});
		return entry && entry->pod && side_of(*entry) == PodSide::waiting &&
			job_side(state.job_of({uid})) != JobSide::allocated;
	});
	return next != claim.reserved_for.end() && *next == pod.uid.text;
}

/* Adds the devices of the claims to those of options and extended resources. */
Status add_gres(const DeviceDemand &demand, JobSpec &spec)
{
	std::string &gres = spec.options.gres;
	for (const Gres &one : demand.gres) {
		if (lists_gres(gres, one.name))
			return Error{Errc::invalid,
				"its resource claims and its option gres or its resources both ask "
				"for GRES " +
					one.name + ": leave one of them out"};
	}
	gres += (gres.empty() || demand.gres.empty() ? "" : ",") + gres_text(demand.gres);
	return Ok{};
}

} // namespace

/* Whether the CPUs that the claims ask for can be those of the pod's job. */
Status FactsReader::check_cpus(const Pod &pod, const DeviceDemand &demand) const
{
	const auto claims = resource_claims_of(state_, pod);
	std::string why = claims && !demand.cpus.empty()
		? cpu_trouble_of(pod, *claims, demand, state_.settings.policy.cpu_unit)
		: "";
	return why.empty() ? Status(Ok{}) : Status(Error{Errc::invalid, std::move(why)});
}

/* A pod that runs keeps its devices whatever becomes of its claims, so its job is submitted
 * again. */
void FactsReader::hold_for_devices(const PodUid &uid, const Pod &pod, PodSide side,
	std::optional<Result<JobSpec>> &spec, std::optional<Condition> &waits_for) const
{
	if (!spec || !*spec || pod.resource_claims.empty())
		return;
	const auto demand = device_demand(state_, pod);
	if (demand) {
		const Status checked =
			side == PodSide::waiting ? check_cpus(pod, **demand) : Status(Ok{});
		const Status added = checked ? add_gres(**demand, **spec) : checked;
		if (!added)
			*spec = added.error();
		return;
	}
	/* what a running pod has is known soon */
	const bool is_soon = !are_devices_listed(state_) && unreadable_devices(state_).empty();
	if (side != PodSide::waiting && !is_soon)
		return;
	waits_for = waiting_for_devices(demand.error().what);
	spec.reset();
	found_.look_later(uid, now_.mono_us + k_claim_look_us);
}

/* For a pod whose job has nodes. The answer to a submission does not name the devices. */
void FactsReader::check_devices(
	const PodUid &uid, const Pod &pod, const SlurmJob &job, RankFacts &rank) const
{
	PlaceFacts &n = rank.node;
	if (pod.resource_claims.empty() || !n.is_usable || !n.has_room || !n.forbidden.empty() ||
		n.claim_step || !n.claim_wait.empty())
		return;
	const auto claims = resource_claims_of(state_, pod);
	if (!claims || provisional_.contains(job.id)) {
		n.device_wait = claims ? k_devices_not_told : claims.error().what;
		return wait_for_devices(uid, n);
	}
	const NodeAllocation slot = claimed_part(state_, job.nodes.front(), *claims);
	const auto record = device_record(state_, slot);
	const auto deals = record ? deal(*claims, slot, *record, device_sources(state_))
				  : Result<std::vector<ClaimDeal>>(record.error());
	if (deals)
		follow_deals(uid, pod, *deals, {}, rank);
	else
		refuse_deal(uid, deals.error(), slot.node, n);
}

/* The devices that Slurm gave are not known yet, or cannot be used. */
void FactsReader::refuse_deal(
	const PodUid &uid, const Error &why, const std::string &node, PlaceFacts &n) const
{
	if (why.code == Errc::again) {
		n.device_wait = why.what;
		return wait_for_devices(uid, n);
	}
	n.forbidden = cannot_be_used(why.what);
	found_.unfit_node = UnfitNode{node, why.what, now_.mono_us + k_unfit_us};
}

/* One write after the other, until the claims say what was dealt. */
void FactsReader::follow_deals(const PodUid &uid, const Pod &pod,
	const std::vector<ClaimDeal> &deals, const SharedUsers &users, RankFacts &rank) const
{
	const PodEntry &entry = state_.pods.at(uid);
	for (const ClaimDeal *each : wrong_ones_first(deals)) {
		const ClaimDeal &one = *each;
		if (!is_wrong(one) && is_in_use(one, rank.node))
			break;
		if (is_being_released(entry, *one.claim)) {
			rank.node.device_wait = resource_claim_being_written(one.claim->id.name);
			if (entry.submitted_step != ClaimStep(*entry.open_release))
				rank.stale_claim = *entry.open_release; /* it was not answered */
			break;
		}
		if (!is_done(one, uid.text)) {
			take_step(uid, pod, one, users, rank);
			break;
		}
		/* a release by an agent before this one may still come */
		const std::int64_t sure_us = state_.sync.synced_us() + k_late_us;
		const auto shared = users.find(one.claim);
		if (now_.mono_us >= sure_us || is_written_here(entry, *one.claim) ||
			(shared != users.end() &&
				is_written_for(state_, shared->second, *one.claim)))
			continue;
		rank.node.device_wait = resource_claim_being_written(one.claim->id.name);
		found_.look_later(uid, sure_us);
		break;
	}
	map_requests(uid, pod, rank);
	wait_for_devices(uid, rank.node);
}

/* The claim of a pod that was deleted by force is gone at once, its containers are not. */
bool FactsReader::is_being_vacated(const DeviceId &device) const
{
	return std::ranges::any_of(
		state_.resource_claims.last_users_of(device), [&](const std::string &uid) {
			const PodEntry *user = state_.entry({uid});
			return user && user->hold_until_us > now_.mono_us;
		});
}

/* Another claim has one of the devices: its pod may still use it. */
bool FactsReader::is_in_use(const ClaimDeal &one, PlaceFacts &n) const
{
	for (const ChosenDevice &chosen : one.devices) {
		/* a claim that has the device already may have got it from a pod that shared it */
		if (!chosen.result.is_for_admin && !is_allocated(one) &&
			is_being_vacated(chosen.result.device)) {
			n.device_wait = device_being_vacated(chosen.result.device.name);
			return true;
		}
		const ResourceClaim *holder =
			state_.resource_claims.holder_of(chosen.result.device, one.claim->id);
		if (!holder || chosen.result.is_for_admin)
			continue;
		n.device_wait = device_in_use(
			chosen.result.device.name, holder->id.name_space + "/" + holder->id.name);
		return true;
	}
	return false;
}

/* The next write for one claim, or what it waits for. */
void FactsReader::take_step(const PodUid &uid, const Pod &pod, const ClaimDeal &one,
	const SharedUsers &users, RankFacts &rank) const
{
	PlaceFacts &n = rank.node;
	const auto shared = users.find(one.claim);
	const auto step = next_step(one, n.name, pod.name, uid.text,
		shared == users.end() ? ClaimUsers() : shared->second);
	const PodEntry &entry = state_.pods.at(uid);
	const bool is_new = step && entry.submitted_step != claim_step(*step);
	if (is_new && std::holds_alternative<ReleaseDevices>(*step))
		rank.stale_claim = claim_step(*step); /* if the pod is surely not bound */
	else if (is_new)
		n.claim_step = claim_step(*step);
	if (!n.claim_step && !entry.busy.claim)
		n.device_wait = resource_claim_being_written(one.claim->id.name);
}

/* The wait is charged, so it is limited as that for volumes is. */
void FactsReader::wait_for_devices(const PodUid &uid, PlaceFacts &n) const
{
	const bool waits = n.claim_step || !n.device_wait.empty() || state_.pods.at(uid).busy.claim;
	if (waits)
		found_.look_later(uid, now_.mono_us + k_claim_look_us);
	if (!found_.is_over(uid, Clock::devices, waits, state_.settings.claim_wait_us))
		return;
	const std::string why = "has not got its devices within " +
		std::to_string(state_.settings.claim_wait_us / 1'000'000) + " s";
	n.forbidden = why;
	if (!n.name.empty())
		found_.unfit_node = UnfitNode{n.name, why, now_.mono_us + k_unfit_us};
}

/* Devices that were allocated for a pod which has lost its job before it was bound are given back,
 * whatever becomes of its other claims. Until then they are not given to any other pod. */
void FactsReader::note_stale_claim(const PodEntry &entry, const SlurmJob *job, RankFacts &r) const
{
	const Pod &pod = *entry.pod;
	const std::set<ResourceClaimId> &held = state_.resource_claims.allocated_for(pod.uid);
	if ((pod.resource_claims.empty() && held.empty()) || r.side != PodSide::waiting)
		return;
	/* an agent before this one may have sent a binding */
	const std::int64_t since_us =
		std::max(entry.late_until_us, state_.sync.synced_us() + k_late_us);
	r.is_unbound_now = !entry.busy.bind && now_.mono_us >= since_us &&
		entry.unbound_at_us >= since_us &&
		now_.mono_us - entry.unbound_at_us < k_believed_us;
	if (job_side(job) == JobSide::allocated)
		return;
	/* also claims that the pod does not use any more: its DeviceClass may be gone */
	for (const ResourceClaimId &id : held) {
		const ResourceClaim *claim = state_.resource_claims.find(id);
		const auto back = claim && leaves_next(state_, *claim, pod)
			? step_back(*claim, pod.uid.text)
			: std::nullopt;
		if (!back)
			continue;
		const ClaimStep step = *back;
		if (entry.submitted_step == step)
			continue;
		if (now_.mono_us >= since_us)
			r.stale_claim = step;
		found_.look_later(r.uid, std::max(since_us, now_.mono_us + k_believed_us));
		return;
	}
}

} // namespace slurmkube::core
