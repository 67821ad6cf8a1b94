#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_teardown.py [BUILD_DIR]: skube teardown with programs that answer as told. Prints TAP.

The end-to-end tests run it on a real cluster.
"""

import json
import os
import re
import socket
import sys

from fixture import (
    DIR,
    Peer,
    check,
    finish,
    is_output,
    with_programs,
)


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
    named="",
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
"get nodes --selector slurm-kube.io/slurm-node "*) echo {named} ;;
"get nodes --selector {label} "*) for n in {labelled}; do echo $n; done ;;
"get nodes --output"*) 
  for n in {nodes}; do echo "$n node.kubernetes.io/x slurm-kube.io/managed Ready SlurmDrain"; done
  echo "other x Ready" ;;
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
            (
                "kubectl patch node/n1 --subresource=status --type=strategic --patch"
                ' {"status":{"conditions":[{"type":"SlurmDrain","$patch":"delete"}]}}'
            ),
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
    named = a_cluster(conf=conf, labelled="n1.example.org", named="n1.example.org n1")
    done, calls = with_programs(named, "teardown")
    check(
        "a node may have another name in Slurm by its label",
        done.returncode == 0
        and "kubectl label node n1.example.org slurm-kube.io/slurm-node-" in done.stdout,
        f"{done}{calls}",
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
    value = a_cluster(conf=conf, label="slurm-kube.io/managed=yes", partition="INACTIVE")
    ours, calls = with_programs(
        value, "teardown", "--apply", "--label", "slurm-kube.io/managed=yes"
    )
    check(
        "a label of ours is removed by its key, whatever its value",
        ours.returncode == 0 and "kubectl label node n1 slurm-kube.io/managed-" in calls,
        f"{ours}{calls}",
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


def test_one_of_several_clusters():
    conf, agent = f"{DIR}/slurm.conf", f"{DIR}/alpha.yaml"
    with open(conf, "w", encoding="utf-8") as file:
        file.write(
            "JobSubmitPlugins=kube\nNodeSet=a Feature=kube-alpha\nNodeSet=b Feature=kube-beta\n"
            "PartitionName=kube Nodes=a\nPartitionName=beta Nodes=b\n"
        )
    with open(agent, "w", encoding="utf-8") as file:
        file.write("cluster: alpha\nnodes:\n  name_prefix: alpha-\n")
    jobs = marked(8, "PENDING", "u-two") + marked(9, "RUNNING", "u-beta", cluster="d-uid")
    jobs = jobs.replace('"cluster": "c"', '"cluster": "alpha"', 1).replace(
        '"cluster": "c"', '"cluster": "beta"', 1
    )
    programs = a_cluster("u-two a two \\n", jobs, nodes="alpha-n1", labelled="n1", conf=conf)
    programs["scontrol"] = (
        programs["scontrol"]
        .replace("kube,zone_a", "kube,kube-alpha")
        .replace(
            "echo 'NodeName=real",
            (
                "echo 'NodeName=beta-n1 State=IDLE+DYNAMIC_NORM AvailableFeatures=kube,kube-beta"
                " Partitions=beta'\necho 'NodeName=real"
            ),
        )
        .replace(
            "echo 'PartitionName=all", "echo 'PartitionName=beta State=UP'\necho 'PartitionName=all"
        )
    )
    programs["squeue"] = f'case "$*" in *admin_comment*) cat {DIR}/jobs ;; esac'
    unsaid, calls = with_programs(programs, "teardown", "--apply")
    check(
        "with several clusters one must be named",
        unsaid.returncode == 1
        and not changes(calls)
        and "nodes of several Kubernetes clusters (alpha, beta): say with --cluster"
        in unsaid.stderr,
        f"{unsaid}{calls}",
    )
    one, calls = with_programs(
        programs, "--config", agent, "teardown", "--apply", "--cluster", "alpha"
    )
    mine = [c for c in changes(calls) if c.startswith(("scontrol", "scancel"))]
    check(
        "it alone is removed",
        mine
        == [
            "scontrol update PartitionName=kube State=INACTIVE",
            "scancel --state=PENDING 8",
            "scontrol delete NodeName=alpha-n1",
        ],
        f"{one}{calls}",
    )
    check(
        "and the lines of others stay",
        "NodeSet=a" in one.stdout
        and "the line Cluster=alpha" in one.stdout
        and not any(
            x in one.stdout for x in ("NodeSet=b", "JobSubmitPlugins=", "make uninstall", "job 9")
        ),
        one.stdout,
    )
    with Peer({"ok": True}):
        words = ("--config", agent, "--socket", f"{DIR}/control.sock")
        running, calls = with_programs(programs, *words, "teardown", "--cluster", "alpha")
    check(
        "the agent of the cluster is stopped",
        "systemctl disable --now slurmkubed@alpha" in running.stdout,
        running,
    )
    for name in (conf, agent, f"{DIR}/jobs"):
        os.unlink(name)


for test in (test_teardown, test_one_of_several_clusters):
    test()
sys.exit(finish())
