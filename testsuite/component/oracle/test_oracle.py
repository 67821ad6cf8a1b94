#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""usage: test_oracle.py BUILD_DIR [SEED [COUNT]]

Compares our verdicts on random pods and nodes with those of kube-scheduler's own filters
(testsuite/oracle, built on first use). Prints TAP. Without SEED, SLURM_KUBE_SEED is used. COUNT is
the number of pods, 3,000 by default, each with some nodes. It is an error if we would bind a pod
where kube-scheduler forbids it. Where we forbid more, the reason must be one of the intended ones.
"""
import collections
import json
import os
import subprocess
import sys
from pathlib import Path

from cases import HOSTNAME, Cases

HERE = Path(__file__).resolve().parent


def judged_by(program, text, timeout):
    done = subprocess.run(
        program, input=text, text=True, capture_output=True, timeout=timeout, check=False
    )
    if done.returncode != 0:
        sys.exit(f"Bail out! {program[0]}: exit status {done.returncode}: {done.stderr[-1500:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def has_no_hostname(case, name):
    return all(
        HOSTNAME not in n["metadata"]["labels"]
        for n in case["nodes"]
        if n["metadata"]["name"] == name
    )


def is_meant(case, name, verdict):
    """The reason why we may be stricter here, or an empty string."""
    why = verdict["why"]
    if why.startswith("refused: "):
        return "a field that is refused, and says so"
    if "anti-affinity excludes" in why and has_no_hostname(case, name):
        return "to us a node without the label " + HOSTNAME + " is a host all the same"
    if "cannot reach volume" in why and any(
        "ephemeral" in v for v in case["pod"]["spec"]["volumes"]
    ):
        return "volumezone forgets ephemeral volumes; we do not"
    return ""


def compare(cases, oracle, ours):
    unsafe, stricter, strange, agreed = [], collections.Counter(), [], collections.Counter()
    for number, (case, theirs, mine) in enumerate(zip(cases, oracle, ours)):
        for name, reasons in theirs.items():
            verdict = mine[name]
            if verdict["bound"] and reasons:
                unsafe.append((number, name, reasons, verdict))
            elif verdict["bound"] == (not reasons):
                agreed[verdict["bound"]] += 1
            else:
                meant = is_meant(case, name, verdict)
                stricter[meant] += 1
                if not meant:
                    strange.append((number, name, reasons, verdict))
            if verdict["excluded"] and verdict["bound"]:
                strange.append((number, name, reasons, verdict))
    return unsafe, stricter, strange, agreed


def report(number, passed, text, examples, cases):
    print(f"{'ok' if passed else 'not ok'} {number} - {text}")
    for case, name, reasons, verdict in [] if passed else examples[:3]:
        node = next(n for n in cases[case]["nodes"] if n["metadata"]["name"] == name)
        print(f"# case {case} node {name}: kube-scheduler {reasons}, we {verdict}")
        print(f"#   pod {json.dumps(cases[case]['pod'])}")
        print(f"#   node {json.dumps(node)}")
        print(f"#   pods {json.dumps(cases[case]['pods'])}")


def main():
    build = Path(sys.argv[1]).resolve()
    seed = int(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("SLURM_KUBE_SEED", "1"))
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 3000
    environment = build / "slurm.env"
    if environment.exists() and any(
        line.startswith(("SLURM_ROOT='/", "SLURM_ROOT=/"))
        for line in environment.read_text().splitlines()
    ):
        print(
            "1..0 # SKIP what is compared does not depend on Slurm, and is compared where Slurm is"
            " not in a chroot"
        )
        return 0
    subprocess.run(
        ["make", "-s", "-C", build, "testsuite/component/oracle/verdicts"],
        check=True,
        stdout=sys.stderr,
        timeout=600,
    )
    program = subprocess.run(
        [HERE.parent.parent / "oracle/build"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=1800,
    ).stdout.strip()
    source = Cases(seed)
    cases = [source.case() for _ in range(count)]
    text = "".join(json.dumps(case) + "\n" for case in cases)
    oracle = judged_by([program], text, 300)
    ours = judged_by([build / "testsuite/component/oracle/verdicts"], text, 300)
    print("1..4")
    print(
        f"# seed {seed}: {count} pods, {sum(len(c['nodes']) for c in cases)} pairs of pod and node"
    )
    same = len(oracle) == len(ours) == count
    report(1, same, "both judge all cases", [], cases)
    unsafe, stricter, strange, agreed = compare(cases, oracle, ours)
    print(f"# both allow {agreed[True]}, both forbid {agreed[False]}")
    for why, times in stricter.items():
        print(f"# we forbid {times} more: {why or 'NOT MEANT'}")
    report(
        2,
        not unsafe,
        f"{len(unsafe)} pods would be bound where kube-scheduler forbids it",
        unsafe,
        cases,
    )
    report(3, not strange, f"{len(strange)} differences that are not meant", strange, cases)
    report(
        4,
        agreed[True] > count and agreed[False] > count,
        "the cases say something: many are allowed and many forbidden",
        [],
        cases,
    )
    return 0 if same and not unsafe and not strange else 1


if __name__ == "__main__":
    sys.exit(main())
