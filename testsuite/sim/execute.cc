/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent does: src/agent/execute.cc and kube/bind.cc, on the models. */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "testsuite/sim/agent.h"

namespace slurmkube::sim
{

namespace
{

constexpr unsigned k_most_tries = 3; /* as in src/agent/kube/bind.cc */

template <class... F> struct Overloaded : F... {
	using F::operator()...;
};
template <class... F> Overloaded(F...) -> Overloaded<F...>;

/* judge_binding() of src/agent/kube/bind.cc */
Status judge(const PodTruth *pod, const BindRequest &bind)
{
	if (!pod || (!bind.uid.empty() && pod->api.uid.text != bind.uid))
		return Error{Errc::not_found, "another pod has the name, or none"};
	const core::Pod &api = pod->api;
	if (!api.node_name.empty()) {
		const auto job = api.annotations.find(names::k_allocation_job_id);
		const bool is_ours = api.node_name == bind.node && job != api.annotations.end() && job->second == bind.annotations.at(names::k_allocation_job_id);
		return is_ours ? Status(Ok{}) : Status(Error{Errc::conflict, "it is bound already"});
	}
	if (api.deleting || api.gated)
		return Error{Errc::conflict, "it is being deleted, or gated"};
	return Error{Errc::again, "it is not bound yet"};
}

} // namespace

void Agent::answer(const std::function<void(core::World &)> &body)
{
	body(*world_);
	want_round();
}

/* Wraps what to tell World into a callback that a later life does not hear. */
template <class F> auto Agent::heard(F body)
{
	return [this, life = life_, body](const auto &result) {
		struct Delivery {
			Agent *agent;
			std::uint64_t life;
			std::function<void(core::World &)> tell;
			void operator()() const
			{
				if (life == agent->life_ && !agent->defer(*this))
					agent->answer(tell);
			}
		};
		Delivery{this, life, [body, result](core::World &world) { body(world, result); }}();
	};
}

void Agent::carry_out(const core::PodUid &pod, const core::Action &action)
{
	std::visit(Overloaded{
		       [&](const core::Submit &a) { submit(pod, a); },
		       [&](const core::Cancel &a) { end_job(pod, a.job, std::nullopt, a.for_absence); },
		       [&](const core::Complete &a) {
			       if (a.wait_status == core::k_status_cancelled)
				       end_job(pod, a.job, std::nullopt, a.for_absence);
			       else
				       end_job(pod, a.job, a.wait_status, false);
		       },
		       [&](const core::Bind &a) { bind(pod, a); },
		       [&](const core::Provide &) {}, /* pods here have no volumes */
		       [&](const core::LookUp &a) { look_up(pod, a); },
		       [&](const core::Update &a) { /* pods here keep their options */
			       world_->answer(core::UpdateAnswered{pod, a.spec.marker.options, a.job, Ok{}}, stage_.agent_now());
		       },
		       [&](const core::Remove &a) { remove(pod, a); },
		       [&](const core::Report &a) { report(pod, a); },
	       },
		   action);
}

void Agent::submit(const core::PodUid &pod, const core::Submit &action)
{
	oracle_.acts(number_, has_snapshot_, "submits a job");
	submitted_here_.insert(pod.text);
	rpc_.submit(hash_of(pod.text), action.spec, [this, life = life_] { return life == life_; },
		    heard([this, pod](core::World &world, const Result<core::Submitted> &reply) { world.answer(core::SubmitAnswered{pod, reply}, stage_.agent_now()); }));
}

void Agent::end_job(const core::PodUid &pod, core::JobId job, std::optional<std::uint32_t> wait_status, bool for_absence)
{
	oracle_.acts(number_, has_snapshot_, "ends a job");
	const bool is_cancel = !wait_status;
	auto done = heard([this, pod, is_cancel](core::World &world, const Status &status) { world.answer(core::CompleteAnswered{pod, status, is_cancel}, stage_.agent_now()); });
	if (stage_.plant == Plant::mixed_exit_codes && wait_status && (*wait_status >> 8) != 0)
		wait_status = *wait_status >> 8;
	oracle_.ends(pod.text, job, wait_status, oracle_.knows_end(number_, life_, pod.text));
	oracle_.gang_ends(number_, life_, pod.text, job, wait_status);
	if (stage_.plant == Plant::dropped_complete && was_restarted_ && !submitted_here_.contains(pod.text)) {
		stage_.line.after(k_ms, [done] { done(Status(Ok{})); });
		return;
	}
	rpc_.call(hash_of(pod.text), [this, pod, job, wait_status, for_absence] {
		oracle_.end_arrives(pod.text, job);
		return slurm_.end(job, wait_status, for_absence);
	}, done);
}

/* ---- binding ---- */

void Agent::bind(const core::PodUid &pod, const core::Bind &action)
{
	oracle_.acts(number_, has_snapshot_, "binds a pod");
	oracle_.binds(pod.text, action);
	const core::Pod *known = world_->state().pod(pod);
	if (!known)
		return world_->answer(core::BindAnswered{pod, Error{Errc::not_found, "the pod is gone"}}, stage_.agent_now());
	BindRequest request{.name_space = known->name_space, .name = known->name, .uid = pod.text, .node = action.node, .annotations = {}};
	request.annotations = {{names::k_allocation_job_id, std::to_string(action.job.number)},
			       {names::k_allocation_cluster, "main"},
			       {names::k_allocation_node, action.node},
			       {names::k_allocation_cpus, std::to_string(action.cpus)},
			       {names::k_allocation_attempt, std::to_string(action.attempt)}};
	if (action.rank) {
		request.annotations[names::k_allocation_rank] = std::to_string(*action.rank);
		const core::Group &member = world_->state().groups.at(pod);
		request.annotations[names::k_allocation_gang] = member.gang ? member.gang->text : "";
		const core::Gang *gang = world_->state().gang_of(member);
		request.annotations[names::k_allocation_size] = std::to_string(gang ? core::ranks_of(*gang) : 0);
		if (const core::SlurmJob *job = world_->state().job_of(member))
			request.annotations[names::k_allocation_nodes] = core::node_list_of(job->nodes, 1000);
	}
	if (stage_.plant == Plant::no_uid)
		request.uid.clear();
	post_binding(pod, request, 1);
}

/* What a former leader had under way is nothing that the present one could know of. */
void Agent::post_binding(const core::PodUid &pod, const BindRequest &request, unsigned tries)
{
	api_.call(hash_of(pod.text), [this, request] { return kube_.bind(request, slurm_.leader() == number_ ? Binder::agent : Binder::foreigner); },
		  heard([this, pod, request, tries](core::World &world, const Status &status) {
			  if (!status && (status.error().code == Errc::conflict || status.error().code == Errc::io))
				  look_at_binding(pod, request, tries);
			  else if (!status && status.error().code == Errc::again && tries < k_most_tries)
				  stage_.line.after(100 * k_ms * tries, [this, pod, request, tries, life = life_] {
					  if (life == life_)
						  post_binding(pod, request, tries + 1);
				  });
			  else
				  world.answer(core::BindAnswered{pod, status}, stage_.agent_now());
		  }));
}

void Agent::look_at_binding(const core::PodUid &pod, const BindRequest &request, unsigned tries)
{
	api_.call(hash_of(pod.text), [this, request] { return judge(kube_.find(request.name_space, request.name), request); },
		  heard([this, pod, request, tries](core::World &world, const Status &status) {
			  const bool is_unclear = !status && (status.error().code == Errc::again || status.error().code == Errc::io);
			  if (!is_unclear)
				  world.answer(core::BindAnswered{pod, status}, stage_.agent_now());
			  else if (tries >= k_most_tries)
				  world.answer(core::BindAnswered{pod, Error{Errc::again, status.error().what}}, stage_.agent_now());
			  else
				  stage_.line.after(100 * k_ms * tries, [this, pod, request, tries, life = life_] {
					  if (life == life_)
						  post_binding(pod, request, tries + 1);
				  });
		  }));
}

/* ---- other requests ---- */

void Agent::ask_for(const core::OwnerId &id)
{
	const auto found = std::make_shared<std::optional<core::Owner>>();
	api_.call(hash_of(id.name),
		  [this, found, id, is_other_cluster = sight_ == Sight::other_cluster] {
			  kube_.questions++;
			  *found = is_other_cluster ? std::nullopt : kube_.owner(id);
			  return Status(Ok{});
		  },
		  heard([this, found, id](core::World &world, const Status &status) {
			  using Answer = Result<std::optional<core::Owner>>;
			  world.observe(core::OwnerSeen{id, status ? Answer(*found) : Answer(status.error())}, stage_.agent_now());
		  }));
}

void Agent::ask_for_cluster()
{
	if (std::exchange(cluster_asked_, true))
		return;
	const bool is_other = sight_ == Sight::other_cluster && stage_.plant != Plant::any_cluster;
	api_.call(hash_of("kube-system"),
		  [this] {
			  kube_.questions++;
			  return Status(Ok{});
		  },
		  heard([this, is_other](core::World &world, const Status &status) {
			  cluster_asked_ = false;
			  if (status)
				  world.observe(core::ClusterSeen{is_other ? "other-uid" : "main-uid"});
		  }));
}

void Agent::ask_for_node(const std::string &name)
{
	const auto sight = std::make_shared<core::NodeSight>(core::NodeSight::none);
	api_.call(hash_of(name),
		  [this, sight, name, is_other_cluster = sight_ == Sight::no_nodes || sight_ == Sight::other_cluster] {
			  kube_.questions++;
			  const auto node = kube_.nodes.find(name);
			  if (!is_other_cluster && node != kube_.nodes.end() && node->second.exists)
				  *sight = node->second.api.ready ? core::NodeSight::ready : core::NodeSight::not_ready;
			  return Status(Ok{});
		  },
		  heard([this, sight, name](core::World &world, const Status &status) {
			  using Answer = Result<core::NodeSight>;
			  world.answer(core::NodeLookUpAnswered{name, status ? Answer(*sight) : Answer(status.error())}, stage_.agent_now());
		  }));
}

void Agent::look_up(const core::PodUid &pod, const core::LookUp &action)
{
	const auto sight = std::make_shared<core::Sight>(core::Sight::absent);
	const auto gang = world_->state().gangs.find(pod);
	const core::GangId id = gang == world_->state().gangs.end() ? core::GangId{} : gang->second.id;
	api_.call(hash_of(pod.text),
		  [this, sight, uid = pod.text, action, id, life = life_, is_other_cluster = sight_ == Sight::other_cluster] {
			  const auto is_member = [&](const auto &one) {
				  return one.second.exists && one.second.api.name_space == action.name_space && !world_->state().pod(one.second.api.uid) && core::may_be_member(one.second.api, uid, id);
			  };
			  if (action.name.empty() && !is_other_cluster && (life != life_ || std::ranges::any_of(kube_.pods, is_member)))
				  *sight = core::Sight::bound;
			  if (action.name.empty())
				  return Status(Ok{});
			  const PodTruth *found = is_other_cluster ? nullptr : kube_.find(action.name_space, action.name);
			  if (found && found->api.uid.text == uid)
				  *sight = found->api.node_name.empty() ? core::Sight::unbound : core::Sight::bound;
			  return Status(Ok{});
		  },
		  heard([this, pod, sight](core::World &world, const Status &status) {
			  world.answer(core::LookUpAnswered{pod, status ? Result<core::Sight>(*sight) : Result<core::Sight>(status.error())}, stage_.agent_now());
		  }));
}

void Agent::remove(const core::PodUid &pod, const core::Remove &action)
{
	oracle_.acts(number_, has_snapshot_, "deletes a pod");
	const core::Pod *known = world_->state().pod(pod);
	if (!known)
		return world_->answer(core::RemoveAnswered{pod, Ok{}}, stage_.agent_now());
	oracle_.removes(pod.text);
	const std::string name_space = known->name_space, name = known->name, uid = stage_.plant == Plant::no_uid ? "" : pod.text;
	const auto remove_it = [this, pod, name_space, name, uid] {
		if (const PodTruth *hit = kube_.find(name_space, name); hit && (uid.empty() || hit->api.uid.text == uid))
			oracle_.delete_arrives(pod.text, *hit);
		const Status status = kube_.remove(name_space, name, uid, std::nullopt);
		/* delete_pod() takes gone, and another pod's uid, for success */
		const bool is_gone = !status && (status.error().code == Errc::not_found || status.error().code == Errc::conflict);
		return is_gone ? Status(Ok{}) : status;
	};
	auto removed = heard([this, pod](core::World &world, const Status &status) { world.answer(core::RemoveAnswered{pod, status}, stage_.agent_now()); });
	api_.call(hash_of(pod.text), [this, pod, name_space, name, disruption = action.disruption] { return kube_.set_disruption(name_space, name, pod.text, disruption); },
		  heard([this, pod, remove_it, removed](core::World &, const Status &) { api_.call(hash_of(pod.text), remove_it, removed); }));
}

void Agent::report(const core::PodUid &pod, const core::Report &action)
{
	const core::Pod *known = world_->state().pod(pod);
	if (!known)
		return world_->answer(core::ReportAnswered{pod, Ok{}}, stage_.agent_now());
	api_.call(hash_of(pod.text),
		  [this, name_space = known->name_space, name = known->name, uid = pod.text, version = stage_.plant == Plant::late_condition ? "" : known->resource_version, condition = action.not_scheduled] {
			  return kube_.set_not_scheduled(name_space, name, uid, version, condition);
		  },
		  heard([this, pod](core::World &world, const Status &status) { world.answer(core::ReportAnswered{pod, status}, stage_.agent_now()); }));
}

void Agent::carry_out(const core::NodeAction &action)
{
	oracle_.acts(number_, has_snapshot_, "changes a node");
	const auto answered = [this](const std::string &name) {
		return heard([this, name](core::World &world, const Status &status) { world.answer(core::NodeChangeAnswered{name, status}, stage_.agent_now()); });
	};
	std::visit(Overloaded{
		       [&](const core::CreateNode &a) { rpc_.call(hash_of(a.spec.name), [this, a] { return slurm_.create_node(a.spec); }, answered(a.spec.name)); },
		       [&](const core::DeleteNode &a) {
			       oracle_.deletes_node(number_, a.name);
			       rpc_.call(hash_of(a.name), [this, a] { return slurm_.delete_node(a.name); }, answered(a.name));
		       },
		       [&](const core::SetNodeState &a) {
			       if (a.change == core::NodeStateChange::down)
				       oracle_.takes_node_down(number_, a.name);
			       rpc_.call(hash_of(a.name), [this, a] { return slurm_.change_node(a.name, a.change, a.reason, true); }, answered(a.name));
		       },
	       },
		   action);
}

} // namespace slurmkube::sim
