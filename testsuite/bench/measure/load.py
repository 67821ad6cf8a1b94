# SPDX-License-Identifier: GPL-2.0-or-later
"""Creates, binds and deletes pods in bulk. The program testsuite/bench/load sends the requests, so
that Python does not slow down the measurement.
"""
import json
import subprocess

from lib.manifests import pod

PODS = "/api/v1/namespaces/default/pods"


class Load:
    """program: testsuite/bench/load of a build. All requests are an administrator's, whom the API
    server does not throttle.
    """

    def __init__(self, program, plane):
        self.program, self.plane = program, plane

    def send(self, lines, in_flight=32, check=True):
        """lines: (method, path, body as an object). Returns the output of load."""
        text = "".join(
            f"{method}\t{path}\t{json.dumps(body, separators=(',', ':')) if body else ''}\n"
            for method, path, body in lines
        )
        done = subprocess.run(
            [str(self.program), str(self.plane.kubeconfig("admin")), str(in_flight)],
            input=text,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"load: {done.stderr.strip()}")
        told = json.loads(done.stdout)
        if check and told["refusal"]:
            raise RuntimeError(f"load: {told['statuses']}: {told['refusal']}")
        return told

    def create(self, prefix, count, scheduler="slurm", **options):
        """Creates pods PREFIX-0 and so on; options as for lib.manifests.pod."""
        return self.send(
            [
                ("POST", PODS, pod(f"{prefix}-{i}", scheduler=scheduler, **options))
                for i in range(count)
            ]
        )

    def bind(self, pods, nodes, in_flight):
        """Binds the pods, as listed, to the nodes in turn, with the same annotations as the agent's
        bindings.
        """
        return self.send(
            [
                (
                    "POST",
                    f"{PODS}/{p['metadata']['name']}/binding",
                    binding(p, nodes[i % len(nodes)], i),
                )
                for i, p in enumerate(pods)
            ],
            in_flight,
        )

    def delete(self, names):
        """Deletes without grace period. Pods that are gone already are no error."""
        body = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
        return self.send([("DELETE", f"{PODS}/{name}", body) for name in names], check=False)


def binding(a_pod, node, number):
    key = "allocation.slurm-kube.io/"
    annotations = {
        key + "job-id": str(number),
        key + "cluster": "test",
        key + "node": node,
        key + "nodes": node,
        key + "cpus": "1",
        key + "attempt": "0",
        key + "partition": "kube",
        key + "account": "",
    }
    metadata = {
        "name": a_pod["metadata"]["name"],
        "namespace": "default",
        "uid": a_pod["metadata"]["uid"],
        "annotations": annotations,
    }
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": metadata,
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
