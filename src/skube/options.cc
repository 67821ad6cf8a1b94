/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/options.h"

#include <cstdio>
#include <getopt.h>

namespace slurmkube::skube
{

const char k_help[] =
	"usage: skube [OPTIONS] COMMAND\n"
	"Asks slurmkubed, the agent that lets Slurm schedule Kubernetes pods. See skube(1).\n"
	"\n"
	"  check                 examine the installation; say what to correct\n"
	"  ping                  whether the agent runs and is ready\n"
	"  show jobs|pods|nodes  list placeholders, pods or nodes\n"
	"  nodes --slurm-conf [--output FILE] [--force]\n"
	"                        node lines for an Include file of slurm.conf (Slurm\n"
	"                        before 24.11)\n"
	"  why [NAMESPACE/]POD   explain one pod: its Slurm user, its job, what it waits for\n"
	"  diag                  times of each step, cost in slurmctld, counters\n"
	"  explain options [NAME]  options that pods can give to Slurm by annotation\n"
	"                        (no agent needed)\n"
	"  kubeconfig [FILE]     create the agent's kubeconfig and token, with kubectl's rights\n"
	"                        (no agent needed)\n"
	"  teardown              print the steps that remove slurm-kube; --apply carries them\n"
	"                        out (no agent needed)\n"
	"  help\n"
	"\n"
	"      --active          show pods: leave out pods that have ended\n"
	"      --json            the agent's reply as JSON (check, ping, diag, show, why)\n"
	"      --socket PATH     the agent's control socket (default\n"
	"                        /run/slurmkubed/control.sock)\n"
	"      --token-file FILE, --owner USER, --duration TIME   with kubeconfig: token file\n"
	"                        (default /var/lib/slurm-kube/token), owner of both files\n"
	"                        (slurm), life of the token (168h)\n"
	"      --apply           with teardown: carry out the steps\n"
	"      --scheduler-name NAME, --label KEY   with teardown: as in slurmkubed.yaml\n"
	"                        (slurm, slurm-kube.io/managed)\n"
	"      --kubeconfig FILE, --context NAME    with teardown: kubectl's, for the agent's\n"
	"                        cluster\n"
	"      --agents-stopped  with teardown: you have stopped slurmkubed on the other\n"
	"                        controller hosts\n"
	"  -V, --version\n"
	"  -h, --help\n"
	"\n"
	"Exit status: 0 success, 1 something is wrong, 2 wrong usage, 3 the agent does not\n"
	"answer.\n";

namespace
{

struct Known {
	const char *name;
	bool &(*flag)(Options &options); /* the flag to set; nullptr: it takes a word */
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
constexpr int k_first_known = 0x100; /* above all characters */

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

/* Handles an option after which skube ends, and returns the exit status. */
int take_last_option(int letter)
{
	if (letter == 'V')
		(void)puts("skube " SLURMKUBE_VERSION);
	else
		(void)fputs(k_help, letter == 'h' ? stdout : stderr);
	return letter == 'V' || letter == 'h' ? k_fine : k_usage;
}

} // namespace

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

int usage_error(const std::string &sentence)
{
	(void)fprintf(stderr, "skube: %s\n%s", sentence.c_str(), k_help);
	return k_usage;
}

} // namespace slurmkube::skube
