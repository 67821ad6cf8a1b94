#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""skube check on mistakes that sites make: for each row of the table in doc/admin.md the mistake is
made for real, and the line named there must fail, say what is wrong and what to do. After the
repair nothing fails.
"""
import json
import re
import socket
from contextlib import contextmanager

from lib import Cluster, equal, pod, run, wait_for
from lib.expect import uid_of, wait_no_live_jobs
from lib.process import SOURCE, output_of

LABEL = "slurm-kube.io/managed"
# mistake, as in doc/admin.md -> (line of skube check, words of its text and of its remedy, plant)
ROWS = {}


def mistake(name, line, text, remedy):
    """Enters a context manager, which makes the mistake and repairs it, as a row."""

    def enter(plant):
        ROWS[name] = (line, text, remedy, contextmanager(plant))
        return plant

    return enter


# ---- how mistakes are made ----


@contextmanager
def _slurm_conf(bed, *lines, without=()):
    """slurm.conf with more lines, and without those that contain a word of without."""
    good = list(bed.slurm.extra)
    bed.slurm.extra += lines
    bed.slurm.write_conf()
    path = bed.dir / "slurm.conf"
    if without:
        kept = [x for x in path.read_text().splitlines() if not any(w in x for w in without)]
        path.write_text("\n".join(kept) + "\n")
    bed.slurm.restart()
    yield
    bed.slurm.extra = good
    bed.slurm.write_conf()
    bed.slurm.restart()


@contextmanager
def _kube_conf(bed, change):
    path = bed.dir / "kube.conf"
    good = path.read_text()
    path.write_text(change(good))
    bed.slurm.restart()
    yield
    path.write_text(good)
    bed.slurm.restart()


@contextmanager
def _restarted_with(bed, **settings):
    """slurmkubed.yaml with other top-level keys."""
    good = dict(bed.agent.settings)
    bed.agent.settings.update(settings)
    bed.agent.restart_without_waiting()
    yield
    bed.agent.settings = good
    bed.agent.restart()


@contextmanager
def _reloaded_with(bed, **keys):
    """The agent reads a file with these keys while it runs."""
    path = bed.dir / "slurmkubed.yaml"
    good = path.read_text()
    path.write_text(json.dumps({**json.loads(good), **keys}))
    bed.agent.daemon.signal(1)
    yield
    path.write_text(good)
    bed.agent.daemon.signal(1)


@contextmanager
def _kubeconfig(bed, change):
    path = bed.dir / "agent.kubeconfig"
    good = path.read_text()
    path.write_text(change(good))
    bed.agent.daemon.stop()
    bed.agent.daemon.start()
    yield
    bed.agent.restart()


def _label(bed, name, value):
    bed.kube.patch("Node", name, {"metadata": {"labels": {LABEL: value}}})


def _free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


# ---- slurm.conf and kube.conf ----


@mistake(
    "`JobSubmitPlugins` does not name `kube`",
    "plugin",
    "not connected to",
    "add kube to JobSubmitPlugins",
)
def _no_plugin(bed):
    with _slurm_conf(bed, without=["JobSubmitPlugins"]):
        yield


@mistake(
    "`Socket` in kube.conf is not `plugin_socket` in slurmkubed.yaml",
    "plugin",
    "not connected to",
    "compare Socket in kube.conf with plugin_socket",
)
def _other_socket(bed):
    with _restarted_with(bed, plugin_socket=f"{bed.dir}/other.sock"):
        yield


@mistake(
    "slurmkubed.yaml names the slurm.conf of another Slurm",
    "plugin",
    "the agent's slurm.conf says ClusterName=elsewhere",
    "slurm.conf in slurmkubed.yaml",
)
def _other_slurm(bed):
    conf = bed.dir / "elsewhere.conf"
    good = (bed.dir / "slurm.conf").read_text()
    conf.write_text(re.sub(r"(?m)^ClusterName=.*$", "ClusterName=elsewhere", good))
    with _restarted_with(bed, slurm={"conf": str(conf)}):
        yield


@mistake("kube.conf has a key that does not exist", "kube.conf", "Sokcet", "correct the file and")
def _bad_key_of_kube_conf(bed):
    with _kube_conf(bed, lambda good: good + "Sokcet=/run/x\n"):
        yield


@mistake(
    "`Partitions` in kube.conf leaves out a pod partition",
    "kube.conf",
    "leaves out kube: native jobs may go where pods run",
    "add kube to Partitions",
)
def _open_partition(bed):
    with _kube_conf(bed, lambda good: good + "Partitions=elsewhere\n"):
        yield


@mistake(
    "A partition has native nodes and external nodes",
    "partitions",
    "in one partition: mixed",
    "use a NodeSet",
)
def _mixed_partition(bed):
    with _slurm_conf(bed, "PartitionName=mixed Nodes=native,kube"):
        yield


@mistake(
    "`PreemptMode=SUSPEND` for a partition with external nodes",
    "sharing",
    "PreemptMode=SUSPEND in partitions with nodes of Kubernetes: kube",
    "set PreemptMode=CANCEL or OFF",
)
def _suspend(bed):
    with _slurm_conf(bed, "PreemptType=preempt/partition_prio", "PreemptMode=SUSPEND,GANG"):
        yield


@mistake(
    "Power saving would switch external nodes off",
    "power saving",
    "SuspendProgram would switch off 2 nodes",
    "SuspendExcParts",
)
def _power_saving(bed):
    with _slurm_conf(
        bed,
        "SuspendTime=86400",
        "SuspendProgram=/bin/true",
        "ResumeProgram=/bin/true",
    ):
        yield


@mistake(
    "`topology.conf` lacks the external nodes",
    "topology",
    "2 nodes of Kubernetes are in no switch",
    "add them to topology.conf",
)
def _outside_topology(bed):
    (bed.dir / "topology.conf").write_text("SwitchName=s0 Nodes=native\n")
    with _slurm_conf(bed, "TopologyPlugin=topology/tree"):
        yield


@mistake("The pod partition is DOWN", "partition", "'kube' is not UP", "state=up")
def _down(bed):
    bed.slurm.run("scontrol", "update", "partitionname=kube", "state=down")
    yield
    bed.slurm.run("scontrol", "update", "partitionname=kube", "state=up")


@mistake(
    "slurmkubed.yaml names a partition that Slurm does not have",
    "partition",
    "Slurm has no partition 'kub', which slurmkubed.yaml names",
    "correct partition and identity.rules",
)
def _no_partition(bed):
    with _restarted_with(bed, partition="kub"):
        yield


@mistake(
    "slurmkubed.yaml names a partition without external nodes",
    "partition",
    "partition 'native' has no node of Kubernetes",
    "name a partition of external nodes",
)
def _native_partition(bed):
    with _restarted_with(bed, partition="native"):
        yield


@mistake("slurmctld does not run", "slurmctld", "", "systemctl status slurmctld munge")
def _no_slurmctld(bed):
    bed.slurm.slurmctld.stop()
    yield
    bed.slurm.start_slurmctld()


# ---- nodes ----


@mistake(
    "`nodes.selector` matches no node",
    "nodes",
    "no node of Kubernetes has the label site/typo",
    "kubectl label node NAME site/typo=true",
)
def _wrong_selector(bed):
    with _restarted_with(bed, nodes={"manage": True, "selector": "site/typo"}):
        yield


@mistake(
    "A node has the label, but Slurm does not have the node",
    "nodes",
    "not in Slurm: late-0",
    "",
)
def _node_not_in_slurm(bed):
    if bed.slurm.dynamic_nodes:
        bed.agent.settings["nodes"] = {"manage": False}
        bed.agent.restart()
    bed.plane.kwok_nodes(1, 4, "8Gi", prefix="late")
    yield
    bed.kube.delete("Node", "late-0")
    bed.agent.settings.pop("nodes", None)
    bed.agent.restart()


@mistake(
    "A node has more CPUs or memory in Slurm than in Kubernetes",
    "node sizes",
    "Slurm counts more CPUs or memory than is allocatable",
    "",
)
def _too_large(bed):
    size = bed.kube.get("Node", "node-1")["status"]["allocatable"]
    status = {"status": {"allocatable": {**size, "memory": "1Gi"}}}
    with _restarted_with(bed, nodes={"manage": False}):
        bed.kube.patch("Node", "node-1", status, part="status")
        yield
        bed.kube.patch("Node", "node-1", {"status": {"allocatable": size}}, part="status")


@mistake(
    "Nodes lose the label while Slurm has them",
    "vanished nodes",
    "exist in Kubernetes without the label",
    "kubectl label node NAME",
)
def _lost_labels(bed):
    for name in bed.names:
        _label(bed, name, None)
    yield
    for name in bed.names:
        _label(bed, name, "true")


# ---- slurmkubed.yaml, credentials and rights ----


@mistake(
    "slurmkubed.yaml has a key that does not exist", "files", "bogus", "before a restart reads it"
)
def _bad_key(bed):
    with _reloaded_with(bed, bogus=1):
        yield


@mistake(
    "No rule says who may submit",
    "files",
    "identity.rules: there is none",
    "before a restart reads it",
)
def _no_rules(bed):
    with _reloaded_with(bed, identity={"rules": []}):
        yield


@mistake(
    "A namespace names a user that the host does not have",
    "identity",
    "users that this machine does not have: nobody-knows",
    "correct the annotations",
)
def _unknown_user(bed):
    key = "site.example/user"
    rules = [*bed.agent.rules, {"namespace": "*", "user_from": key}]
    bed.plane.kubectl("create", "namespace", "stranger")
    bed.plane.kubectl("annotate", "namespace", "stranger", f"{key}=nobody-knows")
    with _restarted_with(bed, identity={"rules": rules}):
        yield
    bed.plane.kubectl("delete", "namespace", "stranger")


@mistake(
    "The kubeconfig that slurmkubed.yaml names does not exist",
    "files",
    "nowhere",
    "before a restart reads it",
)
def _no_kubeconfig(bed):
    with _reloaded_with(bed, kubeconfig=f"{bed.dir}/nowhere"):
        yield


@mistake(
    "A key has changed that needs a restart",
    "files",
    "has changed since the agent was started",
    "systemctl restart slurmkubed",
)
def _needs_restart(bed):
    with _reloaded_with(bed, plugin_socket=f"{bed.dir}/moved.sock"):
        yield


@mistake(
    "The kubeconfig has another server",
    "API server",
    "",
    "compare the server and the credentials of kubeconfig",
)
def _wrong_server(bed):
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    with _kubeconfig(bed, lambda good: re.sub(r"(server: \S+:)\d+", rf"\g<1>{port}", good)):
        yield
    closed.close()


@mistake("The token ends within minutes", "token", "expires", "skube kubeconfig")
def _old_token(bed):
    words = ("create", "token", "-n", "slurm-kube", "slurmkubed", "--duration", "10m")
    token = bed.plane.kubectl(*words).strip()
    with _kubeconfig(bed, lambda good: re.sub(r"token: \S+", f"token: {token}", good)):
        yield


@mistake(
    "The client certificate or the CA ends within a week",
    "certificates",
    "the client certificate ends ",
    "write a new one into the kubeconfig",
)
def _old_certificate(bed):
    key, request, made = (bed.dir / f"short.{x}" for x in ("key", "csr", "crt"))
    pki = bed.plane.dir / "pki"
    subject = "/CN=system:serviceaccount:slurm-kube:slurmkubed"
    ca = ("-CA", pki / "ca.crt", "-CAkey", pki / "ca.key", "-CAcreateserial")
    output_of(
        *("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", subject),
        *("-keyout", key, "-out", request),
    )
    output_of("openssl", "x509", "-req", "-days", "6", "-in", request, "-out", made, *ca)
    names = f"client-certificate: {made}\n    client-key: {key}\n    token:"
    with _kubeconfig(bed, lambda good: good.replace("token:", names)):
        yield


@mistake(
    "The agent's account lacks rights",
    "rights",
    "missing: ",
    "skube manifests | kubectl apply -f -",
)
def _no_rights(bed):
    bed.plane.kubectl("delete", "clusterrolebinding", "slurm-kube")
    yield
    bed.plane.kubectl("apply", "-f", SOURCE / "etc/rbac.yaml")


@mistake(
    "The agent's account lacks the rights to the lease",
    "lease",
    "a second Slurm cluster that schedules the same pods would not be noticed",
    "skube manifests | kubectl apply -f -",
)
def _no_lease_rights(bed):
    bed.plane.kubectl("delete", "rolebinding", "slurm-kube-lease", "-n", "slurm-kube")
    yield
    bed.plane.kubectl("apply", "-f", SOURCE / "etc/rbac.yaml")


@mistake(
    "Another Slurm cluster schedules the same pods",
    "lease",
    "is held by Slurm cluster other, slurmctld on far, and this agent is that of Slurm cluster",
    "stop slurmkubed of the cluster that must not schedule here",
)
def _another_slurm(bed):
    path = "/apis/coordination.k8s.io/v1/namespaces/slurm-kube/leases/slurmkubed-slurm"
    other = {"spec": {"holderIdentity": "other@far_1"}}
    bed.kube.request("PATCH", path, other, "application/merge-patch+json")
    yield
    bed.kube.request("DELETE", path)


@mistake(
    "Another program has the port of `metrics.listen`",
    "metrics",
    "no metrics and no health by HTTP",
    "set metrics.listen",
)
def _port_taken(bed):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        with _restarted_with(bed, metrics={"listen": listen}):
            yield


@mistake(
    "The file of `metrics.token_file` is empty",
    "metrics",
    "every scrape is refused",
    "write the bearer token",
)
def _no_scrape_token(bed):
    token = bed.dir / "scrape.token"
    token.write_text("secret\n")
    token.chmod(0o600)
    metrics = {"listen": f"127.0.0.1:{_free_port()}", "token_file": str(token)}
    with _restarted_with(bed, metrics=metrics):
        bed.agent.wait_ready()
        token.write_text("\n")
        yield


# ---- the tests ----


def _line(bed, name):
    checks = bed.agent.skube_all("check")["checks"]
    return next(c for c in checks if c["name"] == name)


def _fails(bed, line, text, remedy):
    said = _line(bed, line)
    return not said["ok"] and text in said["text"] and remedy in said["remedy"] and said


def _all_is_well(bed):
    wait_for(
        lambda: [c for c in bed.agent.skube_all("check")["checks"] if not c["ok"]] == [],
        "skube check to find all well",
        90,
    )


def _test_of(name):
    def test(bed):
        line, text, remedy, plant = ROWS[name]
        with plant(bed):
            last = {}

            def told():
                last.update(_line(bed, line))
                return _fails(bed, line, text, remedy)

            try:
                said = wait_for(told, f"the line {line}", 90)
            except Exception as e:
                raise AssertionError(f"the line is {last}") from e
            assert said["remedy"], said
        _all_is_well(bed)

    words = re.sub(r"\W+", "_", name).strip("_").lower()
    test.__name__ = f"test_{words}"
    test.__doc__ = f"{name}: skube check says so and what to do, until it is repaired."
    return test


def test_all_is_well_before(bed):
    """Each line of an installation without a mistake is ok. A pod begins to run."""
    bed.kube.create(pod("steady"))
    bed.steady = bed.kube.wait_phase("steady", "Running")
    _all_is_well(bed)


for _name in ROWS:
    _made = _test_of(_name)
    globals()[_made.__name__] = _made
del _made


def test_no_mistake_has_harmed_what_runs(bed):
    """The pod that was there from the beginning is the same one, and so is its job."""
    seen = bed.kube.get("Pod", "steady")
    equal((uid_of(seen), seen["status"]["phase"]), (uid_of(bed.steady), "Running"))
    (job,) = bed.slurm.job_of_pod(uid_of(seen))
    equal(job["JobState"], "RUNNING")
    bed.kube.delete("Pod", "steady", gracePeriodSeconds=0)
    wait_no_live_jobs(bed)


def test_the_guide_has_the_same_rows(bed):
    """The table in doc/admin.md: mistake and line."""
    text = (SOURCE / "doc/admin.md").read_text(encoding="utf-8")
    table = text.partition("| mistake | line of `skube check` |\n|---|---|\n")[2].partition("\n\n")[
        0
    ]
    seen = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]
    equal(seen, [[name, line] for name, (line, *_) in ROWS.items()])


if __name__ == "__main__":
    run(lambda build: Cluster(build, kwok=2, cpus=4, memory="8Gi"))
