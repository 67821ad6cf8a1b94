/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/log.h"
#include "src/base/owned.h"
#include "src/base/text.h"
#include "src/node/check.h"
#include "src/node/crio_hook.h"
#include "src/node/device_access.h"
#include "src/node/epilog.h"
#include "src/node/native_scripts.h"
#include "src/node/runtime.h"
#include "src/node/settings.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

using namespace slurmkube;
using namespace slurmkube::node;

namespace
{

constexpr int k_usage_status = 2;
constexpr int k_pause_ms = 500; /* between two attempts to connect */

constexpr const char *k_help =
	"usage: slurmkube-node [--config FILE]             the daemon of a hybrid node\n"
	"       slurmkube-node [--config FILE] --wait JOB  ends a job here (for an epilog)\n"
	"       slurmkube-node [--config FILE] --settle    waits for ended jobs (for a prolog)\n"
	"       slurmkube-node [--config FILE] --list      jobs with containers\n"
	"       slurmkube-node [--config FILE] --check     whether this node is set up\n"
	"       slurmkube-node [--config FILE] --confined  refuses containers (a hook of CRI-O)\n"
	"       slurmkube-node --version | --help\n";

struct Options {
	std::string config = k_settings_file;
	enum class Command { serve, wait, settle, list, check, confined } command = Command::serve;
	std::uint32_t job = 0;
};

[[noreturn]] void usage_error(const std::string &what)
{
	std::cerr << "slurmkube-node: " << what << "; see slurmkube-node --help\n";
	std::exit(k_usage_status);
}

std::uint32_t job_id(const char *text)
{
	std::uint32_t job = 0;
	const char *end = text + std::strlen(text);
	const auto [last, error] = std::from_chars(text, end, job);
	if (error != std::errc() || last != end || job == 0)
		usage_error(printable(text) + " is not a job id");
	return job;
}

void take_option(int option, Options &options)
{
	switch (option) {
	case 'c':
		options.config = optarg;
		break;
	case 'w':
		options.command = Options::Command::wait;
		options.job = job_id(optarg);
		break;
	case 's':
		options.command = Options::Command::settle;
		break;
	case 'l':
		options.command = Options::Command::list;
		break;
	case 'k':
		options.command = Options::Command::check;
		break;
	case 'o':
		options.command = Options::Command::confined;
		break;
	case 'V':
		std::cout << "slurmkube-node " << SLURMKUBE_VERSION << "\n";
		std::exit(0);
	case 'h':
		std::cout << k_help;
		std::exit(0);
	default:
		std::exit(k_usage_status);
	}
}

Options options_of(int argc, char **argv)
{
	static const option k_options[] = {{"config", required_argument, nullptr, 'c'},
		{"wait", required_argument, nullptr, 'w'}, {"settle", no_argument, nullptr, 's'},
		{"list", no_argument, nullptr, 'l'}, {"check", no_argument, nullptr, 'k'},
		{"confined", no_argument, nullptr, 'o'}, {"version", no_argument, nullptr, 'V'},
		{"help", no_argument, nullptr, 'h'}, {nullptr, 0, nullptr, 0}};
	Options options;
	for (int option; (option = getopt_long(argc, argv, "h", k_options, nullptr)) != -1;)
		take_option(option, options);
	if (optind < argc)
		usage_error("unexpected argument " + printable(argv[optind]));
	return options;
}

void to_stderr(LogLevel, const char *line)
{
	std::fprintf(stderr, "%s\n", line);
}

int complain(const Error &error)
{
	std::cerr << "slurmkube-node: " << printable(error.what) << "\n";
	return 1;
}

std::string host_name()
{
	char name[256] = {};
	(void)::gethostname(name, sizeof name - 1);
	return std::string(name).substr(0, std::string(name).find('.'));
}

Cgroups cgroups_of(const Settings &settings)
{
	return {settings.cgroup_root,
		settings.node_name.empty() ? host_name() : settings.node_name};
}

/* Readable when the daemon must end. */
UniqueFd stop_signals()
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &set, nullptr);
	return UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC));
}

/* Logs what lasts once a minute. */
class Trouble
{
      public:
	void say(const std::string &what)
	{
		const auto now = std::chrono::steady_clock::now();
		if (what == last_ && now < next_)
			return;
		log_warning("%s", printable(what).c_str());
		last_ = what;
		next_ = now + std::chrono::minutes(1);
	}

      private:
	std::string last_;
	std::chrono::steady_clock::time_point next_;
};

/* The runtime may start later, and again: without us it creates no container of ours. */
int serve(const Settings &settings, const Records &records, const Cgroups &cgroups)
{
	/* before there is another thread, which would take the signals */
	const UniqueFd stop = stop_signals();
	NativePods native(settings.state_directory, cgroups, settings.allows_native_pods());
	native.start_keeper();
	Plugin plugin(records, cgroups, native, settings.system_cpus);
	Trouble trouble;
	if (const Result<Ok> made = try_device_file(records.directory()); !made)
		log_error("%s, so containers with devices are refused: the unit needs CAP_MKNOD "
			  "and DeviceAllow=char-* m",
			printable(made.error().what).c_str());
	(void)sd_notify(0, "READY=1\nSTATUS=not connected");
	for (;;) {
		const Result<Ok> ended = serve_runtime(settings.nri_socket, plugin, stop.get(),
			[] { (void)sd_notify(0, "STATUS=connected"); });
		if (ended) {
			(void)sd_notify(0, "STOPPING=1");
			return 0;
		}
		(void)sd_notify(
			0, ("STATUS=not connected: " + printable(ended.error().what)).c_str());
		trouble.say(ended.error().what);
		pollfd wait = {stop.get(), POLLIN, 0};
		if (::poll(&wait, 1, k_pause_ms) > 0)
			return 0;
	}
}

/* The variables of a pod's job, in a prolog and an epilog. */
constexpr const char *k_mark = "SPANK_SLURM_KUBE", *k_grace = "SPANK_SLURM_KUBE_GRACE";

/* The variable is set by slurmd in an Epilog, not by a user's environment. */
bool is_epilog()
{
	const char *context = std::getenv("SLURM_SCRIPT_CONTEXT");
	return context && std::strcmp(context, "epilog_slurmd") == 0;
}

int wait_for(const Options &options, const Settings &settings, const Records &records,
	const Cgroups &cgroups)
{
	if (!std::getenv(k_mark) && !is_pods_job(records, options.job))
		return 0;
	const char *given = std::getenv(k_grace);
	const std::string grace =
		given ? given : records.grace_of(options.job).value_or(std::string());
	const Result<Ok> ended = end_job(records, cgroups, options.job, epilog_limit(grace.c_str()),
		is_epilog(), ContainerdStatus(settings.containerd_root));
	return ended ? 0 : complain(ended.error());
}

/* For the epilog, which may not have the variables. */
Result<Ok> remember_pods_job(const Records &records)
{
	const char *job = std::getenv("SLURM_JOB_ID"), *grace = std::getenv(k_grace);
	if (!std::getenv(k_mark) || !job)
		return Ok{};
	return records.keep_grace(job_id(job), grace ? printable(grace) : "");
}

/* An hour is more than any grace period after which an epilog gives up by itself. */
int settle(const Settings &settings, const Records &records, const Cgroups &cgroups)
{
	constexpr std::chrono::hours k_limit{1};
	const NativeJobs jobs(settings.state_directory);
	if (const Result<Ok> kept = remember_pods_job(records); !kept)
		return complain(kept.error());
	const ContainerdStatus containerd(settings.containerd_root);
	Result<Ok> over = wait_for_ended_jobs(records, cgroups, k_limit, containerd);
	if (over)
		over = settle_native_pods(jobs, cgroups, std::getenv,
			settings.allows_native_pods() && !std::getenv(k_mark), k_end_limits,
			containerd);
	return over ? 0 : complain(over.error());
}

const char *state_name(Records::JobState state)
{
	switch (state) {
	case Records::JobState::closed:
		return "closed";
	case Records::JobState::cleared:
		return "ended";
	default:
		return "open";
	}
}

int list(const Records &records, const Cgroups &cgroups)
{
	std::printf("%-10s %-7s %-16s %s\n", "JOB", "STATE", "CPUS", "CONTAINERS");
	for (const std::uint32_t job : records.jobs()) {
		const std::optional<CpuSet> set = cgroups.cpuset_of(job);
		std::size_t live = 0;
		for (const ContainerRecord &container : records.containers_of(job))
			if (cgroups.has_processes(container.cgroup))
				live++;
		std::printf("%-10u %-7s %-16s %zu\n", job, state_name(records.state_of(job)),
			set ? set->cpus.c_str() : "-", live);
	}
	return 0;
}

/* For an epilog, of a pod's job or of a native one. */
int end_job_here(const Options &options, const Settings &settings, const Cgroups &cgroups)
{
	const NativeJobs jobs(settings.state_directory);
	const Result<Ok> native = end_native_pods(jobs, cgroups, options.job, is_epilog(),
		k_end_limits, ContainerdStatus(settings.containerd_root));
	const Result<Records> records = Records::open(settings.state_directory);
	if (!records)
		return complain(records.error());
	const int status = wait_for(options, settings, *records, cgroups);
	return native ? status : complain(native.error());
}

std::string all_of(std::istream &in)
{
	return {std::istreambuf_iterator<char>(in), {}};
}

/* A hook of CRI-O, before the container's program runs. */
int confined(const Settings &settings, const Cgroups &cgroups)
{
	const Result<Ok> may = may_run(all_of(std::cin), settings, cgroups);
	return may ? 0 : complain(may.error());
}

int run(const Options &options)
{
	const bool is_script = options.command == Options::Command::wait ||
		options.command == Options::Command::settle ||
		options.command == Options::Command::confined;
	const Result<Settings> settings =
		read_settings(options.config, is_script ? Strictness::script : Strictness::all);
	if (!settings)
		return complain(settings.error());
	if (!settings->ignored.empty())
		log_warning("%s: %s", printable(options.config).c_str(), settings->ignored.c_str());
	const Cgroups cgroups = cgroups_of(*settings);
	if (options.command == Options::Command::confined)
		return confined(*settings, cgroups);
	if (options.command == Options::Command::wait)
		return end_job_here(options, *settings, cgroups);
	const Result<Records> records = Records::open(settings->state_directory);
	if (!records)
		return complain(records.error());
	switch (options.command) {
	case Options::Command::settle:
		return settle(*settings, *records, cgroups);
	case Options::Command::list:
		return list(*records, cgroups);
	case Options::Command::check:
		return check_node(*settings, cgroups);
	default:
		return serve(*settings, *records, cgroups);
	}
}

} // namespace

int main(int argc, char **argv)
{
	log_open(to_stderr, LogLevel::info);
	return run(options_of(argc, argv));
}
