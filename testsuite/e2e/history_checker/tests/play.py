# SPDX-License-Identifier: GPL-2.0-or-later
"""Histories made by hand, in which the tests plant violations."""
import json

from history_checker.faults import Deeds
from history_checker.history import GANG, JOB_ID, RANK, Event, History
from history_checker.rules import Evidence, check
from history_checker.slurm_log import SlurmTruth

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
