/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rights.h - the list of the rights that the agent needs at the API server.
 *
 * etc/rbac.yaml (slurmkubed --print-rbac; a unit test compares) and the questions of `skube check`
 * are made from the list. testsuite/e2e/test_rights.py compares it with the server's audit log: the
 * agent uses every right in the list, and no other. The agent also reads /version, which the
 * built-in role system:public-info-viewer grants to everyone.
 */
#ifndef SLURMKUBE_MANIFESTS_RIGHTS_H
#define SLURMKUBE_MANIFESTS_RIGHTS_H

#include "src/manifests/site.h"

#include <string>
#include <vector>

namespace slurmkube::manifests
{

struct NeededRight {
	const char *verb;
	const char *group;    /* "" is the core group */
	const char *resource; /* "pods" or "pods/binding" */
	const char *why;
	bool in_own_namespace = false; /* only in the namespace of the agent's account */
};

/* Rows of the same resource are adjacent. */
std::vector<NeededRight> needed_rights(const RightsFor &keys);

/* Namespace, ServiceAccount, the roles and their bindings, as YAML. */
std::string rights(const Site &site);

/* etc/rbac.yaml: the same for the default account, with a comment at the top. */
std::string rbac_manifest();

} // namespace slurmkube::manifests

#endif
