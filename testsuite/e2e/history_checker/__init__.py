# SPDX-License-Identifier: GPL-2.0-or-later
"""The independent checker. It joins what the API server reported to a separate process with what
slurmctld recorded itself.

    recorder.py   a process that watches pods and nodes from the beginning and records every change;
                  a gap is recorded as a gap
    history.py    reads that record
    slurm_log.py  the lives of Slurm's jobs: slurmctld's log, the job completion log, and what
                  scontrol showed meanwhile
    faults.py     what the test did and when: causes, and the times at which a daemon was away
    rules.py      the invariants, each a function from evidence to violations; ends.py: those about
                  the ends of jobs
    clusters.py   several Kubernetes clusters under one slurmctld: the records of one, and that
                  nothing is mixed
    test_history_checker.py
                  tests each rule with hand-made histories, which are in tests/
Nothing that the agent says is evidence. Uses only Python's standard library.
"""
