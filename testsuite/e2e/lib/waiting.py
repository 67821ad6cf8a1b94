# SPDX-License-Identifier: GPL-2.0-or-later
"""Waiting for conditions. No test sleeps: it names what it waits for and how long that may take at
most.

What one process has done another one sees later: a pod has Succeeded in the API while its job is
COMPLETING, a job runs before its pod is bound. So a test never asserts what another process has yet
to do, it waits for it; and LIMIT is for a machine that gives each daemon a quarter of a processor.
"""
import http.client
import threading
import time

LIMIT = 60.0  # seconds
_never = threading.Event()


class Timeout(AssertionError):
    """A condition did not come true in time."""


def wait_for(condition, what, timeout=LIMIT, every=0.05):
    """Returns condition()'s first true value; an error in it counts as not yet, and is told when
    time is up.
    """
    end = time.monotonic() + timeout
    last = None
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
        if time.monotonic() > end:
            raise Timeout(f"waited {timeout:g} s for {what}; last seen: {last!r}")
        _never.wait(every)
