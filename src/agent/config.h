/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config.h - slurmkubed.yaml as plain values. See slurmkubed.yaml(5).
 *
 * The parser is strict: an unknown or repeated key, a value of the wrong kind, an alias and nesting
 * that is too deep are errors with file and line. All errors are reported, not only the first.
 * Users and groups are resolved when the file is loaded; a number is accepted even if no user or
 * group has it.
 */
#ifndef SLURMKUBE_AGENT_CONFIG_H
#define SLURMKUBE_AGENT_CONFIG_H

#include "src/agent/log_sinks.h"
#include "src/core/device/rule.h"
#include "src/core/model/names.h"
#include "src/core/model/node.h"
#include "src/core/model/node_names.h"
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

/* Maps namespaces to Slurm users. The first matching rule applies; a namespace without a rule may
 * not submit pods. */
struct IdentityConfig {
	std::uint32_t min_uid = 1000; /* applies to users that an annotation of a namespace names */
	std::vector<core::NamespaceRule> rules;
	bool operator==(const IdentityConfig &) const = default;
};

struct SlurmConfig {
	std::string conf; /* path of slurm.conf; empty: libslurm's own search */
	int workers = 4;
	bool operator==(const SlurmConfig &) const = default;
};

struct NodesConfig {
	std::string selector_key = names::k_managed_label;
	std::optional<std::string> selector_value; /* none: any value */
	/* whether the agent creates, changes and deletes node records in Slurm, and transfers node
	 * states */
	bool manage = true;
	unsigned max_gone_percent = 10; /* of Slurm's external nodes that may vanish at once */
	int not_ready_after_seconds = 40;
	std::uint32_t cpu_unit = core::k_whole_cpu; /* Slurm's CPU, in thousandths */
	std::uint32_t reserve_cpus = 0;
	std::uint64_t reserve_memory_mib = 0;
	core::LabelFeatures features;              /* labels whose values become features */
	std::vector<std::string> tolerated_taints; /* keys of taints to ignore */
	core::NodeNames names;                     /* of the nodes in Slurm */
	/* conditions of Kubernetes nodes that drain them */
	std::vector<std::string> drain_conditions = core::default_drain_conditions();
	bool report_drains = false;       /* the condition SlurmDrain on Kubernetes nodes */
	bool pods_in_native_jobs = false; /* option job, on hybrid nodes */
	bool operator==(const NodesConfig &) const = default;
};

struct LimitsConfig {
	int writes_in_flight = 32;
	int forced_delete_hold_seconds = 3;
	int condition_interval_seconds = 30;
	/* how long to keep the job of a gang without live pods, for its owner to create new ones */
	int gang_hold_seconds = 10;
	/* from the allocation until the last pod of a gang exists; 0: no limit */
	int gang_wait_seconds = 600;
	/* the same of a component without a pod while pods of other components run; 0: no limit */
	int late_pods_seconds = 3600;
	/* how long to keep an allocation until the other components of the workload have theirs */
	int components_wait_seconds = 60;
	/* from the allocation until a pod's volume claims are bound; 0: no limit */
	int claim_wait_seconds = 600;
	/* from the allocation until Prolog is over on hybrid nodes; 0: no limit */
	int prolog_wait_seconds = 600;
	/* share of the jobs without a cluster uid in their marker that may be without pods at
	 * once */
	unsigned max_gone_pods_percent = 50;
	/* maximum time for a pod to end after its job; 0: the pod's own grace period */
	int grace_seconds = 3600;
	int start_seconds = 1800; /* from the binding until a container runs; 0: no limit */
	bool operator==(const LimitsConfig &) const = default;
};

/* HTTP for Prometheus and health probes. */
struct MetricsConfig {
	std::string listen = "127.0.0.1:9818"; /* http/address.h; empty: no HTTP */
	std::string token_file;                /* the bearer token for /metrics; empty: none */
	std::string tls_cert_file;             /* of HTTPS; empty: HTTP */
	std::string tls_key_file;
	bool is_public = false; /* /metrics needs no token beyond loopback either */
	bool operator==(const MetricsConfig &) const = default;
};

struct Config {
	std::string cluster = "kube"; /* name of the Kubernetes cluster; in every marker */
	std::string scheduler_name = names::k_default_scheduler_name;
	/* other names that pods may have as well, for example that of an earlier scheduler */
	std::vector<std::string> scheduler_aliases;
	std::string kubeconfig; /* path; empty: the service account of the agent's pod */
	SlurmConfig slurm;
	std::string partition = "kube";
	std::string plugin_socket = names::k_plugin_socket;
	std::string control_socket = names::k_control_socket;
	NodesConfig nodes;
	IdentityConfig identity;
	/* QOS and nice value of PriorityClasses; other classes have no effect */
	std::vector<core::PriorityClassRule> priority_classes;
	LimitsConfig limits;
	MetricsConfig metrics;
	core::GresTable gres = core::default_gres_table(); /* the first matching rule applies */
	core::DeviceRules devices;                         /* none: no device is looked at */
	std::uint32_t default_time_limit_minutes = 0;      /* 0: the partition's default */
	LogLevel log_level = LogLevel::info;
	LogFormat log_format = LogFormat::automatic;
	std::string audit_log; /* path; empty: none */

	/* Name and aliases. A pod must have one of them. */
	[[nodiscard]] std::vector<std::string> scheduler_names() const;
	[[nodiscard]] std::string scheduler_names_text() const; /* "slurm or older" */
	bool operator==(const Config &) const = default;
};

struct LoadedConfig {
	Config config;                   /* valid only if errors is empty */
	std::vector<std::string> errors; /* "file:line: key: sentence", sorted by line */
	/* the same form; accepted, but should be changed */
	std::vector<std::string> notes;
	/* every error is a user or group that could not be looked up, so a later attempt may
	 * succeed */
	bool may_pass = false;
};

/* Every key, for example "nodes.manage". A test compares the list with the manual page. */
std::vector<std::string> config_keys();

/* Both may block in NSS while they look up users and groups. file_name is for messages. */
LoadedConfig parse_config(std::string_view text, const std::string &file_name);
LoadedConfig load_config(const std::string &path);

} // namespace slurmkube::agent

#endif
