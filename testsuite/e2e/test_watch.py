#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a portal sees that watches pods, jobs and nodes over the agent's control socket. Pods of the
namespace default run as nobody, those of lab as backup. Two nodes of 8 CPUs.
"""
import json
import select
import socket
import subprocess
import threading
import time

from lib import Cluster, equal, pod, run, wait_for
from lib.expect import job_in_state, uid_of, wait_no_live_jobs

CPUS = 8
GATE = {"name": "slurm-kube.test/wait"}
# Pods that wait for their gates: more rows than a socket takes of a client that does not read.
MANY = 300
# The agent closes a client that has read nothing for 30 s, and looks every 5 s.
STALL = 90


IDENTITY = {"pod": "uid", "job": "id", "node": "name"}


class Portal:
    """A client of the protocol. Its thread takes the events with the times at which they came."""

    def __init__(self, bed, **request):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(120)
        self.socket.connect(str(bed.dir / "control.sock"))
        self.socket.sendall(json.dumps({"verb": "watch", **request}).encode() + b"\n")
        self.file = self.socket.makefile("rb")
        self.lines = []
        self.is_over = False
        self.thread = None

    def read(self):
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()
        wait_for(lambda: self.of(type="synced"), "the whole list")
        return self

    def _read(self):
        for line in self.file:
            self.lines.append((time.monotonic(), json.loads(line)))
        self.is_over = True

    def of(self, **wanted):
        """The events with these members, of the event or of its object."""
        return [
            (when, line)
            for when, line in list(self.lines)
            if all(line.get(k, line.get("object", {}).get(k)) == v for k, v in wanted.items())
        ]

    def wait(self, **wanted):
        return wait_for(lambda: self.of(**wanted), f"an event with {wanted}")[0]

    def state(self):
        """{kind: {identity: row}}: what the events so far amount to."""
        has = {"pod": {}, "job": {}, "node": {}}
        for _, line in list(self.lines):
            if "object" in line:
                key = line["object"][IDENTITY[line["kind"]]]
                if line["type"] == "gone":
                    del has[line["kind"]][key]
                else:
                    assert (line["type"] == "changed") == (key in has[line["kind"]]), line
                    has[line["kind"]][key] = line["object"]
        return has

    def has_hung_up(self):
        """Whether the agent has closed the connection; reads nothing."""
        ends = select.poll()
        ends.register(self.socket, 0)
        return bool(ends.poll(0))

    def close(self):
        """Also while the thread reads, which keeps the descriptor."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Skube:
    """skube watch in the background, with its output in files; as another user if one is named."""

    def __init__(self, bed, name, *words, user=None):
        self.out, self.errors = bed.dir / f"{name}.out", bed.dir / f"{name}.err"
        who = ["setpriv", f"--reuid={user}", "--regid=nogroup", "--clear-groups"] if user else []
        skube = [bed.agent.skube_program, "--socket", bed.dir / "control.sock", "watch", *words]
        with open(self.out, "wb") as out, open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                [str(w) for w in bed.slurm.program(*who, *skube)], stdout=out, stderr=errors
            )

    def text(self):
        return self.out.read_text(encoding="utf-8")

    def events(self):
        """What has been written so far; the last line may be half of one."""
        return [json.loads(line) for line in self.text().split("\n")[:-1]]

    def wait_text(self, part):
        def has_it():
            assert part in self.text(), self.text()[-1000:]
            return True

        wait_for(has_it, f"skube watch to print '{part}'")

    def end(self):
        self.process.terminate()
        self.process.wait(60)


def _make(bed, name, space="default", **options):
    made = pod(name, **options)
    made["metadata"]["namespace"] = space
    return bed.kube.create(made)


def _namespace(bed, name):
    bed.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    bed.plane.default_account(name)


def _different(values):
    """Without those that repeat the one before."""
    return [v for i, v in enumerate(values) if i == 0 or values[i - 1] != v]


def test_a_portal_sees_the_life_of_a_pod(bed):
    """Created, running, ended, deleted: events of pod and job in this order, and about as early as
    somebody who asks all the time sees the same.
    """
    portal = Portal(bed).read()
    equal(portal.lines[0][1]["watch"], 1)
    equal({n["object"]["name"] for _, n in portal.of(kind="node")}, set(bed.names))
    made = _make(bed, "life", kwok={"run": "2s"}, spec={"schedulingGates": [GATE]})
    uid = uid_of(made)
    portal.wait(kind="pod", type="added", uid=uid, phase="Pending")
    bed.kube.patch("Pod", "life", {"spec": {"schedulingGates": None}})

    def row():
        return [p for p in bed.agent.skube("show", "pods")["pods"] if p["uid"] == uid]

    wait_for(lambda: row()[0]["phase"] == "Running", "show pods to say Running")
    asked = time.monotonic()
    came, running = portal.wait(kind="pod", uid=uid, phase="Running")
    assert came - asked < 5, f"the event came {came - asked:.1f} s later"
    number = running["object"]["job"]
    job_in_state(bed, made, "COMPLETED")
    portal.wait(kind="job", id=number, state="complete")
    portal.wait(kind="pod", uid=uid, phase="Succeeded")
    bed.kube.delete("Pod", "life")
    portal.wait(kind="pod", type="gone", uid=uid)
    seen = [line for _, line in portal.of(kind="pod", uid=uid)]
    equal([line["type"] for line in seen], ["added"] + ["changed"] * (len(seen) - 2) + ["gone"])
    equal(
        _different([line["object"]["phase"] for line in seen[:-1]]),
        ["Pending", "Running", "Succeeded"],
    )
    equal(seen[-1]["object"], {"namespace": "default", "name": "life", "uid": uid})
    jobs = [line for _, line in portal.of(kind="job", id=number)]
    equal(jobs[0]["type"], "added")
    states = _different([line["object"]["state"] for line in jobs])
    assert states in (["pending", "running", "complete"], ["running", "complete"]), states
    node = running["object"]["node"]
    pods = [line["object"]["pods"] for _, line in portal.of(kind="node", name=node)]
    assert 1 in pods and pods[-1] == 0, pods
    portal.close()


def test_a_slow_reader_delays_no_other(bed):
    """It is told why and closed; another watcher gets every event meanwhile."""
    names = [f"gated-{i}" for i in range(MANY)]
    for name in names:
        _make(bed, name, spec={"schedulingGates": [GATE]})
    wait_for(
        lambda: set(names) <= {row["name"] for row in bed.agent.skube("show", "pods")["pods"]},
        "the agent to see them",
    )
    slow, quick = Portal(bed), Portal(bed).read()
    equal(len(quick.of(type="added", kind="pod", phase="Pending")), MANY)
    made = _make(bed, "meanwhile", kwok={"run": "10ms"})
    quick.wait(kind="pod", uid=uid_of(made), phase="Succeeded")
    wait_for(slow.has_hung_up, "the slow reader to be closed", STALL, 0.5)
    slow.thread = threading.Thread(target=slow._read, daemon=True)
    slow.thread.start()
    wait_for(lambda: slow.is_over, "all that was sent to it")
    last = slow.lines[-1][1]
    equal((last["type"], last["reason"]), ("closed", "too slow: nothing was read for 30 s"))
    assert not slow.of(type="synced") and slow.of(type="added"), len(slow.lines)
    for name in [*names, "meanwhile"]:
        bed.kube.delete("Pod", name)
    for name in names:
        quick.wait(kind="pod", type="gone", name=name)
    quick.close()
    wait_no_live_jobs(bed)


def _lists(bed):
    """The same as Portal.state(), of the lists."""
    return {
        kind: {row[key]: row for row in bed.agent.skube("show", f"{kind}s")[f"{kind}s"]}
        for kind, key in IDENTITY.items()
    }


def test_watchers_have_what_the_lists_have(bed):
    """Pods run and are deleted while watchers come, go, and send nonsense. In the end, those that
    stay have the rows of the lists, whenever they came.
    """
    stay, names = [Portal(bed).read()], [f"load-{i}" for i in range(40)]
    for i, name in enumerate(names):
        _make(bed, name, cpu=2, kwok={"run": "300ms"})
        Portal(bed).close()  # at once, with the list on its way
        half = Portal(bed, kinds=["pods", "jobs"])
        half.file.readline()
        half.close()
        bad = socket.socket(socket.AF_UNIX)
        bad.connect(str(bed.dir / "control.sock"))
        bad.sendall(b'{"verb":"watch"')
        bad.close()
        if i % 10 == 5:
            stay.append(Portal(bed).read())
            bed.kube.delete("Pod", names[i - 5])
    for name in names:
        if name not in names[::10]:
            bed.kube.wait_phase(name, "Succeeded")
            bed.kube.delete("Pod", name)
    wait_no_live_jobs(bed)

    def agree():
        lists = _lists(bed)
        for i, portal in enumerate(stay):
            for kind, rows in portal.state().items():
                wrong = [k for k in rows | lists[kind] if rows.get(k) != lists[kind].get(k)]
                assert not wrong, (i, kind, rows.get(wrong[0]), lists[kind].get(wrong[0]))
        return True

    wait_for(agree, "all watchers to have what the lists have", 20)
    for portal in stay:
        portal.close()


def test_users_see_what_is_theirs(bed):
    """A user gets own pods and jobs, and all nodes; and two watches."""
    _namespace(bed, "lab")
    theirs = Skube(bed, "user", "--json", user="backup")
    wait_for(lambda: {"type": "synced"} in theirs.events(), "the user's list")
    mine = _make(bed, "mine", "lab", kwok={"run": "10ms"})
    other = _make(bed, "strange", kwok={"run": "10ms"})
    job_in_state(bed, mine, "COMPLETED")
    job_in_state(bed, other, "COMPLETED")
    last = _make(bed, "last", "lab", kwok={"run": "10ms"})
    job_in_state(bed, last, "COMPLETED")

    def events_of(made):
        return [e for e in theirs.events() if e.get("object", {}).get("uid") == uid_of(made)]

    wait_for(
        lambda: [e for e in events_of(last) if e["object"].get("state") == "complete"],
        "the user to see the end of the last pod",
    )
    kinds = {e["kind"] for e in events_of(mine)}
    equal((kinds, events_of(other)), ({"pod", "job"}, []))
    assert "strange" not in theirs.text() and '"node"' in theirs.text()
    more = Skube(bed, "more", "nodes", user="backup")
    more.wait_text(f"node {bed.names[0]}: Ready")
    third = Skube(bed, "third", user="backup")
    equal(third.process.wait(60), 1)
    assert "you have 2 watches already" in third.errors.read_text(encoding="utf-8")
    for one in (theirs, more):
        one.end()


def test_a_selection(bed):
    """Only the pods with the label; a pod that loses it is gone."""
    portal = Portal(bed, kinds=["pods"], select={"labels": "app=web"}).read()
    made = pod("web", kwok={"run": "1h"})
    made["metadata"]["labels"] = {"app": "web"}
    made = bed.kube.create(made)
    other = _make(bed, "not-web", kwok={"run": "1h"})
    portal.wait(kind="pod", uid=uid_of(made), phase="Running")
    bed.kube.patch("Pod", "web", {"metadata": {"labels": {"app": "other"}}})
    portal.wait(kind="pod", type="gone", uid=uid_of(made))
    job_in_state(bed, other, "RUNNING")
    equal({line["object"]["uid"] for _, line in portal.lines if "object" in line}, {uid_of(made)})
    portal.close()
    for name in ("web", "not-web"):
        bed.kube.delete("Pod", name)
    wait_no_live_jobs(bed)


def test_the_agent_restarts(bed):
    """Watchers are told; skube connects again, says so, and prints what has happened meanwhile."""
    portal = Portal(bed).read()
    watching = Skube(bed, "restart", "pods")
    _make(bed, "stays", kwok={"run": "1h"})
    watching.wait_text("pod default/stays: Running")
    bed.agent.stop()
    wait_for(lambda: portal.is_over, "the connection to end")
    equal(portal.lines[-1][1], {"type": "closed", "reason": "slurmkubed stops"})
    _make(bed, "later", kwok={"run": "1h"})
    bed.kube.delete("Pod", "stays")
    bed.agent.start()
    watching.wait_text("pod default/later: Running")
    watching.wait_text("pod default/stays: gone")
    watching.end()
    text = watching.errors.read_text(encoding="utf-8")
    equal(text.count("(slurmkubed stops); connecting again"), 1, text)
    portal = Portal(bed).read()
    bed.agent.kill9()
    wait_for(lambda: portal.is_over, "the connection to end with the agent")
    bed.agent.start()
    bed.kube.delete("Pod", "later")
    wait_no_live_jobs(bed)


if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build,
            kwok=2,
            cpus=CPUS,
            agent_options={
                "namespaces": [
                    {"namespace": "default", "user": "nobody"},
                    {"namespace": "lab", "user": "backup"},
                ]
            },
        )
    )
