#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Versions are compared in one header each: Slurm's in src/base/slurm_versions.h, libcurl's in
src/agent/kube/curl_versions.h. Other files use the names defined there.

usage: versions.py [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory
"""
import os
import re
import sys

# a number computed from a version, a comparison with one, a version as a separate string
SLURM = re.compile(
    r"""
    SLURM_VERSION_NUM\s*\(
  | KUBE_SLURM_NUMBER\s*\(
  | \b(SLURM_VERSION_NUMBER|\w*slurm_(version_)?number|SLURM_PROTOCOL_VERSION)\s*[<>]
  | [<>]=?\s*(SLURM_VERSION_NUMBER|SLURM_\d\d_\d\d_PROTOCOL_VERSION)
  | \b2\d[uU]?\s*<<\s*16
  | "2\d\.(02|05|11)"
""",
    re.VERBOSE,
)
CURL = re.compile(r"\bLIBCURL_VERSION\w*|\bcurl_version(_info)?\b|\bKUBE_CURL_NUMBER\b")
RULES = (("src/base/slurm_versions.h", SLURM), ("src/agent/kube/curl_versions.h", CURL))
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def code_of(path):
    """The lines without comments, which may mention versions."""
    text = open(path, encoding="utf-8").read()
    return COMMENT.sub(lambda match: "\n" * match.group().count("\n"), text).split("\n")


def paths():
    for folder, _, files in os.walk("src"):
        for file in sorted(files):
            if file.endswith((".h", ".c", ".cc")):
                yield os.path.join(folder, file)


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("srcdir", "."))
    seen = faults = 0
    for path in paths():
        seen += 1
        for number, line in enumerate(code_of(path), 1):
            for header, forbidden in RULES:
                if path != header and forbidden.search(line):
                    faults += 1
                    print(f"{path}:{number}: {line.strip()}: name it in {header}")
    print(f"{seen} files, {faults} forbidden")
    return 1 if faults or not seen else 0


sys.exit(main())
