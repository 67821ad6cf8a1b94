# SPDX-License-Identifier: GPL-2.0-or-later
"""What the cases do with the node: pods, jobs, and the processes in the cgroups of both. Processes
and their processors are read from the kernel, not from what any program says.
"""
import functools
import http.client
import json
import os
import re
import ssl
import subprocess
import time
from contextlib import suppress
from pathlib import Path

SYSTEM = {0}  # SystemCpus
GROUPS = Path("/sys/fs/cgroup")
NODE = os.uname().nodename
RUNTIME = os.environ["RUNTIME"]  # containerd or crio
OCI_RUNTIME = os.environ["OCI_RUNTIME"]  # runc or crun
SLURM = GROUPS / f"system.slice/{NODE}_slurmstepd.scope"
ADDRESS = "10.0.2.15"
AGENT = "system:serviceaccount:slurm-kube:slurmkubed"
NOTE = "allocation.slurm-kube.io/"
SLOW = 300  # seconds; the kubelet repeats a refused creation after 12 to 15 s
PKI = "/srv/control-plane/pki"
PODS = "/api/v1/namespaces/default/pods"


def run(*command, stdin=None, check=True):
    """The output of a command."""
    done = subprocess.run(
        [str(word) for word in command], input=stdin, capture_output=True, text=True, check=False
    )
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout + ("" if check else done.stderr)


def wait_for(what, condition, timeout=SLOW):
    """Returns the first value that is true."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {timeout} s in vain for {what}: {value!r}")
        time.sleep(0.5)


def equal(seen, expected, what=""):
    assert seen == expected, f"{what}: saw {seen!r}, expected {expected!r}"


def said_in(text, said):
    assert re.search(text, said), f"no {text!r} in: {said}"


# ---- Kubernetes ----


@functools.cache
def _tls():
    context = ssl.create_default_context(cafile=f"{PKI}/ca.crt")
    context.load_cert_chain(f"{PKI}/admin.crt", f"{PKI}/admin.key")
    return context


@functools.cache
def _server():
    text = Path("/srv/control-plane/admin.kubeconfig").read_text(encoding="utf-8")
    return re.search(r"server: https://(\S+)", text)[1]


def ask(method, path, body=None, server=None, **headers):
    """The status and the decoded answer of the API server, or of the kubelet. kubectl would take
    most of a second for each question where the processors are emulated.
    """
    link = http.client.HTTPSConnection(server or _server(), context=_tls(), timeout=60)
    headers = {"Content-Type": "application/json", **headers}
    link.request(method, path, json.dumps(body) if body else None, headers)
    answer = link.getresponse()
    text = answer.read()
    link.close()
    return answer.status, json.loads(text)


def kubelet_says(path):
    """An answer of the kubelet's own server."""
    return ask("GET", f"/{path}", server=f"{ADDRESS}:10250")[1]


# ---- pods ----


def make_pod(name, shell="sleep 3600", scheduler="slurm", memory="64Mi", notes=None, **spec):
    """One container with one processor; without a scheduler it is bound by other means."""
    resources = {"requests": {"cpu": "1", "memory": memory}} if scheduler == "slurm" else {}
    container = {
        "name": "main",
        "image": "docker.io/slurm-kube/box:1",
        "imagePullPolicy": "Never",
        "command": ["/bin/sh", "-c", shell],
        "resources": {**resources, **spec.pop("resources", {})},
        **spec.pop("container", {}),
    }
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "annotations": notes or {}},
        "spec": {
            "schedulerName": scheduler,
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 5,
            "tolerations": [{"operator": "Exists"}],
            "containers": [container],
            **spec,
        },
    }
    status, answer = ask("POST", PODS, manifest)
    equal(status, 201, str(answer))


def bind(name, notes, as_user=AGENT):
    """As the agent does it, by default. The status and the answer."""
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name, "namespace": "default", "annotations": notes},
        "target": {"kind": "Node", "name": NODE},
    }
    headers = {"Impersonate-User": as_user} if as_user else {}
    return ask("POST", f"{PODS}/{name}/binding", binding, **headers)


def pod(name):
    """None: there is no such pod."""
    status, answer = ask("GET", f"{PODS}/{name}")
    return answer if status == 200 else None


def phase(name):
    return (pod(name) or {"status": {"phase": "gone"}})["status"]["phase"]


def waiting(name):
    """Why the container is not created."""
    statuses = (pod(name) or {"status": {}})["status"].get("containerStatuses", [])
    return " ".join(s["state"].get("waiting", {}).get("message", "") for s in statuses)


def wait_running(name):
    """Returns the processors of the pod's processes."""
    wait_for(f"pod {name} to run", lambda: phase(name) == "Running", SLOW)
    return wait_for(f"processes of {name}", lambda: cpus_of(pod_processes(name)))


def wait_refused(name, text):
    wait_for(f"{name} to be refused with {text!r}", lambda: re.search(text, waiting(name)), SLOW)
    equal(pod_processes(name), set(), "processes of a refused container")


def delete(name, grace=None):
    query = "" if grace is None else f"?gracePeriodSeconds={grace}"
    ask("DELETE", f"{PODS}/{name}{query}")
    wait_for(f"pod {name} to be gone", lambda: pod(name) is None, SLOW)


def job_of(name):
    notes = pod(name)["metadata"].get("annotations", {})
    return int(notes[f"{NOTE}job-id"])


def pod_slice(name):
    """The cgroup of the pod. None: there is none."""
    seen = pod(name)
    if not seen:
        return None
    uid = seen["metadata"]["uid"].replace("-", "_")
    found = list(GROUPS.glob(f"kubepods.slice/**/*-pod{uid}.slice"))
    return found[0] if found else None


def programs_in(group):
    """Without pause, and without runc before it becomes the program."""
    return {pid for pid in processes_below(group) if is_program(pid)} if group else set()


def pod_processes(name):
    return programs_in(pod_slice(name))


def exec_in(name, *command):
    """In the pod's container, as kubectl exec does."""
    (status,) = pod(name)["status"]["containerStatuses"]
    container = status["containerID"].partition("://")[2]
    if RUNTIME == "crio":
        root = ("--root", f"/run/{OCI_RUNTIME}")
        return run(OCI_RUNTIME, *root, "exec", container, *command, check=False)
    ctr = ("ctr", "-n", "k8s.io", "tasks", "exec", "--exec-id", f"x{time.monotonic_ns()}")
    return run(*ctr, container, *command, check=False)


# ---- processes ----


def processes_below(group):
    found = set()
    for folder, _, _ in os.walk(group):
        with suppress(OSError):
            found |= {int(p) for p in Path(folder, "cgroup.procs").read_text().split()}
    return found


def status_of(pid, key):
    with suppress(OSError):
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        return re.search(rf"(?m)^{key}:\s*(.*)$", text)[1]
    return None


def is_program(pid):
    return status_of(pid, "Name") not in (None, "pause", "runc", "crun", "runc:[2:INIT]", "conmon")


def numbers(cpus):
    found = set()
    for part in filter(None, cpus.split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def cpus_of(pids):
    sets = {status_of(pid, "Cpus_allowed_list") for pid in pids} - {None}
    return set().union(*map(numbers, sets))


# ---- Slurm ----


def native(wrap="exec srun --exact sleep 3600", cpus=1, *options):
    """A batch job of root; returns its number."""
    return int(
        run(
            "sbatch",
            "--parsable",
            f"-c{cpus}",
            "--mem=100",
            "--output=/tmp/native-%j.out",
            *options,
            f"--wrap={wrap}",
        )
    )


def state(job):
    return run("squeue", "-h", "-a", f"-j{job}", "-o%T", check=False).strip()


def wait_state(job, wanted, timeout=SLOW):
    wait_for(f"job {job} to be {wanted}", lambda: state(job) == wanted, timeout)


def cancel(job):
    run("scancel", job, check=False)


def node_state():
    return re.search(r" State=(\S+)", run("scontrol", "-o", "show", "node", NODE))[1]


def wait_idle(timeout=SLOW):
    wait_for("the node to be idle", lambda: node_state() == "IDLE", timeout)


def job_cpuset(job):
    """What slurmd has given to the job."""
    with suppress(OSError):
        return numbers((SLURM / f"job_{job}/cpuset.cpus").read_text().strip())
    return None


def job_processes(job):
    """Of its steps, without slurmstepd and the extern step."""
    found = set()
    for step in (SLURM / f"job_{job}").glob("step_*"):
        if step.name != "step_extern":
            found |= {p for p in processes_below(step) if status_of(p, "Name") != "slurmstepd"}
    return found


def sweep():
    """Ends all pods and jobs."""
    for one in ask("GET", PODS)[1]["items"]:
        delete(one["metadata"]["name"], 1)
    for job in run("squeue", "-h", "-a", "-o%A").split():
        cancel(job)
    wait_idle()


# ---- units ----


def main_pid(unit):
    return int(run("systemctl", "show", "-P", "MainPID", unit))


def is_active(unit):
    return run("systemctl", "is-active", unit, check=False).strip() == "active"


def kill_unit(unit):
    """SIGKILL to its main process; systemd starts it again."""
    before = main_pid(unit)
    os.kill(before, 9)
    wait_for(
        f"systemd to start {unit} again",
        lambda: is_active(unit) and main_pid(unit) not in (0, before),
    )


def connected():
    """Whether slurmkube-node says that it is."""
    return "connected" in run("systemctl", "show", "-P", "StatusText", "slurmkube-node")
