#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""skube migrate on a cluster as slurm-bridge leaves it: deployments, webhooks, finalizers, taints
and labels, made as by its chart and its controllers. No pod that runs ends, and afterwards its
manifests run.

Its external nodes and jobs need Slurm 25.11: testsuite/component/skube/test_migrate.py has them.
"""
import json

from lib import ApiError, Cluster, equal, job, kubelets, pod, run, wait_for
from lib.admin import skube
from lib.expect import job_in_state, uid_of, wait_no_live_jobs

SCHEDULER, SPACE = "slurm-bridge-scheduler", "slurm-bridge"
PREFIX, FINALIZER = "scheduler.slinky.slurm.net/", "scheduler.slinky.slurm.net/finalizer"
EXTERNAL, TAINT = PREFIX + "external-node", "slinky.slurm.net/managed-node"
LABEL = "slurm-kube.io/managed"
TOLERATION = {"key": TAINT, "value": SCHEDULER, "operator": "Equal", "effect": "NoExecute"}
PROGRAMS = ("scheduler", "controllers", "admission")


def _deployment(component):
    labels = {
        "app.kubernetes.io/name": f"slurm-bridge-{component}",
        "app.kubernetes.io/instance": "slurm-bridge",
    }
    all_labels = {
        **labels,
        "helm.sh/chart": "slurm-bridge-1.2.1",
        "app.kubernetes.io/component": component,
    }
    template = {
        "metadata": {"labels": all_labels},
        "spec": {"containers": [{"name": component, "image": "example.test/slurm-bridge"}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": f"slurm-bridge-{component}",
            "namespace": SPACE,
            "labels": all_labels,
        },
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }


def _webhook(kind, path):
    """Without its program it refuses each pod, because failurePolicy is Fail if it is not given."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "slurm-bridge-admission"},
        "webhooks": [
            {
                "name": "pods.slinky.slurm.net",
                "namespaceSelector": {
                    "matchExpressions": [
                        {
                            "key": "kubernetes.io/metadata.name",
                            "operator": "NotIn",
                            "values": ["kube-system", SPACE],
                        }
                    ]
                },
                "rules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "resources": ["pods"],
                        "operations": ["CREATE", "UPDATE"],
                        "scope": "Namespaced",
                    }
                ],
                "clientConfig": {
                    "service": {"namespace": SPACE, "name": "slurm-bridge-admission", "path": path}
                },
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
            }
        ],
    }


def _theirs(name, number, **options):
    """A pod as their scheduler leaves it when its job exists."""
    made = pod(name, scheduler=SCHEDULER, spec={"tolerations": [TOLERATION]}, **options)
    made["metadata"]["finalizers"] = ["example.test/other", FINALIZER]
    made["metadata"]["labels"] = {PREFIX + "slurm-jobid": str(number)}
    return made


def _migrate(bed, *options):
    done = skube(bed, "migrate", "--from", "slurm-bridge", *options)
    return done.returncode, done.stdout + done.stderr


def _kubectl(bed, *words):
    return bed.plane.kubectl(*words).split()


def _node_states(bed):
    """{node: (has our label, keys of taints)}"""
    return {
        name: (
            LABEL in node["metadata"]["labels"],
            sorted(t["key"] for t in node["spec"].get("taints", [])),
        )
        for name in bed.names
        for node in [bed.kube.get("Node", name)]
    }


def _refusal(bed, made):
    try:
        bed.kube.create(made)
    except ApiError as e:
        return str(e)
    return ""


def test_their_cluster(bed):
    """Is as their chart and controllers make it, and not ours yet."""
    for component in PROGRAMS:
        bed.plane.kubectl("create", "-f", "-", stdin=json.dumps(_deployment(component)))
    wait_for(
        lambda: len(_kubectl(bed, "get", "pods", "-n", SPACE, "-o", "name")) == 3, "their programs"
    )
    for name in bed.names:
        bed.plane.kubectl("label", "node", name, EXTERNAL + "=true")
        bed.plane.kubectl("taint", "node", name, f"{TAINT}={SCHEDULER}:NoExecute")
    bed.plane.kubectl("label", "node", "node-2", LABEL + "-")
    bed.their_jobs = [
        bed.slurm.run(
            "sbatch",
            "--hold",
            "--parsable",
            "--partition=native",
            "--output=/dev/null",
            "--wrap=true",
        ).strip()
        for _ in range(2)
    ]
    for number, name in zip(bed.their_jobs, ("runs", "waits")):
        comment = json.dumps({"pods": [f"default/{name}"]}, separators=(",", ":"))
        bed.slurm.run("scontrol", "update", f"JobId={number}", f"AdminComment={comment}")
    bed.kube.create(_theirs("runs", bed.their_jobs[0], kwok={"run": "1h"}))
    bed.kube.create(_theirs("waits", bed.their_jobs[1], kwok={"run": "50ms"}))
    bed.kube.bind("runs", "node-1")
    bed.kube.wait_phase("runs", "Running")
    for kind, path in (
        ("ValidatingWebhookConfiguration", "/validate--v1-pod"),
        ("MutatingWebhookConfiguration", "/mutate--v1-pod"),
    ):
        bed.plane.kubectl("create", "-f", "-", stdin=json.dumps(_webhook(kind, path)))
    wait_for(
        lambda: "pods.slinky.slurm.net" in _refusal(bed, pod("refused")), "their webhook to refuse"
    )


def test_the_steps_are_shown_first(bed):
    """Without --apply nothing changes."""
    before = (_node_states(bed), bed.kube.get("Pod", "runs")["metadata"]["resourceVersion"])
    status, said = _migrate(bed)
    equal(status, 0, said)
    wanted = [
        "kubectl delete mutatingwebhookconfiguration/slurm-bridge-admission",
        "kubectl scale --namespace slurm-bridge deployment/slurm-bridge-controllers --replicas=0",
        "kubectl wait --for=delete",
        "kubectl patch pod --namespace default runs",
        "scancel",
        f"kubectl taint node --overwrite node-0 node-1 node-2 {LABEL}:NoSchedule",
        f"kubectl taint node node-0 node-1 node-2 {TAINT}-",
        f"kubectl label node --overwrite node-2 {LABEL}=true",
        "deployment slurm-bridge-admission in namespace slurm-bridge",
    ]
    places = [said.find(text) for text in wanted]
    assert -1 not in places and places == sorted(places), (places, said)
    equal(
        (_node_states(bed), bed.kube.get("Pod", "runs")["metadata"]["resourceVersion"]),
        before,
    )


def test_all_that_is_theirs_goes(bed):
    """The running pod is left alone; finalizers of others stay."""
    made = bed.kube.get("Pod", "runs")
    status, said = _migrate(bed, "--apply")
    equal(status, 0, said)
    assert "deployment slurm-bridge-admission in namespace slurm-bridge" in said, said
    equal(_kubectl(bed, "get", "validatingwebhookconfigurations,mutatingwebhookconfigurations"), [])
    equal(_kubectl(bed, "get", "pods", "-n", SPACE, "-o", "name"), [])
    equal(_node_states(bed), {name: (True, [LABEL]) for name in bed.names})
    for name in ("runs", "waits"):
        equal(bed.kube.get("Pod", name)["metadata"]["finalizers"], ["example.test/other"])
    now = bed.kube.get("Pod", "runs")
    equal((uid_of(now), now["status"]["phase"]), (uid_of(made), "Running"))
    jobs = bed.slurm.jobs()
    equal({jobs[int(number)]["JobState"] for number in bed.their_jobs}, {"CANCELLED"})
    status, said = _migrate(bed, "--apply")
    equal(status, 0, said)
    assert "kubectl" not in said, said


def test_their_pods_are_slurms(bed):
    """The running pod gets a job on its node, and the waiting one runs."""
    bed.agent.settings["scheduler_aliases"] = [SCHEDULER]
    bed.agent.restart()
    runs = bed.kube.get("Pod", "runs")
    number = job_in_state(bed, runs, "RUNNING", timeout=60)
    equal(number["NodeList"], "node-1")
    job_in_state(bed, bed.kube.get("Pod", "waits"), "COMPLETED")
    kubelets.end_pod(bed, "runs")
    equal(job_in_state(bed, runs, "COMPLETED")["JobId"], number["JobId"])


def test_their_manifests_run(bed):
    """A Job with their scheduler's name and annotations."""
    made = job("sleeps", 1, scheduler=SCHEDULER, kwok={"run": "50ms"})
    made["metadata"]["annotations"] = {
        "slurmjob.slinky.slurm.net/job-name": "sleeps-well",
        "slurmjob.slinky.slurm.net/timelimit": "5",
    }
    bed.kube.create(made)

    def ended():
        return [
            (j["JobName"], j["TimeLimit"])
            for j in bed.slurm.jobs().values()
            if j["JobName"] == "sleeps-well" and j["JobState"] == "COMPLETED"
        ]

    equal(wait_for(ended, "its job to end", 60), [("sleeps-well", "00:05:00")])


def test_what_is_left_goes_with_the_chart(bed):
    """Then nothing is left."""
    for name in ("runs", "waits"):
        bed.kube.patch("Pod", name, {"metadata": {"finalizers": None}})
    bed.plane.kubectl("delete", "deployments", "--all", "--namespace", SPACE)
    wait_no_live_jobs(bed, 60)
    status, said = _migrate(bed)
    equal((status, said), (0, "Nothing is left of slurm-bridge in Kubernetes and in Slurm.\n"))


class _Bridged(Cluster):
    def __init__(self, build):
        super().__init__(build, kwok=3)
        self.their_jobs = []

    def start_kubernetes(self):
        super().start_kubernetes()
        self.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
        self.plane.default_account(SPACE)


if __name__ == "__main__":
    run(_Bridged)
