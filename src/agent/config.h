/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config.h - slurmkubed.yaml as plain values. See slurmkubed.yaml(5).
 *
 * Strict: an unknown or repeated key, a value of the wrong kind, an alias or too deep nesting is an
 * error with file and line. All errors are reported, not only the first. Users and groups are
 * resolved at load; a number is accepted even when nobody has it.
 */
#ifndef SLURMKUBE_AGENT_CONFIG_H
#define SLURMKUBE_AGENT_CONFIG_H

#include "src/base/log.h"
#include "src/core/model/names.h"
#include "src/core/policy/gres.h"
#include "src/core/policy/identity_rules.h"
#include "src/core/translate/translate.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::agent
{

/* Which namespace runs as whom. The first rule that matches holds; no rule: nobody of that
 * namespace may submit. */
struct IdentityConfig {
	std::uint32_t min_uid = 1000; /* of users whom a namespace's annotation names */
	std::vector<core::NamespaceRule> rules;
	bool operator==(const IdentityConfig &) const = default;
};

struct SlurmConfig {
	std::string conf; /* empty: libslurm's own search */
	int workers = 4;
	bool operator==(const SlurmConfig &) const = default;
};

struct NodesConfig {
	std::string selector_key = names::k_managed_label;
	std::optional<std::string> selector_value; /* none: any value */
	/* create, change and delete Slurm's records, and carry over states */
	bool manage = true;
	unsigned max_gone_percent = 10; /* of them may vanish from Kubernetes at once */
	int not_ready_after_seconds = 40;
	std::uint32_t cpu_unit = core::k_whole_cpu; /* thousandths */
	std::uint32_t reserve_cpus = 0;
	std::uint64_t reserve_memory_mib = 0;
	core::LabelFeatures features;              /* labels that are features in Slurm */
	std::vector<std::string> tolerated_taints; /* keys */
	bool operator==(const NodesConfig &) const = default;
};

struct LimitsConfig {
	int writes_in_flight = 32;
	int forced_delete_hold_seconds = 3;
	int condition_interval_seconds = 30;
	/* an allocation without a live pod waits so long for its owner to make new ones */
	int gang_hold_seconds = 10;
	/* from the allocation until the last pod of a gang has come; 0: any time */
	int gang_wait_seconds = 600;
	/* an allocation is held so long for the other components of its workload */
	int components_wait_seconds = 60;
	/* from the allocation until a pod's volume claims are bound; 0: any time */
	int claim_wait_seconds = 600;
	/* of jobs that do not name their cluster may be without pods at once */
	unsigned max_gone_pods_percent = 50;
	/* that a pod may take to end after its job; 0: as long as it says */
	int grace_seconds = 3600;
	int start_seconds = 1800; /* from the binding until something runs; 0: any time */
	bool operator==(const LimitsConfig &) const = default;
};

struct Config {
	std::string cluster = "kube"; /* our name for the Kubernetes cluster; in every marker */
	std::string scheduler_name = names::k_default_scheduler_name;
	std::string kubeconfig; /* path; empty: the service account of the pod we run in */
	SlurmConfig slurm;
	std::string partition = "kube";
	std::string plugin_socket = names::k_plugin_socket;
	std::string control_socket = names::k_control_socket;
	NodesConfig nodes;
	IdentityConfig identity;
	/* what they mean in Slurm; others mean nothing */
	std::vector<core::PriorityClassRule> priority_classes;
	LimitsConfig limits;
	core::GresTable gres = core::default_gres_table(); /* the first rule for a resource holds */
	std::uint32_t default_time_limit_minutes = 0;      /* 0: the partition's */
	LogLevel log_level = LogLevel::info;
	bool operator==(const Config &) const = default;
};

struct LoadedConfig {
	Config config;                   /* only to be used when errors is empty */
	std::vector<std::string> errors; /* "file:line: key: sentence" in the order of lines */
	/* the same form; what should be changed and is read all the same */
	std::vector<std::string> notes;
	/* all errors are users and groups that could not be looked up now */
	bool may_pass = false;
};

/* Every key there is, as "nodes.manage". For the test of the manual page. */
std::vector<std::string> config_keys();

LoadedConfig parse_config(std::string_view text, const std::string &file_name);
LoadedConfig load_config(const std::string &path);

} // namespace slurmkube::agent

#endif
