# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares our decisions about devices with those of kube-scheduler's own allocator.

What we write into claims must be permitted, always. Where Kubernetes could give a pod the devices
of a node and we do not, our reason must be one of REASONS. Where Kubernetes could not and we do,
the reason must be one of EXPLAINED, and what we write must be permitted all the same.
"""
import collections
import re

NOT_SLURMS = "The devices that are free are part of no GRES, so they are not Slurm's."
OTHER_ALTERNATIVE = "The job waits for one of several alternatives, while another one is free."

# Why we leave a node out, refuse the pod, let it wait or give devices back, although Kubernetes
# could allocate: the pattern of our text, and the sentence that defends it.
REASONS = {
    r"and Slurm cannot be told which$": (
        "Slurm takes a GRES and a type, so it could choose a device that does not match."
    ),
    r"and Slurm cannot be told which to choose$": (
        "Slurm knows no attributes, so it could choose devices that break the constraint."
    ),
    r"^a device has no attribute .* constrains$": (
        "Slurm could choose the device without the attribute, which breaks the constraint."
    ),
    r"which asks for all, and most nodes have \d+$": (
        "All is another number on this node, and a job of Slurm's has one number."
    ),
    r"asks for all devices, and ": (
        "All is known only if all devices of the node can be given, of whatever pool."
    ),
    r"and other requests of the claim may need them$": (
        "Slurm could choose the devices that the request with adminAccess needs."
    ),
    r"^has \d+ devices for request \S+ of its resource claim$": (
        "A request with adminAccess only has devices that are part of a GRES."
    ),
    r"^has \d+ of the \d+ devices that its resource claims ask for$": (
        "The job asks for the type or the alternative that suits the other nodes, in one number."
    ),
    r"^has no device for request": (
        "The node has only devices that are part of no GRES, or that suit another alternative or"
        " type than the one that the job asks for."
    ),
    r"^has no devices for its resource claims$": (
        "The alternative that the job asks for is one of a driver that the node does not have."
    ),
    r"^its devices are not known: ": (
        "The node's list cannot be made, so the indices of Slurm would mean nothing."
    ),
    r": devices of GRES \S+ and of GRES \S+ match$": (
        "The request does not say which GRES the job asks for."
    ),
    r": no device of a rule in section devices": (
        "The devices are not those of a rule, so the site has not given them to Slurm."
    ),
    r": no such key: ": (
        "We evaluate all devices, and kube-scheduler stops at the first ones that suit: which ones"
        " those are, is chance."
    ),
    r"^no GRES in the record: ": (
        "Two rules name one GRES on the node, so its record has none: an error of the site's."
    ),
    r"^too few are free: .*:\D": (
        "The job waits for devices of one type, while those of another are free."
    ),
    r"^too few are free: ": OTHER_ALTERNATIVE,
    r"has too few devices that meet it and no other request of it$": (
        "The devices changed after Slurm's choice, and those left are part of no GRES."
    ),
    r"^device \S+ has no attribute |of the devices that Slurm gave none|that Slurm gave do not": (
        "The devices changed after Slurm's choice, and we try one way to share out those given for"
        " each alternative."
    ),
}

# Why kube-scheduler says no while we say yes, and the claims are allowed what they get.
ANOTHER_FAILS = (
    "another alternative fails as a whole there (a selector, or all devices), and then"
    " kube-scheduler gives up the pod; we go on to the next alternative"
)
EAGER = (
    "a selector of an alternative fails for a device that kube-scheduler does not come to, and we"
    " take the next alternative"
)
SHARED = (
    "a request with adminAccess and another claim of the pod share a device, which kube-scheduler"
    " finds only if the other claim comes first"
)


def requests_of(case):
    for claim in case["claims"]:
        yield from claim["spec"]["devices"]["requests"]


def has_alternatives(case):
    return any("firstAvailable" in one for one in requests_of(case))


def can_fail(case, names):
    """One of these alternatives has a selector that fails for a device without an attribute."""
    for one in requests_of(case):
        for sub in one.get("firstAvailable", []):
            texts = [each["cel"]["expression"] for each in sub.get("selectors", [])]
            fragile = any(".?" not in text and "has(" not in text for text in texts)
            if f"{one['name']}/{sub['name']}" in names:
                if fragile or sub["deviceClassName"] == "strict":
                    return True
    return False


def explained(case, why):
    """Why kube-scheduler's no does not bind us, or an empty string."""
    if why != "no devices":
        return ANOTHER_FAILS if has_alternatives(case) else ""
    has_admin = any(one.get("exactly", {}).get("adminAccess") for one in requests_of(case))
    return SHARED if has_admin and len(case["claims"]) > 1 else ""


def has_other_devices(case):
    """Some devices may be part of no GRES."""
    ruled = {rule["driver"] for rule in case["rules"]}
    published = {one["spec"]["driver"] for one in case["slices"]}
    return bool(published - ruled) or any("only" in rule for rule in case["rules"])


def defence(case, why):
    """The sentence that defends our reason, or an empty string."""
    text = next((text for form, text in REASONS.items() if re.search(form, why)), "")
    if text == OTHER_ALTERNATIVE and not has_alternatives(case):
        return NOT_SLURMS if has_other_devices(case) else ""
    return text


def our_word(ours, node):
    """(what we do on the node, why)"""
    if "refused" in ours:
        return "leave out", ours["refused"]
    word = ours["nodes"][node]
    if "excluded" in word:
        return "leave out", word["excluded"]
    if "waits" in word:
        return "wait", f"{word['waits']}: {word['gres']}"
    return ("give back", word["back"]) if "back" in word else ("give", "")


class DeviceComparison:
    def __init__(self, cases, oracle, mine):
        self.counts = collections.Counter()
        self.stricter, self.looser = collections.Counter(), collections.Counter()
        self.forbidden, self.worse, self.undefended, self.unexplained = [], [], [], []
        for case, their, our in zip(cases, oracle, mine):
            for node in case["nodes"]:
                self.add(case, node, their[node], our)

    def add(self, case, node, their, our):
        word, why = our_word(our, node)
        example = (case, node, their, our["nodes"][node] if "nodes" in our else our)
        can_now = their["now"] == ""
        self.counts[word, "could" if can_now else "could not"] += 1
        if their.get("forbidden"):
            self.forbidden.append(example)
        if their.get("preferred"):
            if can_fail(case, their["preferred"].split()):
                self.looser[EAGER] += 1
            else:
                self.worse.append(example)
        could = {
            "give": not can_now,
            "leave out": their["empty"] == "",  # whatever runs there
            "give back": "given" not in their,  # those that Slurm gave would do
            "wait": can_now,
        }
        if could[word] and word == "give":
            self.explain(case, their["now"], example)
        elif could[word]:
            self.defend(case, why, example)
        if word == "give back" and "later" not in case and can_now:
            self.undefended.append(example)

    def defend(self, case, why, example):
        text = defence(case, why)
        self.stricter[text] += 1
        if not text:
            self.undefended.append(example)

    def explain(self, case, why, example):
        text = explained(case, why)
        self.looser[text] += 1
        if not text:
            self.unexplained.append(example)

    def checks(self):
        """(passed, text, examples) of each check."""
        given = self.counts["give", "could"]
        return [
            (
                not self.forbidden,
                f"{len(self.forbidden)} allocations that Kubernetes forbids",
                self.forbidden,
            ),
            (
                not self.worse,
                f"{len(self.worse)} alternatives that are not the first possible one",
                self.worse,
            ),
            (
                not self.undefended,
                f"{len(self.undefended)} nodes are not used without a reason that is meant",
                self.undefended,
            ),
            (
                not self.unexplained,
                f"{len(self.unexplained)} nodes are used where Kubernetes would not, unexplained",
                self.unexplained,
            ),
            (
                given > len(self.forbidden) and 10 * given > sum(self.counts.values()),
                "the cases say something: on a tenth of the nodes devices are given",
                [],
            ),
        ]

    def comments(self):
        for (word, could), times in sorted(self.counts.items()):
            yield f"we {word} where Kubernetes {could}: {times}"
        for why, times in self.stricter.most_common():
            yield f"only we do not give {times}: {why or 'NOT MEANT'}"
        for why, times in self.looser.most_common():
            yield f"only we give {times}: {why or 'NOT EXPLAINED'}"
