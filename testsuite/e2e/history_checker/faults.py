# SPDX-License-Identifier: GPL-2.0-or-later
"""What the test did itself: the causes it gave for ends, and when it held something away.

A rule with a time limit counts calm seconds only: those in which nothing was away, and nothing had
come back a moment ago.
"""
from dataclasses import dataclass, field

# seconds after a fault in which nothing is late yet: back-off of the link, of watches, of
# slurmctld's clients
RECOVERY = 12.0


@dataclass
class Cause:
    """A reason for the end of a healthy pod: uid and name of the pod, job, or node it was given
    for.
    """

    at: float
    what: str
    uid: str = ""
    name: str = ""
    job: int = 0
    node: str = ""
    owner: str = ""


@dataclass
class Deeds:
    """windows: [(since, until, what)]; until is None while it lasts."""

    causes: list = field(default_factory=list)
    windows: list = field(default_factory=list)

    def calm(self, since, until, counts=lambda what: True):
        """How many seconds between the two were calm; counts says which faults disturb."""
        left, at = 0.0, since
        for a, b, *_ in sorted((w for w in self.windows if counts(w[2])), key=lambda w: w[0]):
            b = (until if b is None else b) + RECOVERY
            if a > at:
                left += max(0.0, min(a, until) - at)
            at = max(at, b)
        return left + max(0.0, until - at)

    def near(self, since, until):
        return [
            w for w in self.windows if w[0] <= until and (w[1] is None or w[1] + RECOVERY >= since)
        ]
