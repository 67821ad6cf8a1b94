#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two Slurm clusters that serve the pods of one Kubernetes cluster, as after a copy of the
controller's machine: one of them acts, and the other one says why it does not. No end of a job in
either harms a pod.
"""
import shutil
import time
import urllib.error
import urllib.request

from lib import Agent, Cluster, Slurm, equal, pod, run, wait_for
from lib.expect import job_in_state, jobs_by_uid, uid_of
from lib.invariants import check_daemons

LEASE = "/apis/coordination.k8s.io/v1/namespaces/slurm-kube/leases/slurmkubed-slurm"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/namespaces/slurm-kube/rolebindings"
EXPIRY = 75  # a lease lives for 40 s, and an agent reads it each 2 s
away = []  # when the first slurmctld was killed and back


class Second(Slurm):
    """A Slurm with the same nodes, beside that of the bed."""

    def __init__(self, bed, name, cluster, first_id):
        directory = bed.dir / name
        directory.mkdir(exist_ok=True)
        super().__init__(bed.slurm.build, directory, bed.base + 10)
        self.cluster_name, self.first = cluster, bed.slurm
        self.number_from(first_id)

    def number_from(self, first_id):
        """For its next start. No number may be that of a job of another slurmctld: a pod that one
        of them bound at the last moment would look as if it had the job of another pod.
        """
        self.extra = [f"FirstJobId={first_id}"]

    def write_conf(self):
        super().write_conf()
        conf = self.dir / "slurm.conf"
        text = conf.read_text().replace("ClusterName=test\n", f"ClusterName={self.cluster_name}\n")
        conf.write_text(text)
        lines = (self.first.dir / "kube-nodes.conf").read_text()
        lines = lines.replace(f"Port={self.first.port + 2}", f"Port={self.port + 2}")
        (self.dir / "kube-nodes.conf").write_text(lines)


class Testbed(Cluster):
    """Cluster with .other (Slurm cluster "other") and .copy (a copy of the first one, with or
    without its jobs), which are started by the cases.
    """

    def __init__(self, build):
        super().__init__(build, kwok=3, native=False)
        settings = {"metrics": {"listen": f"127.0.0.1:{self.base + 13}"}}
        self.other = Second(self, "second", "other", 5000)
        self.copy = Second(self, "copy", "test", 6000)
        for slurm in (self.other, self.copy):
            slurm.agent = Agent(slurm, self.plane, settings=settings)

    def daemons(self):
        more = [d for s in (self.other, self.copy) for d in (s.slurmctld, s.agent.daemon)]
        return super().daemons() + [d for d in more if d.is_wanted]

    def begin(self, slurm):
        """Starts a Slurm and its agent. Returns when its agent is connected with slurmctld."""
        self.stack.callback(slurm.stop)
        self.stack.callback(slurm.agent.stop)
        slurm.start(native=False)
        slurm.agent.start(wait=False)
        wait_for(lambda: slurm.agent.skube_all("ping")["link"], "the link of the second agent")


def _end(slurm):
    slurm.agent.stop()
    slurm.stop()


def _line(agent, name="lease"):
    return next(c for c in agent.skube_all("check")["checks"] if c["name"] == name)


def _waits(agent, *words):
    """Waits until the line lease fails with these words; returns its text."""

    def said():
        line = _line(agent)
        assert not line["ok"] and line["remedy"], line
        assert all(word in line["text"] for word in words), line
        return line["text"]

    return wait_for(said, f"the line lease to say {words}", EXPIRY, 0.5)


def _is_ready(agent):
    return agent.skube_all("ping")["ready"]


def _long(bed, name):
    made = bed.kube.create(pod(name, kwok={"run": "1h"}))
    bed.kube.wait_phase(name, "Running")
    return made


def _unharmed(bed, pods):
    """The pods run as they did, and none is being deleted."""
    for made in pods:
        now = bed.kube.get("Pod", made["metadata"]["name"])
        equal((uid_of(now), now["status"]["phase"]), (uid_of(made), "Running"))
        assert "deletionTimestamp" not in now["metadata"], now["metadata"]


def _cancel_all(slurm):
    """An administrator ends every job there."""
    numbers = [str(n) for n, job in slurm.jobs().items() if job["JobState"] != "COMPLETED"]
    if numbers:
        slurm.run("scancel", *numbers, check=False)
    return numbers


def _finish(bed, slurm, *names):
    """Short pods run and end in that Slurm."""
    for name in names:
        made = bed.kube.create(pod(name, kwok={"run": "50ms"}))
        equal(bed.kube.wait_phase(name, "Succeeded", timeout=90)["metadata"]["uid"], uid_of(made))
        wait_for(
            lambda made=made: [j["JobState"] for j in slurm.job_of_pod(uid_of(made))]
            == ["COMPLETED"],
            f"the job of {name}",
        )


def test_one_agent_holds_the_lease(bed):
    """The lease names the cluster and the host; it is written every ten seconds at most."""
    lease = bed.kube.request("GET", LEASE)
    assert lease["spec"]["holderIdentity"].startswith("test@"), lease
    line = _line(bed.agent)
    assert line["ok"] and "held by Slurm cluster test, slurmctld on" in line["text"], line
    first = int(lease["metadata"]["resourceVersion"])
    since = time.monotonic()
    renewed = lambda: bed.kube.request("GET", LEASE)["spec"]["renewTime"]  # noqa: E731
    times = {renewed()}
    wait_for(lambda: times.add(renewed()) or len(times) == 3, "two renewals")
    assert time.monotonic() - since > 9, "two renewals within 9 s"
    assert first


def test_the_agent_of_another_slurm_stands_aside(bed):
    """It has no job and no binding, and says so in its log, by skube check and by /readyz. What
    ends in its Slurm does not concern the pods.
    """
    bed.steady = [_long(bed, f"steady-{i}") for i in range(3)]
    bed.begin(bed.other)
    text = _waits(bed.other.agent, "Slurm cluster test, slurmctld on", "Slurm cluster other")
    assert not _is_ready(bed.other.agent)
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{bed.base + 13}/readyz", timeout=10)
        raise AssertionError("/readyz is ok")
    except urllib.error.HTTPError as e:
        equal((e.code, e.read().decode()), (503, text + "\n"))
    assert "another Slurm cluster schedules these pods" in bed.other.agent.daemon.log.read_text()
    _finish(bed, bed.slurm, "first-0", "first-1")
    waits = bed.kube.create(pod("waits", annotations={"slurm-kube.io/begin": "now+1hour"}))
    job_in_state(bed, waits, "PENDING")
    why = bed.other.agent.skube_text("why", "default/waits", check=False)
    assert "another Slurm cluster" in why, why
    _cancel_all(bed.other)
    time.sleep(3)  # what must not happen has no event
    _unharmed(bed, bed.steady)
    equal(jobs_by_uid(type("Beside", (), {"slurm": bed.other})), {})
    bed.kube.delete("Pod", "waits")


def test_a_restart_of_the_first_agent_changes_nothing(bed):
    """The first agent goes on at once, and the second one still stands aside."""
    for restart in (bed.agent.kill9, bed.agent.stop):
        restart()
        bed.agent.start()
    bed.slurm.restart()
    wait_for(lambda: _is_ready(bed.agent), "the first agent to be ready")
    _finish(bed, bed.slurm, "again")
    assert not _is_ready(bed.other.agent)
    _unharmed(bed, bed.steady)


def test_an_api_server_that_is_away_changes_nothing(bed):
    """For longer than a lease lives: then the agents are as before."""
    bed.plane.kill9("kube-apiserver")
    time.sleep(45)  # more than the lease lives
    bed.plane.revive("kube-apiserver")
    wait_for(lambda: _is_ready(bed.agent), "the first agent to be ready", 90)
    time.sleep(5)
    assert not _is_ready(bed.other.agent) and _is_ready(bed.agent)
    _finish(bed, bed.slurm, "returned")
    _unharmed(bed, bed.steady)


def test_the_second_takes_over_when_the_first_is_gone(bed):
    """After the lease has expired. The pods that run go on, and get jobs there."""
    away.append((time.time(), time.time()))
    bed.agent.kill9()
    bed.slurm.kill9()
    wait_for(lambda: _is_ready(bed.other.agent), "the second agent to be ready", EXPIRY)
    assert "Slurm cluster other" in _line(bed.other.agent)["text"]
    _finish(bed, bed.other, "second-0", "second-1")
    for made in bed.steady:
        wait_for(
            lambda made=made: [j["JobState"] for j in bed.other.job_of_pod(uid_of(made))]
            == ["RUNNING"],
            "a job in the second Slurm",
        )
    _unharmed(bed, bed.steady)


def test_the_first_stands_aside_when_it_is_back(bed):
    """The end of a job there does not harm the pod."""
    bed.slurm.start_slurmctld()
    away[-1] = (away[-1][0], time.time())
    bed.agent.start(wait=False)
    _waits(bed.agent, "Slurm cluster other", "Slurm cluster test")
    _cancel_all(bed.slurm)
    time.sleep(5)  # what must not happen has no event
    _unharmed(bed, bed.steady)
    _finish(bed, bed.other, "second-2")


def test_the_first_takes_over_again(bed):
    """The second Slurm is taken away for good."""
    _end(bed.other)
    wait_for(lambda: _is_ready(bed.agent), "the first agent to be ready", EXPIRY)
    _finish(bed, bed.slurm, "first-2")
    _unharmed(bed, bed.steady)


def _copied(bed, name):
    """A copy of the controller has been started: the first goes on, and the copy stands aside."""
    bed.begin(bed.copy)
    made = [bed.kube.create(pod(f"{name}-{i}", kwok={"run": "1h"})) for i in range(3)]
    _waits(bed.copy.agent, "two controllers of one Slurm cluster", "took it back")
    assert not _is_ready(bed.copy.agent) and _is_ready(bed.agent)
    for one in made:
        bed.kube.wait_phase(one["metadata"]["name"], "Running")
    everyone = bed.steady + made
    ended = _cancel_all(bed.copy)
    time.sleep(5)  # what must not happen has no event
    _unharmed(bed, everyone)
    assert bed.kube.request("GET", LEASE)["spec"]["leaseTransitions"] < 20
    for one in made:
        bed.kube.delete("Pod", one["metadata"]["name"])
        bed.kube.wait_gone(one["metadata"]["name"])
    _finish(bed, bed.slurm, f"{name}-end")
    print(f"# {len(ended)} jobs of the copy ended", flush=True)
    return ended


def test_a_copied_controller_stands_aside(bed):
    """It has the same ClusterName, and none of the jobs."""
    _copied(bed, "fresh")


def test_a_restarted_copy_stands_aside(bed):
    """Its slurmctld, while its agent knows that it came second."""
    bed.copy.restart()
    wait_for(lambda: bed.copy.agent.skube_all("ping")["link"], "the link of the copy")
    time.sleep(5)
    _waits(bed.copy.agent, "two controllers of one Slurm cluster")
    assert _is_ready(bed.agent)
    _unharmed(bed, bed.steady)
    _end(bed.copy)


def test_a_controller_copied_with_its_jobs_stands_aside(bed):
    """The machine was copied with StateSaveLocation: the copy has a job of each pod."""
    shutil.rmtree(bed.copy.dir / "state")
    bed.slurm.restart()  # saves its state
    wait_for(lambda: _is_ready(bed.agent), "the first agent to be ready")
    shutil.copytree(bed.dir / "state", bed.copy.dir / "state")
    bed.copy.number_from(7000)
    ended = _copied(bed, "whole")
    assert len(ended) >= len(bed.steady), ended
    _end(bed.copy)
    wait_for(lambda: _is_ready(bed.agent), "the first agent to be ready")
    _unharmed(bed, bed.steady)
    check_daemons(bed)


def test_without_the_right_all_goes_on(bed):
    """The rights in Kubernetes are those of an older release."""
    kept = bed.kube.request("GET", f"{BINDINGS}/slurm-kube-lease")
    bed.kube.request("DELETE", f"{BINDINGS}/slurm-kube-lease")
    _waits(bed.agent, "forbidden", "would not be noticed")
    bed.agent.restart()
    _finish(bed, bed.slurm, "no-right")
    said = bed.agent.daemon.log.read_text().count("would not be noticed")
    assert 1 <= said <= 3, f"{said} lines"
    kept["metadata"] = {"name": kept["metadata"]["name"]}
    bed.kube.request("POST", BINDINGS, kept)
    wait_for(lambda: _line(bed.agent)["ok"], "the line lease to be ok", 60, 0.5)
    _unharmed(bed, bed.steady)


if __name__ == "__main__":
    run(Testbed, forgets=away)
