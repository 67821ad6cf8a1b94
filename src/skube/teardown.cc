/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * teardown.cc - shows the plan or carries it out. What is left is asked again before each step.
 */
#include "src/skube/teardown.h"

#include <cstdio>
#include <set>

namespace slurmkube::skube
{

namespace
{

Status carry_out(const Step &step)
{
	(void)printf("%s:\n", step.what.c_str());
	for (const Words &command : step.commands) {
		(void)printf("   %s\n", command_line(command).c_str());
		(void)fflush(stdout);
		if (auto done = run_program(command); !done)
			return Error{done.error().code,
				done.error().what +
					"\nNothing after it was done. Mend that and run skube "
					"teardown --apply again."};
	}
	return Ok{};
}

/* nullptr: all that programs can do was done once. */
const Step *next_step(const std::vector<Step> &plan, const std::set<std::string> &done)
{
	for (const Step &step : plan) {
		if (step.stops || step.must_help ||
			(!step.commands.empty() && !done.contains(step.what)))
			return &step;
	}
	return nullptr;
}

std::vector<Step> by_hand(const std::vector<Step> &plan)
{
	std::vector<Step> steps;
	for (const Step &step : plan) {
		if (step.commands.empty())
			steps.push_back(step);
	}
	return steps;
}

Status stop_at(const Step &step)
{
	(void)printf("%s", plan_text({step}).substr(3).c_str());
	return Error{
		Errc::again, "nothing after it was done; then run skube teardown --apply again"};
}

Status apply(const Teardown &wanted)
{
	for (std::set<std::string> done;;) {
		const auto left = leftovers(wanted);
		if (!left)
			return left.error();
		const auto plan = teardown_plan(*left);
		if (!plan)
			return plan.error();
		const Step *step = next_step(*plan, done);
		if (!step && plan->empty())
			(void)puts(k_nothing_left);
		if (!step)
			(void)printf("%s", plan_text(by_hand(*plan)).c_str());
		if (!step || step->stops)
			return step ? stop_at(*step) : Status(Ok{});
		if (!done.insert(step->what).second)
			return Error{Errc::conflict,
				"it was done and is still there: " + step->what +
					". Nothing after it was done"};
		if (auto result = carry_out(*step); !result)
			return result;
	}
}

} // namespace

Status teardown(const Teardown &wanted)
{
	if (wanted.apply)
		return apply(wanted);
	const auto left = leftovers(wanted);
	if (!left)
		return left.error();
	const auto plan = teardown_plan(*left);
	if (!plan)
		return plan.error();
	if (plan->empty())
		(void)puts(k_nothing_left);
	else
		(void)printf("This is what skube teardown --apply would do in the cluster at %s, "
			     "in this order:\n%s",
			left->server.c_str(), plan_text(*plan).c_str());
	return Ok{};
}

} // namespace slurmkube::skube
