# SPDX-License-Identifier: GPL-2.0-or-later
"""A device belongs to one claim at a time."""
from history_checker.devices import given_twice


def claim(name, *devices):
    results = [{"request": "r", "driver": "d", "pool": "n1", "device": one} for one in devices]
    status = {"allocation": {"devices": {"results": results}}} if devices else {}
    return {"metadata": {"namespace": "default", "name": name}, "status": status}


def test_one_after_the_other():
    events = [
        (1, "ADDED", claim("a")),
        (2, "MODIFIED", claim("a", "gpu-0")),
        (3, "MODIFIED", claim("b", "gpu-1")),
        (4, "MODIFIED", claim("a")),
        (5, "MODIFIED", claim("c", "gpu-0")),
        (6, "DELETED", claim("b", "gpu-1")),
        (7, "MODIFIED", claim("d", "gpu-1")),
    ]
    assert given_twice(events) == []


def test_two_at_a_time():
    events = [(1, "ADDED", claim("a", "gpu-0")), (2, "ADDED", claim("b", "gpu-0", "gpu-1"))]
    assert given_twice(events) == [
        "2.000: d/n1/gpu-0 of default/a was given to default/b",
    ]
