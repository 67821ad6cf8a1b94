# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes in and out of service under each ReturnToService: 0 is Slurm's default, and leaves what was
DOWN to administrators.
"""
import time

from holes import is_idle, restart, running, update


def under(lab, peer, setting):
    """k1 did not answer for SlurmdTimeout while no plugin was there; k2 was set DOWN by an
    administrator, k3 is silent.
    """
    lab.write_conf(return_to_service=setting)
    restart(lab, peer)
    update(lab, "k2", "state=down", "reason=broken")
    update(lab, "k3", "state=noresp")
    update(lab, "k1", "state=down", "reason=Not responding")
    if lab.is_native():
        time.sleep(
            0.5
        )  # the keeper looks every 100 ms; native Slurm keeps no DOWN of external nodes
    restart(lab, peer)


def stays(lab, node, state, seconds=1.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert lab.node_state(node).startswith(state), (node, lab.node_text(node))
        time.sleep(0.1)


def a_node_that_was_down_follows_return_to_service(lab, peer):
    for setting in ("0", "2", "1"):
        began = time.monotonic()
        under(lab, peer, setting)
        print(
            f"# ReturnToService={setting}: snapshot and all after {time.monotonic() - began:.1f} s"
        )
        if setting == "0":
            stays(lab, "k1", "DOWN")
            line = peer.last("node", name="k1")[1]
            assert line["base"] == "down" and line["reason"] == "Not responding", line
            assert (
                lab.log().count("and slurm.conf does not let Slurm return it to service") <= 3
            ), "told too often"
            assert "node k1: DOWN" in lab.log(), "not told"
            update(lab, "k1", "state=resume")
        is_idle(lab, "k1", "k3")
        stays(lab, "k2", "DOWN", 0.3)
        lab.complete(running(lab, peer, f"service-{setting}", node="k1"))
        update(lab, "k2", "state=resume")
        is_idle(lab, "k1", "k2", "k3")


def a_node_set_down_stays_so_when_its_job_has_ended(lab, peer):
    """Slurm takes the answer to the end of a job for a sign of life, and ReturnToService=2 brings
    back whatever is DOWN.
    """
    lab.write_conf(return_to_service="2")
    restart(lab, peer)
    running(lab, peer, "down-with-a-job", node="k2")
    update(lab, "k2", "state=down", "reason=broken")
    stays(lab, "k2", "DOWN", 2.0)
    update(lab, "k2", "state=resume")
    lab.write_conf(return_to_service="1")
    restart(lab, peer)
    is_idle(lab, "k2")


TESTS = [
    a_node_set_down_stays_so_when_its_job_has_ended,
    a_node_that_was_down_follows_return_to_service,
]
