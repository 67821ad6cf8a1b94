/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/option_policy.h"

#include <algorithm>
#include <map>
#include <vector>

namespace slurmkube::kube
{

namespace
{

constexpr char k_head[] = R"(# SPDX-License-Identifier: GPL-2.0-or-later
#
# Options slurm-kube.io/* on pods, and in what makes pods: unknown ones and values that no option of its kind has are refused at kubectl apply
# (Kubernetes 1.30 and later): kubectl apply -f policy-options.yaml. Made by slurmkubed --print-options-policy from the table of options; do not edit.
# What is not changed by a request is not looked at, so objects from before the policy can still be worked with.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: slurm-kube-options
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [pods, replicationcontrollers]
    - apiGroups: [apps]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [deployments, statefulsets, daemonsets, replicasets]
    - apiGroups: [batch]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [jobs, cronjobs]
  variables:
  - name: now
    expression: >-
      [object.?metadata.?annotations.orValue({}),
       object.?spec.?template.?metadata.?annotations.orValue({}),
       object.?spec.?jobTemplate.?metadata.?annotations.orValue({}),
       object.?spec.?jobTemplate.?spec.?template.?metadata.?annotations.orValue({})]
  - name: before
    expression: >-
      request.operation == 'CREATE' ? [{}, {}, {}, {}] :
      [oldObject.?metadata.?annotations.orValue({}),
       oldObject.?spec.?template.?metadata.?annotations.orValue({}),
       oldObject.?spec.?jobTemplate.?metadata.?annotations.orValue({}),
       oldObject.?spec.?jobTemplate.?spec.?template.?metadata.?annotations.orValue({})]
)";

constexpr char k_tail[] = R"(---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: slurm-kube-options
spec:
  policyName: slurm-kube-options
  validationActions: [Deny]
)";

constexpr char k_time[] = "([0-9]{1,8}-)?[0-9]{1,8}(:[0-9]{1,8}){0,2}";

bool is_words(std::string_view takes)
{
	return takes.find('|') != std::string_view::npos &&
	       std::all_of(takes.begin(), takes.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '|'; });
}

/* "timelimit=5" of every annotation that the request sets or changes, of the object and of the templates in it. */
std::string changed_options()
{
	std::string all;
	for (const char *i : {"0", "1", "2", "3"}) {
		const std::string now = std::string("variables.now[") + i + "]", before = std::string("variables.before[") + i + "]";
		all += std::string("      ") + (all.empty() ? "" : "+ ") + now + ".filter(k, k.startsWith('slurm-kube.io/') && !(k in " + before + " && " + before + "[k] == " + now +
		       "[k]))\n        .map(k, k.substring(14) + '=' + " + now + "[k])\n";
	}
	return "  - name: options\n    expression: >-\n" + all;
}

std::string list_of(const std::vector<std::string> &names)
{
	std::string all;
	for (const std::string &name : names)
		all += (all.empty() ? "'" : ", '") + name + "'";
	return "[" + all + "]";
}

std::string validation(const std::string &wrong, const std::string &message)
{
	return "  - expression: >-\n      !variables.options.exists(o, " + wrong + ")\n    messageExpression: >-\n      'annotation slurm-kube.io/' + variables.options.filter(o, " + wrong +
	       ")[0] + '" + message + "'\n    message: an option slurm-kube.io/* is not right\n    reason: Invalid\n";
}

/* Options whose values are of one kind share a check. */
struct Kind {
	std::string takes;
	std::vector<std::string> names;
};

std::map<std::string, Kind> kinds_by_pattern()
{
	std::map<std::string, Kind> kinds;
	for (const core::Option &option : core::options()) {
		const std::string pattern = value_pattern(option);
		if (pattern.empty())
			continue;
		Kind &kind = kinds[pattern];
		kind.takes = option.takes;
		kind.names.emplace_back(option.name);
	}
	return kinds;
}

} // namespace

std::string value_pattern(const core::Option &option)
{
	const std::string takes(option.takes);
	if (takes == "true|false")
		return "^(true|false|yes|no|1|0|)$";
	if (is_words(takes))
		return "^(" + takes + "|)$";
	if (takes == "COUNT")
		return "^[0-9]{1,10}$";
	if (takes == "NUMBER")
		return "^-?[0-9]{1,10}$";
	if (takes.starts_with("MINUTES"))
		return std::string("^(UNLIMITED|unlimited|INFINITE|infinite|") + k_time + ")$";
	if (takes == "COUNT[@MINUTES]")
		return std::string("^[0-9]{1,10}(@(UNLIMITED|unlimited|INFINITE|infinite|") + k_time + "))?$";
	return {};
}

std::string options_policy()
{
	std::vector<std::string> known = {"sbatch"};
	for (const core::Option &option : core::options())
		known.emplace_back(option.name);
	std::string text = k_head + changed_options() + "  validations:\n";
	text += validation("!(o.split('=')[0] in " + list_of(known) + ")", ": unknown option; skube explain options lists all");
	for (const auto &[pattern, kind] : kinds_by_pattern())
		text += validation("o.split('=')[0] in " + list_of(kind.names) + " && !o.substring(o.indexOf('=') + 1).matches('" + pattern + "')", ": must be " + kind.takes);
	return text + k_tail;
}

} // namespace slurmkube::kube
