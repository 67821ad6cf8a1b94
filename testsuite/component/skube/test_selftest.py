#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_selftest.py [BUILD_DIR]: what skube selftest asks kubectl for, with an agent that answers as
told. testsuite/e2e/test_selftest.py runs real pods. Prints TAP.
"""

import json
import os
import subprocess
import sys

from fixture import DIR, SKUBE, SOCKET, Peer, Series, check, finish, skube, with_programs

READY = {"ok": True, "version": "1", "ready": True, "link": True, "uptime_seconds": 1}
NOT_SEEN = {"ok": False, "error": "no pod"}
FAILING = {
    "ok": True,
    "checks": [{"name": "clock", "ok": False, "text": "late", "remedy": "set it"}],
}


def steps(result):
    return [line.split()[:2] for line in result.stdout.splitlines() if line[:1] not in (" ", "")]


def test_options_reach_kubectl():
    """The pod is deleted by the name with which it was created, although the creation failed."""
    kubectl = 'case "$*" in *create*) echo no such namespace >&2; exit 1 ;; esac'
    with Series(READY, FAILING):
        result, calls = with_programs(
            {"kubectl": kubectl},
            "selftest",
            "-n",
            "lab",
            "--context",
            "c",
            "--kubeconfig",
            "/k",
        )
    check("a failed creation fails the test", result.returncode == 1, result)
    check(
        "the steps after it are left out, but for the cleanup",
        steps(result) == [["ok", "agent"], ["FAIL", "pod"], ["ok", "clean"]],
        result,
    )
    check("kubectl's own message is printed", "no such namespace" in result.stderr, result)
    check(
        "a check that fails is named with its remedy",
        "-> skube check fails: clock: late: set it\n" in result.stdout,
        result,
    )
    create, delete = calls
    common = "kubectl --request-timeout=10s --kubeconfig /k --context c "
    check("create", create.startswith(f"{common}create --filename -"), create)
    check("delete", delete.startswith(f"{common}delete pod skube-selftest-"), delete)
    check("both in the namespace", all(c.endswith("--namespace lab") for c in calls), calls)


def test_an_agent_that_is_not_ready():
    with Series(dict(READY, link=False), FAILING):
        result, calls = with_programs({"kubectl": ""}, "selftest", "--json")
    report = json.loads(result.stdout)
    check("no pod is created", result.returncode == 1 and calls == [], (result, calls))
    check(
        "the report has one step",
        not report["ok"]
        and [(one["name"], one["ok"]) for one in report["steps"]] == [("agent", False)]
        and "not connected" in report["steps"][0]["text"]
        and report["steps"][0]["remedies"][1].startswith("skube check fails: clock"),
        report,
    )
    gone = skube("selftest")
    check(
        "nor without an agent",
        gone.returncode == 1 and "cannot reach slurmkubed" in gone.stdout,
        gone,
    )


def test_a_deletion_that_fails():
    kubectl = """case "$*" in
*delete*) exit 1 ;;
*get*) exit 0 ;;
esac"""
    with Series(READY, NOT_SEEN, FAILING, FAILING):
        result, _ = with_programs({"kubectl": kubectl}, "selftest")
    check(
        "is a step that failed, with the command to repeat",
        steps(result)[-1] == ["FAIL", "clean"]
        and "-> kubectl delete pod skube-selftest-" in result.stdout
        and result.returncode == 1,
        result,
    )


def test_a_reader_that_has_gone():
    """The pod is deleted even if nobody reads the steps any more."""
    calls = os.path.join(DIR, "calls")
    kubectl = os.path.join(DIR, "kubectl")
    with open(kubectl, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\necho "$*" >> {calls}\n')
    os.chmod(kubectl, 0o755)
    reader, writer = os.pipe()
    os.close(reader)
    with Series(READY, NOT_SEEN, FAILING):
        subprocess.run(
            [SKUBE, "--socket", SOCKET, "selftest"],
            stdout=writer,
            env={**os.environ, "PATH": f"{DIR}:/usr/bin:/bin"},
            timeout=60,
            check=False,
        )
    os.close(writer)
    with open(calls, encoding="utf-8") as file:
        verbs = [line.split()[1] for line in file]
    check("created, looked at, deleted", verbs == ["create", "get", "delete"], verbs)
    os.unlink(calls)
    os.unlink(kubectl)


def test_no_kubectl():
    with Peer(READY):
        result = subprocess.run(
            [SKUBE, "--socket", SOCKET, "selftest"],
            capture_output=True,
            text=True,
            env={"PATH": DIR},
            timeout=60,
            check=False,
        )
    check("is named", "there is no kubectl in PATH" in result.stdout, result)


for test in (
    test_options_reach_kubectl,
    test_an_agent_that_is_not_ready,
    test_a_deletion_that_fails,
    test_a_reader_that_has_gone,
    test_no_kubectl,
):
    test()
sys.exit(finish())
