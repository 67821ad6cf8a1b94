# SPDX-License-Identifier: GPL-2.0-or-later
"""skube as an administrator runs it: with an administrator's kubectl and this Slurm's commands."""
import os
import subprocess

from .process import CACHE
from .tap import Skip


def needs_kubectl(bed):
    """To be called first in a test, which would otherwise leave behind what it has done."""
    if bed.slurm.root:
        raise Skip("kubectl is not in the chroot of this Slurm")


def skube_command(bed, *words, user=None):
    """The command line; as another user (a name) with Slurm's commands, but without kubectl."""
    needs_kubectl(bed)
    slurm = bed.slurm.bin or "/usr/bin"
    path = f"{'' if user else f'{CACHE}/k8s/bin:'}{slurm}:{os.environ['PATH']}"
    who = ["setpriv", f"--reuid={user}", "--regid=nogroup", "--clear-groups"] if user else []
    command = [
        *who,
        "env",
        f"PATH={path}",
        f"KUBECONFIG={'/nonexistent' if user else bed.plane.kubeconfig()}",
        *bed.slurm.program(bed.agent.skube_program, "--socket", bed.dir / "control.sock", *words),
    ]
    return [str(word) for word in command]


def skube(bed, *words, user=None):
    """Runs it to its end; the caller looks at returncode, stdout and stderr."""
    return subprocess.run(
        skube_command(bed, *words, user=user),
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
