/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.h - files beside slurm.conf, and the plugin's files beside slurmctld's state.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_FILES_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_FILES_H

#include <string>
#include <string_view>

namespace slurmkube::plugin
{

/* Reads and writes a file of the plugin in StateSaveLocation. Both functions block on the disk:
 * never call them under a lock. */
std::string read_state_file(const char *name);
/* Atomic if slurmctld crashes, but not if the machine does. False: the file was not written. */
bool write_state_file(const char *name, std::string_view text);

/* The text of the file, at most 8 MiB; empty if there is no file or it cannot be read. Blocks on
 * the disk: never call this under a lock. */
std::string read_conf_file(const char *name);
/* Why the file cannot be read although it is there; empty: it can, or it is not there. */
std::string conf_file_trouble(const char *name);

} // namespace slurmkube::plugin

#endif
