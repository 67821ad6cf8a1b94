# SPDX-License-Identifier: GPL-2.0-or-later
"""The independent checker: what the API server told a process of its own, joined with what
slurmctld wrote itself.

    recorder.py   a process that watches pods and nodes from the beginning and writes down every
                  change; a gap is written as a gap
    history.py    reads that
    slurm_log.py  the lives of Slurm's jobs: slurmctld's log, job completion log, and what scontrol
                  showed meanwhile
    faults.py     what the test did and when: causes, and the times at which something was away
    rules.py      the invariants, each a function from evidence to violations; ends.py: those about
                  how jobs end
    test_history_checker.py
                  each rule against histories made by hand
The agent's word is never evidence. Python's standard library only.
"""
