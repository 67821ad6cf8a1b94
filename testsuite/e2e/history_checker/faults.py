# SPDX-License-Identifier: GPL-2.0-or-later
"""What the test did itself: the causes of ends, and the times at which it kept a daemon away.

A rule with a time limit counts calm seconds only: seconds in which no daemon was away or had just
come back.
"""
from dataclasses import dataclass, field

# seconds after a fault during which nothing counts as late: back-off of the link, of watches and of
# slurmctld's clients
RECOVERY = 12.0


@dataclass
class Cause:
    """A reason for the end of a healthy pod: uid and name of the pod, the job, or the node that it
    applies to.
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
    """windows: [(since, until, what)]; until is None while the window is open."""

    causes: list = field(default_factory=list)
    windows: list = field(default_factory=list)

    def calm(self, since, until, counts=lambda what: True):
        """The number of calm seconds between since and until; counts selects the faults that
        disturb.
        """
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
