#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent as a pod of the chart: in a real container on the host of slurmctld, which is a real
node here. The pods that it serves run on simulated nodes.

IMAGE=FILE takes an image of contribs/build-image, and slurmctld's plugin is still that of BUILDDIR.
By default the image has the programs of BUILDDIR and the libraries of this machine.
"""
import json
import os
import re
from pathlib import Path

from lib import Cluster, Skip, equal, pod, run, wait_for
from lib.control_plane import SCRIPTS
from lib.expect import job_in_state, only_job, uid_of, wait_no_live_jobs
from lib.objects import CHART, build_helm, helm, remove_agent_account
from lib.process import output_of, tail
from lib.slurm_conf import plugin_dir_of

HOST, NAMESPACE = "ctl-1", "slurm-kube"
SLOW = 180  # seconds; the start of a container needs half a dozen programs
PLUGINS = "acct_gather", "auth", "cred", "gres", "hash", "select", "switch", "topology"


def _with_libraries(files):
    """The files and the libraries that they load."""
    said = output_of("ldd", *files)
    return {*map(str, files), *re.findall(r"(/\S+) \(0x", said)}


def _make_image(bed, archive, name):
    """The chart runs slurmkubed and install."""
    root, program = bed.dir / "image", bed.slurm.build / "root/sbin/slurmkubed"
    plugins = Path(plugin_dir_of(bed.slurm.root, ""))
    loaded = [f for kind in PLUGINS for f in plugins.glob(f"{kind}_*.so")]
    files = _with_libraries([program, "/usr/bin/install", *loaded]) - {str(program)}
    for folder in ("etc", "run", "tmp", "usr/bin"):
        (root / folder).mkdir(parents=True)
    output_of("cp", "--dereference", "--parents", *sorted(files), root)
    output_of("strip", "-o", root / "usr/bin/slurmkubed", program)
    output_of(
        SCRIPTS / "image", archive, root, name, '["slurmkubed"]', env={"IMAGE_PATH": "/usr/bin"}
    )


def _image(bed):
    """An archive and the repository and tag of its image."""
    given = os.environ.get("IMAGE")
    if not given:
        archive = bed.dir / "agent.tar"
        _make_image(bed, archive, "docker.io/slurm-kube/agent:test")
        return archive, ("docker.io/slurm-kube/agent", "test")
    manifest = json.loads(output_of("tar", "-xOf", given, "manifest.json"))
    return given, ("docker.io/library/" + manifest[0]["RepoTags"][0]).split(":")


def _agents(bed):
    wanted = f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=app.kubernetes.io/component=agent"
    return bed.kube.request("GET", wanted)["items"]


def _place(bed):
    """Binds the agent's pod as kube-scheduler would, and waits until it runs."""
    pending = wait_for(
        lambda: [a for a in _agents(bed) if not a["spec"].get("nodeName")], "a pod of the agent"
    )
    name = pending[0]["metadata"]["name"]
    bed.kube.request(
        "POST",
        f"/api/v1/namespaces/{NAMESPACE}/pods/{name}/binding",
        {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name},
            "target": {"kind": "Node", "name": HOST},
        },
    )
    wait_for(lambda: bed.agent.skube("ping")["ready"], "the agent in the pod to be ready", SLOW)
    return uid_of(pending[0])


def test_a_pod_runs(bed):
    """Its job ends with its state. skube works on the host."""
    bed.kube.create(pod("plain", kwok={"run": "10ms"}))
    bed.kube.wait_phase("plain", "Succeeded")
    job_in_state(bed, bed.kube.get("Pod", "plain"), "COMPLETED")
    failed = {c["name"]: c for c in bed.agent.skube_all("check")["checks"] if not c["ok"]}
    equal(failed, {})
    wait_no_live_jobs(bed)


def test_a_new_pod_of_the_agent_goes_on(bed):
    """What ran goes on, and what ended meanwhile is told to Slurm."""
    for name, wanted in (("lasts", {"run": "1h"}), ("ends", {"run": "5s"})):
        bed.kube.create(pod(name, kwok=wanted))
        bed.kube.wait_phase(name, "Running")
    lasting = bed.kube.get("Pod", "lasts")
    before = only_job(bed, lasting)["JobId"]
    (old,) = _agents(bed)
    bed.kube.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods/{old['metadata']['name']}")
    bed.kube.wait_phase("ends", "Succeeded")
    assert _place(bed) != uid_of(old)
    job_in_state(bed, bed.kube.get("Pod", "ends"), "COMPLETED")
    equal(only_job(bed, lasting)["JobId"], before)
    bed.kube.delete("Pod", "lasts", gracePeriodSeconds=0)
    wait_no_live_jobs(bed)


class AgentPodTestbed(Cluster):
    """hostPaths.run is the run directory, in which the plugin and skube look for the sockets."""

    def daemons(self):
        return [self.slurm.slurmctld]

    def failed(self, test, say):
        super().failed(test, say)
        for log in sorted(self.dir.glob(f"{HOST}/varlog/pods/*/slurmkubed/*.log")):
            say(f"--- end of {log}\n{tail(log, 12)}")

    def start_agent(self):
        if self.slurm.root:
            raise Skip("the libraries of this Slurm are in a chroot")
        build_helm()
        archive, (repository, tag) = _image(self)
        self.plane.real_node(HOST, NODE_IMAGES=archive, NODE_LABELS="site/controller=true")
        remove_agent_account(self.plane)
        # slurm.conf names files and directories by their path on the host
        named = {"bed": str(self.dir), "plugins": str(self.slurm.plugin_dirs[0])}
        values = {
            "enabled": True,
            "nodeSelector": {"kubernetes.io/hostname": HOST},
            "image": {"repository": repository, "tag": tag, "pullPolicy": "Never"},
            "user": 0,
            "group": 0,
            "apiServer": {"host": "127.0.0.1", "port": str(self.plane.port)},
            "hostPaths": dict.fromkeys(("run", "munge", "slurm"), str(self.dir)),
            "extraVolumes": [{"name": n, "hostPath": {"path": p}} for n, p in named.items()],
            "extraVolumeMounts": [{"name": n, "mountPath": p} for n, p in named.items()],
            "config": {
                "cluster": "test",
                "partition": "kube",
                "nodes": {"manage": True},
                "identity": {"rules": self.agent.rules},
                "log_level": "debug",
            },
        }
        helm(self, "install", "slurm-kube", CHART, values={"agent": values})
        _place(self)
        self.sync_nodes(self.names)


if __name__ == "__main__":
    run(lambda build: AgentPodTestbed(build, kwok=2))
