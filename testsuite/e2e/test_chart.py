#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""The chart contribs/helm/slurm-kube: it has the objects of `skube manifests`, and a real helm
installs, upgrades and uninstalls it on a real API server. The agent's account is the chart's.
"""
import json
import re

from lib import Cluster, equal, pod, run, wait_for
from lib.expect import job_in_state, wait_no_live_jobs
from lib.kube import ApiError
from lib.objects import (
    CHART,
    build_helm,
    by_name,
    helm,
    objects_of,
    remove_agent_account,
    renew_agent_token,
    skube_manifests,
)
from lib.process import SOURCE, output_of

RELEASE = "slurm-kube"
ALL_PARTS = "rbac,policies,options-policy,scheduler-name-policy,flow-control,dashboards"
AGENT = {
    "enabled": True,
    "nodeSelector": {"kubernetes.io/hostname": "node-0"},
    "image": {"repository": "registry.example/slurm-kube"},
    "user": 64030,
    "group": 64030,
    "config": {"identity": {"rules": [{"namespace": "default", "user": "root"}]}},
}
# kinds whose objects come and go by themselves
UNSTEADY = ("events", "events.events.k8s.io", "leases.coordination.k8s.io", "pods", "jobs.batch")


def _template(bed, values=None):
    return objects_of(bed.plane, helm(bed, "template", RELEASE, CHART, values=values or {}))


def _error(call):
    try:
        call()
    except RuntimeError as e:
        return str(e)
    raise AssertionError("was accepted")


def _everything(bed):
    """The names of all objects of the cluster."""
    kinds = bed.plane.kubectl("api-resources", "--verbs=list", "-o", "name").split()
    wanted = ",".join(k for k in kinds if k not in UNSTEADY)
    said = bed.plane.kubectl(
        "get",
        wanted,
        "-A",
        "-o",
        r"jsonpath={range .items[*]}{.kind} {.metadata.namespace}" r"/{.metadata.name}{'\n'}{end}",
    )
    return set(said.splitlines())


def test_the_chart_is_well_formed(bed):
    """helm lint finds nothing, without and with the agent's pod."""
    for values in ({}, {"agent": AGENT}, {"policies": {"schedulerName": True}}):
        said = helm(bed, "lint", "--strict", CHART, values=values)
        assert "0 chart(s) failed" in said and "[WARNING]" not in said, said


def test_the_default_template_is_what_skube_prints(bed):
    """Object by object."""
    equal(by_name(_template(bed)), by_name(objects_of(bed.plane, skube_manifests(bed))))


def test_values_have_the_effect_of_the_options(bed):
    """The same names in values.yaml and for skube give the same objects."""
    (bed.dir / "hpc.yaml").write_text(
        "scheduler_name: hpc\nscheduler_aliases: [old, older]\nnodes: {report_drains: true}\n"
        "devices: [{driver: gpu.example.com}]\n"
    )
    words = ("--config", bed.dir / "hpc.yaml", "--account", "42/agent", "--only", ALL_PARTS)
    values = {
        "schedulerName": "hpc",
        "schedulerAliases": ["old", "older"],
        "account": {"namespace": "42", "name": "agent"},
        "policies": {"schedulerName": True},
        "reportDrains": True,
        "agent": {"config": {"devices": [{"driver": "gpu.example.com"}]}},
    }
    equal(
        by_name(_template(bed, values)),
        by_name(objects_of(bed.plane, skube_manifests(bed, *words))),
    )


def test_each_part_can_be_left_out(bed):
    """What is left is the output of skube for the other parts."""
    for switch, part in (
        ({"policies": {"enabled": False}}, "policies"),
        ({"policies": {"options": False}}, "options-policy"),
        ({"flowControl": {"enabled": False}}, "flow-control"),
        ({"dashboards": {"enabled": False}}, "dashboards"),
    ):
        rest = [p for p in ALL_PARTS.split(",") if p not in (part, "scheduler-name-policy")]
        wanted = skube_manifests(bed, "--only", ",".join(rest))
        equal(by_name(_template(bed, switch)), by_name(objects_of(bed.plane, wanted)), part)
    kept = _template(bed, {"account": {"createNamespace": False}})
    equal([made for made in kept if made["kind"] == "Namespace"], [])


def test_wrong_values_are_refused(bed):
    """With the key, and what is needed."""
    for values, said in (
        ({"schedulername": "hpc"}, "schedulername"),
        ({"schedulerName": "a b"}, "/schedulerName"),
        ({"account": {"namespace": "A"}}, "/account/namespace"),
        ({"agent": {**AGENT, "nodeSelector": {}}}, "agent.nodeSelector is required"),
        ({"agent": {**AGENT, "user": None}}, "agent.user and agent.group are required"),
        ({"agent": {**AGENT, "image": {}}}, "agent.image.repository is required"),
        ({"agent": {**AGENT, "config": {}}}, "agent.config.identity.rules is empty"),
        (
            {"agent": {**AGENT, "config": {**AGENT["config"], "scheduler_name": "x"}}},
            "agent.config.scheduler_name: the chart sets it",
        ),
    ):
        refusal = _error(lambda v=values: _template(bed, v))
        assert said in refusal, f"'{said}' is not in: {refusal}"


def test_pods_run_with_the_account_of_the_chart(bed):
    """The agent has no other rights."""
    bed.kube.create(pod("plain", kwok={"run": "10ms"}))
    bed.kube.wait_phase("plain", "Succeeded")
    job_in_state(bed, bed.kube.get("Pod", "plain"), "COMPLETED")
    wait_no_live_jobs(bed)


def test_an_upgrade_changes_what_the_values_say(bed):
    """Another scheduler name reaches the policies, and the account keeps its token."""

    def denial(name):
        path = bed.kube.path("Pod", "managed/") + "?dryRun=All"
        try:
            bed.kube.request("POST", path, pod(name, scheduler="other"))
        except ApiError as e:
            return str(e)
        return ""

    bed.plane.kubectl("create", "namespace", "managed")
    bed.plane.kubectl("label", "namespace", "managed", "slurm-kube.io/managed=true")
    bed.plane.default_account("managed")
    wait_for(lambda: "write schedulerName: slurm" in denial("a"), "the policy to hold")
    helm(bed, "upgrade", RELEASE, CHART, values={"schedulerName": "hpc"})
    wait_for(lambda: "write schedulerName: hpc" in denial("b"), "the policy to be for hpc")
    helm(bed, "rollback", RELEASE, "1")
    wait_for(lambda: "write schedulerName: slurm" in denial("c"), "the policy to be for slurm")
    bed.plane.kubectl("delete", "namespace", "managed")
    bed.kube.create(pod("later", kwok={"run": "10ms"}))
    bed.kube.wait_phase("later", "Succeeded")
    wait_no_live_jobs(bed)


def test_the_agents_pod_is_what_the_server_takes(bed):
    """The API server accepts the Deployment and creates its pod, and slurmkubed accepts the
    configuration in its ConfigMap. Here the node is a simulated one: the image does not run.
    """
    helm(bed, "upgrade", RELEASE, CHART, values={"agent": AGENT})
    config = json.loads(
        bed.plane.kubectl("get", "configmap", "-n", "slurm-kube", "slurm-kube-agent", "-o", "json")
    )["data"]["slurmkubed.yaml"]
    (bed.dir / "chart.yaml").write_text(config)
    command = bed.slurm.program(
        bed.agent.program, "--config", bed.dir / "chart.yaml", "--print-policies"
    )
    equal(output_of(*command), (SOURCE / "etc/policies.yaml").read_text())

    def pods():
        return json.loads(
            bed.plane.kubectl(
                "get",
                "pods",
                "-n",
                "slurm-kube",
                "-l",
                "app.kubernetes.io/component=agent",
                "-o",
                "json",
            )
        )["items"]

    (made,) = wait_for(pods, "the Deployment to have a pod")
    equal(made["spec"]["serviceAccountName"], "slurmkubed")
    version = output_of(*bed.slurm.program(bed.agent.program, "--version")).split()[1]
    equal(
        [c["image"] for c in made["spec"]["initContainers"] + made["spec"]["containers"]],
        [f"registry.example/slurm-kube:{version}"] * 2,
    )
    # without values helm takes those of the release before
    helm(bed, "upgrade", "--reset-values", RELEASE, CHART)
    wait_for(lambda: not pods(), "the agent's pod to be gone")


def test_uninstall_leaves_nothing(bed):
    """Every object of the cluster is one that was there before."""
    bed.agent.stop()
    assert _everything(bed) - bed.before, "the chart is not installed"
    helm(bed, "uninstall", RELEASE, "--wait")
    wait_for(
        lambda: not {line for line in _everything(bed) - bed.before if "slurm-kube" in line},
        "the namespace to be gone",
    )
    left = {line for line in _everything(bed) - bed.before if not re.match(r"Node |Pod", line)}
    equal(left, set())


class ChartTestbed(Cluster):
    """The agent's account and everything else come from the chart."""

    before = None

    def start_kubernetes(self):
        build_helm()
        super().start_kubernetes()
        remove_agent_account(self.plane)
        self.before = _everything(self)
        helm(self, "install", RELEASE, CHART, "--wait", values={})
        renew_agent_token(self.plane)


if __name__ == "__main__":
    run(lambda build: ChartTestbed(build, kwok=2))
