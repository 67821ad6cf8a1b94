#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_watch.py [BUILD_DIR]: `skube watch` against a peer with given lines: requests, text, data,
the end of the connection. Prints TAP.

testsuite/e2e/test_watch.py shows that the real agent sends such lines.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

from fixture import SKUBE, SOCKET, check, finish, skube

FIRST = {"ok": True, "watch": 1, "version": "0.1.0", "ready": True, "kinds": ["pods"]}
POD = {"namespace": "lab", "name": "p", "uid": "u", "phase": "Pending", "node": "", "job": 0}
SYNCED = {"type": "synced"}
CLOCK = re.compile(r"^\d\d:\d\d:\d\d ", re.M)


def event(kind, what, **members):
    return {"type": what, "kind": kind, "object": members}


def pod(what, **members):
    return event("pod", what, **(POD | members))


class Agent:
    """Serves one connection after the other: sends the lines of each, and closes it; the last one
    stays open. Then nobody listens.
    """

    def __init__(self, *connections):
        self.connections, self.requests = connections, []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(SOCKET)
        self.listener.listen()
        self.open = None
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        for lines in self.connections:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return  # the test has ended
            self.requests.append(json.loads(client.recv(65536)))
            for line in lines:
                text = line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
                client.sendall(text)
            if lines is self.connections[-1]:
                self.open = client
            else:
                client.close()

    def end(self):
        self.thread.join(10)
        if self.open:
            self.open.close()
        self.listener.close()
        os.unlink(SOCKET)


class Watching:
    """skube watch with these words, in the background."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            [SKUBE, "--socket", SOCKET, "watch", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # a shell starts background programs with SIGINT ignored, and children inherit that
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def lines(self, count):
        return "".join(self.process.stdout.readline() for _ in range(count))

    def interrupt(self):
        """(status, errors)"""
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors


def watched(connections, count, *words):
    """(the first lines of the output, status after SIGINT, errors, requests)"""
    agent = Agent(*connections)
    watching = Watching(*words)
    text = watching.lines(count)
    status, errors = watching.interrupt()
    agent.end()
    return text, status, errors, agent.requests


def test_requests():
    every = ["jobs", "pods", "nodes"]
    for words, kinds, select in (
        ((), every, None),
        (("pods",), ["pods"], None),
        (("nodes", "jobs"), ["nodes", "jobs"], None),
        (("-n", "lab"), ["jobs", "pods"], {"namespaces": "lab"}),
        (("-l", "app=web"), ["pods", "nodes"], {"labels": "app=web"}),
        (("-u", "7", "-l", "a"), ["pods"], {"users": "7", "labels": "a"}),
        (("--node", "n[1-2]"), every, {"nodes": "n[1-2]"}),
        (("-A", "pods"), ["pods"], None),
    ):
        wanted = {"verb": "watch", "watch": 1, "kinds": kinds}
        if select:
            wanted["select"] = select
        _, _, errors, requests = watched([[FIRST, SYNCED, pod("added")]], 1, *words)
        check(f"watch {' '.join(words)} asks for that", requests == [wanted], (requests, errors))


def test_text():
    lines = [
        FIRST,
        pod("added"),
        event("job", "added", id=7, namespace="lab", pod="p", state="pending", reason="Priority"),
        SYNCED,
        {"type": "alive", "ready": True},
        pod("changed", job=7, job_state="running", node="n1"),
        pod("changed", job=7, job_state="running", node="n1", waiting_for=""),
        {"type": "praised", "kind": "pod"},
        event("node", "added", name="n1\x1b[2J\n", kube_state="Ready", slurm_state="idle"),
        event("job", "gone", id=7),
    ]
    text, status, errors, _ = watched([lines], 5)
    check(
        "watch prints what is new of each object",
        CLOCK.sub("", text)
        == "pod lab/p: Pending\n"
        "job 7 lab/p: PENDING Priority\n"
        "pod lab/p: job 7 RUNNING, on n1\n"
        "node n1?[2J?: Ready, Slurm IDLE\n"
        "job 7 lab/p: gone\n"
        and len(CLOCK.findall(text)) == 5,
        text + errors,
    )
    check("SIGINT ends watch as it ends others", (status, errors) == (-2, ""), (status, errors))


def test_data():
    lines = [FIRST, pod("added"), SYNCED, {"type": "alive", "ready": False}]
    wanted = "".join(json.dumps(line) + "\n" for line in lines)
    text, _, _, _ = watched([lines], 4, "--json")
    check("watch --json prints the lines of the agent", text == wanted, text)
    text, _, _, _ = watched([lines], 4, "-o", "json")
    check("watch -o json as well", text == wanted, text)


def test_the_agent_restarts():
    """Everything is compared with what was known; whoever reads data gets the first line again."""
    gone = event("job", "added", id=7, namespace="lab", pod="p", state="running", node="n1")
    before = [FIRST, pod("added"), gone, SYNCED, {"type": "closed", "reason": "slurmkubed stops"}]
    after = [FIRST, pod("added", phase="Running"), SYNCED]
    text, _, errors, requests = watched([before, after], 4)
    check(
        "after a restart of the agent, what has changed meanwhile is printed",
        CLOCK.sub("", text)
        == "pod lab/p: Pending\n"
        "job 7 lab/p: RUNNING, on n1\n"
        "pod lab/p: Running\n"
        "job 7 lab/p: gone\n",
        text + errors,
    )
    check(
        "and watch says why it connects again",
        errors
        == "skube: slurmkubed has closed the connection (slurmkubed stops); connecting again\n"
        and len(requests) == 2,
        errors,
    )
    text, _, _, _ = watched([before, after], 8, "--json")
    check("data begins anew", [json.loads(t) for t in text.splitlines()] == before + after, text)


def test_the_agent_is_away():
    """There is an agent at first, and another one later."""
    agent = Agent([FIRST, pod("added"), SYNCED])
    watching = Watching("pods")
    first = watching.lines(1)
    agent.end()
    time.sleep(2.5)
    agent = Agent([FIRST, pod("added", phase="Running"), SYNCED])
    second = watching.lines(1)
    status, errors = watching.interrupt()
    agent.end()
    check(
        "watch waits for the next agent, and says so once",
        CLOCK.sub("", first + second) == "pod lab/p: Pending\npod lab/p: Running\n"
        and errors.count("connecting again") == 1
        and len(errors.splitlines()) == 1
        and status == -2,
        first + second + errors,
    )


def test_refusals():
    result = skube("watch")
    check(
        "without an agent watch ends with 3",
        result.returncode == 3 and "cannot reach slurmkubed" in result.stderr,
        result,
    )
    for name, line, status, error in (
        (
            "an error of the agent",
            {"ok": False, "error": "no more\nroom"},
            1,
            "skube: no more?room\n",
        ),
        ("no JSON", b"hello\n", 3, "slurmkubed sent no JSON"),
        ("an empty answer", b"", 3, "slurmkubed has closed the connection"),
        ("half a line", b'{"ok":true', 3, "slurmkubed has closed the connection"),
        ("an endless line", b"x" * 1100000, 3, "a line without an end"),
    ):
        agent = Agent([line], [])
        result = skube("watch")
        agent.listener.shutdown(socket.SHUT_RDWR)
        agent.end()
        check(
            f"{name} ends watch with {status}",
            result.returncode == status and error in result.stderr and result.stdout == "",
            (result.returncode, result.stdout, result.stderr),
        )


def test_usage():
    for words, error in (
        (("watch", "claims"), "watch takes jobs, pods and nodes, not 'claims'"),
        (("watch", "jobs", "-l", "a=b"), "jobs have no labels"),
        (("watch", "nodes", "-n", "lab"), "nodes have no namespace and no user"),
        (("watch", "-o", "yaml"), "not yaml"),
        (("watch", "-o", "wide"), "no output format 'wide' here"),
        (("watch", "-l", "a=,=b"), "label"),
        (("watch", "-A", "-n", "lab"), "exclude each other"),
        (("watch", "-t", "PD"), "takes no option --state"),
        (("watch", "pods", "jobs", "nodes", "pods"), "watch takes jobs, pods and nodes"),
    ):
        result = skube(*words)
        check(
            f"{' '.join(words)} is wrong usage",
            result.returncode == 2 and error in result.stderr and result.stdout == "",
            result,
        )


def test_no_reader():
    """skube watch | head -1: skube ends when head has, though nothing more happens."""
    agent = Agent([FIRST, pod("added"), SYNCED])
    begin = time.time()
    result = subprocess.run(
        ["sh", "-c", f"{SKUBE} --socket {SOCKET} watch | head -1"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    agent.end()
    check(
        "watch ends with its reader",
        CLOCK.sub("", result.stdout) == "pod lab/p: Pending\n" and time.time() - begin < 20,
        result,
    )


def test_help():
    result = skube("--help")
    check("help names watch", "watch [jobs] [pods] [nodes]" in result.stdout, result.stdout)


for test in (
    test_requests,
    test_text,
    test_data,
    test_the_agent_restarts,
    test_the_agent_is_away,
    test_refusals,
    test_usage,
    test_no_reader,
    test_help,
):
    test()
sys.exit(finish())
