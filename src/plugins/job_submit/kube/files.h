/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.h - the files beside slurm.conf.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_FILES_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_FILES_H

#include <string>

namespace slurmkube::plugin
{

/* Its text; empty if there is none or it cannot be read. At most 8 MiB of it. Blocks on the disk: never under a lock. */
std::string read_conf_file(const char *name);

} // namespace slurmkube::plugin

#endif
