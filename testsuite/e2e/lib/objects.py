# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects of Kubernetes in texts: read and compared as kubectl reads them."""
import json

from .control_plane import SCRIPTS
from .process import CACHE, SOURCE, output_of
from .tap import equal

CHART = SOURCE / "contribs/helm/slurm-kube"


def objects_of(plane, text):
    """The objects of a manifest."""
    said = plane.kubectl(
        "create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-", stdin=text
    ).strip()
    decoder, found = json.JSONDecoder(), []
    while said:
        value, end = decoder.raw_decode(said)
        said = said[end:].strip()
        found += value["items"] if value["kind"] == "List" else [value]
    return found


def full_name(made):
    return made["kind"], made["metadata"].get("namespace", ""), made["metadata"]["name"]


def by_name(objects):
    """Objects without what kubectl adds; fails if two have the same name."""
    for made in objects:
        made["metadata"].pop("annotations", None)
    found = {full_name(made): made for made in objects}
    equal(len(found), len(objects), "objects with a name of their own")
    return found


def skube_manifests(bed, *words):
    """What skube prints; without --config it would read the file of this machine."""
    given = words if "--config" in words else (*words, "--config", "/dev/null")
    return output_of(*bed.slurm.program(bed.agent.skube_program, "manifests", *given))


def remove_agent_account(plane):
    """Deletes what k8s/up has applied of etc/rbac.yaml."""
    for kinds in ("clusterrole,clusterrolebinding", "namespace"):
        plane.kubectl("delete", kinds, "slurm-kube")


def renew_agent_token(plane):
    """The account is a new one, so its token is, too."""
    old = (plane.dir / "tokens/agent").read_text().strip()
    new = plane.kubectl(
        "create", "token", "--namespace", "slurm-kube", "slurmkubed", "--duration", "240h"
    ).strip()
    for file in (plane.dir / "tokens/agent", plane.kubeconfig("agent")):
        file.write_text(file.read_text().replace(old, new))


def build_helm():
    """Does nothing if the cache has it."""
    output_of(SCRIPTS / "build", "--helm", "helm", timeout=1800)


def helm(bed, *words, values=None, check=True):
    """Runs helm as an administrator of the bed's cluster; values: what a values file says."""
    if values is not None:
        (bed.dir / "values.json").write_text(json.dumps(values))
        words = (*words, "--values", bed.dir / "values.json")
    return output_of(
        CACHE / "k8s/bin/helm",
        *words,
        env={
            "KUBECONFIG": str(bed.plane.kubeconfig()),
            **{f"HELM_{k}_HOME": f"{bed.dir}/helm" for k in ("CACHE", "CONFIG", "DATA")},
        },
        check=check,
    )
