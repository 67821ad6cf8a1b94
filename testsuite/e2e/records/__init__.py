# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers of what the API server and Slurm record themselves, for the end-to-end tests, the
history checker and the benchmarks.

    audit_log.py  the API server's audit log: each request, when it was received and answered
    slurm.py      slurmctld's log lines, states of jobs, exit codes as sacct prints them
    times.py      the time stamps in all of these

This package imports neither lib nor history_checker, so that both can use it. Python's standard
library only.
"""
