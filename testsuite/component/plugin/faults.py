# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmctld killed, reconfigured, without an agent, with a slow agent; and the cost of the plugin.
"""
import os
import signal
import time

from guard import DUPLICATE, TRY_AGAIN
from fixture import PATIENCE, eventually, marker, slowness


def without_agent_jobs_go_on_and_a_snapshot_heals(fixture, peer):
    peer.stop()
    job = fixture.submit(marker("alone")).job
    gone = fixture.submit(marker("alone-2")).job
    for each in (job, gone):
        assert eventually(lambda j=each: fixture.job(j)["JobState"] == "RUNNING"), fixture.job(each)
    fixture.complete(gone)
    before = len(peer.lines)
    peer.start()
    snapshot = eventually(lambda: peer.snapshot(before))
    assert snapshot and snapshot[job]["state"] == "running", snapshot
    # The keeper may look at the jobs only after the connect. Then the end is a separate line after
    # the snapshot.
    assert peer.wait("job", id=gone, state="complete", after=before), peer.last("job", id=gone)
    fixture.complete(job)


def a_full_queue_drops_the_connection(fixture, peer):
    connections = peer.connections
    peer.reading.clear()
    for i in range(400):
        reason = f"{i}" + "x" * 100_000
        fixture.command("scontrol", "update", "nodename=k[1-4]", "state=drain", f"reason={reason}")
        time.sleep(
            0.11
        )  # the keeper looks at nodes every 100 ms; it sends no line for a reason that it never saw
        if "queue dropped" in fixture.log():
            break
    peer.reading.set()
    assert "queue dropped" in fixture.log()
    fixture.command("scontrol", "update", "nodename=k[1-4]", "state=resume")
    assert eventually(lambda: peer.connections > connections)
    before = len(peer.lines)
    assert peer.wait("node", name="k4", drain=False), peer.last("node", name="k4")
    assert eventually(
        lambda: (peer.last("stats") or (0, {"queue_drops": 0}))[1]["queue_drops"] > 0
    ), (before, peer.last("stats"))


def kill_9_and_restart_keep_jobs_and_exactly_once(fixture, peer):
    jobs = {i: fixture.submit(marker(f"crash-{i}")).job for i in range(5)}
    assert all(peer.wait("job", id=job, state="running") for job in jobs.values())
    assert eventually(
        lambda: fixture.saved("crash-4"), every=0.1
    ), "slurmctld does not save its jobs"  # a job that was not saved is lost in a crash
    before = len(peer.lines)
    fixture.kill_slurmctld()
    fixture.start_slurmctld()
    second = eventually(
        lambda: next((a for a in [fixture.submit(marker("crash-3"))] if a.error != TRY_AGAIN), None)
    )
    assert not second.ok and second.error == DUPLICATE, vars(second)
    assert f"job {jobs[3]} already stands" in second.messages, second.messages
    snapshot = eventually(lambda: peer.snapshot(before))
    assert snapshot, "no snapshot after the restart"
    for job in jobs.values():
        assert snapshot[job]["state"] == "running" and snapshot[job]["nodes"], snapshot.get(job)
    for job in jobs.values():
        assert fixture.complete(job).ok
        assert peer.wait(
            "job", id=job, state="complete", completing=False, after=before
        ), peer.last("job", id=job)


def reconfigure_does_no_harm(fixture, peer):
    job = fixture.submit(marker("reconfigure")).job
    assert peer.wait("job", id=job, state="running"), peer.last("job", id=job)
    for _ in range(3):
        fixture.reconfigure()
    before = len(peer.lines)
    assert fixture.job(job)["JobState"] == "RUNNING", fixture.job(job)
    assert eventually(
        lambda: fixture.threads() == ["kube-keeper", "kube-link", "kube-sink"]
    ), fixture.threads()
    fixture.complete(job)
    assert peer.wait("job", id=job, state="complete", completing=False), peer.last("job", id=job)
    later = fixture.submit(marker("reconfigure-2")).job
    assert peer.wait("job", id=later, state="running", after=before)
    fixture.complete(later)
    for node in ("k1", "g1"):
        assert eventually(lambda n=node: fixture.node_state(n) == "IDLE"), fixture.node_state(node)


def descriptors_do_not_leak(fixture, peer):
    fds = f"/proc/{fixture.slurmctld.pid}/fd"
    count = len(os.listdir(fds))
    for _ in range(8):
        peer.drop()
        connections = peer.connections
        assert eventually(lambda c=connections: peer.connections > c)
    assert eventually(lambda: len(os.listdir(fds)) <= count + 2), os.listdir(fds)


def lives_leave_nothing_behind(fixture, peer):
    """11,000 external jobs come and go; once slurmctld has forgotten them, it is as large as
    before. testsuite/bench/soak.py does the same for longer.

    slurmctld gets one arena for all its threads. With glibc's sixteen it grows by 16 MiB within
    7,500 lives, also where nothing leaks, and at a different speed each time.
    """
    fixture.controller = ["env", "MALLOC_ARENA_MAX=1"]
    lines = len(peer.lines)
    fixture.kill_slurmctld(signal.SIGTERM)
    fixture.start_slurmctld()
    assert peer.wait("snapshot_end", after=lines)
    fixture.controller = []
    process = f"/proc/{fixture.slurmctld.pid}"
    before = set(fixture.job_ids())

    def size_after(batch, lives):
        answer = fixture.command(
            fixture.binary,
            "lives",
            f"marker={marker(f'life-{batch}-@')}",
            "partition=kube",
            "threads=4",
            f"count={lives // 4}",
            seconds=240,
        ).stdout
        assert answer.split()[:3] == ["lives", str(lives), "0"], answer
        assert eventually(
            lambda: set(fixture.job_ids()) <= before, 400, 0.5
        ), "slurmctld does not forget its jobs"
        with open(f"{process}/status", encoding="ascii") as f:
            return int(next(line for line in f if line.startswith("VmRSS")).split()[1]), len(
                os.listdir(f"{process}/fd")
            )

    size_after(0, 2000)
    sizes = [size_after(batch, 1500) for batch in range(1, 7)]
    first, last = sizes[0], sizes[-1]
    found = f"VmRSS {', '.join(str(rss) for rss, _ in sizes)} KiB"
    print(f"# {found}")
    # The allocator grows in steps, every one or two batches; a leak grows in every batch.
    least = min(later[0] - earlier[0] for earlier, later in zip(sizes, sizes[1:]))
    assert least < 400, f"1,500 lives may leave less than 0.27 KiB each: {found}"
    assert last[1] <= first[1] + 2, f"descriptors stay behind: {first[1]}, {last[1]} at the end"
    stats = peer.wait("stats", after=len(peer.lines))[1]
    assert stats["placeholders"] <= 2, stats


def prolog_flags_do_not_hold_jobs(fixture, peer):
    fixture.write_conf(extra="PrologFlags=Alloc")
    fixture.kill_slurmctld(signal.SIGTERM)
    fixture.start_slurmctld()
    answer = fixture.submit(marker("prolog"))
    line = peer.wait("job", id=answer.job, state="running", configuring=False)
    assert line, peer.last("job", id=answer.job)
    print(f"# configured after {(line[0] - answer.ns) / 1e6:.1f} ms")
    assert eventually(
        lambda: fixture.job(answer.job)["Reason"] == "None"
    ), "Slurm waits for a prolog that nobody runs"
    fixture.complete(answer.job)
    assert peer.wait("job", id=answer.job, state="complete", completing=False)


def kube_conf_is_read_again(fixture, peer):
    """Even if slurm.conf was read in the same second before: slurmctld records whole seconds."""

    def may_submit():
        result = fixture.command(
            "sbatch", "-p", "mixed", "--hold", "-D", "/", "-o", "/dev/null", "--wrap", "true"
        )
        if result.returncode == 0:
            fixture.command("scancel", "--partition=mixed")
        return result.returncode == 0

    assert may_submit()
    for partitions, may in (("kube,mixed", False), ("kube", True)):
        with open(f"{fixture.run}/kube.conf", "w", encoding="utf-8") as f:
            f.write(
                f"Socket={fixture.run}/plugin.sock\nSinkPort={fixture.sink}\n"
                f"Partitions={partitions}\n"
            )
        fixture.reconfigure()
        assert eventually(lambda m=may: may_submit() == m), partitions


def it_can_be_taken_out_and_put_in_again(fixture, peer):
    with open(f"{fixture.run}/slurm.conf", encoding="utf-8") as f:
        conf = f.read()
    for text, threads in ((conf.replace("JobSubmitPlugins=kube", ""), 0), (conf, 3)):
        with open(f"{fixture.run}/slurm.conf", "w", encoding="utf-8") as f:
            f.write(text)
        fixture.reconfigure()
        assert eventually(lambda t=threads: len(fixture.threads()) == t), fixture.threads()
    before = len(peer.lines)
    answer = fixture.submit(marker("again"))
    assert answer.ok and peer.wait("job", id=answer.job, after=before - 50)
    fixture.complete(answer.job)


def inactive_limit_spares_external_jobs(fixture, peer):
    while (
        time.monotonic() - fixture.inactive_since < 40
    ):  # Slurm looks every 30 s, and allows 4/3 of the limit + MessageTimeout
        time.sleep(0.2)
    assert fixture.job(fixture.inactive)["JobState"] == "RUNNING", fixture.job(fixture.inactive)
    fixture.complete(fixture.inactive)


def what_slurm_forgets_is_told(fixture, peer):
    # MinJobAge is 2 s, but Slurm purges jobs only once a minute
    assert eventually(
        lambda: peer.find("job_gone", id=fixture.purge)
        or fixture.purge not in (peer.snapshot() or {fixture.purge: 0}),
        150,
        0.2,
    )


def the_cost_is_small(fixture, peer):
    line = peer.wait("stats", after=len(peer.lines))
    assert line, "no stats for 6 s"
    stats = line[1]
    for key in ("hook", "lock_wait", "lock_hold"):
        cost = stats[key]
        print(
            f"# {key}: n {cost['count']}, mean {cost['mean_us']:.1f} us, p99"
            f" {cost['p99_us']:.1f} us, max {cost['max_us']:.1f} us"
        )
    print(f"# duty {stats['duty_percent']:.3f} %")
    assert stats["hook"]["count"] > 0 and stats["lock_hold"]["count"] > 0, stats
    assert stats["duty_percent"] < 2.5 * slowness(), stats
    assert (
        stats["lock_hold"]["mean_us"] < 2000 * slowness()
    ), stats  # includes threads that were descheduled, so single values may be long


def the_link_says_that_slurmctld_runs(fixture, peer):
    """Several times a second, and since when it is in control: the agent trusts it no longer
    than a second.
    """
    began = time.monotonic_ns()
    first = len(peer.lines)
    time.sleep(3)
    seconds = (time.monotonic_ns() - began) / 1e9
    told = [m for _, m in peer.lines[first:] if m["type"] == "alive"]
    print(f"# {len(told)} lines in {seconds:.1f} s")
    assert seconds < len(told) < 5 * seconds, told
    assert peer.last("hello")[1]["control_since_us"] > 1_700_000_000_000_000, peer.last("hello")


def nothing_was_out_of_order(fixture, peer):
    assert peer.gaps == 0
    assert "internal error" not in fixture.log()


def sigterm_ends_it_quickly(fixture, peer):
    began = time.monotonic()
    fixture.kill_slurmctld(signal.SIGTERM)
    assert fixture.slurmctld.returncode == 0, fixture.slurmctld.returncode
    assert time.monotonic() - began < PATIENCE / 2


TESTS = [
    without_agent_jobs_go_on_and_a_snapshot_heals,
    a_full_queue_drops_the_connection,
    reconfigure_does_no_harm,
    descriptors_do_not_leak,
    kill_9_and_restart_keep_jobs_and_exactly_once,
    inactive_limit_spares_external_jobs,
    what_slurm_forgets_is_told,
    the_cost_is_small,
    the_link_says_that_slurmctld_runs,
    lives_leave_nothing_behind,
    prolog_flags_do_not_hold_jobs,
    kube_conf_is_read_again,
    it_can_be_taken_out_and_put_in_again,
    nothing_was_out_of_order,
    sigterm_ends_it_quickly,
]
