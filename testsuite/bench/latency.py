#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a pod waits on an idle cluster: created -> bound, one pod at a time, by the API server's
own clock.

usage: latency.py [BUILDDIR | --demo] [PODS]

--demo measures on the cluster that `contribs/demo --keep` left running, BUILDDIR on a private one
with eight simulated nodes. Without either, it measures on the kept demo if there is one, else it
starts a demo, measures, and removes it. PODS is 200. The API server's audit log has the times, in
microseconds, at which the request to create a pod arrived and the request to bind it was answered.
Prints one line of JSON; progress goes to stderr.
"""
import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "testsuite/e2e"))

from lib import Cluster, ControlPlane, pod, wait_for  # noqa: E402
from records.audit_log import Audit  # noqa: E402

DEMO = Path(os.environ.get("SLURM_KUBE_DEMO") or "/var/tmp/slurm-kube-demo")
FRONT = SOURCE / "contribs/demo"


def say(text):
    print(text, file=sys.stderr, flush=True)


def on_demo(pods):
    """Measures on the kept demo, whose own commands reach its Slurm."""
    plane = ControlPlane(DEMO / "cp", json.loads((DEMO / "facts").read_text())["port"])
    plane.kube = plane.client("admin")
    plane.kube.start_watching()

    def run(*command):
        return subprocess.run(
            [DEMO / "bin" / command[0], *command[1:]], capture_output=True, text=True, check=True
        ).stdout

    real = ",".join(json.loads((DEMO / "facts").read_text())["real"])
    if not real:
        return measure(plane.kube, run, DEMO / "audit.log", pods)
    # Meanwhile Slurm prefers the simulated nodes: the work of real kubelets after a binding would
    # make the run ten times longer without affecting the result.
    run("scontrol", "update", f"NodeName={real}", "Weight=1000")
    try:
        return measure(plane.kube, run, DEMO / "audit.log", pods)
    finally:
        run("scontrol", "update", f"NodeName={real}", "Weight=1")


def on_own_demo(pods):
    subprocess.run([FRONT, "--keep"], check=True, stdout=sys.stderr)
    try:
        return on_demo(pods)
    finally:
        subprocess.run([FRONT, "--down"], check=True)


def on_build(build, pods):
    cluster = Cluster(build, kwok=8, plane_env={})
    log = cluster.dir / "audit.log"
    cluster.plane.env["APISERVER_ARGS"] = (
        f"--audit-policy-file={SOURCE}/testsuite/bench/latency-audit-policy.yaml"
        f" --audit-log-path={log}"
    )
    with cluster:
        return measure(cluster.kube, cluster.slurm.run, log, pods)


def one_pod(kube, run, name):
    """The whole life of a pod; the cluster is idle again afterwards."""
    kube.create(pod(name, kwok={"run": "0s"}, shell="exit 0"))
    kube.wait_phase(name, "Succeeded")
    wait_for(
        lambda: not run("squeue", "--noheader", "--partition=kube"),
        "Slurm to know the end",
        every=0.02,
    )
    kube.delete("Pod", name)
    kube.wait_gone(name)


def measure(kube, run, log, pods):
    prefix = f"latency-{os.getpid()}-"
    wait_for(lambda: not run("squeue", "--noheader"), "an idle Slurm", 60)
    for i in range(pods):
        one_pod(kube, run, f"{prefix}{i}")
        if (i + 1) % 50 == 0:
            say(f"{i + 1} of {pods} pods")
    return summary(waits(log, prefix), pods)


def waits(log, prefix):
    """The wait of each pod, in milliseconds."""
    audit = Audit(log)
    created, bound = audit.creations(prefix), audit.bindings(prefix)
    return [(bound[n].answered - created[n].received) * 1000 for n in created if n in bound]


def summary(ms, pods):
    if len(ms) != pods:
        sys.exit(f"the audit log has {len(ms)} of {pods} pods")
    ms.sort()

    def percentile(p):
        return round(ms[max(0, math.ceil(p / 100 * len(ms)) - 1)], 2)

    return {
        "p50_ms": percentile(50),
        "p99_ms": percentile(99),
        "n": len(ms),
        "mean_ms": round(statistics.fmean(ms), 2),
        "max_ms": percentile(100),
    }


def main():
    words = sys.argv[1:]
    pods = int(words.pop()) if words and words[-1].isdigit() else 200
    if len(words) > 1 or (
        words and words[0] != "--demo" and not (Path(words[0]) / "slurm.env").exists()
    ):
        sys.exit(__doc__)
    if words and words[0] != "--demo":
        result = on_build(words[0], pods)
    elif words or (DEMO / "facts").exists():
        result = on_demo(pods)
    else:
        result = on_own_demo(pods)
    print(json.dumps(result))


main()
