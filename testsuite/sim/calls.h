/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - how a call reaches the model API server or slurmctld, and how the answer comes back:
 * either can be delayed, lost before or after the call's effect, refused or stalled.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_CALLS_H
#define SLURMKUBE_TESTSUITE_SIM_CALLS_H

#include "testsuite/sim/kube.h"
#include "testsuite/sim/slurm.h"

namespace slurmkube::sim
{

/* Requests to the API server. The script sets the faults that requests meet. */
class Api
{
      public:
	Api(Stage &stage, Kube &kube) : stage_(stage), kube_(kube) {}
	/* effect runs on the server, at most once. done runs on the caller's side, which decides
	 * whether it still listens. */
	void call(std::uint64_t key, std::function<Status()> effect,
		std::function<void(const Status &)> done);
	Micros away_until = 0, trouble_until = 0, stalled_until = 0;
	Micros bindings_refused_until = 0;
	Error binding_error{Errc::denied, ""};
	[[nodiscard]] bool is_away() const { return stage_.now() < away_until; }

      private:
	enum class Fate {
		fine,
		refused,
		lost_before,
		lost_after,
		conflict,
		busy,
		broken,
		forbidden
	};
	Fate fate_of(std::uint64_t key);
	Stage &stage_;
	Kube &kube_;
};

/* RPCs to slurmctld. */
class Rpc
{
      public:
	Rpc(Stage &stage, Slurm &slurm) : stage_(stage), slurm_(slurm) {}
	/* is_listening: the caller's process is alive */
	void submit(std::uint64_t key, core::JobSpec spec, std::function<bool()> is_listening,
		std::function<void(const Result<core::Submitted> &)> done);
	void call(std::uint64_t key, std::function<Status()> effect,
		std::function<void(const Status &)> done);
	Micros answers_lost_until = 0;
	std::uint64_t count = 0;

      private:
	Micros way(std::uint64_t key);
	Stage &stage_;
	Slurm &slurm_;
};

} // namespace slurmkube::sim

#endif
