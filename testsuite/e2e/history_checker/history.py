# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the recorder's file: events in the order of their resourceVersion, and pods with all events
of each.
"""
import json
import re
from dataclasses import dataclass, field

JOB_ID = "allocation.slurm-kube.io/job-id"
GANG = "allocation.slurm-kube.io/gang"
RANK = "allocation.slurm-kube.io/rank"
_UNITS = {
    "": 1,
    "m": 1e-3,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
}


def amount(text):
    """A Kubernetes quantity as a number."""
    digits, unit = re.fullmatch(
        r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)", str(text)
    ).groups()
    return float(digits) * _UNITS[unit]


@dataclass
class Event:
    """One change. rv: its position in the order of all changes; at: when the recorder received it,
    which is never before it happened.
    """

    rv: int
    at: float
    kind: str
    what: str  # ADDED, MODIFIED, DELETED
    thing: dict

    @property
    def uid(self):
        return self.thing["metadata"]["uid"]

    @property
    def name(self):
        return self.thing["metadata"]["name"]

    @property
    def node(self):
        return self.thing["spec"].get("nodeName", "")

    @property
    def phase(self):
        return self.thing["status"].get("phase", "Pending")

    @property
    def terminal(self):
        return self.phase in ("Succeeded", "Failed")

    @property
    def deleting(self):
        return "deletionTimestamp" in self.thing["metadata"]

    @property
    def job(self):
        """The Slurm job named by the binding, or 0."""
        number = self.thing["metadata"].get("annotations", {}).get(JOB_ID, "0")
        return 0 if number == "native" else int(number)  # without a job of its own

    def annotation(self, key):
        return self.thing["metadata"].get("annotations", {}).get(key, "")

    @property
    def exit_code(self):
        for status in self.thing["status"].get("containerStatuses", []):
            return status["state"].get("terminated", {}).get("exitCode")
        return None

    @property
    def holds_node(self):
        """True if the pod holds its share of the node: from the binding until it is terminal or
        gone, however long its end takes.
        """
        return bool(self.node) and self.what != "DELETED" and not self.terminal

    def requests(self):
        """The requests as the kubelet counts them, by resource; the pod itself counts as one of
        "pods".
        """
        total = {"pods": 1.0}
        for container in self.thing["spec"]["containers"]:
            for what, text in container.get("resources", {}).get("requests", {}).items():
                total[what] = total.get(what, 0.0) + amount(text)
        return total

    def __str__(self):
        words = [f"rv {self.rv}", self.what, self.phase]
        words += [f"on {self.node} for job {self.job}"] if self.node else []
        words += ["being deleted"] if self.deleting else []
        words += [f"exit code {self.exit_code}"] if self.exit_code is not None else []
        return ", ".join(words)


@dataclass
class PodStory:
    """All events of one pod, in order."""

    uid: str
    name: str
    events: list = field(default_factory=list)

    def first(self, true):
        return next((e for e in self.events if true(e)), None)

    @property
    def bound(self):
        return self.first(lambda e: e.node)

    @property
    def in_gang(self):
        """True if the pod shares its Slurm job with others."""
        return bool(self.bound and self.bound.annotation(GANG))

    @property
    def marker(self):
        """The uid in the marker of its Slurm job: that of its gang, if its binding names one, or
        its own.
        """
        return self.bound.annotation(GANG) if self.in_gang else self.uid

    @property
    def owner(self):
        return next(iter(self.events[0].thing["metadata"].get("ownerReferences", [])), {})

    @property
    def ended(self):
        """The event from which on it holds nothing: terminal or gone."""
        return self.first(lambda e: e.terminal or e.what == "DELETED")

    @property
    def deletion(self):
        return self.first(lambda e: e.deleting or e.what == "DELETED")

    @property
    def gone(self):
        return self.first(lambda e: e.what == "DELETED")


class History:
    """events: all events in order. gaps: [(kind, from, to, why)]; with a gap no rule can be said to
    hold.
    """

    def __init__(self, events, gaps=()):
        self.events, self.gaps, self.pods = sorted(events, key=lambda e: e.rv), list(gaps), {}
        for e in self.events:
            if e.kind == "Pod":
                self.pods.setdefault(e.uid, PodStory(e.uid, e.name)).events.append(e)

    @classmethod
    def read(cls, path):
        events, gaps, started = [], [], set()
        with open(path, encoding="utf-8") as f:
            for line in f:
                if not line.endswith("\n"):
                    break  # the recorder was ended while it wrote this line
                note = json.loads(line)
                if "event" in note:
                    thing = note["event"]["object"]
                    events.append(
                        Event(
                            int(thing["metadata"]["resourceVersion"]),
                            note["at"],
                            note["kind"],
                            note["event"]["type"],
                            thing,
                        )
                    )
                elif "gap" in note:
                    gaps.append((note["kind"], *note["gap"], note["why"]))
                else:
                    started.add(note["kind"])
        gaps += [(kind, 0, 0, "never listed") for kind in ("Pod", "Node") if kind not in started]
        return cls(events, gaps)
