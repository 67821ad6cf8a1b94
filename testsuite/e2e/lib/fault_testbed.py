# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster whose agent reaches its two servers through proxies that inject faults
(fault_proxy.py); all other connections are direct.

The test itself takes the kubelets' part, because after a restart of the API server kwok resumes
only after half a minute.
"""
import os
import time

from . import kubelets
from .cluster import Cluster
from .expect import LIVE, uid_of
from .fault_proxy import ApiProxy, RpcProxy
from .manifests import kwok_node, pod
from .waiting import LIMIT, wait_for


class FaultTestbed(Cluster):
    """Cluster with .api and .rpc (the proxies) and a pod "steady" that runs from the first to the
    last test and must not be affected.
    """

    def __init__(self, build, nodes=2, cpus=4, **options):
        super().__init__(
            build, cpus=cpus, native=False, plane_env={"KCM": "0", "KWOK": "0"}, **options
        )
        self.played = nodes

    def start_kubernetes(self):
        super().start_kubernetes()
        wait_for(lambda: self.kube.get("Namespace", "default"), "the namespace default")
        self.kube.request(
            "POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}}
        )  # there is no controller manager that does it
        self.names = [f"node-{i}" for i in range(self.played)]
        for name in self.names:
            node = kwok_node(name, *self.size)
            del node["metadata"]["annotations"]
            self.kube.create(node)
            self.kube.patch(
                "Node",
                name,
                {
                    "status": {
                        "conditions": [
                            {"type": "Ready", "status": "True", "reason": "KubeletReady"}
                        ]
                    }
                },
                "status",
            )

    def run_pod(self, name):
        """Does what the kubelet does with a bound pod; returns the pod."""
        self.kube.wait(
            lambda: self.kube.now["Pod"]
            .get(f"default/{name}", {"spec": {}})["spec"]
            .get("nodeName"),
            f"{name} to be bound",
            60,
        )
        return self.kube.patch("Pod", name, {"status": {"phase": "Running"}}, "status")

    def end_pod(self, name, code=0):
        """The pod's container exits with that code."""
        kubelets.end_pod(self, name, code)

    def stop_pod(self, name, timeout=60):
        """Does what the kubelet does when a running pod is deleted."""
        self.kube.wait(
            lambda: "deletionTimestamp"
            in self.kube.now["Pod"].get(f"default/{name}", {"metadata": {"deletionTimestamp": 0}})[
                "metadata"
            ],
            f"{name} to be deleted",
            timeout,
        )
        self.end_pod(name, 143)
        self.remove_pod(name)

    def remove_pod(self, name):
        self.kube.delete("Pod", name, gracePeriodSeconds=0)
        self.kube.wait_gone(name)

    def start_agent(self):
        self.api, self.rpc = ApiProxy(self.plane, self.base + 8), RpcProxy(
            self.slurm.port, self.base + 9
        )
        self.stack.callback(self.api.stop)
        self.stack.callback(self.rpc.stop)
        text = (
            (self.dir / "slurm.conf")
            .read_text()
            .replace(f"SlurmctldPort={self.slurm.port}\n", f"SlurmctldPort={self.base + 9}\n")
        )
        (self.dir / "agent-slurm.conf").write_text(text)
        self.agent.settings.setdefault("slurm", {})["conf"] = f"{self.dir}/agent-slurm.conf"
        self.agent.api_port = self.api.port
        super().start_agent()
        self.start_steady()

    def start_steady(self):
        self.steady = self.kube.create(pod("steady"))
        self.run_pod("steady")
        self.steady_job = self.slurm.job_of_pod(uid_of(self.steady))[0]["JobId"]
        self.wait_saved()

    def wait_saved(self):
        """Waits until slurmctld has saved all present jobs, which it does at once or after some
        seconds when a job has changed.
        """
        now, saved = time.time(), self.dir / "state/job_state"
        self.slurm.run("scontrol", "update", f"jobid={self.steady_job}", f"comment={now}")
        wait_for(lambda: saved.stat().st_mtime > now - 0.02, "slurmctld to save its jobs")

    def steady_goes_on(self, same_job=True):
        """Fails if pod steady was deleted or has no running job; the job must be the original one,
        unless Slurm has forgotten it.
        """
        now = self.kube.get("Pod", "steady")
        assert uid_of(now) == uid_of(self.steady) and now["status"]["phase"] == "Running", now[
            "status"
        ]
        assert "deletionTimestamp" not in now["metadata"], "somebody deleted the pod steady"

        def has_its_job():
            live = [j["JobId"] for j in self.slurm.job_of_pod(uid_of(now)) if j["JobState"] in LIVE]
            assert len(live) == 1 and (
                not same_job or live == [self.steady_job]
            ), f"jobs of steady: {live}, at first {self.steady_job}"
            return True

        wait_for(has_its_job, "the one job of steady")

    def sweep(self, keep=("steady",)):
        if hasattr(self, "api"):
            self.clear()
        super().sweep(keep)

    def clear(self):
        self.api.clear()
        self.rpc.clear()

    def others_done(self, timeout=LIMIT):
        """Waits until steady's job is the only live one in Slurm."""

        def left():
            live = {
                n: j["JobState"]
                for n, j in self.slurm.jobs().items()
                if j["JobState"] in LIVE
                and f'"uid":"{uid_of(self.steady)}"' not in j.get("AdminComment", "")
            }
            assert not live, f"live jobs: {live}"
            return True

        wait_for(left, "all jobs but steady's to have ended", timeout, 0.1)


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


STATES = {"01": "open", "06": "ended", "07": "ended", "08": "ended by its peer", "0A": "listens"}


def named_files(pid):
    """What each descriptor is; for TCP sockets their state and the peer's port."""
    sockets = {}
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table.readlines()[1:]]
    for row in rows:
        peer, state, inode = row[2], row[3], row[9]
        sockets[f"socket:[{inode}]"] = (
            f"TCP to {int(peer.split(':')[1], 16)} {STATES.get(state, state)}"
        )
    links = [os.readlink(f"/proc/{pid}/fd/{n}") for n in os.listdir(f"/proc/{pid}/fd")]
    return sorted(sockets.get(link, link) for link in links)


def resting_files(pid):
    """The number of open descriptors when it has not changed for a second, so that watches are open
    again and requests answered.
    """
    seen, since = -1, 0.0

    def same():
        nonlocal seen, since
        now = open_files(pid)
        if now != seen:
            seen, since = now, time.monotonic()
        return time.monotonic() - since > 1

    wait_for(same, "the number of descriptors to stay the same")
    return seen
