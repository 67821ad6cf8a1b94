#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_skube.py [BUILD_DIR]: the command skube against a peer with given answers. Prints TAP.

The answers are those of doc/design/protocol.md section 3. The end-to-end tests check that the real
agent sends the same.
"""

import json
import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile

from fixture import DIR, SKUBE, SOCKET, SOURCE, Peer, ask, check, finish, is_output, skube


def test_requests():
    for words, verb in (
        (["ping"], "ping"),
        (["check"], "check"),
        (["show", "jobs"], "jobs"),
        (["show", "pods"], "pods"),
        (["show", "nodes"], "nodes"),
        (["nodes", "--slurm-conf"], "slurm_conf"),
        (["diag"], "diag"),
        (["--json", "diag"], "diag"),
    ):
        _, request = ask({"ok": True, "lines": ["NodeName=n1 CPUs=4"]}, *words)
        check(f"{' '.join(words)} asks for {verb}", json.loads(request) == {"verb": verb}, request)


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
        ("teardown", "--owner", "root"),
        ("nodes", "--slurm-conf", "--json"),
        ("nodes", "--slurm-conf", "--duration", "1h"),
        ("help", "--apply"),
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


def with_programs(programs, *words, **kwargs):
    """Runs skube with these programs in PATH: name -> shell text. Each program records its calls.
    Returns (result, calls).
    """
    folder = tempfile.mkdtemp(dir=DIR)
    for name, text in programs.items():
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nprintf "%s\\n" "{name} $*" >> {folder}/calls\n{text}\n')
        os.chmod(path, 0o755)
    environment = {**os.environ, "PATH": f"{folder}:/usr/bin:/bin"}
    result = subprocess.run(
        [SKUBE, "--socket", SOCKET, *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
        **kwargs,
    )
    calls = ""
    if os.path.exists(f"{folder}/calls"):
        with open(f"{folder}/calls", encoding="utf-8") as file:
            calls = file.read()
    shutil.rmtree(folder)
    return result, calls.splitlines()


VIEW = {
    "clusters": [
        {
            "name": "c",
            "cluster": {
                "server": "https://k:6443",
                "certificate-authority-data": "QQ==",
                "tls-server-name": 'kube"s',
            },
        }
    ]
}
KUBECTL = f"""case "$*" in
config*) cat <<'EOF'
{json.dumps(VIEW)}
EOF
;;
create*) echo a.b.c ;;
esac"""


def test_kubeconfig():
    files = [f"{DIR}/new/kubeconfig", f"{DIR}/state/token"]
    words = ("kubeconfig", files[0], "--token-file", files[1], "--owner", "nobody")
    result, calls = with_programs({"kubectl": KUBECTL}, *words)
    check(
        "kubeconfig says what it has written",
        result.returncode == 0 and all(f in result.stdout for f in files),
        result,
    )
    check(
        "it asks kubectl for the server and for a token",
        calls
        == [
            "kubectl config view --raw --minify --flatten --output json",
            "kubectl create token --namespace slurm-kube slurmkubed --duration 168h",
        ],
        calls,
    )
    with open(files[0], encoding="utf-8") as file:
        text = file.read()
    check(
        "the file names server, authority and token file",
        all(
            x in text
            for x in (
                'server: "https://k:6443"',
                'certificate-authority-data: "QQ=="',
                'tls-server-name: "kube\\"s"',
                f'tokenFile: "{files[1]}"',
            )
        )
        and "a.b.c" not in text,
        text,
    )
    with open(files[1], encoding="utf-8") as file:
        check("the token is in its file", file.read() == "a.b.c\n")
    check("both are the owner's alone", {os.stat(f).st_mode & 0o777 for f in files} == {0o600})
    check(
        "in a directory that the owner may write", os.stat(f"{DIR}/state").st_mode & 0o777 == 0o700
    )
    if os.geteuid() == 0:
        check(
            "and they are of that owner",
            {os.stat(f).st_uid for f in (*files, f"{DIR}/state")}
            == {pwd.getpwnam("nobody").pw_uid},
        )
    failing, _ = with_programs(
        {"kubectl": KUBECTL.replace("echo a.b.c", "echo no rights >&2; exit 1")}, *words
    )
    check(
        "without the right to make tokens nothing is written",
        failing.returncode == 1
        and "Is rbac.yaml applied" in failing.stderr
        and "no rights" in failing.stderr,
        failing,
    )
    with open(files[1], encoding="utf-8") as file:
        check("and the old token stays", file.read() == "a.b.c\n")
    nowhere, _ = with_programs({"kubectl": "echo '{}'"}, *words)
    check(
        "without a context kubectl's trouble is told",
        nowhere.returncode == 1 and "set KUBECONFIG" in nowhere.stderr,
        nowhere,
    )
    check("a relative name is refused", with_programs({}, "kubeconfig", "here")[0].returncode == 2)
    shutil.rmtree(f"{DIR}/new")
    shutil.rmtree(f"{DIR}/state")


def marked(number, state, uid="u-one", kind="Pod", cluster=None):
    """A row of squeue: job, state and admin_comment."""
    return (
        f"{number:<20}{state:<20}"
        + json.dumps(
            {
                "slurm-kube": 1,
                "cluster": "c",
                "namespace": "a",
                "name": "one",
                "kind": kind,
                "uid": uid,
                "attempt": 1,
                "user": 5,
                "group": 5,
            }
            | ({"cluster_uid": cluster} if cluster else {})
        )
        + "\n"
    )


def a_cluster(
    pods="",
    jobs="",
    nodes="n1",
    policies=True,
    partition="UP",
    conf="",
    others="",
    label="slurm-kube.io/managed",
    labelled=None,
    hosts=(),
):
    """kubectl, scontrol, squeue and others as on a site with slurm-kube. jobs: rows made by
    marked(); others: jobs of users in the partitions of pods.
    """
    labelled = nodes if labelled is None else labelled
    hosts = "\n".join(
        f"echo 'SlurmctldHost[{i}]        = {h}(10.0.0.{i})'"
        for i, h in enumerate(hosts or [socket.gethostname().partition(".")[0]])
    )
    with open(f"{DIR}/jobs", "w", encoding="utf-8") as file:
        file.write(jobs)
    policy = "validatingadmissionpolicy.admissionregistration.k8s.io/slurm-kube-"
    listed = (
        f"echo {policy}scheduler; echo {policy}resize; echo {policy}of-the-site; echo other/mine"
        if policies
        else "true"
    )
    rows = "\n".join(
        f"echo 'NodeName={n} State=IDLE+DYNAMIC_NORM AvailableFeatures=kube,zone_a"
        " Partitions=kube,all '"
        for n in nodes.split()
    )
    return {
        "kubectl": f"""if [ "$1" = --context ]; then shift 2; fi
case "$*" in
"api-resources"*) echo validatingadmissionpolicies.admissionregistration.k8s.io ;;
"get validatingadmissionpolicies"*) {listed} ;;
"get pods"*) printf '{pods}' ;;
"config view"*) echo https://k8s.example ;;
"get namespace kube-system"*) echo c-uid ;;
"get nodes --selector {label} "*) for n in {labelled}; do echo $n; done ;;
"get nodes --output"*) 
  for n in {nodes}; do echo "$n node.kubernetes.io/x slurm-kube.io/managed"; done; echo "other x" ;;
"get namespaces"*) {"echo physics" if policies else "true"} ;;
"get clusterrolebinding"*) 
  {"echo clusterrole/slurm-kube; echo namespace/slurm-kube" if policies else "true"} ;;
esac""",
        "scontrol": f"""case "$*" in
*"show nodes") {rows or "true"}
echo 'NodeName=real State=IDLE AvailableFeatures=fast Partitions=all' ;;
*"show partitions") echo 'PartitionName=kube X=y State={partition} Z=1'
  echo 'PartitionName=all State=UP' ;;
*"show config") echo 'SLURM_CONF              = {conf}'
{hosts} ;;
esac""",
        "squeue": f"""case "$*" in
*admin_comment*) cat {DIR}/jobs ;;
*) sed 's/{{.*//' {DIR}/jobs; printf '{others}' ;;
esac""",
        "scancel": "true",
        "systemctl": "true",
    }


def changes(calls):
    return [
        c
        for c in calls
        if not re.match(
            (
                r"kubectl (--context \w+ )?(get|api-resources|config view)|scontrol"
                r" .*show|squeue|systemctl is-active"
            ),
            c,
        )
    ]


def test_teardown():
    conf = f"{DIR}/slurm.conf"
    with open(conf, "w", encoding="utf-8") as file:
        file.write(
            "ClusterName=c\nJobSubmitPlugins=lua,kube # ours\nJobSubmitPlugins=lua\nInclude"
            " nodes.conf\nNodeSet=k Feature=kube\nPartitionName=kube Nodes=k\nPartitionName=all"
            " Nodes=ALL\n"
        )
    with open(f"{DIR}/nodes.conf", "w", encoding="utf-8") as file:
        file.write("NodeName=n1 CPUs=1 Feature=kube\n")
    pods = "u-one a one n1\\nu-two a two \\n"
    jobs = marked(7, "RUNNING") + marked(8, "PENDING", "u-two") + marked(9, "COMPLETED", "u-old")
    dry, calls = with_programs(
        a_cluster(pods, jobs, conf=conf, others="10 PENDING\\n11 FAILED\\n"), "teardown"
    )
    check(
        "teardown changes nothing by itself",
        dry.returncode == 0 and not changes(calls),
        f"{dry}{calls}",
    )
    parts = [
        "https://k8s.example",
        "delete the policies that set",
        "scheduler",
        "PartitionName=kube State=INACTIVE",
        "pod a/one",
        "job 7",
        "job 10, which is not slurm-kube's",
        "scancel --state=PENDING 8",
        "slurm-kube-resize",
        "label node n1 slurm-kube.io/managed-",
        "taint node n1",
        "label namespace physics",
        "clusterrole/slurm-kube namespace/slurm-kube",
        "delete NodeName=n1",
        f"{conf}:2: JobSubmitPlugins=lua,kube",
        "nodes.conf:1: NodeName=n1",
        f"{conf}:4: Include",
        f"{conf}:5: NodeSet",
        f"{conf}:6: PartitionName=kube",
        "pod a/two",
        "make uninstall",
    ]
    places = [dry.stdout.find(part) for part in parts]
    check(
        "it tells every step in a safe order",
        min(places) >= 0 and places == sorted(places),
        f"{places}\n{dry.stdout}",
    )
    check(
        "and nothing of others",
        not any(
            x in dry.stdout
            for x in (
                "other/mine",
                "of-the-site",
                "PartitionName=all",
                "conf:3:",
                "job 11",
                "scancel --state=PENDING 10",
            )
        ),
        dry.stdout,
    )
    stopped, calls = with_programs(a_cluster("u-one a one n1\\n", conf=conf), "teardown", "--apply")
    check(
        "with a pod that runs it closes the door and waits",
        stopped.returncode == 1
        and "run skube teardown --apply again" in stopped.stderr
        and changes(calls)
        == [
            (
                "kubectl delete"
                " validatingadmissionpolicy.admissionregistration.k8s.io/slurm-kube-scheduler"
            ),
            "scontrol update PartitionName=kube State=INACTIVE",
        ],
        f"{stopped}{calls}",
    )
    check(
        "it looks again before each step",
        [c for c in calls if c.startswith("squeue") and "admin_comment" in c].__len__() == 3,
        calls,
    )
    waiting = marked(8, "PENDING", "u-two")
    applied, calls = with_programs(
        a_cluster("u-two a two \\n", waiting, partition="INACTIVE", conf=conf),
        "teardown",
        "--apply",
    )
    check(
        "then it removes all in this order",
        applied.returncode == 0
        and changes(calls)
        == [
            (
                "kubectl delete"
                " validatingadmissionpolicy.admissionregistration.k8s.io/slurm-kube-scheduler"
            ),
            "scancel --state=PENDING 8",
            (
                "kubectl delete"
                " validatingadmissionpolicy.admissionregistration.k8s.io/slurm-kube-resize"
            ),
            "kubectl label node n1 slurm-kube.io/managed-",
            "kubectl taint node n1 slurm-kube.io/managed-",
            "kubectl label namespace physics slurm-kube.io/managed-",
            "kubectl delete clusterrole/slurm-kube namespace/slurm-kube",
            "scontrol delete NodeName=n1",
        ],
        f"{applied}{calls}",
    )
    native, calls = with_programs(
        a_cluster(
            "u-two a two \\n", waiting, partition="INACTIVE", conf=conf, others="10 PENDING\\n"
        ),
        "teardown",
        "--apply",
    )
    check(
        "jobs of users are never cancelled",
        native.returncode == 1
        and "job 10" in native.stdout
        and not any("scancel" in c for c in calls),
        f"{native}{calls}",
    )
    other, calls = with_programs(
        a_cluster("u-x a two \\n", waiting, conf=conf), "teardown", "--apply"
    )
    check(
        "another cluster's pods are not ours",
        other.returncode == 1
        and not changes(calls)
        and "none of Slurm's jobs for pods (8) is about a pod of the cluster at https://k8s.example"
        in other.stderr
        and "--context" in other.stderr,
        f"{other}{calls}",
    )
    gang, _ = with_programs(
        a_cluster("u-x a two \\n", marked(8, "PENDING", "u-lead", "Job"), conf=conf), "teardown"
    )
    check(
        "a gang whose first pod has ended is",
        gang.returncode == 0 and "scancel --state=PENDING 8" in gang.stdout,
        gang,
    )
    told, calls = with_programs(
        a_cluster("u-two a two \\n", marked(8, "PENDING", "u-two", cluster="d-uid"), conf=conf),
        "teardown",
        "--apply",
    )
    check(
        "a marker tells whose cluster it is",
        told.returncode == 1
        and not changes(calls)
        and "job 8 is about a pod of another cluster" in told.stderr,
        f"{told}{calls}",
    )
    with Peer({"ok": True}):
        deaf = a_cluster("u-two a two \\n", waiting, partition="INACTIVE", conf=conf)
        stays, calls = with_programs(deaf | {"systemctl": "echo active"}, "teardown", "--apply")
    check(
        "an agent that goes on running stops it",
        stays.returncode == 1
        and "still there: Stop the agent" in stays.stderr
        and not any("scancel" in c for c in calls),
        f"{stays}{calls}",
    )
    strange, calls = with_programs(a_cluster(conf=conf, labelled="m1"), "teardown", "--apply")
    check(
        "nor are another cluster's nodes",
        strange.returncode == 1
        and not changes(calls)
        and "(m1) is a node of Slurm (n1)" in strange.stderr,
        f"{strange}{calls}",
    )
    hosts = (socket.gethostname().partition(".")[0], "backup")
    two, calls = with_programs(
        a_cluster("u-two a two \\n", waiting, partition="INACTIVE", conf=conf, hosts=hosts),
        "teardown",
        "--apply",
    )
    check(
        "agents beside other controllers are stopped first",
        two.returncode == 1
        and "\n   backup\n" in two.stdout
        and not any("scancel" in c for c in calls),
        f"{two}{calls}",
    )
    sure, calls = with_programs(
        a_cluster("u-two a two \\n", waiting, partition="INACTIVE", conf=conf, hosts=hosts),
        "teardown",
        "--apply",
        "--agents-stopped",
    )
    check(
        "and somebody says so",
        sure.returncode == 0 and "scancel --state=PENDING 8" in calls,
        f"{sure}{calls}",
    )
    context, calls = with_programs(
        a_cluster("u-one a one n1\\n", conf=conf), "teardown", "--context", "prod"
    )
    check(
        "--context goes to kubectl",
        context.returncode == 0
        and all("--context prod" in c for c in calls if c.startswith("kubectl"))
        and "kubectl --context prod delete" in context.stdout,
        f"{context}{calls}",
    )
    site = a_cluster(conf=conf, label="site/pool", partition="INACTIVE")
    own, calls = with_programs(site, "teardown", "--apply", "--label", "site/pool")
    check(
        "a label of the site's own stays",
        own.returncode == 0
        and "the site's own" in own.stdout
        and not any("label node" in c for c in calls),
        f"{own}{calls}",
    )
    failing = a_cluster(conf=conf, partition="INACTIVE")
    failing["kubectl"] = failing["kubectl"].replace(
        'case "$*" in', 'case "$*" in\n"taint"*) exit 1 ;;', 1
    )
    broken, calls = with_programs(failing, "teardown", "--apply")
    check(
        "a step that fails ends it",
        broken.returncode == 1
        and "failed: kubectl taint node n1" in broken.stderr
        and not any("namespace physics" in c for c in calls),
        f"{broken}{calls}",
    )
    blind = a_cluster(conf=conf)
    blind["scontrol"] = "exit 1"
    check(
        "what cannot be asked is not taken for gone",
        with_programs(blind, "teardown", "--apply")[0].returncode == 1
        and not changes(with_programs(blind, "teardown", "--apply")[1]),
    )
    empty, _ = with_programs(a_cluster(nodes="", policies=False, conf="/dev/null"), "teardown")
    is_output(
        "nothing left is told", empty, "Nothing is left of slurm-kube in Kubernetes and in Slurm.\n"
    )
    with Peer({"ok": True}):
        running, _ = with_programs(
            a_cluster(nodes="", policies=False, conf="/dev/null"), "teardown"
        )
    check(
        "an agent that answers is stopped first",
        "systemctl disable --now slurmkubed" in running.stdout,
        running,
    )
    for name in (conf, f"{DIR}/nodes.conf", f"{DIR}/jobs"):
        os.unlink(name)


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
    test_ping,
    test_check,
    test_node_lines_printed,
    test_node_lines_written,
    test_why,
    test_diag,
    test_explain,
    test_errors,
    test_socket_path,
    test_kubeconfig,
    test_teardown,
    test_manual,
):
    test()
sys.exit(finish())
