/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * logs.h - skube logs: what the agent has logged about one pod, job, owner or node.
 *
 * journalctl runs with the caller's own rights, and so is the file read. The agent is only asked
 * for the job of a pod, because lines about a gang name its job and not its pods; without an answer
 * these lines are left out.
 */
#ifndef SLURMKUBE_SKUBE_LOGS_H
#define SLURMKUBE_SKUBE_LOGS_H

#include "src/base/programs.h"
#include "src/base/result.h"
#include "src/skube/target.h"

#include <string>

namespace slurmkube::skube
{

struct LogRequest {
	Target target;
	std::string socket = {}; /* of the agent */
	std::string since = {};  /* in the form of journalctl; empty: everything */
	std::string file = {};   /* a log in text or JSON lines instead of the journal */
	bool follow = false;
	bool verbose = false; /* print the command */
};

/* job: of a pod; 0: not known. */
Words journal_command(const LogRequest &wanted, std::int64_t job);

/* Whether a line of a file, in either format, is about the target. */
bool is_about(const std::string &line, const Target &target, std::int64_t job);

/* not_found: there is no journalctl; the text names --file. */
Status print_logs(const LogRequest &wanted);

} // namespace slurmkube::skube

#endif
