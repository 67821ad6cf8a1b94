# SPDX-License-Identifier: GPL-2.0-or-later
"""What the user of the demo sees: the cluster starts, the Job runs, and both sides are compared.

usage: show.py FRONT BUILDDIR REAL_NODES WHY_NONE KEEP (started by contribs/demo; DEMO is its
directory)

Exit status 0 only if Kubernetes and Slurm agree on every row of the table.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import table

HERE, DEMO = Path(__file__).resolve().parent, Path(os.environ["DEMO"])
CACHE = Path(os.environ["CACHE"])
STARTED = int(os.environ.get("STARTED", time.time()))
PODS = 12


def say(text):
    """Prints progress in the format of the shell scripts."""
    s = int(time.time()) - STARTED
    print(f"[{s // 60:02}:{s % 60:02}] {text}", file=sys.stderr, flush=True)


def step(number, text):
    say(f"--- step {number} of 6: {text}")


class Trouble(Exception):
    """The demo cannot go on; the message says why."""


def run(*command, check=True):
    """Runs one of the commands in DEMO/bin."""
    r = subprocess.run(
        [str(DEMO / "bin" / command[0]), *command[1:]],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if check and r.returncode:
        raise Trouble(f"{' '.join(command)}: {(r.stderr or r.stdout).strip()}")
    return r.stdout


def show(*command):
    """Runs a command and shows both, as if the user had typed it."""
    print("\n$ " + " ".join(f"'{w}'" if set(w) & set(" %|") else w for w in command))
    print(run(*command).rstrip(), flush=True)


class Holder:
    """The process that holds the cluster; it ends with this one unless it is kept."""

    def __init__(self, build, real):
        self.process = subprocess.Popen(
            [sys.executable, "-B", HERE / "hold.py", DEMO, build, real],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def wait_ready(self):
        """Passes on the holder's output. The end of the output means that the cluster is ready, or
        that the holder died.
        """
        telling = threading.Thread(target=self._pass_on, daemon=True)
        telling.start()
        while telling.is_alive():
            telling.join(20)
            if telling.is_alive():
                say("still at it")
        if not (DEMO / "facts").exists():
            raise Trouble("the cluster did not come up; the reasons are above")
        return json.loads((DEMO / "facts").read_text())

    def _pass_on(self):
        for line in self.process.stdout:
            say("    " + line.rstrip())

    def keep(self):
        self.process.stdin.write("keep\n")
        self.process.stdin.flush()

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(300)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def pods():
    return json.loads(run("kubectl", "get", "pods", "-l", "job-name=demo", "-o", "json"))["items"]


def phases(items):
    """The number of pods in each phase; pods without a node count as waiting."""
    count = {"waiting": 0, "starting": 0, "running": 0, "ended": 0}
    for pod in items:
        phase = pod["status"]["phase"]
        bound = "nodeName" in pod["spec"]
        count[
            (
                "running"
                if phase == "Running"
                else (
                    "ended"
                    if phase in ("Succeeded", "Failed")
                    else "starting" if bound else "waiting"
                )
            )
        ] += 1
    return count


def follow(until, what, limit=300):
    """Looks at the pods until a condition holds; prints every change."""
    end, before = time.monotonic() + limit, None
    while time.monotonic() < end:
        count = phases(pods())
        if count != before:
            say("    pods: " + ", ".join(f"{n} {name}" for name, n in count.items()))
        if until(count):
            return
        before = count
        time.sleep(0.2)
    raise Trouble(f"{what}: not within {limit} s")


def submit_and_watch():
    show("kubectl", "apply", "-f", str(HERE / "job.yaml"))
    follow(lambda c: c["running"] == 8 or c["ended"] > 0, "eight pods run")
    show("kubectl", "get", "pods", "-o", "wide")
    show("squeue", "-o", "%.7i %.10P %.16j %.8u %.10T %.6M %.4C %R")
    follow(lambda c: c["ended"] == PODS, "all pods end")


def show_log(rows, facts):
    """Shows the log of the failed pod if it ran in a container, else of the first pod that did."""
    real = [r for r in rows if r.node in facts["real"]]
    if not real:
        print("\nSimulated nodes run no containers: no log to show.")
        return
    show("kubectl", "logs", next((r for r in real if r.index == table.FAILING), real[0]).pod)


USAGE = """
The cluster runs on. To use it:
    export PATH={dir}/bin:$PATH KUBECONFIG={dir}/cp/admin.kubeconfig SLURM_CONF={dir}/slurm.conf
    kubectl get pods,nodes -o wide
    squeue --all; sinfo; scontrol show job
    skube check; skube show pods; skube diag
    kubectl delete job demo; kubectl apply -f {here}/job.yaml
    scancel JOBID                        (the pod goes, too)
    srun -p native hostname              (a native job, on the one node with a slurmd)
The latency from a pod's creation to its binding:  {place}{source}/testsuite/bench/latency.py
To remove it all:  {place}{front} --down
"""


def demo(front, holder, why, keep):
    step(4, "a private Slurm and Kubernetes on 127.0.0.1")
    facts = holder.wait_ready()
    why = why or facts["trouble"]
    step(5, f"a Job of {PODS} pods, of which index {table.FAILING} fails with exit code 3")
    submit_and_watch()
    step(6, "what Kubernetes and Slurm say")
    rows, job = table.wait_settled(run, pods, DEMO)
    print("\n" + table.render(rows, facts))
    show_log(rows, facts)
    wrong = table.faults(rows, facts, job)
    if why:
        print(f"\n{why}: all nodes were simulated.")
    if keep:
        place = f"SLURM_KUBE_DEMO={DEMO} " if os.environ.get("SLURM_KUBE_DEMO") else ""
        usage = USAGE.format(place=place, dir=DEMO, here=HERE, source=HERE.parents[1], front=front)
        (DEMO / "usage").write_text(usage)
        print(usage)
        holder.keep()
    return wrong


def take_down(front, holder, save_logs):
    """Removes everything; keeps the logs of a demo that failed."""
    say("taking everything down")
    holder.stop()
    if save_logs:
        kept = CACHE / "log/demo"
        shutil.rmtree(kept, ignore_errors=True)
        for folder in DEMO.glob("**/log"):
            shutil.copytree(folder, kept / folder.relative_to(DEMO))
        say(f"the logs are kept in {kept}")
    subprocess.run([front, "--down"], stderr=subprocess.DEVNULL, check=False)


def main():
    front, build, real, why, keep = sys.argv[1:6]
    sys.stdout.reconfigure(
        line_buffering=True
    )  # keeps the order relative to the progress on stderr, wherever both go
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.default_int_handler)
    holder = Holder(build, real)
    kept, wrong = False, ["interrupted"]
    try:
        wrong = demo(front, holder, why, keep == "yes")
        kept = keep == "yes"
    except KeyboardInterrupt:
        pass
    except (Trouble, subprocess.TimeoutExpired) as e:
        wrong = [str(e)]
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if not kept:
            take_down(front, holder, wrong not in ([], ["interrupted"]))
    for text in wrong:
        say(f"WRONG: {text}")
    say("the demo did not succeed" if wrong else "done: Kubernetes and Slurm agree on every pod")
    sys.exit(130 if wrong == ["interrupted"] else 1 if wrong else 0)


main()
