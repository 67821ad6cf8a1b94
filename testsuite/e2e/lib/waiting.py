# SPDX-License-Identifier: GPL-2.0-or-later
"""Waiting for conditions. No test sleeps: it names what it waits for and how long that may take at most."""
import threading
import time

_never = threading.Event()


class Timeout(AssertionError):
	"""A condition did not come true in time."""


def wait_for(condition, what, timeout=30.0, every=0.05):
	"""Returns condition()'s first true value; an error in it counts as not yet, and is told when time is up."""
	end = time.monotonic() + timeout
	last = None
	while True:
		try:
			last = condition()
			if last:
				return last
		except (AssertionError, OSError, LookupError, RuntimeError) as e:
			last = e
		if time.monotonic() > end:
			raise Timeout(f"waited {timeout:g} s for {what}; last seen: {last!r}")
		_never.wait(every)
