/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.cc - skube: asks slurmkubed and prints. Decides nothing. See skube(1).
 */
#include "src/base/guard.h"
#include "src/core/names.h"
#include "src/core/option_text.h"
#include "src/core/options.h"
#include "src/skube/request.h"
#include "src/skube/views.h"

#include <cstdio>
#include <ctime>
#include <getopt.h>
#include <optional>
#include <string>
#include <vector>

namespace
{

using namespace slurmkube;

enum Exit { k_fine = 0, k_wrong = 1, k_usage = 2, k_unreachable = 3 };

constexpr char k_help[] = "usage: skube [OPTIONS] COMMAND\n"
			  "Asks slurmkubed, the agent that lets Slurm schedule Kubernetes pods. See skube(1).\n"
			  "\n"
			  "  check                 what works and what does not, with remedies\n"
			  "  ping                  is the agent there and ready?\n"
			  "  show jobs|pods|nodes  what it knows\n"
			  "  nodes --slurm-conf    node lines for an Include file of slurm.conf (Slurm before 24.11)\n"
			  "  why [NAMESPACE/]POD   one pod's whole story: who it is in Slurm, its job, what is waited for\n"
			  "  diag                  latencies, cost in slurmctld, counters\n"
			  "  explain options [NAME]  what pods may ask of Slurm by annotation (no agent needed)\n"
			  "  help\n"
			  "\n"
			  "      --json            the agent's reply as JSON (show, diag, check, ping)\n"
			  "      --socket PATH     the agent's control socket (default /run/slurmkubed/control.sock)\n"
			  "  -V, --version\n"
			  "  -h, --help\n"
			  "\n"
			  "Exit status: 0 fine, 1 something is wrong, 2 wrong usage, 3 the agent cannot be reached.\n";

struct Options {
	std::string socket = names::k_control_socket;
	bool json = false, slurm_conf = false;
	std::vector<std::string> words;
};

/* A command line, what to ask for, and how to print the reply. */
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

int usage_error(const std::string &sentence)
{
	(void)fprintf(stderr, "skube: %s\n%s", sentence.c_str(), k_help);
	return k_usage;
}

/* Returns an exit status to end with, or -1 to go on. */
int read_options(int argc, char **argv, Options &options)
{
	enum { k_json = 1, k_socket, k_slurm_conf };
	const option known[] = {{"json", no_argument, nullptr, k_json},
				{"socket", required_argument, nullptr, k_socket},
				{"slurm-conf", no_argument, nullptr, k_slurm_conf},
				{"version", no_argument, nullptr, 'V'},
				{"help", no_argument, nullptr, 'h'},
				{nullptr, 0, nullptr, 0}};
	for (int found = 0; (found = getopt_long(argc, argv, "Vh", known, nullptr)) != -1;) { // NOLINT(concurrency-mt-unsafe): one thread
		switch (found) {
		case k_json:
			options.json = true;
			break;
		case k_socket:
			options.socket = optarg;
			break;
		case k_slurm_conf:
			options.slurm_conf = true;
			break;
		case 'V':
			(void)puts("skube " SLURMKUBE_VERSION);
			return k_fine;
		case 'h':
			(void)fputs(k_help, stdout);
			return k_fine;
		default:
			(void)fputs(k_help, stderr);
			return k_usage;
		}
	}
	options.words.assign(argv + optind, argv + argc);
	return -1;
}

/* nullptr: no such command. */
const Command *command_of(const Options &options)
{
	if (options.slurm_conf)
		return options.words == slurm_conf_command().words && !options.json ? &slurm_conf_command() : nullptr;
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

int print_reply(const Options &options, const Command &command, json_object *reply)
{
	if (options.json)
		(void)puts(json_object_to_json_string_ext(reply, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	else
		(void)fputs(command.view(reply).c_str(), stdout);
	if (fflush(stdout) != 0)
		return k_wrong; /* a full disk; a closed pipe ends us by signal */
	return !command.fine || command.fine(reply) ? k_fine : k_wrong;
}

/* The table is in the program: nobody is asked. */
int explain(const Options &options)
{
	if (options.words.size() > 3 || options.json || options.slurm_conf)
		return usage_error("explain options takes one name at most");
	const auto text = options.words.size() == 2 ? std::optional(core::explain_options()) : core::explain_option(options.words[2]);
	if (!text) {
		(void)fprintf(stderr, "skube: no option %s; %s\n", options.words[2].c_str(), core::suggestions(options.words[2]).c_str());
		return k_wrong;
	}
	return fputs(text->c_str(), stdout) >= 0 && fflush(stdout) == 0 ? k_fine : k_wrong;
}

int run(int argc, char **argv)
{
	Options options;
	const int early = read_options(argc, argv, options);
	if (early >= 0)
		return early;
	if (options.words == std::vector<std::string>{"help"}) {
		(void)fputs(k_help, stdout);
		return k_fine;
	}
	if (options.words.size() >= 2 && options.words[0] == "explain" && options.words[1] == "options")
		return explain(options);
	const Command *command = command_of(options);
	if (!command)
		return usage_error(options.words.empty() ? "no command" : "no such command: " + joined(options.words));
	const auto reply = skube::ask(options.socket, command->verb, command == &why_command() ? options.words[1] : "");
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
