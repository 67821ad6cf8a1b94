/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * forge.c - asks for an allocation with an admin_comment, which no command of Slurm lets a user do,
 * but libslurm does.
 *
 * usage: forge PARTITION ADMIN_COMMENT     prints "job NUMBER", or "refused" with status 1 */
#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	resource_allocation_response_msg_t *reply = NULL;
	job_desc_msg_t job;

	if (argc != 3)
		return 2;
	slurm_init(NULL);
	slurm_init_job_desc_msg(&job);
	job.name = "forged";
	job.partition = argv[1];
	job.admin_comment = argv[2][0] ? argv[2] : NULL;
	job.user_id = getuid();
	job.group_id = getgid();
	job.min_nodes = 1;
	job.num_tasks = 1;
	job.work_dir = "/";
	job.alloc_node = "localhost";
	if (slurm_allocate_resources(&job, &reply) != SLURM_SUCCESS) {
		printf("refused: %s\n", slurm_strerror(errno));
		return 1;
	}
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
	printf("job %u\n", reply->step_id.job_id);
#else
	printf("job %u\n", reply->job_id);
#endif
	slurm_free_resource_allocation_response_msg(reply);
	return 0;
}
