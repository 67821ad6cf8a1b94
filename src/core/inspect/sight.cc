/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/inspect/sight.h"

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_waiting_named_most = 8;

/* "12,13,14,...": up to the dots, scancel and scontrol accept it. */
std::string numbers_of(const std::map<JobId, std::string> &jobs)
{
	std::string text;
	std::size_t named = 0;
	for (const auto &[id, cluster] : jobs) {
		if (named++ == k_waiting_named_most)
			return text + ",...";
		text += (text.empty() ? "" : ",") + std::to_string(id.number);
	}
	return text;
}

} // namespace

std::string other_cluster_text(const World &world)
{
	const auto &jobs = world.state().clusters.of_other_clusters();
	if (jobs.empty())
		return {};
	const Policy &policy = world.state().settings.policy;
	return "kubeconfig leads to the cluster whose namespace kube-system has uid " +
		policy.cluster_uid + ", and " + std::to_string(jobs.size()) +
		" live jobs of cluster \"" + policy.cluster + "\" are of the one with uid " +
		jobs.begin()->second + " (jobs " + numbers_of(jobs) +
		"): nothing is done for any pod, job or node";
}

std::string other_cluster_remedy(const World &world)
{
	return "correct kubeconfig in slurmkubed.yaml and restart slurmkubed; if the cluster was "
	       "made anew, the jobs' pods are gone: scancel " +
		numbers_of(world.state().clusters.of_other_clusters());
}

std::string other_name_text(const World &world)
{
	const auto jobs = world.state().clusters.of_other_names();
	if (jobs.empty())
		return {};
	return std::to_string(jobs.size()) +
		" live jobs of this Kubernetes cluster bear its name \"" + jobs.begin()->second +
		"\", and slurmkubed.yaml says cluster: " + world.state().settings.policy.cluster +
		" (jobs " + numbers_of(jobs) + "): nothing is done for them and their pods";
}

std::string other_name_remedy(const World &world)
{
	const auto jobs = world.state().clusters.of_other_names();
	return "set cluster: " + (jobs.empty() ? "" : jobs.begin()->second) +
		" in slurmkubed.yaml and restart slurmkubed; if an agent with that name runs "
		"elsewhere, kubeconfig is wrong in one of the two; jobs whose pods are gone: "
		"scancel " +
		numbers_of(jobs);
}

std::string absent_pods_text(const World &world)
{
	if (world.held_absent_pods() == 0)
		return {};
	return std::to_string(world.held_absent_pods()) +
		" jobs that do not name their cluster are without pods, too many to be believed: "
		"none of them is ended";
}

std::string absent_pods_remedy()
{
	return "if their pods should be there: compare kubeconfig in slurmkubed.yaml with kubectl "
	       "get pods -A; if they are gone for good: scancel the jobs, or "
	       "raise limits.max_gone_pods_percent and reload slurmkubed";
}

} // namespace slurmkube::core
