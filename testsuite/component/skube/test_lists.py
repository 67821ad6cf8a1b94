#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_lists.py [BUILD_DIR]: the lists of `skube show` against a peer with given answers: columns,
order, selections, formats. Prints TAP.

testsuite/e2e/test_feedback.py shows that the real agent applies the selections.
"""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time

from fixture import SKUBE, SOCKET, Peer, Series, ask, check, finish, is_output, skube

NOW = int(time.time())
JOB = {
    "namespace": "default",
    "uid": "u",
    "user_id": 0,
    "partition": "kube",
    "submit_time": 0,
    "attempt": 1,
    "kind": "Pod",
    "account": "phys",
    "priority": 12,
    "node_count": 1,
}
POD = {
    "namespace": "a",
    "uid": "u",
    "phase": "Running",
    "node": "n1",
    "job": 5,
    "job_state": "running",
    "waiting_for": "",
    "partition": "kube",
    "user_id": 0,
    "created": 0,
}
NODE = {
    "name": "n1",
    "kube_ready": True,
    "cordoned": True,
    "slurm_state": "idle+drain",
    "slurm_reason": "slurm-kube: cordoned",
    "cpus": 64,
    "memory_mib": 1000,
    "pods": 3,
    "address": "10.0.0.1",
    "features": "kube,zone_a",
    "gres": "gpu:4",
}


def job(number, state, **more):
    ended = {"start_time": 100, "end_time": 190, "exit_status": 0, "node": "n1", "reason": ""}
    return JOB | ended | {"id": number, "pod": f"p{number}", "state": state} | more


def pod(name, **more):
    return POD | {"name": name} | more


def rows_of(text):
    return [line.split() for line in text.splitlines()[1:]]


def first_cells(rows, *words):
    """The first column of a list with these rows of pods."""
    reply = {"ok": True, "selected": True, "pods": rows}
    return [cells[0] for cells in rows_of(ask(reply, "show", "pods", *words)[0].stdout)]


def test_jobs():
    jobs = [
        job(1234, "failed", pod="longer-name", exit_status=3 << 8, reason="NonZeroExitCode"),
        job(
            7,
            "pending",
            pod="a",
            reason="Resources",
            node="",
            start_time=NOW + 900,
            end_time=0,
        ),
        job(9, "failed", pod="k", end_time=100 + 90061, exit_status=9),
        job(10, "oom"),
    ]
    is_output(
        "show jobs, by number",
        ask({"ok": True, "jobs": jobs}, "show", "jobs")[0],
        (
            "JOBID  POD                  STATE          USER  PARTITION  AGE        TIME  EXIT "
            " NODE  REASON\n    7  default/a            PENDING        root  kube         -       "
            " 0:00     -  -     Resources\n    9  default/k            FAILED         root  kube   "
            "      -  1-01:01:01   0:9  n1    -\n   10  default/p10          OUT_OF_MEMORY  root "
            " kube         -        1:30   0:0  n1    -\n 1234  default/longer-name  FAILED        "
            " root  kube         -        1:30   3:0  n1    -\n"
        ),
    )
    wide = ask({"ok": True, "jobs": jobs[:1]}, "show", "jobs", "-o", "wide")[0].stdout
    for title, cell in (("ACCOUNT", "phys"), ("PRIORITY", "12"), ("KIND", "Pod"), ("NODES", "1")):
        found = dict(zip(wide.splitlines()[0].split(), wide.splitlines()[1].split()))
        check(f"-o wide adds {title}", found.get(title) == cell, wide)
    running = job(1, "running", start_time=NOW - 60, end_time=NOW + 600, submit_time=NOW - 3725)
    text = ask({"ok": True, "jobs": [running]}, "show", "jobs")[0].stdout
    check("a running job's time is the elapsed one", re.search(r" [1-9]:[0-5][0-9] ", text), text)
    check("its age is that since its submission", re.search(r" 1h2m ", text), text)
    is_output(
        "no jobs: the titles only",
        ask({"ok": True, "jobs": []}, "show", "jobs")[0],
        "JOBID  POD  STATE  USER  PARTITION  AGE  TIME  EXIT  NODE  REASON\n",
    )
    evil = ask({"ok": True, "jobs": [running | {"pod": "\x1b[2J\u00e9"}]}, "show", "jobs")[0]
    check("a name cannot command the terminal", "default/?[2J\u00e9" in evil.stdout, evil)
    named = {"complete": "COMPLETED", "node_fail": "NODE_FAIL", "timeout": "TIMEOUT"}
    for state, name in named.items():
        text = ask({"ok": True, "jobs": [job(1, state)]}, "show", "jobs")[0].stdout
        check(f"{state} is Slurm's {name}", rows_of(text)[0][2] == name, text)


def test_pods():
    waiting = {"node": "", "phase": "Pending", "job_state": "pending"}
    pods = [
        pod("c", job=0, job_state="none"),
        pod("b", created=NOW - 200000, waiting_for="Slurm job 5 is pending", **waiting),
    ]
    is_output(
        "show pods",
        ask({"ok": True, "pods": pods}, "show", "pods")[0],
        (
            "POD  PHASE    USER   AGE  NODE  JOBID  JOB      WAITING_FOR\n"
            "a/b  Pending  root  2d7h  -         5  PENDING  Slurm job 5 is pending\n"
            "a/c  Running  root     -  n1        -  -        -\n"
        ),
    )
    del pods[0]["user_id"]
    text = ask({"ok": True, "pods": pods[:1]}, "show", "pods")[0].stdout
    check("a pod whose user is not known has none", rows_of(text)[0][2] == "-", text)
    wide = ask({"ok": True, "pods": pods[:1]}, "show", "pods", "-o", "wide")[0].stdout
    check("-o wide adds partition and uid", " kube  " in wide and " UID " in wide, wide)
    ended = [
        pod("d", phase="Succeeded", job_state="complete"),
        pod("p10"),
        pod("e", phase="Failed", job_state="failed"),
        pod("p9"),
    ]
    check(
        "numbers in names count, and pods that have ended are last",
        first_cells(ended) == ["a/p9", "a/p10", "a/d", "a/e"],
        first_cells(ended),
    )


def test_nodes():
    is_output(
        "show nodes",
        ask({"ok": True, "nodes": [NODE]}, "show", "nodes")[0],
        (
            "NODE  KUBERNETES      SLURM       CPUS  MEMORY_MIB  PODS  ADDRESS   REASON\nn1   "
            " Ready,cordoned  IDLE+DRAIN    64        1000     3  10.0.0.1  slurm-kube: cordoned\n"
        ),
    )
    wide = ask({"ok": True, "nodes": [NODE]}, "show", "nodes", "-o", "wide")[0].stdout
    check("-o wide adds features and GRES", "  kube,zone_a  gpu:4  " in wide, wide)
    states = ("absent", "unknown", "NotReady")
    rows = [NODE | {"kube_ready": False, "kube_state": s, "name": f"n{s}"} for s in states]
    text = ask({"ok": True, "nodes": rows}, "show", "nodes")[0].stdout
    check(
        "a node that is not in Kubernetes is not called NotReady",
        sorted(cells[1] for cells in rows_of(text)) == sorted(f"{s},cordoned" for s in states),
        text,
    )


def test_sort():
    pods = [
        pod("x", created=NOW - 500, user_id=65534, job=30),
        pod("y", created=NOW - 90, user_id=0, job=4),
        pod("z", created=NOW - 7000, user_id=0, job=5),
    ]
    for words, order in (
        ([], "xyz"),
        (["--sort", "age"], "yxz"),
        (["--sort", "-age"], "zxy"),
        (["--sort", "JobID"], "yzx"),
        (["--sort", "+user,-jobid"], "xzy"),
        (["--sort", "-user,age"], "yzx"),
    ):
        found = [name[2:] for name in first_cells(pods, *words)]
        check(f"{' '.join(words) or 'no --sort'}: {order}", found == list(order), found)
    for bad in ("size", "age,", "age,,user", "--age"):
        wrong = skube("show", "pods", f"--sort={bad}")
        check(
            f"--sort={bad} is refused, with the columns that there are",
            wrong.returncode == 2 and "there are POD, PHASE, USER, AGE" in wrong.stderr,
            wrong,
        )


def test_selection():
    for words, select in (
        (["show", "pods", "-n", "lab,x"], {"namespaces": "lab,x"}),
        (["show", "pods", "--namespace=lab"], {"namespaces": "lab"}),
        (["show", "pods", "-l", "app=x,tier!=y"], {"labels": "app=x,tier!=y"}),
        (["show", "nodes", "--selector", "zone"], {"labels": "zone"}),
        (["show", "jobs", "-t", "PD,running"], {"states": "PD,running"}),
        (["show", "nodes", "--state", "drain"], {"states": "drain"}),
        (["show", "jobs", "-u", "root,17"], {"users": "0,17"}),
        (["show", "pods", "--node", "n[1-3]"], {"nodes": "n[1-3]"}),
        (["show", "pods", "--active"], {"active": True}),
        (["show", "pods", "-A"], None),
        (["show", "jobs", "-n", "a", "-t", "R"], {"namespaces": "a", "states": "R"}),
    ):
        reply = {"ok": True, "selected": True, words[1]: []}
        result, request = ask(reply, *words)
        wanted = {"verb": words[1]} | ({"select": select} if select else {})
        check(
            f"{' '.join(words)}: the agent selects",
            json.loads(request) == wanted and result.returncode == 0,
            (request, result),
        )
    old, _ = ask({"ok": True, "pods": [pod("x")]}, "show", "pods", "-n", "lab")
    check(
        "an agent that ignores the selection is an error, not a longer list",
        old.returncode == 1 and "older release" in old.stderr and not old.stdout,
        old,
    )
    for words, said in (
        (["pods", "--state", "COMPLETE"], "no state 'COMPLETE'; there are PENDING, RUNNING"),
        (["jobs", "--state", "Ready"], "no state 'Ready'"),
        (["nodes", "--node", "n[1-"], "n[1-"),
        (["pods", "-l", "a in ("], "a in ("),
        (["pods", "-u", "no-such-user"], "this host has no user 'no-such-user'"),
        (["pods", "-u", "0,"], "no user ''"),
        (["pods", "-n", "a", "-A"], "exclude each other"),
        (["pods", "-n", "a,,b"], "empty item in the list of namespaces"),
        (["pods", "-o", "csv"], "there are wide, name, json and yaml"),
        (["pods", "-o", "wide", "--json"], "exclude each other"),
    ):
        wrong = skube("show", *words)
        check(
            f"show {' '.join(words)}: status 2, one line that quotes it",
            wrong.returncode == 2
            and said in wrong.stderr
            and wrong.stderr.count("\n") == 1
            and not wrong.stdout,
            wrong,
        )


def test_formats():
    pods = [pod("p10", created=7), pod("p9", waiting_for='it\'s: "x"', uid="007", node="")]
    reply = {"ok": True, "pods": pods, "selected": True}
    is_output("-o name", ask(reply, "show", "pods", "-o", "name")[0], "a/p9\na/p10\n")
    jobs = {"ok": True, "jobs": [job(12, "running"), job(3, "pending")]}
    is_output("-o name of jobs", ask(jobs, "show", "jobs", "-o", "name")[0], "3\n12\n")
    nodes = {"ok": True, "nodes": [NODE]}
    is_output("-o name of nodes", ask(nodes, "show", "nodes", "-o", "name")[0], "n1\n")
    for words in (["-o", "json"], ["--json"], ["--output=json", "--json"]):
        data = json.loads(ask(reply, "show", "pods", *words)[0].stdout)
        check(
            f"{' '.join(words)}: the agent's reply, in order",
            data == reply | {"pods": pods[::-1]},
            data,
        )
    data = json.loads(ask(reply, "show", "pods", "-o", "json", "--sort=-pod")[0].stdout)
    check("sorted as the table is", data["pods"] == pods, data)
    is_output(
        "-o yaml",
        ask(reply, "show", "pods", "-o", "yaml")[0],
        (
            "ok: true\npods:\n"
            '- namespace: a\n  uid: "007"\n  phase: Running\n  node: ""\n  job: 5\n'
            '  job_state: running\n  waiting_for: "it\'s: \\"x\\""\n  partition: kube\n'
            "  user_id: 0\n  created: 0\n  name: p9\n"
            "- namespace: a\n  uid: u\n  phase: Running\n  node: n1\n  job: 5\n"
            '  job_state: running\n  waiting_for: ""\n  partition: kube\n'
            "  user_id: 0\n  created: 7\n  name: p10\n"
            "selected: true\n"
        ),
    )
    strange = {"ok": True, "a": [], "b": {}, "c": ["no", "On", "~", "1", -1.5, None], "d": [[1]]}
    is_output(
        "words that YAML could misread are quoted",
        ask(strange, "diag", "-o", "yaml")[0],
        'ok: true\na: []\nb: {}\nc:\n- "no"\n- "On"\n- "~"\n- "1"\n- -1.5\n- null\nd:\n- - 1\n',
    )


def test_watch():
    first = {"ok": True, "selected": True, "pods": [pod("b"), pod("a")]}
    second = dict(first, pods=[pod("a"), pod("b", phase="Succeeded", job_state="complete")])
    with Series(first, first, second) as peer:
        result = skube("show", "pods", "-w", "-n", "a")
    check(
        "--watch appends the row that has changed, and ends with the agent",
        [cells[:2] for cells in rows_of(result.stdout)]
        == [["a/a", "Running"], ["a/b", "Running"], ["a/b", "Succeeded"]]
        and result.returncode == 3
        and "cannot reach slurmkubed" in result.stderr,
        result,
    )
    asked = {"verb": "pods", "select": {"namespaces": "a"}}
    check("each request has the selection", peer.requests == [asked] * 3, peer.requests)
    with Series(first):
        line = f"{SKUBE} --socket {SOCKET} show pods -w | head -1; exit ${{PIPESTATUS[0]}}"
        ended = subprocess.run(["bash", "-c", line], capture_output=True, timeout=60, check=False)
    check(
        "a watch ends when its reader has gone",
        ended.returncode in (0, 128 + signal.SIGPIPE) and not ended.stderr,
        ended,
    )
    with Series(first, second):
        result = skube("show", "pods", "--watch", "-o", "json")
    names = [json.loads(line)["name"] for line in result.stdout.splitlines()]
    check("with -o json it prints a line per row", names == ["a", "b", "b"], result)
    for words in (["-o", "yaml"], ["-o", "name"]):
        wrong = skube("show", "pods", "-w", *words)
        check(f"-w {words[1]} is refused", wrong.returncode == 2 and "not" in wrong.stderr, wrong)


def on_terminal(columns, *words, **environment):
    """What skube prints on a terminal of that width."""
    main, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    shown = pod("x", phase="Failed", waiting_for="a text of quite some length" * 3)
    with Peer({"ok": True, "selected": True, "pods": [shown]}):
        subprocess.run(
            [SKUBE, "--socket", SOCKET, "show", "pods", *words],
            stdout=inner,
            check=True,
            env={"TERM": "xterm", **environment},
        )
    os.close(inner)
    text = os.read(main, 65536).decode().replace("\r\n", "\n")
    os.close(main)
    return text


def test_terminal():
    text = on_terminal(80)
    check("a failed pod is red", "\x1b[31mFailed" in text, text)
    plain = re.sub(r"\x1b\[\d+m", "", text)
    check(
        "no line is wider than the terminal",
        max(map(len, plain.splitlines())) == 80 and plain.endswith("...\n"),
        plain,
    )
    text = on_terminal(80, "-o", "wide", NO_COLOR="1")
    check("with -o wide no line is cut", "length\n" in text, text)
    check("NO_COLOR is honoured", "\x1b" not in text, text)
    check("and so is TERM=dumb", "\x1b" not in on_terminal(80, TERM="dumb"))
    piped = ask(
        {"ok": True, "pods": [pod("x", phase="Failed", waiting_for="y" * 300)]}, "show", "pods"
    )
    check(
        "a pipe gets whole lines without colours",
        piped[0].stdout.endswith(" " + "y" * 300 + "\n") and "\x1b" not in piped[0].stdout,
        piped,
    )


for test in (
    test_jobs,
    test_pods,
    test_nodes,
    test_sort,
    test_selection,
    test_formats,
    test_watch,
    test_terminal,
):
    test()
sys.exit(finish())
