# SPDX-License-Identifier: GPL-2.0-or-later
"""The API server's audit log (audit-run.yaml): its own clock, in microseconds, on what it received and had answered."""
import json
from collections import Counter
from datetime import datetime

AGENT = "system:serviceaccount:slurm-kube:slurmkubed"


def moment(text):
	return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Event:
	"""One request. received and answered are seconds since the epoch."""

	def __init__(self, entry):
		about = entry["objectRef"]
		self.name, self.part = about.get("name", ""), about.get("subresource", "")
		self.verb, self.kind, self.user = entry["verb"], about.get("resource", ""), entry["user"]["username"]
		self.code = entry.get("responseStatus", {}).get("code", 0)
		self.received, self.answered = moment(entry["requestReceivedTimestamp"]), moment(entry["stageTimestamp"])

	@property
	def good(self):
		return 200 <= self.code < 300


class Audit:
	"""Read from the place where the last mark() was."""

	def __init__(self, path):
		self.path, self.place = path, 0

	def mark(self):
		self.place = self.path.stat().st_size if self.path.exists() else 0

	def events(self):
		"""All since the mark; a line that is still being written is left out."""
		with open(self.path, "rb") as f:
			f.seek(self.place)
			return [Event(json.loads(line)) for line in f if line.endswith(b"\n")]

	def binding_lines(self):
		"""How many bindings were tried since the mark; costs little, for those who wait."""
		with open(self.path, "rb") as f:
			f.seek(self.place)
			return f.read().count(b'"subresource":"binding"')

	def bindings(self, prefix):
		"""{pod: its first binding that was answered well} of pods whose names begin with prefix."""
		found = {}
		for e in self.events():
			if e.part == "binding" and e.good and e.name.startswith(prefix):
				found.setdefault(e.name, e)
		return found

	def creations(self, prefix):
		return {e.name: e for e in self.events() if e.verb == "create" and e.kind == "pods" and not e.part and e.good and e.name.startswith(prefix)}

	def deletions(self, user=AGENT):
		"""{pod: its first deletion by that user}"""
		found = {}
		for e in self.events():
			if e.verb == "delete" and e.kind == "pods" and e.user == user and e.good:
				found.setdefault(e.name, e)
		return found

	def writes(self, user=AGENT):
		"""How many writes of that user since the mark, by what they were, as "create pods/binding"."""
		return Counter(f"{e.verb} {e.kind}{'/' + e.part if e.part else ''}" for e in self.events() if e.user == user and e.verb != "list")

	def lists(self, user=AGENT):
		return Counter(e.kind for e in self.events() if e.user == user and e.verb == "list")
