/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of NodeWatch that makes Slurm load the devices in gres.conf for external nodes. */
#include "src/plugins/job_submit/kube/node_watch.h"

#include "src/base/guard.h"
#include "src/base/log.h"
#include "src/plugins/job_submit/kube/files.h"

namespace slurmkube::plugin
{

namespace
{

const HostLists k_host_lists = {
	[](const std::string &hosts, const std::string &name) {
		return kube_seam_hostlist_has(hosts.c_str(), name.c_str());
	},
	[](const std::string &hosts, std::size_t most) {
		std::vector<std::string> names;
		auto add = [](void *to, const char *name) noexcept {
			auto &all = *static_cast<std::vector<std::string> *>(to);
			guard(
				0, [](const char *) {}, [&] { return all.emplace_back(name), 0; });
		};
		bool fits =
			kube_seam_hostlist_each(hosts.c_str(), static_cast<int>(most), add, &names);
		return fits ? names : std::vector<std::string>();
	},
};

} // namespace

/* Reads the file just before Slurm does, so that Slurm reads what was checked. LIMIT: a file that
 * is changed within these milliseconds is loaded unchecked. */
void NodeWatch::read_gres_conf()
{
	devices_.conf = parse_gres_conf(read_conf_file("gres.conf"));
	if (devices_.conf.trouble.empty() && !read_conf_file("fake_gpus.conf").empty())
		devices_.conf.trouble = "fake_gpus.conf is there";
}

void NodeWatch::load_gres_of(const std::string &name)
{
	if (!names_node(devices_.conf, name, k_host_lists) && devices_.conf.trouble.empty())
		return;
	kube_gres_facts facts = {};
	{
		LockHold hold(KUBE_READ, meter_);
		if (!kube_seam_gres_facts(name.c_str(), &facts))
			return;
	}
	std::string why = facts.shares ? "GresTypes has mps or shard"
		: facts.mixes ? "some of its devices in slurm.conf have a type, others have none"
			      : why_not_to_load(devices_.conf, {name, facts.cpus}, k_host_lists);
	if (!why.empty()) {
		if (why != devices_.trouble)
			log_warning("node %s: gres.conf is not loaded, its devices are counted and "
				    "not numbered: %s",
				name.c_str(), why.c_str());
		devices_.trouble = std::move(why);
		return;
	}
	LockHold hold(KUBE_WRITE, meter_);
	kube_seam_node_load_gres(name.c_str(), &facts);
	wants_kick_ = true;
}

/* Once per node and generation. Slurm reads gres.conf under the lock, so each node has a hold of
 * its own. */
void NodeWatch::load_gres()
{
	if (devices_.generation != look_.generation) {
		devices_.generation = look_.generation;
		devices_.done.clear();
		devices_.trouble.clear();
	}
	bool is_read = false;
	for (const std::string &name : found_.gres) {
		if (!devices_.done.insert(name).second)
			continue;
		if (!std::exchange(is_read, true))
			read_gres_conf();
		load_gres_of(name);
	}
}

} // namespace slurmkube::plugin
