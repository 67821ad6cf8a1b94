# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of testsuite/e2e/torture.py.

    load.py      random actions of users: pods, Jobs, deletions, evictions, scancel, holds, cordons
    chaos.py     random faults: kill -9 and SIGSTOP of every daemon, nodes that fail
    judge.py     the end: everything settles, nothing has leaked, the checker's verdict
    pictures.py  what scontrol shows meanwhile
    rays.py      RayClusters for load.py
    side.py      one Kubernetes cluster with all this
    testbed.py   the daemons
Each part has its own stream of random numbers from the seed, so that a run is reproducible as far
as real processes allow.
"""
