#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""What holds on the hybrid node that set-up has made: cgroup version 2, systemd as cgroup driver,
and all daemons in their units. Runs in the virtual machine as root.

usage: checks.py [WORD]    runs the cases whose names have the word. Prints TAP.

Each case leaves an idle node without pods behind. Where a case waits for a refused container, it
takes 15 s, because the kubelet tries again so late.
"""
import sys
import time
import traceback

import cases_devices
import cases_ends
import cases_pods
import cases_restarts
import cases_setup
from node import sweep

MODULES = (cases_setup, cases_pods, cases_devices, cases_ends, cases_restarts)


def _run(number, case):
    name = f"{number} - {case.__name__[5:].replace('_', ' ')}"
    t0 = time.monotonic()
    try:
        case()
        sweep()
        print(f"ok {name} # {time.monotonic() - t0:.1f} s", flush=True)
        return True
    except Exception as e:  # pylint: disable=broad-exception-caught
        print(f"not ok {name} # {time.monotonic() - t0:.1f} s")
        text = traceback.format_exc() if not isinstance(e, AssertionError) else ""
        lines = traceback.extract_tb(e.__traceback__)
        text = text or "\n".join(f"{f.filename}:{f.lineno}: {f.line}" for f in lines) + f"\n{e}"
        print("\n".join(f"# {line}" for line in text.splitlines()), flush=True)
    try:
        sweep()
    except Exception as e:  # pylint: disable=broad-exception-caught
        print(f"# what it left could not be removed: {e}", flush=True)
    return False


def main():
    words = sys.argv[1:]
    cases = [
        value
        for module in MODULES
        for name, value in vars(module).items()
        if name.startswith("test_") and all(word in name for word in words)
    ]
    print(f"1..{len(cases)}", flush=True)
    results = [_run(number, case) for number, case in enumerate(cases, 1)]
    sys.exit(0 if results and all(results) else 1)


if __name__ == "__main__":
    main()
