# SPDX-License-Identifier: GPL-2.0-or-later
"""Gaps in Slurm's own support for external nodes and jobs (25.05 to 26.05, each version different
ones), and in that for emulated ones, which the keeper closes. A test that cannot apply to this
Slurm gives the reason.
"""
import signal
import socket
import subprocess
import sys
import time

from fixture import Skip, eventually, marker, slowness


def running(fixture, peer, name, **keys):
    answer = fixture.submit(marker(name), **keys)
    assert answer.ok and peer.wait("job", id=answer.job, state="running"), (
        vars(answer),
        peer.last("job", id=answer.job),
    )
    return answer.job


def update(fixture, node, *words):
    result = fixture.command("scontrol", "update", f"nodename={node}", *words)
    assert result.returncode == 0, result


def is_idle(fixture, *nodes):
    for node in nodes:
        assert eventually(lambda n=node: fixture.node_state(n) == "IDLE"), (
            node,
            fixture.node_state(node),
        )


def restart(fixture, peer):
    before = len(peer.lines)
    fixture.kill_slurmctld(signal.SIGTERM)
    fixture.start_slurmctld()
    assert eventually(lambda: peer.snapshot(before) is not None), "no snapshot after the restart"


def a_signal_that_reaches_nobody_leaves_the_node_in_service(fixture, peer):
    if not fixture.is_native():
        raise Skip("there an RPC to a node ends at the sink")
    job = running(fixture, peer, "dead-end", node="x1")
    fixture.command("scancel", "-s", "USR1", str(job))
    fixture.command("scontrol", "suspend", str(job))
    fixture.command("scontrol", "resume", str(job))
    until = time.monotonic() + fixture.rpc_patience
    while time.monotonic() < until:
        assert "*" not in fixture.node_state("x1") and "NOT_RESPONDING" not in fixture.node_state(
            "x1"
        ), fixture.node_state("x1")
        time.sleep(0.1)
    fixture.complete(job)
    fixture.complete(running(fixture, peer, "dead-end-2", node="x1"))
    is_idle(fixture, "x1")


def not_responding_does_not_last(fixture, peer):
    update(fixture, "k1", "state=noresp")
    is_idle(fixture, "k1")
    fixture.complete(running(fixture, peer, "noresp", node="k1"))


def room_that_a_cancelled_job_leaves_is_used_at_once(fixture, peer):
    first = running(fixture, peer, "room-cancel", node="k2", cpus=4)
    second = fixture.submit(marker("room-cancel-2"), node="k2", cpus=4).job
    assert peer.wait("job", id=second, state="pending")
    began = time.monotonic_ns()
    fixture.command("scancel", str(first))
    line = peer.wait("job", id=second, state="running")
    assert line and line[0] - began < 500e6 * slowness(), (line, began)
    fixture.complete(second)


def a_long_queue_of_native_jobs_hides_nobody(fixture, peer):
    """Slurm's short pass ends after 100 jobs; these are older, and wait for a node that is down."""
    queue = fixture.alloc("submit", "partition=native", "threads=4", "count=50")
    assert len(queue) == 200 and all(a.ok for a in queue), [vars(a) for a in queue if not a.ok]
    delays = []
    for i in range(3):
        first = running(fixture, peer, f"hidden-{i}", node="k2", cpus=4)
        second = fixture.submit(marker(f"hidden-{i}-2"), node="k2", cpus=4).job
        assert peer.wait("job", id=second, state="pending")
        ended = fixture.complete(first)
        line = peer.wait("job", id=second, state="running")
        assert line, peer.last("job", id=second)
        delays.append(round((line[0] - ended.ns) / 1e6, 1))
        fixture.complete(second)
    fixture.command("scancel", "--partition=native")
    print(f"# freed to next start behind 200 jobs: {delays} ms")
    assert max(delays) < 500 * slowness(), delays


def room_on_a_node_that_comes_back_is_used_at_once(fixture, peer):
    before = len(peer.lines)
    update(fixture, "k2", "state=drain", "reason=pause")
    assert peer.wait("node", name="k2", drain=True, after=before)
    job = fixture.submit(marker("room-resume"), node="k2").job
    assert peer.wait("job", id=job, state="pending")
    began = time.monotonic_ns()
    update(fixture, "k2", "state=resume")
    line = peer.wait("job", id=job, state="running")
    assert line, peer.last("job", id=job)
    print(f"# resumed to started: {(line[0] - began) / 1e6:.1f} ms")
    assert line[0] - began < 450e6 * slowness(), "the scheduler was not told"
    fixture.complete(job)


def a_node_made_again_is_shared_as_before(fixture, peer):
    if not fixture.has_dynamic_nodes():
        raise Skip("no dynamic nodes")
    for round_ in range(2):
        made = fixture.command(
            "scontrol",
            "create",
            "nodename=d2",
            f"state={'EXTERNAL' if fixture.is_native() else 'CLOUD'}",
            "cpus=4",
            "realmemory=4000",
            "features=kube",
            "nodeaddr=127.0.0.1",
            f"port={fixture.sink}",
        )
        assert made.returncode == 0, made
        assert peer.wait(
            "node",
            name="d2",
            base="idle",
            dynamic=True,
            not_responding=False,
            after=len(peer.lines) - 20,
        )
        jobs = [running(fixture, peer, f"again-{round_}-{i}", node="d2") for i in range(2)]
        for job in jobs:
            fixture.complete(job)
        is_idle(fixture, "d2")
        before = len(peer.lines)
        assert fixture.command("scontrol", "delete", "nodename=d2").returncode == 0
        assert peer.wait("node_gone", name="d2", after=before)


def out_of_use(fixture, peer):
    """k1 is drained, k2 is down; k3 was drained and brought back while its job ran, after which
    Slurm may keep the text of the reason. A job waits for k1.
    """
    before = len(peer.lines)
    job = fixture.submit(marker(f"busy-{time.monotonic_ns()}"), node="k3").job
    update(fixture, "k3", "state=drain", "reason=for a moment")
    update(fixture, "k1", "state=drain", "reason=bad disk")
    update(fixture, "k2", "state=down", "reason=no power")
    update(fixture, "k3", "state=undrain")
    assert peer.wait("node", name="k1", drain=True, after=before) and peer.wait(
        "node", name="k2", base="down", after=before
    ), "the keeper has not looked"
    time.sleep(0.5)  # as after an administrator's commands; the keeper looks every 100 ms
    return job, fixture.submit(marker(f"waits-{time.monotonic_ns()}"), node="k1").job


def stayed_out_of_use(fixture, peer, job, waiting):
    eventually(lambda: "DRAIN" in fixture.node_state("k1"))
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        assert "DRAIN" in fixture.node_state("k1") and "Reason=bad disk [" in fixture.node_text(
            "k1"
        ), fixture.node_text("k1")
        assert "DOWN" in fixture.node_state("k2") and "Reason=no power [" in fixture.node_text(
            "k2"
        ), fixture.node_text("k2")
        assert "DRAIN" not in fixture.node_state("k3") and "DOWN" not in fixture.node_state(
            "k3"
        ), fixture.node_text("k3")
    assert fixture.job(job)["JobState"] == "RUNNING", fixture.job(job)
    assert fixture.job(waiting)["JobState"] == "PENDING", fixture.job(waiting)
    fixture.command("scancel", str(waiting))
    fixture.complete(job)
    for node in ("k1", "k2"):
        update(fixture, node, "state=resume")
    is_idle(fixture, "k1", "k2", "k3")
    # otherwise the next test could drain k1 again before the keeper has looked, and would see no
    # change
    assert eventually(
        lambda: not peer.last("node", name="k1")[1]["drain"]
        and peer.last("node", name="k2")[1]["base"] == "idle"
    )


def a_native_job_astray_on_an_external_node_leaves_it_in_service(fixture, peer):
    """A partition with both kinds of nodes: native Slurm keeps batch jobs off external nodes; with
    emulated ones it starts such a job, although no slurmd runs there.
    """
    job = fixture.command(
        "sbatch",
        "--parsable",
        "-p",
        "mixed",
        "-w",
        "k1",
        "-D",
        "/",
        "-o",
        "/dev/null",
        "--wrap",
        "true",
    ).stdout.strip()
    if not fixture.is_native():
        assert eventually(
            lambda: fixture.job(job).get("NodeList") == "k1"
            or fixture.job(job).get("Restarts", "0") != "0"
        ), fixture.job(job)
    fixture.command("scancel", job)
    assert eventually(
        lambda: fixture.job(job).get("JobState", "CANCELLED")
        not in ("RUNNING", "COMPLETING", "PENDING")
    ), fixture.job(job)
    assert eventually(lambda: fixture.node_state("k1") == "IDLE"), fixture.node_text("k1")
    fixture.complete(running(fixture, peer, "after-the-stray", node="k1"))
    is_idle(fixture, "k1")


def jobs_without_a_marker_on_our_nodes_are_told(fixture, peer):
    ours = running(fixture, peer, "marked", node="k1")
    made = fixture.command(
        "salloc", "--no-shell", "-p", "mixed", "-w", "k1", "-n", "1", "--mem=100", "-t", "5"
    )
    if made.returncode != 0 and fixture.is_native():
        fixture.complete(ours)
        raise Skip("this Slurm keeps native jobs off external nodes")
    job = made.stderr.partition("job allocation ")[2].split()[0]
    assert peer.wait("stats", unmarked=job), (made, peer.last("stats"))
    fixture.command("scancel", job)
    assert peer.wait("stats", unmarked="", after=len(peer.lines)), peer.last("stats")
    fixture.complete(ours)
    is_idle(fixture, "k1")


def drain_and_down_outlive_a_restart(fixture, peer):
    jobs = out_of_use(fixture, peer)
    restart(fixture, peer)
    stayed_out_of_use(fixture, peer, *jobs)


def drain_and_down_outlive_a_reconfigure(fixture, peer):
    jobs = out_of_use(fixture, peer)
    fixture.reconfigure()
    stayed_out_of_use(fixture, peer, *jobs)
    restart(fixture, peer)
    is_idle(fixture, "k1", "k2", "k3")  # what administrators brought back stays in service


def a_restart_leaves_no_marks_on_nodes(fixture, peer):
    job = running(fixture, peer, "marks", node="k4")
    restart(fixture, peer)
    is_idle(fixture, "k1", "k3", "g1")
    assert eventually(lambda: fixture.node_state("k4") == "MIXED"), fixture.node_state("k4")
    for node in ("k1", "k4", "g1"):
        assert not any(
            word in fixture.node_text(node) for word in ("CLOUD", "POWER", "NOT_RESPONDING")
        ), fixture.node_text(node)
    fixture.complete(job)


def devices_keep_their_numbers_over_a_restart(fixture, peer):
    def device(name):
        job = running(fixture, peer, name, gres=f"gres{fixture.gres_mark}gpu:1")
        return job, peer.last("job", id=job, state="running")[1]["nodes"][0]["gres"][0]["indices"]

    first, number = device("gpu-before")
    before = len(peer.lines)
    restart(fixture, peer)
    line = peer.wait("job", id=first, state="running", after=before)
    assert line and line[1]["nodes"][0]["gres"][0]["indices"] == number, line
    second, other = device("gpu-after")
    assert {number, other} == {"0", "1"}, (number, other)
    for job in (first, second):
        fixture.complete(job)


def ended_jobs_leave_no_errors_in_the_log(fixture, peer):
    """slurmctld asks each node of an ended job to end it, and logs an error if no daemon
    answers.
    """
    if fixture.is_native():
        raise Skip("there nothing is sent to external nodes")
    before, contacts = len(fixture.log()), stat(peer, "sink_contacts")
    for i in range(30):
        job = running(fixture, peer, f"quiet-{i}")
        fixture.complete(job)
        assert peer.wait("job", id=job, state="complete", completing=False), peer.last(
            "job", id=job
        )
    assert eventually(lambda: stat(peer, "sink_contacts") >= contacts + 30), (
        contacts,
        peer.last("stats"),
    )
    lines = [
        line
        for line in fixture.log()[before:].splitlines()
        if "slurm_receive_msgs" in line and f":{fixture.sink}]" in line
    ]
    assert not lines, (len(lines), lines[:3])
    is_idle(fixture, "k1", "k2")


def stat(peer, name):
    return (peer.last("stats") or (0, {}))[1].get(name, 0)


def seconds_until_closed(fixture):
    """How long root's connection stays open after an invalid message, in seconds."""
    with socket.create_connection(("127.0.0.1", fixture.sink), 30) as probe:
        began = time.monotonic()
        probe.sendall(b"x" * 64)
        while probe.recv(100):
            pass
    return time.monotonic() - began


def silent_connections_do_not_hold_up_the_sink(fixture, peer):
    idle = seconds_until_closed(fixture)
    crowd = [socket.create_connection(("127.0.0.1", fixture.sink), 10) for _ in range(200)]
    for i, each in enumerate(crowd):
        if i % 2:
            each.sendall(b"x")
    beside = seconds_until_closed(fixture)
    for each in crowd:
        each.close()
    print(
        f"# closed after {idle * 1000:.1f} ms, beside 200 silent ones after {beside * 1000:.1f} ms"
    )
    assert beside < idle + 0.15 * slowness(), "one after the other"


FORGE = """
import socket, struct, sys
port, version = int(sys.argv[1]), int(sys.argv[2])
body = b"x" * 40
REQUEST_TERMINATE_JOB = 6011
message = struct.pack("!HHHIH", version, 0, REQUEST_TERMINATE_JOB, len(body), 0) + body
closed = 0
for i in range(300):
    with socket.create_connection(("127.0.0.1", port), 10) as one:
        one.settimeout(10)
        try:
            one.sendall(struct.pack("!I", len(message)) + message)
            closed += one.recv(100) == b""
        except OSError:
            closed += 1
print(closed)
"""


def nobody_floods_the_sink_with_forged_messages(fixture, peer):
    """Each message would cost a request to munged, some lines of log and a pause of 10 ms."""
    version = {(22, 5): 38, (23, 2): 39, (23, 11): 40, (24, 5): 41, (24, 11): 42, (25, 5): 43}.get(
        fixture.version, 44
    ) << 8
    before, began = len(fixture.log()), time.monotonic()
    result = subprocess.run(
        [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            sys.executable,
            "-c",
            FORGE,
            str(fixture.sink),
            str(version),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    print(f"# {time.monotonic() - began:.2f} s")
    assert result.stdout.strip() == "300", result.stdout
    lines = [
        line for line in fixture.log()[before:].splitlines() if "slurm_unpack_received_msg" in line
    ]
    assert not lines, (len(lines), lines[:3])
    job = running(fixture, peer, "beside-the-flood")
    fixture.complete(job)
    assert peer.wait("job", id=job, state="complete", completing=False), peer.last("job", id=job)


CROWD = """
import os, socket, struct, sys, time
until, port = time.monotonic() + float(sys.argv[2]), int(sys.argv[1])
for i in range(11):
    if os.fork() == 0:
        break
while time.monotonic() < until:
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # no TIME_WAIT
        one.setblocking(False)
        one.connect_ex(("127.0.0.1", port))
"""


def those_who_may_not_speak_do_not_keep_others_from_the_sink(fixture, peer):
    """More connections arrive than the sink can refuse, so there is always another one to
    accept.
    """
    before = stat(peer, "sink_refused")
    crowd = subprocess.Popen(
        [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            sys.executable,
            "-c",
            CROWD,
            str(fixture.sink),
            "6",
        ]
    )
    time.sleep(1)
    times = [seconds_until_closed(fixture) for _ in range(5)]
    crowd.wait()
    print(f"# closed after {', '.join(f'{each * 1000:.0f}' for each in times)} ms")
    assert times[0] < 1.5 * slowness(), "the sink heard nobody while the crowd was there"
    assert eventually(lambda: stat(peer, "sink_refused") >= before + 500), peer.last("stats")


def a_node_with_a_slurmd_is_not_ours_for_its_feature(fixture, peer):
    """A site may use a feature named kube for other nodes. n9 looks like a real node, so only Slurm
    decides about its state.
    """
    nodes = fixture.options["nodes"]
    fixture.write_conf(
        nodes=nodes
        + f"NodeName=n9 NodeAddr=127.0.0.1 Port={fixture.slurmd_port} CPUs=4 RealMemory=4000"
        " Feature=kube State=UNKNOWN Weight=900\n"
    )
    before = len(peer.lines)
    restart(fixture, peer)
    assert peer.wait("node", name="k1", after=before) and not peer.find(
        "node", after=before, name="n9"
    ), peer.last("node", name="n9")
    assert "node n9: has the feature kube, but" in fixture.log(), "not told"
    update(fixture, "n9", "state=noresp")
    time.sleep(0.5)
    assert not fixture.node_state("n9") == "IDLE", fixture.node_text("n9")
    fixture.write_conf(nodes=nodes)
    restart(fixture, peer)


TESTS = [
    ended_jobs_leave_no_errors_in_the_log,
    silent_connections_do_not_hold_up_the_sink,
    nobody_floods_the_sink_with_forged_messages,
    those_who_may_not_speak_do_not_keep_others_from_the_sink,
    a_node_with_a_slurmd_is_not_ours_for_its_feature,
    a_signal_that_reaches_nobody_leaves_the_node_in_service,
    not_responding_does_not_last,
    room_that_a_cancelled_job_leaves_is_used_at_once,
    a_long_queue_of_native_jobs_hides_nobody,
    room_on_a_node_that_comes_back_is_used_at_once,
    a_node_made_again_is_shared_as_before,
    a_native_job_astray_on_an_external_node_leaves_it_in_service,
    jobs_without_a_marker_on_our_nodes_are_told,
    drain_and_down_outlive_a_restart,
    drain_and_down_outlive_a_reconfigure,
    a_restart_leaves_no_marks_on_nodes,
    devices_keep_their_numbers_over_a_restart,
]
