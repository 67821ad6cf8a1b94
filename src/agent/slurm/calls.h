/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - blocking libslurm calls, made by a few worker threads.
 *
 * A call enters a bounded queue; a worker makes it and posts the result to the loop. done runs on
 * the loop's thread, exactly once for each call, and never within the call itself. While slurmctld
 * is down, a call takes up to MessageTimeout (10 s) and then fails with `again`. Questions without
 * a link may reach a backup controller in standby: then libslurm sleeps for up to 1.5 times
 * SlurmctldTimeout (slurm_send_recv_controller_msg()). The loop does not wait. Submissions and
 * changes are ordered by the namespace in their marker (core/world/call_order.h); all other calls
 * go first.
 *
 * Error codes, by what the caller should do (the table is in errors.cc):
 *	invalid    Slurm refuses the request as it is; the text is Slurm's, meant for the user
 *	again      nothing happened; slurmctld is down, or a limit applies that may go away (the
 *	           text names it)
 *	io         the connection broke after the request was sent: its fate is unknown. All calls
 *	           may be repeated
 *	denied     the agent's user lacks the permission: an administrator must act
 *	not_found  there is no such job or node, or it has already ended
 *	conflict   the object has changed: read its state again
 */
#ifndef SLURMKUBE_AGENT_SLURM_CALLS_H
#define SLURMKUBE_AGENT_SLURM_CALLS_H

#include "src/agent/loop.h"
#include "src/agent/slurm/controller_choice.h"
#include "src/agent/slurm/controller_watch.h"
#include "src/agent/slurm/figures_pages.h"
#include "src/agent/slurm/native_jobs.h"
#include "src/agent/slurm/partitions.h"
#include "src/agent/slurm/workers.h"
#include "src/base/result.h"
#include "src/core/model/job.h"
#include "src/core/model/plugin.h"
#include "src/core/model/spec.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::slurm
{

struct SubmitReply {
	core::JobId id;
	/* a live job with this marker existed; the reply describes that job, and nothing was
	 * submitted */
	bool existed = false;
	bool allocated = false; /* the job runs; node and cpus are set. Otherwise it waits */
	std::string node;
	std::uint32_t cpus = 0;
	std::string partition, account; /* empty: not reported by Slurm */
};

struct Settings {
	/* path of slurm.conf; empty: libslurm searches (SLURM_CONF, then the default path) */
	std::string conf;
	int workers = 4; /* for submissions and changes, 1 to 8; one more for other calls */
	std::size_t queue_max = 10000;
};

template <class T> using Done = std::function<void(Result<T>)>;

/* ClusterName in the slurm.conf that libslurm has read; call after the construction of Calls. */
std::string configured_cluster();

class Calls
{
      public:
	/* At most one object per process, because libslurm's configuration is process-wide. The
	 * loop must outlive the object. libslurm ends the process if it cannot read slurm.conf, so
	 * check the file first (config.cc does). */
	Calls(agent::Loop &loop, const Settings &settings);

	/* Drops calls that have not begun, and waits for running calls (at most MessageTimeout).
	 * done is not called after this. */
	~Calls() = default;

	/* Slurm tries to start the job at once. A submission may be repeated: the guard in
	 * slurmctld admits only one live job per marker. */
	void submit(core::JobSpec spec, Done<SubmitReply> done);

	/* Changes options of a pending job: sets those named in given to their values in spec, and
	 * resets those named in removed. invalid: Slurm refuses a value, or an option cannot be
	 * reset. conflict: the job has started. */
	void update(core::JobId job, core::JobSpec spec, std::vector<std::string> given,
		std::vector<std::string> removed, Done<Ok> done);

	/* What the link shows. Calls that end a job compare the job's marker first, and before each
	 * further request, unless slurmctld is certainly the one for which they were meant. again:
	 * the number is another job's now. While a plugin is linked, only its slurmctld is called.
	 * When the link has closed, calls that would change something fail with again. */
	void link_opened(const core::PluginHello &hello);
	void link_heard(std::int64_t sent_us);
	void link_closed();

	/* Ends a running job with this wait status (0, n << 8, signal, k_oom_status). not_found:
	 * the job has already ended. */
	void complete(const core::MarkedJob &job, std::uint32_t wait_status, Done<Ok> done);

	/* Ends a running job with the state TIMEOUT; where its partition has an OverTimeLimit, with
	 * FAILED, signal 9. To be repeated after some seconds until the job has ended: the first
	 * call only moves the job's end time. */
	void expire(const core::MarkedJob &job, Done<Ok> done);

	/* Ends a pending or running job with the state CANCELLED. not_found: the job has already
	 * ended. */
	void cancel(const core::MarkedJob &job, Done<Ok> done);

	/* Like cancel(), for a job whose pod cannot be found. The marker records this first, if
	 * Slurm can change the job at all. */
	void give_up(const core::MarkedJob &job, Done<Ok> done);

	/* Creates a dynamic node (Slurm 24.11 and later). conflict: a node of that name exists. */
	void node_create(core::NodeSpec spec, core::Family family, Done<Ok> done);
	/* reason is written with drain and down only, unchanged (the caller adds the prefix);
	 * empty: the node keeps its reason. Draining a drained node, and so on, is no error.
	 * conflict: an administrator has drained the node or set it DOWN since; nothing was
	 * changed. */
	void node_set_state(
		std::string name, core::NodeStateChange change, std::string reason, Done<Ok> done);
	/* Replaces the whole text. */
	void node_set_extra(std::string name, std::string extra, Done<Ok> done);
	/* conflict: the node has jobs, or is not a dynamic node. */
	void node_delete(std::string name, Done<Ok> done);

	/* Asks for SlurmUser and the partitions. The call runs on a thread of its own, because the
	 * workers may be waiting for a slurmctld that is down. */
	void survey(KubeNodes nodes, Done<Survey> done);

	/* Partitions in which Slurm may start more than one job on the same CPUs. */
	void sharing_partitions(std::set<std::string> external, Done<SharingPartitions> done);

	/* Whether the controller answers. Does not wait until it comes back. */
	void ping(Done<Ok> done);

	/* Asks for Slurm's own metrics (figures_pages.h), on a thread of its own: jobs are a large
	 * answer. Never fails: the answers say what is missing. */
	void figures(const figures::Answers &before, const figures::Kinds &due,
		std::function<void(figures::Answers)> done);

	/* What slurmctld says of a native job; by a thread of its own, so that no other call waits
	 * behind the question. not_found: there is none; other errors: no answer. */
	void native_job(core::JobId id, Done<NativeReply> done);

	[[nodiscard]] std::size_t waiting() const { return workers_.waiting(); }

      private:
	template <class T>
	void run(std::function<Result<T>()> call, Done<T> done, const std::string &name_space = "")
	{
		run_by(workers_, std::move(call), std::move(done), name_space);
	}
	/* For calls that change something. */
	template <class T> void run_change(
		std::function<Result<T>()> call, Done<T> done, const std::string &name_space = "");
	template <class T> void run_by(Workers &workers, std::function<Result<T>()> call,
		Done<T> done, const std::string &name_space = "");

	void end(const core::MarkedJob &job,
		std::function<Status(const std::function<Status()> &same)> call, Done<Ok> done);

	template <class T> void post(Done<T> done, Result<T> result);

	agent::Loop &loop_;
	/* Held by this object alone; a result that finds the pointer expired is dropped. */
	std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
	std::weak_ptr<const bool> watch_ = alive_; /* workers copy it; never changed */
	ControllerWatch controller_;
	ControllerChoice choice_;
	NativeQuestions native_questions_; /* used by the thread of natives_ only */
	/* last members: their threads end before the other members are destroyed */
	Workers workers_, surveyor_, figures_, natives_;
};

/* The wait status that Slurm turns into the state OUT_OF_MEMORY. */
inline constexpr std::uint32_t k_oom_status = 253;

/* cpus-per-task has 16 bits; its two highest values have a special meaning, "not set". */
inline constexpr std::uint32_t k_cpus_max = 0xfffd;

} // namespace slurmkube::slurm

#endif
