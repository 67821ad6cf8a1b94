/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * site.h - what differs between sites in the objects of src/manifests.
 */
#ifndef SLURMKUBE_MANIFESTS_SITE_H
#define SLURMKUBE_MANIFESTS_SITE_H

#include "src/base/result.h"
#include "src/core/model/names.h"

#include <string>
#include <vector>

namespace slurmkube::manifests
{

/* Keys of slurmkubed.yaml that need rights of their own. */
struct RightsFor {
	bool report_drains = false; /* nodes.report_drains is true */
	bool devices = false;       /* there are rules in devices */
};

struct Site {
	std::string scheduler_name = names::k_default_scheduler_name;
	std::vector<std::string> scheduler_aliases = {};
	/* the agent's service account */
	std::string account_namespace = names::k_agent_namespace;
	std::string account = names::k_agent_account;
	RightsFor rights_for = {};
};

/* invalid: a name that the texts cannot take, because they do not escape it. */
Status check_site(const Site &site);

/* text with the names of the site instead of @SCHEDULER@, @NAMESPACE@ and @ACCOUNT@, and the
 * elements that a list of '@SCHEDULER@'@ALIASES@ needs. */
std::string fill_in(std::string text, const Site &site);

} // namespace slurmkube::manifests

#endif
