#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""usage: test_oracle.py BUILD_DIR [SEED [COUNT [SELECTORS [PLACEMENTS]]]]

Compares our verdicts with Kubernetes' own (testsuite/oracle, built on first use). Prints TAP.
Without SEED, SLURM_KUBE_SEED is used.

Random pods and nodes, with kube-scheduler's filters: COUNT is the number of pods, 3,000 by default,
each with some nodes. It is an error if we would bind a pod where kube-scheduler forbids it. Where
we forbid more, the reason must be one of the intended ones.

Random CEL selectors and devices, with Kubernetes' CEL: SELECTORS is their number, 5,000 by default.
cel_compare.py says what must hold.

Random devices, classes and claims of a pod, with kube-scheduler's allocator: PLACEMENTS is the
number of pods, 3,000 by default. device_compare.py says what must hold.
"""
import collections
import json
import os
import subprocess
import sys
from pathlib import Path

from cases import HOSTNAME, Cases
from cel_cases import Selectors
from cel_compare import Comparison
from device_cases import DeviceCases
from device_compare import DeviceComparison

HERE = Path(__file__).resolve().parent
PROGRAMS = ("verdicts", "selectors", "devices")


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


def is_in_chroot(build):
    environment = build / "slurm.env"
    return environment.exists() and any(
        line.startswith(("SLURM_ROOT='/", "SLURM_ROOT=/"))
        for line in environment.read_text().splitlines()
    )


def built(build):
    """The oracle's path, after our own programs have been built, too."""
    names = [f"testsuite/component/oracle/{name}" for name in PROGRAMS]
    subprocess.run(["make", "-s", "-C", build, *names], check=True, stdout=sys.stderr, timeout=600)
    return subprocess.run(
        [HERE.parent.parent / "oracle/build"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=1800,
    ).stdout.strip()


def judge_all(cases, oracle, ours):
    """The answers of the oracle and ours; both are commands."""
    text = "".join(json.dumps(case) + "\n" for case in cases)
    return judged_by(oracle, text, 300), judged_by(ours, text, 300)


def compare_pods(program, build, seed, count):
    source = Cases(seed)
    cases = [source.case() for _ in range(count)]
    oracle, ours = judge_all(cases, [program], [build / "testsuite/component/oracle/verdicts"])
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
    varied = agreed[True] > count and agreed[False] > count
    report(4, varied, "the cases say something: many are allowed and many forbidden", [], cases)
    return same and not unsafe and not strange


def compare_selectors(program, build, seed, count):
    source = Selectors(seed)
    cases = [source.case() for _ in range(count)]
    oracle, ours = judge_all(
        cases, [program, "cel"], [build / "testsuite/component/oracle/selectors"]
    )
    same = len(oracle) == len(ours) == count
    comparison = Comparison(cases, oracle, ours)
    print(f"# seed {seed}: {count} CEL selectors, each with a device")
    for line in comparison.comments():
        print(f"# {line}")
    checks = [(same, "both judge all selectors", []), *comparison.checks()]
    for number, (passed, text, examples) in enumerate(checks, 5):
        print(f"{'ok' if passed else 'not ok'} {number} - {text}")
        for case, their, our in [] if passed else examples[:3]:
            print(f"# selector {case['selector']}")
            print(f"#   Kubernetes {json.dumps(their)}, we {json.dumps(our)}")
            print(f"#   device {json.dumps(case['device'])}")
    return all(passed for passed, _, _ in checks)


def compare_devices(program, build, seed, count):
    """Ours come first: Kubernetes is also asked about what we decided."""
    source = DeviceCases(seed)
    cases = [source.case() for _ in range(count)]
    text = "".join(json.dumps(case) + "\n" for case in cases)
    ours = judged_by([build / "testsuite/component/oracle/devices"], text, 300)
    asked = [
        {**case, "ours": {n: a for n, a in our.get("nodes", {}).items() if "given" in a}}
        for case, our in zip(cases, ours)
    ]
    text = "".join(json.dumps(case) + "\n" for case in asked)
    oracle = judged_by([program, "devices"], text, 300)
    same = len(oracle) == len(ours) == count
    comparison = DeviceComparison(cases, oracle, ours)
    print(f"# seed {seed}: the claims of {count} pods, {sum(len(c['nodes']) for c in cases)} nodes")
    for line in comparison.comments():
        print(f"# {line}")
    checks = [(same, "both judge all claims", []), *comparison.checks()]
    for number, (passed, text, examples) in enumerate(checks, 12):
        print(f"{'ok' if passed else 'not ok'} {number} - {text}")
        for case, node, their, our in [] if passed else examples[:3]:
            print(f"# node {node}: Kubernetes {json.dumps(their)}, we {json.dumps(our)}")
            print(f"#   case {json.dumps(case)}")
    return all(passed for passed, _, _ in checks)


def main():
    build = Path(sys.argv[1]).resolve()
    seed = int(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("SLURM_KUBE_SEED", "1"))
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 3000
    selectors = int(sys.argv[4]) if len(sys.argv) > 4 else 5000
    placements = int(sys.argv[5]) if len(sys.argv) > 5 else 3000
    if is_in_chroot(build):
        print(
            "1..0 # SKIP what is compared does not depend on Slurm, and is compared where Slurm is"
            " not in a chroot"
        )
        return 0
    program = built(build)
    print("1..17")
    passed = [
        compare_pods(program, build, seed, count),
        compare_selectors(program, build, seed, selectors),
        compare_devices(program, build, seed, placements),
    ]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
