#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""A user who may create pods and their owners in one namespace uses the most expensive options,
sizes, counts and owners for ADVERSARY_SECONDS. Meanwhile Slurm must answer other users, and run
their jobs as before."""
import concurrent.futures
import itertools
import os
import random
import re
import subprocess
import time

from lib import Cluster, equal, pod, run, wait_for, workloads
from lib.expect import job_in_state, uid_of, wait_no_live_jobs, wait_reason
from lib.kube import ApiError

OURS = "slurm-kube.io/"
ADVERSARY_SECONDS = int(os.environ.get("ADVERSARY_SECONDS", "20"))
SDIAG_MOST = 5  # seconds, with other tests running; alone slurmctld answers within one
PATIENCE = 20  # seconds until a pod of another namespace has its job

# The values that cost slurmctld most, according to its source. The last of each is about the
# largest that we accept.
WORST = {
    "account": (4096 * "x", "shared"),
    "begin": ("9999-12-31", "2045-01-01"),
    "burst-buffer": (4096 * "x",),
    "comment": (4096 * "x", 256 * "x"),
    "constraints": (
        "&".join(150 * ["(kube|kube)"]),
        "[" + "&".join(100 * ["kube*1"]) + "]",
        "|".join(500 * ["kube"]),
        "&".join(4 * ["(kube|kube)"]),
    ),
    "contiguous": ("true",),
    "core-spec": ("65532", "8192"),
    "cpu-per-task": ("65000",),
    "cpus-per-gpu": ("65000", "1024"),
    "current-working-dir": ("/" + 8000 * "x", "/" + 1000 * "x"),
    "deadline": ("9999-12-31", "2045-01-01"),
    "delay-boot": ("10000000",),
    "dependency": (
        "afterany:" + ":".join(500 * ["1"]),
        "afterok:1_[0-1000]",
        "afterany:" + ":".join(str(n) for n in range(1, 101)),
    ),
    "excluded-nodes": ("a" + 8 * "[1-9]", ",".join(60 * ["a[1-60000]"]), "node-[0-2]"),
    "exclusive": ("true", "user"),
    "extra": (4096 * "x", 256 * "x"),
    "end-together": ("false",),
    "gang": ("false", "true"),
    "gres": (",".join(150 * ["gpu:1"]), ",".join(32 * ["gpu:999999999"])),
    "group-id": ("4294967294", "65534"),
    "hold": ("false", "true"),
    "job": ("4294967295",),
    "job-name": (4096 * "x", 256 * "x"),
    "kill-on-invalid-dep": ("yes",),
    "licenses": (",".join(200 * ["abaqus:1"]), ",".join(32 * ["abaqus:999999999"])),
    "mail-type": (",".join(500 * ["ALL"]), "ALL"),
    "mail-user": ("-r", 254 * "x"),
    "max-nodes": ("100000",),
    "mcs-label": (4096 * "x",),
    "mem-per-node": ("1Ei",),
    "min-nodes": ("4294967292",),
    "nice": ("2147483645",),
    "partition": (",".join(500 * ["kube"]), "kube"),
    "pods-per-node": ("4294967292", "65000"),
    "prefer": ("&".join(150 * ["(kube|kube)"]), "&".join(4 * ["(kube|kube)"])),
    "priority": ("4294967292",),
    "qos": (4096 * "x", 256 * "x"),
    "required-nodes": ("a" + 8 * "[1-9]", "a[1-60000][1-60000]", "node-[0-2]"),
    "reservation": (",".join(500 * ["night"]), "night"),
    "segment": ("65532",),
    "spread-job": ("true",),
    "switches": ("4294967292@10000000", "1000000@10000000"),
    "thread-spec": ("65532", "8192"),
    "threads-per-core": ("65532", "1024"),
    "time-min": ("99999999999", "10000000"),
    "timelimit": ("99999999999", "10000000"),
    "use-min-nodes": ("true",),
    "user-id": ("4294967294", "65534"),
    "wckey": (1024 * "x", 256 * "x"),
}


def _container(number, **requests):
    return {
        "name": f"c{number}",
        "image": "x",
        "resources": {"requests": requests, "limits": requests},
    }


def _affinity(terms, values):
    wanted = [
        {
            "matchExpressions": [
                {
                    "key": f"key-{t}",
                    "operator": "NotIn",
                    "values": [f"{t}-{v}" for v in range(values)],
                }
            ]
        }
        for t in range(terms)
    ]
    required = {"nodeSelectorTerms": wanted}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


# Other expensive properties of a pod: fields of manifests.pod.
SIZES = (
    {"annotations": {"any.example/text": 200_000 * "x"}},
    {"annotations": {OURS + "sbatch": "--comment=" + 100_000 * "x"}},
    {"annotations": {OURS + "sbatch": 10_000 * "--nice=1 "}},
    {"annotations": {OURS + f"no-such-{n}": "x" for n in range(2000)}},
    {"cpu": 10**9},
    {"memory": "1Ei"},
    {"cpu": "1m", "memory": "1"},
    {"spec": {"containers": [_container(n, cpu="1m", memory="1Mi") for n in range(500)]}},
    {
        "spec": {
            "containers": [_container(0, **{f"any.example/thing-{n}": "1" for n in range(500)})]
        }
    },
    {"spec": {"affinity": _affinity(200, 200)}},
    {"spec": {"tolerations": [{"key": f"key-{n}", "operator": "Exists"} for n in range(1000)]}},
    {"spec": {"nodeSelector": {f"key-{n}": "x" for n in range(1000)}}},
    {"spec": {"activeDeadlineSeconds": 2**31 - 1}},  # ends 2^31 s apart
)
# Owners: the number of different templates, and the number of pods of each
GANGS = ((300, 1), (33, 1), (32, 1), (32, 30_000), (1, 1_000_000), (2, 2**31 - 1))


def _of_options(bed, number):
    """Creates a pod with one option, which takes each of its worst values in turn; changes a
    waiting pod to the same value.
    """
    pairs = [(option, value) for option, values in WORST.items() for value in values]
    option, value = pairs[number % len(pairs)]
    bed.kube.create(pod(f"worst-option-{number}", annotations={OURS + option: value}))
    all_but_one = {OURS + o: value if o == option else None for o in WORST if o != "hold"}
    bed.kube.patch("Pod", "worst-changed", {"metadata": {"annotations": all_but_one}})


def _of_many_options(bed, number):
    """Creates a pod with several options at the largest accepted values."""
    chosen = random.Random(number).sample(sorted(WORST), 2 + number % 12)
    annotations = {OURS + option: WORST[option][-1] for option in chosen}
    bed.kube.create(pod(f"worst-many-{number}", annotations=annotations))


def _of_sizes(bed, number):
    bed.kube.create(pod(f"worst-size-{number}", **SIZES[number % len(SIZES)]))


def _of_counts(bed, number):
    """Creates pods that stay pending in slurmctld; deletes every other one at once."""
    option, value = ("dependency", WORST["dependency"][-1]) if number % 3 else ("hold", "true")
    bed.kube.create(pod(f"worst-count-{number}", annotations={OURS + option: value}))
    if number % 2:
        bed.kube.delete("Pod", f"worst-count-{number}")


def _of_gangs(bed, number):
    """Creates a head and some workers of an owner with different templates."""
    name, (roles, pods) = f"worst-gang-{number}", GANGS[number % len(GANGS)]
    groups = [
        {
            "groupName": f"g{n}",
            "replicas": pods,
            "minReplicas": pods,
            "maxReplicas": pods,
            "rayStartParams": {},
            "template": workloads.template(cpu=f"{n + 1}m", restart="Always"),
        }
        for n in range(roles)
    ]
    head = {"rayStartParams": {}, "template": workloads.template(restart="Always")}
    owner = workloads.create(
        bed,
        {
            "apiVersion": "ray.io/v1",
            "kind": "RayCluster",
            "metadata": {"name": name},
            "spec": {"headGroupSpec": head, "workerGroupSpecs": groups},
        },
    )
    _ray_pod(bed, owner, 0, "head", "headgroup", 1)
    for n in range(min(roles, 40)):
        _ray_pod(bed, owner, n + 1, "worker", f"g{n}", f"{n + 1}m")


def _ray_pod(bed, owner, number, what, group, cpu):
    name = owner["metadata"]["name"]
    labels = {"ray.io/cluster": name, "ray.io/node-type": what, "ray.io/group": group}
    bed.kube.create(workloads.owned(owner, f"{name}-{number}", labels, cpu=cpu))


KINDS = (_of_options, _of_many_options, _of_sizes, _of_counts, _of_gangs)


def _abuse(bed, kind, until):
    """Repeats one kind of abuse until the time is up. Returns the number of objects created, and
    what the API server refused.
    """
    made, refused = 0, set()
    for number in itertools.count():
        if time.monotonic() > until:
            return made, refused
        try:
            kind(bed, number)
            made += 1
        except ApiError as error:
            refused.add(str(error)[:200])


def _sdiag(bed, until):
    """How long each call of sdiag took."""
    took = []
    while time.monotonic() < until:
        began = time.monotonic()
        bed.slurm.run("sdiag")
        took.append(time.monotonic() - began)
    return took


def _native(bed, until):
    """How long native jobs took, from sbatch to their end."""
    took = []
    while time.monotonic() < until:
        began = time.monotonic()
        number = bed.slurm.run(
            "sbatch", "--parsable", "-p", "native", "-o", "/dev/null", "--wrap", "true"
        ).strip()
        wait_for(lambda number=number: _has_completed(bed, number), f"native job {number}")
        took.append(time.monotonic() - began)
    return took


def _has_completed(bed, number):
    return "JobState=COMPLETED" in bed.slurm.run("scontrol", "-o", "show", "job", number)


def _neighbour(bed, until):
    """How long it took until a pod of another namespace had its job."""
    took = []
    for number in itertools.count():
        if time.monotonic() > until:
            return took
        began = time.monotonic()
        manifest = pod(f"good-{number}", annotations={OURS + "hold": "true"})
        manifest["metadata"]["namespace"] = "plain"
        uid = uid_of(bed.kube.create(manifest))
        wait_for(lambda uid=uid: bed.slurm.job_of_pod(uid), f"the job of good-{number}", every=0.5)
        took.append(time.monotonic() - began)
        bed.kube.delete("Pod", f"plain/good-{number}")


def _told(name, took):
    in_order = sorted(took)
    median = in_order[len(took) // 2]
    return f"{name}: {len(took)}, median {median:.2f} s, slowest {in_order[-1]:.2f} s"


def _clear(bed):
    for kind in ("RayCluster", "Pod"):
        bed.kube.request("DELETE", workloads.path_of(kind))
    bed.kube.wait(lambda: not bed.kube.pods("worst-"), "the pods to go", 120)


def test_a_pod_without_room_for_our_annotations_is_refused(bed):
    """Kubernetes does not check the limit of 256 KiB in a Binding, and such a pod could never be
    reported as running.
    """
    bed.kube.create(pod("large", annotations={"example.org/x": 245_000 * "x"}))
    wait_reason(bed, "large", "SlurmRefused", "metadata.annotations with more than 238 KiB")
    bed.kube.delete("Pod", "large")
    bed.kube.create(pod("fits", annotations={"example.org/x": 240_000 * "x"}, kwok={"run": "10ms"}))
    bed.kube.wait_phase("fits", "Succeeded")
    bed.kube.delete("Pod", "fits")


def test_annotations_that_grow_while_a_job_waits(bed):
    """The Binding leaves out what does not fit, and the pod runs."""
    bed.kube.create(pod("grows", annotations={OURS + "hold": "true"}, kwok={"run": "10ms"}))
    number = job_in_state(bed, bed.kube.get("Pod", "grows"), "PENDING")["JobId"]
    more = {"metadata": {"annotations": {"example.org/x": 261_700 * "x"}}}
    bed.kube.patch("Pod", "grows", more)
    bed.slurm.run("scontrol", "release", number)
    bed.kube.wait_phase("grows", "Succeeded")
    job_in_state(bed, bed.kube.get("Pod", "grows"), "COMPLETED")
    bed.kube.delete("Pod", "grows")


def test_texts_that_are_cut_stay_utf8(bed):
    """A message quotes the beginning of a long value, and control characters do not reach the
    administrator's terminal.
    """
    texts = [k * "x" + 3000 * "\u6f22" for k in range(3)] + ["\u009b2J \x7f"]
    for i, text in enumerate(texts):
        bed.kube.create(pod(f"cut-{i}", annotations={OURS + "dependency": text}))
        wait_reason(bed, f"cut-{i}", "SlurmRefused", "")
    command = bed.slurm.program(
        bed.agent.skube_program, "--socket", bed.dir / "control.sock", "show", "pods"
    )
    for words in ([], ["-o", "json"], ["-o", "yaml"]):
        said = subprocess.run([*command, *words], capture_output=True, check=True).stdout
        text = said.decode("utf-8")
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", text), text
    (bed.dir / "log/slurmkubed.out").read_bytes().decode("utf-8")
    for i in range(len(texts)):
        bed.kube.delete("Pod", f"cut-{i}")


def test_every_option_is_at_its_worst(bed):
    table = bed.agent.skube_text("explain", "options").partition("\n\n")[0]
    equal({line.split()[0] for line in table.splitlines()[1:]}, set(WORST))


def test_no_option_slows_slurm_down(bed):
    """sdiag is answered in time throughout, native jobs take as long as before, and pods of other
    namespaces get jobs."""
    bed.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "plain"}})
    bed.plane.default_account("plain")
    bed.kube.create(pod("worst-changed", annotations={OURS + "hold": "true"}))
    before = _native(bed, time.monotonic() + 5)
    until = time.monotonic() + ADVERSARY_SECONDS
    with concurrent.futures.ThreadPoolExecutor(3 + len(KINDS)) as pool:
        others = [pool.submit(watch, bed, until) for watch in (_sdiag, _native, _neighbour)]
        abuse = {kind.__name__: pool.submit(_abuse, bed, kind, until) for kind in KINDS}
        answers = {name: each.result() for name, each in abuse.items()}
        sdiag, native, neighbour = (each.result() for each in others)
    for name, took in (
        ("native before", before),
        ("native", native),
        ("sdiag", sdiag),
        ("others' pods", neighbour),
    ):
        print(f"# {_told(name, took)}", flush=True)
    for name, (made, refused) in answers.items():
        print(f"# {name[4:]}: {made}, refused by Kubernetes: {sorted(refused)}", flush=True)
    assert max(sdiag) < SDIAG_MOST, f"sdiag took {max(sdiag):.2f} s"
    assert max(native) < 3 * max(before) + 2, f"a native job took {max(native):.2f} s"
    assert max(neighbour) < PATIENCE, f"a pod of others got its job after {max(neighbour):.2f} s"
    assert all(made for made, _ in answers.values()), f"nothing was made: {answers}"


def test_owners_of_too_many_unlike_templates_are_told(bed):
    _of_gangs(bed, 6000)
    text = wait_reason(bed, "worst-gang-6000-0", "SlurmRefused")
    assert "more than 32 templates" in text and "worst-gang-6000" in text, text


def test_nothing_is_left(bed):
    _clear(bed)
    wait_no_live_jobs(bed)


SLURM = {
    "pod_partitions": "kube,gpus",
    "extra": [
        "PartitionName=other Nodes=kube DefMemPerCPU=100",
        "NodeName=gpunode NodeAddr=127.0.0.1 CPUs=8 RealMemory=4000 Gres=gpu:2 State=DOWN",
        "PartitionName=gpus Nodes=gpunode",
        "Licenses=abaqus:4",
        "GresTypes=gpu",
        "AllowSpecResourcesUsage=YES",
        "TrackWCKey=YES",
        "SchedulerParameters=bf_interval=2",
    ],
}
ADVERSARY = {
    "name": "default",
    "user": "nobody",
    "group": "nogroup",
    "accounts": ["users", "shared"],
    "partitions": ["kube", "other", "gpus"],
    "reservations": ["night"],
    "wckeys": ["*"],
    "permissions": ["may_set_priority", "may_use_burst_buffer"],
}
AGENT = {
    "namespaces": [ADVERSARY, {"name": "plain", "user": "nobody"}],
    "settings": {"limits": {"condition_interval_seconds": 1}},
}

if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build, kwok=3, workloads=True, slurm_options=SLURM, agent_options=AGENT
        )
    )
