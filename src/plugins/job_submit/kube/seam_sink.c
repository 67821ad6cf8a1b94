/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seam_sink.c - answers the message "end this job" for nodes without slurmd.
 *
 * slurmctld sends it to each node of a job that ends. Without an answer it logs an error, marks the
 * node as not responding for a moment, and sends the message again later. The answer is true: the
 * message has arrived, and the keeper completes the epilog. Other messages (launches, signals) must
 * not be answered with success, because nothing is done about them.
 */
#include "src/plugins/job_submit/kube/seam.h"

#include "src/common/slurm_protocol_api.h"

static uint32_t number_at(const unsigned char *bytes, int count)
{
	uint32_t number = 0;

	for (int i = 0; i < count; i++)
		number = number << 8 | bytes[i];
	return number;
}

static bool ends_a_job(uint16_t type)
{
	return type == REQUEST_TERMINATE_JOB || type == REQUEST_ABORT_JOB ||
		type == REQUEST_KILL_TIMELIMIT || type == REQUEST_KILL_PREEMPTED;
}

/* The length (4 bytes), then the header as in pack_header() since 22.05: version, flags, type (2
 * each), length of the body (4), number of nodes to forward to (2). */
uint32_t kube_seam_answerable(const unsigned char *head)
{
	enum { AT_LENGTH = 0, AT_VERSION = 4, AT_TYPE = 8, AT_FORWARD = 14, LONGEST = 64 * 1024 };
	uint32_t length = number_at(head + AT_LENGTH, 4);

	/* an answer would return a node that was set DOWN to service (node_did_resp() in
	 * node_mgr.c) */
	if (slurm_conf.ret2service == 2)
		return 0;
	if (KUBE_SLURM_HAS_EXTERNAL_NODES(SLURM_VERSION_NUMBER) ||
		number_at(head + AT_VERSION, 2) != SLURM_PROTOCOL_VERSION ||
		!ends_a_job((uint16_t)number_at(head + AT_TYPE, 2)))
		return 0;
	/* the other nodes want answers too: without ours, Slurm sends to each of them itself */
	if (number_at(head + AT_FORWARD, 2))
		return 0;
	return length > LONGEST ? 0 : length + 4;
}

bool kube_seam_answer(int fd)
{
#if !KUBE_SLURM_HAS_EXTERNAL_NODES(SLURM_VERSION_NUMBER)
	slurm_msg_t message;
	bool is_theirs;

	if (kube_is_shutting_down())
		return true;
	slurm_msg_t_init(&message);
	is_theirs = slurm_receive_msg(fd, &message, 0) == SLURM_SUCCESS &&
		message.auth_uid == slurm_conf.slurm_user_id;
	if (is_theirs)
		/* if this fails, the effect is the same as without an answer */
		(void)slurm_send_rc_msg(&message, SLURM_SUCCESS);
	slurm_free_msg_members(&message);
	return is_theirs;
#else
	(void)fd;
	return true;
#endif
}
