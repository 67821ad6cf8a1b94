/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/local_commands.h"
#include "src/skube/config_value.h"

#include "src/core/options/options.h"
#include "src/core/options/text.h"
#include "src/skube/job_hold.h"
#include "src/skube/kubeconfig.h"
#include "src/skube/list_request.h"
#include "src/skube/logs.h"
#include "src/skube/manifests.h"
#include "src/skube/migrate.h"
#include "src/skube/node_drain.h"
#include "src/skube/node_setup.h"
#include "src/skube/releases.h"
#include "src/skube/selftest.h"
#include "src/skube/socket_path.h"
#include "src/skube/target.h"
#include "src/skube/teardown.h"
#include "src/skube/top.h"
#include "src/skube/watch_events.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

namespace slurmkube::skube
{

namespace
{

/* The table of options is in skube, so no agent is needed. */
int explain(const Options &options)
{
	const auto text = options.words.size() == 2 ? std::optional(core::explain_options())
						    : core::explain_option(options.words[2]);
	if (!text) {
		(void)fprintf(stderr, "skube: no option %s; %s\n", options.words[2].c_str(),
			core::suggestions(options.words[2]).c_str());
		return k_wrong;
	}
	return fputs(text->c_str(), stdout) >= 0 && fflush(stdout) == 0 ? k_fine : k_wrong;
}

int print_trouble(const Status &status)
{
	if (status)
		return k_fine;
	(void)fflush(stdout);
	(void)fprintf(stderr, "skube: %s\n", status.error().what.c_str());
	return k_wrong;
}

int make_kubeconfig(Options &options)
{
	if (options.words.size() == 2)
		options.files.kubeconfig = options.words[1];
	for (const std::string &file : {options.files.kubeconfig, options.files.token}) {
		if (file.empty() || file[0] != '/')
			return usage_error("kubeconfig: '" + file + "' is not an absolute path");
	}
	const auto plain = [](const std::string &path) {
		return std::filesystem::path(path).lexically_normal();
	};
	if (plain(options.files.kubeconfig) == plain(options.files.token))
		return usage_error("kubeconfig: '" + options.files.token +
			"' is the file of the token, too; name another one");
	const auto site = account_site(options.manifests.account);
	if (!site)
		return usage_error(site.error().what);
	options.files.account_namespace = site->account_namespace;
	options.files.account = site->account;
	return print_trouble(skube::write_kubeconfig(options.files));
}

int print_manifests(const Options &options)
{
	if (const Status good = check_options(options.manifests); !good)
		return usage_error(good.error().what);
	const auto text = manifests_text(options.manifests);
	if (!text)
		return print_trouble(text.error());
	return fputs(text->c_str(), stdout) >= 0 && fflush(stdout) == 0 ? k_fine : k_wrong;
}

int print_node_setup(const Options &options)
{
	const auto text = node_setup_text(options.system_cpus, options.manifests.only);
	if (!text)
		return usage_error(text.error().what);
	return fputs(text->c_str(), stdout) >= 0 && fflush(stdout) == 0 ? k_fine : k_wrong;
}

/* main() has refused a named file that cannot be read. */
std::string name_prefix_of(const Options &options)
{
	const auto prefix =
		config_value(config_file(options.manifests.config).path, "nodes.name_prefix");
	return prefix ? *prefix : "";
}

int tear_down(Options &options)
{
	options.teardown.socket = place_of_socket(options.socket, options.manifests.config).path;
	const std::string file = config_file(options.manifests.config).path;
	options.teardown.name_prefix = name_prefix_of(options);
	const auto cluster = config_value(file, "cluster");
	if (!options.teardown.cluster.empty() && cluster && !cluster->empty() &&
		*cluster != options.teardown.cluster)
		return usage_error("--cluster is " + options.teardown.cluster + ", and " + file +
			" has cluster: " + *cluster + "; give the file of its agent with --config");
	return print_trouble(teardown(options.teardown));
}

int take_over(const Options &options)
{
	const Migrate wanted{.from = options.from,
		.scheduler = options.sunk_scheduler,
		.kubeconfig = options.teardown.kubeconfig,
		.context = options.teardown.context,
		.label = options.teardown.label,
		.apply = options.teardown.apply,
		.is_stopped = options.bridge_stopped};
	const std::string wrong = migrate_usage(wanted);
	return wrong.empty() ? print_trouble(migrate(wanted)) : usage_error(wrong);
}

/* Its options have the members of Options that other commands use. */
int test_one_pod(const Options &options)
{
	const auto format = format_of(options, true);
	if (!format)
		return usage_error(format.error().what);
	Selftest wanted = options.selftest;
	wanted.format = *format;
	if (!options.select.namespaces.empty())
		wanted.name_space = options.select.namespaces;
	wanted.scheduler_name = options.teardown.scheduler_name;
	wanted.kubeconfig = options.teardown.kubeconfig;
	wanted.context = options.teardown.context;
	wanted.socket = place_of_socket(options.socket, options.manifests.config).path;
	wanted.name_prefix = name_prefix_of(options);
	if (timeout_of(wanted) == 0)
		return usage_error("--timeout " + wanted.timeout +
			" is not a number of seconds from 1 to " +
			std::to_string(k_selftest_timeout_max));
	return selftest(wanted) ? k_fine : k_wrong;
}

int drain(const Options &options, bool resumes)
{
	return print_trouble(drain_or_resume({.node = options.words[1],
		.reason = options.reason,
		.resumes = resumes,
		.verbose = options.verbose,
		.kubeconfig = options.teardown.kubeconfig,
		.context = options.teardown.context,
		.config = options.manifests.config,
		.socket = place_of_socket(options.socket, options.manifests.config).path}));
}

/* The number of a job may stand alone here. */
Result<Target> target_of(const Options &options)
{
	const std::string &word = options.words[1];
	if (word.find_first_not_of("0123456789") == std::string::npos)
		return parse_target("job/" + word, options.select.namespaces);
	return parse_target(word, options.select.namespaces);
}

int hold(const Options &options, bool releases)
{
	const auto target = target_of(options);
	if (!target)
		return usage_error(target.error().what);
	if (target->is == Target::Is::node)
		return usage_error(options.words[0] +
			" takes a pod, job/ID or KIND/NAME; skube drain is for nodes");
	return print_trouble(hold_or_release({.target = *target,
		.socket = place_of_socket(options.socket, options.manifests.config).path,
		.releases = releases,
		.verbose = options.verbose}));
}

int logs(const Options &options)
{
	const auto target = target_of(options);
	if (!target)
		return usage_error(target.error().what);
	if (!options.file.empty() && (options.follow || !options.since.empty()))
		return usage_error("--follow and --since are for the journal, not for --file");
	return print_trouble(print_logs({.target = *target,
		.socket = place_of_socket(options.socket, options.manifests.config).path,
		.since = options.since,
		.file = options.file,
		.follow = options.follow,
		.verbose = options.verbose}));
}

int releases(const Options &options)
{
	const auto format = format_of(options, true);
	if (!format)
		return usage_error(format.error().what);
	return print_releases({.format = *format,
		.socket = place_of_socket(options.socket, options.manifests.config).path,
		.kubeconfig = options.teardown.kubeconfig,
		.context = options.teardown.context});
}

int show_top(const Options &options)
{
	const auto format = format_of(options, true);
	if (!format)
		return usage_error(format.error().what);
	return top({.format = *format,
		.socket = place_of_socket(options.socket, options.manifests.config).path,
		.once = options.once});
}

int watch(const Options &options)
{
	const auto wanted = watch_request(options);
	return wanted ? watch_events(*wanted) : usage_error(wanted.error().what);
}

int print_help(Options & /*options*/)
{
	return fputs(k_help, stdout) >= 0 && fflush(stdout) == 0 ? k_fine : k_wrong;
}

struct LocalCommand {
	const char *name;
	std::size_t words_min, words_max; /* with the name */
	const char *usage;
	unsigned id;
	int (*run)(Options &options);
};

constexpr LocalCommand k_commands[] = {
	{"explain", 2, 3, "the word options, and perhaps the name of one", k_explain,
		[](Options &o) { return explain(o); }},
	{"kubeconfig", 1, 2, "at most one file", k_kubeconfig, make_kubeconfig},
	{"manifests", 1, 1, "no words", k_manifests, [](Options &o) { return print_manifests(o); }},
	{"node-setup", 1, 1, "no words", k_node_setup,
		[](Options &o) { return print_node_setup(o); }},
	{"teardown", 1, 1, "no words", k_teardown, tear_down},
	{"migrate", 1, 1, "no words", k_migrate, [](Options &o) { return take_over(o); }},
	{"selftest", 1, 1, "no words", k_selftest, [](Options &o) { return test_one_pod(o); }},
	{"version", 1, 1, "no words", k_version, [](Options &o) { return releases(o); }},
	{"top", 1, 1, "no words", k_top, [](Options &o) { return show_top(o); }},
	{"watch", 1, 4, "jobs, pods and nodes, or some of them", k_watch,
		[](Options &o) { return watch(o); }},
	{"drain", 2, 2, "one node", k_drain, [](Options &o) { return drain(o, false); }},
	{"resume", 2, 2, "one node", k_resume, [](Options &o) { return drain(o, true); }},
	{"hold", 2, 2, "one pod, or job/ID or KIND/NAME", k_hold,
		[](Options &o) { return hold(o, false); }},
	{"release", 2, 2, "one pod, or job/ID or KIND/NAME", k_hold,
		[](Options &o) { return hold(o, true); }},
	{"logs", 2, 2, "one pod, or a job id, node/NAME or KIND/NAME", k_logs,
		[](Options &o) { return logs(o); }},
	{"help", 1, 1, "no words", k_print_help, print_help},
};

const LocalCommand *command_named(const std::string &name)
{
	for (const LocalCommand &command : k_commands) {
		if (name == command.name)
			return &command;
	}
	return nullptr;
}

} // namespace

unsigned local_command(const std::vector<std::string> &words)
{
	const LocalCommand *command = words.empty() ? nullptr : command_named(words[0]);
	if (!command || words.size() < command->words_min || words.size() > command->words_max)
		return 0;
	if (command->id == k_explain && words[1] != "options")
		return 0;
	const bool has_empty = std::find(words.begin(), words.end(), "") != words.end();
	return has_empty ? 0 : command->id;
}

const char *usage_of_local(const std::string &name)
{
	const LocalCommand *command = command_named(name);
	return command ? command->usage : nullptr;
}

int run_local(Options &options)
{
	return command_named(options.words[0])->run(options);
}

} // namespace slurmkube::skube
