#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents agree with the tree: they name the packages needed to build, the lines for slurm.conf
are those of the example in etc, the tested Slurm series are those of configure, and the tested
releases those of testsuite/check. The lint links checks their links.

usage: documents.py [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory
"""
import os
import re
import sys
from pathlib import Path


def unnamed_packages(top):
    text = (top / "testsuite/common.sh").read_text(encoding="utf-8")
    wanted = re.search(r'^BUILD_PACKAGES="([^"]*)"', text, re.M).group(1).split()
    named = (top / "doc/admin.md").read_text(encoding="utf-8").split()
    return [
        f"doc/admin.md: does not name the package {p}, which building takes"
        for p in wanted
        if p not in named
    ]


def other_lines(top):
    def settings(text):
        return [
            line
            for line in text.splitlines()
            if re.match(r"#?[A-Z][A-Za-z]+[= ]\S+", line) and not line.endswith(".")
        ]

    block = (
        (top / "doc/admin.md")
        .read_text(encoding="utf-8")
        .partition("## Configure Slurm")[2]
        .split("```")[1]
    )
    example, told = settings(
        (top / "etc/slurm-kube.slurm.conf").read_text(encoding="utf-8")
    ), settings(block)
    return (
        []
        if example == told
        else [
            "doc/admin.md has other lines for slurm.conf than etc/slurm-kube.slurm.conf:"
            f" {told} and {example}"
        ]
    )


def other_series(top):
    header = (top / "src/base/slurm_versions.h").read_text(encoding="utf-8")
    checked = {
        f"{int(a)}.{int(b):02}"
        for a, b in re.findall(r"KUBE_IS_SLURM_SERIES\(number, (\d+), (\d+)\)", header)
    }
    said = set(re.findall(r"\d\d\.\d\d", re.search(r'KUBE_SLURM_TESTED "(.*)"', header).group(1)))
    row = next(
        line
        for line in (top / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| Slurm |")
    )
    told = set(re.findall(r"\b\d\d\.\d\d\b(?!\.)", row))
    return (
        []
        if checked == told == said
        else [
            f"README.md: tested Slurm {sorted(told)}, configure: {sorted(checked)}, its message:"
            f" {sorted(said)}"
        ]
    )


def unnamed_releases(top):
    """doc/admin.md has configure's list of tested series, and README.md the releases with which
    testsuite/check tests every change.
    """

    def text(path):
        return " ".join((top / path).read_text(encoding="utf-8").split())

    series = re.search(r'KUBE_SLURM_TESTED "(.*?)"', text("src/base/slurm_versions.h")).group(1)
    releases = re.search(r' versions="([^"]*)"', text("testsuite/check")).group(1).split()
    releases.remove("testing")
    return [
        f"{path}: does not name {what}, as {source} does"
        for path, what, source in (
            ("doc/admin.md", series, "src/base/slurm_versions.h"),
            *(("README.md", release, "testsuite/check") for release in releases),
        )
        if what not in text(path)
    ]


def main():
    top = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("srcdir", "."))
    faults = [*unnamed_packages(top), *other_lines(top), *other_series(top), *unnamed_releases(top)]
    print("\n".join(faults) or "documents agree with the tree")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
