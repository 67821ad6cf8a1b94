/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * controller_choice.h - which of the SlurmctldHosts libslurm calls.
 *
 * Only the slurmctld whose plugin is linked matters. By itself libslurm remembers the host that
 * answered last, tries the next one whenever a host is away, and sleeps for half of
 * SlurmctldTimeout if that one is in standby. So while a plugin is linked, libslurm knows its host
 * alone. Otherwise it knows all hosts, so that `skube check` of a standby agent finds the one in
 * control.
 *
 * A SlurmctldAddr, the address that moves with control, stays as it is: libslurm then calls no
 * other.
 */
#ifndef SLURMKUBE_AGENT_SLURM_CONTROLLER_CHOICE_H
#define SLURMKUBE_AGENT_SLURM_CONTROLLER_CHOICE_H

#include <cstdint>
#include <mutex>
#include <string>

namespace slurmkube::slurm
{

/* After slurm_init(). At most one object per process; any thread. */
class ControllerChoice
{
      public:
	ControllerChoice() = default;
	ControllerChoice(const ControllerChoice &) = delete;
	ControllerChoice &operator=(const ControllerChoice &) = delete;
	~ControllerChoice();

	/* host: as gethostname() names it there; empty, or not in slurm.conf: all hosts. Takes
	 * effect with the next apply(). */
	void choose(const std::string &host);
	/* To be called before each call of libslurm. Waits for libslurm's lock, under which it
	 * resolves names. */
	void apply();

      private:
	void show_all();
	void show_only(const std::string &host);

	std::mutex mutex_, applying_;
	std::string wanted_;                 /* guarded by mutex_ */
	std::string applied_;                /* this and the rest: guarded by applying_ */
	std::uint32_t all_ = 0, chosen_ = 0; /* all_ 0: libslurm knows all hosts */
};

} // namespace slurmkube::slurm

#endif
