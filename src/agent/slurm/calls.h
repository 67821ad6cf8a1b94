/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - blocking libslurm calls, made by a few worker threads.
 *
 * A call is put in a bounded queue; a worker carries it out and posts the result to the loop. done
 * runs on the loop's thread, exactly once for each call, never inside the call itself. While
 * slurmctld is away a call takes up to MessageTimeout (10 s) and then fails with `again`; the loop
 * does not wait. Submissions and changes go in the order of core/world/call_order.h, by the
 * namespace of their marker; the rest goes before them.
 *
 * Errors, by what to do (the table is in errors.cc):
 *	invalid    Slurm refuses the request as it is; what is Slurm's text, made for the user
 *	again      nothing happened; slurmctld is away or a limit stands in the way that may go away
 *	           (its text is in what)
 *	io         the connection broke after the request was sent: its fate is unknown. All calls
 *	           may be repeated
 *	denied     the agent's user may not do that: an administrator must act
 *	not_found  there is no such job or node, or it has ended already
 *	conflict   somebody changed it: look again
 */
#ifndef SLURMKUBE_AGENT_SLURM_CALLS_H
#define SLURMKUBE_AGENT_SLURM_CALLS_H

#include "src/agent/loop.h"
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
	/* the guard knew a live job with this marker: it is the one told here, nothing was
	 * submitted */
	bool existed = false;
	bool allocated = false; /* it runs: node and cpus are set. Else it waits */
	std::string node;
	std::uint32_t cpus = 0;
	std::string partition, account; /* empty: Slurm did not say */
};

struct Settings {
	/* path of slurm.conf; empty: libslurm's own search (SLURM_CONF, the default place) */
	std::string conf;
	int workers = 4; /* that submit and change, 1 to 8; one more is there for ends and nodes */
	std::size_t queue_max = 10000;
};

template <class T> using Done = std::function<void(Result<T>)>;

class Calls
{
      public:
	/* One object a process: libslurm's configuration is process-wide. The loop must outlive it.
	 * libslurm ends the process when slurm.conf cannot be read: check that before (config.cc
	 * does). */
	Calls(agent::Loop &loop, const Settings &settings);

	/* Calls not yet begun are dropped, running ones are waited for (at most MessageTimeout); no
	 * done runs any more. */
	~Calls() = default;

	/* Tries to start at once. Repeating it is safe: the guard in slurmctld admits one live job
	 * for a marker. */
	void submit(core::JobSpec spec, Done<SubmitReply> done);

	/* Gives a waiting job the options that spec has: those of given are set, those of removed
	 * taken back. invalid: Slurm does not want it, or one cannot be taken back. conflict: it
	 * has started. */
	void update(core::JobId job, core::JobSpec spec, std::vector<std::string> given,
		std::vector<std::string> removed, Done<Ok> done);

	/* Ends a running job with this wait status (0, n << 8, signal, k_oom_status). not_found: it
	 * has ended already. */
	void complete(core::JobId job, std::uint32_t wait_status, Done<Ok> done);

	/* A running job ends TIMEOUT. To be repeated after some seconds until it has: the first
	 * call only moves its end. */
	void expire(core::JobId job, Done<Ok> done);

	/* Pending or running; it ends CANCELLED. not_found: it has ended already. */
	void cancel(core::JobId job, Done<Ok> done);

	/* The same, as no pod is in sight: first its marker says so, if Slurm can change the job at
	 * all. */
	void give_up(core::JobId job, core::Marker marker, Done<Ok> done);

	/* Dynamic node (Slurm 24.11 and later). conflict: a node of that name exists. */
	void node_create(core::NodeSpec spec, core::Family family, Done<Ok> done);
	/* reason is set with drain and down only, as given (prefix it); empty: the node keeps its
	 * own. Draining a drained node, and so on, is fine. conflict: somebody else has taken it
	 * out of use since; nothing was done. */
	void node_set_state(
		std::string name, core::NodeStateChange change, std::string reason, Done<Ok> done);
	/* conflict: jobs are on it, or it is not a dynamic node. */
	void node_delete(std::string name, Done<Ok> done);

	/* Who and what slurmctld is, asked now by a thread of its own: others may be waiting for a
	 * slurmctld that is away. external: nodes without slurmd. */
	void survey(std::set<std::string> external, Done<Survey> done);

	/* Partitions where more than one job may be started for the same CPUs. */
	void sharing_partitions(std::set<std::string> external, Done<SharingPartitions> done);

	/* Does the controller answer? Does not wait for it to come back. */
	void ping(Done<Ok> done);

	[[nodiscard]] std::size_t waiting() const { return workers_.waiting(); }

      private:
	template <class T>
	void run(std::function<Result<T>()> call, Done<T> done, const std::string &name_space = "")
	{
		run_by(workers_, std::move(call), std::move(done), name_space);
	}
	template <class T> void run_by(Workers &workers, std::function<Result<T>()> call,
		Done<T> done, const std::string &name_space = "");

	template <class T> void post(Done<T> done, Result<T> result);

	agent::Loop &loop_;
	/* Held by this object alone; a result that finds it gone is dropped. */
	std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
	std::weak_ptr<const bool> watch_ = alive_; /* copied by workers, never changed */
	/* last: their threads end before the rest goes */
	Workers workers_, surveyor_;
};

/* Wait status that Slurm turns into OUT_OF_MEMORY. */
inline constexpr std::uint32_t k_oom_status = 253;

/* cpus-per-task has 16 bits; the two highest numbers mean "not set". */
inline constexpr std::uint32_t k_cpus_max = 0xfffd;

} // namespace slurmkube::slurm

#endif
