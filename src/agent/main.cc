/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.cc - slurmkubed: options, signals, readiness; everything else is in App.
 */
#include "src/agent/app.h"
#include "src/agent/kube/option_policy.h"
#include "src/agent/kube/policies.h"
#include "src/agent/kube/rights.h"
#include "src/base/log.h"

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
constexpr char k_default_config[] = "/etc/slurm-kube/slurmkubed.yaml";

constexpr char k_help[] = "usage: slurmkubed [OPTIONS]\n"
			  "Lets Slurm schedule Kubernetes pods. Runs beside slurmctld, as SlurmUser. See slurmkubed(8).\n"
			  "\n"
			  "  -f, --config FILE   configuration (default /etc/slurm-kube/slurmkubed.yaml)\n"
			  "      --check-config  read the configuration, print every error, and end\n"
			  "      --print-rbac    print the rights in Kubernetes that it needs, as a manifest, and end\n"
			  "      --print-options-policy  print the admission policy that looks at options, and end\n"
			  "      --print-policies  print the other admission policies for the configuration's scheduler_name, and end\n"
			  "      --print-scheduler-name-policy  print the one that fills in schedulerName, and end\n"
			  "  -V, --version\n"
			  "  -h, --help\n";

struct Options {
	std::string config = k_default_config;
	bool check_only = false;
	std::string (*print)(const std::string &scheduler_name) = nullptr; /* instead of running */
};

/* Returns an exit status to end with, or -1 to go on. */
int read_options(int argc, char **argv, Options &options)
{
	constexpr int k_check = 1, k_print_rbac = 2, k_print_options_policy = 3, k_print_policies = 4, k_print_scheduler_name_policy = 5;
	const option known[] = {{"config", required_argument, nullptr, 'f'},
				{"check-config", no_argument, nullptr, k_check},
				{"print-rbac", no_argument, nullptr, k_print_rbac},
				{"print-options-policy", no_argument, nullptr, k_print_options_policy},
				{"print-policies", no_argument, nullptr, k_print_policies},
				{"print-scheduler-name-policy", no_argument, nullptr, k_print_scheduler_name_policy},
				{"version", no_argument, nullptr, 'V'},
				{"help", no_argument, nullptr, 'h'},
				{nullptr, 0, nullptr, 0}};
	for (;;) {
		const int found = getopt_long(argc, argv, "f:Vh", known, nullptr); // NOLINT(concurrency-mt-unsafe): before any thread
		switch (found) {
		case -1:
			if (optind == argc)
				return -1;
			(void)fprintf(stderr, "slurmkubed: unexpected argument '%s'\n%s", argv[optind], k_help);
			return k_exit_usage;
		case 'f':
			options.config = optarg;
			break;
		case k_check:
			options.check_only = true;
			break;
		case k_print_rbac:
			(void)fputs(kube::rbac_manifest().c_str(), stdout);
			return EXIT_SUCCESS;
		case k_print_options_policy:
			(void)fputs(kube::options_policy().c_str(), stdout);
			return EXIT_SUCCESS;
		case k_print_policies:
			options.print = kube::policies;
			break;
		case k_print_scheduler_name_policy:
			options.print = kube::scheduler_name_policy;
			break;
		case 'V':
			(void)puts("slurmkubed " SLURMKUBE_VERSION);
			return EXIT_SUCCESS;
		case 'h':
			(void)fputs(k_help, stdout);
			return EXIT_SUCCESS;
		default:
			(void)fputs(k_help, stderr);
			return k_exit_usage;
		}
	}
}

/* SIGTERM and SIGINT end the loop. Blocked before any thread is made, so that no thread can be hit by them. */
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

void end_on_signal(agent::Loop &loop, int signals)
{
	loop.set(signals, EPOLLIN, [&loop, signals](std::uint32_t) {
		signalfd_siginfo info{};
		if (read(signals, &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info)))
			return;
		if (info.ssi_signo == SIGHUP) {
			log_info("SIGHUP does nothing: restart to read the configuration again");
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
	(void)sd_notify(0, "READY=1");
	std::uint64_t period_us = 0;
	if (sd_watchdog_enabled(0, &period_us) > 0)
		keep_watchdog(loop, std::chrono::microseconds(period_us / 3));
}

int run(const agent::Config &config)
{
	const UniqueFd signals = open_signals();
	auto access = config.kubeconfig.empty() ? kube::access_in_cluster() : kube::access_from_kubeconfig(config.kubeconfig);
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
	end_on_signal(loop, signals.get());
	log_info("slurmkubed %s started cluster=%s scheduler=%s", SLURMKUBE_VERSION, config.cluster.c_str(), config.scheduler_name.c_str());
	tell_systemd(loop);
	loop.run();
	(void)sd_notify(0, "STOPPING=1");
	return EXIT_SUCCESS;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	const int early = read_options(argc, argv, options);
	if (early >= 0)
		return early;
	const agent::LoadedConfig loaded = agent::load_config(options.config);
	for (const std::string &error : loaded.errors)
		(void)fprintf(stderr, "%s\n", error.c_str());
	if (!loaded.errors.empty())
		return EXIT_FAILURE;
	if (options.print) {
		(void)fputs(options.print(loaded.config.scheduler_name).c_str(), stdout);
		return EXIT_SUCCESS;
	}
	if (options.check_only) {
		(void)printf("%s: fine\n", options.config.c_str());
		return EXIT_SUCCESS;
	}
	log_open(log_to_stderr, loaded.config.log_level);
	return run(loaded.config);
}
