# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions that many tests ask of Slurm and Kubernetes."""
import json
import re
from collections import defaultdict

from records.slurm import LIVE, as_sacct_prints

from .kube import condition, name_of
from .manifests import pod as pod_manifest
from .waiting import LIMIT, wait_for


def uid_of(pod):
    return pod["metadata"]["uid"]


def jobs_by_uid(bed):
    """{pod uid: [its Slurm jobs, oldest first]} of all jobs in Slurm whose marker is of this
    cluster.
    """
    found = defaultdict(list)
    of_cluster = f'"cluster":"{bed.cluster}"' if getattr(bed, "cluster", None) else ""
    for _, job in sorted(bed.slurm.jobs().items()):
        marker = re.search(r'"uid":"([^"]+)"', job.get("AdminComment", ""))
        if marker and of_cluster in job["AdminComment"]:
            found[marker.group(1)].append(job)
    return found


def only_job(bed, pod):
    """The one job of a pod as Slurm shows it; fails if there is none or more than one."""
    jobs = bed.slurm.job_of_pod(uid_of(pod))
    assert (
        len(jobs) == 1
    ), f"{len(jobs)} jobs of {name_of(pod)}: {[(j['JobId'], j['JobState']) for j in jobs]}"
    return jobs[0]


def number_of(job):
    return int(job["JobId"])


def job_in_state(bed, pod, *states, timeout=LIMIT):
    """Waits until the pod's only job is in one of the states; returns it."""

    def look():
        job = only_job(bed, pod)
        assert job["JobState"] in states, f"job {job['JobId']} is {job['JobState']}"
        return job

    return wait_for(look, f"the job of {name_of(pod)} to be {' or '.join(states)}", timeout)


def _in_squeue(bed, number):
    return bed.slurm.run("squeue", "-h", "-t", "all", "-j", str(number), "-o", "%T").strip()


def agreed(bed, pod, state, code, timeout=LIMIT):
    """Waits until a pod's only job has this end; scontrol, squeue and sacct must agree. Returns
    sacct's row.
    """
    final = (
        "COMPLETED",
        "FAILED",
        "CANCELLED",
        "TIMEOUT",
        "NODE_FAIL",
        "PREEMPTED",
        "OUT_OF_MEMORY",
        "DEADLINE",
        "BOOT_FAIL",
    )
    job = job_in_state(bed, pod, *final, timeout=timeout)
    name, number = name_of(pod), number_of(job)
    assert (job["JobState"], job["ExitCode"]) == (
        state,
        code,
    ), f"{name}: scontrol says {job['JobState']} {job['ExitCode']}, not {state} {code}"
    said = _in_squeue(bed, number)
    assert said == state, f"{name}: squeue says {said}, not {state}"

    def in_database():
        row = bed.slurm.accounting.sacct(number)[number]
        assert (row["State"], row["ExitCode"]) == (
            state,
            as_sacct_prints(code),
        ), f"{name}: sacct says {row['State']} {row['ExitCode']}, not {state} {code}"
        return row

    return wait_for(in_database, f"{name} in sacct", timeout)


def sacct_agrees(bed, timeout=LIMIT):
    """All jobs of ours that Slurm still has must have the same state and exit code in the database
    as in scontrol. Returns their number.
    """

    def look():
        known, wrong, count = jobs_by_uid(bed).values(), [], 0
        rows = bed.slurm.accounting.sacct(*(number_of(job) for jobs in known for job in jobs))
        for jobs in known:
            for job in jobs:
                row = rows.get(number_of(job), {"State": "nothing", "ExitCode": ""})
                shown = (job["JobState"], as_sacct_prints(job["ExitCode"]))
                count += 1
                if (row["State"], row["ExitCode"]) != shown:
                    wrong.append(
                        f"{job['JobId']}: scontrol {shown}, sacct {(row['State'], row['ExitCode'])}"
                    )
        assert not wrong, f"{len(wrong)} of {count} jobs: {wrong[:5]}"
        return count

    return wait_for(look, "sacct and scontrol to agree", timeout, 0.2)


def wait_no_live_jobs(bed, timeout=LIMIT):
    """Waits until no job of ours is live in Slurm."""

    def left():
        live = [
            f"{j['JobId']} {j['JobState']}"
            for jobs in jobs_by_uid(bed).values()
            for j in jobs
            if j["JobState"] in LIVE
        ]
        assert not live, f"{len(live)} live jobs: {live[:5]}"
        return True

    wait_for(left, "all jobs with a marker to have ended", timeout, 0.2)


def _has_a_pod(job, uid, live):
    """True if a live pod belongs to the job: by the number in its binding or, if its job was lost
    and submitted again, by the marker's uid, its own or its owner's.
    """
    for pod in live:
        owners = {o["uid"] for o in pod["metadata"].get("ownerReferences", [])}
        if (
            re.split("[/+]", uid)[0] in owners | {uid_of(pod)}
            or pod["metadata"].get("annotations", {}).get("allocation.slurm-kube.io/job-id")
            == job["JobId"]
        ):
            return True
    return False


def wait_settled(bed, timeout=LIMIT):
    """Waits until nothing is under way between the two sides: no job of ours is COMPLETING, and
    each RUNNING job has a bound pod that has not ended.
    """

    def look():
        with bed.kube.changed:
            live = [
                p
                for p in bed.kube.now["Pod"].values()
                if p["spec"].get("nodeName")
                and p["status"].get("phase") not in ("Succeeded", "Failed")
            ]
        odd = [
            f"{j['JobId']} {j['JobState']}"
            for uid, jobs in jobs_by_uid(bed).items()
            for j in jobs
            if j["JobState"] == "COMPLETING"
            or (j["JobState"] == "RUNNING" and not _has_a_pod(j, uid, live))
        ]
        assert not odd, f"{len(odd)} jobs: {odd[:5]}"
        return True

    wait_for(look, "no job to be COMPLETING, or RUNNING without a pod", timeout, 0.2)


def job_controller_status(bed, name, timeout=90, **expected):
    """Waits until the status of a Kubernetes Job has the expected counts, for example
    succeeded=50.
    """

    def seen():
        status = bed.kube.get("Job", name)["status"]
        assert all(status.get(k, 0) == v for k, v in expected.items()), str(
            {k: status.get(k, 0) for k in expected}
        )
        return status

    return wait_for(seen, f"Job {name} to have {expected}", timeout, 0.2)


def wait_reason(bed, name, reason, text="", timeout=LIMIT):
    """Waits until the condition PodScheduled=False has that reason and contains the text; returns
    its message.
    """
    key = name if "/" in name else f"default/{name}"

    def said():
        seen = condition(bed.kube.now["Pod"].get(key, {"status": {}}), "PodScheduled")
        return (
            seen
            if seen.get("status") == "False"
            and seen.get("reason") == reason
            and text in seen.get("message", "")
            else None
        )

    return bed.kube.wait(said, f"{name} to say {reason} {text}", timeout)["message"]


def disruption(bed, name):
    """Waits for the condition DisruptionTarget of a pod that is being deleted or gone; returns it.
    The agent sends it before the deletion, but does not wait for its answer. A pod that must have
    it therefore takes some time to end, as real pods do.
    """
    return bed.kube.wait(
        lambda: next(
            (c for _, _, p in bed.kube.events_of(name) if (c := condition(p, "DisruptionTarget"))),
            None,
        ),
        f"the condition DisruptionTarget of {name}",
    )


class Sight:
    """The first moment in the history at which a predicate was true of a pod: position in the
    watch, time, and the pod at that time.
    """

    def __init__(self, bed, name, what):
        self.place = None
        with bed.kube.changed:
            for self.place, (self.time, self.event, self.pod) in enumerate(bed.kube.history["Pod"]):
                if name_of(self.pod) == f"default/{name}" and what(self.event, self.pod):
                    return
        raise AssertionError(f"never seen of {name}: {what.__name__}")


def deleted(_, pod):
    return "deletionTimestamp" in pod["metadata"]


def bound(_, pod):
    return bool(pod["spec"].get("nodeName"))


def free(event, pod):
    """True if its share of the node is free again."""
    return event == "DELETED" or pod["status"].get("phase") in ("Succeeded", "Failed")


def gone(event, _):
    return event == "DELETED"


def fill(bed, name, cpu, pods=1, **options):
    """Creates pods with cpu CPUs each that run until they are deleted; returns them when
    they run.
    """
    made = [bed.kube.create(pod_manifest(f"{name}-{i}", cpu=cpu, **options)) for i in range(pods)]
    for p in made:
        bed.kube.wait_phase(p["metadata"]["name"], "Running")
    return made


def diag(bed):
    """The agent's own figures, for the log only: no test depends on them."""
    return json.dumps(bed.agent.skube("diag"))
