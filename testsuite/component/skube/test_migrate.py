#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_migrate.py [BUILD_DIR]: skube migrate with programs that answer as told. Prints TAP.

The end-to-end test runs it on a real cluster, where Slurm has no external nodes of its own.
"""

import json
import re
import sys

from fixture import check, finish, with_programs

DEPLOYMENTS = """bridge|slurm-bridge-controllers|slurm-bridge-1.2.1|slurm-bridge-controllers|2
bridge|slurm-bridge-scheduler||slurm-bridge-scheduler|0
other|mine|other-chart-1|mine|1"""
PROGRAMS = """bridge|controllers-x|slurm-bridge-1.2.1|slurm-bridge-controllers|Running
bridge|evicted|slurm-bridge-1.2.1|slurm-bridge-controllers|Failed"""
FINALIZER = "scheduler.slinky.slurm.net/finalizer"
TAINT = "slinky.slurm.net/managed-node"


def job(number, state, comment):
    """A row of squeue: job, state and admin_comment."""
    return f"{number:<20}{state:<20}{comment:<60}"


def pods_of(*names):
    return json.dumps({"pods": list(names)})


def printing(text):
    return f"cat <<'END'\n{text}\nEND" if text else "true"


def a_cluster(
    jobs=(),
    pods=("a|one|n1|Running|7|",),
    nodes="n1|",
    slurm="n1",
    partition="UP",
    programs=True,
    webhooks="theirs|pods.slinky.slurm.net\nmine|y.example",
):
    """kubectl, scontrol and squeue as on a site with slurm-bridge. nodes: rows with the keys of
    taints; all of them but n-native have the label of external nodes.
    """
    rows = "\n".join(
        f"NodeName={n} State=IDLE+EXTERNAL+DYNAMIC_NORM{'+DRAIN' if n == 'slurm-1' else ''}"
        " AvailableFeatures=bridge Partitions=slurm-bridge,all "
        for n in slurm.split()
    )
    external = "\n".join(
        row.split("|")[0] for row in nodes.split("\n") if not row.startswith("n-native")
    )
    return {
        "kubectl": f"""if [ "$1" = --context ]; then shift 2; fi
case "$*" in
"config view"*) echo https://k8s.example ;;
"get mutatingwebhook"*) {printing(webhooks)}
;;
"get validatingwebhook"*) {printing(webhooks)}
;;
"get deployments"*) {printing(DEPLOYMENTS if programs else "other|mine|other-chart-1|mine|1")}
;;
"get pods"*component*) {printing(PROGRAMS if programs else "")}
;;
"get pods"*) {printing(chr(10).join(pods))}
;;
"get nodes --selector scheduler.slinky"*) {printing(external)}
;;
"get nodes --selector"*) echo n0 ;;
"get nodes"*) {printing(nodes)}
;;
esac""",
        "scontrol": f"""case "$*" in
*"show nodes") {printing(rows)}
echo 'NodeName=n0 State=IDLE+EXTERNAL AvailableFeatures=kube Partitions=kube'
echo 'NodeName=elsewhere State=IDLE+EXTERNAL Partitions=elsewhere'
echo 'NodeName=real State=IDLE AvailableFeatures=fast Partitions=all' ;;
*"show partitions") echo 'PartitionName=slurm-bridge X=y State={partition} Z=1'
  echo 'PartitionName=kube State=UP'; echo 'PartitionName=all State=UP' ;;
esac""",
        "squeue": printing("\n".join(jobs)),
        "scancel": "true",
    }


def changes(calls):
    return [
        c
        for c in calls
        if not re.match(
            r"kubectl (--context \w+ )?(get|config view)|scontrol --oneliner .*show|squeue", c
        )
    ]


def migrate(cluster, *words):
    return with_programs(cluster, "migrate", "--from", "slurm-bridge", *words)


def test_the_plan():
    cluster = a_cluster(
        jobs=(
            job(7, "RUNNING", pods_of("a/one")),
            job(8, "PENDING", pods_of("a/two", "a/three")),
            job(9, "RUNNING", '{"slurm-kube":1,"pods":["a/one"]}'),
            job(10, "RUNNING", '{"pods":["cut'),
            job(11, "PENDING", '{"pods":[]}'),
            job(12, "PENDING", ""),
            job(13, "RUNNING", pods_of("b/elsewhere")),
        ),
        pods=(
            f"a|one|n1|Running|7|x.example/f {FINALIZER} ",
            f"a|two||Pending|8|{FINALIZER} ",
            "a|theirs||Running||x.example/f ",
            "a|none|n1|Running||",
            "b|elsewhere|n1|Running|99|",
        ),
        nodes=f"n0|\nn1|node.kubernetes.io/x {TAINT}|slurm-1\nn-native|{TAINT}\nother|x",
        slurm="slurm-1 other",
    )
    dry, calls = migrate(cluster)
    check("migrate changes nothing by itself", not changes(calls) and dry.returncode == 0, calls)
    commands = [line.strip() for line in dry.stdout.split("\n") if line.startswith("   ")]
    finalizers = [c for c in commands if " patch " in c]
    wanted = [
        "scontrol update PartitionName=slurm-bridge State=DOWN",
        "kubectl delete mutatingwebhookconfiguration/theirs validatingwebhookconfiguration/theirs",
        "kubectl scale --namespace bridge deployment/slurm-bridge-controllers --replicas=0",
        "kubectl wait --for=delete --timeout=180s --namespace bridge pod/controllers-x",
        *finalizers,
        "scancel 8 7",
        "13",
        "kubectl cordon n1",
        "scontrol delete NodeName=slurm-1",
        "scontrol delete NodeName=other",
        "kubectl taint node --overwrite n1 slurm-kube.io/managed:NoSchedule",
        f"kubectl taint node n1 {TAINT}-",
        "kubectl label node --overwrite n1 other slurm-kube.io/managed=true",
    ]
    check("the steps are in their order", commands[: len(wanted)] == wanted, dry.stdout)
    check(
        "only their finalizer is removed",
        [
            re.findall(r"pod --namespace (\w+) (\w+) .*deleteFromPrimitiveList", c)
            for c in finalizers
        ]
        == [[("a", "one")], [("a", "two")]]
        and all(c.count(FINALIZER) == 1 for c in finalizers),
        finalizers,
    )
    check(
        "a person starts slurm-kube, opens the partitions and uninstalls the chart",
        "scheduler_aliases" in dry.stdout
        and "PartitionName=… State=UP" in dry.stdout
        and dry.stdout.count(" in namespace bridge") == 2
        and "mine" not in dry.stdout.split("Uninstall")[1],
        dry.stdout,
    )


def test_refusals():
    elsewhere, calls = migrate(
        a_cluster(jobs=(job(7, "RUNNING", pods_of("a/gone")),)), "--apply", "--context", "prod"
    )
    check(
        "jobs of another cluster are not touched",
        elsewhere.returncode == 1
        and "is about a pod of the cluster at https://k8s.example" in elsewhere.stderr
        and not changes(calls),
        (elsewhere, calls),
    )
    blind_to_jobs, calls = migrate(a_cluster(pods=(f"a|one|n1|Running|7|{FINALIZER} ",)), "--apply")
    check(
        "pods without jobs may have their jobs in another Slurm",
        blind_to_jobs.returncode == 1
        and "but no job in Slurm" in blind_to_jobs.stderr
        and not changes(calls),
        (blind_to_jobs, calls),
    )
    late = (
        job(13, "CONFIGURING", pods_of("a/gone")),
        job(14, "CANCELLED", pods_of("a/ended")),
    )
    later, calls = migrate(
        a_cluster(jobs=late, webhooks="", partition="DOWN", programs=False),
        "--apply",
        "--bridge-stopped",
    )
    check(
        "a job without its pod is named, and its node's record stays",
        later.returncode == 1
        and "13" in later.stdout
        and "14" not in later.stdout
        and not changes(calls),
        (later, calls),
    )
    shared, calls = migrate(
        a_cluster(webhooks="both|x.example pods.slinky.slurm.net", partition="DOWN"), "--apply"
    )
    check(
        "webhooks of others are not deleted",
        shared.returncode == 1
        and "mutatingwebhookconfiguration/both" in shared.stdout
        and not changes(calls),
        (shared, calls),
    )
    hybrid, calls = migrate(
        a_cluster(
            jobs=(job(7, "RUNNING", pods_of("a/one")),),
            pods=(f"a|one|n-native|Running|7|{FINALIZER} ", f"a|old|n1|Succeeded|6|{FINALIZER} "),
            nodes=f"n1|{TAINT}\nn-native|{TAINT}",
        ),
        "--apply",
    )
    check(
        "nothing is done while a node with slurmd has their pods",
        hybrid.returncode == 1
        and "n-native" in hybrid.stdout
        and "n1" not in hybrid.stdout
        and not changes(calls),
        (hybrid, calls),
    )
    failing = a_cluster()
    failing["kubectl"] = (
        'case "$*" in *webhook*jsonpath*) exit 0 ;; *scale*) echo no >&2; exit 1 ;; esac\n'
        + failing["kubectl"]
    )
    broken, calls = migrate(failing, "--apply")
    check(
        "a step that fails is the last",
        broken.returncode == 1
        and "run skube migrate --from slurm-bridge --apply again" in broken.stderr
        and changes(calls)[-1].startswith("kubectl scale"),
        (broken, calls),
    )
    again, calls = migrate(a_cluster(partition="DOWN"), "--apply")
    check(
        "programs that do not stop are no reason to end jobs",
        again.returncode == 1
        and "Delete the webhooks" in again.stderr
        and not any(c.startswith(("scancel", "scontrol delete")) for c in changes(calls)),
        (again, calls),
    )
    for hidden in (("RUNNING",), ()):
        quiet = a_cluster(
            jobs=[job(7, state, pods_of("a/one")) for state in hidden],
            pods=(
                f"a|one|n1|{'Running' if hidden else 'Failed'}|7|{'' if hidden else FINALIZER} ",
            ),
            programs=False,
        )
        unknown, calls = migrate(quiet, "--apply")
        check(
            f"programs that are not found may run ({'jobs' if hidden else 'finalizers'})",
            unknown.returncode == 1
            and "add --bridge-stopped" in unknown.stdout
            and not changes(calls),
            (unknown, calls),
        )
    stopped, calls = migrate(
        a_cluster(jobs=(job(7, "RUNNING", pods_of("a/one")),), programs=False), "--bridge-stopped"
    )
    check("unless a person says not", "scancel 7" in stopped.stdout, stopped)
    blind = a_cluster()
    blind["squeue"] = "exit 1"
    unseen, calls = migrate(blind, "--apply")
    check(
        "what cannot be asked is not taken for gone",
        unseen.returncode == 1 and not changes(calls),
        (unseen, calls),
    )
    for words, said in (
        (("migrate",), "migrate needs --from slurm-bridge or --from sunk"),
        (("migrate", "--from", ""), "--from needs a value"),
        (("migrate", "--from", "slurm-bridge", "now"), "migrate takes no words"),
        (("migrate", "--from", "kueue"), "from slurm-bridge and sunk only"),
        (
            ("migrate", "--from", "slurm-bridge", "--sunk-scheduler", "x"),
            "--sunk-scheduler does not belong to --from slurm-bridge",
        ),
    ):
        wrong, calls = with_programs(a_cluster(), *words)
        check(
            f"{' '.join(words)} is wrong usage",
            wrong.returncode == 2 and said in wrong.stderr and not calls,
            wrong,
        )


for test in (test_the_plan, test_refusals):
    test()
sys.exit(finish())
