# SPDX-License-Identifier: GPL-2.0-or-later
"""List and watch: pages, resumption, restarts, the forms of 410, silent servers."""
import json
import threading
import time

from testbed import OURS, PODS, Api, wait_for
from registry import equal, test


def make_pods(bed, prefix, count):
    def some(numbers):
        api = Api(bed.plane)
        for n in numbers:
            api.pod(f"{prefix}-{n}")

    threads = [threading.Thread(target=some, args=(range(first, count, 8),)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def present(bed):
    """uid -> name of our pods, as the API server has them."""
    items = bed.api("GET", f'{PODS}?fieldSelector={OURS.replace("=", "%3D")}')[1]["items"]
    return {pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in items}


def agrees(bed, probe, watch):
    wait_for(f"agreement of watch {watch}", lambda: probe.live(watch) == present(bed))


@test
def twelve_hundred_pods_arrive_over_pages(bed):
    make_pods(bed, "many", 1200)
    bed.api(
        "POST",
        PODS,
        {
            "metadata": {"name": "foreign"},
            "spec": {"schedulerName": "other", "containers": [{"name": "c", "image": "x"}]},
        },
    )
    probe = bed.probe()
    probe("watch", name="pods", fields=OURS)
    agrees(bed, probe, "pods")
    counters = probe("counters", name="pods")
    assert counters["pages"] >= 3 and counters["lists"] == 1 and counters["synced"], counters
    equal([e for e in probe.heard["pods"] if e["event"] == "upserted" and not e["readable"]], [])
    equal("foreign" in probe.live("pods").values(), False)
    bed.api.pod("later")
    bed.api.delete("many-0")
    agrees(bed, probe, "pods")
    wait_for("two connections", lambda: probe.connections() == 2)


@test
def what_is_not_served_is_an_empty_list(bed):
    """As DeviceTaintRules before Kubernetes 1.37. For other kinds 404 is an error."""
    probe = bed.probe()
    nowhere = "/apis/resource.k8s.io/v1/nosuchthings"
    probe("watch", name="absent", path=nowhere, may_be_unserved=True)
    wait_for("an empty list", lambda: probe("counters", name="absent")["synced"])
    equal([e["event"] for e in probe.heard["absent"]], ["listed"])
    equal(probe("counters", name="absent")["errors"], 0)
    probe("watch", name="wrong", path=nowhere)
    wait_for("an error", lambda: probe("counters", name="wrong")["errors"] > 0)
    equal(probe("counters", name="wrong")["synced"], False)


@test
def a_cut_stream_goes_on_where_it_was(bed):
    for n in range(3):
        bed.api.pod(f"doomed-{n}")
    probe = bed.probe(bed.proxied)
    probe("watch", name="pods", fields=OURS)
    agrees(bed, probe, "pods")
    for n in range(3):
        bed.proxy.refusing = True
        bed.proxy.cut()
        bed.api.pod(f"gap-{n}")
        equal(bed.api.delete(f"doomed-{n}")[0], 200)
        wait_for("trouble", lambda: probe("counters", name="pods")["trouble"])
        bed.proxy.refusing = False
        agrees(bed, probe, "pods")
    counters = probe("counters", name="pods")
    equal((counters["lists"], counters["trouble"]), (1, ""))
    gaps = [
        event["name"] for event in probe.heard["pods"] if event.get("name", "").startswith("gap-")
    ]
    equal(gaps, ["gap-0", "gap-1", "gap-2"])


@test
def a_watch_lists_again_when_it_is_told_to(bed):
    make_pods(bed, "again", 1200)
    probe = bed.probe()
    probe("watch", name="pods", fields=OURS)
    probe("list_again", name="pods")  # while the list is in progress
    agrees(bed, probe, "pods")
    equal(probe("counters", name="pods")["lists"], 1)
    probe("list_again", name="pods")
    wait_for("another list", lambda: probe("counters", name="pods")["lists"] == 2)
    bed.api.pod("after")
    agrees(bed, probe, "pods")
    equal(probe("counters", name="pods")["errors"], 0)


def lists_of(probe, watch):
    return [event["uids"] for event in probe.heard.get(watch, []) if event["event"] == "listed"]


@test
def several_selectors_are_one_watch(bed):
    """A list of one selector never makes the objects of another look deleted."""
    names = ["first", "older", "oldest"]
    uids = {
        name: bed.api.pod(f"of-{name}", schedulerName=name)["metadata"]["uid"] for name in names
    }
    bed.api.pod("of-another", schedulerName="another")
    probe = bed.probe(bed.proxied)
    probe(
        "watch",
        name="pods",
        fields="spec.schedulerName=first",
        fields_2="spec.schedulerName=older",
        fields_3="spec.schedulerName=oldest",
    )
    wait_for("the list", lambda: lists_of(probe, "pods"))
    equal(lists_of(probe, "pods"), [sorted(uids.values())])
    late = bed.api.pod("late", schedulerName="older")["metadata"]["uid"]
    wait_for("an event", lambda: late in probe.live("pods"))
    bed.proxy.refusing = True
    bed.proxy.cut()
    equal(bed.api.delete("of-oldest")[0], 200)
    wait_for("trouble", lambda: probe("counters", name="pods")["trouble"])
    bed.proxy.refusing = False
    live = {uids["first"], uids["older"], late}
    wait_for("the deletion", lambda: set(probe.live("pods")) == live)
    wait_for("no trouble", lambda: not probe("counters", name="pods")["trouble"])
    probe("list_again", name="pods")
    wait_for("one list of all", lambda: len(lists_of(probe, "pods")) == 2)
    equal((lists_of(probe, "pods")[1], probe("counters", name="pods")["lists"]), (sorted(live), 6))


@test
def a_selector_that_cannot_be_listed_holds_up_the_list(bed):
    """Otherwise its objects would look deleted."""
    bed.api.pod("seen")
    probe = bed.probe()
    probe("watch", name="pods", fields=OURS, fields_2="spec.nothing=x")
    wait_for("trouble", lambda: "spec.nothing" in probe("counters", name="pods")["trouble"])
    wait_for("the pod", lambda: probe.live("pods"))
    wait_for("its list", lambda: probe("counters", name="pods")["lists"] == 1)
    equal((lists_of(probe, "pods"), probe("counters", name="pods")["synced"]), ([], False))


@test
def pods_are_found_whoever_schedules_them(bed):
    make_pods(bed, "crowd", 600)  # three pages
    bed.api(
        "POST",
        PODS,
        {
            "metadata": {"name": "zz-other"},
            "spec": {"schedulerName": "other", "containers": [{"name": "c", "image": "x"}]},
        },
    )
    probe = bed.probe()
    for name, namespace, found in (
        ("zz-other", "default", True),
        ("nobody", "default", False),
        ("zz-other", "kube-system", False),
    ):
        answer = probe("find", name=name, namespace=namespace)
        equal((answer["ok"], answer["found"]), (True, found))


@test
def clean_ends_are_no_trouble(bed):
    probe = bed.probe()
    probe("watch", name="pods", fields=OURS, timeout=1)
    for n in range(4):
        wait_for("next stream", lambda n=n: probe("counters", name="pods")["streams"] > n)
        bed.api.pod(f"end-{n}")
    agrees(bed, probe, "pods")
    counters = probe("counters", name="pods")
    equal((counters["errors"], counters["lists"]), (0, 1))


@test
def a_silent_stream_is_replaced(bed):
    probe = bed.probe(bed.proxied)
    probe("watch", name="pods", fields=OURS, silence_ms=1500)
    agrees(bed, probe, "pods")
    bed.proxy.frozen = True
    bed.api.pod("while-frozen")
    wait_for("silence", lambda: probe("counters", name="pods")["silences"] >= 1)
    bed.proxy.frozen = False
    agrees(bed, probe, "pods")


@test
def a_restarted_api_server_costs_nothing(bed):
    bed.api.pod("doomed-by-restart")
    probe = bed.probe()
    probe("watch", name="pods", fields=OURS)
    agrees(bed, probe, "pods")
    bed.plane.api_server("--kill")
    wait_for("trouble", lambda: probe("counters", name="pods")["trouble"])
    bed.plane.api_server("--start")
    bed.api.connection = None
    bed.api.pod("after-restart")
    equal(bed.api.delete("doomed-by-restart")[0], 200)
    agrees(bed, probe, "pods")
    counters = probe("counters", name="pods")
    print(
        f"# lists={counters['lists']} expired={counters['expired']}"
        f" streams={counters['streams']} errors={counters['errors']}"
    )


@test
def a_page_that_cannot_be_read_is_asked_for_again(bed):
    # The head of the page is intact, so the next page is requested already: its answer must be
    # ignored.
    make_pods(bed, "torn", 250)
    metadata = '"metadata":{"resourceVersion":"1","continue":"none"}'
    body = '{"kind":"PodList","apiVersion":"v1",' + metadata + ',"items":[{'
    bed.proxy.rule(
        "answer",
        "continue=",
        argument=(
            f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
        ),
    )
    probe = bed.probe(bed.proxied)
    probe("watch", name="pods", fields=OURS, page_size=100)
    agrees(bed, probe, "pods")
    counters = probe("counters", name="pods")
    assert (counters["errors"], counters["lists"], counters["expired"]) == (1, 1, 0), counters


@test
def a_list_that_stops_in_the_middle_is_asked_for_again(bed):
    """Long before the deadline of a minute."""
    make_pods(bed, "stops", 20)
    bed.proxy.rule("half", "limit=", "GET")
    probe, began = bed.probe(bed.proxied), time.monotonic()
    probe("watch", name="pods", fields=OURS)
    agrees(bed, probe, "pods")
    took = time.monotonic() - began
    assert 9 < took < 40, took
    equal(probe("counters", name="pods")["errors"], 1)


@test
def a_forgotten_version_and_a_forgotten_page_mean_a_new_list(bed):
    # Two watches wait for the compaction at the same time: one is cut off, and the second page of
    # the other is held back.
    make_pods(bed, "paged", 250)
    probe = bed.probe(bed.proxied)
    probe("watch", name="pods", fields=OURS)
    agrees(bed, probe, "pods")
    bed.proxy.refusing = True
    bed.proxy.cut()
    paging = bed.probe(bed.plane.kubeconfig("paging.yaml", bed.admin, port=bed.proxy_of_pages.port))
    release = threading.Event()
    bed.proxy_of_pages.rule("hold", "continue=", argument=release)
    paging("watch", name="pods", fields=OURS, page_size=100)
    wait_for("first page", lambda: paging("counters", name="pods")["pages"] == 1)
    version = bed.api("GET", PODS + "?limit=1")[1]["metadata"]["resourceVersion"]
    equal(bed.api.delete("paged-20")[0], 200)
    bed.api.pod("while-cut")
    exact = f"{PODS}?limit=1&resourceVersionMatch=Exact&resourceVersion={version}"
    wait_for("compaction", lambda: bed.api("GET", exact)[0] == 410)
    bed.plane.api_server("--kill")
    bed.plane.api_server("--start")  # its watch cache is empty
    bed.api.connection = None
    bed.proxy.refusing = False
    release.set()
    agrees(bed, probe, "pods")
    counters = probe("counters", name="pods")
    assert counters["expired"] >= 1 and counters["lists"] >= 2, counters
    equal("paged-20" in probe.live("pods").values(), False)
    agrees(bed, paging, "pods")
    counters = paging("counters", name="pods")
    assert counters["expired"] >= 1 and counters["lists"] == 1, counters


@test
def a_mute_stream_leads_to_a_new_list(bed):
    # A version from the future, as after etcd was restored from a backup: the server answers 200
    # and never sends an event.
    probe = bed.probe(bed.proxied)
    probe("watch", name="pods", fields=OURS)
    agrees(bed, probe, "pods")
    probe("unwatch", name="pods")
    probe.heard.clear()
    answer = json.dumps({"metadata": {"resourceVersion": "99999999"}, "items": []})
    bed.proxy.rule(
        "answer",
        "limit=",
        argument=(
            f"HTTP/1.1 200 OK\r\nContent-Length: {len(answer)}\r\nConnection: close\r\n\r\n{answer}"
        ),
    )
    probe("watch", name="pods", fields=OURS, silence_ms=1000)
    agrees(bed, probe, "pods")
    assert (
        probe("counters", name="pods")["lists"] >= 2
    )  # more if the stream was silent for another second before the check


@test
def a_server_that_stays_behind_is_listed_anew(bed):
    probe = bed.probe(bed.proxied)
    body = json.dumps(
        {
            "kind": "Status",
            "message": "Too large resource version",
            "reason": "Timeout",
            "code": 504,
        }
    )
    bed.proxy.rule(
        "answer",
        "watch=1",
        count=6,
        argument=(
            f"HTTP/1.1 504 x\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
        ),
    )
    probe("watch", name="pods", fields=OURS)
    wait_for(
        "trouble", lambda: probe("counters", name="pods")["trouble"] == "Too large resource version"
    )
    wait_for("second list", lambda: probe("counters", name="pods")["lists"] == 2)
    wait_for("health", lambda: not probe("counters", name="pods")["trouble"])
    equal(probe("counters", name="pods")["errors"], 6)


@test
def a_refused_watch_comes_back_when_the_server_says(bed):
    """Not sooner, however often the watch would retry."""
    probe = bed.probe(bed.proxied)
    bed.proxy.rule(
        "answer",
        "watch=1",
        argument=(
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3\r\nContent-Length: 0\r\nConnection:"
            " close\r\n\r\n"
        ),
    )
    probe("watch", name="pods", fields=OURS)
    wait_for("the refusal", lambda: probe("counters", name="pods")["errors"] == 1)
    start = time.monotonic()
    wait_for("another try", lambda: probe("counters", name="pods")["streams"] == 2)
    took = time.monotonic() - start
    assert took > 2.5, f"came back after {took:.1f} s"
