#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Watches all pods and nodes with a client of its own and writes each change as a line of JSON.

usage: recorder.py PORT CA_FILE TOKEN_FILE OUT      ends on SIGTERM

Lines: {"at": seconds, "kind": "Pod" | "Node", "event": the watch's own event}, or {"at":, "kind":, "start": resourceVersion}, or
{"at":, "kind":, "gap": [from, to], "why":} where the server could not tell what was between two resourceVersions. A server that is away, killed
or stopped is no gap: the watch goes on from the last version that was seen, and etcd keeps what came after it.
"""
import http.client
import json
import ssl
import sys
import threading
import time

PATHS = {"Pod": "/api/v1/pods", "Node": "/api/v1/nodes"}
QUIET = 20  # seconds; a server that is stopped keeps its connections, so ask again
_never = threading.Event()


class Gap(Exception):
	"""The server does not remember that version."""


class Recorder:
	"""One kind of object, one thread."""

	def __init__(self, kind, port, tls, token, write):
		self.kind, self.port, self.tls, self.token, self.write = kind, port, tls, token, write
		self.version = None

	def _note(self, **what):
		what.get("event", {}).get("object", {}).get("metadata", {}).pop("managedFields", None)  # half of the text, and no rule asks
		self.write({"at": time.time(), "kind": self.kind, **what})

	def _get(self, query):
		connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=QUIET)
		connection.request("GET", f"{PATHS[self.kind]}?{query}", headers={"Authorization": f"Bearer {self.token}"})
		answer = connection.getresponse()
		if answer.status == 410:
			raise Gap("410 Gone")
		if answer.status != 200:
			raise OSError(f"status {answer.status}")
		return answer

	def _list(self):
		return json.loads(self._get("resourceVersion=").read())

	def _begin(self):
		listed = self._list()
		self._note(start=int(listed["metadata"]["resourceVersion"]))
		self._take(listed)

	def _take(self, listed):
		for thing in listed["items"]:
			self._note(event={"type": "ADDED", "object": thing})
		self.version = listed["metadata"]["resourceVersion"]

	def _after_gap(self, why):
		"""What happened between is not known; what is there now is."""
		listed = self._list()
		self._note(gap=[int(self.version), int(listed["metadata"]["resourceVersion"])], why=str(why))
		self._take(listed)

	def _stream(self):
		for line in self._get(f"watch=1&allowWatchBookmarks=true&resourceVersion={self.version}"):
			event = json.loads(line)
			if event["type"] == "ERROR":
				if event["object"].get("code") == 410:
					raise Gap(event["object"].get("message"))
				return
			if event["type"] != "BOOKMARK":
				self._note(event=event)
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
		threads = [threading.Thread(target=Recorder(kind, int(port), tls, token, write).run, daemon=True) for kind in PATHS]
		for t in threads:
			t.start()
		for t in threads:
			t.join()


if __name__ == "__main__":
	main()
