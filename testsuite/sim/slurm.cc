/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "testsuite/sim/slurm.h"

#include "src/core/model/names.h"
#include "src/core/model/outcome.h"

#include <algorithm>

namespace slurmkube::sim
{

namespace
{

constexpr std::uint64_t k_slurm = 0x51;
constexpr std::size_t k_most_saves = 12;

std::string text_of(const JobTruth &job)
{
	return "job " + std::to_string(job.facts.id.number) +
		(job.has_marker ? " (" + job.facts.marker.uid + "#" +
					std::to_string(job.facts.marker.attempt) + ")"
				: "");
}

std::vector<std::string> split(const std::string &list)
{
	std::vector<std::string> out;
	for (std::size_t from = 0; from < list.size();) {
		const std::size_t comma = std::min(list.find(',', from), list.size());
		out.push_back(list.substr(from, comma - from));
		from = comma + 1;
	}
	return out;
}

std::string list_of(const std::vector<core::NodeAllocation> &nodes)
{
	std::string out;
	for (const core::NodeAllocation &node : nodes)
		out += (out.empty() ? "" : ",") + node.node +
			(nodes.size() > 1 ? ":" + std::to_string(node.cpus) : "");
	return out;
}

/* The state that slurm_complete_job derives from a wait status. */
core::JobState state_for(std::uint32_t status)
{
	if (status == core::k_status_cancelled)
		return core::JobState::cancelled;
	if (status == core::k_status_out_of_memory)
		return core::JobState::oom;
	if (status == core::k_status_deadline)
		return core::JobState::timeout;
	return status == 0 ? core::JobState::complete : core::JobState::failed;
}

} // namespace

const core::NodeAllocation *share_on(const JobTruth &job, const std::string &node)
{
	if (job.facts.nodes.empty() || core::job_side(&job.facts) != core::JobSide::allocated)
		return nullptr;
	const auto found = std::ranges::find(job.facts.nodes, node, &core::NodeAllocation::node);
	return found == job.facts.nodes.end() ? nullptr : &*found;
}

Slurm::Slurm(Stage &stage, std::uint64_t seed)
    : dynamic_nodes(mix(seed + 21) % 2 == 0), stage_(stage)
{
}

const JobTruth *Slurm::find(std::uint32_t job) const
{
	const auto found = state.jobs.find(job);
	return found == state.jobs.end() ? nullptr : &found->second;
}

std::vector<const JobTruth *> Slurm::live_jobs_of(const std::string &uid) const
{
	std::vector<const JobTruth *> out;
	for (const auto &[id, job] : state.jobs) {
		if (job.has_marker && job.facts.marker.uid == uid &&
			job.facts.marker.cluster == cluster && core::is_live(job.facts))
			out.push_back(&job);
	}
	return out;
}

std::vector<std::string> Slurm::ids_if(const std::function<bool(const JobTruth &)> &wanted) const
{
	std::vector<std::string> out;
	for (const auto &[id, job] : state.jobs) {
		if (wanted(job))
			out.push_back(std::to_string(id));
	}
	return out;
}

/* ---- submission ---- */

JobTruth &Slurm::create(const core::JobSpec &spec)
{
	JobTruth job;
	job.facts.id = {state.next_id++};
	job.facts.marker = spec.marker;
	job.has_marker = true;
	job.facts.state = core::JobState::pending;
	job.facts.reason = "None";
	job.facts.submit_time = job.facts.accrue_time = stage_.host_wall_s();
	job.facts.time_limit_minutes = spec.time_limit_minutes;
	job.required_nodes = split(spec.required_node);
	job.excluded_nodes = spec.excluded_nodes;
	job.cpus = spec.cpus;
	job.memory_mib = spec.memory_mib;
	job.tasks = spec.tasks;
	job.tasks_per_node = spec.tasks_per_node;
	if (spec.options.max_nodes == 1U)
		job.gpus_on_node = gpus_in(spec.options.gres);
	else
		job.gpus = gpus_in(spec.options.gres) + gpus_in(spec.gres_of_task);
	job.is_exclusive = spec.options.sharing == core::Sharing::nobody;
	return state.jobs[job.facts.id.number] = std::move(job);
}

Result<SubmitAnswer> Slurm::submit(const core::JobSpec &spec)
{
	if (stage_.now() < refuse_until)
		return Error{Errc::invalid, "Invalid account"};
	if (stage_.now() < full_until)
		return Error{Errc::again, "Job violates accounting policy"};
	for (const std::string &name : split(spec.required_node)) {
		if (!state.nodes.contains(name))
			return Error{Errc::not_found, "Invalid node name specified"};
	}
	if (stage_.plant != Plant::no_guard) {
		for (const JobTruth *live : live_jobs_of(spec.marker.uid)) {
			if (live->facts.marker.attempt != spec.marker.attempt ||
				!is_known_to_plugin(*live))
				continue;
			const bool runs = !live->facts.nodes.empty();
			return SubmitAnswer{{.job = live->facts.id,
						    .node = runs ? live->facts.nodes[0].node : "",
						    .cpus = runs ? live->cpus : 0},
				true};
		}
	}
	const bool others_wait =
		std::any_of(state.jobs.begin(), state.jobs.end(), [](const auto &entry) {
			return entry.second.facts.state == core::JobState::pending &&
				!entry.second.facts.held;
		});
	JobTruth &job = create(spec);
	if (others_wait || !start(job))
		job.facts.reason = "Resources";
	stage_.tell([&] {
		return text_of(job) + " is submitted" +
			(spec.required_node.empty() ? "" : " for " + spec.required_node);
	});
	on_created(job);
	changed(job.facts.id.number);
	schedule_soon();
	const bool runs = !job.facts.nodes.empty();
	return SubmitAnswer{{.job = job.facts.id,
				    .node = runs ? job.facts.nodes[0].node : "",
				    .cpus = runs ? job.cpus : 0},
		false};
}

/* ---- the queue ---- */

std::uint32_t Slurm::free_cpus(const SlurmNodeTruth &node) const
{
	std::uint32_t used = 0;
	for (const auto &[id, job] : state.jobs) {
		if (const auto *share = share_on(job, node.facts.name))
			used += share->cpus;
	}
	return used >= node.facts.cpus ? 0 : node.facts.cpus - used;
}

std::uint64_t Slurm::free_memory(const SlurmNodeTruth &node) const
{
	std::uint64_t used = 0;
	for (const auto &[id, job] : state.jobs) {
		if (const auto *share = share_on(job, node.facts.name))
			used += share->memory_mib;
	}
	return used >= node.facts.memory_mib ? 0 : node.facts.memory_mib - used;
}

std::uint32_t Slurm::tasks_on(const JobTruth &job, const SlurmNodeTruth &node) const
{
	if (node.down || node.facts.drain ||
		std::ranges::find(job.excluded_nodes, node.facts.name) != job.excluded_nodes.end())
		return 0;
	if (job.is_exclusive && free_cpus(node) != node.facts.cpus)
		return 0;
	std::uint64_t tasks = free_cpus(node) / job.cpus;
	if (job.memory_mib > 0)
		tasks = std::min<std::uint64_t>(tasks, free_memory(node) / job.memory_mib);
	if (job.gpus > 0)
		tasks = std::min<std::uint64_t>(tasks, free_gpus(node).size() / job.gpus);
	if (job.tasks_per_node > 0)
		tasks = std::min<std::uint64_t>(tasks, job.tasks_per_node);
	if (job.gpus_on_node && (tasks < job.tasks || free_gpus(node).size() < *job.gpus_on_node))
		return 0;
	return static_cast<std::uint32_t>(tasks);
}

/* Places all tasks of the job or none: one on each required node, the rest where there is room,
 * on required nodes first. */
std::vector<core::NodeAllocation> Slurm::allocation_of(const JobTruth &job) const
{
	if (job.facts.held || job.is_plain_native || job.facts.marker.cluster != cluster)
		return {};
	std::map<std::string, std::uint32_t> given;
	std::uint32_t left = job.tasks;
	const auto give = [&](const std::string &name, std::uint32_t most) {
		const auto node = state.nodes.find(name);
		const std::uint32_t room =
			node == state.nodes.end() ? 0 : tasks_on(job, node->second) - given[name];
		const std::uint32_t tasks = std::min({room, most, left});
		given[name] += tasks;
		left -= tasks;
		return tasks > 0;
	};
	for (const std::string &name : job.required_nodes) {
		if (!give(name, 1))
			return {};
	}
	for (const std::string &name : job.required_nodes)
		give(name, left);
	for (const auto &[name, node] : state.nodes) {
		/* with required nodes, Slurm 24.11 allocates no others; 22.05 does */
		if (job.required_nodes.empty())
			give(name, left);
	}
	std::vector<core::NodeAllocation> out;
	for (const auto &[name, tasks] : given) {
		if (tasks > 0 && left == 0)
			out.push_back({.node = name,
				.cpus = job.is_exclusive ? state.nodes.at(name).facts.cpus
							 : tasks * job.cpus,
				.core_ids = "",
				.memory_mib = tasks * job.memory_mib,
				.gres = {}});
	}
	return out;
}

bool Slurm::start(JobTruth &job)
{
	std::vector<core::NodeAllocation> nodes = allocation_of(job);
	if (nodes.empty())
		return false;
	job.facts.state = core::JobState::running;
	job.facts.reason = "None";
	job.facts.start_time = stage_.host_wall_s();
	for (core::NodeAllocation &share : nodes)
		give_gpus(job, share);
	job.facts.nodes = std::move(nodes);
	job.started_at = stage_.now();
	job.limit_at = job.facts.time_limit_minutes > 0
		? stage_.now() + job.facts.time_limit_minutes * 60 * k_second
		: 0;
	stage_.tell([&] { return text_of(job) + " starts on " + list_of(job.facts.nodes); });
	watch_limit(job.facts.id.number);
	for (const core::NodeAllocation &node : job.facts.nodes)
		node_changed(node.node);
	return true;
}

void Slurm::schedule_soon()
{
	if (std::exchange(pass_planned_, true))
		return;
	stage_.line.after(stage_.dice.between(Topic::schedule, k_slurm, k_ms, 40 * k_ms), [this] {
		pass_planned_ = false;
		if (up_)
			schedule();
	});
}

void Slurm::schedule()
{
	for (auto &[id, job] : state.jobs) {
		if (job.facts.state == core::JobState::pending && start(job))
			changed(id);
	}
}

void Slurm::watch_limit(std::uint32_t id)
{
	const Micros at = state.jobs.at(id).limit_at;
	if (at == 0)
		return;
	stage_.line.at(at, [this, id, at] {
		const JobTruth *job = find(id);
		if (up_ && !stage_.calm && job && job->limit_at == at &&
			core::job_side(&job->facts) == core::JobSide::allocated)
			finish(id, core::JobState::timeout, 0, Cause::time_limit);
	});
}

/* ---- ends ---- */

void Slurm::finish(std::uint32_t id, core::JobState end_state, std::uint32_t status, Cause cause)
{
	static constexpr const char *k_causes[] = {"by its user", "by its time limit",
		"by preemption", "with its node", "because its answer was lost", "by the agent",
		"by the agent (cancel)"};
	JobTruth &job = state.jobs.at(id);
	job.facts.state = end_state;
	job.facts.exit_status = status;
	if (end_state == core::JobState::cancelled)
		job.facts.ended_by = cause == Cause::user ? k_user_uid : k_agent_uid;
	job.facts.end_time = stage_.host_wall_s();
	/* the plugin reports allocations only */
	const auto nodes = std::exchange(job.facts.nodes, {});
	if (job.has_marker && job.facts.marker.cluster == cluster)
		ends[job.facts.marker.uid].push_back(
			{id, job.facts.marker.attempt, cause, stage_.now(), status});
	stage_.tell([&] {
		return text_of(job) + " ends " + core::state_text(end_state) + " " +
			k_causes[static_cast<int>(cause)] + ", status " +
			std::to_string(static_cast<std::int32_t>(status));
	});
	const Micros age = 20 * k_second + static_cast<Micros>(id % 5) * 10 * k_second;
	job.purge_at = stage_.now() + age;
	stage_.line.after(age, [this, id] { purge(id); });
	changed(id);
	for (const core::NodeAllocation &node : nodes)
		node_changed(node.node);
	schedule_soon();
}

void Slurm::purge(std::uint32_t id)
{
	const JobTruth *job = find(id);
	if (!up_ || !job || core::is_live(job->facts) || job->purge_at > stage_.now())
		return;
	state.jobs.erase(id);
	changed(id);
}

bool Slurm::has_live_placeholder() const
{
	return std::ranges::any_of(state.jobs, [this](const auto &one) {
		const JobTruth &job = one.second;
		return job.has_marker && job.facts.marker.cluster == cluster &&
			core::is_live(job.facts);
	});
}

Status Slurm::end(core::JobId id, std::optional<std::uint32_t> wait_status, bool for_absence)
{
	const auto found = state.jobs.find(id.number);
	if (found == state.jobs.end() || !core::is_live(found->second.facts))
		return Error{Errc::not_found, "Job/step already completing or completed"};
	found->second.facts.marker.given_up = found->second.facts.marker.given_up || for_absence;
	const bool is_code = wait_status && *wait_status != core::k_status_cancelled &&
		*wait_status != core::k_status_deadline;
	if (wait_status)
		finish(id.number, state_for(*wait_status), is_code ? *wait_status : 0,
			Cause::agent_complete);
	else
		finish(id.number, core::JobState::cancelled, 0, Cause::agent_cancel);
	return Ok{};
}

void Slurm::answer_undelivered(core::JobId id)
{
	const JobTruth *job = find(id.number);
	if (!job || !core::is_live(job->facts))
		return;
	if (job->facts.state == core::JobState::pending)
		finish(id.number, core::JobState::cancelled, 0, Cause::lost_answer);
	else
		finish(id.number, core::JobState::failed, 15, Cause::lost_answer);
}

/* ---- people ---- */

void Slurm::add_native(std::uint64_t number)
{
	JobTruth job;
	job.facts.id = {state.next_id++};
	job.is_plain_native = true;
	job.facts.state = number % 2 == 0 ? core::JobState::pending : core::JobState::running;
	job.facts.held = number % 4 == 0;
	stage_.tell([&] { return "native " + text_of(job) + " comes"; });
	state.jobs[job.facts.id.number] = std::move(job);
	save_later();
}

void Slurm::add_other_cluster(std::uint64_t number)
{
	core::JobSpec spec;
	spec.marker = {.cluster = "other",
		.name_space = "a",
		.name = "x",
		.kind = "Pod",
		.uid = "other-" + std::to_string(number % 1000),
		.attempt = 1};
	JobTruth &job = create(spec);
	job.facts.state = core::JobState::running;
	job.facts.nodes = {
		{.node = "elsewhere", .cpus = 1, .core_ids = "", .memory_mib = 64, .gres = {}}};
	stage_.tell([&] { return "the other cluster's " + text_of(job) + " comes"; });
	changed(job.facts.id.number);
}

void Slurm::set_held(std::uint32_t id, bool held)
{
	JobTruth &job = state.jobs.at(id);
	job.facts.held = held;
	job.facts.reason = held ? "JobHeldUser" : "Resources";
	stage_.tell([&] { return text_of(job) + (held ? " is held" : " is released"); });
	changed(id);
	schedule_soon();
}

void Slurm::write_over_marker(std::uint32_t id)
{
	JobTruth &job = state.jobs.at(id);
	job.is_written_over = true;
	stage_.tell([&] { return "a script writes over the marker of " + text_of(job); });
	changed(id);
}

bool Slurm::is_known_to_plugin(const JobTruth &job) const
{
	return job.has_marker && !(stage_.plant == Plant::no_copy && job.is_written_over);
}

void Slurm::set_suspended(std::uint32_t id, bool suspended)
{
	JobTruth &job = state.jobs.at(id);
	job.facts.state = suspended ? core::JobState::suspended : core::JobState::running;
	stage_.tell([&] { return text_of(job) + (suspended ? " is suspended" : " is resumed"); });
	changed(id);
}

/* ---- nodes ---- */

core::SlurmNode Slurm::facts_of(const SlurmNodeTruth &node) const
{
	core::SlurmNode facts = node.facts;
	const std::uint32_t left = free_cpus(node);
	facts.base = node.down       ? core::NodeBase::down
		: left == facts.cpus ? core::NodeBase::idle
		: left == 0          ? core::NodeBase::allocated
				     : core::NodeBase::mixed;
	return facts;
}

Status Slurm::create_node(const core::NodeSpec &spec)
{
	if (!dynamic_nodes || state.nodes.contains(spec.name))
		return Error{Errc::conflict, "node exists, or cannot be made"};
	SlurmNodeTruth node;
	node.facts.name = spec.name;
	node.facts.cpus = spec.cpus;
	node.facts.memory_mib = spec.memory_mib;
	node.facts.dynamic = dynamic_nodes;
	node.facts.gres = spec.gres;
	node.facts.extra = "";
	state.nodes[spec.name] = node;
	stage_.tell([&] { return "Slurm has node " + spec.name; });
	node_changed(spec.name);
	schedule_soon();
	return Ok{};
}

Status Slurm::delete_node(const std::string &name)
{
	const auto node = state.nodes.find(name);
	if (node == state.nodes.end())
		return Error{Errc::not_found, "Invalid node name specified"};
	if (free_cpus(node->second) != node->second.facts.cpus)
		return Error{Errc::conflict, "jobs are on it"};
	state.nodes.erase(node);
	stage_.tell([&] { return "Slurm forgets node " + name; });
	node_changed(name);
	return Ok{};
}

Status Slurm::change_node(const std::string &name, core::NodeStateChange change,
	const std::string &reason, bool by_agent)
{
	const auto found = state.nodes.find(name);
	if (found == state.nodes.end())
		return Error{Errc::not_found, "Invalid node name specified"};
	SlurmNodeTruth &node = found->second;
	const bool is_undoing =
		change == core::NodeStateChange::up || change == core::NodeStateChange::undrain;
	/* src/agent/slurm/nodes.cc looks first, and does not undo a state that others may have
	 * set since */
	if (by_agent && is_undoing && !node.facts.reason.starts_with(names::k_reason_prefix))
		return Error{Errc::conflict, "somebody else has taken it out of service"};
	if (is_undoing) {
		node.facts.drain = false;
		node.down = node.down && change != core::NodeStateChange::up;
		if (!node.down)
			node.facts.reason.clear();
	} else {
		node.facts.drain |= change == core::NodeStateChange::drain;
		node.down |= change == core::NodeStateChange::down;
		if (!reason.empty())
			node.facts.reason = reason;
	}
	stage_.tell([&] {
		return "Slurm's node " + name +
			(is_undoing                 ? " is in use again"
					: node.down ? " is DOWN: "
						    : " is drained: ") +
			node.facts.reason;
	});
	if (node.down) {
		for (const std::string &id :
			ids_if([&](const JobTruth &j) { return share_on(j, name) != nullptr; }))
			finish(static_cast<std::uint32_t>(std::stoul(id)),
				core::JobState::node_fail, 0, Cause::node_fail);
	}
	node_changed(name);
	schedule_soon();
	return Ok{};
}

/* ---- life ---- */

void Slurm::save_later()
{
	if (std::exchange(save_planned_, true))
		return;
	stage_.line.after(
		stage_.dice.between(Topic::save, k_slurm, 500 * k_ms, 5 * k_second), [this] {
			save_planned_ = false;
			if (!up_)
				return;
			saves_.push_front(state);
			if (saves_.size() > k_most_saves)
				saves_.pop_back();
		});
}

void Slurm::crash(std::size_t saves_back, Micros away)
{
	if (!up_)
		return;
	up_ = false;
	incarnation_++;
	break_link(away + k_second);
	if (saves_back < saves_.size()) {
		state = saves_[saves_back];
		saves_.erase(
			saves_.begin(), saves_.begin() + static_cast<std::ptrdiff_t>(saves_back));
	}
	stage_.line.after(away, [this] { restart(); });
}

void Slurm::restart()
{
	stage_.tell([] { return "slurmctld is back"; });
	up_ = true;
	restored_at = stage_.now();
	for (auto &[id, job] : state.jobs) {
		if (job.purge_at > 0)
			stage_.line.at(std::max(job.purge_at, stage_.now() + k_second),
				[this, id_copy = id] { purge(id_copy); });
		watch_limit(id);
	}
	first_look();
	schedule_soon();
	save_later();
	connect_after(stage_.dice.between(Topic::reconnect, k_slurm, 50 * k_ms, 2 * k_second));
}

void Slurm::changed(std::uint32_t id)
{
	save_later();
	stage_.line.after(stage_.dice.between(Topic::look, k_slurm, k_ms, 60 * k_ms),
		[this, id, at = incarnation_] {
			if (up_ && at == incarnation_)
				look(id);
		});
}

void Slurm::node_changed(const std::string &name)
{
	save_later();
	stage_.line.after(stage_.dice.between(Topic::look, k_slurm, k_ms, 60 * k_ms),
		[this, name, at = incarnation_] {
			if (up_ && at == incarnation_)
				look_at_node(name);
		});
}

} // namespace slurmkube::sim
