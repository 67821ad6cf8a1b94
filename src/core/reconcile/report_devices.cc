/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conditions of pods that wait for devices of resource claims. */
#include "src/core/model/names.h"
#include "src/core/reconcile/report.h"
#include "src/core/reconcile/report_parts.h"

namespace slurmkube::core
{

Condition waiting_for_device(const SlurmJob &job, const std::string &node, const std::string &what)
{
	return {names::k_reason_device, job_text(job) + " has node " + node + "; " + what};
}

Condition waiting_for_devices(std::string trouble)
{
	return {names::k_reason_device, std::move(trouble)};
}

} // namespace slurmkube::core
