#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A test runs every command that our texts recommend: a command that changes something and matches
no row of TESTED is an error.

usage: recommended.py [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory

Texts are the messages in src (commands in single quotes), the manual pages, doc/admin.md, the
tutorials and README.md. The reason: an administrator followed one of them (scontrol reconfigure
after a new node), and slurmctld 22.05 ended. Blocks "console" of a tutorial need no row: its test
runs each command in them.
"""
import glob
import os
import re
import sys
from fnmatch import fnmatch

PROGRAMS = "scontrol|systemctl|kubectl|helm|skube|sacctmgr|slurmkubed"
# commands that only read, and names of programs and files without a command
HARMLESS = re.compile(
    r"^(kubectl (describe|get|annotate$|apply$|create token$|--kubeconfig \S+ auth whoami$)"
    r"|scontrol (show|requeue$)|skube: "
    r"|skube (check|diag|explain|help|logs|manifests|node-setup|ping|show|version|watch|why)\b"
    r"|systemctl status|\w+@?\w*$|\w+@\.service$|[\w.]+yaml$)"
)
UNIT = "systemd's part: no test has systemd; what the unit starts and reloads is tested"
# command (a regular expression that matches all of it) -> the test that runs it and a text that
# must occur in that test, or the reason why no test runs it
TESTED = [
    (r"scontrol reconfigure", "testsuite/e2e/test_faults.py", "bed.slurm.reconfigure()"),
    (
        r"scontrol update NodeName=NODE State=RESUME",
        "testsuite/e2e/test_nodes.py",
        '"State=RESUME"',
    ),
    (
        r"scontrol update NodeName=… State=DRAIN Reason=…",
        "testsuite/e2e/test_nodes.py",
        '"State=DRAIN"',
    ),
    (r"scontrol update partitionname=\S+ state=up", "testsuite/e2e/test_nodes.py", "_run_remedy("),
    (
        r"scontrol update partitionname=\S+ state=down",
        "testsuite/e2e/test_gang_scale.py",
        '"PartitionName=kube", "State=DOWN"',
    ),
    (
        r"scontrol update NodeName=LIST State=DOWN Reason=lost",
        "testsuite/e2e/test_nodes.py",
        '"State=DOWN"',
    ),
    (r"scontrol delete NodeName=…", "testsuite/component/skube/test_teardown.py", "delete"),
    (
        r"skube --config \S+ check",
        "testsuite/e2e/test_clusters.py",
        '"--config", own.agent.dir / "slurmkubed.yaml"',
    ),
    (
        r"skube --config FILE teardown --cluster NAME",
        "testsuite/component/skube/test_teardown.py",
        '"teardown", "--apply", "--cluster", "alpha"',
    ),
    (r"sacctmgr add user \S+ account=\S+", "testsuite/e2e/test_identity.py", "sacctmgr add user"),
    (r"sacctmgr modify user \S+ set qos\+=\S+", "testsuite/e2e/test_identity.py", "qos+="),
    (r"kubectl cordon", "testsuite/e2e/test_nodes.py", '"cordon"'),
    (
        r"skube nodes --topology-conf( --topology-labels \S+)?",
        "testsuite/e2e/test_topology.py",
        '"nodes", "--topology-conf"',
    ),
    (
        r"kubectl patch node NODE --subresource=status .*SlurmDrain.*",
        "testsuite/e2e/test_node_drains.py",
        "_remove_by_hand(",
    ),
    (r"kubectl label node\b.*", "testsuite/e2e/test_nodes.py", '"slurm-kube.io/managed": "true"'),
    (r"kubectl taint node\b.*", "testsuite/e2e/test_nodes.py", '"taint", "node"'),
    (r"kubectl label namespace .*", "testsuite/e2e/test_policies.py", "managed"),
    (
        r"kubectl apply -k contribs/kustomize",
        "testsuite/e2e/test_installed_objects.py",
        '"apply", "-k"',
    ),
    (
        r"skube manifests( --only \S+)? \| kubectl apply -f -",
        "testsuite/e2e/test_installed_objects.py",
        '"apply", *options, "-f", "-"',
    ),
    (
        r"kubectl apply -f example-pod.yaml --namespace NAMESPACE",
        "testsuite/e2e/test_kubelet.py",
        "example-pod.yaml",
    ),
    (r"slurmkubed --check-config", "testsuite/unit/test_config.cc", "try_config("),
    (
        r"skube( --config \S+)? nodes --slurm-conf( --output \S+)?",
        "testsuite/e2e/test_nodes.py",
        '"--slurm-conf", "--output"',
    ),
    (
        r"skube kubeconfig( --account NAMESPACE/NAME)?( --token-file \S+ \S+)?",
        "testsuite/component/skube/test_site_files.py",
        "test_kubeconfig",
    ),
    (
        r"skube drain NODE --reason TEXT",
        "testsuite/e2e/test_skube.py",
        '"drain", node, "--reason", "new disk"',
    ),
    (r"helm install slurm-kube \S+", "testsuite/e2e/test_chart.py", '"install", RELEASE, CHART'),
    (
        r"helm upgrade slurm-kube \S+ -f VALUES",
        "testsuite/e2e/test_chart.py",
        'helm(bed, "upgrade", RELEASE, CHART, values={"agent": AGENT})',
    ),
    (r"helm uninstall slurm-kube", "testsuite/e2e/test_chart.py", '"uninstall", RELEASE'),
    (
        r"skube nodes --slurm-conf >> /etc/slurm/slurm.conf|skube selftest"
        r"|systemctl restart slurmctld slurmkubed",
        "testsuite/packages/test_first_day",
        "quick_start",
    ),
    (r"skube top", "testsuite/e2e/test_skube.py", '_fine(bed, "top")'),
    (r"skube resume NODE", "testsuite/e2e/test_skube.py", '_fine(bed, "resume", node)'),
    (r"scontrol hold", "testsuite/e2e/test_skube.py", '"scontrol", "hold"'),
    (
        r"skube selftest (-n|--namespace) \w+",
        "testsuite/e2e/test_selftest.py",
        '_selftest(bed, "-n", "strict"',
    ),
    (
        r"kubectl delete pods -l app.kubernetes.io/name=skube-selftest",
        "testsuite/e2e/test_selftest.py",
        '"delete", "pods", "-l", LABEL',
    ),
    (r"skube teardown( --apply)?", "testsuite/component/skube/test_teardown.py", "test_teardown"),
    (
        r"systemctl (restart|reload|edit|enable --now|disable --now)"
        r" (slurmctld|slurmkubed)|systemctl enable --now"
        r" slurmkubed@alpha slurmkubed@beta",
        None,
        UNIT,
    ),
]
QUOTED = re.compile(r"(?:'|`|\*)((?:%s)\b[^'`*\n]*)(?:'|`|\*)" % PROGRAMS)
BLOCK = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
RUN_BLOCK = re.compile(r"```console\n.*?```", re.DOTALL)
TUTORIALS = "doc/tutorial-*.md"


def commands(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".cc"):
        text = re.sub(r'" \+ [^"]*? \+ "', "X", text)  # a value between two literals
        return {m.group(1).strip() for m in QUOTED.finditer(text)}
    if fnmatch(path, TUTORIALS):
        text = RUN_BLOCK.sub("", text)
    found = {
        m.group(1) for m in QUOTED.finditer(re.sub(r"(?<!\n)\n\s*(?=\S)", " ", text))
    }  # a command may continue in the next line
    for block in BLOCK.findall(text):
        found |= {
            line.strip().removeprefix("$ ")
            for line in block.splitlines()
            if re.match(r"\s*(\$ )?(%s)\b" % PROGRAMS, line)
        }
    return {re.sub(r"\s+#.*", "", command).strip() for command in found}


def untested_tutorials():
    """Tutorials whose blocks no program runs."""
    wrong = []
    for path in sorted(glob.glob(TUTORIALS)):
        name = os.path.basename(path).removesuffix(".md")
        test = os.path.join("testsuite", "e2e", f"test_{name.replace('-', '_')}.py")
        if not os.path.exists(test):
            wrong.append(f"{path}: there is no {test}")
            continue
        with open(test, encoding="utf-8") as file:
            if f'Tutorial("{name}")' not in file.read():
                wrong.append(f"{test} does not run {path}")
    return wrong


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("srcdir", "."))
    texts = (
        glob.glob("src/**/*.cc", recursive=True)
        + glob.glob("doc/man/*.scd")
        + glob.glob(TUTORIALS)
        + ["doc/admin.md", "README.md"]
    )
    wrong, used = untested_tutorials(), set()
    for path in sorted(texts):
        for command in sorted(commands(path)):
            row = next(
                (i for i, (pattern, _, _) in enumerate(TESTED) if re.fullmatch(pattern, command)),
                None,
            )
            if row is not None:
                used.add(row)
            elif not HARMLESS.match(command) and "──" not in command:
                wrong.append(
                    f"{path} recommends '{command}', which no test is known to run: add one, and a"
                    " row here"
                )
    for i, (pattern, test, evidence) in enumerate(TESTED):
        if i not in used:
            wrong.append(f"nothing recommends '{pattern}' any more: remove its row")
        elif test:
            with open(test, encoding="utf-8") as file:
                if evidence not in file.read():
                    wrong.append(f"{test} no longer has {evidence}: which test runs '{pattern}'?")
    print("\n".join(wrong) if wrong else f"recommended: {len(used)} commands, all run by tests")
    return 1 if wrong else 0


sys.exit(main())
