# SPDX-License-Identifier: GPL-2.0-or-later
"""Random faults: kill -9 and SIGSTOP of each daemon, sometimes of two at once, and nodes that fail.

Each fault is recorded as a window, from its beginning until the daemon or node is back.
"""
import random
import signal
import threading
import time

from history_checker.faults import Cause
from lib import wait_for
from lib.kubelets import not_ready

from .load import NOT_NOW

PAUSE = 3.0  # mean number of seconds between faults
_never = threading.Event()


class _Own:
    """A daemon that is a child process: slurmctld, agent, munged, slurmdbd, mariadbd."""

    def __init__(self, daemon, start, ready):
        self.daemon, self.start, self.ready = daemon, start, ready

    def kill(self):
        self.daemon.kill9()

    def stop(self):
        self.daemon.signal(signal.SIGSTOP)

    def go_on(self):
        self.daemon.signal(signal.SIGCONT)


class _Component:
    """A component of the control plane."""

    def __init__(self, plane, name):
        self.plane, self.name = plane, name

    def kill(self):
        self.plane.kill9(self.name)

    def stop(self):
        self.plane.freeze(self.name)

    def go_on(self):
        self.plane.thaw(self.name)

    def start(self):
        self.plane.revive(self.name)

    def ready(self):
        return True  # revive has waited already


class Chaos:
    """Injects one fault after the other, in the main thread, because daemons die with the thread
    that started them.
    """

    def __init__(self, bed, deeds, seed, nodes):
        self.bed, self.deeds, self.nodes = bed, deeds, nodes
        self.random = random.Random(f"{seed} chaos")
        self.kills, self.stops, self.by_name, self.trouble = 0, 0, {}, []
        s = bed.slurm
        self.targets = {
            "slurmctld": _Own(
                s.slurmctld,
                s.slurmctld.start,
                lambda: " is UP" in s.run("scontrol", "ping", check=False, timeout=5),
            ),
            "slurmkubed": _Own(bed.agent.daemon, lambda: bed.agent.start(wait=False), lambda: True),
            "munged": _Own(
                s.munged, s.munged.start, lambda: s.run("scontrol", "ping", check=False, timeout=5)
            ),
            "kube-apiserver": _Component(bed.plane, "kube-apiserver"),
            "etcd": _Component(bed.plane, "etcd"),
        }
        a = s.accounting
        if a:
            self.targets["mariadbd"] = _Own(a.mariadbd, a.mariadbd.start, a.database_answers)
            self.targets["slurmdbd"] = _Own(
                a.slurmdbd,
                a.slurmdbd.start,
                lambda: s.run("sacctmgr", "-nP", "show", "cluster", check=False, timeout=10),
            )

    def run(self, seconds, progress):
        faults = [
            (self.kill, 12),
            (self.kill_two, 3),
            (self.freeze, 5),
            (self.node_not_ready, 1),
            (self.node_down, 1),
        ]
        choices, weights = zip(*faults)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            _never.wait(min(self.random.expovariate(1 / PAUSE), max(0.0, end - time.monotonic())))
            fault = self.random.choices(choices, weights)[0]
            numbers = random.Random(self.random.random())
            try:
                fault(numbers)
            except (AssertionError, *NOT_NOW) as e:
                self.trouble.append(f"{fault.__name__}: {e}")
            progress(end - time.monotonic())

    def _window(self, what):
        self.deeds.windows.append([time.time(), None, what])
        return self.deeds.windows[-1]

    def _down(self, names, seconds):
        for name in names:
            self.targets[name].kill()
            self.kills += 1
            self.by_name[name] = self.by_name.get(name, 0) + 1
        _never.wait(seconds)
        for name in sorted(
            names
        ):  # in the order of dependencies: etcd, kube-apiserver; mariadbd, slurmdbd
            self.targets[name].start()
        for name in names:
            wait_for(self.targets[name].ready, f"{name} to be back", 90, 0.2)

    def kill(self, numbers, count=1):
        names = numbers.sample(sorted(self.targets), count)
        window = self._window(f"kill -9 {' and '.join(names)}")
        try:
            self._down(names, numbers.choice([0, 0, 0.5, 1, 3]))
        finally:
            window[1] = time.time()

    def kill_two(self, numbers):
        self.kill(numbers, 2)

    def freeze(self, numbers):
        name = numbers.choice(sorted(self.targets))
        window = self._window(f"SIGSTOP {name}")
        self.targets[name].stop()
        self.stops += 1
        try:
            _never.wait(numbers.choice([0.5, 1, 2, 4, 8]))
        finally:
            self.targets[name].go_on()
            window[1] = time.time()

    def node_not_ready(self, numbers):
        """Freezes kwok meanwhile, which would report Ready at once."""
        node = numbers.choice(self.nodes)
        window = self._window(f"{node} NotReady")
        self.deeds.causes.append(Cause(time.time(), "node failure", node=node))
        self.bed.plane.freeze("kwok")
        try:
            not_ready(self.bed, node)
            _never.wait(numbers.choice([1, 4, 6]))
        finally:
            self.bed.plane.thaw("kwok")
            window[1] = time.time()

    def node_down(self, numbers):
        """Sets a node DOWN in Slurm, as an administrator does."""
        node = numbers.choice(self.nodes)
        window = self._window(f"{node} DOWN")
        self.deeds.causes.append(Cause(time.time(), "node failure", node=node))
        try:
            self.bed.slurm.run(
                "scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=torture", timeout=20
            )
            _never.wait(numbers.choice([0, 1, 3]))
        finally:
            self.bed.slurm.run(
                "scontrol", "update", f"NodeName={node}", "State=RESUME", check=False, timeout=20
            )
            window[1] = time.time()
