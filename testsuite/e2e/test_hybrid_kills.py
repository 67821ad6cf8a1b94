#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every daemon of a hybrid node and the agent are killed, also the slurmstepd of a pod's job, and
slurmctld is restarted, while pods and native jobs start and end at random. Nothing is played (see
lib/hybrid_testbed.py). Jobs have one processor, which pods and native jobs use in turn; the other
one is the system's, on which a container may start whose creation met a slurmkube-node that was
killed within its answer.

HYBRID_ROUNDS=N HYBRID_SEED=N: how often each daemon is killed, and the seed.
"""
import os

from lib import equal, run, wait_for
from lib.cpusets import Sampler
from lib.expect import wait_no_live_jobs
from lib.hybrid_crowd import Crowd, Killer
from lib.hybrid_testbed import SLOW, SYSTEM, HybridTestbed

NODE = f"kills{os.getpid()}"
ROUNDS = int(os.environ.get("HYBRID_ROUNDS", "1"))
SEED = int(os.environ.get("HYBRID_SEED", "1"))


def test_nobody_shares_a_processor_whatever_is_killed(bed):
    with Sampler(NODE, bed.containers, systems={SYSTEM}) as sampler:
        crowd, killer = Crowd(bed, SEED, most=3), Killer(bed, SEED, ROUNDS)
        crowd.run(lambda: killer.is_done, killer.step)
        crowd.wait_ended()
    print(f"# {crowd.counts}, {sampler.looks} looks")
    equal(sampler.shared, [])


def test_the_node_works_as_before(bed):
    """Slurm may have drained it, as it does when a daemon of its own was killed at a bad time."""
    state = bed.state()
    if "DRAIN" in state or "DOWN" in state:
        bed.slurm.run("scontrol", "update", f"NodeName={NODE}", "State=RESUME")
    bed.wait_idle()
    bed.agent.wait_ready()
    made = bed.make("after")
    equal(bed.wait_running(made) & {SYSTEM}, set())
    bed.delete("after")
    wait_for(lambda: bed.state() == "IDLE", "the node to be idle", timeout=SLOW)


def test_no_job_is_left(bed):
    wait_no_live_jobs(bed, 60)


if __name__ == "__main__":
    run(lambda build: HybridTestbed(build, NODE, jobs_everywhere=False))
