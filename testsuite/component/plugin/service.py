# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes in and out of service under each ReturnToService. With 0, Slurm's default, administrators
must bring back a node that was DOWN.
"""
import time

from slurm_gaps import is_idle, restart, running, update


def under(fixture, peer, setting):
    """k1 was set DOWN because it did not respond within SlurmdTimeout while no plugin was loaded;
    an administrator set k2 DOWN; k3 does not respond.
    """
    fixture.write_conf(return_to_service=setting)
    restart(fixture, peer)
    update(fixture, "k2", "state=down", "reason=broken")
    update(fixture, "k3", "state=noresp")
    update(fixture, "k1", "state=down", "reason=Not responding")
    if fixture.is_native():
        time.sleep(
            0.5
        )  # the keeper looks every 100 ms; native Slurm keeps no DOWN of external nodes
    restart(fixture, peer)


def stays(fixture, node, state, seconds=1.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert fixture.node_state(node).startswith(state), (node, fixture.node_text(node))
        time.sleep(0.1)


def a_node_that_was_down_follows_return_to_service(fixture, peer):
    for setting in ("0", "2", "1"):
        began = time.monotonic()
        under(fixture, peer, setting)
        print(
            f"# ReturnToService={setting}: snapshot and all after {time.monotonic() - began:.1f} s"
        )
        if setting == "0":
            stays(fixture, "k1", "DOWN")
            line = peer.last("node", name="k1")[1]
            assert line["base"] == "down" and line["reason"] == "Not responding", line
            assert (
                fixture.log().count("and slurm.conf does not let Slurm return it to service") <= 3
            ), "told too often"
            assert "node k1: DOWN" in fixture.log(), "not told"
            update(fixture, "k1", "state=resume")
        is_idle(fixture, "k1", "k3")
        stays(fixture, "k2", "DOWN", 0.3)
        fixture.complete(running(fixture, peer, f"service-{setting}", node="k1"))
        update(fixture, "k2", "state=resume")
        is_idle(fixture, "k1", "k2", "k3")


def a_node_set_down_stays_so_when_its_job_has_ended(fixture, peer):
    """Slurm takes the answer to the end of a job for a sign of life, and with ReturnToService=2 it
    brings back any DOWN node.
    """
    fixture.write_conf(return_to_service="2")
    restart(fixture, peer)
    running(fixture, peer, "down-with-a-job", node="k2")
    update(fixture, "k2", "state=down", "reason=broken")
    stays(fixture, "k2", "DOWN", 2.0)
    update(fixture, "k2", "state=resume")
    fixture.write_conf(return_to_service="1")
    restart(fixture, peer)
    is_idle(fixture, "k2")


TESTS = [
    a_node_set_down_stays_so_when_its_job_has_ended,
    a_node_that_was_down_follows_return_to_service,
]
