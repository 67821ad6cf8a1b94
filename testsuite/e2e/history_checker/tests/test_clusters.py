# SPDX-License-Identifier: GPL-2.0-or-later
"""Two Kubernetes clusters under one slurmctld: each is judged by itself, and nothing is mixed."""
from history_checker.clusters import KubeCluster, mixed, truth_of
from history_checker.rules import check
from history_checker.tests.play import Play, T0, stamp


class Part(Play):
    """One of the clusters; nodes have its prefix in Slurm."""

    def __init__(self, name, slurm=None):
        super().__init__()
        self.name, self.slurm = name, slurm or self.slurm

    def submitted(self, at, job, pod):
        self._picture(at, job, f"uid-{pod}")

    def _picture(self, at, job, uid):
        marker = f'{{"cluster":"{self.name}","uid":"{uid}"}}'
        fields = {"JobState": "COMPLETED", "NumCPUs": "2", "AdminComment": marker}
        self.slurm.picture({job: {"SubmitTime": stamp(T0 + at), **fields}})

    def started(self, at, job, node="a"):
        super().started(at, job, f"{self.name}-{node}")

    def completed(self, at, job, state="COMPLETED", code="0:0", node="a", **more):
        super().completed(at, job, state, code, f"{self.name}-{node}", **more)


def pair():
    alpha = Part("alpha")
    return alpha, Part("beta", alpha.slurm)


def found(*parts, prefix=None):
    """The rules violated in each part, and whether something is mixed."""
    clusters = [
        KubeCluster(p.name, f"{p.name}-" if prefix is None else prefix, p.evidence().history)
        for p in parts
    ]
    out = []
    for part, own in zip(parts, clusters):
        proof, truth = part.evidence(), part.slurm
        proof.slurm = truth_of(truth, own)
        wrong = check(proof) + mixed(truth, own, clusters)
        out.append(sorted({v.rule for v in wrong}))
    return out


def lives(alpha, beta):
    alpha.whole("one", 1, at=10)
    beta.whole("two", 2, at=10)
    alpha.whole("three", 3, at=11, node="b", code=2)
    return alpha, beta


def test_two_clusters_with_nodes_of_the_same_names():
    assert found(*lives(*pair())) == [[], []]


def test_a_prefix_that_stays_is_seen():
    assert found(*lives(*pair()), prefix="") == [["ends", "start"]] * 2


def test_records_of_another_cluster_prove_nothing():
    alpha, beta = pair()
    alpha.whole("one", 1, at=10)
    beta.made(10, "two")
    beta.bound(11, "two", 1)
    beta.ended(15, "two")
    assert found(alpha, beta) == [[], ["ends", "mixed", "start"]], found(alpha, beta)


def test_a_node_of_another_cluster_is_mixed():
    alpha, beta = lives(*pair())
    alpha.submitted(20, 4, "one")
    beta.started(21, 4)
    beta.completed(22, 4)
    assert found(alpha, beta)[0] == ["mixed"], found(alpha, beta)


def test_a_node_of_another_cluster_in_scontrol_is_mixed():
    alpha, beta = lives(*pair())
    alpha.submitted(20, 4, "one")
    list(alpha.slurm.shown.values())[-1]["NodeList"] = "alpha-a,beta-b"
    assert found(alpha, beta) == [["mixed"], []]


def test_a_pod_of_another_cluster_is_mixed():
    alpha, beta = lives(*pair())
    alpha.submitted(20, 4, "two")
    assert found(alpha, beta) == [["mixed"], []]


def test_a_number_that_was_given_again_is_not_mixed():
    alpha, beta = pair()
    alpha.submitted(10, 1, "lost")
    alpha.slurm.line(T0 + 15, "slurmctld version 22.05.8 started on cluster test")
    beta.started(16, 1)  # no picture has shown this job
    beta.slurm.line(T0 + 20, "slurmctld version 22.05.8 started on cluster test")
    beta.whole("two", 1, at=30)
    assert found(alpha, beta) == [[], []], found(alpha, beta)
