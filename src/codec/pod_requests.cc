/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_requests.cc - effective requests, step by step as kube-scheduler's component-helpers have them (doc: KEP-753 sidecars, KEP-1287
 * resize, KEP-2837 pod level).
 */
#include "src/codec/amounts.h"
#include "src/codec/pod.h"

namespace slurmkube::codec
{

namespace
{

using core::Rounding;

json_object *status_of(json_object *pod, const char *list, const std::string &name)
{
	json_object *statuses = get(pod, "status", list);
	for (std::size_t i = 0; i < array_size(statuses); i++) {
		if (get_string(array_at(statuses, i), "name") == name)
			return array_at(statuses, i);
	}
	return nullptr;
}

/* A resize that can never be carried out must not count. */
bool resize_is_infeasible(json_object *pod)
{
	json_object *conditions = get(pod, "status", "conditions");
	for (std::size_t i = 0; i < array_size(conditions); i++) {
		json_object *condition = array_at(conditions, i);
		if (get_string(condition, "type") == "PodResizePending")
			return get_string(condition, "reason") == "Infeasible";
	}
	return false;
}

/* What the node has granted already, which a resize downwards gives back only later. */
Result<Amounts> granted(json_object *container_status)
{
	auto allocated = amounts_from_json(get(container_status, "allocatedResources"), Rounding::up);
	if (!allocated)
		return in_context("allocatedResources", allocated.error());
	const auto actual = amounts_from_json(get(container_status, "resources", "requests"), Rounding::up);
	if (!actual)
		return in_context("resources.requests", actual.error());
	raise(*allocated, *actual);
	return allocated;
}

Result<Amounts> container_requests(json_object *pod, json_object *container, const char *status_list)
{
	const std::string name = get_string(container, "name");
	auto asked = amounts_from_json(get(container, "resources", "requests"), Rounding::up);
	if (!asked)
		return in_context("container '" + name + "': resources.requests", asked.error());
	/* The API server fills in what is limited and not requested; in the templates of owners nobody has done that. */
	const auto limits = amounts_from_json(get(container, "resources", "limits"), Rounding::up);
	if (!limits)
		return in_context("container '" + name + "': resources.limits", limits.error());
	asked->insert(limits->begin(), limits->end());
	auto held = granted(status_of(pod, status_list, name));
	if (!held)
		return in_context("status of container '" + name + "'", held.error());
	if (!held->empty() && resize_is_infeasible(pod))
		return held;
	raise(*asked, *held);
	return asked;
}

/* The requests while the init containers run one by one (peak), and of the sidecars that stay (sidecars). */
struct Initialisation {
	Amounts peak, sidecars;
};

Result<Initialisation> initialisation(json_object *pod)
{
	Initialisation result;
	json_object *containers = get(pod, "spec", "initContainers");
	for (std::size_t i = 0; i < array_size(containers); i++) {
		json_object *container = array_at(containers, i);
		auto step = container_requests(pod, container, "initContainerStatuses");
		if (!step)
			return step.error();
		if (get_string(container, "restartPolicy") == "Always") {
			add(result.sidecars, *step);
			raise(result.peak, result.sidecars);
		} else {
			add(*step, result.sidecars);
			raise(result.peak, *step);
		}
	}
	return result;
}

Result<Amounts> containers_together(json_object *pod)
{
	Amounts total;
	json_object *containers = get(pod, "spec", "containers");
	for (std::size_t i = 0; i < array_size(containers); i++) {
		const auto one = container_requests(pod, array_at(containers, i), "containerStatuses");
		if (!one)
			return one.error();
		add(total, *one);
	}
	return total;
}

bool has_pod_level(const std::string &name)
{
	return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

Status apply_pod_level(Amounts &total, json_object *spec)
{
	const auto requests = amounts_from_json(get(spec, "resources", "requests"), Rounding::up);
	if (!requests)
		return in_context("spec.resources.requests", requests.error());
	for (const auto &[name, amount] : *requests) {
		if (has_pod_level(name))
			total[name] = amount;
	}
	/* As the API server fills in pods (defaultPodRequests); in templates nobody has: what containers request goes before the limit, but for hugepages. */
	const auto limits = amounts_from_json(get(spec, "resources", "limits"), Rounding::up);
	if (!limits)
		return in_context("spec.resources.limits", limits.error());
	for (const auto &[name, amount] : *limits) {
		const bool is_asked = requests->contains(name) || (total.contains(name) && !name.starts_with("hugepages-"));
		if (has_pod_level(name) && !is_asked)
			total[name] = amount;
	}
	return Ok{};
}

Status add_overhead(Amounts &total, json_object *spec)
{
	const auto overhead = amounts_from_json(get(spec, "overhead"), Rounding::up);
	if (!overhead)
		return in_context("spec.overhead", overhead.error());
	add(total, *overhead);
	return Ok{};
}

} // namespace

Result<core::Resources> effective_requests(json_object *pod)
{
	auto total = containers_together(pod);
	if (!total)
		return total.error();
	const auto init = initialisation(pod);
	if (!init)
		return init.error();
	add(*total, init.value().sidecars);
	raise(*total, init.value().peak);
	if (auto done = apply_pod_level(*total, get(pod, "spec")); !done)
		return done.error();
	if (auto done = add_overhead(*total, get(pod, "spec")); !done)
		return done.error();
	core::Resources resources = resources_of(*total);
	resources.pods = 1;
	return resources;
}

} // namespace slurmkube::codec
