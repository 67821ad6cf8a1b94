/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What slurm/calls.h promises, on the models. */
#include "src/core/model/outcome.h"
#include "testsuite/sim/sides.h"

namespace slurmkube::sim
{

void ModelSlurm::submit(const core::JobSpec &spec, agent::Answer<core::Submitted> done)
{
	submitted_here_.insert(pod_);
	const auto told = heard<core::Submitted>(life_, std::move(done));
	models_.rpc.submit(hash_of(pod_), spec, life_.goes_on, told);
}

/* Pods of the simulation never change their options. */
void ModelSlurm::update(core::JobId, const core::Update &, agent::Done done)
{
	models_.stage.line.after(k_ms, [done = heard<Ok>(life_, std::move(done))] { done(Ok{}); });
}

void ModelSlurm::end_job(core::JobId job, std::optional<std::uint32_t> wait_status,
	bool for_absence, const agent::Done &done)
{
	const auto told = heard<Ok>(life_, done);
	const Plant plant = models_.stage.plant;
	if (plant == Plant::mixed_exit_codes && wait_status && (*wait_status >> 8) != 0)
		wait_status = *wait_status >> 8;
	const bool knows_end = models_.oracle.knows_end(life_.agent, life_.number, pod_);
	models_.oracle.ends(pod_, job, wait_status, knows_end);
	models_.oracle.gang_ends(life_.agent, life_.number, pod_, job, wait_status);
	const bool is_first = life_.number == 1;
	if (plant == Plant::dropped_complete && !is_first && !submitted_here_.contains(pod_)) {
		models_.stage.line.after(k_ms, [told] { told(Status(Ok{})); });
		return;
	}
	const auto end = [models = models_, pod = pod_, job, wait_status, for_absence] {
		models.oracle.end_arrives(pod, job);
		return models.slurm.end(job, wait_status, for_absence);
	};
	models_.rpc.call(hash_of(pod_), end, told);
}

void ModelSlurm::complete(const core::MarkedJob &job, std::uint32_t wait_status, agent::Done done)
{
	end_job(job.id, wait_status, false, done);
}

void ModelSlurm::expire(const core::MarkedJob &job, agent::Done done)
{
	end_job(job.id, core::k_status_deadline, false, done);
}

void ModelSlurm::cancel(const core::MarkedJob &job, agent::Done done)
{
	end_job(job.id, std::nullopt, false, done);
}

void ModelSlurm::give_up(const core::MarkedJob &job, agent::Done done)
{
	end_job(job.id, std::nullopt, true, done);
}

void ModelSlurm::create_node(const core::NodeSpec &spec, core::Family, agent::Done done)
{
	const auto create = [models = models_, spec] { return models.slurm.create_node(spec); };
	models_.rpc.call(hash_of(spec.name), create, heard<Ok>(life_, std::move(done)));
}

void ModelSlurm::delete_node(const std::string &name, agent::Done done)
{
	models_.oracle.deletes_node(life_.agent, name);
	const auto remove = [models = models_, name] { return models.slurm.delete_node(name); };
	models_.rpc.call(hash_of(name), remove, heard<Ok>(life_, std::move(done)));
}

void ModelSlurm::set_node_extra(const core::SetNodeExtra &change, agent::Done done)
{
	const auto set = [models = models_, change] {
		return models.slurm.set_extra(change.name, change.extra);
	};
	models_.rpc.call(hash_of(change.name), set, heard<Ok>(life_, std::move(done)));
}

void ModelSlurm::set_node_state(const core::SetNodeState &change, agent::Done done)
{
	if (change.change == core::NodeStateChange::down)
		models_.oracle.takes_node_down(life_.agent, change.name);
	const auto set = [models = models_, change] {
		return models.slurm.change_node(change.name, change.change, change.reason, true);
	};
	models_.rpc.call(hash_of(change.name), set, heard<Ok>(life_, std::move(done)));
}

} // namespace slurmkube::sim
