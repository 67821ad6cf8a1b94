/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a pod says if a write to the API server fails. */
#include "src/core/reconcile/report.h"

#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report_parts.h"

namespace slurmkube::core
{

namespace
{

/* does, doing: "bind the pod", "binding the pod" */
Condition failed_write(const SlurmJob &job, const std::string &node, const Error &error,
	const char *does, const char *doing)
{
	const std::string head = job_text(job) + " has node " + node + ", but ";
	return is_refusal(error)
		? Condition{names::k_reason_refused,
			  head + "the API server refuses to " + does + ": " + error.what}
		: Condition{names::k_reason_retrying, head + doing + " fails: " + error.what};
}

} // namespace

Condition failed_binding(const SlurmJob &job, const std::string &node, const Error &error)
{
	return failed_write(job, node, error, "bind the pod", "binding the pod");
}

Condition failed_claim(const SlurmJob &job, const std::string &node, const Error &error)
{
	return failed_write(
		job, node, error, "write a claim of the pod", "writing a claim of the pod");
}

Condition external_on_hybrid(const SlurmJob &job)
{
	return {names::k_reason_retrying,
		job_text(job) +
			" is an external job, and has a hybrid node, which confines ordinary jobs "
			"only: the node became hybrid while the job waited; the allocation is "
			"given back, and the pod queued again"};
}

Condition given_back_prolog(const SlurmJob &job)
{
	return {names::k_reason_retrying,
		job_text(job) +
			" has nodes, but Slurm has not said in time that Prolog on them is over "
			"(limits.prolog_wait_seconds); the allocation is given back, and the pod "
			"queued again"};
}

Condition given_back_unbound(const SlurmJob &job, const Error &error)
{
	const bool refused = is_refusal(error);
	return {refused ? names::k_reason_refused : names::k_reason_retrying,
		job_text(job) + " had nodes, but " +
			(refused ? "the API server refuses to bind pods to them: "
				 : "binding pods to them fails: ") +
			error.what +
			"; the allocation is given back, and the pod queued again after a pause"};
}

} // namespace slurmkube::core
