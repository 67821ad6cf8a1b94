/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/options.h"

#include "src/base/text.h"

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
	"  show jobs|pods|nodes|devices\n"
	"                        list placeholders, pods, nodes, or devices by their indices\n"
	"                        in Slurm\n"
	"  nodes --slurm-conf [--output FILE] [--force]\n"
	"                        node lines for an Include file of slurm.conf (Slurm\n"
	"                        before 24.11)\n"
	"  nodes --topology-conf [--topology-labels LABELS]\n"
	"                        lines for Slurm's topology.conf from annotations and labels\n"
	"  why [NAMESPACE/]POD   explain one pod: its Slurm user, its job, what it waits for\n"
	"  why node/NAME|job/ID|KIND/NAME   explain a node, a job, or the pods of an owner\n"
	"  top [--once]          counts, rates, times and the oldest waiting pod; live on a\n"
	"                        terminal\n"
	"  watch [jobs] [pods] [nodes]   print each change as it happens\n"
	"  selftest              run one pod from its creation to the end of its Slurm job,\n"
	"                        with kubectl's rights\n"
	"  diag                  times of each step, cost in slurmctld, counters\n"
	"  logs POD|JOBID|node/NAME|KIND/NAME   what the agent logged about it\n"
	"  hold POD|JOBID|KIND/NAME   keep its waiting jobs in the queue (scontrol hold)\n"
	"  release POD|JOBID|KIND/NAME   let them start again\n"
	"  drain NODE --reason TEXT   take a node out of service on both sides\n"
	"  resume NODE           undo drain\n"
	"  version               releases of skube, agent, plugin, slurmctld and API server\n"
	"  explain options [NAME]  options that pods can give to Slurm by annotation\n"
	"                        (no agent needed)\n"
	"  kubeconfig [FILE]     create the agent's kubeconfig and token, with kubectl's rights\n"
	"                        (no agent needed)\n"
	"  manifests [--config FILE] [--only NAMES] [--account NAMESPACE/NAME]\n"
	"                        objects for Kubernetes as YAML, for kubectl apply -f -\n"
	"                        (no agent needed)\n"
	"  node-setup --system-cpus LIST [--only PART]\n"
	"                        files and lines that a hybrid node needs (no agent needed)\n"
	"  teardown              print the steps that remove slurm-kube; --apply carries them\n"
	"                        out (no agent needed)\n"
	"  migrate --from slurm-bridge|sunk   print the steps that take a cluster over from\n"
	"                        it; --apply carries them out (no agent needed)\n"
	"  help\n"
	"\n"
	"Options of show (watch has -n, -A, -l, -u and --node):\n"
	"  -n, --namespace NAMES, -A, --all-namespaces   pods and jobs of these namespaces;\n"
	"                        of all (default)\n"
	"  -l, --selector LABELS    pods and nodes with these labels, as with kubectl\n"
	"  -t, --state STATES    states, as in the list or as squeue abbreviates them\n"
	"  -u, --user USERS      pods and jobs of these users, by name or number\n"
	"      --node NODES      on these nodes, for example n[1-3]\n"
	"      --active          pods that have not ended\n"
	"      --sort COLUMNS    order, for example user,-age\n"
	"  -o, --output wide|name|json|yaml\n"
	"  -w, --watch           then print each row that is new or has changed\n"
	"\n"
	"Other options:\n"
	"  -o, --output json|yaml   the agent's reply as data (check, ping, diag, why,\n"
	"                        selftest, top, version; watch: its lines as json)\n"
	"      --json            the same as -o json\n"
	"  -n, --namespace NAME  with why, selftest, logs, hold and release: the pod's\n"
	"                        namespace (default)\n"
	"      --socket PATH     the agent's control socket (else SKUBE_SOCKET, else\n"
	"                        control_socket in slurmkubed.yaml, else\n"
	"                        /run/slurmkubed/control.sock)\n"
	"      --token-file FILE, --owner USER, --duration TIME   with kubeconfig: token file\n"
	"                        (default /var/lib/slurm-kube/token), owner of both files\n"
	"                        (slurm), life of the token (168h)\n"
	"      --config FILE     the agent's configuration, if there are several agents (else\n"
	"                        SKUBE_CONFIG, else /etc/slurm-kube/slurmkubed.yaml): its\n"
	"                        control_socket, nodes.name_prefix and scheduler names\n"
	"      --only NAMES      with manifests: only these of rbac, policies, options-policy,\n"
	"                        scheduler-name-policy, flow-control, dashboards; with\n"
	"                        node-setup: one of node-conf, containerd, base-spec, crio,\n"
	"                        crio-hook, epilog, prolog, slurm-conf, cgroup-conf\n"
	"      --system-cpus LIST   with node-setup: processors that Slurm gives to no job,\n"
	"                        for example 0,32\n"
	"      --account NAMESPACE/NAME   with manifests and kubeconfig: service account of the\n"
	"                        agent (slurm-kube/slurmkubed)\n"
	"      --apply           with teardown and migrate: carry out the steps\n"
	"      --reason TEXT     with drain: what both sides show\n"
	"  -f, --follow, --since TIME   with logs: as with journalctl\n"
	"      --file FILE       with logs: a log file, if the agent does not use the journal\n"
	"  -v, --verbose         with logs, hold, release, drain and resume: print the commands\n"
	"                        that are run\n"
	"      --image IMAGE, --timeout SECONDS     with selftest: an image that has the\n"
	"                        program /bin/true (busybox); time for all steps but clean (120)\n"
	"      --scheduler-name NAME                with selftest and teardown: as in\n"
	"                        slurmkubed.yaml (slurm)\n"
	"      --label LABEL     with teardown and migrate: nodes.selector of slurmkubed.yaml\n"
	"                        (slurm-kube.io/managed)\n"
	"      --kubeconfig FILE, --context NAME    with selftest, version, drain, resume,\n"
	"                        teardown and migrate: kubectl's, for the agent's cluster\n"
	"      --agents-stopped  with teardown: slurmkubed is stopped on the other\n"
	"                        controller hosts\n"
	"      --cluster NAME    with teardown: remove only this one of several Kubernetes\n"
	"                        clusters\n"
	"      --from SYSTEM     with migrate: slurm-bridge or sunk\n"
	"      --bridge-stopped  with migrate: slurm-bridge runs nowhere\n"
	"      --sunk-scheduler NAME   with migrate --from sunk: schedulerName of its pods\n"
	"  -V, --version\n"
	"  -h, --help\n"
	"\n"
	"Exit status: 0 success, 1 something is wrong, 2 wrong usage, 3 the agent does not\n"
	"answer.\n";

namespace
{

constexpr unsigned k_lists = k_show_jobs | k_show_pods | k_show_nodes;
constexpr unsigned k_data = k_lists | k_show_devices | k_check | k_ping | k_diag | k_why |
	k_selftest | k_version | k_top | k_watch;
constexpr unsigned k_kubectl = k_teardown | k_migrate | k_selftest | k_version | k_drain | k_resume;
constexpr unsigned k_named =
	k_show_jobs | k_show_pods | k_watch | k_why | k_selftest | k_hold | k_logs;
constexpr unsigned k_any = ~0U;

struct Known {
	const char *name;
	int letter; /* 0: none */
	unsigned commands;
	bool &(*flag)(Options &options); /* the flag to set; nullptr: it takes a word */
	std::string &(*word)(Options &options);
};

using Flag = bool &;
using Word = std::string &;

constexpr Known k_known[] = {
	{"json", 0, k_data, [](Options &o) -> Flag { return o.json; }, nullptr},
	{"slurm-conf", 0, k_node_lines, [](Options &o) -> Flag { return o.slurm_conf; }, nullptr},
	{"topology-conf", 0, k_node_lines, [](Options &o) -> Flag { return o.topology_conf; },
		nullptr},
	{"topology-labels", 0, k_node_lines, nullptr,
		[](Options &o) -> Word { return o.topology_labels; }},
	{"force", 0, k_node_lines, [](Options &o) -> Flag { return o.force; }, nullptr},
	{"active", 0, k_show_pods, [](Options &o) -> Flag { return o.select.active; }, nullptr},
	{"all-namespaces", 'A', k_show_jobs | k_show_pods | k_watch,
		[](Options &o) -> Flag { return o.all_namespaces; }, nullptr},
	{"namespace", 'n', k_named, nullptr,
		[](Options &o) -> Word { return o.select.namespaces; }},
	{"selector", 'l', k_show_pods | k_show_nodes | k_watch, nullptr,
		[](Options &o) -> Word { return o.select.labels; }},
	{"state", 't', k_lists, nullptr, [](Options &o) -> Word { return o.select.states; }},
	{"user", 'u', k_show_jobs | k_show_pods | k_watch, nullptr,
		[](Options &o) -> Word { return o.select.users; }},
	{"node", 0, k_lists | k_watch, nullptr, [](Options &o) -> Word { return o.select.nodes; }},
	{"sort", 0, k_lists, nullptr, [](Options &o) -> Word { return o.sort; }},
	{"watch", 'w', k_lists, [](Options &o) -> Flag { return o.watch; }, nullptr},
	{"output", 'o', k_data | k_node_lines, nullptr,
		[](Options &o) -> Word { return o.output; }},
	{"socket", 0, k_any, nullptr, [](Options &o) -> Word { return o.socket; }},
	{"token-file", 0, k_kubeconfig, nullptr, [](Options &o) -> Word { return o.files.token; }},
	{"owner", 0, k_kubeconfig, nullptr, [](Options &o) -> Word { return o.files.owner; }},
	{"duration", 0, k_kubeconfig, nullptr, [](Options &o) -> Word { return o.files.duration; }},
	{"config", 0, k_any, nullptr, [](Options &o) -> Word { return o.manifests.config; }},
	{"only", 0, k_manifests | k_node_setup, nullptr,
		[](Options &o) -> Word { return o.manifests.only; }},
	{"system-cpus", 0, k_node_setup, nullptr, [](Options &o) -> Word { return o.system_cpus; }},
	{"account", 0, k_manifests | k_kubeconfig, nullptr,
		[](Options &o) -> Word { return o.manifests.account; }},
	{"apply", 0, k_teardown | k_migrate, [](Options &o) -> Flag { return o.teardown.apply; },
		nullptr},
	{"bridge-stopped", 0, k_migrate, [](Options &o) -> Flag { return o.bridge_stopped; },
		nullptr},
	{"from", 0, k_migrate, nullptr, [](Options &o) -> Word { return o.from; }},
	{"sunk-scheduler", 0, k_migrate, nullptr,
		[](Options &o) -> Word { return o.sunk_scheduler; }},
	{"agents-stopped", 0, k_teardown,
		[](Options &o) -> Flag { return o.teardown.agents_stopped; }, nullptr},
	{"cluster", 0, k_teardown, nullptr, [](Options &o) -> Word { return o.teardown.cluster; }},
	{"reason", 0, k_drain, nullptr, [](Options &o) -> Word { return o.reason; }},
	{"since", 0, k_logs, nullptr, [](Options &o) -> Word { return o.since; }},
	{"file", 0, k_logs, nullptr, [](Options &o) -> Word { return o.file; }},
	{"follow", 'f', k_logs, [](Options &o) -> Flag { return o.follow; }, nullptr},
	{"verbose", 'v', k_logs | k_hold | k_drain | k_resume,
		[](Options &o) -> Flag { return o.verbose; }, nullptr},
	{"once", 0, k_top, [](Options &o) -> Flag { return o.once; }, nullptr},
	{"image", 0, k_selftest, nullptr, [](Options &o) -> Word { return o.selftest.image; }},
	{"timeout", 0, k_selftest, nullptr, [](Options &o) -> Word { return o.selftest.timeout; }},
	{"scheduler-name", 0, k_teardown | k_selftest, nullptr,
		[](Options &o) -> Word { return o.teardown.scheduler_name; }},
	{"label", 0, k_teardown | k_migrate, nullptr,
		[](Options &o) -> Word { return o.teardown.label; }},
	{"kubeconfig", 0, k_kubectl, nullptr,
		[](Options &o) -> Word { return o.teardown.kubeconfig; }},
	{"context", 0, k_kubectl, nullptr, [](Options &o) -> Word { return o.teardown.context; }},
};
constexpr int k_first_known = 0x100; /* above all characters */

const std::vector<option> &long_options()
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

/* The colon at the front lets getopt tell a missing word from an unknown option. */
std::string short_options()
{
	std::string all = ":Vh";
	for (const Known &known : k_known) {
		if (known.letter)
			all += std::string(1, static_cast<char>(known.letter)) +
				(known.word ? ":" : "");
	}
	return all;
}

std::size_t index_of(int found)
{
	if (found >= k_first_known)
		return static_cast<std::size_t>(found - k_first_known);
	std::size_t i = 0;
	while (k_known[i].letter != found)
		i++;
	return i;
}

/* false: the word is empty, which would silently be no criterion. */
bool take_option(std::size_t index, Options &options)
{
	const Known &known = k_known[index];
	options.given.push_back(index);
	if (!known.word) {
		known.flag(options) = true;
		return true;
	}
	known.word(options) = optarg;
	return *optarg != '\0';
}

/* Handles an option after which skube ends, and returns the exit status. */
int take_last_option(int letter, const char *word)
{
	if (letter == ':')
		return usage_error("option '" + std::string(word) + "' needs a value");
	if (letter == '?')
		return usage_error("unknown or ambiguous option '" +
			(optopt > 0 && optopt < k_first_known ? std::string{'-', char(optopt)}
							      : std::string(word)) +
			"'");
	if (letter == 'V')
		(void)puts("skube " SLURMKUBE_VERSION);
	else
		(void)fputs(k_help, stdout);
	return fflush(stdout) == 0 ? k_fine : k_wrong;
}

} // namespace

int read_options(int argc, char **argv, Options &options)
{
	const std::string letters = short_options();
	opterr = 0;
	for (int found = 0;
		(found = getopt_long(argc, argv, letters.c_str(), long_options().data(),
			 nullptr)) != -1;) { // NOLINT(concurrency-mt-unsafe): one thread
		if (found == 'V' || found == 'h' || found == ':' || found == '?')
			return take_last_option(found, argv[optind - 1]);
		if (!take_option(index_of(found), options))
			return usage_error("option --" +
				std::string(k_known[options.given.back()].name) +
				" needs a value that is not empty");
	}
	options.words.assign(argv + optind, argv + argc);
	return -1;
}

std::string stray_option(const Options &options, unsigned commands)
{
	for (const std::size_t index : options.given) {
		if ((k_known[index].commands & commands) == 0)
			return "--" + std::string(k_known[index].name);
	}
	return {};
}

int usage_error(const std::string &sentence)
{
	(void)fprintf(stderr, "skube: %s (skube --help)\n", printable(sentence).c_str());
	return k_usage;
}

} // namespace slurmkube::skube
