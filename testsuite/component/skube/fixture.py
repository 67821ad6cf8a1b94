# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of skube share: a peer that answers as told, and checks that print TAP."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

SKUBE = os.path.join(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "."), "skube")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
DIR = tempfile.mkdtemp(prefix="slurm-kube-skube.")
SOCKET = os.path.join(DIR, "control.sock")
count = failed = 0


class Series:
    """Answers one request after the other, each with the next reply, and then goes away."""

    def __init__(self, *replies):
        self.replies, self.requests = replies, []

    def __enter__(self):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(SOCKET)
        self.listener.listen()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return self

    def serve(self):
        for reply in self.replies:
            client, _ = self.listener.accept()
            with client:
                self.requests.append(json.loads(client.recv(65536)))
                client.sendall(json.dumps(reply).encode() + b"\n")
        self.listener.close()
        os.unlink(SOCKET)

    def __exit__(self, *_):
        self.thread.join(5)


class Peer:
    """Answers one request with the given bytes, then closes the connection; keeps the request."""

    def __init__(self, reply, pause=0.0):
        self.reply = reply if isinstance(reply, bytes) else json.dumps(reply).encode() + b"\n"
        self.pause, self.request = pause, b""

    def __enter__(self):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(SOCKET)
        self.listener.listen()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return self

    def serve(self):
        try:
            client, _ = self.listener.accept()
        except OSError:
            return
        with client:
            while not self.request.endswith(b"\n"):
                self.request += client.recv(1000)
            if not self.pause:
                client.sendall(self.reply)
                return
            for start in range(0, len(self.reply), 1000):
                client.sendall(self.reply[start : start + 1000])
                time.sleep(self.pause)

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(5)
        os.unlink(SOCKET)


def skube(*words, **kwargs):
    return subprocess.run(
        [SKUBE, "--socket", SOCKET, *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **kwargs,
    )


def ask(reply, *words):
    with Peer(reply) as peer:
        result = skube(*words)
    return result, peer.request


def with_programs(programs, *words, **kwargs):
    """Runs skube with these programs in PATH: name -> shell text. Each program records its calls.
    Returns (result, calls).
    """
    folder = tempfile.mkdtemp(dir=DIR)
    for name, text in programs.items():
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nprintf "%s\\n" "{name} $*" >> {folder}/calls\n{text}\n')
        os.chmod(path, 0o755)
    environment = {**os.environ, "PATH": f"{folder}:/usr/bin:/bin"}
    result = subprocess.run(
        [SKUBE, "--socket", SOCKET, *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
        **kwargs,
    )
    calls = ""
    if os.path.exists(f"{folder}/calls"):
        with open(f"{folder}/calls", encoding="utf-8") as file:
            calls = file.read()
    shutil.rmtree(folder)
    return result, calls.splitlines()


def check(name, ok, detail=""):
    global count, failed
    count += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {count} - {name}")
    if not ok:
        print("\n".join("# " + line for line in str(detail).splitlines()))


def skip(name, reason):
    global count
    count += 1
    print(f"ok {count} - {name} # SKIP {reason}")


def is_output(name, result, wanted, status=0):
    check(
        name,
        result.stdout == wanted and result.returncode == status,
        f"status {result.returncode}\n{result.stdout}{result.stderr}\nwanted:\n{wanted}",
    )


def finish():
    """Prints the plan of TAP and returns the exit status."""
    os.rmdir(DIR)
    print(f"1..{count}")
    return 1 if failed else 0
