/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a pod's claims for devices, before its submission and before its binding. */
#include "src/core/device/deal.h"
#include "src/core/reconcile/report.h"
#include "src/core/reconcile/report_parts.h"
#include "src/core/world/facts_reader.h"
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

ClaimStep claim_step(const DeviceStep &step)
{
	return std::visit([](const auto &one) { return ClaimStep(one); }, step);
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

/* A pod that runs keeps its devices whatever becomes of its claims, so its job is submitted
 * again. */
void FactsReader::hold_for_devices(const PodUid &uid, const Pod &pod, PodSide side,
	std::optional<Result<JobSpec>> &spec, std::optional<Condition> &waits_for) const
{
	if (!spec || !*spec || pod.resource_claims.empty())
		return;
	const auto demand = device_demand(state_, pod);
	if (demand) {
		if (const Status added = add_gres(**demand, **spec); !added)
			*spec = added.error();
		return;
	}
	if (side != PodSide::waiting)
		return;
	waits_for = waiting_for_devices(demand.error().what);
	spec.reset();
	found_.look_later(uid, now_.mono_us + k_claim_look_us);
}

/* For a pod whose job has nodes. The answer to a submission does not name the devices. */
void FactsReader::check_devices(
	const PodUid &uid, const Pod &pod, const SlurmJob &job, PlaceFacts &n) const
{
	if (pod.resource_claims.empty() || !n.is_usable || !n.has_room || !n.forbidden.empty() ||
		n.claim_step || !n.claim_wait.empty())
		return;
	const auto claims = resource_claims_of(state_, pod);
	if (!claims || provisional_.contains(job.id)) {
		n.device_wait = claims ? k_devices_not_told : claims.error().what;
		return wait_for_devices(uid, n);
	}
	const NodeAllocation &slot = job.nodes.front();
	const SlurmNode *record = state_.slurm_node(slot.node);
	const auto deals = deal(
		*claims, slot, record ? record->extra.value_or("") : "", device_sources(state_));
	if (!deals) {
		n.forbidden = cannot_be_used(deals.error().what);
		found_.unfit_node =
			UnfitNode{slot.node, deals.error().what, now_.mono_us + k_unfit_us};
		return;
	}
	for (const ClaimDeal &one : *deals) {
		if (is_done(one, uid.text))
			continue;
		take_step(uid, pod, one, n);
		return wait_for_devices(uid, n);
	}
	wait_for_devices(uid, n);
}

/* The next write for one claim, or what it waits for. */
void FactsReader::take_step(
	const PodUid &uid, const Pod &pod, const ClaimDeal &one, PlaceFacts &n) const
{
	for (const ChosenDevice &chosen : one.devices) {
		const ResourceClaim *holder =
			state_.resource_claims.holder_of(chosen.result.device, one.claim->id);
		if (holder) {
			n.device_wait = device_in_use(chosen.result.device.name,
				holder->id.name_space + "/" + holder->id.name);
			return;
		}
	}
	const auto step = next_step(one, n.name, pod.name, uid.text);
	const PodEntry &entry = state_.pods.at(uid);
	if (step && entry.submitted_step != claim_step(*step))
		n.claim_step = claim_step(*step);
	else if (!entry.busy.claim)
		n.device_wait = resource_claim_being_written(one.claim->id.name);
}

/* The wait is charged, so it is limited as that for volumes is. */
void FactsReader::wait_for_devices(const PodUid &uid, PlaceFacts &n) const
{
	const bool waits = n.claim_step || !n.device_wait.empty();
	if (waits)
		found_.look_later(uid, now_.mono_us + k_claim_look_us);
	if (!found_.is_over(uid, Clock::claims, waits, state_.settings.claim_wait_us))
		return;
	const std::string why = "has not got its devices within " +
		std::to_string(state_.settings.claim_wait_us / 1'000'000) + " s";
	n.forbidden = why;
	found_.unfit_node = UnfitNode{n.name, why, now_.mono_us + k_unfit_us};
}

/* Devices that were allocated for a pod which has lost its job before it was bound are given back.
 * Until then they are not given to any other pod. */
void FactsReader::note_stale_claim(const PodEntry &entry, const SlurmJob *job, RankFacts &r) const
{
	if (entry.pod->resource_claims.empty() || r.side != PodSide::waiting ||
		job_side(job) == JobSide::allocated || entry.busy.bind ||
		now_.mono_us < entry.late_until_us)
		return;
	const auto claims = resource_claims_of(state_, *entry.pod);
	if (!claims)
		return;
	for (const ResourceClaim *claim : *claims) {
		if (!claim->allocation)
			continue;
		const ClaimStep step =
			ReleaseDevices{claim->id, claim->uid, claim->resource_version};
		if (entry.submitted_step != step)
			r.stale_claim = step;
		return;
	}
}

} // namespace slurmkube::core
