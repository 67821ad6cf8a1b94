/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What writes.h promises for requests to the API server, on the models. */
#include "src/core/model/outcome.h"
#include "testsuite/sim/sides.h"

namespace slurmkube::sim
{

namespace
{

/* The pod as the API server returns it; not_found: it does not exist. */
Result<core::Pod> pod_at(Kube &kube, const std::string &name_space, const std::string &name)
{
	const PodTruth *found = kube.find(name_space, name);
	if (!found)
		return Error{Errc::not_found, "no such pod"};
	return found->api;
}

Status write_condition(const Models &models, const kube::SetConditions &write)
{
	const kube::PodCondition &one = write.conditions.front();
	const core::Condition condition{one.reason, one.message};
	const bool is_late = models.stage.plant == Plant::late_condition;
	const std::string version = is_late ? "" : write.resource_version;
	const auto set =
		one.type == "PodScheduled" ? &Kube::set_not_scheduled : &Kube::set_disruption;
	return (models.kube.*set)(write.name_space, write.name, write.uid, version, condition);
}

/* As delete_pod(): a missing pod, or a pod with another uid, is success. */
Status delete_it(const Models &models, const agent::DeletePod &what)
{
	const std::string uid = models.stage.plant == Plant::no_uid ? "" : what.uid;
	const PodTruth *hit = models.kube.find(what.name_space, what.name);
	if (hit && (uid.empty() || hit->api.uid.text == uid))
		models.oracle.delete_arrives(what.uid, *hit);
	const auto grace = what.grace_seconds;
	const Status status = models.kube.remove(what.name_space, what.name, uid, grace);
	const Errc code = status ? Errc::io : status.error().code;
	return code == Errc::not_found || code == Errc::conflict ? Status(Ok{}) : status;
}

} // namespace

template <class T>
void ModelKube::ask(std::uint64_t key, std::function<Result<T>()> effect, agent::Answer<T> done)
{
	const auto found = std::make_shared<std::optional<Result<T>>>();
	models_.api.call(
		key,
		[found, effect = std::move(effect)] {
			found->emplace(effect());
			return Status(Ok{});
		},
		heard<Ok>(life_, [found, done = std::move(done)](const Status &status) {
			done(status ? **found : Result<T>(status.error()));
		}));
}

void ModelKube::bind(kube::BindPod bind, agent::Done done)
{
	kube::BindWays ways;
	ways.post = [this](const kube::BindPod &what, const kube::Done &posted) {
		post_binding(what, posted);
	};
	ways.get = [this](const kube::BindPod &what, const kube::PodAnswer &looked) {
		get_pod(what.name_space, what.name, looked);
	};
	ways.after = [this](std::chrono::milliseconds delay, std::function<void()> call) {
		after(delay, std::move(call));
	};
	kube::bind_pod(std::move(ways), std::move(bind), std::move(done));
}

/* The present leader cannot know of bindings that a former leader still has under way: those
 * count as foreign. */
void ModelKube::post_binding(const kube::BindPod &bind, const kube::Done &done)
{
	BindRequest request{.name_space = bind.name_space,
		.name = bind.name,
		.uid = bind.uid,
		.node = bind.node,
		.annotations = bind.annotations};
	if (models_.stage.plant == Plant::no_uid)
		request.uid.clear();
	const auto post = [models = models_, request, agent = life_.agent] {
		if (models.stage.now() < models.api.bindings_refused_until)
			return Status(models.api.binding_error);
		const bool leads = models.slurm.leader() == agent;
		return models.kube.bind(request, leads ? Binder::agent : Binder::foreigner);
	};
	models_.api.call(hash_of(bind.uid), post, heard<Ok>(life_, done));
}

void ModelKube::set_conditions(const kube::SetConditions &write, agent::Done done)
{
	const auto set = [models = models_, write] { return write_condition(models, write); };
	models_.api.call(hash_of(write.uid), set, heard<Ok>(life_, std::move(done)));
}

void ModelKube::remove(const agent::DeletePod &what, agent::Done done)
{
	const auto remove_it = [models = models_, what] { return delete_it(models, what); };
	models_.api.call(hash_of(what.uid), remove_it, heard<Ok>(life_, std::move(done)));
}

void ModelKube::provide(const core::ClaimStep &step, agent::Done done)
{
	const auto write = [models = models_, step] { return models.devices.write(step); };
	models_.api.call(
		hash_of(core::claim_name_of(step)), write, heard<Ok>(life_, std::move(done)));
}

void ModelKube::get_pod(
	const std::string &name_space, const std::string &name, agent::Answer<core::Pod> done)
{
	const bool is_other = sight_ == PodLookup::other_cluster;
	const auto look = [models = models_, name_space, name, is_other] {
		return pod_at(models.kube, is_other ? "no namespace of ours" : name_space, name);
	};
	ask<core::Pod>(hash_of(name_space + "/" + name), look, std::move(done));
}

/* The API server returns the list; the agent decides whether a wanted pod is in it. */
void ModelKube::find_pod(const std::string &name_space,
	std::function<bool(const core::Pod &)> is_it, agent::Answer<bool> done)
{
	using Pods = std::vector<core::Pod>;
	const auto list = [models = models_, name_space,
				  is_other = sight_ == PodLookup::other_cluster] {
		Pods pods;
		for (const auto &[uid, pod] : models.kube.pods) {
			const bool is_there =
				!is_other && pod.exists && !core::is_terminal(pod.api);
			if (is_there && pod.api.name_space == name_space)
				pods.push_back(pod.api);
		}
		return Result<Pods>(std::move(pods));
	};
	const auto judge = [is_it = std::move(is_it), done = std::move(done)](
				   const Result<Pods> &pods) {
		if (!pods)
			return done(pods.error());
		done(std::ranges::any_of(*pods, is_it));
	};
	ask<Pods>(hash_of(name_space), list, judge);
}

void ModelKube::get_owner(const core::OwnerId &id, agent::Answer<std::optional<core::Owner>> done)
{
	using Found = std::optional<core::Owner>;
	const auto look = [models = models_, id, is_other = sight_ == PodLookup::other_cluster] {
		models.kube.questions++;
		return Result<Found>(is_other ? Found() : models.kube.owner(id));
	};
	ask<Found>(hash_of(id.name), look, std::move(done));
}

void ModelKube::look_at_node(const std::string &name, agent::Answer<core::NodeLookup> done)
{
	const bool is_other = sight_ == PodLookup::no_nodes || sight_ == PodLookup::other_cluster;
	const auto look = [models = models_, name, is_other] {
		models.kube.questions++;
		const auto node = models.kube.nodes.find(name);
		if (is_other || node == models.kube.nodes.end() || !node->second.exists)
			return Result<core::NodeLookup>(core::NodeLookup::none);
		const bool is_ready = node->second.api.ready;
		return Result(is_ready ? core::NodeLookup::ready : core::NodeLookup::not_ready);
	};
	ask<core::NodeLookup>(hash_of(name), look, std::move(done));
}

void ModelKube::cluster_uid(agent::Answer<std::string> done)
{
	const bool is_planted = models_.stage.plant == Plant::any_cluster;
	const bool is_other = sight_ == PodLookup::other_cluster && !is_planted;
	const auto look = [models = models_, is_other] {
		models.kube.questions++;
		return Result<std::string>(std::string(is_other ? "other-uid" : "main-uid"));
	};
	ask<std::string>(hash_of("kube-system"), look, std::move(done));
}

void ModelKube::after(std::chrono::milliseconds delay, std::function<void()> call)
{
	models_.stage.line.after(
		delay.count() * k_ms, [hear = life_.hear, call = std::move(call)] { hear(call); });
}

} // namespace slurmkube::sim
