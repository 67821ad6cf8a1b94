# SPDX-License-Identifier: GPL-2.0-or-later
"""The API server's audit log: which requests the server received and answered, and when, in
microseconds of its own clock. The policy (testsuite/bench/*-audit-policy.yaml) decides how much of
a request is logged.
"""
import json
from collections import Counter

from .times import seconds

AGENT = "system:serviceaccount:slurm-kube:slurmkubed"
# Texts in the line of a request to bind a pod, and of one that reports a pod as running.
BINDING, RUNNING = b'"subresource":"binding"', b'"phase":"Running"'


class Event:
    """One request. received and answered are seconds since the epoch."""

    def __init__(self, entry):
        about = entry["objectRef"]
        self.name, self.part = about.get("name", ""), about.get("subresource", "")
        self.verb, self.kind, self.user = (
            entry["verb"],
            about.get("resource", ""),
            entry["user"]["username"],
        )
        self.program = entry.get("userAgent", "").partition("/")[0]
        self.code = entry.get("responseStatus", {}).get("code", 0)
        body = entry.get("requestObject")
        self.body = body if isinstance(body, dict) else {}
        self.phase = self.status.get("phase", "")
        self.received = seconds(entry["requestReceivedTimestamp"])
        self.answered = seconds(entry["stageTimestamp"])

    @property
    def status(self):
        """The status of the object in the request, or an empty dict."""
        return self.body.get("status") or {}

    @property
    def good(self):
        return 200 <= self.code < 300


class Audit:
    """Reads the log from the place of the last mark()."""

    def __init__(self, path):
        self.path, self.place = path, 0
        self.counted = {}  # text -> (up to which place, how many lines)

    def mark(self):
        self.counted = {}
        self.place = self.path.stat().st_size if self.path.exists() else 0

    def events(self):
        """All events since the mark, without a line that is still being written."""
        with open(self.path, "rb") as f:
            f.seek(self.place)
            return [Event(json.loads(line)) for line in f if line.endswith(b"\n")]

    def lines_with(self, text):
        """The number of such lines since the mark, for waiting loops: no line is read twice."""
        place, count = self.counted.get(text, (self.place, 0))
        with open(self.path, "rb") as f:
            f.seek(place)
            new = f.read()
        whole = new.rfind(b"\n") + 1
        self.counted[text] = place + whole, count + new.count(text, 0, whole)
        return self.counted[text][1]

    def bindings(self, prefix):
        """{pod: its first successful binding} of pods whose names begin with prefix."""
        found = {}
        for e in self.events():
            if e.part == "binding" and e.good and e.name.startswith(prefix):
                found.setdefault(e.name, e)
        return found

    def running(self, prefix):
        """{pod: the first request that reported it as Running}, as bindings()."""
        found = {}
        for e in self.events():
            said = e.part == "status" and e.phase == "Running" and e.good
            if said and e.name.startswith(prefix):
                found.setdefault(e.name, e)
        return found

    def made(self, kind):
        """All creations of a kind, including objects whose names the API server completes."""
        found = [e for e in self.events() if e.verb == "create" and e.kind == kind]
        return [e for e in found if not e.part and e.good]

    def creations(self, prefix):
        return {
            e.name: e
            for e in self.events()
            if e.verb == "create"
            and e.kind == "pods"
            and not e.part
            and e.good
            and e.name.startswith(prefix)
        }

    def deletions(self, user=AGENT):
        """{pod: its first deletion by that user}"""
        found = {}
        for e in self.events():
            if e.verb == "delete" and e.kind == "pods" and e.user == user and e.good:
                found.setdefault(e.name, e)
        return found

    def writes(self, user=AGENT):
        """The number of writes by that user since the mark, per kind of write, for example "create
        pods/binding".
        """
        return _writes(e for e in self.events() if e.user == user)

    def writes_of(self, program):
        """The same by what the program calls itself: administrators share a user."""
        return _writes(e for e in self.events() if e.program == program)

    def lists(self, user=AGENT):
        return Counter(e.kind for e in self.events() if e.user == user and e.verb == "list")


def _writes(events):
    return Counter(
        f"{e.verb} {e.kind}{'/' + e.part if e.part else ''}" for e in events if e.verb != "list"
    )
