#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""doc/tutorial-admin.md, word by word, on a Slurm without slurm-kube beside a Kubernetes with two
simulated nodes. The packages are installed already, and the bed does what systemctl does.
"""
import socket

from lib import Skip, equal, run
from lib.expect import wait_no_live_jobs
from lib.objects import remove_agent_account
from lib.reader import Reader, WithReader
from lib.tutorials import Tutorial, run_tutorial

# packages/test_first_day installs the packages in a clean Debian.
UNRUN = ["apt install ./slurm-kube-{agent,tools,doc}_*.deb ./slurm-kube-plugin-*.deb"]
# What the reader adds to slurm.conf.
ADDED = ("JobSubmitPlugins=", "NodeSet=kube", "PartitionName=kube", "Include ")


def test_every_command_works(bed):
    """In the order of the text, with the output that it shows."""
    if bed.slurm.dynamic_nodes:
        raise Skip("the tutorial shows Slurm older than 24.11, whose nodes are lines in a file")
    bed.slurm.restart()
    names = (
        ("/etc/slurm-kube/", f"{bed.dir}/etc-slurm-kube/"),
        ("/etc/slurm/", f"{bed.dir}/"),
        ("/root/admin.kubeconfig", bed.plane.kubeconfig()),
        ("/var/lib/slurm-kube/token", f"{bed.dir}/token"),
        ("127.0.0.1:9818", f"127.0.0.1:{bed.base + 10}"),
        ("sudo -u slurm ", ""),
        ("Port=6899", f"Port={bed.slurm.port + 2}"),
        ("ctl1", socket.gethostname().partition(".")[0]),
        ("alice", "nobody"),
    )
    run_tutorial(Tutorial("tutorial-admin"), Reader(bed, names))
    wait_no_live_jobs(bed)


def test_no_command_is_left_out(_):
    """All commands of the text are among those that run, but those named here."""
    equal(Tutorial("tutorial-admin").unrun, UNRUN)


class AdminTestbed(WithReader):
    """What a site has before: Slurm with a native node, nodes without a label, no agent."""

    def start_slurm(self):
        super().start_slurm()
        conf = self.dir / "slurm.conf"
        lines = conf.read_text().splitlines(True)
        conf.write_text("".join(line for line in lines if not line.startswith(ADDED)))
        (self.dir / "kube-nodes.conf").unlink()

    def start_kubernetes(self):
        super().start_kubernetes()
        remove_agent_account(self.plane)
        self.plane.kubectl("label", "node", "--all", "slurm-kube.io/managed-")

    def start_agent(self):
        self.agent.daemon.log.touch()
        self.stack.callback(self.agent.stop)


if __name__ == "__main__":
    run(lambda build: AdminTestbed(build, kwok=2))
