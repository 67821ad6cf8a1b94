# SPDX-License-Identifier: GPL-2.0-or-later
"""A client of the API server: requests, and watches that keep every event.

The invariants are checked against this history: each event with its time of arrival, none
forgotten. A watch that ends is resumed where it stopped, so that a restart of the server loses
nothing.
"""
import http.client
import json
import ssl
import threading
import time
from urllib.parse import quote, urlencode

from .waiting import LIMIT, Timeout

PATHS = {
    "Pod": ("/api/v1", "pods"),
    "Node": ("/api/v1", "nodes"),
    "Namespace": ("/api/v1", "namespaces"),
    "Job": ("/apis/batch/v1", "jobs"),
    "Event": ("/apis/events.k8s.io/v1", "events"),
    "DeviceClass": ("/apis/resource.k8s.io/v1", "deviceclasses"),
    "DeviceTaintRule": ("/apis/resource.k8s.io/v1", "devicetaintrules"),
    "ResourceClaim": ("/apis/resource.k8s.io/v1", "resourceclaims"),
    "ResourceClaimTemplate": ("/apis/resource.k8s.io/v1", "resourceclaimtemplates"),
    "ResourceSlice": ("/apis/resource.k8s.io/v1", "resourceslices"),
}
CLUSTER_WIDE = ("DeviceClass", "DeviceTaintRule", "Namespace", "Node", "ResourceSlice")


class ApiError(RuntimeError):
    """The server refused the request."""

    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status = status


class Kube:
    """One user's client. Names are "name" (namespace default) or "namespace/name"."""

    def __init__(self, port, ca_file, token):
        self.port, self.token = port, token
        self.tls = ssl.create_default_context(cafile=str(ca_file))
        self.local = threading.local()
        self.changed = threading.Condition()
        self.history = {
            "Pod": [],
            "Node": [],
        }  # kind -> [(seconds, "ADDED" | "MODIFIED" | "DELETED", object)]
        self.now = {"Pod": {}, "Node": {}}  # kind -> {"namespace/name": object}
        self.stopped = False

    def _connect(self, timeout):
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=self.tls, timeout=timeout
        )

    def request(self, method, path, body=None, content_type="application/json"):
        """Returns the decoded answer. Opens a new connection if the server closed the idle one."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content_type}
        for attempt in (1, 2):
            kept = getattr(self.local, "connection", None)
            connection = self.local.connection = kept or self._connect(30)
            try:
                connection.request(
                    method, path, json.dumps(body) if body is not None else None, headers
                )
                answer = connection.getresponse()
                text = answer.read().decode()
                break
            except (http.client.HTTPException, OSError):
                self.local.connection = None
                if not kept or attempt == 2:
                    raise
        value = json.loads(text) if text[:1] in ("{", "[") else text  # an empty log is not JSON
        if answer.status >= 300:
            raise ApiError(answer.status, value.get("message") if isinstance(value, dict) else text)
        return value

    @staticmethod
    def path(kind, name="", part=""):
        group, plural = PATHS[kind]
        space, _, base = name.rpartition("/")
        scope = "" if kind in CLUSTER_WIDE else f"/namespaces/{space or 'default'}"
        return (
            f"{group}{scope}/{plural}"
            + (f"/{quote(base)}" if base else "")
            + (f"/{part}" if part else "")
        )

    def create(self, manifest):
        space = manifest["metadata"].get("namespace", "default")
        return self.request("POST", self.path(manifest["kind"], f"{space}/"), manifest)

    def get(self, kind, name):
        return self.request("GET", self.path(kind, name))

    def list(self, kind, namespace="default", **selectors):
        return self.request("GET", self.path(kind, f"{namespace}/") + "?" + urlencode(selectors))[
            "items"
        ]

    def replace(self, thing, part=""):
        """Writes the object as it is given; refused if it has changed since it was read."""
        name = name_of(thing)
        return self.request("PUT", self.path(thing["kind"], name, part), thing)

    def patch(self, kind, name, change, part=""):
        return self.request(
            "PATCH", self.path(kind, name, part), change, "application/merge-patch+json"
        )

    def delete(self, kind, name, **options):
        """options: gracePeriodSeconds, propagationPolicy (without it, deleting a Job would orphan
        its pods).
        """
        if kind == "Job":
            options.setdefault("propagationPolicy", "Background")
        return self.request("DELETE", self.path(kind, name) + "?" + urlencode(options))

    def bind(self, name, node, annotations=None, uid=None):
        """Binds a pod, as a scheduler does."""
        metadata = {
            "name": name.rpartition("/")[2],
            "annotations": annotations or {},
            **({"uid": uid} if uid else {}),
        }
        return self.request(
            "POST",
            self.path("Pod", name, "binding"),
            {
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": metadata,
                "target": {"kind": "Node", "name": node},
            },
        )

    def logs(self, name):
        return self.request("GET", self.path("Pod", name, "log"))

    def start_watching(self):
        for kind in self.history:
            threading.Thread(target=self._watch, args=(kind,), daemon=True).start()

    def watch(self, kind):
        """Keeps the events of another kind, too."""
        self.history[kind], self.now[kind] = [], {}
        threading.Thread(target=self._watch, args=(kind,), daemon=True).start()

    def _watch(self, kind):
        group, plural = PATHS[kind]
        path, version = f"{group}/{plural}", None
        while not self.stopped:
            try:
                version = self._stream(kind, path, version or self._compare(kind, path))
            except (OSError, http.client.HTTPException, ValueError, ApiError):
                with self.changed:
                    self.changed.wait(0.1)

    def _compare(self, kind, path):
        """Lists the objects, and records as events what is new, changed or gone since the watch's
        last event. Returns where to resume the watch.
        """
        listed = self.request("GET", path)
        there = {name_of(thing): {"kind": kind, **thing} for thing in listed["items"]}
        with self.changed:
            known = dict(self.now[kind])
        for key, thing in known.items():
            if key not in there or there[key]["metadata"]["uid"] != thing["metadata"]["uid"]:
                self._note(kind, "DELETED", thing)
        for key, thing in there.items():
            before = known.get(key, {"metadata": {"uid": ""}})["metadata"]
            if before["uid"] != thing["metadata"]["uid"]:
                self._note(kind, "ADDED", thing)
            elif before["resourceVersion"] != thing["metadata"]["resourceVersion"]:
                self._note(kind, "MODIFIED", thing)
        return listed["metadata"]["resourceVersion"]

    def _stream(self, kind, path, version):
        """Reads one connection. Returns where to resume, or None if the server has forgotten that
        place, as after a restart.
        """
        connection = self._connect(None)
        query = urlencode({"watch": 1, "resourceVersion": version, "allowWatchBookmarks": "true"})
        connection.request(
            "GET", f"{path}?{query}", headers={"Authorization": f"Bearer {self.token}"}
        )
        answer = connection.getresponse()
        if answer.status != 200:
            return None
        for line in answer:
            event = json.loads(line)
            if event["type"] not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
                return None
            version = event["object"]["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                self._note(kind, event["type"], event["object"])
        return version

    def _note(self, kind, what, thing):
        key = name_of(thing)
        with self.changed:
            self.history[kind].append((time.time(), what, thing))
            if what == "DELETED":
                self.now[kind].pop(key, None)
            else:
                self.now[kind][key] = thing
            self.changed.notify_all()

    def wait(self, condition, what, timeout=LIMIT):
        """Waits until condition() is true; checks it at each event of a watch."""
        end = time.monotonic() + timeout
        with self.changed:
            while True:
                value = condition()
                if value:
                    return value
                left = end - time.monotonic()
                if left <= 0:
                    raise Timeout(f"waited {timeout:g} s for {what}")
                self.changed.wait(min(left, 1))

    def pods(self, prefix=""):
        """{name: pod} in the namespace default, according to the watch."""
        with self.changed:
            return {
                n[8:]: p for n, p in self.now["Pod"].items() if n.startswith("default/" + prefix)
            }

    def wait_phase(self, name, *phases, timeout=LIMIT):
        """Waits until the pod is in one of the phases; returns it."""
        key = name if "/" in name else f"default/{name}"

        def in_phase():
            pod = self.now["Pod"].get(key)
            return pod if pod and pod["status"].get("phase") in phases else None

        return self.wait(in_phase, f"pod {name} to be {' or '.join(phases)}", timeout)

    def wait_gone(self, name, timeout=LIMIT):
        key = name if "/" in name else f"default/{name}"
        self.wait(lambda: key not in self.now["Pod"], f"pod {name} to be gone", timeout)

    def events_of(self, name):
        """All events of a pod in the watch, in order: [(seconds, type, pod)]."""
        key = name if "/" in name else f"default/{name}"
        with self.changed:
            return [e for e in self.history["Pod"] if name_of(e[2]) == key]


def name_of(thing):
    m = thing["metadata"]
    return f"{m['namespace']}/{m['name']}" if "namespace" in m else m["name"]


def exit_code(pod):
    """The exit code of the first container, or None while it runs."""
    for status in pod["status"].get("containerStatuses", []):
        return status["state"].get("terminated", {}).get("exitCode")
    return None


def condition(thing, kind):
    """The condition of that type of a pod or node, or an empty dict."""
    return next((c for c in thing["status"].get("conditions", []) if c["type"] == kind), {})
