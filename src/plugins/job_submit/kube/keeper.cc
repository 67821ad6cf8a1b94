/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/keeper.h"

#include "src/base/guard.h"
#include "src/base/log.h"

#include <algorithm>
#include <ctime>

namespace slurmkube::plugin
{

namespace
{

constexpr std::int64_t k_nap_busy = 2 * k_ms, k_nap_idle = 20 * k_ms;
/* nap when the budget for locks is used up, so that there are fewer holds that find more each */
constexpr std::int64_t k_nap_spent = 10 * k_ms;
constexpr std::int64_t k_rest_min = 1000 * k_ms, k_rest_max = 60'000 * k_ms;
constexpr std::int64_t k_start_max = 60'000 * k_ms;

std::int64_t wall_us()
{
	timespec now = {};
	clock_gettime(CLOCK_REALTIME, &now);
	return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

} // namespace

Keeper::Keeper(const std::string &feature, const kube_host &host, SubmissionRegistry &registry,
	Feed &feed, Costs &costs, const Stop &stop, std::function<void()> reconfigured)
    : registry_(registry), feed_(feed), stop_(stop), reconfigured_(std::move(reconfigured)),
      budget_(now_ns()), meter_{costs, budget_}, jobs_(meter_, registry, feed, feature),
      nodes_(meter_, feed, feature, host)
{
}

std::int64_t Keeper::nap()
{
	if (!in_control_ && now_ns() - began_ < k_start_max)
		/* the state of nodes that Slurm has forgotten must be restored before it places
		 * jobs */
		return k_nap_busy;
	bool busy =
		in_control_ && (!feed_.is_complete() || kicks_.are_wanted() || jobs_.live() != 0);
	dozes_.store(!busy, std::memory_order_relaxed);
	/* after the store: a ticket that came before it is seen here, and one that comes later
	 * wakes the thread */
	if (!busy && !registry_.has_tickets())
		return k_nap_idle;
	return meter_.can_hold() ? k_nap_busy : k_nap_spent;
}

/* An internal error (no memory) must not end the thread, because the link would go on reporting an
 * old state. Everything is forgotten and read again after a pause. */
void Keeper::run()
{
	bool goes_on = true;
	while (goes_on) {
		bool is_well = guard(
			false,
			[](const char *what) {
				log_error("internal error in thread kube-keeper, which starts "
					  "over: %s",
					what);
			},
			[&] {
				step();
				return true;
			});
		if (is_well) {
			goes_on = stop_.wait(nap(), &wake_);
			continue;
		}
		start_over();
		goes_on = stop_.wait(rest_);
	}
}

void Keeper::start_over()
{
	rest_ = std::clamp(2 * rest_, k_rest_min, k_rest_max);
	lose_control();
}

void Keeper::step()
{
	kube_pulse pulse = {};
	kube_seam_pulse(&pulse);
	follow_configuration(pulse.configured);
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
	if (nodes_.take_look() && nodes_.is_complete()) {
		tell_unmarked();
		nodes_.report_mixed();
	}
	kick(pulse);
}

/* slurm.conf may be read twice in one second, which the second alone does not show. So the
 * configuration is read again when that second is over. */
void Keeper::follow_configuration(std::int64_t configured)
{
	const std::int64_t now = time(nullptr);
	const bool is_other = configured != configured_, is_over = is_young_ && now > configured;
	if ((is_other && configured_ != 0) || is_over) {
		reconfigured_();
		nodes_.report_mixed_again();
	}
	is_young_ = now <= configured && (is_other || is_young_);
	configured_ = configured;
}

void Keeper::tell_unmarked()
{
	jobs_.find_unmarked(nodes_.held());
	std::lock_guard lock(unmarked_mutex_);
	if (unmarked_ != jobs_.unmarked())
		unmarked_ = jobs_.unmarked();
}

void Keeper::take_control()
{
	control_since_us_.store(wall_us(), std::memory_order_relaxed);
	nodes_.take_out_again();
	jobs_.first_look();
	in_control_ = true;
	log_info("watching %llu external jobs", static_cast<unsigned long long>(jobs_.live()));
}

void Keeper::lose_control()
{
	in_control_ = false;
	control_since_us_.store(0, std::memory_order_relaxed);
	registry_.set_built(false); /* another controller may make jobs meanwhile */
	feed_.reset();
	jobs_.reset();
	nodes_.reset();
}

void Keeper::kick(const kube_pulse &pulse)
{
	bool jobs = jobs_.take_kick(), nodes = nodes_.take_kick();
	if (jobs || nodes)
		kicks_.want();
	Kicks::Pass pass = kicks_.next(now_ns(), pulse.schedule_cycles,
		std::int64_t{pulse.schedule_cycle_us} * k_ms / 1000, jobs_.pending());
	if (pass != Kicks::Pass::none)
		kube_seam_kick(pass == Kicks::Pass::full);
}

} // namespace slurmkube::plugin
