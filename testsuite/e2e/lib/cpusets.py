# SPDX-License-Identifier: GPL-2.0-or-later
"""Which processors processes on a hybrid node may use: those of pods' containers, and those of
native jobs' steps. Read from the machine's cgroups (version 1) and /proc, not from what any program
says.
"""
import os
import re
import threading
import time
from contextlib import suppress
from pathlib import Path

CPUSETS = Path("/sys/fs/cgroup/cpuset")
POD = re.compile(r"/pod([0-9a-f-]{36})/")
STEP = re.compile(r"/job_(\d+)/step_(\w+)")


def status_of(pid, key):
    """A line of /proc/PID/status; None: there is no such process."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return None
    found = re.search(rf"(?m)^{key}:\s*(.*)$", text)
    return found[1] if found else None


def _words(pid):
    """The command line; empty: the process has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    return []


def is_program(pid):
    """Not the sandbox's own process, not conmon, which CRI-O may put beside a container, and not
    runc, which joins the container's cgroup before it sets the cgroup's processors, and executes
    the container's program after that.
    """
    program, *words = _words(pid) or [""]
    is_runc = program.endswith("/runc") and words[:1] == ["init"]
    return bool(program) and not is_runc and status_of(pid, "Name") not in ("pause", "conmon")


def numbers(cpus):
    """ "0-1,3" as a set of numbers."""
    found = set()
    for part in filter(None, cpus.split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def cpuset_of_job(node, job):
    """What slurmd gave the job; None: nothing yet, or no longer."""
    with suppress(OSError):
        for file in CPUSETS.glob(f"slurm_{node}/uid_*/job_{job}/cpuset.cpus"):
            return file.read_text().strip() or None
    return None


def _processes_below(root):
    """(the cgroup's path, process) of all processes below. What goes meanwhile is left out."""
    for folder, _, _ in os.walk(root):
        with suppress(OSError):
            for pid in Path(folder, "cgroup.procs").read_text(encoding="ascii").split():
                yield folder, int(pid)


def processes_of_pods(root):
    """{pod uid: {process}} without the sandboxes' own."""
    found = {}
    for path, pid in _processes_below(root / "kubepods"):
        owner = POD.search(path)
        if owner and is_program(pid):
            found.setdefault(owner[1], set()).add(pid)
    return found


def processes_of_jobs(node):
    """{job: {process}} of the steps of native jobs. slurmstepd itself is the system's."""
    found = {}
    for path, pid in _processes_below(CPUSETS / f"slurm_{node}"):
        owner = STEP.search(path)
        if owner and owner[2] != "extern" and status_of(pid, "Name") != "slurmstepd":
            found.setdefault(int(owner[1]), set()).add(pid)
    return found


def sets_of(processes):
    """{owner: {process}} as {owner: the processors that one of its processes may use}."""
    found = {}
    for owner, pids in processes.items():
        cpus = {status_of(pid, "Cpus_allowed_list") for pid in pids} - {None}
        if cpus:
            found[owner] = set().union(*map(numbers, cpus))
    return found


def described(pid):
    """What a failure says about a process."""
    return f"{pid} {' '.join(_words(pid))}on {status_of(pid, 'Cpus_allowed_list')}"


class Sampler:
    """with Sampler(NODE, ROOT) as sampler: looks each 10 ms whether a pod below the cgroup ROOT
    shares a processor, which is not one of systems, with another pod or with a native job. (Native
    jobs may share one when slurmd is killed: 24.11.5 does not wait for their steps then.)
    """

    def __init__(self, node, root, systems=(), pause=0.01):
        self.node, self.root, self.systems, self.pause = node, root, set(systems), pause
        self.looks, self.together, self.shared, self.error = 0, 0, [], None
        self._ends, self._thread = threading.Event(), threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, kind, *_):
        self._ends.set()
        self._thread.join()
        if self.error and not kind:
            raise self.error

    def _run(self):
        try:
            while not self._ends.wait(self.pause):
                self.look()
        except Exception as e:  # pylint: disable=broad-exception-caught # raised at the end
            self.error = e

    def sets_of(self, processes):
        """{owner: what it has for itself}"""
        return sets_of(processes)

    def look(self):
        processes = {
            **processes_of_pods(self.root),
            **processes_of_jobs(self.node),
        }
        sets = sorted(self.sets_of(processes).items(), key=str)
        self.looks += 1
        self.together += len({type(owner) for owner, _ in sets}) == 2
        for at, (one, cpus) in enumerate(sets):
            for other, others in sets[at + 1 :]:
                is_pod = isinstance(one, str) or isinstance(other, str)
                if is_pod and (cpus & others) - self.systems:
                    self.shared.append(
                        (time.time(), *(list(map(described, processes[o])) for o in (one, other)))
                    )
