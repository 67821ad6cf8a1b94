#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `skube manifests` prints, applied to a real API server: an agent that has nothing else runs
pods, the policies hold, and the agent's requests have their own share of the API server.
"""
import json
import os
import re

from lib import Cluster, equal, pod, run, wait_for
from lib.expect import job_in_state, wait_no_live_jobs
from lib.kube import ApiError
from lib.objects import (
    by_name,
    full_name,
    objects_of,
    remove_agent_account,
    renew_agent_token,
    skube_manifests,
)
from lib.process import SOURCE, output_of

SELECTOR = "app.kubernetes.io/part-of=slurm-kube"
ALL_PARTS = "rbac,policies,options-policy,scheduler-name-policy,flow-control,dashboards"
FORGED = {"allocation.slurm-kube.io/job-id": "1"}


def _apply(bed, text, *options):
    """The lines of kubectl, one per object."""
    return bed.plane.kubectl("apply", *options, "-f", "-", stdin=text).splitlines()


def _metric(bed, name):
    """The sum of the samples of the priority level slurm-kube."""
    return sum(
        float(line.rpartition(" ")[2])
        for line in bed.plane.kubectl("get", "--raw", "/metrics").splitlines()
        if line.startswith(name + "{") and 'priority_level="slurm-kube"' in line
    )


def _refusal(bed, manifest):
    """The error of a dry run; empty: the object would be accepted."""
    path = bed.kube.path("Pod", f"{manifest['metadata'].get('namespace', 'default')}/")
    try:
        bed.kube.request("POST", path + "?dryRun=All", manifest)
    except ApiError as e:
        return str(e)
    return ""


def test_a_second_apply_changes_nothing(bed):
    """The server keeps every object as it is printed."""
    equal([line for line in bed.first_apply if not re.search(r" created$", line)], [])
    lines = _apply(bed, bed.printed)
    equal(len(lines), len(bed.first_apply))
    equal([line for line in lines if not line.endswith(" unchanged")], [])
    lines = _apply(bed, bed.printed, "--dry-run=server")
    equal([line for line in lines if not line.endswith(" unchanged (server dry run)")], [])


def test_every_object_is_found_by_its_labels(bed):
    """All kinds that the server has are searched."""
    kinds = bed.plane.kubectl("api-resources", "--verbs=list", "-o", "name").split()
    said = json.loads(
        bed.plane.kubectl("get", ",".join(kinds), "-A", "-l", SELECTOR, "-o", "json")
    )["items"]
    wanted = objects_of(bed.plane, bed.printed)
    equal(sorted(map(full_name, said)), sorted(map(full_name, wanted)))
    version = output_of(*bed.slurm.program(bed.agent.skube_program, "--version")).split()[1]
    for made in said:
        labels = made["metadata"]["labels"]
        equal(
            (labels["app.kubernetes.io/name"], labels["app.kubernetes.io/version"]),
            ("slurm-kube", version),
        )


def test_pods_run_with_these_rights(bed):
    """The agent has the account of the manifest and lacks no right."""
    bed.kube.create(pod("plain", kwok={"run": "10ms"}))
    bed.kube.wait_phase("plain", "Succeeded")
    job_in_state(bed, bed.kube.get("Pod", "plain"), "COMPLETED")
    wait_for(
        lambda: [c["ok"] for c in bed.agent.skube_all("check")["checks"] if c["name"] == "rights"]
        == [True],
        "skube check to find all rights granted",
    )
    wait_no_live_jobs(bed)


def test_the_policies_hold(bed):
    """One refusal of each policy for users; test_policies.py tests each rule."""
    for manifest, said in (
        (pod("forged", annotations=FORGED), "written by slurmkubed only"),
        (pod("odd", annotations={"slurm-kube.io/nothing": "1"}), "unknown option"),
    ):
        wait_for(
            lambda m=manifest, s=said: s in _refusal(bed, m), f"the refusal '{said}' to be given"
        )


def test_the_agent_has_its_own_share_of_the_server(bed):
    """The server counts the agent's requests in the priority level slurm-kube, refuses none of a
    burst, and counts no other user's requests there.
    """
    dispatched = "apiserver_flowcontrol_dispatched_requests_total"
    before = _metric(bed, dispatched)
    names = [f"burst-{i}" for i in range(60)]
    for name in names:
        bed.kube.create(pod(name, cpu="100m", kwok={"run": "10ms"}))
    for name in names:
        bed.kube.wait_phase(name, "Succeeded", timeout=120)
    sent = _metric(bed, dispatched) - before
    assert sent >= len(names), f"{sent} requests for {len(names)} bindings"
    equal(_metric(bed, "apiserver_flowcontrol_rejected_requests_total"), 0)
    wait_no_live_jobs(bed)
    bed.agent.stop()
    before = _metric(bed, dispatched)
    bed.kube.create(pod("beside", scheduler="other"))
    bed.kube.delete("Pod", "beside")
    equal(_metric(bed, dispatched), before)
    bed.agent.start()


def test_dashboards_are_whole(bed):
    """Grafana's sidecar finds the ConfigMap by its label, and the files in it are ours."""
    (found,) = json.loads(
        bed.plane.kubectl("get", "configmaps", "-A", "-l", "grafana_dashboard=1", "-o", "json")
    )["items"]
    files = sorted((SOURCE / "contribs/monitoring").glob("*.json"))
    equal(found["data"], {f"slurm-kube-{f.name}": f.read_text() for f in files})


def test_kustomize_has_the_same_objects(bed):
    """contribs/kustomize in an overlay of the site, with the policy for Kubernetes 1.36."""
    overlay = bed.dir / "overlay"
    overlay.mkdir()
    base = os.path.relpath(SOURCE / "contribs/kustomize", overlay)
    (overlay / "kustomization.yaml").write_text(
        f"resources: [{base}]\ncomponents: [{base}/scheduler-name-policy]\n"
    )
    made = objects_of(bed.plane, bed.plane.kubectl("kustomize", overlay))
    equal(by_name(made), by_name(objects_of(bed.plane, bed.printed)))
    lines = bed.plane.kubectl("apply", "-k", overlay).splitlines()
    equal([line for line in lines if not line.endswith(" unchanged")], [])
    default = objects_of(bed.plane, bed.plane.kubectl("kustomize", SOURCE / "contribs/kustomize"))
    site = ("--config", bed.dir / "site.yaml")
    equal(by_name(default), by_name(objects_of(bed.plane, skube_manifests(bed, *site))))


def test_the_scheduler_name_is_that_of_the_site(bed):
    """Applied for another scheduler_name, the policies are about pods of that name."""
    (bed.dir / "hpc.yaml").write_text("scheduler_name: hpc\n")
    text = skube_manifests(bed, "--config", bed.dir / "hpc.yaml", "--only", "policies")
    changed = [line for line in _apply(bed, text) if not line.endswith(" unchanged")]
    equal(
        [re.search(r"slurm-kube-\w+", line).group() for line in changed],
        ["slurm-kube-resize", "slurm-kube-scheduler", "slurm-kube-agent"],
    )
    bed.plane.kubectl("label", "namespace", "default", "slurm-kube.io/managed=true")
    wait_for(
        lambda: "write schedulerName: hpc" in _refusal(bed, pod("other")),
        "the policy to be for hpc",
    )
    bed.plane.kubectl("label", "namespace", "default", "slurm-kube.io/managed-")
    _apply(bed, bed.printed)


class InstalledTestbed(Cluster):
    """The agent's account and everything else come from `skube manifests` alone."""

    first_apply = printed = None

    def start_kubernetes(self):
        super().start_kubernetes()
        (self.dir / "site.yaml").write_text(json.dumps(self.agent.configuration()))
        self.printed = skube_manifests(
            self, "--config", self.dir / "site.yaml", "--only", ALL_PARTS
        )
        # A dry run needs the namespace, which k8s/up has made.
        _apply(self, self.printed, "--dry-run=server")
        remove_agent_account(self.plane)
        self.first_apply = _apply(self, self.printed)
        renew_agent_token(self.plane)


if __name__ == "__main__":
    run(lambda build: InstalledTestbed(build, kwok=2))
