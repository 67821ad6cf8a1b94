#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Watches all pods and nodes with a client of its own and writes each change as a line of JSON.

usage: recorder.py PORT CA_FILE TOKEN_FILE OUT      ends on SIGTERM

A restarted API server knows nothing of the time before its start, but etcd does. What a new watch
cannot report is therefore read as it was at every single resourceVersion in between. Only what etcd
has compacted (after five minutes) is lost.

Lines: {"at": seconds, "kind": "Pod" | "Node", "event": the watch's own event}, or {"at":, "kind":,
"start": resourceVersion}, or {"at":, "kind":, "gap": [from, to], "why":} if the server could not
report the changes between two resourceVersions. A server that is away, killed or stopped is no gap:
the watch resumes from the last version seen, and etcd keeps what came after it.
"""
import http.client
import json
import ssl
import sys
import threading
import time

PATHS = {"Pod": "/api/v1/pods", "Node": "/api/v1/nodes"}
QUIET = 20  # seconds; a stopped server keeps its connections open, so the request is repeated
_never = threading.Event()


MOST = 20000  # maximum number of resourceVersions to read one by one


class Gap(Exception):
    """The server does not have that version any more."""


class Recorder:
    """Records one kind of object, in one thread."""

    def __init__(self, kind, port, tls, token, write):
        self.kind, self.port, self.tls, self.token, self.write = kind, port, tls, token, write
        self.version = None
        self.known = {}  # uid -> object

    def _note(self, **what):
        self.write({"at": time.time(), "kind": self.kind, **what})

    def _event(self, what, thing):
        thing["metadata"].pop("managedFields", None)  # half of the text, and no rule uses it
        if what == "DELETED":
            self.known.pop(thing["metadata"]["uid"], None)
        else:
            self.known[thing["metadata"]["uid"]] = thing
        self._note(event={"type": what, "object": thing})

    def _get(self, query):
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=self.tls, timeout=QUIET
        )
        connection.request(
            "GET", f"{PATHS[self.kind]}?{query}", headers={"Authorization": f"Bearer {self.token}"}
        )
        answer = connection.getresponse()
        if answer.status == 410:
            raise Gap("410 Gone")
        if answer.status != 200:
            raise OSError(f"status {answer.status}")
        return answer

    def _list(self, query="resourceVersion="):
        return json.loads(self._get(query).read())

    def _begin(self):
        listed = self._list()
        self._note(start=int(listed["metadata"]["resourceVersion"]))
        self._take(listed, listed["metadata"]["resourceVersion"])

    def _take(self, listed, version):
        """Records a list of all objects at a version as the events that led to it."""
        there = {thing["metadata"]["uid"]: thing for thing in listed["items"]}
        for uid in [u for u in self.known if u not in there]:
            self.known[uid]["metadata"]["resourceVersion"] = str(version)
            self._event("DELETED", self.known[uid])
        for uid, thing in sorted(
            there.items(), key=lambda x: int(x[1]["metadata"]["resourceVersion"])
        ):
            before = self.known.get(uid)
            if (
                not before
                or before["metadata"]["resourceVersion"] != thing["metadata"]["resourceVersion"]
            ):
                self._event("MODIFIED" if before else "ADDED", thing)
        self.version = str(version)

    def _after_gap(self, why):
        """Reads every state in between that etcd has kept; if it has not kept them, records
        a gap.
        """
        newest = int(self._list()["metadata"]["resourceVersion"])
        try:
            if newest - int(self.version) > MOST:
                raise Gap(f"{newest - int(self.version)} versions")
            while int(self.version) < newest:
                following = int(self.version) + 1
                self._take(
                    self._list(f"resourceVersion={following}&resourceVersionMatch=Exact"), following
                )
        except Gap as e:
            listed = self._list()
            self._note(
                gap=[int(self.version), int(listed["metadata"]["resourceVersion"])],
                why=f"{why}; {e}",
            )
            self._take(listed, listed["metadata"]["resourceVersion"])

    def _stream(self):
        for line in self._get(f"watch=1&allowWatchBookmarks=true&resourceVersion={self.version}"):
            event = json.loads(line)
            if event["type"] == "ERROR":
                if event["object"].get("code") == 410:
                    raise Gap(event["object"].get("message"))
                return
            if event["type"] != "BOOKMARK":
                self._event(event["type"], event["object"])
            self.version = event["object"]["metadata"]["resourceVersion"]

    def run(self):
        why = None
        while True:
            try:
                if self.version is None:
                    self._begin()
                elif why:
                    self._after_gap(why)
                why = None
                self._stream()
            except Gap as e:
                why = e
            except (OSError, http.client.HTTPException, ValueError, LookupError):
                _never.wait(0.1)


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    port, ca, token, out = sys.argv[1:]
    tls = ssl.create_default_context(cafile=ca)
    with open(token, encoding="ascii") as f:
        token = f.read().strip()
    lock = threading.Lock()
    with open(out, "a", encoding="utf-8") as file:

        def write(line):
            with lock:
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
                file.flush()

        threads = [
            threading.Thread(target=Recorder(kind, int(port), tls, token, write).run, daemon=True)
            for kind in PATHS
        ]
        for t in threads:
            t.start()
        for t in threads:
            t.join()


if __name__ == "__main__":
    main()
