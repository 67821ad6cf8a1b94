# SPDX-License-Identifier: GPL-2.0-or-later
"""Waiting for conditions. No test sleeps: it names what it waits for, and the maximum time.

Another process sees a change later than the process that made it: a pod has Succeeded in the API
while its job is COMPLETING; a job runs before its pod is bound. A test therefore never asserts what
another process has yet to do, but waits for it. LIMIT is long enough for a machine that gives each
daemon a quarter of a CPU.
"""
import http.client
import threading
import time

LIMIT = 60.0  # seconds
# Most conditions run a program, and many such waits at a time would use the processors. Who waits
# for long looks less often.
LONG, LONG_PAUSE = 2.0, 0.15
_never = threading.Event()


class Timeout(AssertionError):
    """A condition did not become true in time."""


def wait_for(condition, what, timeout=LIMIT, every=0.05):
    """Returns the first true value of condition(). An error in it counts as not yet true; when the
    time is up, it is reported.
    """
    began, last = time.monotonic(), None
    while True:
        try:
            last = condition()
            if last:
                return last
        except (
            AssertionError,
            OSError,
            LookupError,
            RuntimeError,
            ValueError,
            http.client.HTTPException,
        ) as e:
            last = e
        waited = time.monotonic() - began
        if waited > timeout:
            raise Timeout(f"waited {timeout:g} s for {what}; last seen: {last!r}")
        _never.wait(every if waited < LONG else max(every, LONG_PAUSE))
