/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/manifests/policies.h"

namespace slurmkube::manifests
{

namespace
{

constexpr char k_policies_head[] = R"yaml(# SPDX-License-Identifier: GPL-2.0-or-later
#
# Admission policies: what the API server refuses by itself, without a webhook. Needs Kubernetes
# 1.30 or later. Install with: kubectl apply -f policies.yaml. Optional: without these policies the
# agent reports most of the same on the pod, but cannot prevent it.
#
#   slurm-kube-allocation  only the agent may write annotations allocation.slurm-kube.io/*, on pods
#                          and in the templates that controllers copy
#   slurm-kube-resize      pods of the scheduler @SCHEDULER@ cannot be resized, because their job
#                          has what they asked for
#   slurm-kube-scheduler   pods in namespaces with the label slurm-kube.io/managed=true run through
#                          Slurm and cannot choose their node; DaemonSets need the namespace label
#                          slurm-kube.io/daemonsets=allowed, too
#   slurm-kube-agent       the agent's account may delete and write pods of the scheduler
#                          @SCHEDULER@ only, whatever its role grants
#
# Printed by slurmkubed --print-policies for the scheduler_name in slurmkubed.yaml (@SCHEDULER@) and
# the service account in rbac.yaml; if your service account differs, change it here.
# policy-scheduler-name.yaml sets spec.schedulerName (1.36 and later), policy-options.yaml checks
# the options slurm-kube.io/*.
)yaml";

constexpr char k_policies[] = R"yaml(apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: slurm-kube-allocation
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [pods, pods/status, pods/binding, bindings, replicationcontrollers]
      scope: "*"
    - apiGroups: [apps]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [deployments, statefulsets, daemonsets, replicasets]
      scope: "*"
    - apiGroups: [batch]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [jobs, cronjobs]
      scope: "*"
  matchConditions:
  - name: not-the-agent
    expression: request.userInfo.username != 'system:serviceaccount:@NAMESPACE@:@ACCOUNT@'
  variables:
  - name: now
    expression: |-
      [object.?metadata.?annotations.orValue({}),
       object.?spec.?template.?metadata.?annotations.orValue({}),
       object.?spec.?jobTemplate.?metadata.?annotations.orValue({}),
       object.?spec.?jobTemplate.?spec.?template.?metadata.?annotations.orValue({})]
  - name: before
    expression: |-
      request.operation == 'CREATE' ? [{}, {}, {}, {}] :
      [oldObject.?metadata.?annotations.orValue({}),
       oldObject.?spec.?template.?metadata.?annotations.orValue({}),
       oldObject.?spec.?jobTemplate.?metadata.?annotations.orValue({}),
       oldObject.?spec.?jobTemplate.?spec.?template.?metadata.?annotations.orValue({})]
  validations:
  - expression: |-
      [0, 1, 2, 3].all(i,
        variables.now[i].all(k, !k.startsWith('allocation.slurm-kube.io/') ||
          (k in variables.before[i] && variables.before[i][k] == variables.now[i][k])) &&
        variables.before[i].all(k,
          !k.startsWith('allocation.slurm-kube.io/') || k in variables.now[i]))
    message: >-
      annotations allocation.slurm-kube.io/* are written by slurmkubed only;
      options begin with slurm-kube.io/
    reason: Forbidden
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: slurm-kube-allocation
spec:
  policyName: slurm-kube-allocation
  validationActions: [Deny]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: slurm-kube-resize
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [UPDATE]
      resources: [pods/resize]
      scope: "*"
  validations:
  - expression: "!(oldObject.spec.?schedulerName.orValue('') in ['@SCHEDULER@'@ALIASES@])"
    message: Slurm counts what this pod requests; delete it and create it with other requests
    reason: Forbidden
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: slurm-kube-resize
spec:
  policyName: slurm-kube-resize
  validationActions: [Deny]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: slurm-kube-scheduler
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [pods]
      scope: "*"
  matchConditions:
  - name: no-static-pods
    expression: "!request.userInfo.groups.exists(g, g == 'system:nodes')"
  variables:
  - name: daemon
    expression: |-
      request.userInfo.username == 'system:serviceaccount:kube-system:daemon-set-controller'
  - name: allowed
    expression: |-
      variables.daemon && 'slurm-kube.io/daemonsets' in namespaceObject.metadata.labels &&
      namespaceObject.metadata.labels['slurm-kube.io/daemonsets'] == 'allowed'
  validations:
  - expression: "!variables.daemon || variables.allowed"
    message: >-
      DaemonSets would use nodes beside Slurm: an administrator may allow them with the namespace's
      label slurm-kube.io/daemonsets=allowed
    reason: Forbidden
  - expression: variables.allowed || object.spec.?nodeName.orValue('') == ''
    message: "spec.nodeName: in this namespace Slurm chooses the node; leave it out"
    reason: Forbidden
  - expression: |-
      variables.allowed ||
      object.spec.?schedulerName.orValue('') in ['@SCHEDULER@'@ALIASES@]
    message: >-
      spec.schedulerName: pods of this namespace run through Slurm;
      write schedulerName: @SCHEDULER@
    reason: Forbidden
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: slurm-kube-scheduler
spec:
  policyName: slurm-kube-scheduler
  validationActions: [Deny]
  matchResources:
    namespaceSelector:
      matchLabels:
        slurm-kube.io/managed: "true"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: slurm-kube-agent
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [UPDATE, DELETE]
      resources: [pods, pods/status]
      scope: "*"
  matchConditions:
  - name: the-agent
    expression: request.userInfo.username == 'system:serviceaccount:@NAMESPACE@:@ACCOUNT@'
  validations:
  - expression: oldObject.spec.?schedulerName.orValue('') in ['@SCHEDULER@'@ALIASES@]
    message: slurmkubed may change and delete only pods that Slurm schedules
    reason: Forbidden
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: slurm-kube-agent
spec:
  policyName: slurm-kube-agent
  validationActions: [Deny]
)yaml";

constexpr char k_scheduler_name_head[] = R"yaml(# SPDX-License-Identifier: GPL-2.0-or-later
#
# Admission policy: pods that name no scheduler, in namespaces with the label
# slurm-kube.io/managed=true, get schedulerName: @SCHEDULER@. Pods of DaemonSets and static pods are
# left alone. Needs Kubernetes 1.36 or later. Install with:
# kubectl apply -f policy-scheduler-name.yaml. Printed by slurmkubed --print-scheduler-name-policy
# for the scheduler_name in slurmkubed.yaml.
)yaml";

constexpr char k_scheduler_name_policy[] = R"yaml(apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata:
  name: slurm-kube-scheduler
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [pods]
      scope: "*"
  matchConditions:
  - name: chosen-by-nobody
    expression: |-
      object.spec.?schedulerName.orValue('default-scheduler') == 'default-scheduler' &&
      object.spec.?nodeName.orValue('') == ''
  - name: neither-static-pods-nor-daemonsets
    expression: |-
      !request.userInfo.groups.exists(g, g == 'system:nodes') &&
      request.userInfo.username != 'system:serviceaccount:kube-system:daemon-set-controller'
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: "Object{spec: Object.spec{schedulerName: '@SCHEDULER@'}}"
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata:
  name: slurm-kube-scheduler
spec:
  policyName: slurm-kube-scheduler
  matchResources:
    namespaceSelector:
      matchLabels:
        slurm-kube.io/managed: "true"
)yaml";

} // namespace

std::string policy_objects(const Site &site)
{
	return fill_in(k_policies, site);
}

std::string scheduler_name_objects(const Site &site)
{
	return fill_in(k_scheduler_name_policy, site);
}

std::string policies(const Site &site)
{
	return fill_in(k_policies_head, site) + policy_objects(site);
}

std::string scheduler_name_policy(const Site &site)
{
	return fill_in(k_scheduler_name_head, site) + scheduler_name_objects(site);
}

} // namespace slurmkube::manifests
