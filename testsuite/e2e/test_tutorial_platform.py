#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""doc/tutorial-platform.md, word by word: objects by helm, kustomize and skube, namespaces,
policies, several scheduler names, alert rules. The agent has no account before.
"""
from lib import equal, run
from lib.expect import wait_no_live_jobs
from lib.objects import build_helm, remove_agent_account
from lib.process import SOURCE, TESTSUITE, output_of
from lib.reader import Reader, WithReader
from lib.tutorials import Tutorial, run_tutorial


def test_every_command_works(bed):
    """In the order of the text, with the output that it shows."""
    output_of("bash", "-c", f". {TESTSUITE}/common.sh && need_packages prometheus", timeout=600)
    names = (
        ("/etc/slurm-kube/", f"{bed.dir}/etc-slurm-kube/"),
        ("/root/admin.kubeconfig", bed.plane.kubeconfig()),
        ("/var/lib/slurm-kube/token", f"{bed.dir}/token"),
        ("127.0.0.1:9818", f"127.0.0.1:{bed.base + 10}"),
        ("alice", "nobody"),
        ("bob", "daemon"),
    )
    reader = Reader(bed, names)
    (reader.home / "slurm-kube").symlink_to(SOURCE)
    run_tutorial(Tutorial("tutorial-platform"), reader)
    wait_no_live_jobs(bed)


def test_no_command_is_left_out(_):
    """All commands of the text are among those that run."""
    equal(Tutorial("tutorial-platform").unrun, [])


class PlatformTestbed(WithReader):
    """Slurm has its nodes; nothing of slurm-kube is left in Kubernetes but their labels."""

    def start_kubernetes(self):
        build_helm()
        super().start_kubernetes()

    def start_agent(self):
        super().start_agent()
        self.agent.stop()
        remove_agent_account(self.plane)


if __name__ == "__main__":
    run(lambda build: PlatformTestbed(build, kwok=2))
