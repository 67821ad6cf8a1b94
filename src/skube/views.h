/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * views.h - the agent's replies as text for people. Pure except for user names. The forms of the
 * replies are in doc/design/protocol.md section 3.
 */
#ifndef SLURMKUBE_SKUBE_VIEWS_H
#define SLURMKUBE_SKUBE_VIEWS_H

#include <json-c/json.h>

#include "src/skube/table.h"
#include <cstdint>

#include <string>

namespace slurmkube::skube
{

std::string ping_view(json_object *reply);
/* One line per check; below a failed check its remedy. */
std::string check_view(json_object *reply);
bool all_checks_passed(json_object *reply);

/* "about: text", with the texts in one column. */
std::string why_view(json_object *reply);
/* The contents of the file that slurm.conf includes. */
std::string slurm_conf_view(json_object *reply);
std::string topology_conf_view(json_object *reply);
std::string diag_view(json_object *reply);
std::string devices_view(json_object *reply);

/* The member stage_latencies of a reply. */
Table latencies_table(json_object *latencies);

/* The state of a job in the protocol, in the form of squeue and sacct. */
std::string job_state_text(const std::string &state);

/* "3:0" for a wait status, as in squeue's exit_code: exit code and signal. */
std::string exit_text(std::int64_t wait_status);

} // namespace slurmkube::skube

#endif
