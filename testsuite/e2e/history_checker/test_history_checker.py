#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""The checker against histories made by hand: right ones, where it must find nothing, and each
violation, which it must find. The tests are in tests/.

usage: test_history_checker.py          TAP on stdout; needs nothing that runs
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from history_checker.tests import (  # noqa: E402
    test_bindings,
    test_clusters,
    test_devices,
    test_ends,
    test_gangs,
    test_lives,
    test_records,
)

MODULES = (
    test_bindings,
    test_clusters,
    test_devices,
    test_ends,
    test_gangs,
    test_lives,
    test_records,
)


def main():
    tests = [(n, f) for m in MODULES for n, f in vars(m).items() if n.startswith("test_")]
    print(f"1..{len(tests)}")
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            verdict, why = "ok", ""
        except AssertionError as e:
            verdict, why, failed = "not ok", f"# {e}\n", failed + 1
        print(f"{verdict} {number} - checker: {name[5:].replace('_', ' ')}\n{why}", end="")
    sys.exit(1 if failed else 0)


main()
