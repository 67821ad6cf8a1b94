# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests do in a kubelet's place, on nodes that kwok plays or nobody does.

A pod whose life is an action of the test ends when the test is ready for it: pods that live for
seconds are gone when a machine is slow. On kwok's nodes such a pod runs with kwok={"run": "1h"},
one that takes its time over its end with kwok={"stop": "1h"}, until end_pod() says how it ended.
"""
import datetime
import threading
import time

from .kube import condition
from .waiting import LIMIT, Timeout

_never = threading.Event()


def _container(state, restarts=0):
    return [
        {
            "name": "main",
            "image": "x",
            "imageID": "x",
            "ready": "running" in state,
            "restartCount": restarts,
            "state": state,
        }
    ]


def end_pod(bed, name, code=0):
    """Its container has ended with that code. kwok removes it then, if it is being deleted."""
    end = {"exitCode": code, "reason": "Error" if code else "Completed"}
    bed.kube.patch(
        "Pod",
        name,
        {
            "status": {
                "phase": "Failed" if code else "Succeeded",
                "containerStatuses": _container({"terminated": end}),
            }
        },
        "status",
    )


def restart_container(bed, name):
    """It has started its container again."""
    bed.kube.patch(
        "Pod",
        name,
        {
            "status": {
                "phase": "Running",
                "containerStatuses": _container(
                    {"running": {"startedAt": "2026-01-01T00:00:00Z"}}, 1
                ),
            }
        },
        "status",
    )


def not_ready(bed, name, calm=2.0):
    """Its node is not ready. kwok must be frozen, else it says Ready at once; what it had sent
    before may come after ours, which is said again until it has stood for so many seconds.
    """
    end, since = time.monotonic() + LIMIT, None
    while since is None or time.monotonic() - since < calm:
        if time.monotonic() > end:
            raise Timeout(f"{name} is Ready again and again")
        if condition(bed.kube.get("Node", name), "Ready").get("status") != "False":
            _say_not_ready(bed, name)
            since = time.monotonic()
        _never.wait(0.2)


def _say_not_ready(bed, name):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    bed.kube.patch(
        "Node",
        name,
        {
            "status": {
                "conditions": [
                    {
                        "type": "Ready",
                        "status": "False",
                        "reason": "KubeletNotReady",
                        "lastHeartbeatTime": now,
                        "lastTransitionTime": now,
                    }
                ]
            }
        },
        "status",
    )
