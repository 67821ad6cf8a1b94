# SPDX-License-Identifier: GPL-2.0-or-later
"""What Slurm's own external nodes and jobs leave open (25.05 to 26.05; each version other things),
and the same for emulated ones: the keeper repairs it. A test that cannot apply to this Slurm says
why.
"""
import signal
import socket
import subprocess
import sys
import time

from lab import Skip, eventually, marker, slowness


def running(lab, peer, name, **keys):
    answer = lab.submit(marker(name), **keys)
    assert answer.ok and peer.wait("job", id=answer.job, state="running"), (
        vars(answer),
        peer.last("job", id=answer.job),
    )
    return answer.job


def update(lab, node, *words):
    result = lab.command("scontrol", "update", f"nodename={node}", *words)
    assert result.returncode == 0, result


def is_idle(lab, *nodes):
    for node in nodes:
        assert eventually(lambda n=node: lab.node_state(n) == "IDLE"), (node, lab.node_state(node))


def restart(lab, peer):
    before = len(peer.lines)
    lab.kill_slurmctld(signal.SIGTERM)
    lab.start_slurmctld()
    assert eventually(lambda: peer.snapshot(before) is not None), "no snapshot after the restart"


def a_signal_that_reaches_nobody_leaves_the_node_in_service(lab, peer):
    if not lab.is_native():
        raise Skip("there an RPC to a node ends at the sink")
    job = running(lab, peer, "dead-end", node="x1")
    lab.command("scancel", "-s", "USR1", str(job))
    lab.command("scontrol", "suspend", str(job))
    lab.command("scontrol", "resume", str(job))
    until = time.monotonic() + lab.rpc_patience
    while time.monotonic() < until:
        assert "*" not in lab.node_state("x1") and "NOT_RESPONDING" not in lab.node_state(
            "x1"
        ), lab.node_state("x1")
        time.sleep(0.1)
    lab.complete(job)
    lab.complete(running(lab, peer, "dead-end-2", node="x1"))
    is_idle(lab, "x1")


def not_responding_does_not_last(lab, peer):
    update(lab, "k1", "state=noresp")
    is_idle(lab, "k1")
    lab.complete(running(lab, peer, "noresp", node="k1"))


def room_that_a_cancelled_job_leaves_is_used_at_once(lab, peer):
    first = running(lab, peer, "room-cancel", node="k2", cpus=4)
    second = lab.submit(marker("room-cancel-2"), node="k2", cpus=4).job
    assert peer.wait("job", id=second, state="pending")
    began = time.monotonic_ns()
    lab.command("scancel", str(first))
    line = peer.wait("job", id=second, state="running")
    assert line and line[0] - began < 500e6 * slowness(), (line, began)
    lab.complete(second)


def a_long_queue_of_native_jobs_hides_nobody(lab, peer):
    """Slurm's short pass ends after 100 jobs; these wait for a node that is down, and are older."""
    queue = lab.alloc("submit", "partition=native", "threads=4", "count=50")
    assert len(queue) == 200 and all(a.ok for a in queue), [vars(a) for a in queue if not a.ok]
    delays = []
    for i in range(3):
        first = running(lab, peer, f"hidden-{i}", node="k2", cpus=4)
        second = lab.submit(marker(f"hidden-{i}-2"), node="k2", cpus=4).job
        assert peer.wait("job", id=second, state="pending")
        ended = lab.complete(first)
        line = peer.wait("job", id=second, state="running")
        assert line, peer.last("job", id=second)
        delays.append(round((line[0] - ended.ns) / 1e6, 1))
        lab.complete(second)
    lab.command("scancel", "--partition=native")
    print(f"# freed to next start behind 200 jobs: {delays} ms")
    assert max(delays) < 500 * slowness(), delays


def room_on_a_node_that_comes_back_is_used_at_once(lab, peer):
    before = len(peer.lines)
    update(lab, "k2", "state=drain", "reason=pause")
    assert peer.wait("node", name="k2", drain=True, after=before)
    job = lab.submit(marker("room-resume"), node="k2").job
    assert peer.wait("job", id=job, state="pending")
    began = time.monotonic_ns()
    update(lab, "k2", "state=resume")
    line = peer.wait("job", id=job, state="running")
    assert line, peer.last("job", id=job)
    print(f"# resumed to started: {(line[0] - began) / 1e6:.1f} ms")
    assert line[0] - began < 450e6 * slowness(), "the scheduler was not told"
    lab.complete(job)


def a_node_made_again_is_shared_as_before(lab, peer):
    if not lab.has_dynamic_nodes():
        raise Skip("no dynamic nodes")
    for round_ in range(2):
        made = lab.command(
            "scontrol",
            "create",
            "nodename=d2",
            f"state={'EXTERNAL' if lab.is_native() else 'CLOUD'}",
            "cpus=4",
            "realmemory=4000",
            "features=kube",
            "nodeaddr=127.0.0.1",
            f"port={lab.sink}",
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
        jobs = [running(lab, peer, f"again-{round_}-{i}", node="d2") for i in range(2)]
        for job in jobs:
            lab.complete(job)
        is_idle(lab, "d2")
        before = len(peer.lines)
        assert lab.command("scontrol", "delete", "nodename=d2").returncode == 0
        assert peer.wait("node_gone", name="d2", after=before)


def out_of_use(lab, peer):
    """k1 drained, k2 down; k3 was drained and came back in the middle of its work, which leaves the
    reason's text where Slurm clears none. A job waits for k1.
    """
    before = len(peer.lines)
    job = lab.submit(marker(f"busy-{time.monotonic_ns()}"), node="k3").job
    update(lab, "k3", "state=drain", "reason=for a moment")
    update(lab, "k1", "state=drain", "reason=bad disk")
    update(lab, "k2", "state=down", "reason=no power")
    update(lab, "k3", "state=undrain")
    assert peer.wait("node", name="k1", drain=True, after=before) and peer.wait(
        "node", name="k2", base="down", after=before
    ), "the keeper has not looked"
    time.sleep(0.5)  # as people do; the keeper looks every 100 ms
    return job, lab.submit(marker(f"waits-{time.monotonic_ns()}"), node="k1").job


def stayed_out_of_use(lab, peer, job, waiting):
    eventually(lambda: "DRAIN" in lab.node_state("k1"))
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        assert "DRAIN" in lab.node_state("k1") and "Reason=bad disk [" in lab.node_text(
            "k1"
        ), lab.node_text("k1")
        assert "DOWN" in lab.node_state("k2") and "Reason=no power [" in lab.node_text(
            "k2"
        ), lab.node_text("k2")
        assert "DRAIN" not in lab.node_state("k3") and "DOWN" not in lab.node_state(
            "k3"
        ), lab.node_text("k3")
    assert lab.job(job)["JobState"] == "RUNNING", lab.job(job)
    assert lab.job(waiting)["JobState"] == "PENDING", lab.job(waiting)
    lab.command("scancel", str(waiting))
    lab.complete(job)
    for node in ("k1", "k2"):
        update(lab, node, "state=resume")
    is_idle(lab, "k1", "k2", "k3")
    # or the next test drains it again before the keeper has looked, and nothing has changed
    assert eventually(
        lambda: not peer.last("node", name="k1")[1]["drain"]
        and peer.last("node", name="k2")[1]["base"] == "idle"
    )


def a_native_job_astray_on_an_external_node_leaves_it_in_service(lab, peer):
    """A partition of both kinds: native Slurm keeps batch jobs off external nodes; an emulated one
    starts them, and nobody is there.
    """
    job = lab.command(
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
    if not lab.is_native():
        assert eventually(
            lambda: lab.job(job).get("NodeList") == "k1" or lab.job(job).get("Restarts", "0") != "0"
        ), lab.job(job)
    lab.command("scancel", job)
    assert eventually(
        lambda: lab.job(job).get("JobState", "CANCELLED")
        not in ("RUNNING", "COMPLETING", "PENDING")
    ), lab.job(job)
    assert eventually(lambda: lab.node_state("k1") == "IDLE"), lab.node_text("k1")
    lab.complete(running(lab, peer, "after-the-stray", node="k1"))
    is_idle(lab, "k1")


def jobs_without_a_marker_on_our_nodes_are_told(lab, peer):
    ours = running(lab, peer, "marked", node="k1")
    made = lab.command(
        "salloc", "--no-shell", "-p", "mixed", "-w", "k1", "-n", "1", "--mem=100", "-t", "5"
    )
    if made.returncode != 0 and lab.is_native():
        lab.complete(ours)
        raise Skip("this Slurm keeps native jobs off external nodes")
    job = made.stderr.partition("job allocation ")[2].split()[0]
    assert peer.wait("stats", unmarked=job), (made, peer.last("stats"))
    lab.command("scancel", job)
    assert peer.wait("stats", unmarked="", after=len(peer.lines)), peer.last("stats")
    lab.complete(ours)
    is_idle(lab, "k1")


def drain_and_down_outlive_a_restart(lab, peer):
    jobs = out_of_use(lab, peer)
    restart(lab, peer)
    stayed_out_of_use(lab, peer, *jobs)


def drain_and_down_outlive_a_reconfigure(lab, peer):
    jobs = out_of_use(lab, peer)
    lab.reconfigure()
    stayed_out_of_use(lab, peer, *jobs)
    restart(lab, peer)
    is_idle(lab, "k1", "k2", "k3")  # what people brought back is not taken out again


def a_restart_leaves_no_marks_on_nodes(lab, peer):
    job = running(lab, peer, "marks", node="k4")
    restart(lab, peer)
    is_idle(lab, "k1", "k3", "g1")
    assert eventually(lambda: lab.node_state("k4") == "MIXED"), lab.node_state("k4")
    for node in ("k1", "k4", "g1"):
        assert not any(
            word in lab.node_text(node) for word in ("CLOUD", "POWER", "NOT_RESPONDING")
        ), lab.node_text(node)
    lab.complete(job)


def devices_keep_their_numbers_over_a_restart(lab, peer):
    def device(name):
        job = running(lab, peer, name, gres=f"gres{lab.gres_mark}gpu:1")
        return job, peer.last("job", id=job, state="running")[1]["nodes"][0]["gres"][0]["indices"]

    first, number = device("gpu-before")
    before = len(peer.lines)
    restart(lab, peer)
    line = peer.wait("job", id=first, state="running", after=before)
    assert line and line[1]["nodes"][0]["gres"][0]["indices"] == number, line
    second, other = device("gpu-after")
    assert {number, other} == {"0", "1"}, (number, other)
    for job in (first, second):
        lab.complete(job)


def ended_jobs_leave_no_errors_in_the_log(lab, peer):
    """slurmctld tells each node of an ended job to end it, and logs an error where nobody
    answers.
    """
    if lab.is_native():
        raise Skip("there nothing is sent to external nodes")
    before, contacts = len(lab.log()), stat(peer, "sink_contacts")
    for i in range(30):
        job = running(lab, peer, f"quiet-{i}")
        lab.complete(job)
        assert peer.wait("job", id=job, state="complete", completing=False), peer.last(
            "job", id=job
        )
    assert eventually(lambda: stat(peer, "sink_contacts") >= contacts + 30), (
        contacts,
        peer.last("stats"),
    )
    lines = [
        line
        for line in lab.log()[before:].splitlines()
        if "slurm_receive_msgs" in line and f":{lab.sink}]" in line
    ]
    assert not lines, (len(lines), lines[:3])
    is_idle(lab, "k1", "k2")


def stat(peer, name):
    return (peer.last("stats") or (0, {}))[1].get(name, 0)


def seconds_until_closed(lab):
    """Of a connection by root whose message is none."""
    with socket.create_connection(("127.0.0.1", lab.sink), 30) as probe:
        began = time.monotonic()
        probe.sendall(b"x" * 64)
        while probe.recv(100):
            pass
    return time.monotonic() - began


def silent_connections_do_not_hold_up_the_sink(lab, peer):
    idle = seconds_until_closed(lab)
    crowd = [socket.create_connection(("127.0.0.1", lab.sink), 10) for _ in range(200)]
    for i, each in enumerate(crowd):
        if i % 2:
            each.sendall(b"x")
    beside = seconds_until_closed(lab)
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


def nobody_floods_the_sink_with_forged_messages(lab, peer):
    """Each would cost munged a request, the log some lines, and Slurm a rest of 10 ms."""
    version = {(22, 5): 38, (23, 2): 39, (23, 11): 40, (24, 5): 41, (24, 11): 42, (25, 5): 43}.get(
        lab.version, 44
    ) << 8
    before, began = len(lab.log()), time.monotonic()
    result = subprocess.run(
        [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            sys.executable,
            "-c",
            FORGE,
            str(lab.sink),
            str(version),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    print(f"# {time.monotonic() - began:.2f} s")
    assert result.stdout.strip() == "300", result.stdout
    lines = [
        line for line in lab.log()[before:].splitlines() if "slurm_unpack_received_msg" in line
    ]
    assert not lines, (len(lines), lines[:3])
    job = running(lab, peer, "beside-the-flood")
    lab.complete(job)
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


def those_who_may_not_speak_do_not_keep_others_from_the_sink(lab, peer):
    """More connections come than the sink can refuse, so there is always one more to accept."""
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
            str(lab.sink),
            "6",
        ]
    )
    time.sleep(1)
    times = [seconds_until_closed(lab) for _ in range(5)]
    crowd.wait()
    print(f"# closed after {', '.join(f'{each * 1000:.0f}' for each in times)} ms")
    assert times[0] < 1.5 * slowness(), "the sink heard nobody while the crowd was there"
    assert eventually(lambda: stat(peer, "sink_refused") >= before + 500), peer.last("stats")


def a_node_with_a_slurmd_is_not_ours_for_its_feature(lab, peer):
    """Anybody may have called a feature kube. n9 looks like a real node: Slurm alone says what
    becomes of it.
    """
    nodes = lab.options["nodes"]
    lab.write_conf(
        nodes=nodes
        + f"NodeName=n9 NodeAddr=127.0.0.1 Port={lab.slurmd_port} CPUs=4 RealMemory=4000"
        " Feature=kube State=UNKNOWN Weight=900\n"
    )
    before = len(peer.lines)
    restart(lab, peer)
    assert peer.wait("node", name="k1", after=before) and not peer.find(
        "node", after=before, name="n9"
    ), peer.last("node", name="n9")
    assert "node n9: has the feature kube, but" in lab.log(), "not told"
    update(lab, "n9", "state=noresp")
    time.sleep(0.5)
    assert not lab.node_state("n9") == "IDLE", lab.node_text("n9")
    lab.write_conf(nodes=nodes)
    restart(lab, peer)


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
