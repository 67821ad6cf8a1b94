/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/job_facts.h"

#include "src/base/guard.h"

#include <algorithm>

namespace slurmkube::plugin
{

namespace
{

/* facts.h has the order of the model */
static_assert(static_cast<int>(KUBE_JOB_RUNNING) == static_cast<int>(core::JobState::running));
static_assert(static_cast<int>(KUBE_JOB_OOM) == static_cast<int>(core::JobState::oom));
static_assert(static_cast<int>(KUBE_JOB_UNKNOWN) == static_cast<int>(core::JobState::unknown));
static_assert(static_cast<int>(KUBE_NODE_DOWN) == static_cast<int>(core::NodeBase::down));
static_assert(static_cast<int>(KUBE_NODE_FUTURE) == static_cast<int>(core::NodeBase::future));

struct Copy {
	core::SlurmJob job;
	bool failed = false;
};

/* Called from C, so no exception may escape. */
template <class F> void without_throwing(Copy &copy, F &&body) noexcept
{
	copy.failed |= guard(
		true, [](const char *) {},
		[&] {
			body();
			return false;
		});
}

void add_node(void *context, const kube_node_share *share) noexcept
{
	auto &copy = *static_cast<Copy *>(context);
	without_throwing(copy, [&] {
		copy.job.nodes.push_back(
			{share->node, share->cpus, share->core_ids, share->memory_mib, {}});
	});
}

void add_gres(void *context, const kube_gres_share *share) noexcept
{
	auto &copy = *static_cast<Copy *>(context);
	if (!copy.job.nodes.empty())
		without_throwing(copy, [&] {
			copy.job.nodes.back().gres.push_back(
				{share->name, share->type, share->count, share->indices});
		});
}

/* one word, as in the output of squeue */
std::string one_word(const char *text)
{
	std::string word(text);
	std::replace(word.begin(), word.end(), ' ', '_');
	return word;
}

} // namespace

std::optional<core::SlurmJob> copy_job(std::uint32_t id, const core::Marker &marker)
{
	Copy copy;
	kube_job_facts facts = {};
	kube_share_sink shares = {&copy, add_node, add_gres};
	if (!kube_seam_job_facts(id, &facts, &shares) || copy.failed)
		return std::nullopt;
	core::SlurmJob &job = copy.job;
	job.id = {id};
	job.marker = marker;
	job.state = static_cast<core::JobState>(facts.state);
	job.completing = facts.completing;
	job.configuring = facts.configuring;
	job.is_external = facts.external;
	job.held = facts.held;
	job.reason = one_word(facts.reason);
	job.user_id = facts.user_id;
	job.partition = facts.partition;
	job.account = facts.account;
	if (facts.ended_by != UINT32_MAX)
		job.ended_by = facts.ended_by;
	job.submit_time = facts.submit_time;
	job.accrue_time = facts.accrue_time;
	job.start_time = facts.start_time;
	job.end_time = facts.end_time;
	job.time_limit_minutes = facts.time_limit_minutes;
	job.exit_status = facts.exit_status;
	job.priority = facts.priority;
	return std::move(job);
}

std::optional<core::SlurmNode> copy_node(std::uint32_t index)
{
	kube_node_facts facts = {};
	if (!kube_seam_node_facts(index, &facts))
		return std::nullopt;
	core::SlurmNode node;
	node.name = facts.name;
	node.base = static_cast<core::NodeBase>(facts.base);
	node.drain = facts.drain;
	node.failing = facts.failing;
	node.not_responding = facts.not_responding;
	node.completing = facts.completing;
	node.reason = facts.reason;
	node.features = facts.features;
	node.address = facts.address;
	node.dynamic = facts.dynamic;
	node.is_hybrid = facts.hybrid;
	node.cpus = facts.cpus;
	node.memory_mib = facts.memory_mib;
	node.gres = facts.gres;
	if (facts.extra)
		node.extra = facts.extra;
	return node;
}

} // namespace slurmkube::plugin
