/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/job_hold.h"

#include "src/base/programs.h"
#include "src/skube/request.h"

#include <cstdio>
#include <set>

namespace slurmkube::skube
{

namespace
{

using codec::get;
using codec::get_int;
using codec::get_string;

std::string describe(const Target &target)
{
	switch (target.is) {
	case Target::Is::job:
		return "job " + std::to_string(target.job);
	case Target::Is::owner:
		return target.kind + " " + full_name(target);
	default:
		return "pod " + full_name(target);
	}
}

/* Jobs by number, and whether each waits. The pods of an owner name the job and its state. */
void add_jobs(json_object *data, std::set<std::int64_t> &waiting, std::set<std::int64_t> &all)
{
	const auto add = [&](std::int64_t number, const std::string &state) {
		if (number <= 0)
			return;
		all.insert(number);
		if (state == "pending")
			waiting.insert(number);
	};
	json_object *job = get(data, "job"), *pods = get(data, "pods");
	if (job)
		return add(get_int(job, "id"), get_string(job, "state"));
	for (std::size_t i = 0; i < codec::array_size(pods); i++) {
		json_object *pod = codec::array_at(pods, i);
		add(get_int(pod, "job"), get_string(pod, "job_state"));
	}
}

} // namespace

Result<std::vector<std::int64_t>> waiting_jobs(const Target &target, json_object *why)
{
	std::set<std::int64_t> waiting, all;
	add_jobs(get(why, "data"), waiting, all);
	if (all.empty())
		return Error{Errc::not_found,
			describe(target) +
				" has no Slurm job yet: skube why says what it waits for"};
	if (waiting.empty())
		return Error{Errc::conflict,
			"job " + std::to_string(*all.begin()) + " of " + describe(target) +
				" does not wait any more: a pod that has started cannot be held"};
	return std::vector<std::int64_t>(waiting.begin(), waiting.end());
}

Status hold_or_release(const HoldRequest &wanted)
{
	codec::Json about = codec::new_object();
	put_target(about.get(), wanted.target);
	const auto reply = ask(wanted.socket, "why", std::move(about));
	if (!reply)
		return reply.error();
	const auto jobs = waiting_jobs(wanted.target, reply->get());
	if (!jobs)
		return jobs.error();
	std::string list;
	for (const std::int64_t job : *jobs)
		list += (list.empty() ? "" : ",") + std::to_string(job);
	const Words command = {"scontrol", wanted.releases ? "release" : "hold", list};
	if (wanted.verbose)
		(void)printf("%s\n", command_line(command).c_str());
	(void)fflush(stdout);
	if (auto done = run_program(command); !done)
		return done;
	(void)printf("%s %s: job %s\n", wanted.releases ? "released" : "held",
		describe(wanted.target).c_str(), list.c_str());
	return Ok{};
}

} // namespace slurmkube::skube
