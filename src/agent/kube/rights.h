/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rights.h - the one list of what the agent asks of the API server.
 *
 * From it come etc/rbac.yaml (slurmkubed --print-rbac; a unit test compares) and what `skube check`
 * asks the server for. testsuite/e2e/test_rights.py compares it with the server's audit log:
 * nothing is done that does not stand here, and nothing stands here that is not done. /version is
 * read too; the built-in role system:public-info-viewer grants it to everybody.
 */
#ifndef SLURMKUBE_AGENT_KUBE_RIGHTS_H
#define SLURMKUBE_AGENT_KUBE_RIGHTS_H

#include <span>
#include <string>

namespace slurmkube::kube
{

struct NeededRight {
	const char *verb;
	const char *group;    /* "" is the core group */
	const char *resource; /* "pods" or "pods/binding" */
	const char *why;
};

/* Rows of one resource stand together. */
std::span<const NeededRight> needed_rights();

/* Namespace, ServiceAccount slurmkubed, ClusterRole and ClusterRoleBinding, as YAML. */
std::string rbac_manifest();

} // namespace slurmkube::kube

#endif
