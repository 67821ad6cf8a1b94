/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/rights.h"

#include <string_view>

namespace slurmkube::kube
{

namespace
{

constexpr NeededRight k_rights[] = {
    {"list", "", "pods", "all of our scheduler's"},
    {"watch", "", "pods", "their changes"},
    {"get", "", "pods", "one pod, after an unclear answer or a restart"},
    {"delete", "", "pods", "whose jobs Slurm has ended"},
    {"create", "", "pods/binding", "to the node that Slurm chose"},
    {"patch", "", "pods/status", "conditions: why a pod waits, why it is deleted"},
    {"list", "", "nodes", "their size and state"},
    {"watch", "", "nodes", "their changes"},
    {"get", "", "nodes", "one that has vanished: whether it lost its label or was deleted"},
    {"list", "", "persistentvolumeclaims", "once a pod of ours has one: which nodes it leaves"},
    {"watch", "", "persistentvolumeclaims", "their changes"},
    {"patch", "", "persistentvolumeclaims", "the node that Slurm chose, for claims that wait for it"},
    {"list", "", "persistentvolumes", "which nodes reach them"},
    {"watch", "", "persistentvolumes", "their changes"},
    {"patch", "", "persistentvolumes", "one on the node that Slurm chose is given to such a claim"},
    {"list", "storage.k8s.io", "storageclasses", "whether claims wait for a node"},
    {"watch", "storage.k8s.io", "storageclasses", "their changes"},
    {"list", "", "namespaces", "labels and annotations, for the rules of identity"},
    {"watch", "", "namespaces", "their changes"},
    {"get", "apps", "replicasets", "owners of pods: the options that they pass on"},
    {"get", "apps", "deployments", "the same"},
    {"get", "apps", "statefulsets", "the same"},
    {"get", "batch", "jobs", "the same, and how many pods start together"},
    {"get", "batch", "cronjobs", "options"},
    {"get", "jobset.x-k8s.io", "jobsets", "options, and how many pods start together"},
    {"get", "leaderworkerset.x-k8s.io", "leaderworkersets", "the same"},
    {"get", "scheduling.x-k8s.io", "podgroups", "the same"},
    {"get", "scheduling.k8s.io", "podgroups", "the same"},
    {"get", "kubeflow.org", "mpijobs", "the same"},
    {"get", "kubeflow.org", "pytorchjobs", "the same"},
    {"get", "trainer.kubeflow.org", "trainjobs", "options"},
    {"get", "ray.io", "rayclusters", "options, and how many pods start together"},
    {"get", "ray.io", "rayjobs", "options"},
    {"create", "events.k8s.io", "events", "what happened to pods; the server's clock"},
    {"create", "authorization.k8s.io", "selfsubjectaccessreviews", "skube check asks which of these rights it has"},
};

constexpr char k_head[] = R"(# SPDX-License-Identifier: GPL-2.0-or-later
#
# The least rights that slurmkubed works with: kubectl apply -f rbac.yaml. Made by slurmkubed --print-rbac from the list of what the agent does;
# do not edit. It cannot create pods, modify nodes or read secrets.
# For an agent outside the cluster, skube kubeconfig makes a kubeconfig with a token that the agent renews by itself.
apiVersion: v1
kind: Namespace
metadata:
  name: slurm-kube
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: slurmkubed
  namespace: slurm-kube
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: slurm-kube
rules:
)";

constexpr char k_tail[] = R"(---
# The agent renews its own token, and no other account's.
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: slurm-kube-token
  namespace: slurm-kube
rules:
- apiGroups: [""]
  resources: [serviceaccounts/token]
  resourceNames: [slurmkubed]
  verbs: [create]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: slurm-kube-token
  namespace: slurm-kube
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: slurm-kube-token
subjects:
- kind: ServiceAccount
  name: slurmkubed
  namespace: slurm-kube
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: slurm-kube
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: slurm-kube
subjects:
- kind: ServiceAccount
  name: slurmkubed
  namespace: slurm-kube
)";

bool is_same_resource(const NeededRight &a, const NeededRight &b)
{
	return std::string_view(a.group) == b.group && std::string_view(a.resource) == b.resource;
}

std::string rule_text(std::span<const NeededRight> rows)
{
	std::string why, verbs;
	for (const NeededRight &row : rows) {
		why += std::string("# ") + row.verb + ": " + row.why + "\n";
		verbs += (verbs.empty() ? "" : ", ") + std::string(row.verb);
	}
	return why + "- apiGroups: [\"" + rows.front().group + "\"]\n  resources: [" + rows.front().resource + "]\n  verbs: [" + verbs + "]\n";
}

} // namespace

std::span<const NeededRight> needed_rights()
{
	return k_rights;
}

std::string rbac_manifest()
{
	std::string text = k_head;
	const std::span<const NeededRight> all = k_rights;
	for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
		while (end < all.size() && is_same_resource(all[begin], all[end]))
			end++;
		text += rule_text(all.subspan(begin, end - begin));
	}
	return text + k_tail;
}

} // namespace slurmkube::kube
