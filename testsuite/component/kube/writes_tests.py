# SPDX-License-Identifier: GPL-2.0-or-later
"""Bindings, deletions, conditions and events, and how the agent learns whether they succeeded."""
from testbed import PODS, wait_for
from registry import contains, equal, test

CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"


@test
def a_binding_carries_annotations_and_is_idempotent(bed):
    probe = bed.probe(bed.plane.path("agent.kubeconfig"))
    uid = bed.api.pod("bind-1")["metadata"]["uid"]
    equal(probe("bind", name="bind-1", uid=uid, node="n1", job="7")["ok"], True)
    pod = bed.api.get("bind-1")
    equal(
        (
            pod["spec"]["nodeName"],
            pod["metadata"]["annotations"]["allocation.slurm-kube.io/job-id"],
        ),
        ("n1", "7"),
    )
    equal(pod["metadata"]["labels"]["slurm-kube.test/label"], "yes")
    equal(probe("bind", name="bind-1", uid=uid, node="n1", job="7")["ok"], True)
    other_node = probe("bind", name="bind-1", uid=uid, node="n2", job="7")
    equal(
        (other_node["code"], other_node["what"]),
        ("conflict", "bind pod default/bind-1: it is bound to node 'n1', not to 'n2'"),
    )
    other_job = probe("bind", name="bind-1", uid=uid, node="n1", job="8")
    equal(other_job["code"], "conflict")
    contains(other_job["what"], "by job '7', not by job '8'")


@test
def a_binding_that_cannot_be_says_why(bed):
    probe = bed.probe(bed.plane.path("agent.kubeconfig"))
    bed.api.pod("bind-2")
    equal(probe("bind", name="bind-2", uid="someone-else", node="n1")["code"], "not_found")
    equal(probe("bind", name="absent", uid="u", node="n1")["code"], "not_found")
    gated = bed.api.pod("bind-3", schedulingGates=[{"name": "example.org/wait"}])["metadata"]["uid"]
    contains(probe("bind", name="bind-3", uid=gated, node="n1")["what"], "it has scheduling gates")
    leaving = bed.api.pod("bind-4", metadata={"finalizers": ["example.org/keep"]})["metadata"][
        "uid"
    ]
    bed.api.delete("bind-4")
    answer = probe("bind", name="bind-4", uid=leaving, node="n1")
    equal(
        (answer["code"], answer["what"]),
        ("conflict", "bind pod default/bind-4: it is being deleted"),
    )
    bed.api(
        "PATCH",
        PODS + "/bind-4",
        {"metadata": {"finalizers": None}},
        "application/merge-patch+json",
    )
    uid = bed.api.get("bind-2")["metadata"]["uid"]
    equal(
        bed.probe(bed.plane.path("alice.kubeconfig"))("bind", name="bind-2", uid=uid, node="n1")[
            "code"
        ],
        "denied",
    )


@test
def a_terminal_pod_is_bound_all_the_same(bed):
    uid = bed.api.pod("bind-5")["metadata"]["uid"]
    bed.api(
        "PATCH",
        PODS + "/bind-5/status",
        {"status": {"phase": "Failed"}},
        "application/merge-patch+json",
    )
    equal(bed.probe()("bind", name="bind-5", uid=uid, node="n1")["ok"], True)


@test
def a_lost_answer_of_a_binding_is_found_out(bed):
    probe = bed.probe(bed.proxied)
    uid = bed.api.pod("bind-6")["metadata"]["uid"]
    bed.proxy.rule("lose", "/binding", "POST")
    equal(probe("bind", name="bind-6", uid=uid, node="n1")["ok"], True)
    equal(probe("counters")["requests"], 2)
    equal(bed.api.get("bind-6")["spec"]["nodeName"], "n1")


@test
def a_failing_server_is_asked_three_times(bed):
    probe = bed.probe(bed.proxied)
    failure = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    uid = bed.api.pod("bind-7")["metadata"]["uid"]
    bed.proxy.rule("answer", "/binding", "POST", count=2, argument=failure)
    equal(probe("bind", name="bind-7", uid=uid, node="n1")["ok"], True)
    uid = bed.api.pod("bind-8")["metadata"]["uid"]
    bed.proxy.rule("answer", "/binding", "POST", count=3, argument=failure)
    equal(probe("bind", name="bind-8", uid=uid, node="n1")["code"], "again")
    bed.proxy.rule("answer", "/binding", "POST", count=99, argument=failure.replace("500", "503"))
    equal(probe("bind", name="bind-8", uid=uid, node="n1")["code"], "again")
    equal("nodeName" in bed.api.get("bind-8")["spec"], False)


@test
def a_delete_never_hits_another_pod(bed):
    probe = bed.probe(bed.plane.path("agent.kubeconfig"))
    uid = bed.api.pod("delete-1")["metadata"]["uid"]
    equal(probe("delete", name="delete-1", uid="00000000-0000-0000-0000-000000000000")["ok"], True)
    equal(bed.api.get("delete-1")["metadata"]["uid"], uid)
    equal(probe("delete", name="delete-1", uid=uid)["ok"], True)
    equal(bed.api.get("delete-1")["code"], 404)
    equal(probe("delete", name="delete-1", uid=uid)["ok"], True)
    equal(
        bed.probe(bed.plane.kubeconfig("nobody.yaml", "token: wrong"))("delete", name="x", uid="y")[
            "code"
        ],
        "denied",
    )


@test
def a_grace_period_is_passed_on(bed):
    probe = bed.probe()
    uid = bed.api.pod("delete-2")["metadata"]["uid"]
    equal(probe("bind", name="delete-2", uid=uid, node="n1")["ok"], True)
    equal(probe("delete", name="delete-2", uid=uid, grace=77)["ok"], True)
    equal(bed.api.get("delete-2")["metadata"]["deletionGracePeriodSeconds"], 77)


@test
def conditions_are_merged_by_type(bed):
    probe = bed.probe(bed.plane.path("agent.kubeconfig"))
    uid = bed.api.pod("conditions-1")["metadata"]["uid"]
    bed.api(
        "PATCH",
        PODS + "/conditions-1/status",
        {"status": {"conditions": [{"type": "Other", "status": "True"}]}},
        "application/strategic-merge-patch+json",
    )
    equal(probe("conditions", name="conditions-1", uid=uid, message="Resources")["ok"], True)
    equal(probe("conditions", name="conditions-1", uid=uid, message="Priority")["ok"], True)
    found = {c["type"]: c for c in bed.api.get("conditions-1")["status"]["conditions"]}
    equal(sorted(found), ["DisruptionTarget", "Other", "PodScheduled"])
    equal(
        (found["PodScheduled"]["status"], found["PodScheduled"]["message"]), ("False", "Priority")
    )
    equal(
        (found["DisruptionTarget"]["status"], found["DisruptionTarget"]["lastTransitionTime"]),
        ("True", "2026-11-21T03:08:57Z"),
    )
    equal(
        probe("conditions", name="conditions-1", uid="00000000-0000-0000-0000-000000000000")[
            "code"
        ],
        "not_found",
    )
    equal(probe("conditions", name="absent", uid=uid)["code"], "not_found")


def _with_devices(bed, name):
    amounts = {"cpu": "100m", "example.com/gpu": "1"}
    container = {
        "name": "main",
        "image": "none",
        "resources": {"requests": amounts, "limits": amounts},
    }
    return bed.api.pod(name, containers=[container])["metadata"]["uid"]


@test
def a_claim_for_an_extended_resource_is_made_once(bed):
    probe = bed.probe()
    uid = _with_devices(bed, "extended-1")
    wanted = {"claim": "extended-1-extended-resources-x", "name": "extended-1", "uid": uid}
    equal(probe("create_claim", **wanted)["ok"], True)
    equal(probe("create_claim", **wanted)["code"], "conflict")
    (made,) = bed.api("GET", CLAIMS)[1]["items"]
    metadata = made["metadata"]
    equal(metadata["name"], wanted["claim"])
    equal(metadata["generateName"], "extended-1-extended-resources-")
    equal(metadata["annotations"], {"resource.kubernetes.io/extended-resource-claim": "true"})
    (owner,) = metadata["ownerReferences"]
    equal((owner["kind"], owner["uid"], owner["controller"]), ("Pod", uid, True))
    exactly = {"allocationMode": "ExactCount", "count": 1, "deviceClassName": "gpu"}
    equal(
        made["spec"]["devices"]["requests"],
        [{"name": "container-0-request-1", "exactly": exactly}],
    )
    unnamed = probe("create_claim", claim="Not a name", name="extended-1", uid=uid)
    equal(unnamed["code"], "invalid")


@test
def the_status_of_a_pod_names_its_claim(bed):
    probe = bed.probe()
    uid = _with_devices(bed, "extended-2")
    equal(probe("map_requests", claim="c", name="extended-2", uid="other")["ok"], False)
    for _ in range(2):
        equal(probe("map_requests", claim="c", name="extended-2", uid=uid)["ok"], True)
    status = bed.api.get("extended-2")["status"]
    mapping = {
        "containerName": "main",
        "resourceName": "example.com/gpu",
        "requestName": "container-0-request-1",
    }
    equal(
        status["extendedResourceClaimStatus"],
        {"resourceClaimName": "c", "requestMappings": [mapping]},
    )
    equal(status["phase"], "Pending")


@test
def an_event_is_accepted(bed):
    uid = bed.api.pod("event-1")["metadata"]["uid"]
    equal(
        bed.probe(bed.plane.path("agent.kubeconfig"))(
            "event", name="event-1", uid=uid, note="ä" * 2000
        )["ok"],
        True,
    )

    def events():
        items = bed.api("GET", "/apis/events.k8s.io/v1/namespaces/default/events")[1]["items"]
        return [e for e in items if e["regarding"].get("uid") == uid]

    event = wait_for("event", events)[0]
    equal((event["reason"], event["note"], event["type"]), ("SlurmRefused", "ä" * 512, "Warning"))
