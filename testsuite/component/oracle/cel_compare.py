# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares our verdicts on CEL selectors with Kubernetes' own.

A selector that we accept must have the same verdict on the device, or fail there as well. A
selector that Kubernetes refuses must be refused. Those that only we refuse are counted by reason:
forms in use must not be among them, and of the others only so many.
"""
import collections
import re

from cel_cases import IN_USE, DRIVER

# In percent of the selectors that Kubernetes accepts. The forms that we do not understand are
# asked for on purpose in about three of a hundred selectors.
MOST_REFUSED = 6
AGREEMENTS = ("true", "false", "error", "refused")


def verdict_of(answer):
    """Of Kubernetes or of ours."""
    if "compile" in answer or "refused" in answer:
        return "refused"
    return "error" if "error" in answer else str(answer["match"]).lower()


def reason(refusal):
    kind = "not understood" if refusal.startswith("not understood") else "WRONG"
    return kind + ": " + re.sub(r"; write the selector without it$", "", refusal.split("': ")[-1])


def is_in_use(case):
    return case["selector"] in {text.replace("DRIVER", DRIVER) for text in IN_USE}


class Comparison:
    def __init__(self, cases, oracle, mine):
        self.agreed = collections.Counter()
        self.wrong, self.cheaper, self.refused_in_use, self.called_wrong = [], [], [], []
        self.reasons = collections.Counter()
        self.accepted = 0  # by Kubernetes
        for case, their, our in zip(cases, oracle, mine):
            self.add(case, their, our)

    def add(self, case, their, our):
        example = (case, their, our)
        verdict, mine = verdict_of(their), verdict_of(our)
        self.accepted += verdict != "refused"
        if mine == verdict:
            self.agreed[verdict] += 1
            # The order of the keys of a map is random there, and the cost depends on it.
            by_keys = re.search(r"\]\.(all|exists)\(", case["selector"])
            if mine != "refused" and our["cost"] < their["cost"] and not by_keys:
                self.cheaper.append(example)
        elif mine != "refused":
            self.wrong.append(example)
        else:
            self.reasons[reason(our["refused"])] += 1
            if is_in_use(case):
                self.refused_in_use.append(example)
            if not our["refused"].startswith("not understood"):
                self.called_wrong.append(example)

    def checks(self):
        """(passed, text, examples) of each check."""
        refused = 100 * sum(self.reasons.values()) / max(self.accepted, 1)
        total = sum(self.agreed.values())
        return [
            (not self.wrong, f"{len(self.wrong)} wrong verdicts on CEL selectors", self.wrong),
            (not self.refused_in_use, "no selector in use is refused", self.refused_in_use),
            (not self.called_wrong, "what CEL knows is not called wrong", self.called_wrong),
            (
                refused <= MOST_REFUSED,
                (
                    f"{refused:.1f} of 100 selectors that Kubernetes accepts are refused,"
                    f" {MOST_REFUSED} are allowed"
                ),
                [],
            ),
            (not self.cheaper, "no evaluation costs less than in Kubernetes", self.cheaper),
            (
                all(self.agreed[verdict] > total / 10 for verdict in AGREEMENTS),
                "the selectors say something: each verdict is a tenth of all",
                [],
            ),
        ]

    def comments(self):
        yield "both say: " + ", ".join(f"{v} {self.agreed[v]}" for v in AGREEMENTS)
        for why, times in self.reasons.most_common():
            yield f"only we refuse {times}: {why}"
