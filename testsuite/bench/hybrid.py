#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a hybrid node costs native jobs, and whether a pod and a native job disturb each other.

usage: hybrid.py BUILDDIR [LAUNCHES]          (root; LAUNCHES for each side and round, 20; 5 rounds)

Two private Slurms with cgroups run. One is a hybrid node with all that belongs to it: plugin,
agent, slurmkube-node as Prolog and Epilog and in containerd, kubelet. The other has the same
slurm.conf without slurm-kube. The rounds alternate, so that other load on the machine affects
both. Prints a line of JSON:
  launch_ratio         median time of `srun true` on the idle hybrid node divided by that without,
                       over all rounds; a salloc or sbatch waits for Prolog in the same way
  launch_ms, launch_alone_ms  the two medians
  chain_ratio, chain_ms, chain_alone_ms
                       the same with each srun directly after the one before it, whose Epilog it
                       waits for
  share_native, share_pod
                       processor time per second of a native job and of a pod that both use all
                       they get, together, divided by that of each alone. Control planes are on
                       other machines at sites, so these are stopped meanwhile; the daemons of the
                       node are not.
"""
import json
import os
import signal
import statistics
import sys
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from lib import Cluster  # noqa: E402
from lib.cpusets import processes_of_jobs, processes_of_pods  # noqa: E402
from lib.expect import uid_of  # noqa: E402
from lib.hybrid_testbed import CONF, HybridTestbed, remove_cgroups, use_cgroups  # noqa: E402
from lib.waiting import wait_for  # noqa: E402

ROUNDS = 5
WINDOW = 5.0  # seconds of burning per figure
BURN = "while :; do :; done"
TICK = os.sysconf("SC_CLK_TCK")


class _Alone(Cluster):
    """A Slurm with cgroups and without slurm-kube."""

    def __init__(self, build, node):
        self.node = node
        super().__init__(
            build,
            kube=False,
            slurm_options={
                "native_name": node,
                "native_size": "CPUs=2 RealMemory=4000",
                "plugin": False,
            },
        )
        use_cgroups(self, [line for line in CONF if not line.startswith(("Prolog=", "Epilog="))])

    def start_slurm(self):
        self.stack.callback(remove_cgroups, self.node)
        super().start_slurm()


def launches(bed, count, is_chain):
    """Seconds of each `srun true`."""
    found = []
    for _ in range(count):
        if not is_chain:
            wait_for(lambda: bed.slurm.node(bed.node)["State"] == "IDLE", "the node to be idle")
        began = time.monotonic()
        bed.slurm.run("srun", "--quiet", "-pnative", "-n1", "--mem=100", "true")
        found.append(time.monotonic() - began)
    return found


def compared(times, name):
    """The medians of both sides, and their ratio."""
    hybrid, alone = (statistics.median(times[side]) for side in ("hybrid", "alone"))
    return {
        f"{name}_ratio": round(hybrid / alone, 3),
        f"{name}_ms": round(hybrid * 1000, 1),
        f"{name}_alone_ms": round(alone * 1000, 1),
    }


def used(pids):
    """Processor seconds of the processes."""
    ticks = 0
    for pid in pids:
        words = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += int(words[11]) + int(words[12])
    return ticks / TICK


@contextmanager
def control_planes_stopped(bed):
    files = (bed.plane.dir / "run").glob("*.pid")
    pids = [int(file.read_text(encoding="ascii")) for file in files]
    pids += [d.pid for d in (bed.slurm.slurmctld, bed.slurm.munged, bed.agent.daemon)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def shares(bed, *burners):
    """Processor time per second of each group of processes during the same window."""
    with control_planes_stopped(bed):
        before, began = [used(b) for b in burners], time.monotonic()
        time.sleep(WINDOW)
        passed = time.monotonic() - began
        return [(used(b) - was) / passed for b, was in zip(burners, before)]


def native_burner(bed):
    number = bed.start_native(f"exec srun /bin/sh -c '{BURN}'")
    step = lambda: [  # noqa: E731
        pid
        for pid in processes_of_jobs(bed.node).get(number, ())
        if Path(f"/proc/{pid}/comm").read_text(encoding="utf-8") == "sh\n"
    ]
    return number, wait_for(step, "the native job's program", 60)


def pod_burner(bed, name):
    made = bed.make(name, BURN)
    bed.wait_running(made)
    return processes_of_pods(bed.containers)[uid_of(made)]


def burn(bed):
    """(together / alone of the native job, of the pod), alone before and after."""
    number, native = native_burner(bed)
    (native_before,) = shares(bed, native)
    pod = pod_burner(bed, "burner")
    together = shares(bed, native, pod)
    bed.slurm.run("scancel", str(number))
    wait_for(lambda: not Path(f"/proc/{native[0]}").exists(), "the end of the native job", 60)
    (pod_alone,) = shares(bed, pod)
    bed.delete("burner")
    bed.wait_idle()
    return together[0] / native_before, together[1] / pod_alone


def main(build, count="20"):
    apart, chain, burned = {"hybrid": [], "alone": []}, {"hybrid": [], "alone": []}, []
    with HybridTestbed(build, f"hybrid{os.getpid()}") as hybrid:
        with _Alone(build, f"alone{os.getpid()}") as alone:
            for number in range(ROUNDS):
                sides = [("hybrid", hybrid), ("alone", alone)]
                for name, bed in sides if number % 2 else reversed(sides):
                    apart[name] += launches(bed, int(count), False)
                    chain[name] += launches(bed, int(count), True)
                burned.append(burn(hybrid))
    shared = {
        "share_native": [round(n, 3) for n, _ in burned],
        "share_pod": [round(p, 3) for _, p in burned],
    }
    print(json.dumps({**compared(apart, "launch"), **compared(chain, "chain"), **shared}))


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
