#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Slurm user of a pod: by its namespace's name, labels or annotations, as sacct and scontrol
show it, with associations that Slurm enforces. Nothing that a pod's author can write changes it.
"""
import subprocess

from lib import Cluster, equal, job, pod, run, wait_for
from lib.expect import fill, job_in_state, uid_of, wait_no_live_jobs, wait_reason
from lib.kube import ApiError

USER_KEY, ACCOUNTS_KEY = "identity.slurm-kube.io/user", "identity.slurm-kube.io/accounts"
# daemon (1) is below, www-data (33) and backup (34) are not; every Debian has these users, also
# inside a chroot
MIN_UID = 20


def _namespace(bed, name, labels=None, annotations=None):
    bed.kube.create(
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}},
        }
    )
    bed.plane.default_account(name)


def _pod_in(space, name, **options):
    made = pod(name, **options)
    made["metadata"]["namespace"] = space
    return made


def _make(bed, space, name, run_time="10ms", annotations=None, **options):
    return bed.kube.create(
        _pod_in(
            space,
            name,
            kwok={"run": run_time} if run_time else {},
            annotations=annotations,
            **options,
        )
    )


def _options(**options):
    return {f"slurm-kube.io/{k}": v for k, v in options.items()}


def _identity(seen):
    """User, group, account and QOS of a job as scontrol shows them."""
    return (
        seen["UserId"].partition("(")[0],
        seen["GroupId"].partition("(")[0],
        seen["Account"],
        seen["QOS"],
    )


def _ran_as(bed, made, *wanted):
    """The pod's job has run as (user, group, account, QOS); the database shows the same."""
    seen = job_in_state(bed, made, "COMPLETED")
    equal(_identity(seen), wanted)

    def in_database():
        row = bed.slurm.accounting.sacct(seen["JobId"]).get(int(seen["JobId"]), {})
        assert (row.get("User"), row.get("Account"), row.get("State")) == (
            wanted[0],
            wanted[2],
            "COMPLETED",
        ), row
        return True

    wait_for(in_database, "sacct to say the same")


def _refused(bed, made, *parts):
    """The pod's condition contains these parts of the reason, and the pod has no job."""
    text = wait_reason(
        bed, f"{made['metadata']['namespace']}/{made['metadata']['name']}", "SlurmRefused"
    )
    for part in parts:
        assert part in text, f"'{part}' is not in: {text}"
    equal(bed.slurm.job_of_pod(uid_of(made)), [], "jobs of a refused pod")


def _drop(bed, made):
    name = f"{made['metadata']['namespace']}/{made['metadata']['name']}"
    bed.kube.delete("Pod", name)
    bed.kube.wait_gone(name)


def test_rule_by_name(bed):
    """Namespace default maps to user nobody, with the first account and QOS of its rule; pods can
    choose the others.
    """
    _ran_as(bed, _make(bed, "default", "plain"), "nobody", "nogroup", "kube", "normal")
    _ran_as(
        bed,
        _make(bed, "default", "chosen", annotations=_options(qos="fast", account="shared")),
        "nobody",
        "nogroup",
        "shared",
        "fast",
    )


def test_rule_by_label(bed):
    """A namespace with department=biology maps to user backup, whatever its name."""
    _namespace(bed, "cells", {"department": "biology"})
    _ran_as(bed, _make(bed, "cells", "plain"), "backup", "backup", "bio", "normal")


def test_rule_by_annotation(bed):
    """An administrator has written user and accounts into the namespace's annotations."""
    _namespace(bed, "lab", annotations={USER_KEY: "www-data", ACCOUNTS_KEY: "lab, shared"})
    _ran_as(bed, _make(bed, "lab", "plain"), "www-data", "www-data", "lab", "normal")
    _ran_as(
        bed,
        _make(bed, "lab", "chosen", annotations=_options(account="shared")),
        "www-data",
        "www-data",
        "shared",
        "normal",
    )
    _namespace(bed, "by-number", annotations={USER_KEY: "33", ACCOUNTS_KEY: "lab"})
    _ran_as(bed, _make(bed, "by-number", "plain"), "www-data", "www-data", "lab", "normal")


def _skube_as(bed, user, *words):
    """skube of a user without further groups; the caller looks at the result."""
    command = bed.slurm.program(
        "setpriv",
        f"--reuid={user}",
        "--regid=nogroup",
        "--clear-groups",
        bed.agent.skube_program,
        "--socket",
        bed.dir / "control.sock",
        *words,
    )
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=60, check=False
    )


def _names(bed, user, *words):
    shown = _skube_as(bed, user, "show", *words, "-o", "name")
    equal(shown.returncode, 0, shown.stderr)
    return set(shown.stdout.split())


def _is_nothing(bed, user, *words):
    """Others' objects get the same answer as those that do not exist."""
    others = _skube_as(bed, user, "why", words[0])
    no_such = _skube_as(bed, user, "why", words[1])
    equal(others.returncode, no_such.returncode)
    equal((others.stdout, no_such.stdout), ("", ""))
    equal(
        others.stderr.replace(words[0].rpartition("/")[2], "NAME"),
        no_such.stderr.replace(words[1].rpartition("/")[2], "NAME"),
    )


def test_users_see_what_is_theirs(bed):
    """A user of the controller host asks skube: own pods and jobs are shown, those of others do not
    exist, and what tells of all users is refused. Root sees all.
    """
    _namespace(bed, "genes", {"department": "biology"})
    mine = _make(bed, "genes", "mine", run_time=None)
    others = _make(bed, "default", "others", run_time=None)
    own, theirs = (job_in_state(bed, made, "RUNNING")["JobId"] for made in (mine, others))
    everything = _names(bed, "root", "pods", "-A")
    assert {"genes/mine", "default/others"} <= everything, everything
    seen = _names(bed, "backup", "pods", "-A")
    assert "genes/mine" in seen and not any(n.startswith("default/") for n in seen), seen
    seen = _names(bed, "backup", "jobs", "-A")
    assert own in seen and theirs not in seen, seen
    told = _skube_as(bed, "backup", "why", "genes/mine")
    assert told.returncode == 0 and f"job:       {own}," in told.stdout, told
    equal(_skube_as(bed, "backup", "why", f"job/{own}").returncode, 0)
    _is_nothing(bed, "backup", "default/others", "default/nobody-has-it")
    _is_nothing(bed, "backup", f"job/{theirs}", "job/4000000")
    for words in (["check"], ["diag"], ["nodes", "--slurm-conf"]):
        refused = _skube_as(bed, "backup", *words)
        assert refused.returncode != 0 and "answered only to root" in refused.stderr, refused
    node = _skube_as(bed, "backup", "why", "node/node-0")
    assert node.returncode != 0 and "only operators may ask" in node.stderr, node
    assert _names(bed, "backup", "nodes")
    for made in (mine, others):
        _drop(bed, made)


def test_no_rule_no_job(bed):
    """The pod of a namespace without a matching rule reports that."""
    _namespace(bed, "stranger", {"department": "chemistry"})
    made = _make(bed, "stranger", "plain")
    _refused(bed, made, "namespace stranger may not use Slurm", "no rule under 'identity'")
    _drop(bed, made)


def test_annotations_that_name_nobody_or_too_much(bed):
    """Root, a system user, an unknown user and an invalid name are refused with the reason. Once
    the annotation is corrected, the same pod runs.
    """
    _namespace(bed, "wrong", annotations={USER_KEY: "root", ACCOUNTS_KEY: "lab"})
    made = _make(bed, "wrong", "patient")
    _refused(bed, made, USER_KEY, "'root'", f"below identity.min_uid ({MIN_UID})")
    for value, part in (
        ("daemon", "below identity.min_uid"),
        ("no-such-user", "no user on this machine is called 'no-such-user'"),
        ("0", "below identity.min_uid"),
        ("4000000001", "no user on this machine is called"),
        ("a b", "is no user's name"),
    ):
        bed.kube.patch("Namespace", "wrong", {"metadata": {"annotations": {USER_KEY: value}}})
        wait_for(
            lambda p=part: p in wait_reason(bed, "wrong/patient", "SlurmRefused"),
            f"the pod to say {part}",
        )
    equal(bed.slurm.job_of_pod(uid_of(made)), [])
    unknown = next(c for c in bed.agent.skube_all("check")["checks"] if c["name"] == "identity")
    assert not unknown["ok"] and "no-such-user" in unknown["text"], unknown
    bed.kube.patch("Namespace", "wrong", {"metadata": {"annotations": {USER_KEY: "www-data"}}})
    _ran_as(bed, made, "www-data", "www-data", "lab", "normal")


def test_pods_cannot_say_who_they_are(bed):
    """Keys that count on a namespace have no effect on a pod or its Job, and options beyond the
    rule are refused. Only administrators can change namespaces.
    """
    forged = {USER_KEY: "backup", ACCOUNTS_KEY: "bio"}
    manifest = _pod_in("default", "forged", kwok={"run": "10ms"}, annotations=forged)
    manifest["metadata"]["labels"] = {"department": "biology"}
    _ran_as(bed, bed.kube.create(manifest), "nobody", "nogroup", "kube", "normal")
    for key, value in (
        ("account", "bio"),
        ("qos", "secret"),
        ("partition", "native"),
        ("user-id", "0"),
        ("user", "backup"),
        ("group-id", "0"),
        ("uid", "34"),
        ("account", "kube,bio"),
        ("account", ""),
    ):
        made = _make(bed, "default", "asks", annotations=_options(**{key: value}))
        _refused(bed, made, f"slurm-kube.io/{key}")
        _drop(bed, made)
    alice = bed.plane.client("alice")
    for change in ({"labels": {"department": "biology"}}, {"annotations": forged}):
        try:
            alice.patch("Namespace", "default", {"metadata": change})
            raise AssertionError("a user changed a namespace")
        except ApiError as e:
            equal(e.status, 403)


def test_jobs_cannot_say_who_their_pods_are(bed):
    """The same on a Job and in its template, because users write these, too."""
    manifest = job("chained", 2, kwok={"run": "10ms"}, annotations={USER_KEY: "backup"})
    manifest["metadata"].update(
        annotations={USER_KEY: "backup", ACCOUNTS_KEY: "bio"}, labels={"department": "biology"}
    )
    bed.kube.create(manifest)
    bed.kube.wait(lambda: len(bed.kube.pods("chained-")) == 2, "two pods")
    for made in bed.kube.pods("chained-").values():
        _ran_as(bed, made, "nobody", "nogroup", "kube", "normal")


def test_relabelled_namespace_changes_new_pods_only(bed):
    """A namespace moves from biology to physics. Its running and its waiting pod keep user backup;
    the next pod gets user www-data.
    """
    _namespace(bed, "moving", {"department": "biology"})
    blocking = fill(bed, "block", 8, 1)
    running = _make(bed, "moving", "running", run_time=None, cpu=4)
    bed.kube.wait_phase("moving/running", "Running")
    waiting = _make(bed, "moving", "waiting", cpu=8)
    job_in_state(bed, waiting, "PENDING")
    bed.kube.patch("Namespace", "moving", {"metadata": {"labels": {"department": "physics"}}})
    later = None
    for attempt in range(20):  # the watch of namespaces may lag behind that of pods for a moment
        later = _make(bed, "moving", f"later-{attempt}", cpu=1)
        if _identity(job_in_state(bed, later, "PENDING", "RUNNING", "COMPLETED"))[0] == "www-data":
            break
    bed.kube.delete("Pod", "block-0")
    _ran_as(bed, later, "www-data", "www-data", "lab", "normal")
    _ran_as(bed, waiting, "backup", "backup", "bio", "normal")
    equal(_identity(job_in_state(bed, running, "RUNNING"))[0], "backup")
    assert blocking
    _drop(bed, running)


def _granted_later(bed, made, *words):
    """The administrator grants it with sacctmgr, and the same pod runs: the agent retries a refused
    pod every minute.
    """
    bed.slurm.accounting.sacctmgr(*words)
    name = f"{made['metadata']['namespace']}/{made['metadata']['name']}"
    bed.kube.wait_phase(name, "Succeeded", timeout=150)


def test_what_slurm_does_not_grant(bed):
    """A user without any association, an account of another user, an account that does not exist, a
    QOS that is not allowed, and one that does not exist: each pod names the rule, the user, the
    fault and the command that fixes it. When the administrator has run that command, the same pod
    runs.
    """
    rows = (
        (
            "no-user",
            {},
            (
                "Invalid account",
                "user list (uid 38) by identity rule",
                "(namespace no-user)",
                "account (Slurm's default)",
                "sacctmgr add user list account=ACCOUNT",
            ),
            ("add", "user", "list", "account=bio"),
        ),
        (
            "unpaid",
            {},
            (
                "Invalid account",
                "user nobody (uid 65534) by identity rule",
                "(namespace unpaid)",
                "account no-such-account",
                "sacctmgr add user nobody account=no-such-account",
            ),
            None,
        ),
        (
            "unpaid",
            {"account": "bio"},
            (
                "Invalid account",
                "account bio (option account)",
                "sacctmgr add user nobody account=bio",
                "ask for another with slurm-kube.io/account",
            ),
            ("add", "user", "nobody", "account=bio"),
        ),
        (
            "unpaid",
            {"account": "kube"},
            (
                "Invalid qos",
                "(namespace unpaid)",
                "QOS secret",
                "sacctmgr modify user nobody set qos+=secret",
            ),
            None,
        ),
        (
            "unpaid",
            {"account": "kube", "qos": "no-such-qos"},
            (
                "Invalid qos",
                "QOS no-such-qos (option qos)",
                "ask for another with slurm-kube.io/qos",
            ),
            None,
        ),
    )
    for space in ("no-user", "unpaid"):
        _namespace(bed, space)
    made = [
        _make(bed, space, f"asks-{n}", annotations=_options(**options))
        for n, (space, options, _, _) in enumerate(rows)
    ]
    for pod_made, (_, _, parts, _) in zip(made, rows):
        _refused(bed, pod_made, *parts)
    _drop(bed, made[1])
    _drop(bed, made[4])
    for n in (0, 2):
        bed.slurm.accounting.sacctmgr(*rows[n][3])
    _granted_later(bed, made[3], "modify", "user", "nobody", "set", "qos+=secret")
    for n, identity in (
        (0, ("list", "list", "bio", "normal")),
        (2, ("nobody", "nogroup", "bio", "secret")),
        (3, ("nobody", "nogroup", "kube", "secret")),
    ):
        _ran_as(bed, made[n], *identity)


def _take_association(bed):
    """Returns False if sacctmgr does not delete associations of waiting jobs (24.11)."""
    try:
        bed.slurm.accounting.sacctmgr("delete", "user", "mail", "where", "account=shared")
    except RuntimeError as e:
        assert "Job(s) active" in str(e), e
        return False
    return True


def test_association_is_taken_from_a_waiting_job(bed):
    """Slurm keeps the job and reports InvalidAccount or InvalidQOS; the pod explains that, and runs
    when the association is back.
    """
    _namespace(bed, "waits")
    pods = [
        _make(bed, "waits", name, annotations=_options(hold="true", **options))
        for name, options in (("account", {}), ("qos", {"account": "lab", "qos": "fast"}))
    ]
    for made in pods:
        job_in_state(bed, made, "PENDING")
    is_taken = _take_association(bed)
    bed.slurm.accounting.sacctmgr("modify", "user", "mail", "set", "qos-=fast")
    for made in pods:
        bed.kube.patch(
            "Pod",
            f"waits/{made['metadata']['name']}",
            {"metadata": {"annotations": _options(hold="false")}},
        )
    if is_taken:
        wait_reason(
            bed,
            "waits/account",
            "SlurmPending",
            "InvalidAccount (Slurm's database no longer gives the user this account",
            60,
        )
        bed.slurm.accounting.sacctmgr("add", "user", "mail", "account=shared")
    wait_reason(
        bed,
        "waits/qos",
        "SlurmPending",
        "InvalidQOS (Slurm's database no longer gives the user this QOS",
        60,
    )
    bed.slurm.accounting.sacctmgr("modify", "user", "mail", "set", "qos+=normal,fast")
    for made in pods:
        bed.kube.wait_phase(f"waits/{made['metadata']['name']}", "Succeeded", timeout=150)


def test_slurmdbd_is_away(bed):
    """slurmctld has its own copy of the associations, even after a restart: a pod with an
    association runs, one without is refused, and runs when the database is back and grants it.
    """
    _namespace(bed, "dark")
    bed.slurm.accounting.slurmdbd.stop()
    bed.kube.wait_phase(
        f"default/{_make(bed, 'default', 'by-heart')['metadata']['name']}", "Succeeded"
    )
    stranger = _make(bed, "dark", "stranger")
    _refused(
        bed,
        stranger,
        "Invalid account",
        "user games (uid 5)",
        "sacctmgr add user games account=lab",
    )
    bed.slurm.restart()
    bed.kube.wait_phase(
        f"default/{_make(bed, 'default', 'after-restart')['metadata']['name']}",
        "Succeeded",
        timeout=60,
    )
    bed.slurm.accounting.start_slurmdbd()
    _granted_later(bed, stranger, "add", "user", "games", "account=lab")


def test_pods_made_while_the_agent_is_away(bed):
    """The agent lists namespaces again before it decides by labels."""
    bed.agent.stop()
    _namespace(bed, "meanwhile", {"department": "biology"})
    made = _make(bed, "meanwhile", "plain")
    bed.agent.start()
    _ran_as(bed, made, "backup", "backup", "bio", "normal")


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed)


RULES = [
    {
        "namespace": "default",
        "user": "nobody",
        "group": "nogroup",
        "accounts": ["kube", "shared"],
        "qos": ["normal", "fast"],
    },
    {
        "namespace": "unpaid",
        "user": "nobody",
        "accounts": ["no-such-account", "kube", "bio"],
        "qos": ["secret", "no-such-qos"],
    },
    {"namespace": "no-user", "user": "list"},
    {
        "namespace": "waits",
        "user": "mail",
        "accounts": ["shared", "lab"],
        "qos": ["normal", "fast"],
    },
    {"namespace": "dark", "user": "games", "accounts": ["lab"]},
    {"selector": "department=biology", "user": "backup", "accounts": ["bio"]},
    {"selector": "department in (physics)", "user": "www-data", "accounts": ["lab"]},
    {"user_from": USER_KEY, "accounts_from": ACCOUNTS_KEY},
]


def _bed(build):
    bed = Cluster(
        build,
        kwok=2,
        cpus=8,
        accounting="associations,limits,qos",
        agent_options={
            "namespaces": RULES,
            "settings": {
                "identity": {"min_uid": MIN_UID, "rules": RULES},
                "limits": {"condition_interval_seconds": 1},
            },
        },
    )
    bed.slurm.accounting.setup = [
        ("add", "qos", "fast,secret"),
        *(("add", "account", a) for a in ("bio", "lab", "shared")),
        ("add", "user", "nobody", "account=shared"),
        ("add", "user", "backup", "account=bio"),
        ("add", "user", "www-data", "account=lab"),
        ("add", "user", "www-data", "account=shared"),
        ("add", "user", "mail", "account=lab"),
        ("add", "user", "mail", "account=shared"),
        ("modify", "user", "nobody,backup,www-data,mail", "set", "qos=normal,fast"),
    ]
    return bed


if __name__ == "__main__":
    run(_bed)
