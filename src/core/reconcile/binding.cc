/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of reconcile() for an allocated job: it is held until its pods can be bound, and given
 * back if they never can be. */
#include "src/core/model/outcome.h"
#include "src/core/reconcile/parts.h"
#include "src/core/reconcile/report.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

Condition waiting_for(const SlurmJob &job, const PlaceFacts &node)
{
	if (node.is_usable)
		return waiting_for_room(job, node.name, node.room_holder);
	if (node.is_native)
		return on_native_node(job, node.name);
	return node.has_record ? waiting_for_node(job, node.name)
			       : waiting_for_record(job, node.name);
}

/* Why the pod cannot be bound yet; nullopt: it can. */
std::optional<Condition> obstacle_of(const ComponentFacts &f, const RankFacts &r)
{
	if (r.node.name.empty())
		return no_place_left(*f.job, r.workload_rank);
	if (!r.node.forbidden.empty())
		return forbidden_node(*f.job, r.node.name, r.node.forbidden);
	if (!r.node.is_usable || !r.node.has_room)
		return waiting_for(*f.job, r.node);
	if (f.is_wrong_kind)
		return external_on_hybrid(*f.job);
	/* Slurm may have lost the end of a Prolog after which others were bound */
	if (f.job->configuring && !has_own_bound(f))
		return waiting_for_prolog(*f.job);
	if (!r.node.claim_wait.empty())
		return waiting_for_claim(*f.job, r.node.name, r.node.claim_wait);
	if (!r.node.device_wait.empty())
		return waiting_for_device(*f.job, r.node.name, r.node.device_wait);
	return std::nullopt;
}

void bind(const ComponentFacts &f, const RankFacts &r, RankActions &out)
{
	if (r.busy.bind || r.busy.remove || f.job->nodes.empty())
		return;
	if (!r.holds_rank && !r.node.device_wait.empty()) {
		out.push_back({r.uid, Report{waiting_for_devices(r.node.device_wait)}});
		return;
	}
	if (!r.holds_rank) {
		const auto rank = r.is_ranked ? std::optional(r.workload_rank) : std::nullopt;
		out.push_back({r.uid, Report{waiting_for_rank(*f.job, rank)}});
		return;
	}
	if (auto why = obstacle_of(f, r)) {
		out.push_back({r.uid, Report{std::move(*why)}});
		return;
	}
	if (!r.may_retry || r.busy.claim) {
		if (r.tells_failure)
			out.push_back({r.uid,
				Report{failed_binding(*f.job, r.node.name, *r.bind_failure)}});
		else if (r.claim_failure)
			out.push_back({r.uid,
				Report{failed_claim(*f.job, r.node.name, *r.claim_failure)}});
		return;
	}
	if (r.node.claim_step) {
		out.push_back({r.uid, WriteClaim{f.job->id, *r.node.claim_step}});
		return;
	}
	Bind bind{f.job->id, r.node.name, r.node.cpus, f.job->marker.attempt, std::nullopt};
	if (!f.is_alone)
		bind.rank = r.workload_rank;
	bind.memory_mib = r.node.memory_mib;
	if (r.rank == 0)
		bind.remark = f.excess;
	out.push_back({r.uid, std::move(bind)});
}

/* Deletes a pod that has not started in time. The condition StartLimit is written first, so another
 * agent continues the deletion if this one dies; a pod that has started meanwhile is left alone. */
void give_up(const ComponentFacts &f, const RankFacts &r, RankActions &out)
{
	if (!r.is_ours || !is_starting(*r.pod) || !(r.start_expired || r.pod->start_limit) ||
		r.busy.remove || r.busy.bind || !r.may_retry)
		return;
	Condition why = r.pod->start_limit.value_or(
		not_started(*f.job, *r.pod, f.start_limit_us / 1'000'000));
	out.push_back({r.uid,
		DeletePod{.disruption = std::move(why),
			.not_started = true,
			.cause = Eviction::start_limit}});
}

/* No pod is bound while the node of one of them cannot take it: until the first is bound, the
 * allocation can still be given back as a whole. */
RankActions wait_together(const ComponentFacts &f)
{
	const RankFacts &first = *std::ranges::find_if(f.ranks, is_crowded_out);
	return tell(f, waiting_for(*f.job, first.node));
}

/* Binds volumes, if the pods of all components could be bound but for their volumes. */
RankActions wait_for_others(const ComponentFacts &f)
{
	RankActions out;
	for (const RankFacts &r : f.ranks) {
		const bool is_due = f.others.may_bind_volumes && r.side == PodSide::waiting &&
			r.holds_rank && !r.busy.remove && !r.busy.claim && r.may_retry &&
			r.node.claim_step && !obstacle_of(f, r);
		if (is_due)
			out.push_back({r.uid, WriteClaim{f.job->id, *r.node.claim_step}});
	}
	std::ranges::move(tell(f, *f.others.waits_for), std::back_inserter(out));
	return out;
}

/* For pods that request more than their owner's template: the next job is submitted with what the
 * pods request. */
RankActions give_back_too_small(const ComponentFacts &f)
{
	RankActions out = give_back(f);
	const auto is_end = [](const RankAction &one) {
		return std::holds_alternative<Complete>(one.action);
	};
	if (std::ranges::none_of(out, is_end))
		return out;
	const RankFacts &first = *std::ranges::find_if(f.ranks, is_misfit);
	std::ranges::move(tell(f, too_small(*f.job, first.workload_rank)), std::back_inserter(out));
	return out;
}

bool is_unsure(const RankFacts &r)
{
	return r.side == PodSide::waiting && !r.surely_unbound;
}

/* Gives back an allocation that cannot be used. Otherwise it would be charged for as long as the
 * node is away or another pod stays there; and if that pod's job was lost, its new job could not
 * start before we give back. */
RankActions let_go(const ComponentFacts &f)
{
	RankActions out = give_back(f);
	const auto is_told = [](const RankAction &one) {
		return std::holds_alternative<Report>(one.action);
	};
	if (std::ranges::any_of(out, is_told))
		return out;
	const auto is_failing = [](const RankFacts &r) { return r.bind_failure.has_value(); };
	if (const auto failing = std::ranges::find_if(f.ranks, is_failing);
		failing != f.ranks.end()) {
		std::ranges::move(tell(f, given_back_unbound(*f.job, *failing->bind_failure)),
			std::back_inserter(out));
		return out;
	}
	if (f.is_wrong_kind || f.is_prolog_late) {
		std::ranges::move(tell(f,
					  f.is_wrong_kind ? external_on_hybrid(*f.job)
							  : given_back_prolog(*f.job)),
			std::back_inserter(out));
		return out;
	}
	const auto is_lost = [](const RankFacts &r) {
		return r.side == PodSide::waiting && !r.node.name.empty() && !r.node.is_usable;
	};
	const auto lost = std::ranges::find_if(f.ranks, is_lost);
	if (lost == f.ranks.end())
		return out;
	if (lost->node.is_native)
		std::ranges::move(
			tell(f, on_native_node(*f.job, lost->node.name)), std::back_inserter(out));
	else if (lost->node.forbidden.empty())
		std::ranges::move(
			tell(f,
				lost->node.has_record ? given_back_node(*f.job, lost->node.name)
						      : given_back_record(*f.job, lost->node.name)),
			std::back_inserter(out));
	return out;
}

} // namespace

RankActions end_unbound(const ComponentFacts &f, const Complete &end)
{
	if (std::ranges::none_of(f.ranks, is_unsure))
		return own(f, end);
	RankActions out =
		look_up(f, [](const RankFacts &r) { return is_unsure(r) && !r.may_be_bound_late; });
	const auto is_failing = [](const RankFacts &r) { return !r.look_trouble.empty(); };
	const auto failing = std::ranges::find_if(f.ranks, is_failing);
	if (failing != f.ranks.end())
		std::ranges::move(tell(f, waiting_to_end(*f.job, failing->look_trouble)),
			std::back_inserter(out));
	return out;
}

RankActions give_back(const ComponentFacts &f)
{
	return end_unbound(f, {f.job->id, k_status_given_back});
}

RankActions hold_or_bind(const ComponentFacts &f)
{
	/* Pods that were bound to it would run without a job, also if slurmctld did not answer: it
	 * may end the job later. The end is asked for again, unless pods run after all. Then
	 * nothing more is bound until the request is surely lost. */
	if (f.ending)
		return f.busy.slurm || has_own_bound(f) ? RankActions() : end_unbound(f, *f.ending);
	if (lets_go(f))
		return let_go(f);
	if (f.is_unbindable) /* when the bindings in flight have been answered */
		return {};
	if (is_too_small(f))
		return give_back_too_small(f);
	if (f.others.gives_back)
		return give_back(f);
	if (is_untouched(f) && std::ranges::any_of(f.ranks, is_crowded_out))
		return wait_together(f);
	if (f.others.waits_for)
		return wait_for_others(f);
	RankActions out;
	for (const RankFacts &rank : f.ranks) {
		if (rank.side == PodSide::waiting)
			bind(f, rank, out);
		else if (rank.side == PodSide::running)
			give_up(f, rank, out);
	}
	std::ranges::move(look_up(f, [](const RankFacts &r) { return r.is_placeless_long; }),
		std::back_inserter(out));
	return out;
}

} // namespace slurmkube::core
