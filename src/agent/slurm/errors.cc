/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/errors.h"

#include "src/agent/slurm/compat.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace slurmkube::slurm
{

namespace
{

constexpr int k_first_refusal = 2000;

struct Row {
	int number;
	Errc code;
};

/* Of the numbers that are not listed, those from 2000 on are refusals (invalid), and smaller ones
 * are system errors, which mean a broken connection (io). */
constexpr Row k_rows[] = {
	/* not sent, or rejected before it was processed */
	{SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR, Errc::again},
	{SLURM_COMMUNICATIONS_CONNECTION_ERROR, Errc::again}, {compat::k_backoff, Errc::again},
	{compat::k_hard_drop, Errc::again}, {ECONNREFUSED, Errc::again}, {ENETUNREACH, Errc::again},
	{EHOSTUNREACH, Errc::again}, {ESLURM_IN_STANDBY_MODE, Errc::again},
	{ESLURM_IN_STANDBY_USE_BACKUP, Errc::again}, {ESLURM_SUBMISSIONS_DISABLED, Errc::again},
	{ESLURM_DB_CONNECTION, Errc::again},

	/* limits and states that may change */
	{compat::k_max_job_count, Errc::again},
	/* MaxSubmitJobs and the like: there is room when jobs end */
	{ESLURM_ACCOUNTING_POLICY, Errc::again}, {ESLURM_PARTITION_DOWN, Errc::again},
	{ESLURM_PARTITION_NOT_AVAIL, Errc::again}, {ESLURM_RESERVATION_NOT_USABLE, Errc::again},
	{ESLURM_PROLOG_RUNNING, Errc::again},
	/* munged is down on one side, or the credential was too old when it arrived; a missing
	 * permission gives ESLURM_ACCESS_DENIED */
	{SLURM_PROTOCOL_AUTHENTICATION_ERROR, Errc::again}, {ESLURM_AUTH_CRED_INVALID, Errc::again},

	/* sent, but not answered */
	{SLURMCTLD_COMMUNICATIONS_SEND_ERROR, Errc::io},
	{SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR, Errc::io},
	{SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR, Errc::io},
	{SLURM_COMMUNICATIONS_SEND_ERROR, Errc::io}, {SLURM_COMMUNICATIONS_RECEIVE_ERROR, Errc::io},
	{SLURM_COMMUNICATIONS_SHUTDOWN_ERROR, Errc::io},
	{SLURM_PROTOCOL_INSANE_MSG_LENGTH, Errc::io}, {ESLURM_PROTOCOL_INCOMPLETE_PACKET, Errc::io},
	{SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, Errc::io},
	{SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT, Errc::io},

	{SLURM_PROTOCOL_VERSION_ERROR, Errc::denied}, {ESLURM_ACCESS_DENIED, Errc::denied},
	{ESLURM_USER_ID_MISSING, Errc::denied}, {ESLURM_GROUP_ID_MISSING, Errc::denied},
	{ESLURM_AUTH_BADARG, Errc::denied}, {ESLURM_AUTH_UNPACK, Errc::denied},
	{EACCES, Errc::denied}, {EPERM, Errc::denied},

	{ESLURM_INVALID_JOB_ID, Errc::not_found}, {ESLURM_ALREADY_DONE, Errc::not_found},
	{ESLURM_INVALID_NODE_NAME, Errc::not_found},

	{ESLURM_DUPLICATE_JOB_ID, Errc::conflict},
	/* from the guard: an earlier submission for the pod is under way, or not all jobs are read
	 * yet */
	{ESLURM_TRANSITION_STATE_NO_UPDATE, Errc::conflict}, {ESLURM_NODES_BUSY, Errc::conflict},
	{ESLURM_INVALID_NODE_STATE, Errc::conflict}, {compat::k_node_exists, Errc::conflict},
	{compat::k_bad_node_transition, Errc::conflict}, {ESLURM_JOB_NOT_RUNNING, Errc::conflict},
	{EEXIST, Errc::conflict},

	/* SLURM_ERROR: a site's script refused (slurm.ERROR of job_submit.lua), or libslurm of
	 * 22.05 could not read the answer (slurm_receive_msg()) */
	{SLURM_UNEXPECTED_MSG_ERROR, Errc::internal}, {SLURM_ERROR, Errc::internal},
	{SLURM_SUCCESS, Errc::internal}, /* it failed without a reason */
};

} // namespace

Errc errc_of(int slurm_errno)
{
	const auto *row = std::find_if(std::begin(k_rows), std::end(k_rows),
		[slurm_errno](const Row &r) { return r.number == slurm_errno; });
	if (row != std::end(k_rows))
		return row->code;
	return slurm_errno < k_first_refusal ? Errc::io : Errc::invalid;
}

Error error_of(int slurm_errno)
{
	const char *text = slurm_strerror(slurm_errno);
	if (!text || slurm_errno == SLURM_SUCCESS)
		text = "Slurm gave no reason";
	return Error{errc_of(slurm_errno), text};
}

} // namespace slurmkube::slurm
