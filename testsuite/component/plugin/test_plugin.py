#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""usage: test_plugin.py BUILD_DIR [WORD]

Runs the built plugin in a real slurmctld, with a peer in the agent's place. Prints TAP; with WORD,
runs only the tests whose names contain it. Needs root (it submits as root and as nobody).
PLUGIN_TEST_PORT is the first of three ports (default 21000). PLUGIN_RETURN_TO_SERVICE is Slurm's
ReturnToService (default 1; tests that depend on it try 0, 1 and 2 themselves). A failed run keeps
its directory and prints its path.
"""
import os
import subprocess
import sys
import time
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import faults  # noqa: E402
import gres  # noqa: E402
import guard  # noqa: E402
import jobs  # noqa: E402
import scripts  # noqa: E402
import service  # noqa: E402
import slurm_gaps  # noqa: E402
from fixture import Fixture, Peer, Skip, marker  # noqa: E402


def build(directory):
    targets = ["job_submit_kube.la", "testsuite/component/plugin/alloc"]
    if not all(os.path.exists(os.path.join(directory, t)) for t in targets):
        subprocess.run(["make", "-C", directory, *targets], check=True, stdout=sys.stderr)


def start(fixture):
    peer = Peer(f"{fixture.run}/plugin.sock")
    fixture.start_munged()
    fixture.start_slurmctld()
    peer.wait("snapshot_end")
    fixture.inactive = fixture.submit(marker("inactive"), port=fixture.sink, node="k4").job
    fixture.inactive_since = time.monotonic()
    return peer


def run_all(fixture, peer, tests):
    failed = 0
    for number, test in enumerate(tests, 1):
        name = test.__name__.replace("_", " ")
        began = time.monotonic()
        try:
            test(fixture, peer)
            print(f"ok {number} - {name} # {time.monotonic() - began:.1f} s", flush=True)
        except Skip as e:
            print(f"ok {number} - {name} # SKIP {e}", flush=True)
        except Exception:  # whatever the error was, the test has failed and the others run
            failed += 1
            print(f"not ok {number} - {name}")
            print(
                "".join(f"# {line}\n" for line in traceback.format_exc().splitlines()),
                end="",
                flush=True,
            )
    return failed


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if os.geteuid() != 0:
        print("1..0 # SKIP needs root")
        sys.exit(77)
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    tests = [
        t
        for t in jobs.TESTS
        + slurm_gaps.TESTS
        + service.TESTS
        + gres.TESTS
        + guard.TESTS
        + scripts.TESTS
        + faults.TESTS
        if word in t.__name__ or word == t.__module__
    ]
    build(sys.argv[1])
    print(f"1..{len(tests)}", flush=True)
    fixture = Fixture(sys.argv[1], int(os.environ.get("PLUGIN_TEST_PORT", "21000")))
    failed = len(tests)
    try:
        failed = run_all(fixture, start(fixture), tests)
    finally:
        fixture.stop(keep=failed != 0)
        if failed:
            print(f"# {failed} failed; see {fixture.run}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
