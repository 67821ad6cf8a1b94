#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Several pods with one Slurm job, and faults: a daemon is killed between the bindings, during the
submission or at the end; Slurm loses the job, a node is lost, users hold and cancel. Each rank runs
once, running pods are left alone, and there is one job at a time.

The test plays the Job's controller as well as the kubelets: four pods of two CPUs, three nodes of
four.
"""
import contextlib
import time

from lib import equal, pod, run, wait_for
from lib.expect import LIVE, disruption, uid_of
from lib.fault_testbed import FaultTestbed
from lib.fault_proxy import COMPLETE, SUBMIT, answer
from lib.kube import condition
from lib.kubelets import not_ready
from lib.manifests import job
from lib.restore import Restore

SLURM_AWAY = []  # (from, until)
INDEX = "batch.kubernetes.io/job-completion-index"


class Gang:
    """An Indexed Job and its pods NAME-0, NAME-1, ..."""

    def __init__(self, bed, name, size=4, cpu=2):
        self.bed, self.name, self.size, self.cpu = bed, name, size, cpu
        self.owner = bed.kube.create(job(name, size, indexed=True, cpu=cpu))
        self.names = [f"{name}-{i}" for i in range(size)]
        for i in range(size):
            self.make(i)

    def make(self, index, suffix=""):
        """Creates one pod, as the Job's controller does."""
        made = pod(f"{self.name}-{index}{suffix}", cpu=self.cpu)
        made["metadata"]["labels"] = {INDEX: str(index)}
        made["metadata"]["ownerReferences"] = [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": self.name,
                "uid": uid_of(self.owner),
                "controller": True,
            }
        ]
        return self.bed.kube.create(made)

    def pods(self):
        return [self.bed.kube.get("Pod", name) for name in self.names]

    def play(self):
        """Waits until all pods are bound, and runs their containers."""
        for name in self.names:
            self.bed.run_pod(name)
        return self

    def places(self):
        """The node of each rank."""
        ranks = {
            int(p["metadata"]["annotations"]["allocation.slurm-kube.io/rank"]): p["spec"][
                "nodeName"
            ]
            for p in self.pods()
        }
        equal(sorted(ranks), list(range(self.size)), "ranks")
        return ranks

    def jobs(self):
        return self.bed.slurm.job_of_pod(uid_of(self.owner))

    def the_job(self, *states):
        """Waits until its only live job is in one of these states; returns it."""

        def look():
            live = [j for j in self.jobs() if j["JobState"] in LIVE]
            assert len(live) == 1 and (
                not states or live[0]["JobState"] in states
            ), f"jobs of {self.name}: {[(j['JobId'], j['JobState']) for j in self.jobs()]}"
            return live[0]

        return wait_for(look, f"one job of {self.name} in {states}")

    def succeed(self, slurm_remembers=True):
        for name in self.names:
            self.bed.end_pod(name)
        told = [(j["JobState"], j["ExitCode"]) for j in self.ended()][-1:]
        assert told == [("COMPLETED", "0:0")] or (
            not slurm_remembers and not told
        ), f"jobs of {self.name}: {told}"
        self.remove()

    def ended(self):
        """Waits until none of its jobs is live; returns them."""

        def look():
            jobs = self.jobs()
            assert not [
                j for j in jobs if j["JobState"] in LIVE
            ], f"jobs of {self.name}: {[(j['JobId'], j['JobState']) for j in jobs]}"
            return jobs or [None]

        return [j for j in wait_for(look, f"all jobs of {self.name} to have ended") if j]

    def remove(self):
        for name in self.names:
            self.bed.remove_pod(name)
        self.bed.kube.delete("Job", self.name, propagationPolicy="Background")

    def is_left_alone(self):
        for p in self.pods():
            assert (
                p["status"]["phase"] == "Running"
                and "deletionTimestamp" not in p["metadata"]
                and not condition(p, "DisruptionTarget")
            ), p

    def all_go(self):
        """Its job was ended: every pod is deleted with the reason."""
        for name in self.names:
            equal(disruption(self.bed, name)["reason"], "SlurmJobEnded", f"why {name} goes")
            self.bed.stop_pod(name)
        self.bed.kube.delete("Job", self.name, propagationPolicy="Background")


def hosts_of(bed, job):
    return set(bed.slurm.run("scontrol", "show", "hostnames", job["NodeList"]).split())


@contextlib.contextmanager
def slurm_away():
    since = time.time()
    yield
    SLURM_AWAY.append((since, time.time()))


def kill_agent(bed, window):
    bed.agent.kill9()
    bed.agent.start()
    window.release()


def kill_slurmctld(bed, window):
    bed.slurm.kill9()
    window.drop()
    bed.slurm.start_slurmctld()


def kill_kube_apiserver(bed, window):
    bed.plane.kill9("kube-apiserver")
    window.drop()
    bed.plane.revive("kube-apiserver")


def killed_at_binding(bed, kill, do):
    """Kills while rank 2 is being bound; the other ranks are bound already or will be."""
    window = bed.api.rule(do, "POST", f"/pods/{bed.next_name()}-2/binding")
    gang = Gang(bed, bed.name)
    window.wait("the binding of rank 2")
    kill(bed, window)
    gang.play().places()
    gang.the_job("RUNNING")
    gang.is_left_alone()
    gang.succeed()
    bed.steady_goes_on()


def test_agent_killed_before_one_of_the_bindings(bed):
    killed_at_binding(bed, kill_agent, "before")


def test_agent_killed_after_one_of_the_bindings(bed):
    killed_at_binding(bed, kill_agent, "after")


def test_kube_apiserver_killed_between_the_bindings(bed):
    killed_at_binding(bed, kill_kube_apiserver, "after")


def test_slurmctld_killed_between_the_bindings(bed):
    """slurmctld may not have saved the job: then the running pods get another job on their nodes,
    and the others join them there.
    """
    with slurm_away():
        killed_at_binding(bed, kill_slurmctld, "before")


def killed_at_submission(bed, kill):
    window = bed.rpc.rule("after", SUBMIT, f'"name":"{bed.next_name()}"')
    gang = Gang(bed, bed.name)
    window.wait("the answer to the submission")
    kill(bed, window)
    gang.play().places()
    gang.succeed(
        slurm_remembers=kill is not kill_slurmctld
    )  # pods may have ended before the agent noticed the loss
    return gang.ended()


def test_agent_killed_submission_of_a_gang_not_answered(bed):
    equal([j["JobState"] for j in killed_at_submission(bed, kill_agent)], ["COMPLETED"])


def test_slurmctld_killed_submission_of_a_gang_not_answered(bed):
    with slurm_away():
        killed_at_submission(bed, kill_slurmctld)


def test_agent_killed_complete_of_a_gang_not_answered(bed):
    """The last rank has ended, and the agent is killed before it knows that Slurm has ended the
    job.
    """
    gang = Gang(bed, bed.next_name()).play()
    window = bed.rpc.rule("after", COMPLETE)
    for name in gang.names:
        bed.end_pod(name)
    window.wait("the answer to complete")
    kill_agent(bed, window)
    equal([(j["JobState"], j["ExitCode"]) for j in gang.ended()], [("COMPLETED", "0:0")])
    gang.remove()


def test_agent_killed_while_the_pods_of_a_cancelled_gang_go(bed):
    gang = Gang(bed, bed.next_name()).play()
    window = bed.api.rule("before", "DELETE", f"/pods/{gang.names[1]}")
    bed.slurm.run("scancel", gang.the_job("RUNNING")["JobId"])
    window.wait("the deletion of rank 1")
    for (
        name
    ) in (
        gang.names
    ):  # a successor would not repeat a condition for a pod that is already being deleted
        disruption(bed, name)
    kill_agent(bed, window)
    gang.all_go()
    equal([j["JobState"] for j in gang.ended()], ["CANCELLED"])


def test_gang_gets_its_job_again_on_its_nodes(bed):
    """slurmctld restarts without the job: ten seconds later there is another one, on exactly the
    nodes where the pods run.
    """
    old = Restore(bed, SLURM_AWAY)
    gang = Gang(bed, bed.next_name()).play()
    places = gang.places()
    with old:
        equal(gang.jobs(), [], "jobs after the restore")
    again = gang.the_job("RUNNING")
    equal(hosts_of(bed, again), set(places.values()), "nodes of the second job")
    gang.is_left_alone()
    equal(gang.places(), places)
    gang.succeed()


def test_gang_with_ended_ranks_gets_its_job_again(bed):
    """Two of four ranks have ended when Slurm loses the job: the others are not delayed, and the
    result is that of all.
    """
    old = Restore(bed, SLURM_AWAY)
    gang = Gang(bed, bed.next_name()).play()
    for name in gang.names[:2]:
        bed.end_pod(name)
    with old:
        equal(gang.jobs(), [], "jobs after the restore")
    gang.the_job("RUNNING")
    for name in gang.names[2:]:
        bed.end_pod(name)
    equal([(j["JobState"], j["ExitCode"]) for j in gang.ended()], [("COMPLETED", "0:0")])
    gang.remove()


def test_half_bound_gang_gets_all_nodes_of_its_job_again(bed):
    """Slurm loses the job while pods cannot be bound to one of its nodes. The other nodes are too
    small for all pods: the second job must include that node, too, or it would never start.
    """
    old = Restore(bed, SLURM_AWAY)
    closed = next(
        name for name in bed.names if name != bed.kube.get("Pod", "steady")["spec"]["nodeName"]
    )
    bed.api.rule(
        "answer",
        "POST",
        f"/pods/{bed.next_name()}-[0-3]/binding",
        body=f'"{closed}"',
        argument=answer(503, "ServiceUnavailable"),
        count=1000,
    )
    gang = Gang(bed, bed.name)
    bed.kube.wait(
        lambda: sum(bool(p["spec"].get("nodeName")) for p in gang.pods()) >= 2,
        "two pods to be bound",
    )
    nodes = hosts_of(bed, gang.the_job("RUNNING"))
    assert closed in nodes, f"{closed} is not of the job's nodes, {nodes}"
    with old:
        equal(gang.jobs(), [], "jobs after the restore")
    equal(hosts_of(bed, gang.the_job("RUNNING")), nodes, "nodes of the second job")
    bed.api.clear()
    gang.play().places()
    gang.is_left_alone()
    gang.succeed()


def test_waiting_gang_that_slurm_lost_is_queued_again(bed):
    """None of its pods runs: the gang waits under another job number, and starts as a whole."""
    first = Gang(bed, bed.next_name()).play()
    old = Restore(bed, SLURM_AWAY)
    second = Gang(bed, bed.next_name())
    second.the_job("PENDING")
    with old:
        equal(second.jobs(), [], "jobs after the restore")
    second.the_job("PENDING")
    equal([p["spec"].get("nodeName") for p in second.pods()], [None] * 4)
    first.succeed()
    second.play().places()
    second.succeed()


def test_lost_node_ends_the_whole_gang(bed):
    """One of its nodes is lost: NODE_FAIL. The pods on the other node are deleted, too, because a
    gang runs as a whole or not at all.
    """
    gang = Gang(bed, bed.next_name()).play()
    lost = next(
        node
        for node in gang.places().values()
        if node != bed.kube.get("Pod", "steady")["spec"]["nodeName"]
    )
    not_ready(bed, lost)
    bed.slurm.wait_job(int(gang.jobs()[0]["JobId"]), "NODE_FAIL", timeout=60)
    gang.all_go()
    bed.kube.patch(
        "Node",
        lost,
        {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}},
        "status",
    )
    wait_for(lambda: "DOWN" not in bed.slurm.node(lost)["State"], f"{lost} to be in service again")
    equal([j["JobState"] for j in gang.ended()], ["NODE_FAIL"])


def test_held_gang_says_so_and_starts_when_released(bed):
    first = Gang(bed, bed.next_name()).play()
    second = Gang(bed, bed.next_name())
    number = second.the_job("PENDING")["JobId"]
    bed.slurm.run("scontrol", "hold", number)
    first.succeed()
    bed.kube.wait(
        lambda: any("Held" in str(p["status"].get("conditions")) for p in second.pods()),
        "a pod to say that its job is held",
    )
    equal([p["spec"].get("nodeName") for p in second.pods()], [None] * 4)
    bed.slurm.run("scontrol", "release", number)
    second.play().places()
    second.succeed()


def test_agent_that_does_not_see_the_pods(bed):
    """The agent has a wrong scheduler_name: the job continues, and the log gives the reason."""
    gang = Gang(bed, bed.next_name()).play()
    number = gang.the_job("RUNNING")["JobId"]
    bed.agent.settings["scheduler_name"] = "typo"
    bed.agent.restart()
    log = bed.agent.dir / "log/slurmkubed.out"
    told = f"gang=default/{gang.name} has pods that this agent does not see"
    wait_for(lambda: told in log.read_text(errors="replace"), "the log to tell")
    equal(gang.the_job("RUNNING")["JobId"], number)
    del bed.agent.settings["scheduler_name"]
    bed.agent.restart()
    gang.is_left_alone()
    gang.succeed()


def test_scancel_of_a_waiting_gang(bed):
    """All its pods are deleted; none was ever bound."""
    first = Gang(bed, bed.next_name()).play()
    second = Gang(bed, bed.next_name())
    bed.slurm.run("scancel", second.the_job("PENDING")["JobId"])
    for name in second.names:
        bed.kube.wait_gone(name)
    equal([j["JobState"] for j in second.ended()], ["CANCELLED"])
    equal(
        [
            p
            for name in second.names
            for _, _, p in bed.kube.events_of(name)
            if p["spec"].get("nodeName")
        ],
        [],
    )
    bed.kube.delete("Job", second.name, propagationPolicy="Background")
    first.succeed()


def test_the_steady_pod_goes_on(bed):
    """Pod steady was not affected, and no other job is left."""
    bed.others_done()
    bed.steady_goes_on(same_job=False)


class Testbed(FaultTestbed):
    cases = 0

    def next_name(self):
        self.cases += 1
        self.name = f"gang{self.cases}"
        return self.name


if __name__ == "__main__":
    run(
        lambda build: Testbed(
            build,
            nodes=3,
            agent_options={
                "settings": {
                    "limits": {"condition_interval_seconds": 1},
                    "nodes": {"manage": True, "not_ready_after": 1},
                }
            },
        ),
        forgets=SLURM_AWAY,
    )
