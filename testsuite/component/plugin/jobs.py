# SPDX-License-Identifier: GPL-2.0-or-later
"""What the plugin tells the agent: hello, snapshot, starts, ends, allocations; and that nodes
without slurmd work at all.
"""
import os
import time

from fixture import eventually, marker, slowness


def hello_and_snapshot_come_first(fixture, peer):
    assert peer.wait("snapshot_end"), "no snapshot"
    kinds = [m["type"] for _, m in peer.lines[:2]]
    assert kinds == ["hello", "snapshot_begin"], kinds
    hello = peer.lines[0][1]
    assert (
        hello["protocol"] == 1 and hello["cluster"] == "lab" and hello["feature"] == "kube"
    ), hello
    assert (
        hello["config_error"] == ""
        and hello["sink_port"] == fixture.sink
        and hello["whole_sockets"] is False
    ), hello
    names = sorted(m["name"] for _, m in peer.lines if m["type"] == "node")
    assert (
        names == fixture.external_nodes()
    ), f"Feature kube marks external nodes, kubernetes does not: {names}"


def there_are_three_threads_and_no_other(fixture, peer):
    assert eventually(
        lambda: fixture.threads() == ["kube-keeper", "kube-link", "kube-sink"]
    ), fixture.threads()


def nodes_without_slurmd_are_idle(fixture, peer):
    for node in ("k1", "k3", "g1"):
        assert eventually(lambda n=node: fixture.node_state(n) == "IDLE"), fixture.node_state(node)


def a_start_is_reported_within_10_ms(fixture, peer):
    delays = []
    for i in range(20):
        answer = fixture.submit(marker(f"start-{i}"))
        assert answer.ok, answer.messages
        line = peer.wait("job", id=answer.job, state="running")
        assert line, "start not reported"
        delays.append((line[0] - answer.ns) / 1e6)
        fixture.complete(answer.job)
    delays.sort()
    print(f"# start reported after: median {delays[10]:.1f} ms, worst {delays[-1]:.1f} ms")
    assert delays[5] < 10 * slowness(), delays


def an_end_is_reported_with_its_state(fixture, peer):
    delays = []
    for status, state in ((0, "complete"), (3 << 8, "failed"), (9, "failed"), (253, "oom")):
        job = fixture.submit(marker(f"end-{status}")).job
        answer = fixture.complete(job, status)
        line = peer.wait("job", id=job, state=state, completing=False)
        assert line, f"{state} not reported: {peer.last('job', id=job)}"
        if status != 253:
            assert line[1]["exit_status"] == status, line
        delays.append((line[0] - answer.ns) / 1e6)
    print(f"# end reported after: {min(delays):.1f} to {max(delays):.1f} ms")
    assert min(delays) < 100 * slowness(), delays


def a_cancelled_job_is_reported(fixture, peer):
    running = fixture.submit(marker("cancel")).job
    began = time.monotonic_ns()
    fixture.command("scancel", str(running))
    line = peer.wait("job", id=running, state="cancelled", completing=False)
    assert line, "scancel not reported"
    print(f"# scancel, command and all: {(line[0] - began) / 1e6:.1f} ms")


def completing_does_not_last(fixture, peer):
    job = fixture.submit(marker("completing"), node="k1", cpus=4).job
    fixture.complete(job)
    assert eventually(lambda: fixture.job(job).get("JobState") == "COMPLETED", 20), fixture.job(job)
    assert eventually(lambda: fixture.node_state("k1") == "IDLE", 20), fixture.node_state("k1")


def a_waiting_job_says_why_and_starts_at_once_when_there_is_room(fixture, peer):
    first = fixture.submit(marker("room-1"), node="k2", cpus=4).job
    second = fixture.submit(marker("room-2"), node="k2", cpus=4)
    assert second.ok and second.nodes == "-"
    assert peer.wait("job", id=second.job, state="pending", reason="Resources"), peer.last(
        "job", id=second.job
    )
    ended = fixture.complete(first)
    line = peer.wait("job", id=second.job, state="running")
    assert line, "never started"
    print(f"# freed to next start: {(line[0] - ended.ns) / 1e6:.1f} ms")
    assert line[0] - ended.ns < 500e6 * slowness(), "Slurm was not told to look for work"
    fixture.complete(second.job)


def a_pending_native_job_delays_nobody(fixture, peer):
    """Slurm's allocate RPC does not even try to start the job while an older job is pending, in any
    partition.
    """
    native = fixture.command(
        "sbatch", "--parsable", "-p", "native", "-D", "/", "-o", "/dev/null", "--wrap", "true"
    ).stdout.strip()
    delays = []
    for i in range(3):  # Slurm's own passes are 3 s apart: two of these jobs come between passes
        answer = fixture.submit(marker(f"behind-native-{i}"))
        line = peer.wait("job", id=answer.job, state="running")
        assert line, peer.last("job", id=answer.job)
        delays.append((line[0] - answer.ns) / 1e6)
        time.sleep(0.1)  # the next job must not start in the pass that follows the end of this one
        fixture.complete(answer.job)
        time.sleep(0.1)
    print(f"# started {max(delays):.1f} ms after the answer at worst")
    assert max(delays) < 500 * slowness(), f"the scheduler was not told: {delays}"
    fixture.command("scancel", native)


def an_allocation_has_cores_and_memory(fixture, peer):
    job = fixture.submit(marker("facts"), node="k3", cpus=2, memory=100, minutes=7).job
    _, line = peer.wait("job", id=job, state="running")
    assert line["time_limit"] == 7 and line["partition"] == "kube" and line["user_id"] == 0, line
    assert line["nodes"] == [
        {"name": "k3", "cpus": 2, "cores": "0-1", "memory": 100, "gres": []}
    ], line["nodes"]
    assert line["end_time"] - line["start_time"] == 420, line
    fixture.complete(job)


def devices_have_numbers(fixture, peer):
    jobs = [
        fixture.submit(marker(f"gpu-{i}"), gres=f"gres{fixture.gres_mark}gpu:1") for i in range(2)
    ]
    seen = []
    for answer in jobs:
        assert answer.ok, vars(answer)
        _, line = peer.wait("job", id=answer.job, state="running")
        gres = line["nodes"][0]["gres"]
        assert len(gres) == 1 and gres[0]["name"] == "gpu" and gres[0]["count"] == 1, gres
        seen.append(gres[0]["indices"])
    assert sorted(seen) == ["0", "1"], seen
    for answer in jobs:
        fixture.complete(answer.job)


def the_job_runs_as_the_markers_user(fixture, peer):
    job = fixture.submit(marker("identity", user=65534, group=65534)).job
    assert (
        "(65534)" in fixture.job(job)["UserId"] and "(65534)" in fixture.job(job)["GroupId"]
    ), fixture.job(job)
    assert peer.wait("job", id=job, user_id=65534, state="running")
    fixture.complete(job)


def down_and_drain_set_by_people_stay(fixture, peer):
    job = fixture.submit(marker("down"), node="k1").job
    began = time.monotonic_ns()
    fixture.command("scontrol", "update", "nodename=k1", "state=down", "reason=broken")
    line = peer.wait("job", id=job, state="node_fail")
    assert line, peer.last("job", id=job)
    print(f"# node down, command and all: {(line[0] - began) / 1e6:.1f} ms")
    fixture.command("scontrol", "update", "nodename=k2", "state=drain", "reason=look")
    assert peer.wait("node", name="k1", base="down", reason="broken"), peer.last("node", name="k1")
    assert peer.wait("node", name="k2", drain=True, reason="look"), peer.last("node", name="k2")
    time.sleep(1.5)  # several passes of the keeper, which must not change the nodes
    assert fixture.node_state("k1").startswith("DOWN"), fixture.node_state("k1")
    assert "DRAIN" in fixture.node_state("k2"), fixture.node_state("k2")
    fixture.command("scontrol", "update", "nodename=k[1-2]", "state=resume")
    for node in ("k1", "k2"):
        assert eventually(lambda n=node: fixture.node_state(n) == "IDLE"), fixture.node_state(node)
        assert peer.wait(
            "node",
            name=node,
            base="idle",
            drain=False,
            not_responding=False,
            after=len(peer.lines) - 50,
        )


def a_signal_to_a_node_without_slurmd_does_no_harm(fixture, peer):
    job = fixture.submit(marker("signal"), node="k1").job
    fixture.command("scancel", "-s", "USR1", str(job))
    fixture.command("scontrol", "suspend", str(job))
    assert peer.wait("job", id=job, state="suspended")
    fixture.command("scontrol", "resume", str(job))
    end = time.monotonic() + 2
    while time.monotonic() < end:
        assert "*" not in fixture.node_state("k1") and "NOT_RESPONDING" not in fixture.node_state(
            "k1"
        ), fixture.node_state("k1")
    assert peer.wait("job", id=job, state="running", after=len(peer.lines) - 100)
    fixture.complete(job)
    assert peer.wait("stats") and eventually(
        lambda: peer.last("stats")[1]["sink_contacts"] > 0, 6
    ), peer.last("stats")


def a_dynamic_node_comes_works_and_goes(fixture, peer):
    if not fixture.has_dynamic_nodes():
        return
    made = fixture.command(
        "scontrol",
        "create",
        "nodename=d1",
        f"state={'EXTERNAL' if fixture.is_native() else 'CLOUD'}",
        "cpus=4",
        "realmemory=4000",
        "features=kube",
        "nodeaddr=127.0.0.1",
        f"port={fixture.sink}",
    )
    assert made.returncode == 0, made
    assert peer.wait("node", name="d1", base="idle", dynamic=True), peer.last("node", name="d1")
    job = fixture.submit(marker("dynamic"), node="d1").job
    assert peer.wait("job", id=job, state="running", configuring=False), peer.last("job", id=job)
    fixture.reconfigure()
    assert eventually(lambda: "MIXED" in fixture.node_state("d1")), fixture.node_state("d1")
    fixture.complete(job)
    assert peer.wait("job", id=job, state="complete", completing=False)
    assert eventually(lambda: "IDLE" in fixture.node_state("d1")), fixture.node_state("d1")
    before = len(peer.lines)
    assert fixture.command("scontrol", "delete", "nodename=d1").returncode == 0
    assert peer.wait("node_gone", name="d1", after=before)


def a_forgotten_job_is_gone(fixture, peer):
    job = fixture.submit(marker("purge")).job
    fixture.complete(job)
    fixture.purge = job  # Slurm purges the job later: checked at the end


def numbers_that_slurm_leaps_over_hide_no_job(fixture, peer):
    """Slurm skips job numbers for which a job directory exists, as after a lost state, and checks
    each number on disk. The plugin must not do that while it holds locks.
    """
    first = fixture.submit(marker("leap-before")).job
    left = [
        f"{fixture.run}/state/hash.{number % 10}/job.{number}"
        for number in range(first + 1, first + 10001)
    ]
    for path in left:
        os.makedirs(path)
    before = len(peer.lines)
    fixture.complete(first)  # so that the keeper looks for new jobs, once a second
    time.sleep(2.5)
    log = fixture.log()
    job = fixture.submit(marker("leap-after")).job
    assert job > first + 10000, (first, job)
    for path in left:
        os.rmdir(path)
    assert "Vestigial" not in log, log.splitlines()[-1]  # Slurm's log message for such a directory
    assert peer.wait("job", id=job, after=before), "never told"
    again = fixture.submit(marker("leap-after"))
    assert not again.ok and f"job {job} already stands" in again.messages, vars(again)
    next_one = fixture.submit(marker("leap-next")).job
    assert peer.wait("job", id=next_one, after=before), "what comes after it is not told"
    fixture.complete(job)
    fixture.complete(next_one)


TESTS = [
    hello_and_snapshot_come_first,
    there_are_three_threads_and_no_other,
    nodes_without_slurmd_are_idle,
    a_start_is_reported_within_10_ms,
    an_end_is_reported_with_its_state,
    a_cancelled_job_is_reported,
    completing_does_not_last,
    a_waiting_job_says_why_and_starts_at_once_when_there_is_room,
    a_pending_native_job_delays_nobody,
    an_allocation_has_cores_and_memory,
    devices_have_numbers,
    the_job_runs_as_the_markers_user,
    down_and_drain_set_by_people_stay,
    a_signal_to_a_node_without_slurmd_does_no_harm,
    a_dynamic_node_comes_works_and_goes,
    a_forgotten_job_is_gone,
    numbers_that_slurm_leaps_over_hide_no_job,
]
