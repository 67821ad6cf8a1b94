# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices of resource claims, judged by the API server's history of the claims: at no moment has a
device been allocated to two claims, and a pod runs only with claims that are reserved for it.
"""


def devices_of(claim):
    """{(driver, pool, device)} that are allocated to the claim."""
    allocation = claim.get("status", {}).get("allocation", {})
    results = allocation.get("devices", {}).get("results", [])
    return {(r["driver"], r["pool"], r["device"]) for r in results if not r.get("adminAccess")}


def given_twice(events):
    """Describes each device that a claim got while another had it. events: of claims, [(seconds,
    "ADDED" | "MODIFIED" | "DELETED", claim)], in the order of their versions.
    """
    holder, wrong = {}, []
    for when, what, claim in events:
        name = f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"
        has = set() if what == "DELETED" else devices_of(claim)
        for device in [d for d, who in holder.items() if who == name and d not in has]:
            del holder[device]
        for device in sorted(has):
            former = holder.setdefault(device, name)
            if former != name:
                wrong.append(f"{when:.3f}: {'/'.join(device)} of {former} was given to {name}")
    return wrong
