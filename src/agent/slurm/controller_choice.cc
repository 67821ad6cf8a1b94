/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/controller_choice.h"

#include <slurm/slurm.h>

#include <utility>

/* libslurm of every version from 22.05 to 26.05 exports them, and no header for users declares
 * them. Whatever reads the list of hosts holds the lock, and copies the list. */
extern "C" slurm_conf_t *slurm_conf_lock();
extern "C" void slurm_conf_unlock();

namespace slurmkube::slurm
{

namespace
{

class Locked
{
      public:
	Locked() : conf_(*slurm_conf_lock()) {}
	Locked(const Locked &) = delete;
	Locked &operator=(const Locked &) = delete;
	~Locked() { slurm_conf_unlock(); }

	/* by its full or its short name, as slurmctld finds itself */
	[[nodiscard]] bool is_at(std::uint32_t index, const std::string &host) const
	{
		const char *name = conf_.control_machine[index];
		return name && (host == name || host.substr(0, host.find('.')) == name);
	}
	void swap_with_first(std::uint32_t index) const
	{
		std::swap(conf_.control_machine[0], conf_.control_machine[index]);
		std::swap(conf_.control_addr[0], conf_.control_addr[index]);
	}
	[[nodiscard]] std::uint32_t &count() const { return conf_.control_cnt; }

      private:
	slurm_conf_t &conf_;
};

} // namespace

ControllerChoice::~ControllerChoice()
{
	show_all();
}

void ControllerChoice::choose(const std::string &host)
{
	const std::lock_guard lock(mutex_);
	wanted_ = host;
}

void ControllerChoice::apply()
{
	const std::lock_guard applying(applying_);
	std::string wanted;
	{
		const std::lock_guard lock(mutex_);
		wanted = wanted_;
	}
	if (wanted == applied_)
		return;
	show_all();
	if (!wanted.empty())
		show_only(wanted);
	applied_ = std::move(wanted);
}

void ControllerChoice::show_only(const std::string &host)
{
	const Locked conf;
	std::uint32_t index = 0;
	while (index < conf.count() && !conf.is_at(index, host))
		index++;
	if (index >= conf.count() || conf.count() < 2)
		return;
	conf.swap_with_first(index);
	chosen_ = index;
	all_ = std::exchange(conf.count(), 1);
}

void ControllerChoice::show_all()
{
	if (all_ == 0)
		return;
	const Locked conf;
	conf.count() = std::exchange(all_, 0);
	conf.swap_with_first(chosen_);
}

} // namespace slurmkube::slurm
