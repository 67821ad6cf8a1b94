# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of testsuite/e2e/torture.py.

    load.py    what users do, at random: pods, Jobs, deletions, evictions, scancel, holds, cordons
    chaos.py   what breaks, at random: kill -9 and SIGSTOP of every daemon, nodes that fail
    judge.py   the end: the world settles, nothing has leaked, the checker's verdict
Each has a stream of random numbers of its own from the seed, so that a run is the same as far as
real processes allow.
"""
