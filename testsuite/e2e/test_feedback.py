#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""What users see: events on pods, annotations for their containers, and `skube why`. Two nodes of 8
CPUs; jobs run as nobody.
"""
import json
import re
import signal
import time

from lib import Cluster, equal, job, pod, run, wait_for
from lib.expect import (
    fill,
    job_controller_status,
    job_in_state,
    number_of,
    only_job,
    uid_of,
    wait_no_live_jobs,
    wait_reason,
)
from lib.kube import condition
from lib.process import output_of

CPUS = 8
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"


def _events(bed, uid):
    return [
        e
        for e in bed.kube.list("Event")
        if e["regarding"].get("uid") == uid
        and e.get("reportingController") == "slurm-kube.io/slurmkubed"
    ]


def _told(bed, made, reason, text, kind="Normal"):
    """Waits for an event of the pod with this reason and text; returns its note."""

    def look():
        seen = _events(bed, uid_of(made))
        found = [e for e in seen if e["reason"] == reason and text in e["note"]]
        assert found, [(e["reason"], e["note"]) for e in seen]
        equal(
            (len(found), found[0]["type"], found[0]["regarding"]["name"]),
            (1, kind, made["metadata"]["name"]),
        )
        return found[0]["note"]

    return wait_for(look, f"{made['metadata']['name']} to be told {reason}: {text}")


def _why(bed, name):
    """{about: text} of skube why; lines with the same subject are joined."""
    text, lines = bed.agent.skube_text("why", name), {}
    for line in text.splitlines():
        about, _, said = line.partition(":")
        lines[about] = f"{lines[about]} | {said.strip()}" if about in lines else said.strip()
    assert 0 < len(text.splitlines()) <= 10, text
    return lines


def test_a_life_is_told(bed):
    """The binding's event has job, CPUs and node; the event of the end has the result. A normal
    life has no warning.
    """
    made = bed.kube.create(pod("lives", cpu=2, kwok={"run": "10ms", "exit-code": 3}))
    seen = job_in_state(bed, made, "FAILED")
    _told(
        bed,
        made,
        "SlurmBound",
        f"Slurm job {seen['JobId']} has 2 CPUs on node {seen['NodeList']}; the pod is bound to it",
    )
    _told(bed, made, "SlurmCompleted", f"Slurm job {seen['JobId']} ended with its pod: exit code 3")
    equal([e["type"] for e in _events(bed, uid_of(made))], ["Normal", "Normal"])


def test_a_refusal_is_told(bed):
    """One warning that names key, value and remedy, as the condition does."""
    made = bed.kube.create(pod("refused", annotations={"slurm-kube.io/no-such-option": "77"}))
    text = wait_reason(bed, "refused", "SlurmRefused")
    equal(_told(bed, made, "SlurmRefused", "slurm-kube.io/no-such-option", "Warning"), text)
    lines = _why(bed, "refused")
    assert "refused: " in lines["asks for"] and "no-such-option" in lines["asks for"], lines
    assert lines["waits for"].startswith("somebody who changes the pod"), lines
    bed.kube.delete("Pod", "refused")


def test_who_ended_it_is_told(bed):
    """scancel by the job's own user, and by root: event and condition name the uid."""
    for name, user, uid in (("his", "nobody", 65534), ("roots", None, 0)):
        (made,) = fill(bed, name, 1, kwok={"stop": "1s"})
        number = number_of(only_job(bed, made))
        bed.slurm.run("scancel", str(number), user=user)
        bed.kube.wait_gone(f"{name}-0")
        _told(
            bed,
            made,
            "SlurmJobEnded",
            f"Slurm job {number} ended: cancelled by uid {uid}",
            "Warning",
        )
        said = [
            condition(p, "DisruptionTarget")
            for _, _, p in bed.kube.history["Pod"]
            if uid_of(p) == uid_of(made)
        ]
        equal(
            {c.get("message") for c in said if c},
            {f"Slurm job {number} ended: cancelled by uid {uid}"},
        )


def _classes(bed):
    """The PriorityClasses of the tests; one of them has a rule. The API server refuses pods until
    it has seen a new class itself.
    """
    for name in ("urgent", "gang", "mapped"):
        bed.kube.request(
            "POST",
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            {"metadata": {"name": name}, "value": 1000},
        )
        tried = pod(name, spec={"priorityClassName": name})
        path = bed.kube.path("Pod", "default/") + "?dryRun=All"
        wait_for(lambda p=path, t=tried: bed.kube.request("POST", p, t), f"the class {name}")


def test_a_priority_class_without_a_rule_is_told(bed):
    """One event for each class, however many pods have it: those of Kubernetes too. A class with
    a rule, and no class, make none.
    """
    _classes(bed)
    reason = "SlurmPriorityClassUnused"
    builtin = ["system-node-critical", "system-cluster-critical"]
    for name in ("urgent", "mapped", *builtin):
        fill(bed, name, 1, pods=3, spec={"priorityClassName": name})
    bed.kube.create(
        job("gang", 2, indexed=True, kwok={"run": "1h"}, spec={"priorityClassName": "gang"})
    )
    fill(bed, "none", 1)

    def look():
        seen = [e for e in bed.kube.list("Event") if e["reason"] == reason]
        told = sorted((e["note"].split("'")[1], e["type"]) for e in seen)
        equal(told, sorted((name, "Normal") for name in ("urgent", "gang", *builtin)))
        return seen

    seen = wait_for(look, "one event for each class without a rule")
    for e in seen:
        assert "'priority_classes' in slurmkubed.yaml" in e["note"], e["note"]
        assert e["regarding"]["name"].startswith(e["note"].split("'")[1] + "-"), e["regarding"]
    bed.kube.delete("Job", "gang")
    for name in ("urgent", "mapped", *builtin):
        for i in range(3):
            bed.kube.delete("Pod", f"{name}-{i}")
    bed.kube.delete("Pod", "none-0")
    wait_no_live_jobs(bed)
    look()


def test_annotations_for_containers(bed):
    """A container's environment can use the annotations before it starts. This test checks that
    they are on the pod, test_kubelet that they arrive in the container.
    """
    for name in ("at-once", "later"):
        blocking = fill(bed, "block", CPUS, 2) if name == "later" else []
        made = bed.kube.create(pod(name, cpu=3, kwok={"run": "1h"}))
        if blocking:
            job_in_state(bed, made, "PENDING")
            for i in range(2):
                bed.kube.delete("Pod", f"block-{i}")
        seen = bed.kube.wait_phase(name, "Running")
        job_now = only_job(bed, made)
        got = {
            k.partition("/")[2]: v
            for k, v in seen["metadata"]["annotations"].items()
            if k.startswith("allocation.slurm-kube.io/")
        }
        equal(
            got,
            {
                "job-id": job_now["JobId"],
                "cluster": "test",
                "node": job_now["NodeList"],
                "nodes": job_now["NodeList"],
                "cpus": "3",
                "attempt": "1",
                "partition": "kube",
                "account": "phys",
            },
        )
        equal(job_now["Account"], "phys")
        bed.kube.delete("Pod", name)
        bed.kube.wait_gone(name)


def test_autoscalers_spare_running_pods(bed):
    """Both autoscalers' annotations are on a pod as soon as it is bound, unless the user has
    decided otherwise.
    """
    spare = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", DO_NOT_DISRUPT: "true"}
    for name, own in (("spared", {}), ("decided", {DO_NOT_DISRUPT: "false"})):
        bed.kube.create(pod(name, annotations=own, kwok={"run": "1h"}))
        seen = bed.kube.wait_phase(name, "Running")["metadata"]["annotations"]
        equal({k: seen.get(k) for k in spare}, {**spare, **own}, name)
        bed.kube.delete("Pod", name)
    wait_no_live_jobs(bed)


def test_why_tells_the_story(bed):
    """Running, pending, held and gone: skube why agrees with Slurm."""
    running = fill(bed, "fills", CPUS, 2)
    waiting = bed.kube.create(pod("waits", cpu=4))
    number = job_in_state(bed, waiting, "PENDING")["JobId"]
    wait_for(
        lambda: _why(bed, "fills-0")["waits for"] == "nothing: it runs", "why to tell that it runs"
    )
    lines = _why(bed, "fills-0")
    assert lines["rule"].startswith(
        "user nobody (uid 65534) by identity rule 1 (namespace default); accounts phys"
    ), lines
    assert re.match(
        rf"{only_job(bed, running[0])['JobId']}, running, attempt 1, ", lines["job"]
    ), lines
    equal(
        (lines["waits for"], lines["asks for"]),
        (
            "nothing: it runs",
            "8 CPUs, 64 MiB, partition kube, account phys, the partition's time limit",
        ),
    )
    assert lines["node"].endswith(", Ready"), lines
    wait_for(
        lambda: re.fullmatch(
            "Slurm's queue: (Resources|Priority)", _why(bed, "waits")["waits for"]
        ),
        "why to tell Slurm's reason",
    )
    assert _why(bed, "default/waits")["job"].startswith(f"{number}, pending, attempt 1, "), _why(
        bed, "waits"
    )
    bed.slurm.run("scontrol", "hold", number)
    wait_for(
        lambda: _why(bed, "waits")["waits for"] == "the job to be released (scontrol release)",
        "why to tell of the hold",
    )
    bed.slurm.run("scontrol", "release", number)
    for i in range(2):
        bed.kube.delete("Pod", f"fills-{i}")
    bed.kube.wait_phase("waits", "Running")
    bed.kube.delete("Pod", "waits")


def test_why_of_nodes_jobs_and_owners(bed):
    """skube why says who took a node out of service, and finds the pods of a job and of an owner;
    --json has the same as data.
    """
    (made,) = fill(bed, "asked", 2)
    number, node = (only_job(bed, made)[key] for key in ("JobId", "NodeList"))
    wait_for(
        lambda: _why(bed, f"node/{node}")["pods"] == f"1: default/asked-0 (job {number})",
        "why to tell the node's pod",
    )
    assert _why(bed, f"node/{node}")["use"].startswith("in use"), _why(bed, f"node/{node}")
    bed.slurm.run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=bad disk")
    wait_for(
        lambda: "an administrator or Slurm took it out of service (bad disk)"
        in _why(bed, f"node/{node}")["use"],
        "why to tell who drained the node",
    )
    data = bed.agent.skube("why", f"node/{node}")["data"]
    equal([row["name"] for row in data["pods"]], ["asked-0"])
    equal((data["node"]["slurm_reason"], data["node"]["kube_state"]), ("bad disk", "Ready"))
    bed.slurm.run("scontrol", "update", f"NodeName={node}", "State=RESUME")
    equal(_why(bed, f"job/{number}")["this job"], f"job {number}, RUNNING, attempt 1, 1 node")
    data = bed.agent.skube("why", f"job/{number}")["data"]
    equal((data["job"]["id"], [r["name"] for r in data["pods"]]), (int(number), ["asked-0"]))
    data = bed.agent.skube("why", "asked-0")["data"]
    equal((data["pod"]["uid"], data["job"]["id"]), (uid_of(made), int(number)))
    equal((data["node"]["name"], data["waits_for"]), (node, "nothing: it runs"))
    bed.kube.delete("Pod", "asked-0")
    bed.kube.wait_gone("asked-0")
    bed.kube.create(job("owned", 3, kwok={"run": "1h"}))
    wait_for(
        lambda: _why(bed, "Job/owned").get("waits for", "").startswith("nothing: it runs (3 pods"),
        "why to count the pods of the Job",
    )
    equal(
        _why(bed, "job/owned")["owner"],
        "job default/owned, 3 pods, 3 of them with a job of their own",
    )
    equal(len(bed.agent.skube("why", "Job/owned")["data"]["pods"]), 3)
    bed.kube.delete("Job", "owned")
    wait_no_live_jobs(bed)


def _shown(bed, *words):
    """The names that skube show prints."""
    return bed.agent.skube_text("show", *words, "-o", "name").split()


def test_show_selects(bed):
    """The agent leaves out rows by namespace, label, state, user and node, and knows what it does
    not know; the pods of a selection are those that Slurm and Kubernetes have.
    """
    running = fill(bed, "shown", CPUS, 2)
    waiting = pod("queued", cpu=4)
    waiting["metadata"]["labels"] = {"app": "shown", "tier": "test"}
    waiting = bed.kube.create(waiting)
    number = job_in_state(bed, waiting, "PENDING")["JobId"]
    nodes = {only_job(bed, made)["NodeList"]: made["metadata"]["name"] for made in running}
    node, name = sorted(nodes.items())[0]
    all_names = ["default/queued", "default/shown-0", "default/shown-1"]
    wait_for(
        lambda: _shown(bed, "pods", "--state", "running") == all_names[1:],
        "the agent to see that the pods run",
    )
    for words, names in (
        (["--active"], all_names),
        (["-A", "--state", "pending,running"], all_names),
        (["-n", "default", "--active"], all_names),
        (["-n", "elsewhere"], []),
        (["-l", "app=shown,tier"], all_names[:1]),
        (["-l", "app!=shown", "--active"], all_names[1:]),
        (["-t", "Pending"], all_names[:1]),
        (["-u", "nobody", "--active"], all_names),
        (["-u", "root"], []),
        (["--node", node, "--active"], [f"default/{name}"]),
        (["--active", "--sort", "-pod"], all_names[::-1]),
    ):
        equal((words, _shown(bed, "pods", *words)), (words, names))
    equal(_shown(bed, "jobs", "-t", "PD"), [number])
    equal(_shown(bed, "jobs", "-n", "elsewhere"), [])
    equal(_shown(bed, "nodes", "--state", "Ready", "--node", node), [node])
    equal(_shown(bed, "nodes", "--state", "drain"), [])
    equal(_shown(bed, "nodes", "-l", "slurm-kube.io/managed"), sorted(nodes))
    equal(_shown(bed, "nodes", "-l", "!slurm-kube.io/managed"), [])
    row = bed.agent.skube("show", "pods", "-t", "pending")["pods"][0]
    equal((row["user_id"], row["job"], row["partition"]), (65534, int(number), "kube"))
    assert abs(time.time() - row["created"]) < 600, row
    table = bed.agent.skube_text("show", "pods", "-t", "pending").split()
    assert table[:3] == ["POD", "PHASE", "USER"] and "nobody" in table, table
    for made in (*running, waiting):
        bed.kube.delete("Pod", made["metadata"]["name"])
        bed.kube.wait_gone(made["metadata"]["name"])


def test_why_of_a_pod_that_nobody_knows(bed):
    """skube why says where to look, and its exit status reports the failure."""
    try:
        output_of(
            *bed.slurm.program(
                bed.agent.skube_program,
                "--socket",
                bed.agent.dir / "control.sock",
                "why",
                "default/nobody-knows",
            )
        )
        raise AssertionError("exit status 0")
    except RuntimeError as e:
        assert (
            "exit 1: skube: no pod default/nobody-knows with schedulerName slurm has been seen"
            in str(e)
        ), e


def _reload(bed, text, said):
    (bed.dir / "slurmkubed.yaml").write_text(text)
    before = bed.agent.daemon.log.read_text().count(said)
    bed.agent.daemon.signal(signal.SIGHUP)
    wait_for(
        lambda: bed.agent.daemon.log.read_text().count(said) > before, f"the agent to log {said!r}"
    )
    return next(c for c in bed.agent.skube_all("check")["checks"] if c["name"] == "files")


def test_a_file_with_an_error_is_not_taken(bed):
    """A configuration with an error, an empty one, or one with missing credentials is rejected:
    pods start as before, and skube check gives the reason.
    """
    good = bed.agent.configuration()
    for bad, part in (
        ("", "identity.rules: there is none"),
        (json.dumps({**good, "bogus": 1}), "bogus"),
        (json.dumps({**good, "kubeconfig": f"{bed.dir}/nowhere"}), "nowhere"),
    ):
        line = _reload(bed, bad, "configuration not taken")
        assert (
            not line["ok"]
            and part in line["text"]
            and "before a restart reads it" in line["remedy"]
        ), line
    bed.kube.create(pod("as-before", kwok={"run": "50ms"}))
    bed.kube.wait_phase("as-before", "Succeeded")
    line = _reload(bed, json.dumps(good), "configuration read again")
    assert line["ok"], line


def test_keys_that_need_a_restart_keep_their_values(bed):
    """The log and skube check name such a key; the other keys of the same file hold at once."""
    good = bed.agent.configuration()
    line = _reload(
        bed,
        json.dumps({**good, "cluster": "test2", "partition": "nowhere"}),
        "take effect after a restart of slurmkubed: cluster",
    )
    assert not line["ok"] and line["text"].endswith(": cluster"), line
    made = bed.kube.create(pod("goes-nowhere", kwok={"run": "50ms"}))
    assert "nowhere" in wait_reason(bed, "goes-nowhere", "SlurmRefused")
    line = _reload(bed, json.dumps(good), "configuration read again")
    assert line["ok"], line
    bed.kube.wait_phase("goes-nowhere", "Succeeded")
    equal(job_in_state(bed, made, "COMPLETED")["Partition"], "kube")


def test_a_selector_is_read_again(bed):
    """Nodes that the new selector does not select are drained in Slurm, and their pods go on."""
    good = bed.agent.configuration()
    (made,) = fill(bed, "stays", 1)
    number = number_of(only_job(bed, made))
    other = {**good, "nodes": {**good["nodes"], "selector": "example.org/other"}}
    _reload(bed, json.dumps(other), "configuration read again")
    nodes = [n["metadata"]["name"] for n in bed.kube.list("Node")]
    for name in nodes:
        wait_for(lambda n=name: "DRAIN" in bed.slurm.node(n)["State"], f"{name} to be drained")
    line = _reload(bed, json.dumps(good), "configuration read again")
    assert line["ok"], line
    for name in nodes:
        wait_for(lambda n=name: "DRAIN" not in bed.slurm.node(n)["State"], f"{name} to be back")
    equal(uid_of(bed.kube.get("Pod", "stays-0")), uid_of(made))
    equal(number_of(only_job(bed, made)), number)
    bed.kube.delete("Pod", "stays-0")
    bed.kube.create(pod("afterwards", kwok={"run": "50ms"}))
    bed.kube.wait_phase("afterwards", "Succeeded")


def _json_lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_pod_causes_one_line_of_log(bed):
    """At the level info, as JSON: the end with its result, the refusal, or the deletion. The audit
    log has bindings, refusals and deletions, and goes on in a new file after a rotation.
    """
    audit, log = bed.dir / "audit.log", bed.agent.daemon.log
    bed.agent.settings = {"log_level": "info", "log_format": "json", "audit_log": str(audit)}
    bed.agent.restart()
    start = len(log.read_text().splitlines())
    done = bed.kube.create(pod("done", kwok={"run": "10ms", "exit-code": 3}))
    job_in_state(bed, done, "FAILED")
    refused = bed.kube.create(pod("not-so", annotations={"slurm-kube.io/no-such-option": "77"}))
    wait_reason(bed, "not-so", "SlurmRefused")
    audit.rename(bed.dir / "audit.log.1")
    bed.agent.daemon.signal(signal.SIGHUP)
    wait_for(audit.exists, "the audit log to be opened again")
    (ended,) = fill(bed, "unwanted", 1, kwok={"stop": "1s"})
    bed.slurm.run("scancel", str(number_of(only_job(bed, ended))))
    bed.kube.wait_gone("unwanted-0")
    events = [json.loads(line) for line in log.read_text().splitlines()[start:]]
    audited = _json_lines(bed.dir / "audit.log.1") + _json_lines(audit)
    bed.agent.settings = {}
    bed.agent.restart()
    equal(
        [
            [e["event"] for e in events if e.get("uid") == uid_of(made)]
            for made in (done, refused, ended)
        ],
        [["ended"], ["refused"], ["deleting"]],
    )
    (end,) = [e for e in events if e.get("event") == "ended"]
    equal((end["pod"], end["user_id"], end["result"]), ("default/done", "65534", "exit code 3"))
    assert int(end["job"]) and int(end["queued_seconds"]) >= 0 <= int(end["ran_seconds"]), end
    equal(
        [(e["event"], e["pod"]) for e in audited],
        [
            ("bound", "default/done"),
            ("refused", "default/not-so"),
            ("bound", "default/unwanted-0"),
            ("deleting", "default/unwanted-0"),
        ],
    )
    equal({audited[i].get("user_id") for i in (0, 2, 3)}, {"65534"}, "users of bindings, deletion")
    assert "no-such-option" in audited[1]["message"] and "cancelled" in audited[3]["message"]
    bed.kube.delete("Pod", "not-so")


def test_events_are_rate_limited(bed):
    """150 pods at once cause 300 events: all pods run, and the API server gets at most 50 events at
    once and ten per second (core/world/event_queue.h).
    """
    began = time.monotonic()
    before, start = bed.agent.skube("diag")["counters"], len(bed.kube.list("Event"))
    bed.kube.create(job("many", 150, kwok={"run": "10ms"}))
    job_controller_status(bed, "many", succeeded=150)
    wait_no_live_jobs(bed)
    after = bed.agent.skube("diag")["counters"]
    written, dropped = (
        after["events"] - before["events"],
        after["events_dropped"] - before["events_dropped"],
    )
    ours = [
        e
        for e in bed.kube.list("Event")
        if e.get("reportingController") == "slurm-kube.io/slurmkubed"
    ]
    print(
        f"# {written} events written, {dropped} dropped, {len(ours)} of ours, {start} before",
        flush=True,
    )
    most = 51 + 10 * (time.monotonic() - began)
    assert (
        0 < written <= most
    ), f"{written} events of 300, {most:.0f} would be as many as there may be"


if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build,
            kwok=2,
            cpus=CPUS,
            agent_options={
                "namespaces": [
                    {
                        "namespace": "default",
                        "user": "nobody",
                        "group": "nogroup",
                        "accounts": ["phys"],
                    }
                ],
                "settings": {
                    "limits": {"condition_interval_seconds": 1},
                    "priority_classes": [{"name": "mapped", "nice": 10}],
                },
            },
        )
    )
