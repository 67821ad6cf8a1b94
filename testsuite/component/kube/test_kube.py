#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""usage: test_kube.py BUILD_DIR [WORD...]

Tests src/agent/kube against a real kube-apiserver and etcd, which are private and listen on
loopback.

Prints TAP; exit status 0 only if all tests ran and passed. With WORDs, runs only the tests whose
names contain one of them. SLURM_KUBE_PORT: the first of ten ports (default 22000).
"""
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import access_tests  # noqa: E402,F401
import client_tests  # noqa: E402,F401
import writes_tests  # noqa: E402,F401
import watch_tests  # noqa: E402,F401
import wire_tests  # noqa: E402,F401
from testbed import Testbed  # noqa: E402
from registry import TESTS  # noqa: E402


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tests = [
        t for t in TESTS if len(sys.argv) == 2 or any(word in t.__name__ for word in sys.argv[2:])
    ]
    port = int(os.environ.get("SLURM_KUBE_PORT", "22000"))
    failed = 0
    with tempfile.TemporaryDirectory(prefix="slurm-kube-edge.") as directory:
        plane = None
        try:
            bed = Testbed(os.path.abspath(sys.argv[1]), os.path.join(directory, "k8s"), port)
            plane = bed.plane
            for number, function in enumerate(tests, 1):
                failed += run_one(bed, number, function)
        finally:
            if plane:
                plane.down()
    print(f"1..{len(tests)}")
    sys.exit(1 if failed or not tests else 0)


def run_one(bed, number, function):
    name, start = function.__name__.replace("_", " "), time.monotonic()
    try:
        function(bed)
        trouble = None
    except Exception as error:  # whatever the error was, the next test runs
        trouble = f"{type(error).__name__}: {error}"
    crashed = bed.tidy()
    if crashed and not trouble:
        trouble = f"the probe ended with {crashed}"
    print(
        f"{'not ok' if trouble else 'ok'} {number} - {name} # {time.monotonic() - start:.1f} s",
        flush=True,
    )
    if trouble:
        print("# " + trouble.replace("\n", "\n# ")[:2000], flush=True)
    return 1 if trouble else 0


main()
