/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/config.h"
#include "src/agent/config_trial.h"
#include "src/agent/identity.h"
#include "src/base/owned.h"
#include "testsuite/unit/check.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nss.h>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <utility>

using namespace slurmkube;
using namespace slurmkube::agent;

namespace
{

LoadedConfig parse(const std::string &text)
{
	return parse_config(text, "f");
}

/* All errors of text, in one line. */
std::string error_of(const std::string &text)
{
	std::string all;
	for (const std::string &error : parse(text).errors)
		all += (all.empty() ? "" : " | ") + error;
	return all;
}

std::string read_file(const std::string &path)
{
	std::ifstream file(path);
	std::ostringstream text;
	text << file.rdbuf();
	return text.str();
}

/* Automake passes the source directory in $srcdir. */
std::string source_file(const std::string &path)
{
	const char *top = std::getenv("srcdir"); // NOLINT(concurrency-mt-unsafe): one thread
	return read_file(std::string(top ? top : ".") + "/" + path);
}

constexpr char k_full[] = R"(
cluster: main
scheduler_name: slurm-a
scheduler_aliases: [older, oldest]
kubeconfig: /etc/kube.conf
slurm:
  workers: 8
partition: pods
plugin_socket: /run/a.sock
control_socket: /run/b.sock
nodes:
  selector: pool=hpc
  manage: false
  not_ready_after: 90
  cpu_unit: 100m
  name_prefix: alpha-
  features: [{label: topology.kubernetes.io/zone}, {label: disk, prefix: d_}]
  reserve_cpus: 1
  reserve_memory_mib: 512
  tolerated_taints: [example.com/gpu, other]
  drain_conditions: [GpuLost]
  report_drains: true
  pods_in_native_jobs: true
devices:
  - driver: gpu.example.com
    gres: accel
    only: device.attributes['gpu.example.com'].type == 'gpu'
    type_attribute: example.com/model
    order: name
  - driver: nic.example.com
  - driver: dra.cpu
    cores: true
identity:
  min_uid: 500
  rules:
    - namespace: physics
      user: 4000001
      group: 4000002
      accounts: [phys, "phys-long"]
      partitions: [pods]
      qos: [normal]
      permissions: [may_set_priority]
      reservations: [night]
      wckeys: ["*"]
    - selector: "team in (a, b), !old"
      annotation: example.com/pays=yes
      user_from: id/user
      accounts_from: id/accounts
      partitions_from: id/partitions
      qos_from: id/qos
    - namespace: "*"
      user: root
limits:
  writes_in_flight: 64
  forced_delete_hold_seconds: 0
  condition_interval_seconds: 5
  max_gone_pods_percent: 40
  start_seconds: 90
  grace_seconds: 120
  gang_hold_seconds: 7
  gang_wait_seconds: 70
  late_pods_seconds: 72
  components_wait_seconds: 75
  claim_wait_seconds: 80
  prolog_wait_seconds: 85
metrics:
  listen: "[::]:9000"
  public: true
default_time_limit_minutes: 60
log_level: debug
)";

void every_key_is_read()
{
	const LoadedConfig loaded = parse(k_full);
	CHECK_EQUAL(error_of(k_full), "");
	Config wanted;
	wanted.cluster = "main";
	wanted.scheduler_name = "slurm-a";
	wanted.scheduler_aliases = {"older", "oldest"};
	wanted.kubeconfig = "/etc/kube.conf";
	wanted.slurm.workers = 8;
	wanted.partition = "pods";
	wanted.plugin_socket = "/run/a.sock";
	wanted.control_socket = "/run/b.sock";
	wanted.nodes = {.selector_key = "pool",
		.selector_value = "hpc",
		.manage = false,
		.not_ready_after_seconds = 90,
		.cpu_unit = 100,
		.reserve_cpus = 1,
		.reserve_memory_mib = 512,
		.features = {{"topology.kubernetes.io/zone", ""}, {"disk", "d_"}},
		.tolerated_taints = {"example.com/gpu", "other"},
		.names = {"alpha-"},
		.drain_conditions = {"GpuLost"},
		.report_drains = true,
		.pods_in_native_jobs = true};
	wanted.devices.resize(3);
	wanted.devices[0].driver = "gpu.example.com";
	wanted.devices[0].gres = "accel";
	wanted.devices[0].only =
		*core::cel::compile("device.attributes['gpu.example.com'].type == 'gpu'");
	wanted.devices[0].type_attribute = "example.com/model";
	wanted.devices[0].order = core::DeviceOrder::name;
	wanted.devices[1].driver = "nic.example.com";
	wanted.devices[2].driver = "dra.cpu";
	wanted.devices[2].gres = "cores";
	wanted.devices[2].is_cores = true;
	using Op = core::LabelRequirement::Op;
	core::NamespaceRule physics{.name_space = "physics",
		.user_id = 4000001,
		.group_id = 4000002,
		.accounts = {"phys", "phys-long"},
		.partitions = {"pods"},
		.qos = {"normal"}};
	physics.permissions = {"may_set_priority"};
	physics.reservations = {"night"};
	physics.wckeys = {"*"};
	physics.has_group = true;
	physics.user = "4000001";
	core::NamespaceRule annotated{
		.name_space = "", .accounts = {}, .partitions = {}, .qos = {}};
	annotated.selector = {{"team", Op::in, {"a", "b"}}, {"old", Op::absent, {}}};
	annotated.selector_text = "team in (a, b), !old";
	annotated.annotation_key = "example.com/pays";
	annotated.annotation_value = "yes";
	annotated.user_from = "id/user";
	annotated.accounts_from = "id/accounts";
	annotated.partitions_from = "id/partitions";
	annotated.qos_from = "id/qos";
	core::NamespaceRule others{.name_space = "*", .accounts = {}, .partitions = {}, .qos = {}};
	others.user = "root";
	wanted.identity = {500, {physics, annotated, others}};
	wanted.limits = {64, 0, 5, 7, 70, 72, 75, 80, 85, 40, 120, 90};
	wanted.metrics.listen = "[::]:9000";
	wanted.metrics.is_public = true;
	wanted.default_time_limit_minutes = 60;
	wanted.log_level = LogLevel::debug;
	CHECK(loaded.config == wanted);
}

void nothing_means_defaults()
{
	for (const char *text : {"", "\n# only a comment\n", "---\n"}) {
		CHECK_EQUAL(error_of(text), "");
		CHECK(parse(text).config == Config());
	}
}

void unknown_keys_name_line_and_choices()
{
	CHECK_EQUAL(error_of("cluster: a\nclutser: b\n"),
		"f:2: 'clutser' is not a key here; known are cluster, scheduler_name, "
		"scheduler_aliases, kubeconfig, slurm, partition, plugin_socket, "
		"control_socket, nodes, gres, devices, identity, priority_classes, limits, "
		"metrics, default_time_limit_minutes, log_level, log_format, audit_log");
	CHECK_EQUAL(error_of("slurm:\n  worker: 1\n"),
		"f:2: slurm: 'worker' is not a key here; known are conf, workers");
	CHECK_EQUAL(error_of("identity:\n rules:\n - namespace: a\n   user: root\n   uid: 1\n"),
		"f:5: identity.rules[0]: 'uid' is not a key here; known are namespace, selector, "
		"annotation, user, user_from, group, accounts, accounts_from, partitions, "
		"partitions_from, qos, qos_from, permissions, reservations, wckeys");
}

void repeated_keys_are_refused()
{
	CHECK_EQUAL(error_of("cluster: a\ncluster: b\n"), "f:2: 'cluster' stands here twice");
}

void wrong_values_are_refused()
{
	const struct {
		const char *text, *error;
	} rows[] = {
		{"slurm: {workers: nine}",
			"f:1: slurm.workers: 'nine' is not a number from 1 to 8"},
		{"slurm: {workers: 9}", "f:1: slurm.workers: '9' is not a number from 1 to 8"},
		{"slurm: {workers: 4x}", "f:1: slurm.workers: '4x' is not a number from 1 to 8"},
		{"slurm: {workers: 99999999999999999999}",
			"f:1: slurm.workers: '99999999999999999999' is not a number from 1 to 8"},
		{"slurm: {workers: }", "f:1: slurm.workers: '' is not a number from 1 to 8"},
		{"scheduler_aliases: a",
			"f:1: scheduler_aliases: must be a list, as in [one, two]"},
		{"scheduler_aliases: [a/b]",
			"f:1: scheduler_aliases: 'a/b' is not a name of letters, digits, '-', '.' "
			"and '_'"},
		{"scheduler_name: a\nscheduler_aliases: [b, a]",
			"f:2: 'a' stands twice in scheduler_name and scheduler_aliases: remove "
			"one"},
		{"scheduler_aliases: [a, b, c, d, e, f, g, h]",
			"f:1: scheduler_aliases: has more than 7 names: each costs the API server "
			"a watch"},
		{"scheduler_aliases: [default-scheduler]",
			"f:1: scheduler_aliases: 'default-scheduler': kube-scheduler would bind "
			"these pods too. The policy 'skube manifests --only "
			"scheduler-name-policy' gives pods without a name scheduler_name instead"},
		{"slurm: 4", "f:1: slurm: must be a mapping (key: value lines)"},
		{"slurm:\n  conf: /nonexistent/slurm.conf",
			"f:2: slurm.conf: '/nonexistent/slurm.conf' cannot be read: No such file "
			"or directory"},
		{"nodes: {manage: yes}", "f:1: nodes.manage: 'yes' is neither true nor false"},
		{"nodes: {not_ready_after: -1}",
			"f:1: nodes.not_ready_after: '-1' is not a number from 0 to 86400"},
		{"nodes: {selector: a=b=c}",
			"f:1: nodes.selector: 'a=b=c' is not one label, as in example.com/name or "
			"example.com/name=value"},
		{"nodes: {selector: a//b}",
			"f:1: nodes.selector: 'a//b' is not one label, as in example.com/name or "
			"example.com/name=value"},
		{"nodes: {selector: a=b/c}",
			"f:1: nodes.selector: 'a=b/c' is not one label, as in example.com/name or "
			"example.com/name=value"},
		{"nodes: {drain_conditions: [a/b]}",
			"f:1: nodes.drain_conditions: 'a/b' is not a condition's type, as in "
			"KernelDeadlock"},
		{"nodes: {drain_conditions: [KernelDeadlock, SlurmDrain]}",
			"f:1: nodes.drain_conditions: 'SlurmDrain' is the condition that the agent "
			"itself writes (nodes.report_drains): remove it from the list"},
		{"nodes: {report_drains: yes}",
			"f:1: nodes.report_drains: 'yes' is neither true nor false"},
		{"nodes: {pods_in_native_jobs: on}",
			"f:1: nodes.pods_in_native_jobs: 'on' is neither true nor false"},
		{"nodes: {tolerated_taints: x}",
			"f:1: nodes.tolerated_taints: must be a list, as in [one, two]"},
		{"nodes: {tolerated_taints: [a b]}",
			"f:1: nodes.tolerated_taints: 'a b' is not a label's or taint's key, as in "
			"example.com/name"},
		{"cluster: 'a b'",
			"f:1: cluster: 'a b' is not a name of letters, digits, '-', '.' and '_'"},
		{"cluster: [a]",
			"f:1: cluster: '' is not a name of letters, digits, '-', '.' and '_'"},
		{"partition: a,b",
			"f:1: partition: 'a,b' is not a name of letters, digits, '-', '.' and '_'"},
		{"kubeconfig: kube.conf", "f:1: kubeconfig: 'kube.conf' is not an absolute path"},
		{"gres: gpu", "f:1: gres: must be a list of rules (- resource: ...)"},
		{"gres: [{name: gpu}]", "f:1: gres[0]: a rule needs a resource"},
		{"gres: [{resource: gpu}]",
			"f:1: gres[0].resource: 'gpu' is no extended resource: it has a '/', and a "
			"'*' only at its end"},
		{"gres: [{resource: 'a/*b'}]",
			"f:1: gres[0].resource: 'a/*b' is no extended resource: it has a '/', and "
			"a '*' only at its end"},
		{"gres: [{resource: a/b, type: 'x-*'}]",
			"f:1: gres[0]: type 'x-*' has a '*', but resource 'a/b' has none"},
		{"gres: [{resource: a/b, type: x, type_from: y}]",
			"f:1: gres[0]: type and type_from exclude each other"},
		{"log_level: loud",
			"f:1: log_level: 'loud' is not one of error, warning, info, debug"},
		{"nodes: {name_prefix: a/b}",
			"f:1: nodes.name_prefix: 'a/b' is not a name of letters, digits, '-', '.' "
			"and '_'"},
		{"nodes: {cpu_unit: 250m}", "f:1: nodes.cpu_unit: '250m' is not one of 1 and 100m"},
		{"nodes: {features: [{prefix: a}]}",
			"f:1: nodes.features[0]: has no label: which label's value shall be a "
			"feature?"},
		{"limits: {writes_in_flight: 65}",
			"f:1: limits.writes_in_flight: '65' is not a number from 1 to 64"},
		{"plugin_socket: /a\ncontrol_socket: /a",
			"f:2: plugin_socket and control_socket are the same"},
		{"- a", "f:1: must be a mapping (key: value lines)"},
	};
	for (const auto &row : rows)
		CHECK_EQUAL(error_of(row.text), row.error);
	CHECK(error_of("plugin_socket: /" + std::string(200, 'x'))
			.find("longer than a socket's path") != std::string::npos);
}

void rules_for_devices_are_checked()
{
	const struct {
		const char *rules, *error;
	} rows[] = {
		{"gpu", "f:1: devices: must be a list of rules (- driver: ...)"},
		{"[{gres: gpu}]", "f:1: devices[0]: a rule needs a driver"},
		{"[{driver: a/b}]",
			"f:1: devices[0].driver: 'a/b' is not the name of a driver, as in "
			"gpu.nvidia.com"},
		{"[{driver: d, gres: 'a:b'}]",
			"f:1: devices[0].gres: 'a:b' is not a name of letters, digits, '-', '.' "
			"and '_'"},
		{"[{driver: d, type_attribute: a/b/c}]",
			"f:1: devices[0].type_attribute: 'a/b/c' is not an attribute: write ID, or "
			"DOMAIN/ID"},
		{"[{driver: d, type_attribute: /c}]",
			"f:1: devices[0].type_attribute: '/c' is not an attribute: write ID, or "
			"DOMAIN/ID"},
		{"[{driver: d, order: minor}]",
			"f:1: devices[0].order: 'minor' is not one of number, name"},
		{"[{driver: d, index: 1}]",
			"f:1: devices[0]: 'index' is not a key here; known are driver, gres, only, "
			"type_attribute, order, cores"},
		{"[{driver: d}, {driver: e}, {driver: d}]",
			"f:1: devices[2]: driver 'd' has a rule for GRES 'gpu' already: join the "
			"two with || in 'only', or name another GRES"},
		{"[{driver: d}, {driver: d, gres: mig}]", ""},
		{"[{driver: d, cores: true}, {driver: e, cores: false}]", ""},
		{"[{driver: d, cores: true, gres: gpu}]",
			"f:1: devices[0]: 'cores' and 'gres' exclude each other: CPUs are no GRES"},
		{"[{driver: d, cores: true, order: name}]",
			"f:1: devices[0]: 'cores' and 'order' exclude each other"},
		{"[{driver: d, cores: true}, {driver: e, cores: true}]",
			"f:1: devices[1]: a second rule with 'cores': a core is one CPU"},
		{"[{driver: d, only: 'device.driver == 3'}]", "f:1: devices[0].only: "},
		{"[{driver: d, only: 'device.driver =='}]", "f:1: devices[0].only: "},
	};
	for (const auto &row : rows) {
		const std::string error = error_of(std::string("devices: ") + row.rules);
		CHECK_EQUAL(error.substr(0, std::string(row.error).size()), row.error);
		CHECK(error.empty() == std::string(row.error).empty());
	}
}

void identity_rules_are_checked()
{
	const struct {
		const char *rules, *error;
	} rows[] = {
		{"x", ": must be a list of rules (- namespace: ...)"},
		{"[x]", "[0]: must be a mapping (key: value lines)"},
		{"[{user: root}]",
			"[0]: has neither namespace nor selector, annotation or user_from: which "
			"namespaces? \"*\" is all"},
		{"[{namespace: a}]", "[0]: 'user' or 'user_from' is required"},
		{"[{namespace: a, user: root, user_from: b}]",
			"[0]: has both user and user_from: give one"},
		{"[{namespace: A, user: root}]",
			"[0].namespace: 'A' is not a namespace's name, nor \"*\" for all others"},
		{"[{namespace: a, user: no-such-user}]",
			"[0].user: no user on this machine is called 'no-such-user'; a number is "
			"accepted too"},
		{"[{namespace: a, user: 4294967295}]", "[0].user: '4294967295' is out of range"},
		{"[{namespace: a, user: root, group: no-such-group}]",
			"[0].group: no group here is called 'no-such-group'; a number is accepted "
			"too"},
		{"[{namespace: a, user: root}, {namespace: a, user: root}]",
			"[1]: 'a' has a rule already"},
		{"[{namespace: a, user: root}, {namespace: a, selector: b, user: root}]",
			"[1]: 'a' has a rule already"},
		{"[{namespace: '*', user: root}, {namespace: a, user: root}]",
			"[1]: stands after \"*\", which matches all: it would never hold"},
		{"[{selector: 'a in b', user: root}]",
			"[0].selector: 'a in b' is no part of a label selector, as in a=b, a!=b, a "
			"in (b, c), a notin (b), a, !a"},
		{"[{annotation: '=x', user: root}]",
			"[0].annotation: '=x' is not an annotation, as in example.com/name or "
			"example.com/name=value"},
		{"[{user_from: 'a b'}]",
			"[0].user_from: 'a b' is not an annotation's key, as in example.com/name"},
		{"[{namespace: a, user: root, permissions: [fly]}]",
			"[0].permissions: 'fly' is not a permission; known are may_set_priority, "
			"may_use_burst_buffer"},
	};
	for (const auto &row : rows)
		CHECK_EQUAL(error_of(std::string("identity: {rules: ") + row.rules + "}"),
			std::string("f:1: identity.rules") + row.error);
	/* a rule that looks at more than the name does not decide for every namespace */
	CHECK_EQUAL(
		error_of("identity: {rules: [{namespace: a, selector: b, user: root}, {namespace: "
			 "a, user: root}, {selector: b, user: root}, {selector: c, user: root}]}"),
		"");
}

void the_former_key_is_told_its_new_name()
{
	for (const char *wrong :
		{"[{name: a, nice: 1}, {name: a, nice: 2}]", "[{qos: x}]", "[{name: b}]",
			"{name: b}", "[{name: a, nice: -2147483646}]", "[{name: a, prio: 1}]"})
		CHECK(error_of(std::string("priority_classes: ") + wrong)
				.starts_with("f:1: priority_classes"));
	CHECK_EQUAL(error_of("priority_classes: [{name: a, nice: -5}, {name: b, qos: high}]"), "");
	const LoadedConfig former = parse("identity:\n  least_uid: 7\n");
	CHECK_EQUAL(former.config.identity.min_uid, 7U);
	CHECK(former.errors.empty() && former.notes.size() == 1);
	CHECK_EQUAL(
		former.notes.at(0), "f:2: identity.least_uid: is now called 'min_uid': rename it");
	CHECK(parse("identity: {min_uid: 7}").notes.empty());
	CHECK_EQUAL(error_of("identity: {min_uid: 7, least_uid: 8}"),
		"f:1: identity: 'min_uid' stands here twice");
	CHECK(error_of("namespaces: [{name: a, user: root}]")
			.find("the rules of 'namespaces' stand under identity.rules now, with "
			      "'namespace' for 'name'") != std::string::npos);
}

void group_may_stand_before_user()
{
	const LoadedConfig loaded =
		parse("identity: {rules: [{namespace: a, group: 7, user: root}]}");
	CHECK_EQUAL(loaded.config.identity.rules.at(0).group_id, 7U);
}

void all_errors_are_told_in_the_order_of_lines()
{
	CHECK_EQUAL(parse("log_level: x\nnodes:\n  manage: x\n  what: 1\npartition: 'a b'\n")
			    .errors.size(),
		4U);
	CHECK(error_of("log_level: x\npartition: ''").find("f:1: log_level") <
		error_of("log_level: x\npartition: ''").find("f:2: partition"));
}

void broken_and_hostile_yaml_is_refused()
{
	CHECK(error_of("cluster: 'a\n").find("f:") == 0);
	CHECK(error_of("a: &x 1\nb: *x\n").find("alias") != std::string::npos);
	CHECK(!parse(std::string(5000, '[')).errors.empty());
	CHECK(error_of(std::string(2 * 1024 * 1024, ' ')).find("longer than 1 MiB") !=
		std::string::npos);
}

/* The default serves whoever is on the host; more must be asked for. */
void metrics_beyond_loopback_need_a_token_or_consent()
{
	char name[] = "/tmp/slurm-kube-token.XXXXXX";
	const UniqueFd file(mkstemp(name));
	const std::string token = std::string("token_file: ") + name,
			  empty = error_of("metrics: {" + token + "}");
	CHECK(empty.find("is empty: write a token into it") != std::string::npos);
	std::ofstream(name) << "secret\n";
	const std::string beyond = "is beyond loopback", no_address = "is not a numeric address",
			  missing = "metrics.token_file: ";
	const struct {
		std::string keys, part;
	} rows[] = {
		{"listen: ''", ""},
		{"listen: 127.0.0.1:1", ""},
		{"listen: 127.9.9.9:65535", ""},
		{"listen: '[::1]:9818'", ""},
		{"listen: 0.0.0.0:9818", beyond},
		{"listen: 10.0.0.1:9818", beyond},
		{"listen: '[::]:9818'", beyond},
		{"listen: '[::]:9818', " + token, ""},
		{"listen: 0.0.0.0:9818, public: true", ""},
		{"listen: 127.0.0.1", no_address},
		{"listen: 127.0.0.1:0", no_address},
		{"listen: 127.0.0.1:65536", no_address},
		{"listen: 127.0.0.1:98x", no_address},
		{"listen: localhost:9818", no_address},
		{"listen: '::1:9818'", no_address},
		{"listen: ':9818'", no_address},
		{"token_file: /nonexistent/token", missing},
		{"tls_cert_file: /a, tls_key_file: /b", ""},
		{"tls_cert_file: /a", "tls_cert_file stands alone"},
		{"tls_key_file: /a", "tls_key_file stands alone"},
	};
	for (const auto &row : rows) {
		const std::string text = error_of("metrics: {" + row.keys + "}");
		(void)check::record(
			row.part.empty() ? text.empty() : text.find(row.part) != std::string::npos,
			row.keys.c_str(), __FILE__, __LINE__, text);
	}
	(void)unlink(name);
}

/* Each of these configurations parses without an error, but the agent could not connect with it. */
void credentials_that_cannot_be_read_are_found_before_the_start()
{
	char directory[] = "/tmp/slurm-kube-config.XXXXXX";
	const std::string dir = mkdtemp(directory), good = dir + "/good", no_ca = dir + "/no-ca",
			  no_token = dir + "/no-token";
	const auto kubeconfig = [](const std::string &cluster, const std::string &user) {
		return "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: "
		       "u}}]\nclusters: [{name: k, cluster: {server: 'https://127.0.0.1:1'" +
			cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]\n";
	};
	std::ofstream(good) << kubeconfig("", "token: t");
	std::ofstream(no_ca) << kubeconfig(", certificate-authority: missing.crt", "token: t");
	std::ofstream(no_token) << kubeconfig("", "tokenFile: missing");
	const std::string rules = "\nidentity: {rules: [{namespace: a, user: root}]}";
	const struct {
		std::string config, part;
	} rows[] = {
		{"kubeconfig: " + good + rules, ""},
		{"kubeconfig: " + good, "identity.rules: there is none"},
		{"kubeconfig: " + good + rules + "\ndevices: [{driver: d, cores: true}]", ""},
		{"kubeconfig: " + good + rules +
				"\ndevices: [{driver: d, cores: true}]\nnodes: {cpu_unit: 100m}",
			"a rule with 'cores' needs nodes.cpu_unit 1"},
		{"kubeconfig: " + dir + "/missing" + rules, dir + "/missing"},
		{"kubeconfig: " + no_ca + rules, dir + "/missing.crt"},
		{"kubeconfig: " + no_token + rules, "tokenFile"},
		{"", "kubeconfig: none is named"},
	};
	for (const auto &row : rows) {
		const LoadedConfig loaded = parse(row.config);
		CHECK_EQUAL(error_of(row.config), "");
		std::string all;
		for (const std::string &trouble : try_config(loaded.config))
			all += trouble + "\n";
		(void)check::record(
			row.part.empty() ? all.empty() : all.find(row.part) != std::string::npos,
			row.config.c_str(), __FILE__, __LINE__, all);
	}
	std::filesystem::remove_all(dir);
}

void a_file_that_is_not_there_is_an_error()
{
	CHECK_EQUAL(load_config("/nonexistent/file").errors.size(), 1U);
}

/* The example file marks commented-out settings by "#" without a space. slurm.conf and the token
 * are left out, because not every machine has them. */
std::string with_all_settings(const std::string &example)
{
	std::istringstream lines(example);
	std::string all;
	for (std::string line; std::getline(lines, line);) {
		const bool setting = line.size() > 1 && line[0] == '#' &&
			(line[1] != ' ' || line.rfind("#  ", 0) == 0);
		if (setting && line.find("slurm.conf") == std::string::npos &&
			line.find("token_file") == std::string::npos)
			all += line.substr(1);
		all += "\n";
	}
	return all;
}

void the_example_shows_every_key_and_its_default()
{
	const std::string example = source_file("etc/slurmkubed.yaml");
	for (const std::string &key : config_keys())
		CHECK(example.find(key.substr(key.rfind('.') + 1) + ":") != std::string::npos);
	CHECK_EQUAL(error_of(example), "");
	LoadedConfig all = parse(with_all_settings(example));
	CHECK(all.errors.empty());
	CHECK_EQUAL(all.config.identity.rules.size(), 4U);
	all.config.identity.rules.clear();
	CHECK_EQUAL(all.config.priority_classes.size(), 2U);
	all.config.priority_classes.clear();
	CHECK_EQUAL(all.config.gres.size(), 3U);
	CHECK_EQUAL(all.config.gres[2].type_label, "example.com/fpga.model");
	all.config.gres = core::default_gres_table();
	CHECK_EQUAL(all.config.devices.size(), 2U);
	all.config.devices.clear();
	CHECK_EQUAL(all.config.nodes.features.size(), 1U);
	all.config.nodes.features.clear();
	all.config.kubeconfig.clear();
	CHECK_EQUAL(std::exchange(all.config.audit_log, ""), "/var/log/slurm-kube/audit.log");
	CHECK_EQUAL(
		std::exchange(all.config.metrics.tls_cert_file, ""), "/etc/slurm-kube/metrics.crt");
	CHECK_EQUAL(
		std::exchange(all.config.metrics.tls_key_file, ""), "/etc/slurm-kube/metrics.key");
	CHECK_EQUAL(std::exchange(all.config.scheduler_aliases, {}).size(), 1U);
	CHECK(all.config == Config());
}

/* NSS cannot open its files when the process has no free descriptor. */
void a_directory_that_does_not_answer_is_not_an_unknown_user()
{
	rlimit before{};
	REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
	for (const char *database : {"passwd", "group"})
		/* systemd's NSS module knows root without opening a file */
		REQUIRE(__nss_configure_lookup(database, "files") == 0);
	(void)find_known_user("root"); /* loads what NSS needs */
	const rlimit none{0, before.rlim_max};
	REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
	const auto silent = find_known_user("root");
	const auto group = find_group("no-such-group");
	const LoadedConfig waits =
		parse_config("identity:\n  rules:\n    - namespace: a\n      user: root\n", "f");
	const LoadedConfig wrong = parse_config(
		"identity:\n  rules:\n    - namespace: a\n      user: root\n      qoss: [a]\n",
		"f");
	REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
	REQUIRE(!silent.ok());
	CHECK(silent.error().code == Errc::again);
	CHECK(silent.error().what.find("'root' could not be looked up (") == 0);
	CHECK(!group.ok() && group.error().code == Errc::again);
	CHECK(waits.may_pass && waits.errors.size() == 1);
	CHECK(!wrong.may_pass && wrong.errors.size() == 2);
	CHECK(!parse_config(
		"identity:\n  rules:\n    - namespace: a\n      user: no-such-user-here\n", "f")
			.may_pass);
	CHECK(!parse_config("", "f").may_pass);
}

void the_manual_page_explains_every_key()
{
	const std::string text = source_file("doc/man/slurmkubed.yaml.5.scd");
	for (const std::string &key : config_keys()) {
		const bool found = text.find("*" + key + "*") != std::string::npos;
		CHECK_EQUAL(found ? "" : key, "");
	}
}

} // namespace

int main()
{
	return check::run_tests("config",
		{
			TEST(every_key_is_read),
			TEST(nothing_means_defaults),
			TEST(unknown_keys_name_line_and_choices),
			TEST(repeated_keys_are_refused),
			TEST(wrong_values_are_refused),
			TEST(rules_for_devices_are_checked),
			TEST(identity_rules_are_checked),
			TEST(the_former_key_is_told_its_new_name),
			TEST(group_may_stand_before_user),
			TEST(all_errors_are_told_in_the_order_of_lines),
			TEST(broken_and_hostile_yaml_is_refused),
			TEST(metrics_beyond_loopback_need_a_token_or_consent),
			TEST(credentials_that_cannot_be_read_are_found_before_the_start),
			TEST(a_file_that_is_not_there_is_an_error),
			TEST(the_example_shows_every_key_and_its_default),
			TEST(a_directory_that_does_not_answer_is_not_an_unknown_user),
			TEST(the_manual_page_explains_every_key),
		});
}
