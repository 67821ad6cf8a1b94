#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two SlurmctldHosts with an agent each. The agent beside the active slurmctld leads, and the other
one does nothing. Over take-overs in both directions pods continue under the same jobs, and each new
pod is placed exactly once.
"""
import re
import signal
import time

from lib import equal, pod, run, wait_for
from lib.expect import job_in_state, uid_of
from lib.two_hosts import TwoHosts

AWAY = []  # (from, until): a killed controller may have forgotten what it had not saved


def place(bed, name, count=3):
    """Creates pods, runs them to their end, and checks that each has one job."""
    made = [bed.kube.create(pod(f"{name}-{i}")) for i in range(count)]
    finish(bed, made)


def finish(bed, made, lossy=False):
    for m in made:
        bed.run_pod(m["metadata"]["name"])
    for m in made:
        bed.end_pod(m["metadata"]["name"])
    bed.others_done()
    for m in made:
        states = [(j["JobState"], j["ExitCode"]) for j in bed.slurm.job_of_pod(uid_of(m))]
        equal(
            [s for s in states if s[0] == "COMPLETED"] if lossy else states,
            [("COMPLETED", "0:0")],
            f"jobs of {m['metadata']['name']}",
        )
        bed.remove_pod(m["metadata"]["name"])


def said(agent):
    """The number of actions in an agent's log."""
    text = (agent.dir / "log/slurmkubed.out").read_text()
    return sum(
        text.count(f">{what} ") for what in ("submitted", "bound", "ended", "cancelled", "deleting")
    )


def test_only_the_agent_beside_the_active_controller_acts(bed):
    """Both agents watch; the one without a connected plugin does nothing, and reports that."""
    equal(bed.leader(), "kube-a")
    before = said(bed.agent_b)
    place(bed, "first")
    equal(said(bed.agent_b), before, "actions of the second agent")
    assert "connected with slurmctld on kube-a" in bed.agent.skube_text(
        "ping"
    ), bed.agent.skube_text("ping")
    checks = {c["name"]: c for c in bed.agent_b.skube_all("check")["checks"]}
    assert not checks["plugin"]["ok"] and "SlurmctldHosts" in checks["plugin"]["remedy"], checks[
        "plugin"
    ]
    assert checks["slurmctld"]["ok"], checks["slurmctld"]


def _rejected(bed):
    """Requests about jobs that reached the backup while it was in standby."""
    log = (bed.dir / "log/slurmctld-kube-b.out").read_text(errors="replace")
    return re.findall(
        r"RPC received REQUEST_(COMPLETE_JOB_ALLOCATION|JOB_INFO_SINGLE) while in standby", log
    )


def test_requests_of_before_do_not_reach_the_backup(bed):
    """The primary hangs, is killed and starts again: what the agent has decided before does not go
    to the backup, which is in standby. libslurm would sleep for half of SlurmctldTimeout then.
    """
    made = [bed.kube.create(pod(f"brief-{i}")) for i in range(20)]
    for m in made:
        bed.run_pod(m["metadata"]["name"])
        job_in_state(bed, m, "RUNNING")
    bed.wait_saved()
    equal(_rejected(bed), [])
    bed.slurm.slurmctld.signal(signal.SIGSTOP)
    for m in made:
        bed.end_pod(m["metadata"]["name"])
    time.sleep(0.5)  # the agent sends as many ends as it may
    bed.slurm.kill9()
    time.sleep(2)
    bed.slurm.slurmctld.start()
    bed.wait_leader("kube-a")
    bed.others_done()
    equal(_rejected(bed), [])
    for m in made:
        equal([j["JobState"] for j in bed.slurm.job_of_pod(uid_of(m))], ["COMPLETED"])
        bed.remove_pod(m["metadata"]["name"])


def test_backup_takes_over_after_kill_9(bed):
    """kill -9 of the primary, with running pods and with pods created while no slurmctld is in
    control.
    """
    runs = bed.kube.create(pod("runs"))
    bed.run_pod("runs")
    job_in_state(bed, runs, "RUNNING")
    bed.wait_saved()
    since = time.time()
    bed.slurm.kill9()
    made = [bed.kube.create(pod(f"between-{i}")) for i in range(3)]
    bed.wait_leader("kube-b", 150)
    AWAY.append((since, time.time()))
    bed.steady_goes_on()
    finish(bed, [runs, *made], lossy=True)
    place(bed, "second")
    assert "connected with slurmctld on kube-b" in bed.agent_b.skube_text("ping")
    assert "controller kube-b" in bed.agent_b.skube_text("check", check=False)


def test_every_agent_finds_the_active_controller(bed):
    """The primary is dead: on neither host does skube check report Slurm as dead."""

    def fine(agent):
        checks = {c["name"]: c for c in agent.skube_all("check")["checks"]}
        return (
            "Kubernetes v" in checks["API server"]["text"] and checks["slurmctld"]["ok"]
        )  # the agent has looked at both

    for agent in (bed.agent_b, bed.agent):
        agent.restart_without_waiting()
        wait_for(lambda a=agent: fine(a), "the check of slurmctld to pass", 60, 0.5)
    bed.wait_leader("kube-b")


def _restart_backup(bed):
    """As admin.md advises for 22.05, where a slurmctld that takes over again may hang when it is
    stopped.
    """
    bed.slurm_b.slurmctld.stop()
    bed.slurm_b.slurmctld.start()
    is_up = lambda: "kube-b is UP" in bed.slurm.run("scontrol", "ping")  # noqa: E731
    wait_for(is_up, "the backup to answer")


def test_primary_comes_back(bed):
    """The primary takes control again; the agent beside the backup loses its plugin and stops
    acting.
    """
    bed.wait_saved()
    bed.slurm.slurmctld.start()
    bed.wait_leader("kube-a", 150)
    before = said(bed.agent_b)
    bed.steady_goes_on()
    place(bed, "third")
    equal(said(bed.agent_b), before, "actions of the second agent")
    if bed.slurm.version.startswith("22.05"):
        _restart_backup(bed)


def test_scontrol_takeover(bed):
    """The administrator hands control to the backup while pods are under way."""
    made = [bed.kube.create(pod(f"handed-{i}")) for i in range(3)]
    bed.run_pod("handed-0")
    since = time.time()
    # A slurmctld that has handed over control may end itself; 22.05 does.
    bed.slurm.slurmctld.is_wanted = False
    bed.slurm_b.run("scontrol", "takeover")
    bed.wait_leader("kube-b", 150)
    AWAY.append((since, time.time()))
    bed.steady_goes_on()
    finish(bed, made, lossy=True)
    place(bed, "fourth")


def test_agent_beside_the_active_controller_killed(bed):
    """While that agent is down, no agent leads: the other one does not take its place, because its
    slurmctld is not in control. After its restart the agent continues.
    """
    before = said(bed.agent)
    bed.agent_b.kill9()
    made = bed.kube.create(pod("orphan"))
    bed.agent_b.start(wait=False)
    bed.wait_leader("kube-b")
    finish(bed, [made])
    equal(said(bed.agent), before, "actions of the agent beside the standby")


def test_the_steady_pod_goes_on(bed):
    """Pod steady was not affected, and no other job is left."""
    bed.others_done()
    bed.steady_goes_on()


if __name__ == "__main__":
    run(lambda build: TwoHosts(build, cpus=16), forgets=AWAY)
