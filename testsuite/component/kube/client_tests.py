# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests: one connection, limit, deadlines, Retry-After, sizes, tokens."""
import base64
import json
import os
import subprocess
import time

from testbed import Api, wait_for
from h2_server import H2Server
from registry import contains, equal, test

REQUESTS = 9


@test
def many_requests_share_one_connection_and_keep_the_cap(bed):
    probe = bed.probe()
    answer = probe("get", count=600, path="/api/v1/namespaces/default")
    equal((answer["good"], answer["most_in_flight"]), (600, 32))
    wait_for("one connection", lambda: probe.connections() == 1)
    narrow = bed.probe(bed.direct, "3")
    answer = narrow("get", count=60)
    equal((answer["good"], answer["most_in_flight"]), (60, 3))


@test
def what_can_wait_lets_the_rest_pass(bed):
    probe = bed.probe()
    patient = probe.send("get", count=600, path="/api/v1/namespaces/default", can_wait=True)
    urgent = probe("get", count=60, path="/api/v1/namespaces/default")
    assert (
        urgent["queued"] > 400
    ), f"{urgent['queued']} of 600 patient requests were left when the urgent ones were done"
    equal((urgent["good"], probe.result(patient)["good"]), (60, 600))
    equal(probe("get", count=60, can_wait=True)["most_in_flight"], 4)


@test
def the_lease_does_not_wait_behind_a_backlog(bed):
    """Its requests go before all others, beside a full limit and a full pause of the others."""
    probe = bed.probe(bed.proxied, "2")
    stuck = bed.proxy.rule("hang", "/version", count=2)
    for left in (1, 0):  # libcurl 8.10 and later lets a second transfer sleep until the first's
        probe.send("get", deadline_ms=20_000)  # connection is known not to be HTTP/2
        wait_for("a request that hangs", lambda left=left: stuck.count == left)
    backlog = probe.send("get", count=300, path="/api/v1/namespaces")
    answer = probe("get", path="/api/v1/namespaces/default", urgent=True)
    equal((answer["good"], answer["queued"]), (1, 300))
    equal(probe.result(backlog, 60)["good"], 300)


@test
def a_pause_of_others_is_not_one_of_the_lease(bed):
    probe = bed.probe(bed.proxied)
    bed.proxy.rule(
        "answer",
        "/version",
        argument=(
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3\r\nContent-Length: 0\r\nConnection:"
            " close\r\n\r\n"
        ),
    )
    first = probe.send("get")
    wait_for("throttling", lambda: probe("counters")["throttled"] == 1)
    start = time.monotonic()
    equal(probe("get", path="/api/v1/namespaces/default", urgent=True)["good"], 1)
    took = time.monotonic() - start
    assert took < 2, f"took {took} s"
    equal(probe.result(first)["good"], 1)


@test
def what_is_outdated_is_not_sent(bed):
    probe = bed.probe()
    answer = probe("get", count=60, can_wait=True, outdated=True)
    equal((answer["good"], answer["most_in_flight"], answer["code"]), (0, 0, "conflict"))
    equal(probe("get", count=60, can_wait=True, outdated=False)["good"], 60)
    uid = bed.api.pod("outdated-1")["metadata"]["uid"]
    write = {"name": "outdated-1", "uid": uid, "message": "Resources", "can_wait": True}
    equal(probe("conditions", **write, outdated=True)["code"], "conflict")
    assert not bed.api.get("outdated-1")["status"].get("conditions")
    equal(probe("conditions", **write, outdated=False)["ok"], True)


def all_but_one_wait(bed, sizes, others_move):
    """Of several requests on one connection, each in turn gets a long answer while the others wait:
    that answer must arrive complete. others_move: other requests are answered meanwhile.
    """
    server = H2Server(bed.plane, bed.port_of_h2)
    try:
        probe = bed.probe(bed.plane.kubeconfig("h2.yaml", bed.admin, port=server.port))
        for chosen in range(REQUESTS):
            asked = [probe.send("get", deadline_ms=60_000) for _ in range(REQUESTS)]
            wait_for("requests", lambda: len(server.streams) >= REQUESTS)
            streams = server.take()
            server.answer(streams.pop(chosen), *sizes)

            def long_answer(one=asked[chosen]):
                return probe.result(one, 2)

            equal(
                (server.answer_others_meanwhile(long_answer) if others_move else long_answer())[
                    "good"
                ],
                1,
            )
            for stream in streams + server.take():
                server.answer(stream, 2)
            equal([probe.result(one)["good"] for one in asked], [1] * REQUESTS)
    finally:
        server.close()


@test
def an_answer_whose_rest_libcurl_keeps_is_asked_for(bed):
    """libcurl 7.88 keeps the rest of the data read for one transfer until the socket is readable
    again, which never happens here.
    """
    all_but_one_wait(bed, (16000, 16000, 500), others_move=False)


@test
def an_answer_whose_end_libcurl_keeps_is_asked_for(bed):
    """libcurl pauses in the frame that ends the answer, and sees that end only when the next frame
    of any stream arrives. Here none arrives unasked.
    """
    all_but_one_wait(bed, (16000, 5000), others_move=True)


@test
def rights_are_asked_for(bed):
    rights = bed.probe(bed.plane.path("agent.kubeconfig"))("check")["rights"]
    equal(sorted(verb for verb, allowed in rights.items() if not allowed), [])
    equal("create pods/binding" in rights and "create events.events.k8s.io" in rights, True)
    rights = bed.probe(bed.plane.path("alice.kubeconfig"))("check")["rights"]
    equal(
        (rights["list pods"], rights["create pods/binding"], rights["list nodes"]),
        (True, False, False),
    )


@test
def retry_after_holds_all_requests_back(bed):
    probe = bed.probe(bed.proxied)
    bed.proxy.rule(
        "answer",
        "/version",
        argument=(
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection:"
            " close\r\n\r\n"
        ),
    )
    start = time.monotonic()
    first = probe.send("get")
    wait_for("throttling", lambda: probe("counters")["throttled"] == 1)
    second = probe("get", path="/api/v1/namespaces")
    took = time.monotonic() - start
    equal((probe.result(first)["good"], second["good"]), (1, 1))
    assert took > 0.95, f"took {took} s"
    equal(probe("counters")["repeats"], 1)


@test
def a_throttled_request_is_not_repeated_for_ever(bed):
    probe = bed.probe(bed.proxied)
    bed.proxy.rule(
        "answer",
        "/version",
        count=99,
        argument=(
            "HTTP/1.1 503 Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection:"
            " close\r\n\r\n"
        ),
    )
    equal(probe("get")["code"], "again")
    equal(probe("counters")["requests"], 5)


@test
def a_silent_server_costs_the_deadline_and_the_connection(bed):
    probe = bed.probe(bed.proxied)
    bed.proxy.rule("hang", "/version")
    start = time.monotonic()
    answer = probe("get", deadline_ms=400)
    equal(answer["code"], "io")
    assert time.monotonic() - start < 4.5  # the default deadline of requests is 5 s
    equal(probe("get")["good"], 1)
    counters = probe("counters")
    equal((counters["timeouts"], counters["reconnects"], counters["failures"]), (1, 1, 1))


@test
def what_flies_on_a_given_up_connection_flies_again(bed):
    probe = bed.probe(bed.proxied)
    silence = bed.proxy.rule("hang", "/version", count=2)
    late = probe.send("get", deadline_ms=20_000)
    wait_for("the first request to arrive", lambda: silence.count == 1)
    equal(probe("get", deadline_ms=400)["code"], "io")
    equal(probe.result(late, 15)["good"], 1)


@test
def a_request_that_waits_for_a_connection_has_its_deadline_too(bed):
    probe = bed.probe(bed.proxied)
    bed.proxy.rule("hang", "/version", count=3)
    probe.send("get", deadline_ms=20_000)
    began = time.time()
    assert probe("get", deadline_ms=400)["code"] in ("io", "again")
    assert time.time() - began < 15


@test
def a_broken_connection_costs_one_repeat(bed):
    probe = bed.probe(bed.proxied)
    bed.proxy.rule("lose", "/version", count=1)
    equal(probe("get")["good"], 1)
    equal(probe("counters")["repeats"], 1)
    bed.proxy.rule("lose", "/version", count=2)
    equal(probe("get")["code"], "io")


@test
def a_refusal_counts_even_if_its_text_is_cut_off(bed):
    # The API server also closes the connection after a 401.
    probe = bed.probe(bed.proxied)
    bed.proxy.rule(
        "answer",
        "/version",
        argument="HTTP/1.1 403 Forbidden\r\nContent-Length: 500\r\nConnection: close\r\n\r\n{",
    )
    answer = probe("get")
    equal((answer["code"], answer["what"]), ("denied", "HTTP status 403"))


@test
def answers_and_lines_have_limits(bed):
    probe = bed.probe()
    answer = probe("get", path="/openapi/v2", body_limit=100_000)
    equal((answer["good"], answer["code"]), (0, "too_large"))
    equal(probe("stream", path="/api/v1/namespaces?watch=1", limit=100)["code"], "too_large")
    equal(probe("get")["good"], 1)


@test
def streams_that_begin_together_need_no_http_2(bed):
    """The first connection turns out to be HTTP/1.1. The others must not wait for its end."""
    for _ in range(5):
        probe = bed.probe(bed.proxied)
        for _ in range(6):
            probe.send("stream", path="/api/v1/namespaces?watch=1", limit=1 << 20)
        wait_for("a connection for each", lambda p=probe: p.connections() == 6, 10)


@test
def nobody_listening_means_again(bed):
    file = bed.plane.kubeconfig("nobody.yaml", bed.admin, port=bed.plane.port + 8)
    equal(bed.probe(file)("get")["code"], "again")


@test
def a_token_file_is_read_again_after_a_401(bed):
    good = bed.plane.read("tokens/admin")
    bed.plane.write("token", good)
    probe = bed.probe(
        bed.plane.kubeconfig("tokenfile.yaml", "tokenFile: token\n    token: ignored")
    )
    equal(probe("get", path="/api/v1/nodes")["good"], 1)
    tokens = bed.plane.read("tokens.csv")
    bed.plane.write("token", "revoked")
    equal(probe("get", path="/api/v1/nodes")["good"], 1)  # the new token is not read yet
    probe = bed.probe(bed.plane.path("tokenfile.yaml"))
    answer = probe("get", path="/api/v1/nodes")
    equal((answer["good"], answer["code"]), (0, "denied"))
    bed.plane.write("token", good + "\n")
    answer = probe("get", path="/api/v1/nodes", count=20)
    equal(answer["good"], 20)
    counters = probe("counters")
    assert 1 <= counters["repeats"] <= 20, counters
    os.unlink(bed.plane.path("token"))
    equal(probe("get", path="/api/v1/nodes")["good"], 1)
    contains(tokens, good)


@test
def the_expiry_of_a_service_account_token_is_known(bed):
    status, answer = bed.api(
        "POST",
        "/api/v1/namespaces/slurm-kube/serviceaccounts/slurmkubed/token",
        {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 600},
        },
    )
    equal(status, 201)
    bed.plane.write("jwt", answer["status"]["token"])
    probe = bed.probe(bed.plane.kubeconfig("jwt.yaml", "tokenFile: jwt"))
    equal(probe("get", path="/api/v1/pods")["good"], 1)
    assert abs(probe("counters")["token_expires"] - time.time() - 600) < 60


def of_agent(bed, **claims):
    """A token for the agent's account as the API server issues it, signed by its key, with other
    claims.
    """
    _, answer = bed.api(
        "POST",
        "/api/v1/namespaces/slurm-kube/serviceaccounts/slurmkubed/token",
        {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 600},
        },
    )
    head, body, _ = answer["status"]["token"].split(".")
    said = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    now = int(time.time())
    said.update({name: now + seconds for name, seconds in claims.items()})
    text = head + "." + base64.urlsafe_b64encode(json.dumps(said).encode()).decode().rstrip("=")
    signed = subprocess.run(
        ["openssl", "dgst", "-sha256", "-sign", bed.plane.path("pki/sa.key")],
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    return text + "." + base64.urlsafe_b64encode(signed.stdout).decode().rstrip("=")


@test
def expired_and_bogus_tokens_are_told_apart(bed):
    bed.plane.write("jwt", of_agent(bed, iat=-7200, nbf=-7200, exp=-3600))
    probe = bed.probe(bed.plane.kubeconfig("jwt.yaml", "tokenFile: jwt"))
    answer = probe("get", path="/api/v1/pods")
    equal(answer["code"], "denied")
    contains(answer["what"], f"Unauthorized: the token in '{bed.plane.path('jwt')}' expired at 20")
    contains(probe("counters")["credentials_trouble"], "expired at 20")
    bogus = bed.probe(bed.plane.kubeconfig("bogus.yaml", "token: bogus"))
    contains(
        bogus("get", path="/api/v1/pods")["what"],
        "Unauthorized: the token is not one that this API server has issued",
    )
    bogus("watch", name="pods")
    wait_for(
        "the watch to say so",
        lambda: "is not one that this" in bogus("counters", name="pods")["trouble"],
    )


@test
def the_agent_renews_its_token_before_it_expires(bed):
    old = of_agent(bed, iat=-500, nbf=-500, exp=100)
    bed.plane.write("renewed", old)
    probe = bed.probe(bed.plane.kubeconfig("renewed.yaml", "tokenFile: renewed"))
    wait_for("another token in the file", lambda: bed.plane.read("renewed") != old)
    wait_for("its expiry", lambda: probe("counters")["token_expires"] > time.time() + 500)
    equal(probe("get", path="/api/v1/pods")["good"], 1)
    equal(probe("counters")["credentials_trouble"], "")
    # The role covers only this account.
    status, _ = Api(bed.plane, bed.plane.read("renewed"))(
        "POST", "/api/v1/namespaces/default/serviceaccounts/default/token", {"spec": {}}
    )
    equal(status, 403)


@test
def a_kubeconfig_that_changes_is_taken(bed):
    file = bed.plane.kubeconfig("changing.yaml", "token: bogus")
    probe = bed.probe(file)
    equal(probe("get", path="/api/v1/nodes")["good"], 0)
    bed.plane.kubeconfig("changing.yaml", "token: [half")
    wait_for(
        "the mistake to be told", lambda: "not YAML" in probe("counters")["credentials_trouble"]
    )
    bed.plane.kubeconfig("changing.yaml", bed.admin)
    wait_for("the new token", lambda: probe("get", path="/api/v1/nodes")["good"] == 1, 15)
    equal(probe("counters")["credentials_trouble"], "")

    def data(name):
        return base64.b64encode(bed.plane.read(name).encode() + b"\n").decode()

    for user, good in (("kcm", 1), ("admin", 1)):
        bed.plane.kubeconfig(
            "changing.yaml",
            (
                f"client-certificate-data: {data(f'pki/{user}.crt')}\n    client-key-data:"
                f" {data(f'pki/{user}.key')}"
            ),
            cluster=f"certificate-authority-data: {data('pki/ca.crt')}",
        )
        probe("reload")
        equal(probe("get", path="/version")["good"], good)
    equal(
        probe("get", path="/api/v1/secrets")["good"], 1
    )  # the administrator's token, not the controller manager's


@test
def an_authority_that_is_replaced_is_read(bed):
    bed.plane.write("changing-ca.crt", bed.plane.read("pki/admin.crt") + "\n")
    probe = bed.probe(
        bed.plane.kubeconfig("ca.yaml", bed.admin, cluster="certificate-authority: changing-ca.crt")
    )
    equal(probe("version")["code"], "denied")
    bed.plane.write("changing-ca.crt", bed.plane.read("pki/ca.crt") + "\n")
    equal(probe("version")["ok"], True)
