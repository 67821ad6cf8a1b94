/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/translate/translate.h"

#include "src/core/device/extended_resource.h"
#include "src/core/model/amounts.h"
#include "src/core/model/host_list.h"
#include "src/core/options/change.h"
#include "src/core/options/options.h"
#include "src/core/options/timelimit.h"
#include "src/core/options/values.h"
#include "src/core/policy/priority_classes.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* Slurm can give the devices of a claim only if it counts them. */
Status check_resource_claims(const Pod &pod, const Policy &policy, Pods pods)
{
	if (pod.resource_claims.empty())
		return Ok{};
	if (!policy.has_device_rules)
		return Error{Errc::invalid,
			"spec.resourceClaims is not supported without section devices in "
			"slurmkubed.yaml: remove it, or use another schedulerName"};
	/* what has its claim needs no class any more */
	const bool is_decided = !pod.node_name.empty() || pod.extended_claim;
	if (pods == Pods::gang && !is_decided && is_backing_unknown(pod))
		return Error{
			Errc::again, "DeviceClasses and devices of nodes have not been read yet"};
	return Ok{};
}

Status check_supported(const Pod &pod, const Policy &policy, Pods pods)
{
	if (const Status claims = check_resource_claims(pod, policy, pods); !claims)
		return claims;
	if (!pod.unsupported_fields.empty())
		return Error{Errc::invalid,
			pod.unsupported_fields.front() +
				" is not supported yet: remove it, or use another schedulerName"};
	return Ok{};
}

/* Adds the devices that the pod requests to those of its option gres. */
Status add_gres(const Pod &pod, const Policy &policy, JobSpec &spec)
{
	const auto requested = gres_of_pod(pod.requests, policy.gres);
	if (!requested)
		return requested.error();
	std::string &gres = spec.options.gres;
	for (const auto &[resource, amount] : pod.requests.extended) {
		const GresRule *rule = amount > 0 ? gres_rule(resource, policy.gres) : nullptr;
		if (rule && lists_gres(gres, rule->name))
			return Error{Errc::invalid,
				"option gres='" + gres + "' names " + rule->name +
					", which the pod requests as " + resource +
					": leave one of them out"};
	}
	gres += (gres.empty() || requested->empty() ? "" : ",") + *requested;
	return Ok{};
}

/* A year: more is no number that a script should compute with. */
constexpr std::int64_t k_grace_seconds_max = 365 * 86400;

std::string first_or_empty(const std::vector<std::string> &list)
{
	return list.empty() ? std::string() : list.front();
}

JobSpec with_defaults(
	const Pod &pod, const Policy &policy, const NamespaceRule &rule, std::uint32_t attempt)
{
	JobSpec spec;
	spec.marker = Marker{.cluster = policy.cluster,
		.name_space = pod.name_space,
		.name = pod.name,
		.kind = k_pod_kind,
		.uid = pod.uid.text,
		.attempt = attempt};
	spec.marker.cluster_uid = policy.cluster_uid;
	spec.name = pod.name;
	spec.comment = pod.name_space + "/" + pod.name;
	spec.partition =
		rule.partitions.empty() ? policy.default_partition : rule.partitions.front();
	spec.account = first_or_empty(rule.accounts);
	spec.qos = first_or_empty(rule.qos);
	spec.as_whom = as_whom(rule);
	spec.user = rule.user;
	spec.user_id = rule.user_id;
	spec.group_id = rule.group_id;
	spec.cpus = cpus_of(pod.requests, policy.cpu_unit);
	spec.memory_mib = memory_mib_of(pod.requests, policy.least_memory_mib);
	spec.time_limit_minutes = policy.default_time_limit_minutes;
	spec.grace_seconds = static_cast<std::uint32_t>(
		std::clamp<std::int64_t>(pod.termination_grace_seconds, 0, k_grace_seconds_max));
	if (pod.active_deadline_seconds > 0)
		spec.time_limit_minutes = minutes_of_deadline(pod.active_deadline_seconds);
	return spec;
}

/* Any author of a pod may name any PriorityClass, so it can only give a QOS that the namespace's
 * rule allows. Its nice value comes from the administrator and needs no permission. */
Status apply_priority_class(
	const Pod &pod, const Policy &policy, const NamespaceRule &rule, JobSpec &spec)
{
	const PriorityClassRule *found = rule_of_class(pod, policy);
	if (!found)
		return Ok{};
	if (found->nice != 0)
		spec.options.nice = found->nice;
	if (found->qos.empty())
		return Ok{};
	const Status chosen = choose(found->qos, rule.qos, spec.qos);
	return chosen ? chosen
		      : Status(in_context("priorityClassName '" + pod.priority_class +
					"' means QOS '" + found->qos + "'",
				chosen.error()));
}

Error native_job_of_gang()
{
	return {Errc::invalid,
		"option job is for pods that start alone: annotate their owner with "
		"slurm-kube.io/gang: \"false\", or leave option job out"};
}

std::size_t count_of_hosts(const std::string &list)
{
	const auto names = expand_hosts(list);
	return names ? names->size() : 0;
}

} // namespace

Status check_constraints(const Pod &pod, const Policy &policy)
{
	if (const Status supported = check_supported(pod, policy, Pods::gang); !supported)
		return supported;
	const auto gres = gres_of_pod(pod.requests, policy.gres);
	return gres ? Status(Ok{}) : Status(gres.error());
}

Result<JobSpec> translate(const Pod &pod, const Policy &policy, std::uint32_t attempt, Pods pods)
{
	const Result<NamespaceRule> rule = policy.rule_of(pod.name_space);
	if (!rule)
		return rule.error();
	const Status supported = check_supported(pod, policy, pods);
	if (!supported)
		return supported.error();
	JobSpec spec = with_defaults(pod, policy, *rule, attempt);
	if (const Status ranked = apply_priority_class(pod, policy, *rule, spec); !ranked)
		return ranked.error();
	const JobSpec plain = spec;
	const Status applied =
		apply_options(pod.annotations, {.policy = policy, .rule = *rule, .pod = pod}, spec);
	if (!applied)
		return applied.error();
	const std::string per_node = spec.options.gres;
	if (const Status added = add_gres(pod, policy, spec); !added)
		return added.error();
	if (pods == Pods::gang && spec.options.native_job > 0)
		return native_job_of_gang();
	if (pods == Pods::gang)
		/* devices that the pods request are requested per task */
		spec.options.gres = per_node;
	const std::string &required = spec.options.required_nodes;
	if (const std::size_t count =
			pods == Pods::one && !required.empty() ? count_of_hosts(required) : 1;
		count > 1)
		return Error{Errc::invalid,
			"required-nodes '" + required.substr(0, 64) + "' names " +
				std::to_string(count) +
				" nodes, and one pod runs on one: name one, or give "
				"excluded-nodes"};
	if (pods == Pods::one && spec.options.min_nodes.value_or(1) > 1)
		return Error{Errc::invalid,
			"min-nodes " + std::to_string(*spec.options.min_nodes) +
				": one pod runs on one node; leave it out"};
	spec.marker.options = options_mark(pod, plain, spec);
	return spec;
}

} // namespace slurmkube::core
