/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/manifests/flow_control.h"

namespace slurmkube::manifests
{

namespace
{

/*
 * Without these objects the agent shares the level workload-low with every service account of the
 * cluster. 20 shares beside the 245 of the built-in levels are 45 of an API server's 600 requests
 * at a time, more than limits.writes_in_flight (32) with lists and watches. The queue takes what
 * one agent can send: a fuller queue would refuse bindings.
 */
constexpr char k_objects[] = R"(apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata:
  name: slurm-kube
spec:
  type: Limited
  limited:
    nominalConcurrencyShares: 20
    lendablePercent: 50
    borrowingLimitPercent: 100
    limitResponse:
      type: Queue
      queuing:
        queues: 1
        handSize: 1
        queueLengthLimit: 128
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata:
  name: slurm-kube
spec:
  priorityLevelConfiguration:
    name: slurm-kube
  matchingPrecedence: 1000
  rules:
  - subjects:
    - kind: ServiceAccount
      serviceAccount:
        name: "@ACCOUNT@"
        namespace: "@NAMESPACE@"
    resourceRules:
    - apiGroups: ["*"]
      clusterScope: true
      namespaces: ["*"]
      resources: ["*"]
      verbs: ["*"]
    nonResourceRules:
    - nonResourceURLs: ["*"]
      verbs: ["*"]
)";

} // namespace

std::string flow_control(const Site &site)
{
	return fill_in(k_objects, site);
}

} // namespace slurmkube::manifests
