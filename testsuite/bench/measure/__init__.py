# SPDX-License-Identifier: GPL-2.0-or-later
"""What testsuite/bench/bench.py is made of.

    bench_bed   Slurm, Kubernetes, the agent and kube-scheduler in one bed; either scheduler is
                started and stopped by the scenario
    processes   processor seconds and peak memory of every daemon over a stretch of time
    load        pods made, bound and removed in bulk by the compiled program testsuite/bench/load
    figures     what was measured, again and again: median and spread, ratios, the table and the
                JSON
    scenarios   one module each
"""
