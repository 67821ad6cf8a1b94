/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/owner.h"

#include "src/codec/pod.h"
#include "src/core/gang/components.h"
#include "src/core/options/options.h"

#include <algorithm>

namespace slurmkube::codec
{

namespace
{

using core::Owner;
using core::Role;

constexpr std::size_t k_roles_max = 1000;

std::uint32_t count(json_object *object, const char *key, std::int64_t fallback)
{
	return static_cast<std::uint32_t>(std::clamp<std::int64_t>(
		get_int(object, key, fallback), 0, core::k_gang_pods_max + 1));
}

std::uint32_t product(std::uint32_t a, std::uint32_t b)
{
	return static_cast<std::uint32_t>(
		std::min<std::uint64_t>(std::uint64_t{a} * b, core::k_gang_pods_max + 1));
}

/* Kubeflow has the field in spec.runPolicy, other kinds in spec. */
bool is_suspended(json_object *object)
{
	return get_bool(get(object, "spec"), "suspend") ||
		get_bool(get(object, "spec", "runPolicy"), "suspend");
}

bool has_condition(json_object *object, std::initializer_list<const char *> types)
{
	json_object *conditions = get(object, "status", "conditions");
	for (std::size_t i = 0; i < array_size(conditions); i++) {
		const std::string type = get_string(array_at(conditions, i), "type");
		if (get_string(array_at(conditions, i), "status") == "True" &&
			std::ranges::find(types, type) != types.end())
			return true;
	}
	return false;
}

using Labels = std::map<std::string, std::string>;

/* labels: the labels that the controller adds to the pods of the role. deadline: of the Jobs that
 * the controller creates for the role. */
Status add_role(Owner &owner, Role role, json_object *pod_template, const Labels &labels,
	std::int64_t deadline = 0)
{
	if (role.pods == 0)
		return Ok{};
	if (owner.roles.size() >= k_roles_max)
		return Error{
			Errc::invalid, "more than " + std::to_string(k_roles_max) + " templates"};
	auto pod = pod_from_template(pod_template, owner.id.name_space);
	if (!pod)
		return in_context("template '" + role.name + "'", pod.error());
	role.each = pod->requests;
	pod->active_deadline_seconds =
		core::earlier_deadline(pod->active_deadline_seconds, deadline);
	for (const auto &[key, value] : labels)
		pod->labels.insert_or_assign(key, value);
	role.pod_template = std::make_shared<const core::Pod>(std::move(*pod));
	owner.roles.push_back(std::move(role));
	return Ok{};
}

/* ---- kinds ---- */

struct JobSize {
	std::uint32_t at_once = 1;
	bool is_fixed = false; /* each index has one pod, and all of them may run at once */
};

JobSize job_size(json_object *spec)
{
	const std::uint32_t parallelism = count(spec, "parallelism", 1),
			    completions = count(spec, "completions", parallelism);
	return {std::min(parallelism, completions),
		get_string(spec, "completionMode") == "Indexed" && completions == parallelism};
}

Status take_job(Owner &owner, json_object *object)
{
	json_object *spec = get(object, "spec");
	const JobSize size = job_size(spec);
	owner.starts_together = size.is_fixed && size.at_once > 1;
	if (auto done = add_role(owner, {.name = "", .pods = size.at_once, .each = {}},
		    get(spec, "template"), {});
		!done)
		return done;
	/* not needed, because a gang of a Job always has a pod of its only role, and a cluster may
	 * have thousands of Jobs */
	for (Role &role : owner.roles)
		role.pod_template = nullptr;
	return Ok{};
}

/* Roles that wait for other roles to complete never run at the same time as these. */
std::uint32_t stage_after(const Owner &owner, json_object *depends_on)
{
	std::uint32_t stage = 0;
	for (std::size_t i = 0; i < array_size(depends_on); i++) {
		json_object *one = array_at(depends_on, i);
		const auto role =
			std::ranges::find(owner.roles, get_string(one, "name"), &Role::name);
		if (role != owner.roles.end())
			stage = std::max(stage,
				role->stage + (get_string(one, "status") == "Complete" ? 1 : 0));
	}
	return stage;
}

Status take_job_set(Owner &owner, json_object *object)
{
	json_object *jobs = get(object, "spec", "replicatedJobs");
	owner.starts_together = true;
	for (std::size_t i = 0; i < array_size(jobs); i++) {
		json_object *one = array_at(jobs, i), *spec = get(one, "template", "spec");
		const std::uint32_t at_once = job_size(spec).at_once;
		const std::uint32_t stage = stage_after(owner, get(one, "dependsOn"));
		Role role{.name = get_string(one, "name"),
			.pods = product(count(one, "replicas", 1), at_once),
			.pods_per_job = at_once,
			.stage = stage,
			.each = {}};
		const Labels labels = {{"jobset.sigs.k8s.io/jobset-name", owner.id.name},
			{"jobset.sigs.k8s.io/replicatedjob-name", role.name}};
		if (auto done = add_role(owner, std::move(role), get(spec, "template"), labels,
			    get_int(spec, "activeDeadlineSeconds"));
			!done)
			return done;
	}
	return Ok{};
}

Status take_leader_worker_set(Owner &owner, json_object *object)
{
	json_object *sizes = get(object, "spec", "leaderWorkerTemplate");
	json_object *worker = get(sizes, "workerTemplate"), *leader = get(sizes, "leaderTemplate");
	const std::uint32_t size = std::max(count(sizes, "size", 1), 1U);
	const Labels labels = {{"leaderworkerset.sigs.k8s.io/name", owner.id.name}};
	owner.starts_together = size > 1;
	owner.replaces_single_pods = get_string(sizes, "restartPolicy") == "None";
	if (auto done = add_role(owner, {.name = "leader", .pods = 1, .each = {}},
		    leader ? leader : worker, labels);
		!done)
		return done;
	return add_role(owner, {.name = "worker", .pods = size - 1, .each = {}}, worker, labels);
}

/* The older kind has spec.minMember. The built-in kind has a policy, and only with the policy gang
 * do its pods start together. */
Status take_pod_group(Owner &owner, json_object *object)
{
	json_object *gang = get(object, "spec", "schedulingPolicy", "gang");
	owner.minimum =
		gang ? count(gang, "minCount", 1) : count(get(object, "spec"), "minMember", 0);
	owner.starts_together = owner.minimum > 1;
	return Ok{};
}

bool leads(std::string_view role)
{
	return role == "Launcher" || role == "Master" || role == "Chief";
}

Status take_replica_specs(Owner &owner, json_object *specs)
{
	if (!json_object_is_type(specs, json_type_object))
		return Ok{};
	for (const bool leaders : {true, false}) {
		json_object_object_foreach(specs, name, one)
		{
			if (leads(name) != leaders)
				continue;
			const Labels labels = {{"training.kubeflow.org/job-name", owner.id.name}};
			if (auto done = add_role(owner,
				    {.name = name, .pods = count(one, "replicas", 1), .each = {}},
				    get(one, "template"), labels);
				!done)
				return done;
		}
	}
	return Ok{};
}

/* spec.mpiReplicaSpecs, spec.pytorchReplicaSpecs */
Status take_kubeflow(Owner &owner, json_object *object)
{
	json_object *spec = get(object, "spec");
	if (!json_object_is_type(spec, json_type_object))
		return Ok{};
	json_object_object_foreach(spec, key, value)
	{
		if (!std::string_view(key).ends_with("ReplicaSpecs"))
			continue;
		if (auto done = take_replica_specs(owner, value); !done)
			return done;
	}
	std::uint32_t pods = 0;
	/* with it the launcher has index 0, and Worker 0 has index 1 */
	const bool launcher_works = get_bool(spec, "runLauncherAsWorker");
	for (Role &role : owner.roles) {
		pods += role.pods;
		role.first_index = launcher_works && role.name == "Worker" ? 1 : 0;
	}
	owner.starts_together = pods > 1;
	return Ok{};
}

Labels ray_labels(const Owner &owner, const char *type, const std::string &group)
{
	return {{"ray.io/cluster", owner.id.name}, {"ray.io/node-type", type},
		{"ray.io/group", group}};
}

/* As KubeRay counts them. With autoscaling the autoscaler decides about replicas beyond the
 * minimum, and these run alone. */
std::uint32_t ray_replicas(json_object *group, bool scales)
{
	if (get_bool(group, "suspend"))
		return 0;
	const std::uint32_t least = count(group, "minReplicas", 0),
			    most = count(group, "maxReplicas", core::k_gang_pods_max + 1);
	return scales
		? least
		: std::min(std::max(count(group, "replicas", least), least), std::max(most, least));
}

Status take_ray_cluster(Owner &owner, json_object *object)
{
	json_object *spec = get(object, "spec"), *groups = get(spec, "workerGroupSpecs");
	owner.starts_together = array_size(groups) > 0;
	if (auto done = add_role(owner, {.name = "head", .pods = 1, .each = {}},
		    get(spec, "headGroupSpec", "template"), ray_labels(owner, "head", "headgroup"));
		!done)
		return done;
	const bool scales = get_bool(spec, "enableInTreeAutoscaling");
	for (std::size_t i = 0; i < array_size(groups); i++) {
		json_object *group = array_at(groups, i);
		const std::uint32_t hosts = std::max(count(group, "numOfHosts", 1), 1U);
		const std::uint32_t replicas = ray_replicas(group, scales);
		Role role{.name = get_string(group, "groupName"),
			.pods = product(replicas, hosts),
			.pods_per_job = hosts,
			.each = {}};
		const Labels labels = ray_labels(owner, "worker", role.name);
		if (auto done = add_role(owner, std::move(role), get(group, "template"), labels);
			!done)
			return done;
	}
	return Ok{};
}

Status take_workload(Owner &owner, json_object *object)
{
	const struct {
		const char *kind;
		Status (*take)(Owner &, json_object *);
	} kinds[] = {{"Job", take_job}, {"JobSet", take_job_set},
		{"LeaderWorkerSet", take_leader_worker_set}, {"PodGroup", take_pod_group},
		{"MPIJob", take_kubeflow}, {"PyTorchJob", take_kubeflow},
		{"RayCluster", take_ray_cluster}};
	for (const auto &one : kinds) {
		if (owner.id.kind == one.kind)
			return one.take(owner, object);
	}
	return Ok{};
}

/* Other kinds have their deadline in the pod template. */
std::int64_t deadline_of(const std::string &kind, json_object *object)
{
	json_object *spec = get(object, "spec");
	const bool is_job = kind == "Job" || kind == "RayJob";
	return std::max<std::int64_t>(
		get_int(is_job ? spec : get(spec, "runPolicy"), "activeDeadlineSeconds"), 0);
}

} // namespace

Result<Owner> owner_from_json(json_object *object)
{
	Owner owner;
	json_object *metadata = get(object, "metadata");
	owner.id = {get_string(object, "apiVersion"), get_string(object, "kind"),
		get_string(metadata, "namespace"), get_string(metadata, "name")};
	owner.uid = get_string(metadata, "uid");
	if (owner.id.kind.empty() || owner.id.name.empty() || owner.uid.empty())
		return Error{Errc::invalid, "no object with kind, name and uid"};
	/* component keys are made from the uid and this character */
	if (owner.uid.find(core::k_component_mark) != std::string::npos)
		return Error{Errc::invalid, "its uid '" + owner.uid + "' is none"};
	owner.controller = controller_of(get(metadata, "ownerReferences"));
	owner.annotations = get_strings(get(metadata, "annotations"), core::is_option_key);
	owner.has_succeeded =
		has_condition(object, {"Complete", "Completed", "Succeeded", "SuccessCriteriaMet"});
	owner.is_finished = owner.has_succeeded || has_condition(object, {"Failed"}) ||
		is_suspended(object) || get(metadata, "deletionTimestamp") != nullptr;
	owner.deadline_seconds = deadline_of(owner.id.kind, object);
	if (auto done = take_workload(owner, object); !done)
		return in_context(owner.id.kind + " " + owner.id.name, done.error());
	return owner;
}

} // namespace slurmkube::codec
