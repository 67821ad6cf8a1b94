#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""What only kubelets do: real containers on two real nodes. Each node announces all CPUs of this
machine, so that a pod that requests all of them needs a node for itself.
"""
import json
import os

from lib import Cluster, Skip, equal, pod, run, wait_for
from lib.expect import (
    Sight,
    bound,
    deleted,
    disruption,
    free,
    job_in_state,
    number_of,
    only_job,
    wait_no_live_jobs,
)
from lib.kube import condition, exit_code
from lib.manifests import IMAGE
from lib.process import SOURCE

NODES = ["real-1", "real-2"]
ALL = os.cpu_count()
SLOW = 180  # seconds; the start of a container needs half a dozen programs
START_LIMIT = 45  # seconds; limits.start_seconds


def _nodes(bed):
    """The first test that needs the nodes starts them; if the machine cannot run kubelets, all
    tests are skipped.
    """
    if len(bed.plane.nodes) < len(NODES):
        for name in NODES:
            bed.plane.real_node(name)
        bed.sync_nodes(NODES)


def _host(bed, manifest):
    """Mounts the run directory as /h, through which the test and its container signal each
    other.
    """
    manifest["spec"]["volumes"] = [{"name": "h", "hostPath": {"path": str(bed.dir)}}]
    manifest["spec"]["containers"][0]["volumeMounts"] = [{"name": "h", "mountPath": "/h"}]
    return manifest


def _until(flag):
    return f"until [ -e /h/{flag} ]; do sleep 0.1; done"


def _fill(bed, name, **options):
    made = bed.kube.create(_host(bed, pod(name, cpu=ALL, **options)))
    bed.kube.wait_phase(name, "Running", timeout=SLOW)
    return made


def test_exit_codes(bed):
    """Programs that exit with 0 and 3: COMPLETED 0:0 and FAILED 3:0, each on the node that Slurm
    chose.
    """
    _nodes(bed)
    for code, state in ((0, "COMPLETED"), (3, "FAILED")):
        made = bed.kube.create(pod(f"exit-{code}", shell=f"exit {code}"))
        ended = bed.kube.wait_phase(f"exit-{code}", "Succeeded", "Failed", timeout=SLOW)
        equal(exit_code(ended), code)
        seen = job_in_state(bed, made, "COMPLETED", "FAILED")
        equal(
            (seen["JobState"], seen["ExitCode"], seen["NodeList"]),
            (state, f"{code}:0", ended["spec"]["nodeName"]),
        )


def test_job_id_in_the_environment(bed):
    """The Binding carries the job's number, so that the container can have it in its environment
    from the start.
    """
    _nodes(bed)
    manifest = pod("numbered", shell="echo $SLURM_JOB_ID")
    manifest["spec"]["containers"][0]["env"] = [
        {
            "name": "SLURM_JOB_ID",
            "valueFrom": {
                "fieldRef": {"fieldPath": "metadata.annotations['allocation.slurm-kube.io/job-id']"}
            },
        }
    ]
    made = bed.kube.create(manifest)
    bed.kube.wait_phase("numbered", "Succeeded", timeout=SLOW)
    wait_for(
        lambda: bed.kube.logs("numbered").strip() == only_job(bed, made)["JobId"],
        "the log of numbered",
    )


def test_environment_of_the_example(bed):
    """etc/example-pod.yaml as users copy it: each variable has the value that Slurm shows for the
    job.
    """
    _nodes(bed)
    manifest = json.loads(
        bed.plane.kubectl(
            "create", "--dry-run=client", "-o", "json", "-f", SOURCE / "etc/example-pod.yaml"
        )
    )
    manifest["spec"].update(
        hostNetwork=True, automountServiceAccountToken=False, enableServiceLinks=False
    )
    say = "; ".join(
        f"echo {e['name']}=${e['name']}" for e in manifest["spec"]["containers"][0]["env"]
    )
    manifest["spec"]["containers"][0].update(
        image=IMAGE, imagePullPolicy="Never", command=["/bin/sh", "-c", say]
    )
    made = bed.kube.create(manifest)
    bed.kube.wait_phase("example", "Succeeded", timeout=SLOW)
    seen = only_job(bed, made)
    wait_for(
        lambda: len(bed.kube.logs("example").split()) == say.count("echo "),
        "the whole log of example",
    )
    equal(
        dict(line.split("=", 1) for line in bed.kube.logs("example").split()),
        {
            "SLURM_JOB_ID": seen["JobId"],
            "SLURM_JOB_NODELIST": seen["NodeList"],
            "SLURMD_NODENAME": seen["NodeList"],
            "SLURM_CPUS_ON_NODE": seen["NumCPUs"],
            "SLURM_JOB_PARTITION": seen["Partition"],
            "SLURM_JOB_ACCOUNT": "example",
            "SLURM_CLUSTER_NAME": "test",
        },
    )
    equal(seen["Account"], "example")


def test_out_of_memory(bed):
    """A container exceeds its memory: the kernel kills it, and Slurm reports OUT_OF_MEMORY."""
    _nodes(bed)
    made = bed.kube.create(pod("greedy", memory="32Mi", shell="exec oom"))
    ended = bed.kube.wait_phase("greedy", "Failed", timeout=SLOW)
    equal(ended["status"]["containerStatuses"][0]["state"]["terminated"]["reason"], "OOMKilled")
    job_in_state(bed, made, "OUT_OF_MEMORY")


def _ended(bed, name, **options):
    """Waits until the pod has ended; returns its job and the pod."""
    made = bed.kube.create(pod(name, **options))
    seen = bed.kube.wait_phase(name, "Succeeded", "Failed", timeout=SLOW)
    return (
        job_in_state(bed, made, "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "OUT_OF_MEMORY"),
        seen,
    )


def test_ended_by_a_signal(bed):
    """A program killed by SIGTERM: signal 15 in Slurm."""
    _nodes(bed)
    seen, _ = _ended(bed, "signalled", shell="sleep 60 & kill -TERM $!; wait $!; exit $?")
    equal((seen["JobState"], seen["ExitCode"]), ("FAILED", "0:15"))


def test_init_container_fails(bed):
    """The pod's main container never started: the result is the init container's."""
    _nodes(bed)
    init = {
        "name": "prepare",
        "image": IMAGE,
        "imagePullPolicy": "Never",
        "command": ["/bin/sh", "-c", "exit 4"],
    }
    seen, ended = _ended(bed, "unprepared", shell="exit 0", spec={"initContainers": [init]})
    equal(
        (ended["status"]["phase"], seen["JobState"], seen["ExitCode"]), ("Failed", "FAILED", "4:0")
    )


def test_deadline_of_the_pod(bed):
    """activeDeadlineSeconds: the kubelet stops the pod, and Slurm reports TIMEOUT."""
    _nodes(bed)
    seen, ended = _ended(
        bed,
        "late",
        shell="sleep 600",
        spec={"activeDeadlineSeconds": 3, "terminationGracePeriodSeconds": 1},
    )
    equal(
        (ended["status"]["reason"], seen["JobState"], seen["ExitCode"]),
        ("DeadlineExceeded", "TIMEOUT", "0:0"),
    )


def test_image_that_never_comes(bed):
    """The kubelet cannot start the container: the agent gives up after limits.start_seconds, with
    the kubelet's message, FAILED 125:0.
    """
    _nodes(bed)
    manifest = pod("imageless", shell="exit 0")
    manifest["spec"]["containers"][0]["image"] = "docker.io/slurm-kube/no-such-image:1"
    made = bed.kube.create(manifest)
    seen = job_in_state(bed, made, "FAILED", "CANCELLED", timeout=START_LIMIT + 120)
    equal((seen["JobState"], seen["ExitCode"]), ("FAILED", "125:0"))
    said = condition(Sight(bed, "imageless", deleted).pod, "slurm-kube.io/StartLimit")
    assert "ErrImageNeverPull" in said["message"], said


def test_scancel_is_sigterm_and_grace(bed):
    """scancel: the container gets SIGTERM and its grace period. The next pod, which needs the same
    CPUs, is bound only afterwards, and is admitted.
    """
    _nodes(bed)
    _fill(bed, "other", shell=_until("other-ends"))
    first = _fill(
        bed,
        "gentle",
        shell=(
            f"trap 'echo asked; {_until('may-go')}; echo leaves; exit 0' TERM; echo ready; while :;"
            " do sleep 0.1; done"
        ),
        spec={"terminationGracePeriodSeconds": 60},
    )
    wait_for(lambda: "ready" in bed.kube.logs("gentle"), "the trap to be set")
    second = bed.kube.create(pod("follows", cpu=ALL, shell="exit 0"))
    job_in_state(bed, second, "PENDING")
    number = number_of(only_job(bed, first))
    bed.slurm.run("scancel", str(number))
    wait_for(lambda: "asked" in bed.kube.logs("gentle"), "SIGTERM")
    job_in_state(bed, second, "RUNNING")
    assert not bed.kube.pods()["follows"]["spec"].get(
        "nodeName"
    ), "bound beside a pod that is still ending"
    assert str(number) in disruption(bed, "gentle")["message"]
    (bed.dir / "may-go").touch()
    equal(exit_code(bed.kube.wait_phase("follows", "Succeeded", "Failed", timeout=SLOW)), 0)
    assert Sight(bed, "gentle", free).place < Sight(bed, "follows", bound).place
    job_in_state(bed, first, "CANCELLED")
    job_in_state(bed, second, "COMPLETED")
    (bed.dir / "other-ends").touch()
    wait_no_live_jobs(bed)


def test_eight_in_a_row_are_all_admitted(bed):
    """Each pod needs a whole node, so each follows one that has just ended. A kubelet that still
    counted the former pod would report OutOfcpu.
    """
    _nodes(bed)
    made = [bed.kube.create(pod(f"row-{i}", cpu=ALL, shell="exit 0")) for i in range(8)]
    for i, one in enumerate(made):
        ended = bed.kube.wait_phase(f"row-{i}", "Succeeded", "Failed", timeout=SLOW)
        equal((ended["status"].get("reason"), exit_code(ended)), (None, 0), f"row-{i}")
        job_in_state(bed, one, "COMPLETED")


def test_pods_bound_past_slurm_are_waited_for(bed):
    """Another client has bound pods without Slurm, and they fill both nodes, so that the kubelets
    would refuse our pod: it waits and says so, and runs when they have ended.
    """
    _nodes(bed)
    for node in NODES:
        bed.kube.create(
            _host(
                bed,
                pod(f"foreign-{node}", cpu=ALL, shell=_until("foreign-ends"), scheduler="other"),
            )
        )
        bed.kube.bind(f"foreign-{node}", node)
        bed.kube.wait_phase(f"foreign-{node}", "Running", timeout=SLOW)
    made = bed.kube.create(pod("patient", shell="exit 0"))
    bed.kube.wait(
        lambda: "Slurm" in str(bed.kube.get("Pod", "patient")["status"].get("conditions")),
        "the pod to say why it waits",
        SLOW,
    )
    equal(bed.kube.get("Pod", "patient")["spec"].get("nodeName"), None)
    (bed.dir / "foreign-ends").touch()
    for node in NODES:
        bed.kube.wait_phase(f"foreign-{node}", "Succeeded", timeout=SLOW)
    bed.kube.wait_phase("patient", "Succeeded", timeout=SLOW)
    # on a slow machine the pod may have waited so long that it gave back its first allocation and
    # was queued again
    wait_for(
        lambda: bed.slurm.job_of_pod(made["metadata"]["uid"])[-1]["JobState"] == "COMPLETED",
        "the job of patient to be COMPLETED",
    )


def test_killed_kubelets_change_nothing(bed):
    """Both kubelets are killed and restarted. The pod continues, ends while they are down, and
    Slurm gets the true result.
    """
    _nodes(bed)
    made = bed.kube.create(_host(bed, pod("lasting", shell=f"{_until('go')}; exit 5")))
    node = bed.kube.wait_phase("lasting", "Running", timeout=SLOW)["spec"]["nodeName"]
    bed.plane.kubelet(node, "--kill")
    (bed.dir / "go").touch()
    equal(only_job(bed, made)["JobState"], "RUNNING")
    bed.plane.kubelet(node, "--start")
    equal(exit_code(bed.kube.wait_phase("lasting", "Failed", timeout=SLOW)), 5)
    equal(job_in_state(bed, made, "FAILED", "COMPLETED", "CANCELLED")["ExitCode"], "5:0")


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    if not bed.plane.nodes:
        raise Skip("no real node")
    wait_no_live_jobs(bed)


if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build,
            agent_options={
                "namespaces": [{"namespace": "default", "user": "root", "accounts": ["example"]}],
                "settings": {"limits": {"start_seconds": START_LIMIT}},
            },
        ),
        unless=lambda p: p["spec"]["schedulerName"] != "slurm"
        or p["metadata"]["name"] == "unlucky",
    )
