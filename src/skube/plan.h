/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan.h - commands of skube that change a cluster in steps: shows the steps, or carries them out.
 *
 * What is still to be done is asked again before each step, so that such a command may be repeated
 * at any point.
 */
#ifndef SLURMKUBE_SKUBE_PLAN_H
#define SLURMKUBE_SKUBE_PLAN_H

#include "src/base/programs.h"
#include "src/base/result.h"

#include <functional>
#include <string>
#include <vector>

namespace slurmkube::skube
{

struct Step {
	std::string what;
	std::vector<Words> commands; /* empty: a person must do it, see details */
	Words details = {};
	bool stops = false;     /* nothing after the step may be done before the step is done */
	bool must_help = false; /* the same, if the commands were run and did not help */
};

struct Plan {
	std::string server; /* the API server that kubectl uses */
	std::vector<Step>
		steps; /* in the order in which they must be done; those still to be done */
};

struct Procedure {
	std::string command; /* that carries out the steps: "skube teardown --apply" */
	std::string nothing; /* what is said if there is no step */
	/* Error: a question failed, or nothing may be done. */
	std::function<Result<Plan>()> plan;
};

/* Adds the step unless it has neither commands nor details. */
void add(std::vector<Step> &steps, Step step);
/* As many commands as needed, each with words, some of the names, and last. */
std::vector<Words> commands_of(const Words &words, const Words &names, const Words &last = {});
/* A command for each name: before, prefix with the name, after. */
std::vector<Words> one_each(
	const Words &before, const std::string &prefix, const Words &names, const Words &after);

std::string plan_text(const std::vector<Step> &steps);

/* Prints the steps, or if is_applied carries out those that programs can do, and prints the others.
 * again: a person must do something first. */
Status follow(const Procedure &procedure, bool is_applied);

} // namespace slurmkube::skube

#endif
