# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo's table, from the output of kubectl and scontrol, and the check whether both agree."""
import json
import re
import time
from dataclasses import dataclass

FAILING = 0  # the index in job.yaml that exits with 3


@dataclass
class Row:
    """One pod and its Slurm job, each as reported by its own side."""

    index: int
    pod: str
    node: str
    phase: str
    code: int | None
    told_job: str  # the job id that the pod got at its binding
    job: str
    job_node: str
    state: str
    slurm_code: str
    log: str

    def expected(self):
        return (
            ("Failed", 3, "FAILED", "3:0")
            if self.index == FAILING
            else ("Succeeded", 0, "COMPLETED", "0:0")
        )

    def faults(self):
        wrong = []
        if (self.phase, self.code, self.state, self.slurm_code) != self.expected():
            wrong.append("not " + " ".join(map(str, self.expected())))
        if not self.job or self.told_job != self.job:
            wrong.append(f"the pod was told job {self.told_job or 'none'}")
        if self.node != self.job_node:
            wrong.append(f"Slurm allocated {self.job_node or 'nothing'}")
        return wrong


def slurm_jobs(run):
    """{pod uid: [fields of each job whose marker names it]}"""
    jobs = {}
    for line in run("scontrol", "--oneliner", "show", "job").splitlines():
        uid = re.search(r'AdminComment=\{.*?"uid":"([^"]+)"', line)
        if uid:
            jobs.setdefault(uid.group(1), []).append(
                dict(re.findall(r"(?:^|\s)(JobId|JobState|ExitCode|NodeList)=(\S+)", line))
            )
    return jobs


def container_code(pod):
    for status in pod["status"].get("containerStatuses", []):
        return status["state"].get("terminated", {}).get("exitCode")
    return None


def row_of(pod, jobs, log):
    """If a pod has several jobs, the job column lists them, and the row is wrong."""
    meta = pod["metadata"]
    mine = jobs.get(meta["uid"], [])
    last = mine[-1] if mine else {}
    return Row(
        index=int(meta["annotations"]["batch.kubernetes.io/job-completion-index"]),
        pod=meta["name"],
        node=pod["spec"].get("nodeName", ""),
        phase=pod["status"]["phase"],
        code=container_code(pod),
        told_job=meta["annotations"].get("allocation.slurm-kube.io/job-id", ""),
        job=" ".join(j["JobId"] for j in mine),
        job_node=last.get("NodeList", ""),
        state=last.get("JobState", ""),
        slurm_code=last.get("ExitCode", ""),
        log=log,
    )


def look(run, pods, real):
    jobs = slurm_jobs(run)
    items = pods()
    logs = {
        p["metadata"]["name"]: run("kubectl", "logs", p["metadata"]["name"], check=False)
        for p in items
        if p["spec"].get("nodeName") in real
    }
    return sorted(
        (row_of(p, jobs, logs.get(p["metadata"]["name"], "")) for p in items), key=lambda r: r.index
    )


def is_finished(job):
    return any(
        c["type"] in ("Complete", "Failed") and c["status"] == "True"
        for c in job["status"].get("conditions", [])
    )


def wait_settled(run, pods, directory, limit=90):
    """Slurm learns of the last pod's end a moment after Kubernetes, and Kubernetes updates the
    status of the Job after its pods have ended. Therefore waits until the table is right, at most
    limit seconds.
    """
    real = json.loads((directory / "facts").read_text())["real"]
    end = time.monotonic() + limit
    while True:
        rows = look(run, pods, real)
        job = json.loads(run("kubectl", "get", "job", "demo", "-o", "json"))
        if (not any(r.faults() for r in rows) and is_finished(job)) or time.monotonic() > end:
            return rows, job
        time.sleep(0.3)


def render(rows, facts):
    """The table as text, a line per pod."""
    head = ("POD", "NODE", "KIND", "PHASE", "EXIT", "SLURM JOB", "STATE", "EXITCODE", "AGREE")
    lines = [head]
    for r in rows:
        kind = "kubelet" if r.node in facts["real"] else "simulated"
        lines.append(
            (
                r.pod,
                r.node,
                kind,
                r.phase,
                str(r.code),
                r.job,
                r.state,
                r.slurm_code,
                "; ".join(r.faults()) or "yes",
            )
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in lines
    )


def faults(rows, facts, job):
    """Sentences about each disagreement; empty if both sides agree."""
    wrong = [f"{r.pod}: {'; '.join(r.faults())}" for r in rows if r.faults()]
    if [r.index for r in rows] != list(range(12)):
        wrong.append(f"the pods have the indexes {[r.index for r in rows]}, not 0 to 11 once each")
    if len({r.job for r in rows}) != len(rows):
        wrong.append("two pods share a Slurm job")
    status = job["status"]
    if (status.get("succeeded"), status.get("failedIndexes")) != (11, str(FAILING)):
        wrong.append(
            f"the Job says {status.get('succeeded')} succeeded and index"
            f" {status.get('failedIndexes')} failed"
        )
    return wrong + _unused(rows, facts) + _logs(rows, facts)


def _unused(rows, facts):
    """Twelve pods that each fill a node must have used all eight nodes."""
    idle = set(facts["real"] + facts["simulated"]) - {r.node for r in rows}
    return [f"no pod ran on {', '.join(sorted(idle))}"] if idle else []


def _logs(rows, facts):
    """The log of a container must show the job and node that the table shows."""
    real = [r for r in rows if r.node in facts["real"]]
    return [
        f"{r.pod}: its log is {r.log!r}"
        for r in real
        if f"SLURM_JOB_ID={r.job} NODE={r.node} index={r.index}\n" not in r.log
    ]
