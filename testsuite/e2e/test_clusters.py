#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two Kubernetes clusters under one slurmctld, with nodes of the same names, and a third one that
speaks garbage: none sees, moves or harms what belongs to another.

SLURM_KUBE_CLUSTER_SECONDS (30) is the time for which both sides are killed at random.
"""
import os
import random
import resource
import select
import signal
import socket
import threading
import time

from lib import Skip, equal, job, pod, run, wait_for
from lib.clusters import Clusters
from lib.expect import job_in_state, jobs_by_uid, uid_of, wait_no_live_jobs, wait_reason
from lib.invariants import check_invariants
from lib.kube import condition, name_of

PODS = 500  # of each cluster, at once
SECONDS = float(os.environ.get("SLURM_KUBE_CLUSTER_SECONDS", "30"))
away = []  # when slurmctld was killed and back


class Garbage:
    """An agent of a third cluster: it answers the plugin with noise, or does not read."""

    ANSWERS = (b"\0\xff garbage\n" * 400, b'{"type":"welcome","protocol":99}\n', b"[" * 5000, b"")

    def __init__(self, path):
        self.path, self.connections, self.heard = path, 0, b""

    def start(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen(16)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            peer, _ = self.listener.accept()
            answer = self.ANSWERS[self.connections % len(self.ANSWERS)]
            self.connections += 1
            try:
                peer.settimeout(0.5)
                self.heard = self.heard[-100_000:] + peer.recv(65536)
                peer.sendall(answer)
            except OSError:
                pass
            if not answer:
                time.sleep(2)  # silent, and reads nothing more
            peer.close()


class Testbed(Clusters):
    def __init__(self, build):
        super().__init__(build, ("alpha", "beta"), kwok=4, cpus=64)
        self.garbage = Garbage(self.dir / "gamma/plugin.sock")
        self.slurm.clusters.append(("gamma", self.garbage.path))
        self.garbage.start()

    @property
    def beta(self):
        return self.others[0]


def _rows(bed, kind):
    return bed.agent.skube("show", kind)[kind]


def _line(bed, name):
    return next(c for c in bed.agent.skube_all("check")["checks"] if c["name"] == name)


def _node_in_slurm(bed, name):
    return bed.slurm.node(bed.prefix + name)


def test_each_cluster_has_its_own_pods_and_nodes(bed):
    """Pods of one name run in both, each on a node and in a partition of its cluster."""
    for own in bed.all:
        made = own.kube.create(pod("same", kwok={"run": "50ms"}))
        done = job_in_state(own, made, "COMPLETED")
        equal(done["Partition"], own.cluster)
        assert done["NodeList"].startswith(own.prefix), done
        notes = own.kube.get("Pod", "same")["metadata"]["annotations"]
        assert notes["allocation.slurm-kube.io/node"] in own.names, notes
    for own in bed.all:
        equal([row["name"] for row in _rows(own, "nodes")], own.names)
        equal({row["uid"] for row in _rows(own, "jobs")}, {uid_of(own.kube.get("Pod", "same"))})
        for line in ("plugin", "kube.conf", "nodes", "vanished nodes", "cluster"):
            assert _line(own, line)["ok"], _line(own, line)
        assert f"Feature=kube,kube-{own.cluster} " in _line(own, "kube.conf")["text"]
        features = own.slurm.node(own.prefix + own.names[0])["AvailableFeatures"]
        equal(features, f"kube,kube-{own.cluster}")


def test_a_node_state_concerns_one_cluster(bed):
    bed.kube.patch("Node", "node-0", {"spec": {"unschedulable": True}})
    wait_for(
        lambda: "DRAIN" in _node_in_slurm(bed, "node-0")["State"], "alpha-node-0 to be drained"
    )
    assert "DRAIN" not in _node_in_slurm(bed.beta, "node-0")["State"]
    bed.kube.patch("Node", "node-0", {"spec": {"unschedulable": None}})
    wait_for(lambda: "DRAIN" not in _node_in_slurm(bed, "node-0")["State"], "it to be back")


def test_nodes_are_asked_for_by_their_kubernetes_names(bed):
    for name, wish in (("required-nodes", "node-3"), ("excluded-nodes", "node-[0-2]")):
        made = bed.beta.kube.create(
            pod(name, kwok={"run": "50ms"}, annotations={f"slurm-kube.io/{name}": wish})
        )
        equal(job_in_state(bed.beta, made, "COMPLETED")["NodeList"], "beta-node-3")
    chosen = bed.kube.create(
        pod("select", kwok={"run": "50ms"}, spec={"nodeSelector": {"kubernetes.io/hostname": "x"}})
    )
    wait_reason(bed, "select", "SlurmNoNode")
    equal(bed.slurm.job_of_pod(uid_of(chosen)), [])
    bed.kube.delete("Pod", "select")


def test_a_partition_of_both_clusters_takes_no_pod(bed):
    """slurmctld could start the job on a node of the other cluster."""
    for own in bed.all:
        made = own.kube.create(pod("mixed", annotations={"slurm-kube.io/partition": "kube"}))
        text = "partition 'kube' may have nodes that are not of this Kubernetes cluster"
        wait_reason(own, "mixed", "SlurmRefused", text)
        log = own.agent.daemon.log.read_text()
        assert f"of cluster {own.cluster} cannot go there" in log
        equal(own.slurm.job_of_pod(uid_of(made)), [])
        own.kube.delete("Pod", "mixed")


def test_no_pod_is_bound_to_a_node_of_another_cluster(bed):
    """An administrator gives the partition a wrong node while a job waits: the job starts there,
    and the pod runs later where it can.
    """
    bed.slurm.run("scontrol", "update", "PartitionName=alpha", "State=DOWN")
    made = bed.kube.create(pod("astray", kwok={"run": "50ms"}))
    job_in_state(bed, made, "PENDING")
    bed.slurm.run("scontrol", "update", "PartitionName=alpha", "Nodes=beta-node-1", "State=UP")
    wait_for(
        lambda: any(
            j["NodeList"] == "beta-node-1" or j["JobState"] not in ("PENDING", "RUNNING")
            for j in bed.slurm.job_of_pod(uid_of(made))
        ),
        "Slurm to start the job on the wrong node",
    )
    time.sleep(3)  # what must not happen has no event
    assert "nodeName" not in bed.kube.get("Pod", "astray")["spec"]
    assert "deletionTimestamp" not in bed.kube.get("Pod", "astray")["metadata"]
    assert "DRAIN" not in _node_in_slurm(bed.beta, "node-1")["State"]
    nodes = ",".join(bed.prefix + n for n in bed.names)
    bed.slurm.run("scontrol", "update", "PartitionName=alpha", f"Nodes={nodes}")
    bed.kube.wait_phase("astray", "Succeeded", timeout=120)
    equal(bed.kube.get("Pod", "astray")["metadata"]["uid"], uid_of(made))
    wait_no_live_jobs(bed)


def test_an_agent_at_the_socket_of_another_cluster_is_refused(bed):
    """It does nothing, and skube check says why."""
    settings = bed.beta.agent.settings
    settings["cluster"] = "delta"
    bed.beta.agent.restart_without_waiting()
    said = wait_for(
        lambda: (line := _line(bed.beta, "plugin")) and "refused" in line["text"] and line,
        "skube check to say that the plugin is refused",
    )
    text = "kube.conf gives this socket to Cluster=beta, and slurmkubed.yaml says cluster: delta"
    assert text in said["text"] and not said["ok"], said
    made = bed.beta.kube.create(pod("waits", kwok={"run": "50ms"}))
    fine = bed.kube.create(pod("meanwhile", kwok={"run": "50ms"}))
    job_in_state(bed, fine, "COMPLETED")
    equal(bed.slurm.job_of_pod(uid_of(made)), [])
    settings["cluster"] = "beta"
    bed.beta.agent.restart()
    job_in_state(bed.beta, made, "COMPLETED")


def test_two_agents_of_one_kubernetes_cluster(bed):
    """A kubeconfig was copied: the agent that serves the cluster goes on, also after a
    restart, and each pod has one job.
    """
    plane, beta = bed.beta.agent.plane, bed.beta.agent
    runs = _long_pod(bed, "ours", "node-0")
    beta.plane = bed.agent.plane
    beta.restart_without_waiting()
    wait_for(lambda: "one Kubernetes" in _line(bed.beta, "plugin")["text"], "beta to be refused")
    fine = bed.kube.create(pod("once", kwok={"run": "50ms"}))
    job_in_state(bed, fine, "COMPLETED")
    bed.agent.daemon.stop()  # the wrong agent is not served meanwhile either
    waits = bed.kube.create(pod("twice", kwok={"run": "50ms"}))
    time.sleep(3)  # what must not happen has no event
    assert "one Kubernetes" in _line(bed.beta, "plugin")["text"]
    _runs_on(bed, runs)
    equal(bed.slurm.job_of_pod(uid_of(waits)), [])
    bed.agent.restart()
    job_in_state(bed, waits, "COMPLETED")
    equal([len(bed.slurm.job_of_pod(uid_of(p))) for p in (runs, fine, waits)], [1, 1, 1])
    beta.plane = plane
    beta.restart()
    _end(bed, runs)


def _numbers_given_again(bed, name, hang=None):
    """slurmctld is frozen, and killed before it has saved its jobs. Its nodes are saved."""
    restarted = time.time()
    bed.slurm.restart()
    away.append((restarted, time.time()))
    for own in bed.all:
        wait_for(lambda own=own: own.agent.skube("ping")["ready"], "the agent to be ready again")
    first = [bed.kube.create(pod(f"{name}-{i}", kwok={"run": "1h"})) for i in range(30)]
    for made in first:
        bed.kube.wait_phase(made["metadata"]["name"], "Running")
    since = time.time()
    bed.slurm.slurmctld.signal(signal.SIGSTOP)
    clients = hang(bed) if hang else []
    for made in first:
        bed.kube.delete("Pod", made["metadata"]["name"])
    time.sleep(1)
    bed.slurm.kill9()
    for client in clients:
        client.close()
    time.sleep(3)
    bed.slurm.slurmctld.start()
    second = [bed.beta.kube.create(pod(f"{name}-{i}", kwok={"run": "1h"})) for i in range(30)]
    bed.slurm.wait_up()
    away.append((since, time.time()))
    for made in second:
        bed.beta.kube.wait_phase(made["metadata"]["name"], "Running")
    numbers = {j["JobId"] for made in second for j in bed.slurm.job_of_pod(uid_of(made))}
    before = {j["JobId"] for made in first for j in bed.slurm.job_of_pod(uid_of(made))}
    print(f"# {len(numbers)} jobs, {len(before)} of before known", flush=True)
    time.sleep(8)  # what must not happen has no event
    for made in second:
        _runs_on(bed.beta, made)
    for made in second:
        _end(bed.beta, made)
    wait_no_live_jobs(bed)


def test_numbers_given_again_end_no_pod(bed):
    """slurmctld hangs, is killed before it has saved its jobs, and gives their numbers to pods of
    the other cluster. The cancellations that waited meanwhile were not for those.
    """
    _numbers_given_again(bed, "again")


def _many_clients(bed):
    """Clients that wait for slurmctld, so many that no more can connect."""
    clients, refused = [], 0
    resource.setrlimit(resource.RLIMIT_NOFILE, (16384, 16384))
    while refused < 20 and len(clients) < 10_000:
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", bed.slurm.port))
        clients.append(client)
        state = select.poll()
        state.register(client, select.POLLOUT)
        refused = 0 if state.poll(0) else refused + 1
    equal(refused, 20)
    return clients


def test_calls_that_wait_for_a_connection_end_no_pod(bed):
    """The same while so many clients wait that libslurm finds no connection, and tries until it
    has one to the next slurmctld.
    """

    def hang(bed):
        clients = _many_clients(bed)
        time.sleep(1.5)  # for a second, the agent takes a silent slurmctld for well
        return clients

    _numbers_given_again(bed, "waits", hang)


def test_skube_takes_the_configuration_of_one_agent(bed):
    """--config names the agent to ask, and drain finds the node's name in Slurm."""
    for own in bed.all:
        words = ("--config", own.agent.dir / "slurmkubed.yaml", "show", "nodes", "-o", "name")
        said = own.slurm.run_program(own.agent.skube_program, *words)
        equal(said.split(), own.names)


def _create_at_once(own, count):
    own.kube.create(job("many", count, kwok={"run": "100ms"}))


def test_five_hundred_pods_of_each_at_once(bed):
    """All run in their own cluster, and no job number, node or partition is mixed up."""
    for own in bed.all:
        _create_at_once(own, PODS)
    for own in bed.all:
        own.kube.wait(
            lambda own=own: sum(
                p["status"].get("phase") == "Succeeded" for p in own.kube.pods("many-").values()
            )
            == PODS,
            f"{PODS} pods of {own.cluster} to end",
            300,
        )
        wait_no_live_jobs(own, 120)
    jobs = {}
    for own in bed.all:
        known = jobs_by_uid(own)
        for made in own.kube.pods("many-").values():
            (done,) = known[uid_of(made)]
            equal((done["JobState"], done["Partition"]), ("COMPLETED", own.cluster))
            equal(done["NodeList"], own.prefix + made["spec"]["nodeName"])
            jobs[done["JobId"]] = made
        own.kube.delete("Job", "many", propagationPolicy="Background")
    equal(len(jobs), 2 * PODS)


def _features(bed, node, *names):
    text = ",".join(names)
    words = (f"NodeName={node}", f"AvailableFeatures={text}", f"ActiveFeatures={text}")
    bed.slurm.run("scontrol", "update", *words)


def _runs_on(own, made):
    """The pod has not been touched, and its only job runs."""
    now = own.kube.get("Pod", made["metadata"]["name"])
    equal((uid_of(now), now["status"]["phase"]), (uid_of(made), "Running"))
    assert "deletionTimestamp" not in now["metadata"], now["metadata"]
    equal([j["JobState"] for j in own.slurm.job_of_pod(uid_of(made))], ["RUNNING"])


def _long_pod(own, name, node):
    wish = {"slurm-kube.io/required-nodes": node}
    made = own.kube.create(pod(name, kwok={"run": "1h"}, annotations=wish))
    own.kube.wait_phase(name, "Running")
    return made


def _end(own, made):
    own.kube.delete("Pod", made["metadata"]["name"])
    job_in_state(own, made, "CANCELLED", "COMPLETED", "FAILED")


def test_wrong_features_end_no_pod(bed):
    """An administrator gives a node the feature of the other cluster, of both, or of none."""
    made, node = _long_pod(bed, "stays", "node-0"), "alpha-node-0"
    for features in (["kube-beta"], ["kube-alpha", "kube-beta"], []):
        _features(bed, node, "kube", *features)
        time.sleep(4)  # what must not happen has no event
        _runs_on(bed, made)
        assert "DOWN" not in bed.slurm.node(node)["State"]
    _features(bed, node, "kube", "kube-alpha")
    wait_for(lambda: "DRAIN" not in bed.slurm.node(node)["State"], f"{node} to be in service")
    _end(bed, made)


def test_a_lost_prefix_ends_no_pod(bed):
    """The agent takes the records of its nodes for those of nodes that are gone. One of them is a
    node of the other cluster, by its feature.
    """
    if bed.slurm.dynamic_nodes:
        raise Skip("the agent would make records without the prefix, which only a person deletes")
    beta = bed.beta
    own, other = _long_pod(beta, "own", "node-1"), _long_pod(bed, "other", "node-2")
    nodes = beta.agent.settings["nodes"]
    beta.agent.settings["nodes"] = {"manage": True, "max_gone_percent": 100}
    beta.agent.restart_without_waiting()
    _features(bed, "alpha-node-2", "kube", "kube-beta")
    wait_for(
        lambda: bed.slurm.node("beta-node-3")["State"].startswith("DOWN"),
        "an idle record to be DOWN",
    )
    time.sleep(3)
    _runs_on(beta, own)
    _runs_on(bed, other)
    _features(bed, "alpha-node-2", "kube", "kube-alpha")
    beta.agent.settings["nodes"] = nodes
    beta.agent.restart()
    wait_for(
        lambda: not [
            name
            for name, node in bed.slurm.nodes().items()
            if name != "native" and ("DRAIN" in node["State"] or node["State"].startswith("DOWN"))
        ],
        "all nodes to be back",
    )
    _end(beta, own)
    _end(bed, other)


class _Kills:
    """Kills one process after the other, and starts it again."""

    def __init__(self, bed):
        self.bed, self.random, self.count = bed, random.Random(4711), 0
        self.targets = [self._slurmctld]
        for own in bed.all:
            self.targets += [
                lambda own=own: self._agent(own),
                lambda own=own: self._component(own, "kube-apiserver"),
                lambda own=own: self._component(own, "etcd"),
            ]

    def _slurmctld(self):
        since = time.time()
        self.bed.slurm.kill9()
        self.bed.slurm.start_slurmctld()
        away.append((since, time.time()))

    def _agent(self, own):
        own.agent.kill9()
        time.sleep(self.random.choice((0, 0.5, 2)))
        own.agent.start(wait=False)

    def _component(self, own, name):
        own.plane.kill9(name)
        own.plane.revive(name)

    def one(self):
        self.random.choice(self.targets)()
        self.count += 1


def _create_some(own, number, made):
    """The API server may be away: the pod is created later."""
    name = f"life-{number}"
    try:
        made.append(own.kube.create(pod(name, kwok={"run": "700ms"})))
    except OSError:
        return
    except Exception as e:  # an ApiError while etcd is away
        if getattr(e, "status", 0) < 500 and getattr(e, "status", 0) != 409:
            raise


def _load(own, stopped, made):
    for number in range(100000):
        if stopped.wait(0.25):
            return
        _create_some(own, number, made)


def test_kills_of_either_side_harm_neither(bed):
    """While daemons of both are killed, every pod runs once and ends by itself, as its job does."""
    stopped, made = threading.Event(), {own.cluster: [] for own in bed.all}
    threads = [
        threading.Thread(target=_load, args=(own, stopped, made[own.cluster])) for own in bed.all
    ]
    for thread in threads:
        thread.start()
    kills, end = _Kills(bed), time.monotonic() + SECONDS
    try:
        while time.monotonic() < end:
            kills.one()
    finally:
        stopped.set()
        for thread in threads:
            thread.join()
    for own in bed.all:
        own.agent.wait_ready(120)
        names = [p["metadata"]["name"] for p in made[own.cluster]]
        wait_for(
            lambda own=own, names=names: _all_done(own, names), f"pods of {own.cluster}", 240, 1
        )
        wait_no_live_jobs(own, 120)
        for one in own.kube.list("Pod"):
            assert not condition(one, "DisruptionTarget"), name_of(one)
    counts = {name: len(pods) for name, pods in made.items()}
    print(f"# {kills.count} kills, pods: {counts}, garbage: {bed.garbage.connections}", flush=True)
    assert all(counts.values()) and kills.count > 3


def _wake_kwok(own, one):
    """kwok does not repeat what failed while the API server was away, until the pod changes."""
    if one["spec"].get("nodeName"):
        note = {"kwok.slurm-kube.test/woken": str(time.time())}
        own.kube.patch("Pod", one["metadata"]["name"], {"metadata": {"annotations": note}})


def _all_done(own, names):
    now = {p["metadata"]["name"]: p for p in own.kube.list("Pod")}
    gone = [n for n in names if n not in now]
    assert not gone, f"{len(gone)} pods are gone: {gone[:5]}"
    left = [n for n in names if now[n]["status"].get("phase") != "Succeeded"]
    for name in left[:5]:
        _wake_kwok(own, now[name])
    assert not left, f"{len(left)} pods have not ended: {left[:5]}"
    return True


def test_the_third_cluster_was_heard_and_had_no_effect(bed):
    """The plugin has tried to talk to it all the time, and sends nothing of others there."""
    assert bed.garbage.connections > 20, bed.garbage.connections
    assert b'"kube_cluster":"gamma"' in bed.garbage.heard
    assert b'"type":"job"' not in bed.garbage.heard and b'"type":"node"' not in bed.garbage.heard
    for own in bed.all:
        assert own.agent.skube("ping")["ready"]


def test_invariants_of_the_second_cluster(bed):
    check_invariants(bed.beta, forgets=away)


run(Testbed, forgets=away)
