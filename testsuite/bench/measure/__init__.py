# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of testsuite/bench/bench.py.

    bench_testbed
                Slurm, Kubernetes, the agent and kube-scheduler in one test bed; the scenario starts
                and stops either scheduler
    processes   CPU seconds and peak memory of every daemon over a period
    load        creates, binds and deletes pods in bulk through the compiled program
                testsuite/bench/load
    figures     the measurements of all repetitions: median and spread, ratios, the table and the
                JSON
    scenarios   one module each
"""
