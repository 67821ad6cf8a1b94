/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm.h - a model slurmctld with its plugin: queue, nodes, job ends, the guard against duplicate
 * jobs, a saved state that lags behind, and the link to an agent.
 *
 * The plugin looks at a job some milliseconds after a change and reports what it sees then. Each
 * new connection starts with a snapshot of what the plugin has seen.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_SLURM_H
#define SLURMKUBE_TESTSUITE_SIM_SLURM_H

#include "testsuite/sim/stage.h"

#include <deque>
#include <map>
#include <set>

namespace slurmkube::sim
{

inline constexpr std::uint32_t k_agent_uid = 64030, k_user_uid = 1000;

/* Why a job ended. The causes up to node_fail are a user's wish or a fact of the cluster. */
enum class Cause {
	user,
	time_limit,
	preempted,
	node_fail,
	lost_answer,
	agent_complete,
	agent_cancel
};

struct JobTruth {
	core::SlurmJob facts;
	bool has_marker = false, is_plain_native = false;
	bool is_written_over = false; /* the marker is only in the plugin's copy */
	std::vector<std::string> required_nodes, excluded_nodes;
	std::uint64_t memory_mib = 0; /* per task */
	std::uint32_t cpus = 1;       /* per task */
	std::uint32_t tasks = 1, tasks_per_node = 0;
	std::uint32_t gpus = 0;                            /* per task */
	std::optional<std::uint32_t> gpus_on_node = {};    /* all, of a job that wants one node */
	bool is_exclusive = false;                         /* no other job may use its nodes */
	Micros started_at = 0, purge_at = 0, limit_at = 0; /* 0: none */
};

struct SlurmNodeTruth {
	core::SlurmNode facts; /* base is computed */
	bool down = false;
};

struct SlurmState {
	std::map<std::uint32_t, JobTruth> jobs;
	std::map<std::string, SlurmNodeTruth> nodes;
	std::uint32_t next_id = 1;
};

/* How the jobs of a pod ended; restoring an older state does not undo these records. */
struct EndRecord {
	std::uint32_t job = 0, attempt = 0;
	Cause cause = Cause::user;
	Micros at = 0;
	std::uint32_t status = 0; /* reported by the agent */
};

struct LinkPort {
	std::function<bool()> is_alive;
	std::function<bool(Timeline::Call)> defer;
	std::function<void(const core::PluginHello &, std::uint64_t link)> opened;
	std::function<void(const core::SlurmJob &)> job;
	std::function<void(core::JobId)> job_gone;
	std::function<void(const core::SlurmNode &)> node;
	std::function<void(const std::string &)> node_gone;
	std::function<void()> snapshot_ended;
	std::function<void(std::uint64_t link)> closed;
};

struct SubmitAnswer {
	core::Submitted submitted;
	bool existed = false;
};

class Slurm
{
      public:
	Slurm(Stage &stage, std::uint64_t seed);

	/* ---- RPCs, as slurmctld carries them out ---- */
	Result<SubmitAnswer> submit(const core::JobSpec &spec);
	[[nodiscard]] bool has_live_placeholder() const; /* of our cluster */
	/* wait_status nullopt: cancel */
	Status end(core::JobId job, std::optional<std::uint32_t> wait_status, bool for_absence);
	void answer_undelivered(core::JobId job);
	Status create_node(const core::NodeSpec &spec);
	Status delete_node(const std::string &name);
	Status set_extra(const std::string &name, const std::string &extra);
	Status change_node(const std::string &name, core::NodeStateChange change,
		const std::string &reason, bool by_agent);

	/* ---- people ---- */
	void add_native(std::uint64_t number);
	void add_other_cluster(std::uint64_t number);
	void finish(std::uint32_t job, core::JobState state, std::uint32_t status, Cause cause);
	void set_held(std::uint32_t job, bool held);
	void set_suspended(std::uint32_t job, bool suspended);
	void write_over_marker(std::uint32_t job);
	Micros refuse_until = 0, full_until = 0;

	/* ---- life of slurmctld ---- */
	void crash(std::size_t saves_back, Micros away);
	[[nodiscard]] bool is_up() const { return up_; }
	[[nodiscard]] std::uint64_t incarnation() const { return incarnation_; }
	[[nodiscard]] std::size_t saves() const { return saves_.size(); }

	/* ---- the link ---- */
	void set_port(unsigned agent, LinkPort port) { ports_[agent] = std::move(port); }
	void break_link(Micros pause);
	void lead(unsigned agent) { leader_ = agent; }
	[[nodiscard]] unsigned leader() const { return leader_; }
	void slow_link(Micros until) { slow_until_ = until; }
	/* when slurmctld last restored an older state, after which a pod may have two jobs */
	Micros restored_at = -1;

	/* ---- the truth ---- */
	SlurmState state;
	std::map<std::string, std::vector<EndRecord>> ends; /* by uid */
	std::string cluster = "main";
	bool dynamic_nodes = false;
	[[nodiscard]] std::vector<const JobTruth *> live_jobs_of(const std::string &uid) const;
	[[nodiscard]] bool is_known_to_plugin(const JobTruth &job) const;
	[[nodiscard]] const JobTruth *find(std::uint32_t job) const;
	[[nodiscard]] std::vector<std::string> ids_if(
		const std::function<bool(const JobTruth &)> &wanted) const;
	[[nodiscard]] std::uint32_t free_cpus(const SlurmNodeTruth &node) const;
	[[nodiscard]] std::uint64_t free_memory(const SlurmNodeTruth &node) const;
	[[nodiscard]] std::vector<std::uint32_t> free_gpus(const SlurmNodeTruth &node) const;
	std::function<void(const JobTruth &)> on_created;

      private:
	JobTruth &create(const core::JobSpec &spec);
	[[nodiscard]] std::uint32_t tasks_on(const JobTruth &job, const SlurmNodeTruth &node) const;
	[[nodiscard]] std::vector<core::NodeAllocation> allocation_of(const JobTruth &job) const;
	bool start(JobTruth &job);
	/* Which devices: any that are free. */
	void give_gpus(const JobTruth &job, core::NodeAllocation &share) const;
	void schedule_soon();
	void schedule();
	void changed(std::uint32_t job);
	void node_changed(const std::string &node);
	void purge(std::uint32_t job);
	void watch_limit(std::uint32_t job);
	void save_later();
	void restart();
	[[nodiscard]] core::SlurmNode facts_of(const SlurmNodeTruth &node) const;
	/* plugin.cc */
	void look(std::uint32_t job);
	void look_at_node(const std::string &node);
	void first_look();
	void connect_after(Micros delay);
	void connect();
	void send(std::function<void(LinkPort &)> line);
	[[nodiscard]] core::PluginHello hello() const;

	Stage &stage_;
	std::deque<SlurmState> saves_;
	bool save_planned_ = false, pass_planned_ = false, up_ = true;
	std::uint64_t incarnation_ = 1;
	std::map<unsigned, LinkPort> ports_;
	unsigned leader_ = 0;
	/* what the plugin has seen */
	std::map<std::uint32_t, core::SlurmJob> seen_jobs_;
	std::map<std::string, core::SlurmNode> seen_nodes_;
	bool linked_ = false;
	unsigned linked_to_ = 0;
	std::uint64_t link_epoch_ = 0;
	Micros tail_ = 0, slow_until_ = 0;
};

/* What the job has on the node; nullptr: nothing. */
const core::NodeAllocation *share_on(const JobTruth &job, const std::string &node);
/* The number of GPUs in a list of GRES. */
std::uint32_t gpus_in(const std::string &gres);

} // namespace slurmkube::sim

#endif
