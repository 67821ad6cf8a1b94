#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_skube.py [BUILD_DIR]: the command skube against a peer with given answers. Prints TAP.

The answers are those of doc/design/protocol.md section 3. The end-to-end tests check that the real
agent sends the same.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from fixture import (
    DIR,
    SKUBE,
    SOCKET,
    SOURCE,
    Peer,
    ask,
    check,
    finish,
    is_output,
    skube,
)


def test_requests():
    for words, verb in (
        (["ping"], "ping"),
        (["check"], "check"),
        (["show", "jobs"], "jobs"),
        (["show", "pods"], "pods"),
        (["show", "nodes"], "nodes"),
        (["show", "devices"], "devices"),
        (["nodes", "--slurm-conf"], "slurm_conf"),
        (["nodes", "--topology-conf"], "topology_conf"),
        (["diag"], "diag"),
        (["--json", "diag"], "diag"),
    ):
        _, request = ask({"ok": True, "lines": ["NodeName=n1 CPUs=4"]}, *words)
        check(f"{' '.join(words)} asks for {verb}", json.loads(request) == {"verb": verb}, request)


def test_devices():
    row = {
        "node": "n1",
        "gres": "gpu",
        "type": "a100",
        "index": 0,
        "driver": "gpu.example.com",
        "pool": "n1",
        "device": "gpu-0",
        "state": "allocated",
        "published": True,
        "job": 7,
        "namespace": "lab",
        "pod": "a\x1b[1m",
    }
    new = {name: row[name] for name in ("node", "gres", "type", "driver", "pool", "device")}
    trouble = {"node": "n2", "gres": "gpu", "driver": "gpu.example.com", "why": "incomplete"}
    reply = {
        "ok": True,
        "rules": 1,
        "devices": [row, dict(new, device="gpu-1", state="unrecorded")],
        "troubles": [trouble],
    }
    is_output(
        "devices by index, and why a list is not there",
        ask(reply, "show", "devices")[0],
        (
            "NODE  GRES  INDEX  TYPE  DEVICE  POOL  STATE       JOBID  POD\n"
            "n1    gpu       0  a100  gpu-0   n1    allocated       7  lab/a?[1m\n"
            "n1    gpu       -  a100  gpu-1   n1    unrecorded      -  -\n"
            "n2, GRES gpu: incomplete\n"
        ),
    )
    is_output(
        "no rules for devices",
        ask({"ok": True, "rules": 0, "devices": [], "troubles": []}, "show", "devices")[0],
        "slurmkubed.yaml has no rules for devices (section 'devices')\n",
    )
    printed = json.loads(ask(reply, "show", "devices", "--json")[0].stdout)
    check("devices as JSON", printed["devices"][0]["device"] == "gpu-0", str(printed))
    wide = ask(reply, "show", "devices", "-o", "wide")[0]
    check("devices have no wide form", wide.returncode == 2, wide.stderr)
    error = ask({"ok": False, "error": "no"}, "show", "devices")[0]
    check("an error of devices", error.returncode == 1 and "no" in error.stderr, error.stderr)


def test_ping():
    up = {"ok": True, "version": "0.1.0", "ready": True, "link": True, "uptime_seconds": 3725}
    is_output(
        "ping of a ready agent",
        ask(up, "ping")[0],
        "slurmkubed 0.1.0 is up for 1:02:05, ready, connected with slurmctld\n",
    )
    is_output(
        "ping of one that is not",
        ask(dict(up, ready=False, link=False), "ping")[0],
        (
            "slurmkubed 0.1.0 is up for 1:02:05, not ready yet, not connected with slurmctld (see"
            " skube check)\n"
        ),
        1,
    )


def test_check():
    good = {"name": "plugin", "ok": True, "text": "version 0.1.0 in Slurm 22.05.8", "remedy": ""}
    bad = {
        "name": "rights",
        "ok": False,
        "text": "missing: create bindings",
        "remedy": "kubectl apply -f rbac.yaml",
    }
    is_output(
        "check, all well",
        ask({"ok": True, "checks": [good]}, "check")[0],
        "ok    plugin: version 0.1.0 in Slurm 22.05.8\n",
    )
    is_output(
        "check, something wrong",
        ask({"ok": True, "checks": [good, bad]}, "check")[0],
        (
            "ok    plugin: version 0.1.0 in Slurm 22.05.8\nFAIL  rights: missing: create bindings\n"
            "      -> kubectl apply -f rbac.yaml\n"
        ),
        1,
    )
    check(
        "check without any line is not fine",
        ask({"ok": True, "checks": []}, "check")[0].returncode == 1,
    )


LINES = {
    "ok": True,
    "lines": ["NodeName=n1 CPUs=4", "NodeName=n2 CPUs=4"],
    "apply": "restart slurmctld ('systemctl restart slurmctld')",
}
NO_LINES = {"ok": True, "lines": ["# left out: n3"], "apply": "restart slurmctld"}


def test_node_lines_printed():
    lines = ask(LINES, "nodes", "--slurm-conf")[0]
    check(
        "nodes --slurm-conf prints the lines",
        lines.stdout.splitlines()[1:] == LINES["lines"],
        lines.stdout,
    )
    check(
        "and a comment that says how they are applied",
        lines.stdout.startswith("# ")
        and "restart slurmctld ('systemctl restart slurmctld')" in lines.stdout.splitlines()[0],
        lines.stdout,
    )
    check(
        "never scontrol reconfigure unless the agent says so",
        "reconfigure" not in lines.stdout,
        lines.stdout,
    )
    for name, reply in (
        ("no node", NO_LINES),
        ("no line at all", {"ok": True, "lines": []}),
        ("an agent that is not in sync", {"ok": False, "error": "not known"}),
    ):
        refused = ask(reply, "nodes", "--slurm-conf")[0]
        check(
            f"{name}: status 1, a sentence, and nothing on stdout",
            refused.returncode == 1 and refused.stderr and not refused.stdout,
            refused,
        )
    forced = ask(NO_LINES, "nodes", "--slurm-conf", "--force")[0]
    check(
        "--force prints an empty list",
        forced.returncode == 0 and "# left out: n3" in forced.stdout,
        forced,
    )
    gone = skube("nodes", "--slurm-conf")
    check(
        "no agent: status 3 and nothing on stdout", gone.returncode == 3 and not gone.stdout, gone
    )


def test_node_lines_written():
    directory = tempfile.mkdtemp(prefix="slurm-kube-skube.")
    path = os.path.join(directory, "kube-nodes.conf")

    def read():
        with open(path, encoding="utf-8") as file:
            return file.read()

    def written(reply, *more):
        return ask(reply, "nodes", "--slurm-conf", "--output", path, *more)[0]

    empty = written({"ok": True, "lines": []})
    check(
        "an empty list makes the file that Include wants",
        empty.returncode == 0 and read().startswith("# "),
        empty,
    )
    first = written(LINES)
    check(
        "--output writes what would be printed",
        first.returncode == 0
        and read().splitlines()[1:] == LINES["lines"]
        and "2 nodes (before: 0)" in first.stdout,
        first,
    )
    os.chmod(path, 0o640)
    good, inode = read(), os.stat(path).st_ino
    check(
        "the same again leaves the file alone",
        "nothing has changed" in written(LINES).stdout and os.stat(path).st_ino == inode,
    )
    for name, reply in (
        ("an empty list", NO_LINES),
        ("a refusal", {"ok": False, "error": "not known"}),
        ("garbage", b"hello\n"),
        ("half a reply", b'{"ok":tr'),
    ):
        refused = written(reply)
        check(
            f"{name} leaves the old list",
            refused.returncode != 0
            and refused.stderr
            and not refused.stdout
            and read() == good
            and os.stat(path).st_ino == inode,
            refused,
        )
    gone = skube("nodes", "--slurm-conf", "--output", path)
    check("no agent leaves the old list", gone.returncode == 3 and read() == good, gone)
    more = written(dict(LINES, lines=LINES["lines"] + ["NodeName=n3 CPUs=4"]))
    check(
        "a change is a new file of the same mode",
        "3 nodes (before: 2)" in more.stdout
        and os.stat(path).st_ino != inode
        and os.stat(path).st_mode & 0o777 == 0o640,
        more,
    )
    check(
        "no other file stays", os.listdir(directory) == ["kube-nodes.conf"], os.listdir(directory)
    )
    forced = written(NO_LINES, "--force")
    check("--force overrules", forced.returncode == 0 and "NodeName" not in read(), forced)
    link = os.path.join(directory, "link")
    os.symlink("kube-nodes.conf", link)
    check(
        "a link stays one",
        ask(LINES, "nodes", "--slurm-conf", "--output", link)[0].returncode == 0
        and os.path.islink(link)
        and read().count("NodeName=") == 2,
    )
    for bad in (directory, os.path.join(directory, "no", "file"), "/proc/self/comm"):
        refused = ask(LINES, "nodes", "--slurm-conf", "--output", bad)[0]
        check(
            f"{os.path.basename(bad)} cannot be replaced: status 1 and why",
            refused.returncode == 1
            and refused.stderr.startswith("skube: /")
            and not refused.stdout,
            refused,
        )
    for name in os.listdir(directory):
        os.unlink(os.path.join(directory, name))
    os.rmdir(directory)


def test_why():
    lines = [
        {"about": "pod", "text": "lab/p, Pending"},
        {"about": "waits for", "text": "Slurm's queue: \u001b[31mPriority\nx"},
    ]
    result, request = ask({"ok": True, "lines": lines}, "why", "lab/p")
    check("why asks for its pod", json.loads(request) == {"verb": "why", "pod": "lab/p"}, request)
    _, request = ask({"ok": True, "lines": lines}, "why", "-n", "lab", "p")
    check("-n gives its namespace", json.loads(request) == {"verb": "why", "pod": "lab/p"}, request)
    owner = {"kind": "JobSet", "namespace": "default", "name": "t"}
    for words, members in (
        (["node/n1"], {"node": "n1"}),
        (["job/12"], {"job": 12}),
        (["pod/p"], {"pod": "p"}),
        (["pod/p", "-n", "lab"], {"pod": "lab/p"}),
        (["JobSet/t"], {"owner": owner}),
        (["JobSet/t", "-n", "lab"], {"owner": owner | {"namespace": "lab"}}),
        (["job/t"], {"owner": owner | {"kind": "job"}}),
    ):
        _, request = ask({"ok": True, "lines": lines}, "why", *words)
        wanted = {"verb": "why"} | members
        check(f"why {' '.join(words)}", json.loads(request) == wanted, request)
    for words in (["node/"], ["JobSet/"], ["node/n1", "-n", "a"]):
        check(f"why {' '.join(words)} is wrong usage", skube("why", *words).returncode == 2)
    check(
        "why prints one line each, and nothing that a terminal obeys",
        result.returncode == 0
        and result.stdout.startswith("pod:       lab/p, Pending\nwaits for: Slurm's queue: ")
        and result.stdout.count("\n") == 2
        and "\x1b" not in result.stdout,
        result,
    )
    refused, _ = ask({"ok": False, "error": "no pod lab/p"}, "why", "lab/p")
    check(
        "why of no pod fails",
        refused.returncode == 1 and refused.stderr == "skube: no pod lab/p\n",
        refused,
    )
    for words in (("why",), ("why", "a", "b"), ("why", "")):
        wrong = skube(*words)
        check(
            f"'{' '.join(words)}': why wants one pod, and says so",
            wrong.returncode == 2 and "why takes one pod" in wrong.stderr.splitlines()[0],
            wrong,
        )


def test_diag():
    cost = {"count": 9, "mean_us": 1.25, "p99_us": 3.0, "max_us": 4}
    reply = {
        "ok": True,
        "plugin_version": "0.1.0",
        "slurm_version": "22.05.8",
        "family": "emulated",
        "counters": {"bound": 12},
        "stage_latencies": {
            "watch_to_submit": {"count": 200, "p50_ms": 0.41, "p99_ms": 2.0, "max_ms": 12.34}
        },
        "plugin": {"hook": cost, "lock_hold": cost, "duty_percent": 0.31, "placeholders": 4},
    }
    text = ask(reply, "diag")[0].stdout
    for wanted in (
        "plugin 0.1.0 in Slurm 22.05.8 (emulated)",
        "watch_to_submit    200     0.4     2.0    12.3",
        "hook           9      1.2     3.0     4.0",
        "duty_percent    0.3",
        "bound     12",
    ):
        check(f"diag shows {wanted.split()[0]}", wanted in text, text)
    as_json = ask(reply, "diag", "--json")[0]
    check("--json prints the reply", json.loads(as_json.stdout) == reply, as_json.stdout)


def test_explain():
    """Works without an agent, because the table is in the program."""
    all_of_them = skube("explain", "options")
    check(
        "explain options lists them",
        all_of_them.returncode == 0
        and "timelimit" in all_of_them.stdout
        and "-t, --time=" in all_of_them.stdout,
        all_of_them,
    )
    for name in (
        "timelimit",
        "slurm-kube.io/timelimit",
        "--time",
        "time",
        "-t",
        "sunk.coreweave.com/timeout",
    ):
        one = (
            skube("explain", "options", name)
            if not name.startswith("-")
            else skube("explain", "options", "--", name)
        )
        check(
            f"explain options {name}",
            one.returncode == 0 and one.stdout.startswith("slurm-kube.io/timelimit: "),
            one,
        )
    array = skube("explain", "options", "array")
    check(
        "explain says why an option is refused",
        array.returncode == 0 and "Indexed" in array.stdout,
        array,
    )
    unknown = skube("explain", "options", "time-limit")
    check(
        "explain of an unknown name says what is like it",
        unknown.returncode == 1 and "timelimit" in unknown.stderr and not unknown.stdout,
        unknown,
    )


def test_errors():
    gone = skube("ping")
    check(
        "no agent: status 3 and a remedy",
        gone.returncode == 3 and "systemctl status slurmkubed" in gone.stderr and not gone.stdout,
        gone,
    )
    no, _ = ask({"ok": False, "error": "unknown verb"}, "ping")
    check(
        "the agent says no: status 1 and its sentence",
        (no.returncode, no.stderr) == (1, "skube: unknown verb\n"),
        no,
    )
    for reply in (b"", b"hello\n", b'{"ok":tr', b"[]\n"):
        broken, _ = ask(reply, "ping")
        check(
            f"a reply of {reply!r} is an error",
            broken.returncode in (1, 3)
            and broken.stderr.startswith("skube: ")
            and not broken.stdout,
            broken,
        )
    big = {"ok": True, "lines": ["NodeName=" + "x" * 91] * 50000}
    check(
        "a reply of 5 MB arrives whole",
        ask(big, "nodes", "--slurm-conf")[0].stdout.count("\n") == 50001,
    )
    with Peer({"ok": True, "lines": ["NodeName=" + "x" * 91] * 100}, pause=0.05):
        check(
            "a slow reply arrives whole", skube("nodes", "--slurm-conf").stdout.count("\n") == 101
        )
    for words in (
        (),
        ("nodes",),
        ("show",),
        ("show", "cows"),
        ("ping", "now"),
        ("ping", "--slurm-conf"),
        ("nodes", "--output", "f"),
        ("ping", "--force"),
        ("show", "jobs", "--active"),
        ("--nonsense",),
        ("-x", "ping"),
        ("show", "pods", "--sort"),
        ("show", "pods", "-n", ""),
        ("show", "nodes", "-n", "a"),
        ("show", "nodes", "--user", "root"),
        ("show", "jobs", "-l", "a=b"),
        ("check", "--state", "R"),
        ("why", "a", "--sort", "age"),
        ("why", "-n", "a", "a/b"),
        ("ping", "--active"),
        ("diag", "-o", "wide"),
        ("diag", "-o", "yaml", "--json"),
        ("explain", "options", "--json"),
        ("kubeconfig", "--json"),
        ("kubeconfig", "--apply"),
        ("kubeconfig", "/tmp/a", "--token-file", "/tmp/./a"),
        ("teardown", "--owner", "root"),
        ("nodes", "--slurm-conf", "--json"),
        ("nodes", "--slurm-conf", "--duration", "1h"),
        ("help", "--apply"),
        ("manifests", "rbac"),
        ("manifests", "--json"),
        ("teardown", "--only", "rbac"),
        ("selftest", "now"),
        ("top", "now"),
        ("top", "-o", "name"),
        ("diag", "--once"),
        ("drain",),
        ("drain", "n1", "n2"),
        ("drain", ""),
        ("resume", "n1", "--reason", "x"),
        ("hold", "node/n1"),
        ("hold", "job/7", "-n", "lab"),
        ("logs", "7", "--file", "f", "--follow"),
        ("logs", "7", "--reason", "x"),
        ("version", "-o", "wide"),
        ("selftest", "--timeout", "2m"),
        ("selftest", "--timeout", "0"),
        ("selftest", "-o", "wide"),
        ("selftest", "--apply"),
        ("ping", "--image", "busybox"),
        ("explain",),
        ("explain", "options", "a", "b"),
    ):
        wrong = skube(*words)
        check(
            f"'{' '.join(words)}' is wrong usage",
            wrong.returncode == 2
            and wrong.stderr.startswith("skube: ")
            and wrong.stderr.count("\n") == 1
            and not wrong.stdout,
            wrong,
        )
    stray = skube("show", "jobs", "--active")
    check(
        "an option of another command is named with the command",
        stray.stderr == "skube: 'show jobs' takes no option --active (skube --help)\n",
        stray,
    )
    for words in (("--help",), ("help",), ("--version",)):
        check(
            f"{words[0]} is answered without an agent",
            skube(*words).returncode == 0 and skube(*words).stdout != "",
        )


def test_socket_path():
    """The option, then SKUBE_SOCKET; unit test_socket_path has the configuration file."""
    reply = {"ok": True, "ready": True, "version": "1", "uptime_seconds": 1, "link": True}
    nowhere = {**os.environ, "SKUBE_SOCKET": f"{DIR}/nowhere"}
    with Peer(reply):
        check("--socket beats SKUBE_SOCKET", skube("ping", env=nowhere).returncode == 0)
    here = {**os.environ, "SKUBE_SOCKET": SOCKET}
    with Peer(reply):
        found = subprocess.run([SKUBE, "ping"], env=here, capture_output=True, check=False)
    check("SKUBE_SOCKET is used", found.returncode == 0, found)
    lost = subprocess.run([SKUBE, "ping"], env=nowhere, capture_output=True, text=True, check=False)
    check(
        "the error says where the path comes from",
        lost.returncode == 3
        and f"at {DIR}/nowhere: " in lost.stderr
        and lost.stderr.endswith("; the path is from SKUBE_SOCKET\n"),
        lost,
    )


def test_manual():
    """Every command and option of --help is in skube(1), and so is each word of show."""
    with open(os.path.join(SOURCE, "doc", "man", "skube.1.scd"), encoding="utf-8") as page:
        manual = page.read()
    help_text = skube("--help").stdout
    for option in set(re.findall(r"--[a-z-]+", help_text)):
        check(f"skube(1) explains {option}", f"*{option}*" in manual or f"*{option} " in manual)
    for command in re.findall(r"^  ([a-z]+)", help_text, re.MULTILINE):
        check(f"skube(1) explains {command}", f"*{command}" in manual)
    shown = re.search(r"^  show ([a-z|]+)", help_text, re.MULTILINE)
    for word in shown.group(1).split("|") if shown else [""]:
        check(f"skube(1) explains show {word}", f"\n*show* *{word}*\n" in manual)


for test in (
    test_requests,
    test_devices,
    test_ping,
    test_check,
    test_node_lines_printed,
    test_node_lines_written,
    test_why,
    test_diag,
    test_explain,
    test_errors,
    test_socket_path,
    test_manual,
):
    test()
sys.exit(finish())
