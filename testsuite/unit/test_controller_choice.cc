/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/controller_choice.h"
#include "testsuite/unit/check.h"

#include <slurm/slurm.h>

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

/* see controller_choice.cc */
extern "C" slurm_conf_t slurm_conf;

using namespace slurmkube;

namespace
{

/* The hosts that libslurm would call, in their order. */
std::string hosts()
{
	std::string out;
	for (std::uint32_t i = 0; i < slurm_conf.control_cnt; i++)
		out += (i > 0 ? " " : "") + std::string(slurm_conf.control_machine[i]) + "=" +
			slurm_conf.control_addr[i];
	return out;
}

constexpr char k_all[] = "ca=127.0.0.1 cb=127.0.0.2 cc.site=127.0.0.3";

std::string hosts_with(slurm::ControllerChoice &choice, const std::string &host)
{
	choice.choose(host);
	choice.apply();
	return hosts();
}

void only_the_linked_host_is_called()
{
	CHECK_EQUAL(hosts(), k_all);
	{
		slurm::ControllerChoice choice;
		CHECK_EQUAL(hosts_with(choice, "cb"), "cb=127.0.0.2");
		/* slurmctld there has taken over */
		CHECK_EQUAL(hosts_with(choice, "ca"), "ca=127.0.0.1");
		CHECK_EQUAL(hosts_with(choice, ""), k_all);
		CHECK_EQUAL(hosts_with(choice, "cb"), "cb=127.0.0.2");
	}
	CHECK_EQUAL(hosts(), k_all);
}

void a_host_has_a_full_and_a_short_name()
{
	slurm::ControllerChoice choice;
	CHECK_EQUAL(hosts_with(choice, "cc.site"), "cc.site=127.0.0.3");
	CHECK_EQUAL(hosts_with(choice, "cb.site"), "cb=127.0.0.2");
}

void all_are_called_if_the_linked_host_is_not_known()
{
	slurm::ControllerChoice choice;
	for (const char *host : {"", "other", "c", "cbb"}) {
		CHECK_EQUAL(hosts_with(choice, "cb"), "cb=127.0.0.2");
		CHECK_EQUAL(hosts_with(choice, host), k_all);
	}
}

} // namespace

int main()
{
	char path[] = "/tmp/slurm-kube-conf.XXXXXX";
	const int fd = mkstemp(path);
	std::ofstream(path) << "ClusterName=x\nSlurmctldHost=ca(127.0.0.1)\n"
			       "SlurmctldHost=cb(127.0.0.2)\nSlurmctldHost=cc.site(127.0.0.3)\n"
			       "NodeName=n1\nPartitionName=p Nodes=n1\n";
	slurm_init(path);
	(void)unlink(path);
	(void)close(fd);
	return check::run_tests("controller choice",
		{
			TEST(only_the_linked_host_is_called),
			TEST(a_host_has_a_full_and_a_short_name),
			TEST(all_are_called_if_the_linked_host_is_not_known),
		});
}
