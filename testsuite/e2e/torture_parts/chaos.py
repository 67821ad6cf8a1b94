# SPDX-License-Identifier: GPL-2.0-or-later
"""Random faults: kill -9 and SIGSTOP of each daemon, sometimes of two at once, and nodes that fail.

Each fault is recorded as a window, from its beginning until the daemon or node is back, with the
clusters that it concerns: a fault of one cluster excuses nothing in another.
"""
import random
import signal
import threading
import time

from history_checker.faults import Cause
from lib import wait_for
from lib.kubelets import not_ready

from .load import NOT_NOW
from .testbed import title

PAUSE = 3.0  # mean number of seconds between faults
_never = threading.Event()


class _Own:
    """A daemon that is a child process: slurmctld, agent, munged, slurmdbd, mariadbd. sides: the
    clusters that its absence disturbs.
    """

    def __init__(self, sides, daemon, start, ready):
        self.sides, self.daemon, self.start, self.ready = sides, daemon, start, ready

    def kill(self):
        self.daemon.kill9()

    def stop(self):
        self.daemon.signal(signal.SIGSTOP)

    def go_on(self):
        self.daemon.signal(signal.SIGCONT)


class _Component:
    """A component of a control plane."""

    def __init__(self, side, name):
        self.sides, self.plane, self.name = [side], side.bed.plane, name

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


def _targets_of_slurm(slurm, sides):
    """{name: target} of the daemons that all clusters share."""

    def pings():
        return slurm.run("scontrol", "ping", check=False, timeout=5)

    def accounts():
        return slurm.run("sacctmgr", "-nP", "show", "cluster", check=False, timeout=10)

    ctld, munged, a = slurm.slurmctld, slurm.munged, slurm.accounting
    targets = {
        "slurmctld": _Own(sides, ctld, ctld.start, lambda: " is UP" in pings()),
        "munged": _Own(sides, munged, munged.start, pings),
    }
    if a:
        targets["mariadbd"] = _Own(sides, a.mariadbd, a.mariadbd.start, a.database_answers)
        targets["slurmdbd"] = _Own(sides, a.slurmdbd, a.slurmdbd.start, accounts)
    return targets


def _targets_of(side):
    """{name: target} of the daemons of one cluster."""
    agent = side.bed.agent
    targets = {
        "slurmkubed": _Own([side], agent.daemon, lambda: agent.start(wait=False), lambda: True),
        **{name: _Component(side, name) for name in ("kube-apiserver", "etcd")},
    }
    return {title(side.bed, name): target for name, target in targets.items()}


class Chaos:
    """Injects one fault after the other, in the main thread, because daemons die with the thread
    that started them.
    """

    def __init__(self, slurm, sides, seed):
        self.slurm, self.sides = slurm, sides
        self.nodes = [(side, name) for side in sides for name in side.bed.names]
        self.random = random.Random(f"{seed} chaos")
        self.kills, self.stops, self.by_name, self.trouble = 0, 0, {}, []
        self.targets = _targets_of_slurm(slurm, sides)
        for side in sides:
            self.targets |= _targets_of(side)

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

    @staticmethod
    def _window(what, sides):
        window = [time.time(), None, what]
        for side in sides:
            side.deeds.windows.append(window)
        return window

    def _disturbed_by(self, names):
        return [s for s in self.sides if any(s in self.targets[name].sides for name in names)]

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
        window = self._window(f"kill -9 {' and '.join(names)}", self._disturbed_by(names))
        try:
            self._down(names, numbers.choice([0, 0, 0.5, 1, 3]))
        finally:
            window[1] = time.time()

    def kill_two(self, numbers):
        self.kill(numbers, 2)

    def freeze(self, numbers):
        name = numbers.choice(sorted(self.targets))
        window = self._window(f"SIGSTOP {name}", self._disturbed_by([name]))
        self.targets[name].stop()
        self.stops += 1
        try:
            _never.wait(numbers.choice([0.5, 1, 2, 4, 8]))
        finally:
            self.targets[name].go_on()
            window[1] = time.time()

    def _failure_of_a_node(self, numbers, what):
        """Its side, its names in Kubernetes and in Slurm, and the window."""
        side, node = numbers.choice(self.nodes)
        record = side.bed.prefix + node
        window = self._window(f"{record} {what}", [side])
        side.deeds.causes.append(Cause(time.time(), "node failure", node=node))
        return side, node, record, window

    def node_not_ready(self, numbers):
        """Freezes kwok meanwhile, which would report Ready at once."""
        side, node, _, window = self._failure_of_a_node(numbers, "NotReady")
        side.bed.plane.freeze("kwok")
        try:
            not_ready(side.bed, node)
            _never.wait(numbers.choice([1, 4, 6]))
        finally:
            side.bed.plane.thaw("kwok")
            window[1] = time.time()

    def _set(self, record, state, *words, **options):
        self.slurm.run(
            "scontrol",
            "update",
            f"NodeName={record}",
            f"State={state}",
            *words,
            timeout=20,
            **options,
        )

    def node_down(self, numbers):
        """Sets a node DOWN in Slurm, as an administrator does."""
        _, _, record, window = self._failure_of_a_node(numbers, "DOWN")
        try:
            self._set(record, "DOWN", "Reason=torture")
            _never.wait(numbers.choice([0, 1, 3]))
        finally:
            self._set(record, "RESUME", check=False)
            window[1] = time.time()
