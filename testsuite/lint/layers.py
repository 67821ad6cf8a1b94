#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Which folder may include which (doc/design/architecture.md): fails on a forbidden include.

usage: layers.py [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory
"""
import os
import re
import sys

# folder under src/ -> the folders of ours and the foreign headers that it may include
RULES = {
    "base": (("src/base/",), ()),
    "core": (("src/base/", "src/core/"), ()),
    "codec": (("src/base/", "src/core/", "src/codec/"), ("json-c/",)),
    "manifests": (("src/base/", "src/core/", "src/manifests/"), ()),
    "agent": (
        ("src/base/", "src/core/", "src/codec/", "src/manifests/", "src/agent/"),
        ("json-c/", "curl/", "yaml.h", "jwt.h", "systemd/", "slurm/", "microhttpd.h"),
    ),
    "skube": (
        ("src/base/", "src/codec/", "src/core/", "src/manifests/", "src/skube/"),
        ("json-c/", "yaml.h"),
    ),
    "node": (("src/base/", "src/codec/", "src/core/", "src/node/"), ("systemd/",)),
    "plugins": (("src/base/", "src/core/", "src/codec/", "src/plugins/"), ("json-c/",)),
}
# folders of src/core, each of which may include itself and those before it
CORE = (
    "model",
    "cel",
    "device",
    "lease",
    "policy",
    "options",
    "translate",
    "placement",
    "gang",
    "reconcile",
    "world",
    "inspect",
)
# headers that the pure folders must not include
IMPURE = re.compile(
    r"^(sys/|unistd\.h|fcntl\.h|pthread\.h|netinet/|arpa/|poll\.h|fstream|iostream|thread|mutex"
    r"|condition_variable|filesystem|ctime|time\.h)"
)
PURE = ("core", "codec", "manifests")
# headers that are valid C, too, so that a seam may include them
BOTH = ("src/base/slurm_versions.h",)
LIBRARIES = ("json-c/", "curl/", "yaml.h", "jwt.h", "systemd/", "slurm/", "microhttpd.h")
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def is_seam(path):
    """The C files of a plugin and their own headers: they include Slurm's headers and none of our
    C++ headers.
    """
    return "/plugins/" in path and path.endswith((".c", "/seam.h", "/seam_private.h"))


def is_upward(path, name):
    """Within src/core: an include of a folder that comes later, or that is not in the list."""
    here, there = path.split("/")[2], name.split("/")[2]
    return here not in CORE or there not in CORE or CORE.index(there) > CORE.index(here)


def fault(path, kind, name):
    folder = path.split("/")[1]
    ours, libraries = RULES[folder]
    if is_seam(path):
        if (
            name.endswith(".h")
            and name not in BOTH
            and name.startswith(("src/core/", "src/codec/", "src/base/", "src/agent/"))
        ):
            return "a C seam includes our C++"
        return None
    if path.startswith("src/core/") and name.startswith("src/core/") and is_upward(path, name):
        return "upward in src/core"
    if name.startswith("src/"):
        if name.startswith(("src/slurmctld/", "src/common/", "src/interfaces/")):
            return "Slurm's private headers belong into the C seam"
        return None if name.startswith(ours) else f"src/{folder} may not use it"
    if name.startswith(LIBRARIES) and not name.startswith(libraries):
        return f"src/{folder} may not use this library"
    if folder in PURE and IMPURE.match(name):
        return f"src/{folder} is pure"
    return None


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("srcdir", ".")
    os.chdir(top)
    seen, faults = 0, 0
    for folder, _, files in os.walk("src"):
        for file in sorted(files):
            if not file.endswith((".h", ".c", ".cc")):
                continue
            path = os.path.join(folder, file)
            for number, line in enumerate(open(path, encoding="utf-8"), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                seen += 1
                why = fault(path, *match.groups())
                if why:
                    faults += 1
                    print(f"{path}:{number}: {match.group(2)}: {why}")
    print(f"{seen} includes, {faults} forbidden")
    return 1 if faults or not seen else 0


sys.exit(main())
