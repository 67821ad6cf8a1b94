/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.h - the files beside slurm.conf, and ours beside slurmctld's state.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_FILES_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_FILES_H

#include <string>
#include <string_view>

namespace slurmkube::plugin
{

/* A file of ours in StateSaveLocation. Both block on the disk: never under a lock. */
std::string read_state_file(const char *name);
/* Whole or not at all, as far as a crash of slurmctld goes. False: not written. */
bool write_state_file(const char *name, std::string_view text);

/* Its text; empty if there is none or it cannot be read. At most 8 MiB of it. Blocks on the disk:
 * never under a lock. */
std::string read_conf_file(const char *name);

} // namespace slurmkube::plugin

#endif
