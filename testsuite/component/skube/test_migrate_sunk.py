#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_migrate_sunk.py [BUILD_DIR]: skube migrate --from sunk with programs that answer as told.
Prints TAP.
"""

import json
import re
import sys

from fixture import check, finish, with_programs

LOCK = "sunk.coreweave.com/lock"
NAME = "tenant-slurm-slurm"
OURS = "slurm-kube.io/managed"


def printing(text):
    return f"cat <<'END'\n{text}\nEND" if text else "true"


def containers(*arguments):
    return json.dumps([{"name": "scheduler", "args": list(arguments)}])


def annotated(**values):
    return json.dumps({"sunk.coreweave.com/" + k.replace("_", "-"): v for k, v in values.items()})


def a_cluster(
    programs=f"sunk|sched|Running|{containers('--scheduler-name=' + NAME)}",
    node_sets="slurm|gpu-1|n1|Running|gpu||",
    pods="",
    nodes=f"n1|gpu||{LOCK}|{{}}",
    slurm="",
):
    """kubectl and scontrol as on a site with SUNK; rows as jsonpath prints them."""
    return {
        "kubectl": f"""if [ "$1" = --context ]; then shift 2; fi
case "$*" in
"config view"*) echo https://k8s.example ;;
"get pods"*sunk-scheduler*) {printing(programs)}
;;
"get pods"*spec.schedulerName=*) {printing(pods)}
;;
"get pods"*) {printing(node_sets)}
;;
"get nodes --selector"*) echo ours ;;
"get nodes"*) {printing(nodes)}
;;
esac""",
        "scontrol": printing(slurm),
    }


def changes(calls):
    return [
        c
        for c in calls
        if not re.match(r"kubectl (--context \w+ )?(get|config view)|scontrol --oneliner .*show", c)
    ]


def migrate(cluster, *words):
    return with_programs(cluster, "migrate", "--from", "sunk", "--sunk-scheduler", NAME, *words)


def commands(text):
    return [line.strip() for line in text.split("\n") if line.startswith("   kubectl ")]


NODES = "\n".join(
    (
        f"busy|gpu||{LOCK}|{{}}",
        f"free|gpu||node.kubernetes.io/x {LOCK}|{{}}",
        "left|gpu|||null",
        f"broken|gpu|||{annotated(drain='Xid 79' + chr(10) + 'a|b' + 'x' * 100)}",
        f"held|gpu|true||{annotated(drain='move')}",
        f"owner||||{annotated(drain='no mark of SUNK')}",
        f"slurmd|gpu||{LOCK}|{{}}",
        f"set|gpu||{LOCK}|{{}}",
        "ours|gpu|||",
    )
)
NODE_SETS = "\n".join(
    (
        "slurm|gpu-1|busy|Running|gpu|main|ReplicaSet",
        "slurm|gpu-2|slurmd|Pending||slurmd syncd|",
        "slurm|gpu-3|set|Running||main|NodeSet",
        "slurm|gpu-4|free|Failed|gpu|slurmd|NodeSet",
        "default|plain|free|Running||main slurmd-exporter|Job",
    )
)


def test_the_plan():
    cluster = a_cluster(
        node_sets=NODE_SETS,
        nodes=NODES,
        pods="\n".join(
            (
                f"a|one|busy|Running|{annotated(exclusive='ok', new_one='1', lock='false')}",
                f"a|two||Pending|{annotated(timeout='5')}",
                "a|old|free|Succeeded|" + annotated(other_one="1"),
            )
        ),
        slurm=(
            "NodeName=s1 State=IDLE+DRAIN Reason=k8s: pod not ready [root@x]\n"
            "NodeName=s2 State=IDLE Reason=k8s:old\nNodeName=s3 State=IDLE+DRAIN Reason=mine"
        ),
    )
    dry, calls = migrate(cluster)
    check("migrate changes nothing by itself", not changes(calls) and dry.returncode == 0, calls)
    check(
        "only nodes without slurmd are taken",
        commands(dry.stdout)
        == [
            "kubectl cordon broken",
            f"kubectl taint node --overwrite free left broken held {OURS}:NoSchedule",
            f"kubectl taint node free {LOCK}-",
            f"kubectl label node --overwrite free left broken held {OURS}=true",
        ],
        dry.stdout,
    )
    for what, row in (
        ("a node that was drained", "   broken: Xid 79?a|b" + "x" * 70 + "…\n   held: move\n"),
        ("nodes with slurmd, by any mark", "slurm/gpu-1 on busy\n   slurm/gpu-2 on slurmd\n"),
        ("the NodeSet's pod", "   slurm/gpu-3 on set\n"),
        ("a pod that runs", "   a/one on busy\n"),
        ("a pod that waits", "   a/two\n"),
        ("annotations that are not known", "   sunk.coreweave.com/new-one\n"),
        ("its Pod Scheduler", f"   sunk/sched\n   scheduler_aliases: [{NAME}]"),
        ("what its Syncer has drained", "State=RESUME (by hand):\n   s1\n"),
        ("what differs", "placeholder jobs belong to root"),
        ("what is not known", "is not known"),
    ):
        check(f"a person is told of {what}", row in dry.stdout, dry.stdout)
    for word in ("a/old", "gpu-4", "plain", "other-one", "owner", "s2", "s3"):
        check(f"{word} is not named", not re.search(rf"\b{word}\b", dry.stdout), dry.stdout)


def test_many():
    cluster = a_cluster(
        node_sets="\n".join(f"slurm|p{i}|n{i}|Running|gpu||" for i in range(30)),
        pods="\n".join(f"a|w{i}||Pending|{annotated(**{f'x{i}': '1'})}" for i in range(30)),
    )
    dry, _ = migrate(cluster)
    check(
        "lists are short",
        "slurm/p19 on n19\n   … and 10 more\n" in dry.stdout
        and "slurm/p20 " not in dry.stdout
        and dry.stdout.count("sunk.coreweave.com/x") == 10,
        dry.stdout,
    )


def test_apply():
    moved, calls = migrate(
        a_cluster(node_sets="", nodes=f"free|gpu||{LOCK}|{{}}", pods=""), "--apply"
    )
    check(
        "a lock that comes back is a conflict, and the node is not taken",
        moved.returncode == 1
        and "still there" in moved.stderr
        and [c.split()[1] for c in changes(calls)] == ["taint", "taint"],
        (moved, calls),
    )
    rest, calls = migrate(a_cluster(), "--apply")
    check(
        "a node with slurmd is left to a person",
        rest.returncode == 0 and not changes(calls) and "slurm/gpu-1 on n1" in rest.stdout,
        (rest, calls),
    )
    none, _ = migrate(a_cluster(programs="", node_sets="", nodes=""), "--apply")
    check(
        "nothing may be left",
        none.stdout.startswith("Nothing is left of SUNK") and none.returncode == 0,
        none,
    )


def test_refusals():
    for other in (
        containers("--scheduler-name=tenant-two"),
        containers("-v", "--scheduler-name=x"),
    ):
        wrong, calls = migrate(a_cluster(programs=f"sunk|sched|Running|{other}"), "--apply")
        check(
            "a scheduler with another name is another cluster's",
            wrong.returncode == 1
            and "give its name with --sunk-scheduler" in wrong.stderr
            and "https://k8s.example" in wrong.stderr
            and not changes(calls),
            (wrong, calls),
        )
    for row in ("sunk|old|Failed|" + containers("--scheduler-name=x"), "sunk|s|Running|[{", "|||"):
        fine, _ = migrate(a_cluster(programs=row))
        check(f"{row[:12]} names no scheduler", fine.returncode == 0, fine)
    for program in ("kubectl", "scontrol"):
        blind = a_cluster(node_sets="", nodes=f"free|gpu||{LOCK}|{{}}")
        blind[program] = "exit 1"
        unseen, calls = migrate(blind, "--apply")
        check(
            f"without {program} nothing is taken for gone",
            unseen.returncode == 1 and not changes(calls),
            (unseen, calls),
        )
    for words, said in (
        ((), "--from sunk needs --sunk-scheduler"),
        (("--sunk-scheduler", "a,spec.nodeName=b"), "is not a name"),
        (("--sunk-scheduler", NAME, "--bridge-stopped"), "does not belong to --from sunk"),
        (("--sunk-scheduler", NAME, "now"), "migrate takes no words"),
    ):
        wrong, calls = with_programs(a_cluster(), "migrate", "--from", "sunk", *words)
        check(
            f"{' '.join(words)} is wrong usage",
            wrong.returncode == 2 and said in wrong.stderr and not calls,
            wrong,
        )


for test in (test_the_plan, test_many, test_apply, test_refusals):
    test()
sys.exit(finish())
