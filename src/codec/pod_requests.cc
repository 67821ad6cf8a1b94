/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_requests.cc - effective requests, computed in the same steps as in kube-scheduler's
 * component-helpers (KEP-753 sidecars, KEP-1287 resize, KEP-2837 pod level).
 */
#include "src/codec/amounts.h"
#include "src/codec/pod.h"

namespace slurmkube::codec
{

namespace
{

using core::Rounding;

using PodView = View<schema::k_pod>;
using SpecView = View<schema::k_spec>;
using ContainerStatusView = View<schema::k_container_status>;
using Statuses = Views<schema::k_container_status>;

ContainerStatusView status_of(Statuses statuses, const std::string &name)
{
	for (const ContainerStatusView status : statuses) {
		if (status.text<"name">() == name)
			return status;
	}
	return nullptr;
}

/* A resize that is Infeasible must not count, because it is never carried out. */
bool resize_is_infeasible(PodView pod)
{
	for (const auto condition : pod.object<"status">().objects<"conditions">()) {
		if (condition.text<"type">() == "PodResizePending")
			return condition.text<"reason">() == "Infeasible";
	}
	return false;
}

/* What the node has allocated to the container. A resize to less frees it only later. */
Result<Amounts> granted(ContainerStatusView status)
{
	auto allocated = amounts_from_json(status.values<"allocatedResources">(), Rounding::up);
	if (!allocated)
		return in_context("allocatedResources", allocated.error());
	const auto actual =
		amounts_from_json(status.object<"resources">().values<"requests">(), Rounding::up);
	if (!actual)
		return in_context("resources.requests", actual.error());
	raise(*allocated, *actual);
	return allocated;
}

Result<Amounts> container_requests(
	PodView pod, View<schema::k_container> container, Statuses statuses)
{
	const std::string name = container.text<"name">();
	auto asked = amounts_from_json(
		container.object<"resources">().values<"requests">(), Rounding::up);
	if (!asked)
		return in_context("container '" + name + "': resources.requests", asked.error());
	/* A missing request is the limit. The API server fills it in for pods, but not in the
	 * templates of owners. */
	const auto limits =
		amounts_from_json(container.object<"resources">().values<"limits">(), Rounding::up);
	if (!limits)
		return in_context("container '" + name + "': resources.limits", limits.error());
	asked->insert(limits->begin(), limits->end());
	auto held = granted(status_of(statuses, name));
	if (!held)
		return in_context("status of container '" + name + "'", held.error());
	if (!held->empty() && resize_is_infeasible(pod))
		return held;
	raise(*asked, *held);
	return asked;
}

/* peak: the largest requests while the init containers run one by one. sidecars: the requests of
 * the init containers that keep running. */
struct Initialisation {
	Amounts peak, sidecars;
};

Result<Initialisation> initialisation(PodView pod)
{
	Initialisation result;
	const auto statuses = pod.object<"status">().objects<"initContainerStatuses">();
	for (const auto container : pod.object<"spec">().objects<"initContainers">()) {
		auto step = container_requests(pod, container, statuses);
		if (!step)
			return step.error();
		if (container.text<"restartPolicy">() == "Always") {
			add(result.sidecars, *step);
			raise(result.peak, result.sidecars);
		} else {
			add(*step, result.sidecars);
			raise(result.peak, *step);
		}
	}
	return result;
}

Result<Amounts> containers_together(PodView pod)
{
	Amounts total;
	const auto statuses = pod.object<"status">().objects<"containerStatuses">();
	for (const auto container : pod.object<"spec">().objects<"containers">()) {
		const auto one = container_requests(pod, container, statuses);
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

Status apply_pod_level(Amounts &total, SpecView spec)
{
	const auto requests =
		amounts_from_json(spec.object<"resources">().values<"requests">(), Rounding::up);
	if (!requests)
		return in_context("spec.resources.requests", requests.error());
	for (const auto &[name, amount] : *requests) {
		if (has_pod_level(name))
			total[name] = amount;
	}
	/* A limit at pod level counts where the pod has no request for the resource, unless its
	 * containers request it; for hugepages the limit counts even then. The API server fills
	 * this in for pods (defaultPodRequests), but not in templates. */
	const auto limits =
		amounts_from_json(spec.object<"resources">().values<"limits">(), Rounding::up);
	if (!limits)
		return in_context("spec.resources.limits", limits.error());
	for (const auto &[name, amount] : *limits) {
		const bool is_asked = requests->contains(name) ||
			(total.contains(name) && !name.starts_with("hugepages-"));
		if (has_pod_level(name) && !is_asked)
			total[name] = amount;
	}
	return Ok{};
}

Status add_overhead(Amounts &total, SpecView spec)
{
	const auto overhead = amounts_from_json(spec.values<"overhead">(), Rounding::up);
	if (!overhead)
		return in_context("spec.overhead", overhead.error());
	add(total, *overhead);
	return Ok{};
}

} // namespace

Result<core::Resources> effective_requests(PodView pod)
{
	auto total = containers_together(pod);
	if (!total)
		return total.error();
	const auto init = initialisation(pod);
	if (!init)
		return init.error();
	add(*total, init.value().sidecars);
	raise(*total, init.value().peak);
	if (auto done = apply_pod_level(*total, pod.object<"spec">()); !done)
		return done.error();
	if (auto done = add_overhead(*total, pod.object<"spec">()); !done)
		return done.error();
	core::Resources resources = resources_of(*total);
	resources.pods = 1;
	return resources;
}

} // namespace slurmkube::codec
