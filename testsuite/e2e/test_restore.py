#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmctld restarts with an older state: jobs are lost, job ids are assigned again, and there are
jobs whose pods are long gone. No running pod is touched; each gets another job, on its node; and no
other job is mistaken for a pod's.
"""
from lib import equal, pod, run, wait_for
from lib.expect import LIVE, job_in_state, uid_of
from lib.fault_testbed import FaultTestbed
from lib.kube import condition
from lib.restore import Restore

RESTORED = []  # (from, until)


def running(bed, name, cpu=1, **options):
    made = bed.kube.create(pod(name, cpu=cpu, **options))
    bed.run_pod(name)
    job_in_state(bed, made, "RUNNING")
    return made


def live_jobs(bed, made):
    return [j for j in bed.slurm.job_of_pod(uid_of(made)) if j["JobState"] in LIVE]


def has_job_again(bed, made):
    """The pod has one live job, which runs on the pod's own node, and the pod was left alone."""
    now = bed.kube.get("Pod", made["metadata"]["name"])

    def look():
        jobs = live_jobs(bed, made)
        equal(
            [(j["JobState"], j["NodeList"]) for j in jobs],
            [("RUNNING", now["spec"]["nodeName"])],
            f"jobs of {made['metadata']['name']}",
        )
        return jobs[0]

    job = wait_for(look, f"{made['metadata']['name']} to have a job again", 90)
    is_left_alone(bed, made)
    return job


def is_left_alone(bed, made):
    now = bed.kube.get("Pod", made["metadata"]["name"])
    assert uid_of(now) == uid_of(made) and now["status"]["phase"] == "Running", now["status"]
    assert "deletionTimestamp" not in now["metadata"] and not condition(
        now, "DisruptionTarget"
    ), now


def end(bed, made, job):
    """The pod ends, and its present job gets the result."""
    name = made["metadata"]["name"]
    bed.end_pod(name)
    wait_for(
        lambda: bed.slurm.jobs()[int(job["JobId"])]["JobState"] == "COMPLETED",
        f"job {job['JobId']} of {name} to be COMPLETED",
    )
    wait_for(lambda: not live_jobs(bed, made), f"all jobs of {name} to have ended")
    bed.remove_pod(name)


def named_job(bed, made):
    return int(
        bed.kube.get("Pod", made["metadata"]["name"])["metadata"]["annotations"][
            "allocation.slurm-kube.io/job-id"
        ]
    )


def test_running_pods_get_jobs_again_on_their_nodes(bed):
    """Both jobs are lost; after ten seconds without them the agent submits new ones, for the nodes
    where the pods run.
    """
    old = Restore(bed, RESTORED)
    made = [running(bed, f"lost-{i}") for i in range(2)]
    with old:
        equal([bed.slurm.job_of_pod(uid_of(m)) for m in made], [[], []], "jobs after the restore")
    for m in made:
        end(bed, m, has_job_again(bed, m))
    bed.steady_goes_on()


def test_job_of_a_pod_that_is_gone_is_ended(bed):
    """The old state has the job of a pod that has ended and is gone, and that of a waiting pod that
    was deleted.
    """
    ended = running(bed, "ended", cpu=4)
    waits = bed.kube.create(pod("deleted", cpu=4))
    job_in_state(bed, waits, "PENDING")
    old = Restore(bed, RESTORED)
    bed.remove_pod("deleted")
    end(bed, ended, bed.slurm.job_of_pod(uid_of(ended))[0])
    bed.others_done()
    with old:
        assert live_jobs(bed, ended) and live_jobs(
            bed, waits
        ), "the old state has no live jobs of the two"
    for m in (ended, waits):
        wait_for(lambda x=m: not live_jobs(bed, x), "the old job to be ended")
    bed.others_done()
    bed.steady_goes_on()


def test_job_ids_given_again_to_native_jobs(bed):
    """Native jobs get the ids named by the pods' annotations. They are not ended with the pods, nor
    the pods with them.
    """
    old = Restore(bed, RESTORED)
    made = [running(bed, f"reused-{i}") for i in range(2)]
    numbers = [named_job(bed, m) for m in made]
    with old:
        native = [
            int(bed.slurm.run("sbatch", "--parsable", "-p", "native", "-H", "--wrap=true"))
            for _ in made
        ]
        equal(sorted(native), sorted(numbers), "ids of the native jobs")
    jobs = [has_job_again(bed, m) for m in made]
    bed.slurm.run("scancel", str(native[0]))
    bed.slurm.wait_job(native[0], "CANCELLED")
    for m, job in zip(made, jobs):
        is_left_alone(bed, m)
        end(bed, m, job)
    equal(
        bed.slurm.jobs()[native[1]]["JobState"], "PENDING", "the native job with a pod's former id"
    )
    bed.slurm.run("scancel", str(native[1]))
    bed.steady_goes_on()


def test_job_ids_given_again_to_other_pods(bed):
    """The ids change between pods: a pod's job is identified by the marker, never by the number in
    the pod's annotation.
    """
    old = Restore(bed, RESTORED)
    first = running(bed, "first")
    with old:
        bed.kube.create(pod("second"))
        bed.kube.create(pod("third"))
    jobs = {}
    for name in ("second", "third"):
        bed.run_pod(name)
    for name in ("first", "second", "third"):
        made = bed.kube.get("Pod", name)
        jobs[name] = has_job_again(bed, made)
    equal(len({j["JobId"] for j in jobs.values()}), 3, "different jobs")
    equal(
        jobs["second"]["JobId"],
        str(named_job(bed, bed.kube.get("Pod", "second"))),
        "the job in the annotation of second",
    )
    bed.slurm.run("scancel", jobs["second"]["JobId"])
    bed.stop_pod("second")
    for name in ("first", "third"):
        made = bed.kube.get("Pod", name)
        is_left_alone(bed, made)
        end(bed, made, jobs[name])
    assert uid_of(first)
    bed.steady_goes_on()


def test_node_given_away_while_a_pod_runs_there(bed):
    """Slurm has lost the job of a pod that fills a node, and allocates that node to another pod.
    The agent does not bind that pod there and gives the allocation back, so that the first pod gets
    another job; the other pod runs when there is room.
    """
    fill = running(bed, "fill", cpu=4)
    number = job_in_state(bed, bed.kube.create(pod("waits", cpu=4)), "PENDING")["JobId"]
    bed.slurm.run("scontrol", "hold", number)
    old = Restore(bed, RESTORED)
    end(bed, fill, job_in_state(bed, fill, "RUNNING"))
    big = running(bed, "big", cpu=4)
    with old:
        bed.slurm.run("scancel", *[j["JobId"] for j in live_jobs(bed, fill)])
        bed.slurm.run("scontrol", "release", number)
        bed.slurm.wait_job(int(number), "RUNNING")
    job = has_job_again(bed, big)
    assert not bed.kube.get("Pod", "waits")["spec"].get("nodeName"), "two pods on a node for one"
    end(bed, big, job)
    bed.run_pod("waits")
    made = bed.kube.get("Pod", "waits")
    end(bed, made, has_job_again(bed, made))
    bed.steady_goes_on()


def test_jobs_that_slurmctld_forgot_while_no_agent_ran(bed):
    """Both jobs are cancelled while the agent is stopped, and it starts when slurmctld no longer
    lists them: the running pod stays and gets a job again, the waiting pod is queued again.
    """
    conf = bed.slurm.dir / "slurm.conf"
    text = conf.read_text()
    conf.write_text(text.replace("MinJobAge=300", "MinJobAge=2"))
    bed.slurm.restart()
    runs = running(bed, "kept")
    waits = bed.kube.create(pod("queued", annotations={"slurm-kube.io/begin": "now+1hour"}))
    job_in_state(bed, waits, "PENDING")
    bed.agent.stop()
    bed.slurm.run("scancel", *[live_jobs(bed, m)[0]["JobId"] for m in (runs, waits)])
    wait_for(
        lambda: not any(bed.slurm.job_of_pod(uid_of(m)) for m in (runs, waits)),
        "slurmctld to forget both jobs",
        150,
    )
    conf.write_text(text)
    bed.slurm.restart()
    bed.agent.start()
    job = has_job_again(bed, runs)
    job_in_state(bed, waits, "PENDING")
    equal(uid_of(bed.kube.get("Pod", "queued")), uid_of(waits))
    end(bed, runs, job)
    bed.remove_pod("queued")
    bed.others_done()
    bed.steady_goes_on()


def test_the_steady_pod_goes_on(bed):
    """Pod steady was not affected, and no other job is left."""
    bed.others_done()
    bed.steady_goes_on()


if __name__ == "__main__":
    run(
        lambda build: FaultTestbed(
            build, agent_options={"settings": {"limits": {"condition_interval_seconds": 1}}}
        ),
        forgets=RESTORED,
    )
