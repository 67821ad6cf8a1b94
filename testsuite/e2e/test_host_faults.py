#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults in what both daemons depend on: munge, disk, clock, sockets, descriptors. Running pods
continue, pods created meanwhile run once when the fault is over, and neither daemon dies of it.
"""
import os
import socket
import subprocess
from contextlib import suppress

from lib import equal, pod, run, wait_for
from lib.expect import job_in_state, uid_of
from lib.fault_testbed import FaultTestbed, open_files, resting_files
from lib.kube import condition
from lib.process import SOURCE, output_of


def make(bed, *names):
    return [bed.kube.create(pod(name)) for name in names]


def finish(bed, made):
    """Runs all pods to their end; each has one job, COMPLETED."""
    for m in made:
        bed.run_pod(m["metadata"]["name"])
    for m in made:
        bed.end_pod(m["metadata"]["name"])
    bed.others_done()
    for m in made:
        equal(
            [
                j["JobState"]
                for j in bed.slurm.job_of_pod(uid_of(m))
                if j["NodeList"] not in ("", "(null)")
            ],
            ["COMPLETED"],
            m["metadata"]["name"],
        )
        bed.remove_pod(m["metadata"]["name"])
    bed.steady_goes_on()


def agent_said(bed, text, since=0):
    return text in (bed.dir / "log/slurmkubed.out").read_text(errors="replace")[since:]


def log_size(bed):
    return len((bed.dir / "log/slurmkubed.out").read_text(errors="replace"))


def test_munged_killed_and_back(bed):
    """No process can authenticate: submissions and completions fail, but no pod is reported as
    refused. With munged back, all of them succeed.
    """
    ends = make(bed, "munge-0")[0]
    bed.run_pod("munge-0")
    job_in_state(bed, ends, "RUNNING")
    since = log_size(bed)
    bed.slurm.munged.kill9()
    made = make(bed, "munge-1", "munge-2")
    bed.end_pod("munge-0")
    wait_for(
        lambda: agent_said(bed, "submission failed", since)
        and agent_said(bed, "ending failed", since),
        "both to fail",
        120,
    )
    bed.slurm.munged.start()
    wait_for(lambda: bed.slurm.run("scontrol", "ping"), "munge to work")
    finish(bed, made)
    refused = [
        p
        for name in ("munge-1", "munge-2")
        for _, _, p in bed.kube.events_of(name)
        if condition(p, "PodScheduled").get("reason") == "SlurmRefused"
    ]
    assert not refused, "a pod was called refused"
    equal(
        [j["JobState"] for j in bed.slurm.job_of_pod(uid_of(ends))],
        ["COMPLETED"],
        "job of the pod that ended meanwhile",
    )
    bed.remove_pod("munge-0")


def test_slurmctld_cannot_save_its_state(bed):
    """The disk is full. Slurm continues in memory, and so do pods; with free space the state is
    saved again.
    """
    filler = bed.dir / "state/filler"
    with open(filler, "wb", buffering=0) as f:
        try:
            while True:
                f.write(bytes(1 << 16))
        except OSError:
            pass
    finish(bed, make(bed, "full-0", "full-1"))
    assert bed.slurm.slurmctld.alive(), "slurmctld died of a full disk"
    filler.unlink()
    bed.wait_saved()


def test_socket_directory_missing(bed):
    """The agent names the missing directory and exits with an error; with the directory back, it
    starts. slurmctld and the pods are not affected.
    """
    bed.agent.daemon.stop()
    settings, bed.agent.settings = bed.agent.settings, {
        **bed.agent.settings,
        "plugin_socket": f"{bed.dir}/missing/plugin.sock",
    }
    since = log_size(bed)
    bed.agent.start(wait=False)
    wait_for(lambda: not bed.agent.daemon.alive(), "the agent to give up")
    assert agent_said(bed, "missing/plugin.sock", since) and agent_said(
        bed, "does its directory exist?", since
    )
    made = make(bed, "absent")
    bed.agent.settings = settings
    bed.agent.start()
    finish(bed, made)


def test_socket_file_removed(bed):
    """The sockets are deleted from their directory. Connections stay open; a restart of the agent
    creates the sockets again.
    """
    (bed.dir / "plugin.sock").unlink()
    finish(bed, make(bed, "cleaned-0"))
    bed.agent.restart()
    finish(bed, make(bed, "cleaned-1"))


def connected(bed, name):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(str(bed.dir / name))
    return peer


def test_garbage_and_silence_on_the_plugin_socket(bed):
    """Other processes with the right uid send garbage, half a line, or nothing. The plugin
    reconnects, and the agent accepts nothing from them.
    """
    finish_me = make(bed, "garbage-0")
    peers = []
    for text in (
        b"\x00\xff garbage\n",
        b'{"type":"hello","seq":1',
        b'{"type":"job","seq":1}\n',
        b"",
    ):
        peers.append(connected(bed, "plugin.sock"))
        peers[-1].sendall(text)
    wait_for(lambda: bed.agent.skube("ping")["link"], "the plugin to be connected again")
    finish(bed, finish_me + make(bed, "garbage-1"))
    for peer in peers:
        peer.close()


def test_full_control_socket(bed):
    """100 clients connect to skube's socket, and half of them send garbage: the agent keeps the
    last 32 of a user, and continues.
    """
    before = resting_files(bed.agent.daemon.pid)
    peers = [connected(bed, "control.sock") for _ in range(100)]
    for peer in peers[:50]:
        with suppress(BrokenPipeError, ConnectionResetError):  # closed by the agent
            peer.sendall(b"nonsense\n" * 10)
    finish(bed, make(bed, "crowd"))
    for peer in peers:
        peer.close()
    wait_for(lambda: bed.agent.skube("ping")["ready"], "skube to be answered")
    wait_for(
        lambda: open_files(bed.agent.daemon.pid) <= before + 2, "their descriptors to be closed"
    )


# the lowest descriptors, which a daemon keeps to its end: with this limit no other descriptor can
# be opened, however many higher ones exist
LASTING = 4


def test_agent_without_free_descriptors(bed):
    """The agent cannot open another connection, neither to Slurm nor to Kubernetes. With free
    descriptors everything is done, once.
    """
    pid = bed.agent.daemon.pid
    assert {str(n) for n in range(LASTING)} <= set(os.listdir(f"/proc/{pid}/fd"))
    output_of("prlimit", "--pid", pid, f"--nofile={LASTING}:")
    since = log_size(bed)
    made = make(bed, *(f"tight-{i}" for i in range(4)))
    wait_for(lambda: agent_said(bed, "failed", since), "something to fail")
    output_of("prlimit", "--pid", pid, "--nofile=1024:")
    finish(bed, made)
    equal(bed.agent.daemon.pid, pid, "the agent")


def preload(bed):
    """Compiles clock.c in the system where this Slurm is installed."""
    library = bed.dir / "clock.so"
    output_of(
        *bed.slurm.program(
            "cc", "-shared", "-fPIC", "-o", library, SOURCE / "testsuite/e2e/clock.c", "-ldl"
        )
    )
    return library


def test_clock_of_the_agent_steps(bed):
    """One hour ahead and back again, while pods run, wait and arrive: no pod ends, nothing is
    submitted twice, and no node is set DOWN.
    """
    clock = bed.dir / "clock"
    clock.write_text("0")
    bed.agent.daemon.stop()
    command = bed.agent.daemon.command
    place = command.index(str(bed.agent.program))
    bed.agent.daemon.command = (
        command[:place]
        + ["env", f"LD_PRELOAD={preload(bed)}", f"CLOCK_FILE={clock}"]
        + command[place:]
    )
    try:
        bed.agent.start()
        runs = make(bed, "clock-0")
        bed.run_pod("clock-0")
        for i, ahead in enumerate(("3600", "0", "-20", "0")):
            clock.write_text(ahead)
            runs += make(bed, f"clock-{i + 1}")
            bed.run_pod(f"clock-{i + 1}")
            equal(
                [
                    n["State"]
                    for n in bed.slurm.nodes().values()
                    if "DOWN" in n["State"] or "DRAIN" in n["State"]
                ],
                [],
                "nodes that are not up",
            )
        finish(bed, runs)
    finally:
        bed.agent.daemon.stop()
        bed.agent.daemon.command = command
        bed.agent.start()


class Testbed(FaultTestbed):
    """StateSaveLocation is on a disk of 4 MiB."""

    def start_slurm(self):
        output_of(
            "mount", "-t", "tmpfs", "-o", "size=4m,mode=755", "slurm-kube-state", self.dir / "state"
        )
        self.stack.callback(subprocess.run, ["umount", "-l", str(self.dir / "state")], check=False)
        super().start_slurm()


if __name__ == "__main__":
    run(
        lambda build: Testbed(
            build, agent_options={"settings": {"limits": {"condition_interval_seconds": 1}}}
        )
    )
