# SPDX-License-Identifier: GPL-2.0-or-later
"""The runner: calls every function test_* of the calling file with the test bed, in the order of
the file. Prints TAP.

usage: test_X.py BUILDDIR [WORD...]    runs the tests whose name contains one of the words
Exit status 0: none failed; 1: some failed; 77: all were skipped, or no name has one of the words.
SLURM_KUBE_KEEP=1 keeps the run directory in any case.

The runner adds the cases of invariants.py after the last one of the file, also if WORDs select
some of the others, so that no program can pass without them. They are skipped if all cases before
them were skipped, because then there is nothing to check.
"""
import os
import signal
import sys
import time
import traceback

from .invariants import closing_cases, dead_daemons


class Skip(Exception):
    """The machine cannot do what the test needs; the message gives the reason."""


def equal(seen, expected, what=""):
    """Fails with both values if they differ."""
    assert seen == expected, f"{what + ': ' if what else ''}saw {seen!r}, expected {expected!r}"


def _say(text):
    print(text, flush=True)


def _comment(text):
    for line in text.rstrip().splitlines():
        _say(f"# {line}")


def _words(test):
    return test.__name__[5:].replace("_", " ")


def _run_one(test, bed, number, label):
    t0 = time.monotonic()
    name = f"{number} - {label}{_words(test)}"
    try:
        test(bed)
        result = "passed"
        _say(f"ok {name} # {time.monotonic() - t0:.1f} s")
    except Skip as e:
        result = "skipped"
        _say(f"ok {name} # SKIP {e}")
    except Exception as e:
        result = "failed"
        _say(f"not ok {name} # {time.monotonic() - t0:.1f} s")
        _comment(f"story: {(test.__doc__ or '').strip()}")
        _comment(traceback.format_exc() if not isinstance(e, AssertionError) else _place(e))
        bed.failed(test.__name__, _comment)
        _sweep(bed)
    return result


def _sweep(bed):
    try:
        bed.sweep()
    except Exception as e:  # the test has failed already
        _comment(f"what it left could not be removed: {e}")


def _place(e):
    """For a failed assertion: only its message and the lines of the test that led to it."""
    frames = [f for f in traceback.extract_tb(e.__traceback__) if "/lib/" not in f.filename]
    lines = [f"{os.path.basename(f.filename)}:{f.lineno}: {f.line}" for f in frames[1:]]
    return "\n".join(lines + [f"{type(e).__name__}: {e}"])


def _choose(module, words):
    tests = [f for n, f in module.items() if n.startswith("test_") and callable(f)]
    return [t for t in tests if not words or any(w in t.__name__ for w in words)]


def _run_closing(test, bed, number, results):
    """A case of the runner's own."""
    if set(results) == {"skipped"}:
        _say(f"ok {number} - {bed.label}{_words(test)} # SKIP all cases before it were skipped")
        return "skipped"
    return _run_one(test, bed, number, bed.label)


def _run_chosen(chosen, bed, results):
    """Appends the result of each. If one of our daemons died in a case, those after it would each
    wait until their time is over, and fail; so they fail at once.
    """
    for number, test in enumerate(chosen, 1):
        results.append(_run_one(test, bed, number, bed.label))
        dead = dead_daemons(bed) if results[-1] == "failed" else []
        if dead:
            results += _rest(chosen, results, "not ok", f"# not run: {dead[0]} died", "failed")
            return


def run(make_bed, forgets=(), unless=None):
    """make_bed(BUILDDIR) returns a context manager, whose value every test gets. forgets and unless
    are parameters of the invariants for this program (invariants.py).
    """
    module = sys.modules["__main__"].__dict__
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    words, results = sys.argv[2:], []
    chosen = _choose(module, words)
    if not chosen:
        _say("1..0 # SKIP no case has one of the words")
        sys.exit(77)
    closing = closing_cases(forgets=forgets, unless=unless, must_bind=not words)
    tests = chosen + closing
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(143)
    )  # an exception: the test bed is taken down
    _say(f"1..{len(tests)}")
    try:
        with make_bed(sys.argv[1]) as bed:
            _run_chosen(chosen, bed, results)
            for number, test in enumerate(closing, len(chosen) + 1):
                results.append(_run_closing(test, bed, number, results))
    except Skip as e:
        results += _rest(tests, results, "ok", f"# SKIP {e}", "skipped")
    except Exception:
        _comment(traceback.format_exc())
        results += _rest(tests, results, "not ok", "# the bed failed", "failed") or ["failed"]
    sys.exit(1 if "failed" in results or not results else 77 if set(results) == {"skipped"} else 0)


def _rest(tests, results, verdict, why, result):
    """The tests that cannot run any more get the same verdict."""
    left = tests[len(results) :]
    for number, test in enumerate(left, len(results) + 1):
        _say(f"{verdict} {number} - {_words(test)} {why}")
    return [result] * len(left)
