/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.cc - skube: asks slurmkubed and prints; two commands work without it and change something.
 * See skube(1).
 */
#include "src/base/guard.h"
#include "src/core/model/names.h"
#include "src/core/options/options.h"
#include "src/core/options/text.h"
#include "src/skube/kubeconfig.h"
#include "src/skube/node_file.h"
#include "src/skube/request.h"
#include "src/skube/teardown.h"
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

constexpr char k_help[] =
	"usage: skube [OPTIONS] COMMAND\n"
	"Asks slurmkubed, the agent that lets Slurm schedule Kubernetes pods. See skube(1).\n"
	"\n"
	"  check                 what works and what does not, with remedies\n"
	"  ping                  is the agent there and ready?\n"
	"  show jobs|pods|nodes  what it knows\n"
	"  nodes --slurm-conf [--output FILE [--force]]\n"
	"                        node lines for an Include file of slurm.conf (Slurm before "
	"24.11)\n"
	"  why [NAMESPACE/]POD   one pod's whole story: who it is in Slurm, its job, what is "
	"waited for\n"
	"  diag                  latencies, cost in slurmctld, counters\n"
	"  explain options [NAME]  what pods may ask of Slurm by annotation (no agent needed)\n"
	"  kubeconfig [FILE]     writes a kubeconfig and a token for the agent, with kubectl's "
	"rights (no agent needed)\n"
	"  teardown              what removing slurm-kube takes, in which order; --apply does it "
	"(no agent needed)\n"
	"  help\n"
	"\n"
	"      --active          show pods: only those that have not ended\n"
	"      --json            the agent's reply as JSON (show, diag, check, ping)\n"
	"      --socket PATH     the agent's control socket (default "
	"/run/slurmkubed/control.sock)\n"
	"      --token-file FILE, --owner USER, --duration TIME   with kubeconfig: where the token "
	"goes\n"
	"                        (default /var/lib/slurm-kube/token), who may read both files "
	"(slurm), its life (168h)\n"
	"      --apply           with teardown: do it\n"
	"      --scheduler-name NAME, --label KEY   with teardown: as in slurmkubed.yaml (slurm, "
	"slurm-kube.io/managed)\n"
	"      --kubeconfig FILE, --context NAME    with teardown: kubectl's, for the agent's "
	"cluster\n"
	"      --agents-stopped  with teardown: slurmkubed was stopped on the other hosts of "
	"slurmctld\n"
	"  -V, --version\n"
	"  -h, --help\n"
	"\n"
	"Exit status: 0 fine, 1 something is wrong, 2 wrong usage, 3 the agent cannot be "
	"reached.\n";

struct Options {
	std::string socket = names::k_control_socket;
	bool json = false, slurm_conf = false, force = false, active = false;
	std::string output; /* empty: print */
	std::vector<std::string> words;
	skube::KubeconfigFiles files;
	skube::Teardown teardown{.socket = {},
		.scheduler_name = names::k_default_scheduler_name,
		.label = names::k_managed_label,
		.apply = false};
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

struct Known {
	const char *name;
	bool &(*flag)(Options &options); /* which it sets; nullptr: it takes a word */
	std::string &(*word)(Options &options);
};

constexpr Known k_known[] = {
	{"json", [](Options &o) -> bool & { return o.json; }, nullptr},
	{"slurm-conf", [](Options &o) -> bool & { return o.slurm_conf; }, nullptr},
	{"force", [](Options &o) -> bool & { return o.force; }, nullptr},
	{"active", [](Options &o) -> bool & { return o.active; }, nullptr},
	{"apply", [](Options &o) -> bool & { return o.teardown.apply; }, nullptr},
	{"agents-stopped", [](Options &o) -> bool & { return o.teardown.agents_stopped; }, nullptr},
	{"socket", nullptr, [](Options &o) -> std::string & { return o.socket; }},
	{"output", nullptr, [](Options &o) -> std::string & { return o.output; }},
	{"token-file", nullptr, [](Options &o) -> std::string & { return o.files.token; }},
	{"owner", nullptr, [](Options &o) -> std::string & { return o.files.owner; }},
	{"duration", nullptr, [](Options &o) -> std::string & { return o.files.duration; }},
	{"scheduler-name", nullptr,
		[](Options &o) -> std::string & { return o.teardown.scheduler_name; }},
	{"label", nullptr, [](Options &o) -> std::string & { return o.teardown.label; }},
	{"kubeconfig", nullptr, [](Options &o) -> std::string & { return o.teardown.kubeconfig; }},
	{"context", nullptr, [](Options &o) -> std::string & { return o.teardown.context; }},
};
constexpr int k_first_known = 0x100; /* beyond all letters */

const std::vector<option> &options_for_getopt()
{
	static const std::vector<option> all = [] {
		std::vector<option> list{{"version", no_argument, nullptr, 'V'},
			{"help", no_argument, nullptr, 'h'}};
		int value = k_first_known;
		for (const Known &known : k_known)
			list.push_back({known.name, known.word ? required_argument : no_argument,
				nullptr, value++});
		list.push_back({nullptr, 0, nullptr, 0});
		return list;
	}();
	return all;
}

void take_option(const Known &known, Options &options)
{
	if (known.word)
		known.word(options) = optarg;
	else
		known.flag(options) = true;
}

/* Of an option after which there is nothing to do: the exit status. */
int take_last_option(int letter)
{
	if (letter == 'V')
		(void)puts("skube " SLURMKUBE_VERSION);
	else
		(void)fputs(k_help, letter == 'h' ? stdout : stderr);
	return letter == 'V' || letter == 'h' ? k_fine : k_usage;
}

/* Returns an exit status to end with, or -1 to go on. */
int read_options(int argc, char **argv, Options &options)
{
	const option *known = options_for_getopt().data();
	for (int found = 0; (found = getopt_long(argc, argv, "Vh", known, nullptr)) !=
		-1;) { // NOLINT(concurrency-mt-unsafe): one thread
		if (found < k_first_known)
			return take_last_option(found);
		take_option(k_known[found - k_first_known], options);
	}
	options.words.assign(argv + optind, argv + argc);
	return -1;
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

/* An empty list is printed only by force: the shell has emptied the file by then. */
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
		return k_wrong; /* a full disk; a closed pipe ends us by signal */
	return !command.fine || command.fine(reply) ? k_fine : k_wrong;
}

/* The table is in the program: nobody is asked. */
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
	const int early = read_options(argc, argv, options);
	if (early >= 0)
		return early;
	if (options.words == std::vector<std::string>{"help"}) {
		(void)fputs(k_help, stdout);
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
