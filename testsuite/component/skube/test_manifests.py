#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_manifests.py [BUILD_DIR]: the files with objects for Kubernetes are what the programs print.
Prints TAP. testsuite/e2e/test_installed_objects.py applies them.
"""

import os
import re
import subprocess
import sys

from fixture import DIR, SKUBE, SOURCE, check, finish

GENERATE = os.path.join(SOURCE, "contribs/generate-manifests")
BASE = os.path.join(SOURCE, "contribs/kustomize")


def read(*names):
    with open(os.path.join(*names), encoding="utf-8") as file:
        return file.read()


def test_files_are_current():
    said = subprocess.run(
        [GENERATE, "--check", os.path.dirname(SKUBE)], capture_output=True, text=True, check=False
    )
    check("the files are those that generate-manifests writes", said.returncode == 0, said)
    nothing = subprocess.run([GENERATE, DIR], capture_output=True, text=True, check=False)
    check(
        "without a build it says what it needs",
        nothing.returncode == 1 and "run make" in nothing.stderr,
        nothing,
    )


def test_every_part_is_in_the_base():
    """By default what skube manifests prints by default; the rest in a folder of its own."""
    parts = subprocess.run(
        [SKUBE, "manifests", "--only", "?"], capture_output=True, text=True, check=False
    ).stderr
    parts = set(re.search(r"the parts are ([\w, -]+[\w])", parts).group(1).split(", "))
    listed = re.findall(r"^- ([\w-]+)\.yaml$", read(BASE, "kustomization.yaml"), re.M)
    check("the base lists the default parts", set(listed) == parts - {"scheduler-name-policy"})
    folder = os.path.join(BASE, "scheduler-name-policy")
    check(
        "and a component the other one",
        "\n- scheduler-name-policy.yaml\n" in read(folder, "kustomization.yaml"),
    )
    for where, names in ((BASE, listed), (folder, ["scheduler-name-policy"])):
        there = {name for name in os.listdir(where) if name.endswith(".yaml")}
        wanted = {f"{name}.yaml" for name in (*names, "kustomization")}
        check(f"{os.path.basename(where)} has no other file", there == wanted, there)


test_files_are_current()
test_every_part_is_in_the_base()
sys.exit(finish())
