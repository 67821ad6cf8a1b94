# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that the tests start. Only these are ended, by their process id, never by name."""
import ctypes
import os
import signal
import subprocess
from pathlib import Path

from .waiting import LIMIT, Timeout, wait_for

TESTSUITE = Path(__file__).resolve().parents[2]
SOURCE = TESTSUITE.parent
CACHE = Path(
    os.environ.get("SLURM_KUBE_CACHE")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "slurm-kube"
)
_PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None).prctl


class Died(Exception):
    """A daemon has ended; waiting for it is useless."""


def _die_with_parent():
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def output_of(*command, env=None, timeout=60, check=True, stdin=None):
    """Runs a command and returns its output. A failure or a timeout raises an error with the
    command's own messages.
    """
    try:
        r = subprocess.run(
            [str(c) for c in command],
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
            input=stdin,
            check=False,
        )
    except subprocess.TimeoutExpired as e:
        raise RuntimeError(f"{' '.join(map(str, command))}: no end after {timeout} s") from e
    if check and r.returncode:
        raise RuntimeError(
            f"{' '.join(map(str, command))}: exit {r.returncode}:"
            f" {(r.stderr or r.stdout).strip()[-1500:]}"
        )
    return r.stdout


class Process:
    """A daemon in the foreground with its output in a log file. A daemon that replaces itself, as
    slurmctld does on reconfigure, is followed by its pid file.
    """

    def __init__(self, name, command, log, env=None, pid_file=None):
        self.name, self.command, self.log, self.env, self.pid_file = (
            name,
            [str(c) for c in command],
            log,
            env,
            pid_file,
        )
        self.child = None
        self.is_wanted = False  # started, and not ended by the test

    def start(self):
        """Starts the daemon; the kernel ends it together with this process, even if that is
        killed.
        """
        assert not self.alive(), f"{self.name} runs already"
        self.is_wanted = True
        if self.pid_file:
            self.pid_file.unlink(missing_ok=True)
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(
                self.command,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **(self.env or {})},
                preexec_fn=_die_with_parent,
            )

    @property
    def pid(self):
        """Its process id now, or None."""
        try:
            pid = int(self.pid_file.read_text())
            os.kill(pid, 0)
            return pid
        except (AttributeError, OSError, ValueError):
            return self.child.pid if self.child and self.child.poll() is None else None

    def alive(self):
        return self.pid is not None

    def check(self):
        """Raises an error with the end of its log if it has died."""
        if not self.alive():
            raise Died(f"{self.name} died: {tail(self.log, 8)}")
        return True

    def signal(self, number):
        pid = self.pid
        if pid:
            os.kill(pid, number)

    def _gone(self):
        if self.child:
            self.child.poll()
        return not self.alive()

    def kill9(self):
        self.is_wanted = False
        self.signal(signal.SIGKILL)
        wait_for(self._gone, f"the end of {self.name}", LIMIT, 0.005)

    def stop(self, timeout=LIMIT):
        """Ends it with SIGTERM; with SIGKILL if that has no effect."""
        self.is_wanted = False
        self.signal(signal.SIGTERM)
        try:
            wait_for(self._gone, f"the end of {self.name}", timeout, 0.01)
        except Timeout as e:
            left = f"{e}; {self.threads()}; {tail(self.log, 8)}"
            self.kill9()
            raise Timeout(left) from e

    def threads(self):
        """The threads that are left, and what each waits for."""
        found = []
        for task in sorted(Path(f"/proc/{self.pid}/task").glob("*")):
            try:
                found += [" ".join((task / f).read_text().strip() for f in ("comm", "wchan"))]
            except OSError:
                continue  # it has ended
        return f"its threads: {', '.join(found)}"


def tail(path, lines):
    """The last lines of a file, or the reason why it cannot be read."""
    try:
        return "\n".join(Path(path).read_text(errors="replace").splitlines()[-lines:])
    except OSError as e:
        return str(e)
