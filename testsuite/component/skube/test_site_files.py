#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_site_files.py [BUILD_DIR]: what skube makes for a site, the agent's kubeconfig and the
objects for Kubernetes, with programs that answer as told. Prints TAP.
"""

import json
import os
import pwd
import re
import shutil
import sys

from fixture import (
    DIR,
    SOURCE,
    check,
    finish,
    skube,
    with_programs,
)


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
        and "Is the output of skube manifests applied" in failing.stderr
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
    _, calls = with_programs({"kubectl": KUBECTL}, *words, "--account", "ops/agent")
    check(
        "the token is that of --account",
        "kubectl create token --namespace ops agent --duration 168h" in calls,
        calls,
    )
    check("a relative name is refused", with_programs({}, "kubeconfig", "here")[0].returncode == 2)
    shutil.rmtree(f"{DIR}/new")
    shutil.rmtree(f"{DIR}/state")


def test_manifests():
    """Objects for the site; test_installed_objects.py applies them to a real API server."""
    config = f"{DIR}/slurmkubed.yaml"

    def printed(*words, text=None):
        if text is not None:
            with open(config, "w", encoding="utf-8") as file:
                file.write(text)
        return skube("manifests", "--config", config, *words)

    all_of_them = printed(text="cluster: a\n")
    kinds = re.findall(r"^kind: (\w+)", all_of_them.stdout, re.MULTILINE)
    check(
        "manifests prints the default parts",
        all_of_them.returncode == 0
        and kinds[:3] == ["Namespace", "ServiceAccount", "ClusterRole"]
        and kinds[-3:] == ["PriorityLevelConfiguration", "FlowSchema", "ConfigMap"]
        and "MutatingAdmissionPolicy" not in kinds,
        kinds,
    )
    check("and the same each time", printed().stdout == all_of_them.stdout)
    labels = re.findall(r"^    app.kubernetes.io/([\w-]+): (.*)$", all_of_them.stdout, re.MULTILINE)
    version = skube("--version").stdout.split()[1]
    check(
        "each object has three labels",
        labels
        == [("name", "slurm-kube"), ("part-of", "slurm-kube"), ("version", f'"{version}"')]
        * len(kinds),
        labels,
    )
    with open(os.path.join(SOURCE, "contribs/monitoring/dashboard.json"), encoding="utf-8") as file:
        check(
            "the dashboard is in the ConfigMap",
            "".join(f"    {line}" for line in file) in all_of_them.stdout,
        )
    text = "scheduler_name: hpc\nscheduler_aliases: [old]\n"
    named = printed("--account", "ops/agent", text=text).stdout
    check(
        "scheduler and account are those of the site",
        named.count("'hpc', 'old']") == 3
        and named.count("system:serviceaccount:ops:agent'") == 2
        and "'slurm'" not in named
        and '"slurmkubed"' not in named
        and 'namespace: "slurm-kube"' not in named,
        named,
    )
    some = printed("--only", "flow-control,scheduler-name-policy").stdout
    check(
        "--only prints parts in their own order",
        re.findall(r"^kind: (\w+)", some, re.MULTILINE)
        == [
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "PriorityLevelConfiguration",
            "FlowSchema",
        ],
        some,
    )
    for words, said in (
        (("--only", "policy"), "--only: unknown part 'policy'; the parts are rbac, policies,"),
        (("--only", "rbac,"), "--only: unknown part ''"),
        (("--account", "agent"), "--account 'agent' must have the form NAMESPACE/NAME"),
        (("--account", "A/b"), "--account: namespace 'A' must be"),
        (("--account", "a/b/c"), "--account: service account 'b/c' must be"),
    ):
        wrong = printed(*words)
        check(
            f"{' '.join(words)} is wrong usage",
            wrong.returncode == 2 and said in wrong.stderr and not wrong.stdout,
            wrong,
        )
    for text, said in (
        ("scheduler_name: 'a b'\n", "scheduler_name 'a b' must be a name of letters"),
        ("scheduler_name: [a]\n", f"{config}: scheduler_name must be one value"),
        ("scheduler_aliases: a\n", f"{config}: scheduler_aliases must be a list, as in [one, two]"),
        ("scheduler_aliases: [a b]\n", "scheduler_aliases 'a b' must be a name of letters"),
        ("a: [\n", "is not YAML"),
    ):
        wrong = printed(text=text)
        check(
            f"{text!r} is refused",
            wrong.returncode == 1 and said in wrong.stderr and not wrong.stdout,
            wrong,
        )
    os.unlink(config)
    gone = printed()
    check(
        "a file that is named must exist",
        gone.returncode == 1 and "name another with --config" in gone.stderr,
        gone,
    )


def test_node_setup():
    def printed(*words):
        return skube("node-setup", *words)

    everything = printed("--system-cpus", "0,32-33")
    parts = re.findall(r"(?m)^# ---- (\S+): ", everything.stdout)
    check(
        "node-setup prints all parts",
        everything.returncode == 0
        and parts
        == [
            "node-conf",
            "containerd",
            "base-spec",
            "crio",
            "crio-hook",
            "epilog",
            "prolog",
            "slurm-conf",
            "cgroup-conf",
        ],
        everything,
    )
    check("no word is left to fill in", "@" not in everything.stdout, everything)
    check(
        "the processors are in all files that have them",
        everything.stdout.count("0,32-33") == 4,
        everything,
    )
    for part in parts:
        one = printed("--system-cpus", "0,32-33", "--only", part)
        check(
            f"--only {part} is the file without a heading",
            one.returncode == 0 and one.stdout in everything.stdout and "----" not in one.stdout,
            one,
        )
    for name in ("epilog", "prolog"):
        script = printed("--system-cpus=0", f"--only={name}").stdout
        command = "--wait" if name == "epilog" else "--settle"
        check(
            f"the {name} is a script with slurmkube-node {command}",
            script.startswith("#!/bin/sh\n")
            and re.search(f"(?m)^exec /.*/slurmkube-node {command}", script),
            script,
        )
    for words, said in (
        ((), "--system-cpus needs the processors that Slurm gives to no job"),
        (("--system-cpus", "0 1"), "--system-cpus needs the processors"),
        (("--system-cpus", "0,"), "--system-cpus needs the processors"),
        (("--system-cpus", "0", "--only", "x"), "--only x: the parts are node-conf, containerd,"),
    ):
        wrong = printed(*words)
        check(
            f"node-setup {' '.join(words)} is wrong usage",
            wrong.returncode == 2 and said in wrong.stderr and not wrong.stdout,
            wrong,
        )


for test in (
    test_kubeconfig,
    test_manifests,
    test_node_setup,
):
    test()
sys.exit(finish())
