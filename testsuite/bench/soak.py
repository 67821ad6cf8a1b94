#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Does slurmctld keep anything of external jobs that have ended? Measures its memory and
descriptors over many jobs, with and without the plugin.

usage: soak.py BUILDDIR [--lives 100000] [--batch 10000] [--ports FIRST] [--heap]
               [--arenas N] (root)

Two private slurmctld run at the same time, each with four external nodes: one with the plugin, one
whose plugin was removed when its nodes were in service (emulated nodes then stay so for a year).
Slurm before 25.05 cannot complete an external job without the plugin, so the second one is left out
there. Four threads submit and complete jobs through libslurm. After each batch the program waits
until slurmctld has purged all its jobs (MinJobAge=2), then it reads VmRSS and the descriptors. The
first two batches warm up. Prints one line of JSON:
  bytes_per_life   slope of VmRSS by least squares after the warm-up, plugin and control;
                   descriptors first and last; lives/s of the best batch
--heap also counts the live bytes on the heap (heap.c): slopes of all bytes and of C++'s, which
belong to the plugin; VmRSS includes what the allocator keeps between blocks. --arenas N sets
MALLOC_ARENA_MAX.
"""
import argparse
import json
import os
import shutil
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "component/plugin"))

from fixture import SOURCE, Fixture, Peer, eventually, marker  # noqa: E402

WARM = 2


def rss_kib(pid):
    return int(
        next(
            line
            for line in Path(f"/proc/{pid}/status").read_text().splitlines()
            if line.startswith("VmRSS")
        ).split()[1]
    )


def slope(samples, batch):
    """The slope per life, by least squares after the warm-up."""
    xs, ys = range(len(samples) - WARM), samples[WARM:]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return round(
        sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs) / batch, 1
    )


class Side:
    def __init__(self, build, port, plugin, options):
        self.fixture, self.plugin = Fixture(build, port, extra="MaxJobCount=100000"), plugin
        self.heap = []  # (all bytes, C++'s bytes, all blocks, C++'s blocks)
        if options.arenas:
            self.fixture.env["MALLOC_ARENA_MAX"] = str(options.arenas)
        if options.heap:
            self.count_heap()
        self.peer = Peer(f"{self.fixture.run}/plugin.sock")
        self.rss, self.fds, self.rates, self.number = [], [], [], 0
        self.fixture.start_munged()
        self.fixture.start_slurmctld()
        assert self.peer.wait("snapshot_end")
        assert eventually(lambda: self.fixture.node_state("k1") == "IDLE")
        if not plugin:
            self.fixture.write_conf(submit="")
            self.fixture.kill_slurmctld(15)
            self.fixture.start_slurmctld()

    def count_heap(self):
        shutil.copy(f"{SOURCE}/testsuite/bench/heap.c", self.fixture.run)
        made = self.fixture.command(
            "gcc",
            "-shared",
            "-fPIC",
            "-O2",
            "-o",
            f"{self.fixture.run}/heap.so",
            f"{self.fixture.run}/heap.c",
        )
        assert made.returncode == 0, made.stderr
        self.fixture.controller = [
            "env",
            f"LD_PRELOAD={self.fixture.run}/heap.so",
            f"HEAP_COUNTERS={self.fixture.run}/heap",
        ]

    def start(self, lives):
        self.number += 1
        self.began = time.monotonic()
        return self.fixture.alloc(
            "lives",
            f"marker={marker(f'{self.number}-@')}",
            "partition=kube",
            "threads=4",
            f"count={lives // 4}",
            *([] if self.plugin else ["external=1"]),
            background=True,
        )

    def finish(self, process, lives):
        out = process.communicate(timeout=600)[0].split()
        assert int(out[1]) == lives // 4 * 4, (out, self.fixture.run)
        self.rates.append(lives / (time.monotonic() - self.began))

    def sample(self):
        assert eventually(
            lambda: not self.fixture.command("scontrol", "-o", "show", "job").stdout.startswith(
                "JobId"
            ),
            90,
            1,
        ), "jobs stay"
        self.peer.lines = self.peer.lines[-100:]
        self.rss.append(rss_kib(self.fixture.slurmctld.pid))
        self.fds.append(len(os.listdir(f"/proc/{self.fixture.slurmctld.pid}/fd")))
        counted = Path(f"{self.fixture.run}/heap.{self.fixture.slurmctld.pid}")
        if counted.exists():
            self.heap.append(struct.unpack("4q", counted.read_bytes()[:32]))

    def result(self, batch):
        out = {
            "bytes_per_life": slope([kib * 1024 for kib in self.rss], batch),
            "rss_kib": self.rss,
            "descriptors": [self.fds[WARM], self.fds[-1]],
            "lives_per_second": round(max(self.rates)),
        }
        for i, name in enumerate(("heap", "cxx") if self.heap else ()):
            out[name] = {
                "bytes_per_life": slope([h[i] for h in self.heap], batch),
                "bytes": [h[i] for h in self.heap],
                "blocks": [h[i + 2] for h in self.heap],
            }
        return out


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("build")
    p.add_argument("--lives", type=int, default=100000)
    p.add_argument("--batch", type=int, default=10000)
    p.add_argument("--ports", type=int, default=21100)
    p.add_argument("--heap", action="store_true")
    p.add_argument("--arenas", type=int)
    a = p.parse_args()
    sides = {"plugin": Side(a.build, a.ports, True, a)}
    try:
        if sides["plugin"].fixture.is_native():
            sides["control"] = Side(a.build, a.ports + 10, False, a)
        for n in range(a.lives // a.batch):
            under_way = [(s, s.start(a.batch)) for s in sides.values()]
            for side, process in under_way:
                side.finish(process, a.batch)
            for side in sides.values():
                side.sample()
            print(
                f"{(n + 1) * a.batch} lives: "
                + ", ".join(
                    f"{k} {s.rss[-1]} KiB {s.fds[-1]} descriptors" for k, s in sides.items()
                ),
                file=sys.stderr,
                flush=True,
            )
        print(
            json.dumps(
                {
                    "lives": a.lives,
                    "slurm": sides["plugin"].fixture.command("slurmctld", "-V").stdout.split()[-1],
                    **{k: s.result(a.batch) for k, s in sides.items()},
                }
            )
        )
    finally:
        for side in sides.values():
            side.fixture.stop()


if __name__ == "__main__":
    main()
