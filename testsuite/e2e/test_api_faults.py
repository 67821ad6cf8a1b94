#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers that answer wrongly, late, twice, in the wrong order or not at all. A proxy in front of
the real API server and the real slurmctld applies such faults to chosen requests. Nevertheless each
pod runs once, its job gets the true result, and nothing is left behind.
"""
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor, wait

from lib import equal, pod, run, wait_for
from lib.expect import LIVE, job_in_state, uid_of, wait_reason
from lib.fault_testbed import FaultTestbed, named_files, resting_files
from lib.fault_proxy import CANCEL, COMPLETE, SUBMIT, answer
from lib.kube import condition

COUNT = {"pods": 0}


def new_name(kind):
    COUNT["pods"] += 1
    return f"{kind}-{COUNT['pods']}"


class Pod:
    """The life of one pod under a fault: created, bound by the agent, run and ended by the test."""

    def __init__(self, bed, kind):
        self.bed, self.name = bed, new_name(kind)

    def create(self):
        self.pod = self.bed.kube.create(pod(self.name))
        return self

    def run(self):
        self.bed.run_pod(self.name)
        return self

    def cancel(self):
        self.bed.slurm.run("scancel", job_in_state(self.bed, self.pod, "RUNNING")["JobId"])
        return self

    def ends(self):
        """Ends normally: bound once, never disrupted, its only job COMPLETED."""
        self.run()
        self.bed.end_pod(self.name)
        self.only_job("COMPLETED", "0:0")
        assert not condition(
            self.bed.kube.get("Pod", self.name), "DisruptionTarget"
        ), "somebody wanted to delete it"
        self.bed.remove_pod(self.name)

    def is_deleted(self):
        """The pod is deleted, after its job was cancelled."""
        self.bed.stop_pod(self.name)
        self.only_job("CANCELLED", "0:0")

    def only_job(self, *expected):
        self.jobs_end()
        equal(
            [(j["JobState"], j["ExitCode"]) for j in self.bed.slurm.job_of_pod(uid_of(self.pod))],
            [expected],
            f"jobs of {self.name}",
        )

    def jobs_end(self):
        wait_for(
            lambda: not [
                j for j in self.bed.slurm.job_of_pod(uid_of(self.pod)) if j["JobState"] in LIVE
            ],
            f"the jobs of {self.name} to end",
        )

    def posts(self):
        return sum(1 for m, p in self.bed.api.seen if m == "POST" and f"/{self.name}/binding" in p)


def settled(bed):
    """Run after a fault: removes all rules; pod steady still runs, and the agent has recovered and
    has no more open descriptors than before.
    """
    bed.clear()
    bed.others_done()
    bed.steady_goes_on()
    wait_for(lambda: bed.agent.skube("ping")["ready"], "the agent to be ready")

    def holds_no_more():
        files = named_files(bed.agent.daemon.pid)
        assert len(files) <= bed.files + 2, f"{len(files)}, not {bed.files}: {files}"
        return True

    wait_for(holds_no_more, "the agent's descriptors to be as many as before")


def bind_with(bed, do, reply=None, count=1):
    one = Pod(bed, do)
    bed.api.rule(do, "POST", f"/pods/{one.name}/binding", argument=reply, count=count)
    return one.create()


# ---- answers ----


def test_bind_answered_409_and_not_bound(bed):
    """A conflict can have several causes. The agent looks at the pod, sees that it is not bound,
    and binds it at the next attempt.
    """
    one = bind_with(bed, "answer", answer(409, "Conflict"), 2)
    one.ends()
    settled(bed)


def test_bind_answered_409_and_bound(bed):
    """A conflict, but the pod is bound as requested: the agent sends no second binding."""
    one = bind_with(bed, "said", answer(409, "Conflict"))
    one.ends()
    equal(one.posts(), 1, "bindings sent")
    settled(bed)


def test_bind_answered_500_and_bound(bed):
    """The server fails after it has bound the pod."""
    one = bind_with(bed, "said", answer(500, "InternalError"))
    one.ends()
    equal(one.posts(), 1, "bindings sent")
    settled(bed)


def test_bind_answered_503_and_not_bound(bed):
    """More 503 answers than the binding has attempts: the agent tries again later."""
    bind_with(bed, "answer", answer(503, "ServiceUnavailable"), 5).ends()
    settled(bed)


def test_bind_answer_lost(bed):
    """The connection breaks after the server has bound the pod."""
    one = bind_with(bed, "lose")
    one.ends()
    equal(one.posts(), 1, "bindings sent")
    settled(bed)


def test_retry_after_is_obeyed(bed):
    """429 with Retry-After 3: the agent sends that server no request for 3 s, but for its Lease,
    whose loss would cost more.
    """
    one = bind_with(bed, "answer", answer(429, "TooManyRequests", headers=["Retry-After: 3"]))
    wait_for(lambda: one.posts() == 1, "the first binding")
    other = Pod(bed, "other").create()
    wait_for(lambda: one.posts() == 2 and other.posts() == 1, "both to be bound")
    first = bed.api.place("POST", f"/{one.name}/binding")
    end = bed.api.place("POST", "/binding", first + 1) + 1
    sent = zip(bed.api.seen[first:end], bed.api.times[first:end])
    times = [when for (_, path), when in sent if "/leases" not in path]
    silence = max(
        b - a for a, b in zip(times, times[1:])
    )  # requests already under way may still arrive
    assert silence > 2, f"at most {silence:.1f} s without a request: {bed.api.seen[first:]}"
    one.ends()
    other.ends()
    settled(bed)


def test_node_lines_right_after_a_start(bed):
    """The agent is connected, but does not know yet whether it leads: skube waits for it, and then
    prints the lines of all nodes.
    """
    lease = bed.api.rule("before", "GET", "/leases/slurmkubed-slurm")
    bed.agent.restart_without_waiting()
    lease.wait("lease")
    with ThreadPoolExecutor() as pool:
        said = pool.submit(bed.agent.skube_text, "nodes", "--slurm-conf")
        wait([said], 2)
        lease.release()
        equal(said.result(20).count("NodeName="), bed.played, "node lines")
    bed.agent.wait_ready()


def test_delete_answered_500_429_and_503(bed):
    """The three errors come one after the other, each without effect. In the end the pod is
    deleted.
    """
    one = Pod(bed, "delete").create().run()
    for reply in (
        answer(500, "InternalError"),
        answer(429, "TooManyRequests", headers=["Retry-After: 1"]),
        answer(503, "ServiceUnavailable"),
    ):
        bed.api.rule("answer", "DELETE", f"/pods/{one.name}", argument=reply)
    one.cancel().is_deleted()
    settled(bed)


def test_delete_answered_409_and_it_is_our_pod(bed):
    """A conflict does not prove that the pod is another one: the agent looks at the pod, and
    deletes it at the next attempt.
    """
    one = Pod(bed, "delete").create().run()
    bed.api.rule("answer", "DELETE", f"/pods/{one.name}", argument=answer(409, "Conflict"))
    one.cancel().is_deleted()
    settled(bed)


def test_condition_answered_500(bed):
    """The condition DisruptionTarget cannot be written: the agent still deletes the pod of an ended
    job.
    """
    one = Pod(bed, "condition").create().run()
    bed.api.rule(
        "answer",
        "PATCH",
        f"/pods/{one.name}/status",
        argument=answer(500, "InternalError"),
        count=1000,
    )
    one.cancel().is_deleted()
    settled(bed)


def test_condition_is_not_answered(bed):
    """The write of the condition DisruptionTarget hangs in a busy server. The deletion is sent
    after the write, without waiting for its answer; both take effect.
    """
    one = Pod(bed, "condition").create().run()
    rule = bed.api.rule("after", "PATCH", f"/pods/{one.name}/status")
    one.cancel()
    rule.wait("condition")
    wait_for(
        lambda: "deletionTimestamp" in bed.kube.get("Pod", one.name)["metadata"],
        "the pod to be deleted",
    )
    condition_sent, deletion_sent = (
        bed.api.times[bed.api.place(method, f"/pods/{one.name}")] for method in ("PATCH", "DELETE")
    )
    assert (
        deletion_sent - condition_sent < 4.5
    ), "the deletion came when the agent had given up waiting for the answer, after 5 s"
    equal(
        condition(bed.kube.get("Pod", one.name), "DisruptionTarget").get("reason"), "SlurmJobEnded"
    )
    rule.release()
    one.is_deleted()
    settled(bed)


def test_reason_answered_500(bed):
    """The reason why a pod is refused is written again until the write succeeds."""
    name = new_name("reason")
    bed.api.rule(
        "answer", "PATCH", f"/pods/{name}/status", argument=answer(500, "InternalError"), count=2
    )
    bed.kube.create(pod(name, annotations={"slurm-kube.io/misspelt": "1"}))
    wait_reason(bed, name, "SlurmRefused")
    bed.kube.delete("Pod", name)
    settled(bed)


# ---- the watch ----


def of_pod(name, what=lambda o: True):
    return lambda _, o: o["metadata"].get("name") == name and what(o)


def is_bound(o):
    return bool(o["spec"].get("nodeName"))


def is_over(o):
    return o["status"].get("phase") == "Succeeded"


def watched(bed, do, what, count=1):
    one = Pod(bed, do)
    rule = bed.api.event_rule(do, of_pod(one.name, what), count)
    one.create().ends()
    assert rule.met, "the fault did not happen"
    settled(bed)


def test_events_come_twice(bed):
    """Every event of the pod is sent twice."""
    watched(bed, "twice", lambda o: True, 100)


def test_binding_seen_after_the_next_event(bed):
    """Out of order: the watch shows the pod running, then bound; the later event has the older
    state.
    """
    watched(bed, "late", is_bound)


def test_end_seen_before_the_event_ahead_of_it(bed):
    """Out of order at the end: the watch shows the pod as succeeded, then as running. Its job ends,
    and with the true result.
    """
    watched(bed, "late", lambda o: o["status"].get("phase") == "Running")


def test_stream_cut_in_the_middle_of_an_event(bed):
    """At the binding and at the end: half an event is not taken for an event, and nothing
    is lost.
    """
    watched(bed, "cut", is_bound, 2)


def test_watch_expired_410(bed):
    """The server has forgotten the watch's version, and says so in both possible ways. Everything
    is listed again, including changes in between.
    """
    for way in ("status", "event"):
        gone = answer(410, "Expired")
        if way == "event":
            event = (
                json.dumps(
                    {
                        "type": "ERROR",
                        "object": {
                            "kind": "Status",
                            "code": 410,
                            "reason": "Expired",
                            "message": "too old",
                        },
                    }
                ).encode()
                + b"\n"
            )
            gone = (
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
                + event
            )
        rule = bed.api.rule("answer", "GET", "/pods.*watch=1", argument=gone)
        one = Pod(bed, "expired")
        bed.api.cut_all()
        wait_for(lambda r=rule: r.met, "the watch to be taken up again")
        one.create().ends()
    settled(bed)


def test_lists_fail_in_the_middle(bed):
    """At the agent's start each of its first lists is answered with 500, 429 and 503, and one is
    cut off. The agent waits, and acts only on complete lists.
    """
    for reply in (
        answer(500, "InternalError"),
        answer(429, "TooManyRequests", headers=["Retry-After: 1"]),
        answer(503, "ServiceUnavailable"),
    ):
        bed.api.rule("answer", "GET", "/(pods|nodes).*limit=", argument=reply)
    bed.api.rule("lose", "GET", "/(pods|nodes).*limit=")
    bed.agent.restart()
    bed.files = resting_files(bed.agent.daemon.pid)
    Pod(bed, "listed").create().ends()
    settled(bed)


def test_api_server_stalls_for_30_s(bed):
    """The server answers nothing and breaks no connection: bindings are lost, deadlines expire.
    Afterwards everything is done, once.
    """
    bound = Pod(bed, "stall").create().run()
    bed.api.stalled = True
    began = time.monotonic()
    late = [Pod(bed, "stall").create() for _ in range(2)]
    bed.end_pod(bound.name)
    wait_for(lambda: time.monotonic() - began > 30, "30 s", 60)
    bed.steady_goes_on()
    bed.api.stalled = False
    wait_for(
        lambda: not [
            j for j in bed.slurm.job_of_pod(uid_of(bound.pod)) if j["JobState"] != "COMPLETED"
        ],
        "the job of the pod that ended",
    )
    for one in late:
        one.run()
    for one in late:
        one.ends()
    bed.remove_pod(bound.name)
    settled(bed)


# ---- the token ----


def make_token(bed, secret):
    """A token of a service account that is valid as long as the secret exists."""
    space = "/api/v1/namespaces/kube-system"
    made = bed.kube.request("POST", f"{space}/secrets", {"metadata": {"name": secret}})
    bound = {"kind": "Secret", "apiVersion": "v1", "name": secret, "uid": made["metadata"]["uid"]}
    asked = {"spec": {"boundObjectRef": bound, "expirationSeconds": 3600}}
    return bed.kube.request("POST", f"{space}/serviceaccounts/slurm-kube-test/token", asked)[
        "status"
    ]["token"]


def use_token_file(bed, token):
    (bed.dir / "agent.token").write_text(token)
    config = bed.dir / "agent.kubeconfig"
    text = re.sub(
        r"(?m)^( *)token: .*$", rf"\1tokenFile: {bed.dir}/agent.token", config.read_text()
    )
    bed.agent.daemon.stop()
    config.write_text(text)
    bed.agent.daemon.start()
    bed.agent.wait_ready()


def test_token_revoked_and_replaced(bed):
    """The API server answers every request with 401, watches included. Running pods continue; with
    a new token in the file the agent resumes its work.
    """
    role = json.loads(bed.plane.kubectl("get", "clusterrolebinding", "-o", "json", "-l", ""))[
        "items"
    ]
    name = next(r["roleRef"]["name"] for r in role if "slurm" in r["roleRef"]["name"])
    bed.kube.request(
        "POST",
        "/api/v1/namespaces/kube-system/serviceaccounts",
        {"metadata": {"name": "slurm-kube-test"}},
    )
    bed.kube.request(
        "POST",
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        {
            "metadata": {"name": "slurm-kube-test"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": name,
            },
            "subjects": [
                {"kind": "ServiceAccount", "name": "slurm-kube-test", "namespace": "kube-system"}
            ],
        },
    )
    use_token_file(bed, make_token(bed, "first"))
    bed.files = resting_files(bed.agent.daemon.pid)
    one = Pod(bed, "token").create().run()
    bed.kube.request("DELETE", "/api/v1/namespaces/kube-system/secrets/first")
    for _ in range(2):  # a watch opened before the first refusal may still be open
        bed.api.statuses.clear()
        wait_for(
            lambda: bed.api.cut_all() or 401 in bed.api.statuses,
            "the API server to refuse the token",
            every=0.5,
        )
    denied = Pod(bed, "denied").create()
    bed.end_pod(one.name)
    bed.steady_goes_on()
    assert not bed.slurm.job_of_pod(uid_of(denied.pod)), "who told it?"
    (bed.dir / "agent.token").write_text(make_token(bed, "second"))
    denied.ends()
    one.only_job("COMPLETED", "0:0")
    bed.remove_pod(one.name)
    settled(bed)
    bed.agent.restart()
    bed.files = resting_files(bed.agent.daemon.pid)


# ---- slurmctld's answers ----


def fill_nodes(bed):
    block = [Pod(bed, "full") for _ in range(2)]
    for one in block:
        one.pod = bed.kube.create(pod(one.name, cpu=3))
        one.run()
    return block


def empty_nodes(bed, block):
    for one in block:
        bed.end_pod(one.name)
    for one in block:
        bed.remove_pod(one.name)


def test_submission_answer_lost(bed):
    """The job is created and the answer is lost: the pod gets that job and no second one."""
    one = Pod(bed, "submit")
    bed.rpc.rule("lose", SUBMIT, f'"name":"{one.name}"')
    one.create().ends()
    settled(bed)


def test_submission_answer_not_delivered(bed):
    """slurmctld cannot deliver the answer and kills the job that it has created: the pod is queued
    again and runs. The nodes are full, because a job that starts before it is killed would take its
    pod with it.
    """
    block = fill_nodes(bed)
    one = Pod(bed, "reset")
    bed.rpc.rule("reset", SUBMIT, f'"name":"{one.name}"')
    one.pod = bed.kube.create(pod(one.name, cpu=3))
    killed = ("FAILED", "CANCELLED")
    wait_for(
        lambda: [j for j in bed.slurm.job_of_pod(uid_of(one.pod)) if j["JobState"] in killed],
        "slurmctld to kill the job",
    )
    empty_nodes(bed, block)
    one.run()
    bed.end_pod(one.name)
    one.jobs_end()
    states = [j["JobState"] for j in bed.slurm.job_of_pod(uid_of(one.pod))]
    equal(states.count("COMPLETED"), 1, f"of {states}: completed")
    assert set(states) <= {"COMPLETED", *killed}, states
    bed.remove_pod(one.name)
    settled(bed)


def test_complete_answer_lost(bed):
    """The job has ended, but the agent does not know: it repeats the request and is told."""
    bed.rpc.rule("lose", COMPLETE)
    bed.rpc.rule("reset", COMPLETE)
    Pod(bed, "complete").create().ends()
    Pod(bed, "complete").create().ends()
    settled(bed)


def test_cancel_answer_lost(bed):
    """A waiting pod is deleted, and the answer to the cancellation of its job is lost."""
    block = fill_nodes(bed)
    waits = Pod(bed, "cancel")
    waits.pod = bed.kube.create(pod(waits.name, cpu=3))
    job_in_state(bed, waits.pod, "PENDING")
    bed.rpc.rule("lose", CANCEL)
    bed.kube.delete("Pod", waits.name)
    job_in_state(bed, waits.pod, "CANCELLED")
    empty_nodes(bed, block)
    settled(bed)


class Testbed(FaultTestbed):
    def __enter__(self):
        super().__enter__()
        self.files = resting_files(self.agent.daemon.pid)
        return self


if __name__ == "__main__":
    run(
        lambda build: Testbed(
            build, agent_options={"settings": {"limits": {"condition_interval_seconds": 1}}}
        )
    )
