/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/stage.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

bool is_any_binding(const ComponentFacts &f)
{
	return std::ranges::any_of(f.ranks, [](const RankFacts &r) { return r.busy.bind; });
}

/* The component has no live job, and none of its pods is bound. */
ComponentStage stage_before_job(const ComponentFacts &f)
{
	if (!has_waiting(f))
		/* pods with scheduling gates */
		return has_own_live(f) ? ComponentStage::gathering : ComponentStage::over;
	if (f.busy.slurm)
		return ComponentStage::submitting;
	if (f.waits_for || f.others.waits_for || !f.is_complete || !f.spec || !f.spec->ok())
		return ComponentStage::gathering;
	return ComponentStage::due;
}

ComponentStage stage_with_nodes(const ComponentFacts &f)
{
	if (!has_live(f))
		return ComponentStage::ending;
	if (is_any_binding(f))
		return ComponentStage::binding;
	if (has_own_bound(f))
		return ComponentStage::running;
	/* A component without pods of its own counts as running while pods of others run, because
	 * these may bring more pods. */
	return has_own_live(f) || f.others.waits_for ? ComponentStage::held
						     : ComponentStage::running;
}

} // namespace

ComponentStage stage_of(const ComponentFacts &f)
{
	switch (job_side(f.job)) {
	case JobSide::pending:
		if (has_own_bound(f))
			return ComponentStage::lost;
		return has_live(f) ? ComponentStage::queued : ComponentStage::ending;
	case JobSide::allocated:
		return stage_with_nodes(f);
	case JobSide::none:
		return has_own_bound(f) ? ComponentStage::lost : stage_before_job(f);
	case JobSide::ended:
		return has_own_bound(f) ? ComponentStage::ending : stage_before_job(f);
	}
	return ComponentStage::over;
}

ComponentStage stage_after(ComponentStage stage, const Action &action)
{
	if (std::holds_alternative<Submit>(action))
		return stage == ComponentStage::lost ? stage : ComponentStage::submitting;
	if (std::holds_alternative<Bind>(action))
		return ComponentStage::binding;
	const bool is_end =
		std::holds_alternative<Complete>(action) || std::holds_alternative<Cancel>(action);
	return is_end ? ComponentStage::ending : stage;
}

bool is_passing(ComponentStage stage)
{
	return stage == ComponentStage::submitting || stage == ComponentStage::binding ||
		stage == ComponentStage::ending || stage == ComponentStage::ungrouped;
}

const char *stage_text(ComponentStage stage)
{
	switch (stage) {
	case ComponentStage::ungrouped:
		return "ungrouped";
	case ComponentStage::gathering:
		return "gathering";
	case ComponentStage::due:
		return "due";
	case ComponentStage::submitting:
		return "submitting";
	case ComponentStage::queued:
		return "queued";
	case ComponentStage::held:
		return "held";
	case ComponentStage::binding:
		return "binding";
	case ComponentStage::running:
		return "running";
	case ComponentStage::ending:
		return "ending";
	case ComponentStage::lost:
		return "lost";
	case ComponentStage::over:
		break;
	}
	return "over";
}

} // namespace slurmkube::core
