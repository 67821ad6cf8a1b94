/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.cc - skube: asks slurmkubed and prints the reply. kubeconfig and teardown work without
 * slurmkubed and change something. See skube(1).
 */
#include "src/base/guard.h"
#include "src/core/options/options.h"
#include "src/core/options/text.h"
#include "src/skube/kubeconfig.h"
#include "src/skube/node_file.h"
#include "src/skube/options.h"
#include "src/skube/request.h"
#include "src/skube/teardown.h"
#include "src/skube/views.h"

#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace
{

using namespace slurmkube;
using skube::k_fine, skube::k_wrong, skube::k_unreachable;
using skube::Options, skube::usage_error;

/* A command line, the request for it, and how to print the reply. */
struct Command {
	std::vector<std::string> words;
	const char *verb;
	std::string (*view)(json_object *reply);
	bool (*fine)(json_object *reply); /* nullptr: always */
};

std::string jobs_now(json_object *reply)
{
	return skube::jobs_view(reply, static_cast<std::int64_t>(time(nullptr)));
}

bool is_ready(json_object *reply)
{
	return codec::get_bool(reply, "ready");
}

const std::vector<Command> &commands()
{
	static const std::vector<Command> all = {
		{{"ping"}, "ping", skube::ping_view, is_ready},
		{{"check"}, "check", skube::check_view, skube::all_checks_passed},
		{{"show", "jobs"}, "jobs", jobs_now, nullptr},
		{{"show", "pods"}, "pods", skube::pods_view, nullptr},
		{{"show", "nodes"}, "nodes", skube::nodes_view, nullptr},
		{{"diag"}, "diag", skube::diag_view, nullptr},
	};
	return all;
}

const Command &why_command()
{
	static const Command command = {{"why"}, "why", skube::why_view, nullptr};
	return command;
}

const Command &slurm_conf_command()
{
	static const Command command = {{"nodes"}, "slurm_conf", skube::slurm_conf_view, nullptr};
	return command;
}

const Command &active_pods_command()
{
	static const Command command = {{"show", "pods"}, "pods", skube::active_pods_view, nullptr};
	return command;
}

/* nullptr: no such command. */
const Command *command_of(const Options &options)
{
	if (!options.slurm_conf && (!options.output.empty() || options.force))
		return nullptr;
	if (options.active)
		return options.words == active_pods_command().words && !options.json &&
				!options.slurm_conf
			? &active_pods_command()
			: nullptr;
	if (options.slurm_conf)
		return options.words == slurm_conf_command().words && !options.json
			? &slurm_conf_command()
			: nullptr;
	if (options.words.size() == 2 && options.words[0] == "why" && !options.words[1].empty())
		return &why_command();
	for (const Command &command : commands()) {
		if (command.words == options.words)
			return &command;
	}
	return nullptr;
}

std::string joined(const std::vector<std::string> &words)
{
	std::string all;
	for (const std::string &word : words)
		all += (all.empty() ? "" : " ") + word;
	return all;
}

/* Prints an empty list only with --force: the shell has emptied the file already when the command
 * is redirected to it. */
int print_node_lines(const Options &options, json_object *reply)
{
	const std::string text = skube::slurm_conf_view(reply);
	if (options.output.empty() && skube::node_lines(text) == 0 && !options.force) {
		(void)fprintf(stderr,
			"skube: the agent manages no node, and slurmctld fails pods on nodes that "
			"its file no longer has: nothing is printed. --force overrules this\n");
		return k_wrong;
	}
	if (options.output.empty())
		return fputs(text.c_str(), stdout) >= 0 && fflush(stdout) == 0 ? k_fine : k_wrong;
	const auto done = skube::replace_node_file(options.output, text, options.force);
	if (!done) {
		(void)fprintf(stderr, "skube: %s\n", done.error().what.c_str());
		return k_wrong;
	}
	(void)fputs(done->c_str(), stdout);
	return k_fine;
}

int print_reply(const Options &options, const Command &command, json_object *reply)
{
	if (options.json)
		(void)puts(json_object_to_json_string_ext(
			reply, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	else
		(void)fputs(command.view(reply).c_str(), stdout);
	if (fflush(stdout) != 0)
		return k_wrong; /* a full disk; after a closed pipe a signal ends skube */
	return !command.fine || command.fine(reply) ? k_fine : k_wrong;
}

/* The table of options is in skube, so no agent is needed. */
int explain(const Options &options)
{
	if (options.words.size() > 3 || options.json || options.slurm_conf)
		return usage_error("explain options takes one name at most");
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

int write_kubeconfig(Options &options)
{
	if (options.words.size() == 2)
		options.files.kubeconfig = options.words[1];
	for (const std::string &file : {options.files.kubeconfig, options.files.token}) {
		if (file.empty() || file[0] != '/')
			return usage_error("kubeconfig: '" + file + "' is not an absolute path");
	}
	return print_trouble(skube::write_kubeconfig(options.files));
}

int tear_down(Options &options)
{
	options.teardown.socket = options.socket;
	return print_trouble(skube::teardown(options.teardown));
}

int run(int argc, char **argv)
{
	Options options;
	const int early = skube::read_options(argc, argv, options);
	if (early >= 0)
		return early;
	if (options.words == std::vector<std::string>{"help"}) {
		(void)fputs(skube::k_help, stdout);
		return k_fine;
	}
	if (options.words.size() >= 2 && options.words[0] == "explain" &&
		options.words[1] == "options")
		return explain(options);
	if (!options.json && !options.slurm_conf && !options.words.empty() &&
		options.words.size() <= 2 && options.words[0] == "kubeconfig")
		return write_kubeconfig(options);
	if (!options.json && !options.slurm_conf &&
		options.words == std::vector<std::string>{"teardown"})
		return tear_down(options);
	const Command *command = command_of(options);
	if (!command && !options.words.empty() && options.words[0] == "why")
		return usage_error("why takes one pod: skube why [NAMESPACE/]POD");
	if (!command)
		return usage_error(options.words.empty()
				? "no command"
				: "no such command: " + joined(options.words));
	const auto reply = skube::ask(
		options.socket, command->verb, command == &why_command() ? options.words[1] : "");
	if (reply && command == &slurm_conf_command())
		return print_node_lines(options, reply->get());
	if (reply)
		return print_reply(options, *command, reply->get());
	(void)fprintf(stderr, "skube: %s\n", reply.error().what.c_str());
	return reply.error().code == Errc::invalid ? k_wrong : k_unreachable;
}

} // namespace

int main(int argc, char **argv)
{
	const auto report = [](const char *what) { (void)fprintf(stderr, "skube: %s\n", what); };
	return guard(static_cast<int>(k_wrong), report, [&] { return run(argc, argv); });
}
