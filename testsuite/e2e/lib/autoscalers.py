# SPDX-License-Identifier: GPL-2.0-or-later
"""What autoscalers make of a pod. Karpenter's verdicts are those of its own functions
(testsuite/karpenter). Cluster-autoscaler's are those of the functions below, which repeat its rules
because the Go module proxy does not serve its module. Each names the file of release 1.36.1 that
has the rule.
"""
import functools
import json
import subprocess
from typing import NamedTuple

from .kube import condition
from .process import TESTSUITE, output_of

SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
EXPENDABLE_BELOW = -10  # --expendable-pods-priority-cutoff


class Verdict(NamedTuple):
    """asks: the autoscaler adds a node for the pod. keeps: it leaves the pod's node in service
    because of the pod.
    """

    asks: bool
    keeps: bool


def _is_expendable(pod):
    """cluster-autoscaler/core/utils/expendable.go: such pods ask for no node, and keep none."""
    return pod["spec"].get("priority", 0) < EXPENDABLE_BELOW


def _is_unschedulable(pod):
    """ArrangePodsBySchedulability() in cluster-autoscaler/utils/kubernetes/listers.go, without
    --bypassed-scheduler-names.
    """
    said = condition(pod, "PodScheduled")
    return (
        not pod["spec"].get("nodeName")
        and "deletionTimestamp" not in pod["metadata"]
        and not pod["status"].get("nominatedNodeName")
        and (said.get("status"), said.get("reason")) == ("False", "Unschedulable")
    )


def _is_terminal(pod):
    """IsPodTerminal() in cluster-autoscaler/utils/drain/drain.go."""
    phase, policy = pod["status"].get("phase"), pod["spec"]["restartPolicy"]
    return phase == "Failed" or (phase == "Succeeded" and policy in ("Never", "OnFailure"))


def _blocks_drain(pod):
    """Default() in cluster-autoscaler/simulator/drainability/rules/rules.go, for pods of no
    DaemonSet and no kubelet. Left out are its rules that block more (no controller, kube-system,
    local storage, a budget), and the one for pods whose grace period is long over.
    """
    told = pod["metadata"].get("annotations", {}).get(SAFE_TO_EVICT)
    if told == "true" or _is_terminal(pod):
        return False
    return told in ("on-completion", "false")


def cluster_autoscaler(pod):
    expendable = _is_expendable(pod)
    return Verdict(
        asks=_is_unschedulable(pod) and not expendable, keeps=_blocks_drain(pod) and not expendable
    )


@functools.cache
def _karpenter_program():
    return output_of(TESTSUITE / "karpenter/build", timeout=1800).strip()


def karpenter_says(pods):
    """What Karpenter's functions say of each pod: a dict of testsuite/karpenter/main.go."""
    done = subprocess.run(
        [_karpenter_program()],
        input="".join(json.dumps(pod) + "\n" for pod in pods),
        text=True,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"testsuite/karpenter: {done.stderr[-1500:]}"
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(pods), f"{len(answers)} verdicts for {len(pods)} pods"
    return answers


def _of_karpenter(said):
    """A pod keeps its node if it is not disruptable; then Karpenter must not evict it either."""
    assert said["disruptable"] or not said["evictable"], said
    return Verdict(asks=said["provisionable"], keeps=not said["disruptable"])


def verdicts(pods):
    """[{autoscaler: Verdict}] for the pods."""
    return [
        {"karpenter": _of_karpenter(said), "cluster-autoscaler": cluster_autoscaler(pod)}
        for pod, said in zip(pods, karpenter_says(pods))
    ]
