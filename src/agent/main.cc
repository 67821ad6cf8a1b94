/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.cc - slurmkubed: options, signals and readiness. Everything else is in App.
 */
#include "src/agent/app.h"
#include "src/agent/config_trial.h"
#include "src/base/log.h"
#include "src/core/model/backoff.h"
#include "src/manifests/option_policy.h"
#include "src/manifests/policies.h"
#include "src/manifests/rights.h"

#include <systemd/sd-daemon.h>

#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <getopt.h>

namespace
{

using namespace slurmkube;

constexpr int k_exit_usage = 2;

constexpr char k_help[] =
	"usage: slurmkubed [OPTIONS]\n"
	"Lets Slurm schedule Kubernetes pods. Runs beside slurmctld, as SlurmUser. See "
	"slurmkubed(8).\n"
	"\n"
	"  -f, --config FILE   configuration (default /etc/slurm-kube/slurmkubed.yaml)\n"
	"      --check-config  check the configuration and its credentials, and exit\n"
	"      --print-rbac    print the rights that the agent needs (rbac.yaml), and exit\n"
	"      --print-options-policy  print the admission policy that checks options, and exit\n"
	"      --print-policies  print the policies that protect allocations and managed\n"
	"                      namespaces, and exit\n"
	"      --print-scheduler-name-policy  print the policy that sets schedulerName, and exit\n"
	"  -V, --version\n"
	"  -h, --help\n";

struct Options {
	std::string config = slurmkube::names::k_config_file;
	bool check_only = false;
	std::string (*print)(const manifests::Site &site) = nullptr; /* instead of running */
};

enum {
	k_check = 1,
	k_print_rbac,
	k_print_options_policy,
	k_print_policies,
	k_print_scheduler_name_policy
};
const option k_known[] = {{"config", required_argument, nullptr, 'f'},
	{"check-config", no_argument, nullptr, k_check},
	{"print-rbac", no_argument, nullptr, k_print_rbac},
	{"print-options-policy", no_argument, nullptr, k_print_options_policy},
	{"print-policies", no_argument, nullptr, k_print_policies},
	{"print-scheduler-name-policy", no_argument, nullptr, k_print_scheduler_name_policy},
	{"version", no_argument, nullptr, 'V'}, {"help", no_argument, nullptr, 'h'},
	{nullptr, 0, nullptr, 0}};

int printed(const std::string &text)
{
	(void)fputs(text.c_str(), stdout);
	return EXIT_SUCCESS;
}

/* Returns the exit status to end with, or -1 to go on. */
int take_option(int found, Options &options)
{
	switch (found) {
	case 'f':
		options.config = optarg;
		return -1;
	case k_check:
		options.check_only = true;
		return -1;
	case k_print_policies:
		options.print = manifests::policies;
		return -1;
	case k_print_scheduler_name_policy:
		options.print = manifests::scheduler_name_policy;
		return -1;
	case k_print_rbac:
		return printed(manifests::rbac_manifest());
	case k_print_options_policy:
		return printed(manifests::options_policy());
	case 'V':
		return printed("slurmkubed " SLURMKUBE_VERSION "\n");
	case 'h':
		return printed(k_help);
	default:
		(void)fputs(k_help, stderr);
		return k_exit_usage;
	}
}

/* The same return value. */
int read_options(int argc, char **argv, Options &options)
{
	for (int found = 0; (found = getopt_long(argc, argv, "f:Vh", k_known, nullptr)) !=
		-1;) { // NOLINT(concurrency-mt-unsafe): before any thread
		if (const int early = take_option(found, options); early >= 0)
			return early;
	}
	if (optind == argc)
		return -1;
	(void)fprintf(stderr, "slurmkubed: unexpected argument '%s'\n%s", argv[optind], k_help);
	return k_exit_usage;
}

/* SIGTERM and SIGINT end the loop, SIGHUP reloads the configuration. The signals are blocked before
 * any other thread exists, so that all threads inherit the mask. */
UniqueFd open_signals()
{
	sigset_t wanted;
	sigemptyset(&wanted);
	for (const int number : {SIGTERM, SIGINT, SIGHUP})
		sigaddset(&wanted, number);
	(void)pthread_sigmask(SIG_BLOCK, &wanted, nullptr); /* cannot fail with these arguments */
	(void)signal(SIGPIPE, SIG_IGN);
	return UniqueFd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

/* Ignores a file with errors, and also a file with which the agent could not work, for example an
 * empty one. */
void reload(agent::App &app, const std::string &file)
{
	agent::LoadedConfig loaded = agent::load_config(file);
	if (loaded.errors.empty())
		loaded.errors = agent::try_config(loaded.config);
	for (const std::string &note : loaded.notes)
		log_warning("configuration: %s", note.c_str());
	std::string trouble;
	for (const std::string &error : loaded.errors) {
		log_error(
			"configuration not taken, the last one stays in effect: %s", error.c_str());
		trouble += (trouble.empty() ? "" : "; ") + error;
	}
	app.set_file_trouble(std::move(trouble));
	if (loaded.errors.empty())
		app.reload(loaded.config);
}

void obey_signals(agent::Loop &loop, int signals, agent::App &app, const std::string &file)
{
	loop.set(signals, EPOLLIN, [&loop, &app, signals, file](std::uint32_t) {
		signalfd_siginfo info{};
		if (read(signals, &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info)))
			return;
		if (info.ssi_signo == SIGHUP) {
			reload(app, file);
			return;
		}
		log_info("stopping: signal=%u", info.ssi_signo);
		loop.stop();
	});
}

void keep_watchdog(agent::Loop &loop, std::chrono::microseconds period)
{
	(void)sd_notify(0, "WATCHDOG=1");
	loop.after(period, [&loop, period] { keep_watchdog(loop, period); });
}

void tell_systemd(agent::Loop &loop)
{
	(void)sd_notify(0, "READY=1\nSTATUS=");
	std::uint64_t period_us = 0;
	if (sd_watchdog_enabled(0, &period_us) > 0)
		keep_watchdog(loop, std::chrono::microseconds(period_us / 3));
}

/* True: a signal to end arrived within the time. */
bool is_ended_within(std::chrono::milliseconds time)
{
	sigset_t wanted;
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGINT);
	(void)pthread_sigmask(SIG_BLOCK, &wanted, nullptr); /* cannot fail with these arguments */
	const timespec limit{time.count() / 1000, time.count() % 1000 * 1'000'000};
	return sigtimedwait(&wanted, nullptr, &limit) > 0;
}

/* Waits as long as users and groups cannot be looked up, for example at boot before the directory
 * service runs: until then the file cannot be checked. */
agent::LoadedConfig load_patiently(const std::string &file)
{
	core::Backoff backoff(std::chrono::seconds(1), std::chrono::seconds(30));
	log_open(log_to_stderr, LogLevel::info);
	for (;;) {
		agent::LoadedConfig loaded = agent::load_config(file);
		if (!loaded.may_pass)
			return loaded;
		for (const std::string &error : loaded.errors)
			log_warning("waiting: %s", error.c_str());
		(void)sd_notify(0,
			"STATUS=Waiting for users and groups to be known "
			"here\nEXTEND_TIMEOUT_USEC=90000000");
		if (is_ended_within(backoff.next(static_cast<std::uint32_t>(getpid()))))
			return loaded;
	}
}

int run(const agent::Config &config, const std::string &file)
{
	const UniqueFd signals = open_signals();
	auto access = config.kubeconfig.empty() ? kube::access_in_cluster()
						: kube::access_from_kubeconfig(config.kubeconfig);
	if (!access) {
		log_error("%s", access.error().what.c_str());
		return EXIT_FAILURE;
	}
	agent::Loop loop;
	agent::App app(loop, config, std::move(*access));
	const Status started = app.start();
	if (!started) {
		log_error("%s", started.error().what.c_str());
		return EXIT_FAILURE;
	}
	obey_signals(loop, signals.get(), app, file);
	log_info("slurmkubed %s started cluster=%s scheduler=%s", SLURMKUBE_VERSION,
		config.cluster.c_str(), config.scheduler_names_text().c_str());
	tell_systemd(loop);
	loop.run();
	(void)sd_notify(0, "STOPPING=1");
	return EXIT_SUCCESS;
}

int check_config(const std::string &file, const agent::Config &config)
{
	const std::vector<std::string> troubles = agent::try_config(config);
	for (const std::string &trouble : troubles)
		(void)fprintf(stderr, "%s: %s\n", file.c_str(), trouble.c_str());
	if (!troubles.empty())
		return EXIT_FAILURE;
	(void)printf("%s: fine\n", file.c_str());
	return EXIT_SUCCESS;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	const int early = read_options(argc, argv, options);
	if (early >= 0)
		return early;
	const agent::LoadedConfig loaded = options.check_only || options.print
		? agent::load_config(options.config)
		: load_patiently(options.config);
	for (const std::string &error : loaded.errors)
		(void)fprintf(stderr, "%s\n", error.c_str());
	for (const std::string &note : loaded.notes)
		(void)fprintf(stderr, "%s\n", note.c_str());
	if (!loaded.errors.empty())
		return EXIT_FAILURE;
	if (options.print) {
		manifests::Site site;
		site.scheduler_name = loaded.config.scheduler_name;
		site.scheduler_aliases = loaded.config.scheduler_aliases;
		return printed(options.print(site));
	}
	if (options.check_only)
		return check_config(options.config, loaded.config);
	agent::open_log(loaded.config.log_format, loaded.config.log_level);
	if (const Status opened = agent::open_audit_log(loaded.config.audit_log); !opened) {
		log_error("%s", opened.error().what.c_str());
		return EXIT_FAILURE;
	}
	return run(loaded.config, options.config);
}
