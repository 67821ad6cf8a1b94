/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/plan.h"

#include <cstdio>
#include <set>

namespace slurmkube::skube
{

namespace
{

constexpr std::size_t k_names_a_command = 100; /* limits the length of command lines */

Status carry_out(const Step &step, const Procedure &procedure)
{
	(void)printf("%s:\n", step.what.c_str());
	for (const Words &command : step.commands) {
		(void)printf("   %s\n", command_line(command).c_str());
		(void)fflush(stdout);
		if (auto done = run_program(command); !done)
			return Error{done.error().code,
				done.error().what +
					"\nNothing after it was done. Mend that and run " +
					procedure.command + " again."};
	}
	return Ok{};
}

/* nullptr: all that programs can do was done once. */
const Step *next_step(const std::vector<Step> &steps, const std::set<std::string> &done)
{
	for (const Step &step : steps) {
		if (step.stops || step.must_help ||
			(!step.commands.empty() && !done.contains(step.what)))
			return &step;
	}
	return nullptr;
}

std::vector<Step> by_hand(const std::vector<Step> &steps)
{
	std::vector<Step> rest;
	for (const Step &step : steps) {
		if (step.commands.empty())
			rest.push_back(step);
	}
	return rest;
}

Status stop_at(const Step &step, const Procedure &procedure)
{
	(void)printf("%s", plan_text({step}).substr(3).c_str());
	return Error{
		Errc::again, "nothing after it was done; then run " + procedure.command + " again"};
}

Status apply(const Procedure &procedure)
{
	for (std::set<std::string> done;;) {
		const auto plan = procedure.plan();
		if (!plan)
			return plan.error();
		const Step *step = next_step(plan->steps, done);
		if (!step && plan->steps.empty())
			(void)puts(procedure.nothing.c_str());
		if (!step)
			(void)printf("%s", plan_text(by_hand(plan->steps)).c_str());
		if (!step || step->stops)
			return step ? stop_at(*step, procedure) : Status(Ok{});
		if (!done.insert(step->what).second)
			return Error{Errc::conflict,
				"it was done and is still there: " + step->what +
					". Nothing after it was done"};
		if (auto result = carry_out(*step, procedure); !result)
			return result;
	}
}

} // namespace

void add(std::vector<Step> &steps, Step step)
{
	if (!step.commands.empty() || !step.details.empty())
		steps.push_back(std::move(step));
}

std::vector<Words> commands_of(const Words &words, const Words &names, const Words &last)
{
	std::vector<Words> commands;
	for (std::size_t i = 0; i < names.size(); i++) {
		if (i % k_names_a_command == 0)
			commands.push_back(words);
		commands.back().push_back(names[i]);
		if (i + 1 == names.size() || (i + 1) % k_names_a_command == 0)
			commands.back().insert(commands.back().end(), last.begin(), last.end());
	}
	return commands;
}

std::vector<Words> one_each(
	const Words &before, const std::string &prefix, const Words &names, const Words &after)
{
	std::vector<Words> commands;
	for (const std::string &name : names) {
		commands.push_back(before);
		commands.back().push_back(prefix + name);
		commands.back().insert(commands.back().end(), after.begin(), after.end());
	}
	return commands;
}

std::string plan_text(const std::vector<Step> &steps)
{
	std::string text;
	std::size_t number = 0;
	for (const Step &step : steps) {
		text += std::to_string(++number) + ". " + step.what +
			(step.details.empty() ? ":\n" : " (by hand):\n");
		for (const Words &command : step.commands)
			text += "   " + command_line(command) + "\n";
		for (const std::string &detail : step.details)
			text += "   " + detail + "\n";
	}
	return text;
}

Status follow(const Procedure &procedure, bool is_applied)
{
	if (is_applied)
		return apply(procedure);
	const auto plan = procedure.plan();
	if (!plan)
		return plan.error();
	if (plan->steps.empty())
		(void)puts(procedure.nothing.c_str());
	else
		(void)printf("This is what %s would do in the cluster at %s, in this order:\n%s",
			procedure.command.c_str(), plan->server.c_str(),
			plan_text(plan->steps).c_str());
	return Ok{};
}

} // namespace slurmkube::skube
