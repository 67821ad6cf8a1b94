#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""What holds on the hybrid node that set-up has made: cgroup version 2, systemd as cgroup driver,
and all daemons in their units. Runs in the virtual machine as root.

usage: checks.py [WORD]           runs the cases whose names have the word. Prints TAP.
       checks.py --before-reboot  starts two pods.
       checks.py --after-reboot   looks what has become of them. Prints TAP.

Each case leaves an idle node without pods behind. Where a case waits for a refused container, it
takes 15 s, because the kubelet tries again so late.
"""
import sys
import time
import traceback

import cases_devices
import cases_ends
import cases_native
import cases_pods
import cases_reboot
import cases_restarts
import cases_setup
from node import sweep

MODULES = (cases_setup, cases_pods, cases_devices, cases_ends, cases_native, cases_restarts)


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
    if words == ["--before-reboot"]:
        return cases_reboot.prepare()
    if words == ["--after-reboot"]:
        return _run_all(_cases_of([cases_reboot]))
    return _run_all([c for c in _cases_of(MODULES) if all(word in c.__name__ for word in words)])


def _cases_of(modules):
    return [
        value
        for module in modules
        for name, value in vars(module).items()
        if name.startswith("test_")
    ]


def _run_all(cases):
    print(f"1..{len(cases)}", flush=True)
    results = [_run(number, case) for number, case in enumerate(cases, 1)]
    sys.exit(0 if results and all(results) else 1)


if __name__ == "__main__":
    main()
