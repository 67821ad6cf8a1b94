#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""kill -9 at each step of a pod's life. A proxy holds a race window open, in which the agent,
slurmctld, kube-apiserver or etcd is killed and restarted. Requests that the dead agent had sent
arrive late, when its successor is already at work. Each pod runs once and its job gets the true
result, a pod that runs meanwhile is not affected, and no job is left. test_faults.py does the same
at random moments in a burst.
"""
import time

from lib import equal, pod, run, wait_for
from lib.expect import disruption, job_in_state, uid_of, wait_reason
from lib.fault_testbed import FaultTestbed
from lib.fault_proxy import CANCEL, COMPLETE, SUBMIT
from lib.kube import condition

SLURM_KILLED = []  # (from, until)


class Life:
    """A pod with a normal life: it runs and succeeds, and its job is COMPLETED."""

    def __init__(self, bed, name):
        self.bed, self.name, self.pod, self.slurm_remembers = bed, name, None, True

    def create(self, **options):
        self.pod = self.bed.kube.create(pod(self.name, **options))

    def start(self):
        """Brings the pod to where the window can be armed."""

    def go(self):
        """The action that leads into the window."""
        self.create()

    def in_window(self):
        """Waits for what the victim must have done before it is killed."""

    def outcome(self):
        self.bed.run_pod(self.name)
        self.succeed()

    def succeed(self):
        self.bed.end_pod(self.name)
        self.ended("COMPLETED", "0:0")

    def ended(self, state, code):
        """The job named by the Binding has this result; every other job of the pod ended without a
        pod.
        """
        self.bed.others_done()
        bound = [p for _, _, p in self.bed.kube.events_of(self.name) if p["spec"].get("nodeName")][
            -1
        ]
        mine = bound["metadata"]["annotations"]["allocation.slurm-kube.io/job-id"]
        jobs = self.bed.slurm.job_of_pod(uid_of(self.pod))
        told = {j["JobId"]: (j["JobState"], j["ExitCode"]) for j in jobs}
        if self.slurm_remembers:
            equal(told, {mine: (state, code)}, f"jobs of {self.name}")
        else:  # the job of the Binding may be lost and replaced by another
            equal(
                [t for t in told.values() if t[0] == "COMPLETED"][1:],
                [],
                f"more than one job of {self.name} that completed",
            )
            equal(told.get(mine, (state, code)), (state, code), f"job {mine} of {self.name}")

    def never_disrupted(self):
        assert not [
            p for _, _, p in self.bed.kube.events_of(self.name) if condition(p, "DisruptionTarget")
        ], "somebody wanted to delete it"


class Ending(Life):
    """A pod that has run and ends: its job is COMPLETED."""

    def start(self):
        self.create()
        self.bed.run_pod(self.name)

    def go(self):
        self.bed.end_pod(self.name)

    def outcome(self):
        self.ended("COMPLETED", "0:0")


class Cancelled(Life):
    """A running pod whose job is cancelled: it is deleted with the reason."""

    def start(self):
        self.create()
        self.bed.run_pod(self.name)
        self.job = job_in_state(self.bed, self.pod, "RUNNING")["JobId"]

    def go(self):
        self.bed.slurm.run("scancel", self.job)

    def in_window(self):
        # the deletion does not wait for the condition's answer, and no agent repeats the condition
        # of a pod that is being deleted
        disruption(self.bed, self.name)

    def outcome(self):
        self.bed.stop_pod(self.name)
        self.ended("CANCELLED", "0:0")

    def never_disrupted(self):
        equal(disruption(self.bed, self.name)["reason"], "SlurmJobEnded", "why it went")


class Withdrawn(Life):
    """A pod that waits in the queue and is deleted by its user: its job is cancelled."""

    def start(self):
        self.bed.block.start()
        self.create(cpu=4)
        job_in_state(self.bed, self.pod, "PENDING")

    def go(self):
        self.bed.kube.delete("Pod", self.name)

    def outcome(self):
        self.bed.kube.wait_gone(self.name)
        wait_for(
            lambda: all(
                j["JobState"] == "CANCELLED" for j in self.bed.slurm.job_of_pod(uid_of(self.pod))
            ),
            "its job to be CANCELLED",
        )
        self.bed.block.end()


class Waiting(Life):
    """A pod that must wait and says so; it runs when there is room."""

    def go(self):
        self.bed.block.start()
        self.create(cpu=4)

    def outcome(self):
        wait_reason(self.bed, self.name, "SlurmPending", "is pending", timeout=60)
        self.bed.block.end()
        super().outcome()


class Block:
    """Fills the node that steady does not use."""

    def __init__(self, bed):
        self.bed = bed

    def start(self):
        self.bed.kube.create(pod("block", cpu=4))
        self.bed.run_pod("block")

    def end(self):
        self.bed.kube.delete("Pod", "block")
        self.bed.stop_pod("block")


def rpc(do, kind, named=True):
    return lambda bed, name: bed.rpc.rule(do, kind, f'"name":"{name}"' if named else "")


def api(do, method, rest, body=""):
    return lambda bed, name: bed.api.rule(do, method, f"/pods/{name}{rest}", body)


def bound_seen(bed, name):
    return bed.api.event_rule(
        "event",
        lambda _, o: o["metadata"].get("name") == name and o.get("spec", {}).get("nodeName"),
    )


# Name of the window: (the rule that holds it open, the kind of life that leads into it).
WINDOWS = {
    "watch_event_seen_and_submission_not_sent": (rpc("before", SUBMIT), Life),
    "submission_sent_and_not_answered": (rpc("after", SUBMIT), Life),
    "allocated_and_bind_not_sent": (api("before", "POST", "/binding"), Life),
    "bind_sent_and_not_answered": (api("after", "POST", "/binding"), Life),
    "bound_and_watch_not_seen": (bound_seen, Life),
    "pod_terminal_and_complete_not_sent": (rpc("before", COMPLETE, False), Ending),
    "complete_sent_and_not_answered": (rpc("after", COMPLETE, False), Ending),
    "job_ended_and_disruption_condition_in_flight": (api("after", "PATCH", "/status"), Cancelled),
    "job_ended_and_delete_not_sent": (api("before", "DELETE", ""), Cancelled),
    "delete_sent_and_not_answered": (api("after", "DELETE", ""), Cancelled),
    "pod_withdrawn_and_cancel_not_sent": (rpc("before", CANCEL, False), Withdrawn),
    "cancel_sent_and_not_answered": (rpc("after", CANCEL, False), Withdrawn),
    "reason_in_flight_and_not_seen": (api("before", "PATCH", "/status"), Waiting),
    "reason_written_and_not_answered": (api("after", "PATCH", "/status"), Waiting),
}


def kill_agent(bed, window):
    bed.agent.kill9()
    bed.agent.start()
    window.release()  # requests that the dead agent had sent may arrive from here on


def kill_slurmctld(bed, window):
    killed = time.time()
    bed.slurm.kill9()
    window.drop()
    bed.slurm.start_slurmctld()
    SLURM_KILLED.append((killed, killed))


def kill_part_of_kubernetes(component):
    def kill(bed, window):
        bed.plane.kill9(component)
        window.drop()
        bed.plane.revive(component)

    return kill


KILL = {
    "agent": kill_agent,
    "slurmctld": kill_slurmctld,
    **{c: kill_part_of_kubernetes(c) for c in ("kube-apiserver", "etcd")},
}


def killed(bed, victim, step):
    """Kills the victim in that window with SIGKILL; afterwards the life must have its normal
    outcome.
    """
    arm, kind = WINDOWS[step]
    life = kind(bed, f"{victim[:5].strip('-')}-{len(bed.cases)}")
    bed.cases.append(life.name)
    life.slurm_remembers = victim != "slurmctld"
    try:
        life.start()
        window = arm(bed, life.name)
        life.go()
        window.wait(step)
        life.in_window()
        KILL[victim](bed, window)
        life.outcome()
        life.never_disrupted()
    finally:
        bed.clear()
        if (
            victim == "slurmctld" and SLURM_KILLED
        ):  # a binding that was under way may name a lost job
            SLURM_KILLED[-1] = (SLURM_KILLED[-1][0], time.time())
    bed.others_done()
    bed.steady_goes_on()
    bed.tidy(life.name)


def test_agent_killed_watch_event_seen_and_submission_not_sent(bed):
    killed(bed, "agent", "watch_event_seen_and_submission_not_sent")


def test_slurmctld_killed_watch_event_seen_and_submission_not_sent(bed):
    killed(bed, "slurmctld", "watch_event_seen_and_submission_not_sent")


def test_agent_killed_submission_sent_and_not_answered(bed):
    killed(bed, "agent", "submission_sent_and_not_answered")


def test_slurmctld_killed_submission_sent_and_not_answered(bed):
    killed(bed, "slurmctld", "submission_sent_and_not_answered")


def test_agent_killed_allocated_and_bind_not_sent(bed):
    killed(bed, "agent", "allocated_and_bind_not_sent")


def test_slurmctld_killed_allocated_and_bind_not_sent(bed):
    killed(bed, "slurmctld", "allocated_and_bind_not_sent")


def test_kube_apiserver_killed_allocated_and_bind_not_sent(bed):
    killed(bed, "kube-apiserver", "allocated_and_bind_not_sent")


def test_agent_killed_bind_sent_and_not_answered(bed):
    killed(bed, "agent", "bind_sent_and_not_answered")


def test_kube_apiserver_killed_bind_sent_and_not_answered(bed):
    killed(bed, "kube-apiserver", "bind_sent_and_not_answered")


def test_etcd_killed_bind_sent_and_not_answered(bed):
    killed(bed, "etcd", "bind_sent_and_not_answered")


def test_agent_killed_bound_and_watch_not_seen(bed):
    killed(bed, "agent", "bound_and_watch_not_seen")


def test_kube_apiserver_killed_bound_and_watch_not_seen(bed):
    killed(bed, "kube-apiserver", "bound_and_watch_not_seen")


def test_agent_killed_pod_terminal_and_complete_not_sent(bed):
    killed(bed, "agent", "pod_terminal_and_complete_not_sent")


def test_slurmctld_killed_pod_terminal_and_complete_not_sent(bed):
    killed(bed, "slurmctld", "pod_terminal_and_complete_not_sent")


def test_agent_killed_complete_sent_and_not_answered(bed):
    killed(bed, "agent", "complete_sent_and_not_answered")


def test_slurmctld_killed_complete_sent_and_not_answered(bed):
    killed(bed, "slurmctld", "complete_sent_and_not_answered")


def test_agent_killed_job_ended_and_disruption_condition_in_flight(bed):
    killed(bed, "agent", "job_ended_and_disruption_condition_in_flight")


def test_kube_apiserver_killed_job_ended_and_disruption_condition_in_flight(bed):
    killed(bed, "kube-apiserver", "job_ended_and_disruption_condition_in_flight")


def test_agent_killed_job_ended_and_delete_not_sent(bed):
    killed(bed, "agent", "job_ended_and_delete_not_sent")


def test_slurmctld_killed_job_ended_and_delete_not_sent(bed):
    killed(bed, "slurmctld", "job_ended_and_delete_not_sent")


def test_kube_apiserver_killed_job_ended_and_delete_not_sent(bed):
    killed(bed, "kube-apiserver", "job_ended_and_delete_not_sent")


def test_agent_killed_delete_sent_and_not_answered(bed):
    killed(bed, "agent", "delete_sent_and_not_answered")


def test_kube_apiserver_killed_delete_sent_and_not_answered(bed):
    killed(bed, "kube-apiserver", "delete_sent_and_not_answered")


def test_agent_killed_pod_withdrawn_and_cancel_not_sent(bed):
    killed(bed, "agent", "pod_withdrawn_and_cancel_not_sent")


def test_agent_killed_cancel_sent_and_not_answered(bed):
    killed(bed, "agent", "cancel_sent_and_not_answered")


def test_slurmctld_killed_cancel_sent_and_not_answered(bed):
    killed(bed, "slurmctld", "cancel_sent_and_not_answered")


def test_agent_killed_reason_in_flight_and_not_seen(bed):
    killed(bed, "agent", "reason_in_flight_and_not_seen")


def test_kube_apiserver_killed_reason_in_flight_and_not_seen(bed):
    killed(bed, "kube-apiserver", "reason_in_flight_and_not_seen")


def test_agent_killed_reason_written_and_not_answered(bed):
    killed(bed, "agent", "reason_written_and_not_answered")


def test_etcd_killed_reason_written_and_not_answered(bed):
    killed(bed, "etcd", "reason_written_and_not_answered")


class Testbed(FaultTestbed):
    def __enter__(self):
        super().__enter__()
        self.cases, self.block = [], Block(self)
        return self

    def tidy(self, name):
        if name in self.kube.pods():
            self.remove_pod(name)


if __name__ == "__main__":
    run(
        lambda build: Testbed(
            build, agent_options={"settings": {"limits": {"condition_interval_seconds": 1}}}
        ),
        forgets=SLURM_KILLED,
    )
