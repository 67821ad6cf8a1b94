# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests register themselves here, in the order of import. Their names are sentences."""

TESTS = []


def test(function):
    TESTS.append(function)
    return function


def equal(got, wanted):
    assert got == wanted, f"got {got!r}, wanted {wanted!r}"


def contains(text, part):
    assert part in text, f"{text!r} does not contain {part!r}"
