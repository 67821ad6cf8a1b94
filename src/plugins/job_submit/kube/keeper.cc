/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/keeper.h"

#include "src/base/log.h"

#include <algorithm>

namespace slurmkube::plugin
{

namespace
{

constexpr std::int64_t k_nap_busy = 2 * k_ms, k_nap_idle = 20 * k_ms;
constexpr std::int64_t k_kick_every = 10 * k_ms; /* ends come in bursts; one pass serves them all */

} // namespace

Keeper::Keeper(const std::string &feature, Registry &registry, Feed &feed, Costs &costs, const Stop &stop)
    : registry_(registry), feed_(feed), stop_(stop), budget_(now_ns()), meter_{costs, budget_}, jobs_(meter_, registry, feed, feature),
      nodes_(meter_, feed, feature)
{
}

std::int64_t Keeper::nap()
{
	bool busy = in_control_ && (!feed_.is_complete() || wants_kick_ || jobs_.live() != 0);
	dozes_.store(!busy, std::memory_order_relaxed);
	/* after the store: a ticket that came before it is seen here, one that comes later wakes us */
	return busy || registry_.has_tickets() ? k_nap_busy : k_nap_idle;
}

void Keeper::run()
{
	do
		step();
	while (stop_.wait(nap(), &wake_));
}

void Keeper::step()
{
	kube_pulse pulse = {};
	kube_seam_pulse(&pulse);
	if (pulse.active != in_control_)
		pulse.active ? take_control() : lose_control();
	if (!in_control_)
		return;
	jobs_.tick(pulse);
	nodes_.tick(pulse);
	if (nodes_.is_complete() && !feed_.is_complete())
		feed_.complete();
	placeholders_.store(jobs_.live(), std::memory_order_relaxed);
	external_nodes_.store(nodes_.count(), std::memory_order_relaxed);
	kick(pulse);
}

void Keeper::take_control()
{
	jobs_.first_look();
	in_control_ = true;
	log_info("watching %llu external jobs", static_cast<unsigned long long>(jobs_.live()));
}

void Keeper::lose_control()
{
	in_control_ = false;
	feed_.reset();
	jobs_.reset();
	nodes_.reset();
}

/*
 * Slurm does not look for work when a job without slurmd ends, and not always when one comes; its next periodic pass may be a minute away. Passes
 * that we ask for take a tenth of the time at most.
 */
void Keeper::kick(const kube_pulse &pulse)
{
	std::int64_t rest = std::max(k_kick_every, std::int64_t{pulse.schedule_cycle_us} * 10 * k_ms / 1000);
	bool jobs = jobs_.take_kick(), nodes = nodes_.take_kick();
	wants_kick_ |= jobs || nodes;
	if (!wants_kick_ || now_ns() - kicked_at_ < rest)
		return;
	kicked_at_ = now_ns();
	wants_kick_ = false;
	kube_seam_kick();
}

} // namespace slurmkube::plugin
