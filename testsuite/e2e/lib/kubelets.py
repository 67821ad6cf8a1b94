# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests do in a kubelet's place, on nodes simulated by kwok or by nothing.

The test ends a pod explicitly when it is ready for that; a pod that lives for a fixed number of
seconds could be gone too early on a slow machine. On kwok's nodes such a pod runs with kwok={"run":
"1h"}, and one that takes long to stop has kwok={"stop": "1h"}, until end_pod() ends it.
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
    """The pod's container exits with that code. If the pod is being deleted, kwok then
    removes it.
    """
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
    """The kubelet restarts the pod's container."""
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
    """The pod's node is NotReady. kwok must be frozen, otherwise it reports Ready at once. A report
    that it has already sent may arrive later, so this one is repeated until it has lasted for calm
    seconds.
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
