#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""`skube selftest` with the administrator's kubectl and this Slurm's commands: what it says of a
pod that runs, and of one that cannot. A simulated node, and a real one if the machine can run
kubelets. The command must never leave a pod or a job behind.
"""
import json
import os
import signal
import subprocess
import threading

from lib import Cluster, equal, run, wait_for
from lib.admin import skube, skube_command
from lib.expect import LIVE, jobs_by_uid, wait_no_live_jobs
from lib.kubelets import end_pod
from lib.manifests import IMAGE

STEPS = ["agent", "pod", "job", "start", "bind", "run", "end", "agree", "clean"]
LONG = "300"  # seconds; only a defect takes so long
LABEL = "app.kubernetes.io/name=skube-selftest"
SHORT = "5"  # seconds; the step cannot succeed


def _selftest(bed, *options):
    return skube(bed, "selftest", *options)


def _test_pods(bed):
    with bed.kube.changed:
        return [n for n in bed.kube.now["Pod"] if "/skube-selftest-" in n]


def _nothing_is_left(bed):
    bed.kube.wait(lambda: not _test_pods(bed), "the pods of the test to be gone")
    wait_no_live_jobs(bed)


def _ends_the_pod(bed):
    """Does on the simulated node what the program `true` does on a real one."""

    def end():
        (name,) = bed.kube.wait(lambda: _test_pods(bed), "a pod of the test")
        bed.kube.wait_phase(name, "Running")
        end_pod(bed, name)

    thread = threading.Thread(target=end, daemon=True)
    thread.start()
    return thread


def _failed(bed, step, *options):
    """The last two steps of a test that must fail at that step: the failed one and the cleanup."""
    done = _selftest(bed, "-o", "json", *options)
    report = json.loads(done.stdout)
    equal((done.returncode, report["ok"]), (1, False), done.stdout + done.stderr)
    names = [one["name"] for one in report["steps"]]
    wanted = STEPS[: STEPS.index(step) + 1] + (["clean"] if step != "agent" else [])
    equal(names, wanted, done.stdout)
    equal([one["name"] for one in report["steps"] if not one["ok"]], [step], done.stdout)
    _nothing_is_left(bed)
    return next(one for one in report["steps"] if not one["ok"])


def _said(step):
    return [f"{line['about']}: {line['text']}" for line in step["lines"]]


def _namespace(bed, name, labels=None, annotations=None):
    metadata = {"name": name, "labels": labels or {}, "annotations": annotations or {}}
    bed.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    bed.plane.default_account(name)


def test_each_step_is_named_with_its_time(bed):
    """A pod in a namespace that admits only restricted pods. The report has each step, and Slurm
    has the job that it names, of the namespace's user.
    """
    _namespace(bed, "strict", {"pod-security.kubernetes.io/enforce": "restricted"})
    thread = _ends_the_pod(bed)
    done = _selftest(bed, "-n", "strict", "--timeout", LONG, "-o", "json")
    thread.join()
    equal(done.returncode, 0, done.stdout + done.stderr)
    report = json.loads(done.stdout)
    assert report["ok"] and report["pod"].startswith("strict/skube-selftest-"), report
    equal([one["name"] for one in report["steps"]], STEPS)
    assert all(one["ok"] and one["seconds"] >= 0 for one in report["steps"]), report
    (text,) = [one["text"] for one in report["steps"] if one["name"] == "end"]
    number = int(text.split()[1])
    equal(text, f"job {number} COMPLETED 0:0")
    job = bed.slurm.jobs()[number]
    equal((job["JobState"], job["UserId"].partition("(")[0]), ("COMPLETED", "nobody"))
    _nothing_is_left(bed)


def test_a_drained_node(bed):
    """The job waits for its start until the time is over. The report has Slurm's reason, and what
    shows the nodes.
    """
    node = bed.names[0]
    bed.slurm.run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=planted")
    try:
        step = _failed(bed, "start", "--timeout", SHORT)
    finally:
        bed.slurm.run("scontrol", "update", f"NodeName={node}", "State=RESUME")
    assert "is pending, reason " in step["text"] and f"after {SHORT} s" in step["text"], step
    assert any(line.startswith("waits for: ") for line in _said(step)), step
    assert any("skube show nodes" in remedy for remedy in step["remedies"]), step


def test_an_unknown_user(bed):
    """The namespace's annotation names a user that this machine does not have."""
    _namespace(
        bed, "lost", {"by-annotation": "yes"}, {"identity.slurm-kube.io/user": "no-such-user"}
    )
    step = _failed(bed, "job", "-n", "lost", "--timeout", SHORT)
    assert any("no-such-user" in line for line in _said(step)), step
    assert any("identity rules" in remedy for remedy in step["remedies"]), step


def test_a_missing_namespace(bed):
    """kubectl refuses the pod: its own message is on standard error."""
    done = _selftest(bed, "-n", "nowhere")
    equal(done.returncode, 1, done.stdout + done.stderr)
    assert "FAIL  pod " in done.stdout and '"nowhere" not found' in done.stderr, done
    assert "-> correct what kubectl says; kubectl auth can-i create pods -n nowhere" in done.stdout


def test_an_interrupt_leaves_nothing(bed):
    """SIGINT to the whole group of processes, as a terminal sends it, while the pod waits."""
    node = bed.names[0]
    bed.slurm.run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=planted")
    with subprocess.Popen(
        skube_command(bed, "selftest", "--timeout", LONG),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as child:
        bed.kube.wait(lambda: _test_pods(bed), "a pod of the test")
        wait_for(lambda: _live(bed), "its job")
        os.killpg(child.pid, signal.SIGINT)
        text = child.communicate(timeout=120)[0]
    bed.slurm.run("scontrol", "update", f"NodeName={node}", "State=RESUME")
    equal(child.returncode, 1, text)
    assert "interrupted" in text and "ok    clean" in text, text
    _nothing_is_left(bed)


def test_a_killed_test_is_removed_by_label(bed):
    """kill -9 leaves the pod; the command of the manual page removes it."""
    node = bed.names[0]
    bed.slurm.run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=planted")
    with subprocess.Popen(
        skube_command(bed, "selftest", "--timeout", LONG), stdout=subprocess.DEVNULL
    ) as child:
        bed.kube.wait(lambda: _test_pods(bed), "a pod of the test")
        wait_for(lambda: _live(bed), "its job")
        child.kill()
    bed.plane.kubectl("delete", "pods", "-l", LABEL)
    _nothing_is_left(bed)
    bed.slurm.run("scontrol", "update", f"NodeName={node}", "State=RESUME")


def _live(bed):
    return [j for jobs in jobs_by_uid(bed).values() for j in jobs if j["JobState"] in LIVE]


def test_a_real_container(bed):
    """On a real kubelet the program ends by itself, and each line has its time. An image that
    cannot be pulled is named with the kubelet's reason.
    """
    skube_command(bed)  # is skipped before it starts the node
    bed.plane.real_node("real-1", FAKE_CPUS=4)
    bed.sync_nodes(["real-1"])
    node = bed.names[0]
    bed.slurm.run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=planted")
    done = _selftest(bed, "--image", IMAGE, "--timeout", LONG)
    equal(done.returncode, 0, done.stdout + done.stderr)
    lines = done.stdout.splitlines()
    equal([line.split()[:2] for line in lines], [["ok", step] for step in STEPS])
    assert all(line.endswith(" s)") for line in lines), done.stdout
    assert "started on node real-1" in done.stdout, done.stdout
    step = _failed(bed, "run", "--image", "127.0.0.1:1/none:1", "--timeout", LONG)
    assert "the container waits: ImagePullBackOff: " in step["text"], step
    assert any("now 127.0.0.1:1/none:1" in remedy for remedy in step["remedies"]), step
    bed.slurm.run("scontrol", "update", f"NodeName={node}", "State=RESUME")


def test_no_link(bed):
    """slurmctld is down: the test says so and creates no pod."""
    bed.slurm.slurmctld.stop()
    try:
        wait_for(lambda: not bed.agent.skube_all("ping")["link"], "the agent to miss slurmctld")
        done = _selftest(bed, "--timeout", SHORT)
    finally:
        bed.slurm.start_slurmctld()
    equal(done.returncode, 1, done.stdout + done.stderr)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("FAIL  agent ") and "not connected with slurmctld" in lines[0], lines
    assert any("-> skube check fails: slurmctld: " in line for line in lines), lines
    assert not any(" pod " in line for line in lines if line.startswith("ok")), lines
    bed.agent.wait_ready()


if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build,
            kwok=1,
            agent_options={
                "namespaces": [
                    {"namespace": "default", "user": "root"},
                    {"namespace": "strict", "user": "nobody"},
                    {
                        "namespace": "lost",
                        "user_from": "identity.slurm-kube.io/user",
                    },
                ]
            },
        )
    )
