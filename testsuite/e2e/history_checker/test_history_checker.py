#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""The checker against histories made by hand: a right one, where it must find nothing, and each
violation, which it must find.

usage: test_history_checker.py          TAP on stdout; needs nothing that runs
"""
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from history_checker.faults import RECOVERY, Cause, Deeds  # noqa: E402
from history_checker.history import GANG, JOB_ID, RANK, Event, History, amount  # noqa: E402
from history_checker.rules import UNCOVERED, Evidence, check, story  # noqa: E402
from history_checker.slurm_log import SlurmTruth, nodes_of  # noqa: E402

T0 = 1_800_000_000.0
END = T0 + 200


class Play:
    """A small cluster described line by line: 4 CPUs on each of the nodes a and b. Time is in
    seconds since T0.
    """

    def __init__(self):
        self.events, self.gaps, self.slurm, self.deeds = [], [], SlurmTruth(), Deeds()
        self.pods = {}
        for name in "ab":
            self._event(
                "Node",
                0,
                "ADDED",
                {
                    "metadata": {"name": name, "uid": name},
                    "spec": {},
                    "status": {
                        "allocatable": {
                            "cpu": "4",
                            "memory": "8Gi",
                            "pods": "110",
                            "nvidia.com/gpu": "2",
                        }
                    },
                },
            )
        self.slurm.line(T0, "slurmctld version 22.05.8 started on cluster test")

    def _event(self, kind, at, what, thing):
        self.events.append(Event(0, T0 + at, kind, what, json.loads(json.dumps(thing))))

    def made(self, at, name, cpu="2", **requests):
        self.pods[name] = {
            "metadata": {"name": name, "uid": f"uid-{name}", "annotations": {}},
            "status": {"phase": "Pending"},
            "spec": {"containers": [{"resources": {"requests": {"cpu": cpu, **requests}}}]},
        }
        self._event("Pod", at, "ADDED", self.pods[name])

    def change(self, at, name, what="MODIFIED"):
        self._event("Pod", at, what, self.pods[name])

    def bound(self, at, name, job, node="a"):
        pod = self.pods[name]
        pod["spec"]["nodeName"] = node
        pod["metadata"]["annotations"][JOB_ID] = str(job)
        self.change(at, name)
        pod["status"]["phase"] = "Running"
        self.change(at, name)

    def ended(self, at, name, code=0):
        self.pods[name]["status"] = {
            "phase": "Failed" if code else "Succeeded",
            "containerStatuses": [{"state": {"terminated": {"exitCode": code}}}],
        }
        self.change(at, name)

    def deleting(self, at, name):
        self.pods[name]["metadata"]["deletionTimestamp"] = "now"
        self.change(at, name)

    def gone(self, at, name):
        self.change(at, name, "DELETED")

    def submitted(self, at, job, pod):
        """scontrol has shown the job."""
        self.slurm.picture(
            {
                job: {
                    "SubmitTime": str(at),
                    "JobState": "COMPLETED",
                    "NumCPUs": "2",
                    "AdminComment": f'{{"uid":"uid-{pod}"}}',
                }
            }
        )

    def started(self, at, job, node="a"):
        self.slurm.line(
            T0 + at, f"sched: _slurm_rpc_allocate_resources JobId={job} NodeList={node} usec=300"
        )

    def completed(
        self,
        at,
        job,
        state="COMPLETED",
        code="0:0",
        node="a",
        cpus=2,
        line="_job_complete: JobId={} done",
    ):
        self.slurm.line(T0 + at, line.format(job))
        life = self.slurm.lives[job][-1]
        self.slurm.end_line(
            {
                "JobId": str(job),
                "JobState": state,
                "ExitCode": code,
                "StartTime": stamp(life.start),
                "EndTime": stamp(T0 + at),
                "NodeList": node,
                "ProcCnt": str(cpus),
            }
        )

    def user_kills(self, at, job, user=65534):
        self.slurm.line(T0 + at, f"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={job} uid {user}")
        self.completed(
            at, job, "CANCELLED", line="job_signal: 9 of running JobId={} successful 0x8004"
        )

    def whole(self, name, job, node="a", at=0.0, run=5.0, code=0, cpu="2"):
        """The whole life of a pod, without a violation."""
        self.made(at, name, cpu)
        self.submitted(at, job, name)
        self.started(at + 0.1, job, node)
        self.bound(at + 0.2, name, job, node)
        self.ended(at + run, name, code)
        self.completed(at + run + 0.1, job, "FAILED" if code else "COMPLETED", f"{code}:0", node)

    def violations(self, settled=True):
        return check(self.evidence(settled))

    def evidence(self, settled=True):
        self.events.sort(key=lambda x: x.at)
        for rv, event in enumerate(self.events, 100):
            event.rv = rv
        return Evidence(
            History(self.events, self.gaps), self.slurm, self.deeds, END, settled=settled
        )


def stamp(when):
    from datetime import datetime

    return datetime.fromtimestamp(when).strftime("%Y-%m-%dT%H:%M:%S")


def finds(play, *rules, settled=True):
    """Fails unless exactly these rules are violated."""
    seen = sorted({v.rule for v in play.violations(settled)})
    assert seen == sorted(
        rules
    ), f"found {seen}, expected {sorted(rules)}: {[v.text for v in play.violations(settled)]}"


def test_nothing_in_a_right_history():
    p = Play()
    p.whole("one", 1)
    p.whole("two", 2, code=3)
    p.whole("three", 3, node="b", at=1)
    p.whole("next", 4, at=6)
    finds(p)


def test_a_pod_that_ends_slowly_and_its_successor_at_the_right_moment():
    p = Play()
    p.made(0, "old", "4")
    p.started(1, 1)
    p.bound(1, "old", 1)
    p.user_kills(5, 1)
    p.deleting(5.1, "old")
    p.started(5.2, 2)
    p.made(5.2, "new", "4")
    p.ended(14, "old", 143)
    p.gone(14, "old")
    p.bound(14.1, "new", 2)
    p.ended(20, "new")
    p.completed(20, 2)
    finds(Play())
    p.slurm.ends[1][0].cpus = p.slurm.ends[2][0].cpus = 4
    finds(p)


def test_two_pods_where_one_fits():
    p = Play()
    p.whole("one", 1, cpu="2")
    p.whole("two", 2, cpu="2")
    p.whole("three", 3, cpu="1", at=0.3)
    finds(p, "capacity")


def test_bound_beside_a_pod_that_is_still_ending():
    p = Play()
    p.made(0, "old", "2")
    p.started(1, 1)
    p.bound(1, "old", 1)
    p.user_kills(5, 1)
    p.deleting(5.1, "old")
    p.whole("new", 2, at=6, cpu="3")
    p.slurm.ends[2][0].cpus = 3
    p.gone(15, "old")
    finds(p, "capacity")


def test_more_devices_than_the_node_has():
    p = Play()
    for job, name in enumerate(("one", "two", "three"), 1):
        p.made(0, name, "1", **{"nvidia.com/gpu": "1"})
        p.started(1, job)
        p.bound(1, name, job)
    for job, name in enumerate(("one", "two", "three"), 1):
        p.ended(5, name)
        p.completed(5, job)
    finds(p, "capacity")


def test_forced_deletion_and_terminal_phase_free_the_share():
    p = Play()
    p.whole("one", 1, cpu="4")
    p.slurm.ends[1][0].cpus = 4
    p.made(6, "two", "4")
    p.started(6, 2)
    p.bound(6, "two", 2)
    p.deeds.causes.append(Cause(T0 + 8, "force delete", uid="uid-two"))
    p.gone(8, "two")
    p.completed(8.1, 2, "CANCELLED", cpus=4)
    p.whole("three", 3, at=12)
    finds(p)


def test_pod_that_moves():
    p = Play()
    p.whole("one", 1)
    p.pods["one"]["spec"]["nodeName"] = "b"
    p.change(6, "one")
    finds(p, "bound once")


def test_pod_that_changes_its_job():
    p = Play()
    p.whole("one", 1)
    p.pods["one"]["metadata"]["annotations"][JOB_ID] = "7"
    p.change(6, "one")
    finds(p, "bound once")


def test_bound_without_a_job():
    p = Play()
    p.made(0, "one")
    p.pods["one"]["spec"]["nodeName"] = "a"
    p.change(1, "one")
    p.ended(3, "one")
    finds(p, "bound once", "start", "ends")


def test_bound_before_slurm_started_the_job():
    p = Play()
    p.made(0, "one")
    p.bound(1, "one", 1)
    p.started(3, 1)
    p.ended(5, "one")
    p.completed(5, 1)
    finds(p, "start")


def test_bound_to_a_node_that_slurm_did_not_give():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 1, "b")
    p.bound(0.2, "one", 1, "a")
    p.ended(5, "one")
    p.completed(5.1, 1, node="b")
    finds(p, "start", "ends")


def test_bound_long_after_its_job_ended():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 1)
    p.user_kills(1, 1)
    p.bound(30, "one", 1)
    p.ended(40, "one")
    finds(p, "start")


def test_a_job_with_two_pods():
    p = Play()
    p.whole("one", 1)
    p.made(1, "two", "1")
    p.bound(2, "two", 1)
    p.ended(5, "two")
    finds(p, "one pod")


def test_a_number_that_is_used_again_by_a_slurmctld_that_forgot():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 7)
    p.bound(0.2, "one", 7)
    p.deeds.windows.append((T0 + 1, T0 + 2, "kill -9 slurmctld"))
    p.slurm.line(T0 + 2, "slurmctld version 22.05.8 started on cluster test")
    p.whole("two", 7, at=3, run=4)
    p.submitted(12, 8, "one")
    p.started(12, 8)
    p.ended(20, "one")
    p.completed(20, 8)
    finds(p)


def test_a_number_that_is_used_again_within_the_second():
    p = Play()
    p.whole("one", 7, run=0.5, cpu="3")
    p.slurm.line(T0 + 0.3, "slurmctld version 22.05.8 started on cluster test")
    p.slurm.ends[7][0].cpus, p.slurm.ends[7][0].name = 3, "one"
    p.whole("two", 7, at=0.6, run=4, cpu="1", code=3)
    p.slurm.ends[7][1].name = "two"
    finds(p)


def test_a_pod_that_asks_for_more_than_slurm_gave():
    p = Play()
    p.whole("one", 1, cpu="3")
    finds(p, "allocated")


def test_a_pod_that_lives_on_without_a_job():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 1)
    p.bound(0.2, "one", 1)
    p.completed(5, 1)
    p.ended(5 + UNCOVERED + 5, "one")
    finds(p, "allocated")


def test_time_without_a_job_does_not_count_while_something_is_away():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 1)
    p.bound(0.2, "one", 1)
    p.completed(5, 1)
    p.deeds.windows.append((T0 + 5, T0 + 50, "SIGSTOP agent"))
    p.ended(50 + RECOVERY + UNCOVERED - 1, "one")
    finds(p)


def test_healthy_pod_deleted_by_nobody():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 1)
    p.bound(0.2, "one", 1)
    p.deleting(3, "one")
    p.gone(4, "one")
    p.completed(4.1, 1, "CANCELLED")
    finds(p, "healthy")


def test_a_job_that_root_killed_is_no_cause():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 1)
    p.bound(0.2, "one", 1)
    p.user_kills(2, 1, user=0)
    p.deleting(2.1, "one")
    p.gone(2.2, "one")
    finds(p, "healthy")


def test_waiting_pod_deleted_by_nobody():
    p = Play()
    p.made(0, "one")
    p.deleting(3, "one")
    p.gone(3, "one")
    finds(p, "healthy")


def test_causes_of_users_and_nodes():
    p = Play()
    for n, (name, cause) in enumerate(
        [
            ("one", Cause(T0 + 2, "delete", uid="uid-one")),
            ("two", Cause(T0 + 2, "node failure", node="a")),
        ],
        1,
    ):
        p.made(0, name)
        p.started(0.1, n)
        p.bound(0.2, name, n)
        p.deeds.causes.append(cause)
        p.deleting(3, name)
        p.gone(4, name)
        p.completed(4.1, n, "CANCELLED")
    finds(p)


def test_a_cause_that_came_later_is_none():
    p = Play()
    p.made(0, "one")
    p.deleting(3, "one")
    p.gone(3, "one")
    p.deeds.causes.append(Cause(T0 + 9, "delete", uid="uid-one"))
    finds(p, "healthy")


def shown(play, job, begin, end, pod="one", attempt=1, state="COMPLETED", **more):
    play.slurm.picture(
        {
            job: {
                "SubmitTime": stamp(T0 + begin),
                "EndTime": stamp(T0 + end),
                "JobState": state,
                "NumCPUs": "2",
                "AdminComment": f'{{"uid":"uid-{pod}","attempt":{attempt},"user":0}}',
                **more,
            }
        }
    )


def test_two_jobs_of_a_pod_at_the_same_time():
    p = Play()
    p.whole("one", 1)
    shown(p, 1, 0, 5)
    shown(p, 2, 1, 3, state="CANCELLED")
    finds(p, "exactly once")


def test_two_waiting_jobs_of_a_pod():
    p = Play()
    p.made(0, "one")
    shown(p, 1, 0, 0, state="PENDING", **{"last picture": "yes"})
    shown(p, 2, 20, 20, state="CANCELLED")
    finds(p, "exactly once")


def test_a_second_job_after_slurm_forgot_the_first():
    p = Play()
    p.made(0, "one")
    shown(p, 1, 0, 0, state="PENDING")
    shown(p, 2, 20, 0, state="PENDING", **{"last picture": "yes"})
    finds(p)


def test_one_job_of_a_pod_after_the_other():
    p = Play()
    shown(p, 5, 0, 1, state="FAILED")
    p.made(0, "one")
    p.started(0.1, 5)
    p.completed(
        0.2, 5, "FAILED", "0:15", line="Job allocate response msg send failure, killing JobId={}"
    )
    shown(p, 6, 1, 5, attempt=2)
    p.started(1, 6)
    p.bound(1.1, "one", 6)
    p.ended(5, "one")
    p.completed(5.1, 6)
    finds(p)


def test_a_job_that_is_pending_again_after_its_pod_ended():
    p = Play()
    p.whole("one", 1)
    p.slurm.line(T0 + 7, "slurmctld version 22.05.8 started on cluster test")
    p.started(8, 1)
    p.completed(8.1, 1, "CANCELLED", line="job_signal: 9 of running JobId={} successful 0x8004")
    finds(p)


def test_given_back_and_restored_before_the_pod_was_bound():
    p = Play()
    p.made(0, "one")
    p.submitted(0, 1, "one")
    p.started(1, 1)
    p.completed(8, 1, "FAILED", "1:0")
    p.slurm.line(T0 + 11, "slurmctld version 22.05.8 started on cluster test")
    p.slurm.line(T0 + 11, "Recovered JobId=1 Assoc=4")
    p.bound(12, "one", 1)
    p.ended(15, "one")
    p.completed(15.1, 1)
    finds(p)
    p.slurm.ends[1][1].state, p.slurm.ends[1][1].exit_code = "FAILED", "1:0"
    finds(p, "ends")


def test_wrong_exit_code():
    p = Play()
    p.whole("one", 1, code=3)
    p.slurm.ends[1][0].exit_code = "4:0"
    finds(p, "ends")


def test_failure_told_as_success():
    p = Play()
    p.whole("one", 1, code=3)
    p.slurm.ends[1][0].state, p.slurm.ends[1][0].exit_code = "COMPLETED", "0:0"
    finds(p, "ends")


def test_success_told_as_cancelled():
    p = Play()
    p.whole("one", 1)
    p.slurm.ends[1][0].state = "CANCELLED"
    finds(p, "ends")


def test_signal_is_told_as_signal():
    p = Play()
    p.whole("one", 1, code=137)
    finds(p, "ends")
    p.slurm.ends[1][0].exit_code = "0:9"
    finds(p)


def accounted(play, job, begin, state="COMPLETED", code="0:0", end=0, node="a", submit=0, name=""):
    """Adds a row of sacct; times are seconds since T0, end 0 is Unknown."""
    rows = [r for old in (play.slurm.accounts or {}).values() for r in old]
    play.slurm.account(
        [
            {
                "JobID": str(job),
                "State": state,
                "ExitCode": code,
                "Start": stamp(T0 + begin),
                "End": stamp(T0 + end) if end else "Unknown",
                "NodeList": node,
                "JobName": name,
                "Submit": stamp(T0 + submit),
            }
        ]
    )
    for r in rows:
        play.slurm.accounts.setdefault(r.job, []).append(r)


def lived(code=0, run=50.0, state="COMPLETED"):
    """A pod whose life is over, as in scontrol's last picture."""
    p = Play()
    p.whole("one", 1, at=10, run=run, code=code)
    shown(p, 1, 10, 10 + run, state=state, ExitCode=f"{code}:0", **{"last picture": "yes"})
    return p


def test_accounts_that_are_right():
    p = lived()
    accounted(p, 1, 10, end=60, submit=10)
    finds(p)
    p = lived(code=130, state="FAILED")
    p.slurm.ends[1][0].exit_code = "0:2"
    p.slurm.shown[1, stamp(T0 + 10)]["ExitCode"] = "0:2"
    accounted(p, 1, 10, "FAILED", "0:2", end=60, submit=10)
    finds(p)


def test_record_whose_name_comes_later():
    p = lived()
    accounted(p, 1, 10, end=60, submit=10, name="another")
    finds(p, "accounts")
    p.slurm.accounts = {}
    accounted(p, 1, 10, end=60, submit=10, name="allocation")
    finds(p)


def test_sacct_takes_128_off():
    p = lived(code=255, state="FAILED")
    accounted(p, 1, 10, "FAILED", "127:0", end=60, submit=10)
    finds(p)


def test_accounts_that_are_wrong():
    for rows in (
        [],
        [("FAILED", "0:0", 60)],
        [("COMPLETED", "1:0", 60)],
        [("COMPLETED", "0:0", 60)] * 2,
        [("RUNNING", "0:0", 0)],
    ):
        p = lived()
        p.slurm.accounts = {}
        for state, code, end in rows:
            accounted(p, 1, 10, state, code, end, submit=10)
        finds(p, "accounts")


def test_record_that_goes_on_of_a_job_that_nobody_knows():
    p = lived()
    accounted(p, 1, 10, end=60, submit=10)
    accounted(p, 2, 20, "RUNNING", submit=20)
    finds(p, "accounts")
    p.deeds.windows.append((T0 + 22, T0 + 23, "kill -9 munged and slurmctld"))
    finds(p)


def test_end_that_died_with_slurmctld_while_slurmdbd_was_away():
    p = lived()
    accounted(p, 1, 10, "RUNNING", submit=10)
    p.deeds.windows.append((T0 + 100, T0 + 101, "kill -9 slurmctld"))
    finds(p, "accounts")
    p.deeds.windows.append((T0 + 55, T0 + 99, "SIGSTOP slurmdbd"))
    finds(p)
    p.deeds.windows[0] = (T0 + 100, T0 + 101, "SIGSTOP slurmctld")
    finds(p, "accounts")


def test_number_whose_first_record_stays():
    p = lived()
    accounted(p, 1, 3, "RUNNING", submit=3)
    finds(p, "accounts")
    p.deeds.windows.append((T0 + 100, T0 + 101, "kill -9 slurmctld"))
    finds(p)


def test_submission_that_slurmdbd_heard_without_its_database():
    p = lived()
    p.slurm.accounts = {}
    p.deeds.windows.append((T0 + 20, T0 + 21, "kill -9 etcd and mariadbd"))
    finds(p, "accounts")
    p.deeds.windows.append((T0 + 10, T0 + 11, "kill -9 mariadbd"))
    finds(p)
    accounted(p, 1, 10, end=60, submit=10)
    accounted(p, 1, 10, end=60, submit=10)
    finds(p, "accounts")


def test_start_that_a_killed_slurmdbd_had_not_committed():
    p = lived()
    accounted(p, 1, 0, end=60, node="None assigned", submit=10)
    finds(p, "accounts")
    p.deeds.windows.append((T0 + 9.5, T0 + 10.5, "kill -9 slurmdbd"))
    finds(p)


class Gangs(Play):
    """With pods of the workload "w", whose components have the jobs 1 and 2."""

    def member(self, at, name, job, rank, component=0, node="a", bound=0.2, cpu="1"):
        marker = f"w+{component}" if component else "w"
        self.made(at, name, cpu)
        self.pods[name]["metadata"]["ownerReferences"] = [{"uid": "w", "name": "w"}]
        self.events[-1].thing["metadata"]["ownerReferences"] = [{"uid": "w", "name": "w"}]
        self.slurm.picture(
            {
                job: {
                    "SubmitTime": str(at),
                    "JobState": "COMPLETED",
                    "NumCPUs": "2",
                    "AdminComment": f'{{"uid":"{marker}"}}',
                }
            }
        )
        if bound is not None:
            self.pods[name]["metadata"]["annotations"].update({GANG: marker, RANK: str(rank)})
            self.bound(at + bound, name, job, node)

    def done(self, at, names, job, state="COMPLETED", code=0, node="a"):
        for name in names:
            self.ended(at, name, code)
        self.completed(at + 0.1, job, state, f"{code}:0", node)


def two_components():
    p = Gangs()
    p.started(0.1, 1, "a")
    p.started(0.1, 2, "b")
    p.member(0, "head", 1, 0)
    p.member(0, "one", 2, 1, 1, "b")
    p.member(0, "two", 2, 2, 1, "b")
    return p


def test_a_workload_of_two_components():
    p = two_components()
    p.done(9, ["head"], 1)
    p.done(9, ["one", "two"], 2, node="b")
    finds(p)


def test_lists_of_nodes():
    for text, names in (
        ("a", "a"),
        ("n-[0-2],b", "n-0 n-1 n-2 b"),
        ("n[08-10]", "n08 n09 n10"),
        ("a,b", "a b"),
        ("r[1,3]", "r1 r3"),
    ):
        assert nodes_of(text) == set(names.split()), (text, nodes_of(text))


def test_two_pods_of_one_rank():
    p = two_components()
    p.pods["two"]["metadata"]["annotations"][RANK] = "1"
    p.events[-2].thing["metadata"]["annotations"][RANK] = "1"
    p.done(9, ["head"], 1)
    p.done(9, ["one", "two"], 2, node="b")
    finds(p, "one pod")


def test_a_rank_whose_pod_is_replaced():
    p = Gangs()
    p.started(0.1, 1)
    p.member(0, "old", 1, 0)
    p.deeds.causes.append(Cause(T0 + 3, "delete", uid="uid-old"))
    p.deleting(3, "old")
    p.gone(4, "old")
    p.member(4.5, "new", 1, 0)
    p.done(9, ["new"], 1)
    finds(p)


def test_a_gang_larger_than_its_job():
    p = Gangs()
    p.started(0.1, 1)
    for rank in range(3):
        p.member(0, f"p{rank}", 1, rank)
    p.done(9, ["p0", "p1", "p2"], 1)
    finds(p, "allocated")


def test_bound_before_another_component_has_nodes():
    p = Gangs()
    p.started(0.1, 1)
    p.started(7, 2, "b")
    p.member(0, "head", 1, 0)
    p.member(0, "one", 2, 1, 1, "b", bound=7.2)
    p.done(30, ["head"], 1)
    p.done(30, ["one"], 2, node="b")
    finds(p, "all or nothing")


def test_a_pod_of_a_workload_that_is_never_bound():
    p = Gangs()
    p.started(0.1, 1)
    p.member(0, "one", 2, 1, 1, "b", bound=None)
    p.member(0.1, "head", 1, 0)
    p.done(60, ["head"], 1)
    p.deeds.causes.append(Cause(T0 + 90, "delete", uid="uid-one"))
    p.deleting(90, "one")
    p.gone(91, "one")
    finds(p, "all or nothing")


def test_the_end_of_one_component_is_a_reason_for_the_others():
    p = two_components()
    p.user_kills(5, 1)
    p.completed(5.2, 2, "CANCELLED", node="b")
    for name in ("head", "one", "two"):
        p.deleting(5.3, name)
        p.gone(6, name)
    finds(p)


def test_the_end_of_a_waiting_job_is_a_reason_for_its_pods():
    p = Gangs()
    p.member(0, "one", 2, 1, 1, "b", bound=None)
    p.slurm.line(T0 + 5, "_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=2 uid 65534")
    p.deleting(5.2, "one")
    p.gone(5.3, "one")
    p.whole("other", 7)
    finds(p)
    p.slurm.kills.clear()
    finds(p, "healthy")


def test_nodes_held_for_nothing():
    p = Gangs()
    p.started(0.1, 2, "b")
    p.slurm.picture(
        {
            2: {
                "SubmitTime": "0",
                "JobState": "COMPLETED",
                "NumCPUs": "2",
                "AdminComment": '{"uid":"w"}',
            }
        }
    )
    p.completed(120, 2, "CANCELLED", node="b")
    p.whole("other", 7)
    finds(p, "held")


def test_end_of_a_gang_told_wrongly():
    p = two_components()
    p.done(9, ["head"], 1)
    p.ended(9, "one", 3)
    p.done(9, ["two"], 2, node="b")
    finds(p, "ends")
    p = two_components()
    p.done(9, ["head"], 1, "CANCELLED")
    p.done(9, ["one", "two"], 2, node="b")
    finds(p, "ends")
    p = two_components()
    p.done(9, ["head"], 1)
    for name in ("one", "two"):
        p.ended(9, name)
    finds(p, "ends")


def test_accounts_of_a_gang():
    p = two_components()
    p.done(9, ["head"], 1)
    p.done(9, ["one", "two"], 2, node="b")
    accounted(p, 1, 0.1, end=9.1, name="w")
    accounted(p, 2, 0.1, end=9.1, node="b", name="w")
    finds(p)
    p.slurm.accounts[2] = []
    finds(p, "accounts")


def test_ended_pod_whose_job_never_ends():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 1)
    p.bound(0.2, "one", 1)
    p.ended(5, "one")
    p.slurm.picture(
        {
            1: {
                "SubmitTime": "0",
                "JobState": "RUNNING",
                "NumCPUs": "2",
                "AdminComment": '{"uid":"uid-one"}',
                "last picture": "yes",
            }
        }
    )
    finds(p, "ends", "left")


def test_a_gap_is_never_right():
    p = Play()
    p.whole("one", 1)
    p.gaps.append(("Pod", 105, 140, "410 Gone"))
    finds(p, "history")


def test_recorded_lines_are_read_and_a_gap_is_kept():
    lines = [
        {"at": T0, "kind": "Pod", "start": 5},
        {"at": T0, "kind": "Pod", "gap": [5, 9], "why": "410 Gone"},
        {
            "at": T0,
            "kind": "Pod",
            "event": {
                "type": "ADDED",
                "object": {
                    "metadata": {"resourceVersion": "8", "uid": "u", "name": "p"},
                    "spec": {},
                    "status": {},
                },
            },
        },
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        f.write("".join(json.dumps(x) + "\n" for x in lines) + '{"at": 1, "ki')
        f.flush()
        h = History.read(f.name)
    assert [x[:3] for x in h.gaps] == [("Pod", 5, 9), ("Node", 0, 0)], h.gaps
    assert [x.rv for x in h.events] == [8] and list(h.pods) == ["u"]


def test_quantities_of_real_nodes():
    for text, number in (
        ("24581692Ki", 24581692 * 1024),
        ("2", 2),
        ("1500m", 1.5),
        ("1e3", 1000),
        ("0.5", 0.5),
        ("8Gi", 2**33),
    ):
        assert abs(amount(text) - number) < 1e-6, f"{text} is {amount(text)}"


def test_story_tells_pod_slurm_and_faults():
    p = Play()
    p.whole("one", 1, code=3)
    p.slurm.ends[1][0].exit_code = "4:0"
    p.deeds.windows.append((T0 + 1, T0 + 2, "kill -9 slurmkubed"))
    text = "\n".join(story(p.evidence(), p.violations()[0]))
    for part in (
        "one: rv",
        "on a for job 1",
        "NodeList=a",
        "jobcomp: job 1 FAILED 4:0",
        "fault: kill -9 slurmkubed",
    ):
        assert part in text, f"no {part!r} in:\n{text}"


def main():
    tests = [(n, f) for n, f in globals().items() if n.startswith("test_")]
    print(f"1..{len(tests)}")
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            verdict, why = "ok", ""
        except AssertionError as e:
            verdict, why, failed = "not ok", f"# {e}\n", failed + 1
        print(f"{verdict} {number} - checker: {name[5:].replace('_', ' ')}\n{why}", end="")
    sys.exit(1 if failed else 0)


main()
