# SPDX-License-Identifier: GPL-2.0-or-later
"""The library of the end-to-end tests. test_example.py shows how to use it; start there.

    Cluster       a private Slurm, a private Kubernetes and the agent between them, as one context
                  manager
      .slurm      Slurm: squeue and other commands, jobs(), kill9(), restart(), reconfigure()
      .kube       Kube: create, delete, bind, wait for pods, and the full history of the API
                  server's events
      .plane      ControlPlane: kwok_nodes(), real_node(), dra_driver(), cpu_driver(), restart of
                  one component
      .agent      Agent: skube(), kill9(), restart()
    wait_for      the only way to wait: for a condition, with a limit
    run, Skip     the runner: TAP on stdout; it adds the cases of invariants.py to each program
Uses only Python's standard library.
"""
from .agent import Agent
from .cluster import Cluster
from .control_plane import RUNTIME, ControlPlane
from .kube import ApiError, Kube
from .manifests import job, pod
from .slurm import Slurm
from .tap import Skip, equal, run
from .waiting import Timeout, wait_for

__all__ = [
    "Agent",
    "ApiError",
    "Cluster",
    "ControlPlane",
    "Kube",
    "RUNTIME",
    "Skip",
    "Slurm",
    "Timeout",
    "equal",
    "job",
    "pod",
    "run",
    "wait_for",
]
