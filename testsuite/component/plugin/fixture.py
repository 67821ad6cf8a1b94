# SPDX-License-Identifier: GPL-2.0-or-later
"""A private slurmctld with the plugin, and a peer that listens in the agent's place.

Everything is in one directory and uses ports of 127.0.0.1. A Slurm of another release runs in its
chroot (BUILD_DIR/slurm.env, see testsuite/slurm); Python, munged and the peer run outside.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import suppress

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))

SLURM_CONF = """
ClusterName=lab
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={run}/munge.socket
SlurmctldPort={port}
SlurmdPort={slurmd_port}
StateSaveLocation={run}/state
SlurmdSpoolDir={run}/spool
SlurmctldPidFile={run}/slurmctld.pid
SlurmctldLogFile={run}/slurmctld.log
SlurmctldDebug=info
PluginDir={plugins}
{submit}
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
ReturnToService={return_to_service}
MinJobAge=2
MessageTimeout=5
InactiveLimit={inactive}
SlurmdTimeout=5
GresTypes=gpu
{dynamic}
{extra}
{nodes}
NodeName=n1 NodeAddr=127.0.0.1 CPUs=4 RealMemory=4000 Feature=kubernetes {native_node}
PartitionName=native Nodes=n1 Default={native_default}
NodeSet=external Feature=kube
PartitionName=kube Nodes=external Default={kube_default}
PartitionName=mixed Nodes=n1,k1
"""
AT_SINK = "NodeAddr=127.0.0.1 Port={sink} CPUs=4 RealMemory=4000 State={external}"
NODES = f"""NodeName=k[1-4] {AT_SINK} Feature=big,kube
NodeName=g1 {AT_SINK} Feature=kube Gres=gpu:2
"""
# Like a native external node: no daemon listens there. Its weight keeps jobs that name no node away
# from it.
DEAD_END = (
    "NodeName=x1 NodeAddr=127.0.0.1 Port=1 CPUs=4 RealMemory=4000 Feature=kube State=EXTERNAL"
    " Weight=1000\n"
)

# A node with a real slurmd, for start_slurmd().
NATIVE_NODE = "NodeHostname=localhost Port={slurmd_port}"


class Skip(Exception):
    """The test cannot apply to this Slurm; the text gives the reason."""


# seconds; the longest wait for another process on a busy machine
PATIENCE = 60.0


def slowness():
    """How much longer a program takes to run here than on an idle machine; limits on measured times
    are multiplied by this.
    """
    times = []
    for _ in range(9):
        began = time.monotonic()
        subprocess.run(["true"], check=True)
        times.append(time.monotonic() - began)
    return max(1.0, sorted(times)[4] / 0.004)


def eventually(condition, seconds=PATIENCE, every=0.005):
    """The first true result of condition, or its last result when the time is up."""
    end = time.monotonic() + seconds
    while True:
        result = condition()
        if result or time.monotonic() > end:
            return result
        time.sleep(every)


class Peer:
    """Listens on the plugin's socket and keeps every line with its time of arrival
    (CLOCK_MONOTONIC, ns).
    """

    def __init__(self, path):
        self.path = path
        self.lines = []  # (ns, message) of all connections, in order of arrival
        self.connections = 0
        self.gaps = 0
        self.reading = threading.Event()
        self.reading.set()
        self.listener = None
        self.connection = None
        self.start()

    def start(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(1)
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def stop(self):
        """Behaves like an agent that died."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.drop()
        os.unlink(self.path)

    def drop(self):
        if self.connection:
            try:
                self.connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self.connection = connection
            self.connections += 1
            with suppress(BrokenPipeError):  # drop() was called meanwhile; the plugin comes again
                connection.sendall(b'{"type":"welcome","protocol":1,"agent":"test"}\n')
                self.read(connection)

    def read(self, connection):
        rest, expected = b"", 1
        while True:
            self.reading.wait()
            try:
                data = connection.recv(1 << 16)
            except OSError:
                data = b""
            now = time.monotonic_ns()
            if not data:
                connection.close()
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                message = json.loads(line)
                self.gaps += message["seq"] != expected
                expected += 1
                self.lines.append((now, message))

    def snapshot(self, after=0):
        """The jobs, by id, of the latest complete snapshot that began after the first after lines;
        None if there is none.
        """
        jobs = None
        whole = None
        for _, m in self.lines[after:]:
            if m["type"] == "snapshot_begin":
                jobs = {}
            elif m["type"] == "job" and jobs is not None:
                jobs[m["id"]] = m
            elif m["type"] == "snapshot_end" and jobs is not None:
                whole, jobs = jobs, None
        return whole

    def find(self, kind, after=0, **wanted):
        """(ns, message) of the first matching line, or None."""
        for ns, m in self.lines[after:]:
            if m["type"] == kind and all(m.get(k) == v for k, v in wanted.items()):
                return ns, m
        return None

    def wait(self, kind, seconds=PATIENCE, after=0, **wanted):
        return eventually(lambda: self.find(kind, after, **wanted), seconds)

    def last(self, kind, **wanted):
        for ns, m in reversed(self.lines):
            if m["type"] == kind and all(m.get(k) == v for k, v in wanted.items()):
                return ns, m
        return None


class Fixture:
    def __init__(self, build, base_port, **options):
        self.build = os.path.abspath(build)
        self.run = tempfile.mkdtemp(prefix="slurm-kube-plugin.", dir=os.environ.get("TEST_TMPDIR"))
        os.chmod(self.run, 0o755)
        self.port, self.sink, self.slurmd_port = base_port, base_port + 1, base_port + 2
        self.root = self.read_env("SLURM_ROOT")
        self.prefix = os.environ.get("SLURM_PREFIX") or self.read_env("SLURM_PREFIX")
        self.env = dict(os.environ, SLURM_CONF=f"{self.run}/slurm.conf", SLURM_TIME_FORMAT="%s")
        if self.prefix:
            self.env["PATH"] = f"{self.prefix}/sbin:{self.prefix}/bin:{self.env['PATH']}"
        self.slurmctld = None
        self.controller = []  # prefix of slurmctld's command: env with variables for slurmctld only
        self.munged = None
        # seconds; with MessageTimeout=5 slurmctld abandons an RPC to a node after some attempts
        self.rpc_patience = 12
        self.helpers = []
        self.version = tuple(
            map(int, self.command("slurmctld", "-V").stdout.split()[-1].split(".")[:2])
        )
        self.gres_mark = ":" if self.version < (23, 0) else "/"
        self.options = {
            "return_to_service": os.environ.get("PLUGIN_RETURN_TO_SERVICE", "1"),
            "extra": "",
            "inactive": 3,
            "native_default": "YES",
            "kube_default": "NO",
            "dynamic": "MaxNodeCount=20" if self.has_dynamic_nodes() else "",
            "external": "EXTERNAL" if self.is_native() else "UNKNOWN",
            "submit": "JobSubmitPlugins=kube",
            "native_node": f"Port={self.slurmd_port} State=DOWN",
        }
        self.options["nodes"] = NODES.format(sink=self.sink, **self.options) + (
            DEAD_END if self.is_native() else ""
        )
        self.options.update(options)
        os.makedirs(f"{self.run}/state")
        os.makedirs(f"{self.run}/spool")
        self.write_conf()
        self.copy_built()
        with open(f"{self.run}/gres.conf", "w", encoding="utf-8") as f:
            f.write("NodeName=g1 Name=gpu File=/dev/nothing[0-1]\n")
        with open(f"{self.run}/kube.conf", "w", encoding="utf-8") as f:
            f.write(f"Socket={self.run}/plugin.sock\nSinkPort={self.sink}\n")

    def has_dynamic_nodes(self):
        """Slurm 22.05 has dynamic nodes, too, but a reconfigure with running jobs leaves them
        allocated forever.
        """
        return self.version >= (23, 11)

    def is_native(self):
        """True if Slurm itself supports external nodes and jobs."""
        return self.version >= (25, 5)

    def external_nodes(self):
        return ["g1", "k1", "k2", "k3", "k4"] + (["x1"] if self.is_native() else [])

    def copy_built(self):
        """User nobody may lack access to the build directory; every command checks PluginDir."""
        self.binary = f"{self.run}/alloc"
        shutil.copy(f"{self.build}/testsuite/component/plugin/alloc", self.binary)
        os.makedirs(f"{self.run}/plugins")
        shutil.copy(f"{self.build}/.libs/job_submit_kube.so", f"{self.run}/plugins/")

    def read_env(self, name):
        try:
            with open(f"{self.build}/slurm.env", encoding="utf-8") as f:
                for line in f:
                    if line.startswith(name + "="):
                        return line.split("=", 1)[1].strip().strip("'\"")
        except FileNotFoundError:
            pass
        return ""

    def inside(self, command):
        """Each step execs the next one, so that the child's pid is that of the command."""
        if not self.root:
            return command
        return [
            f"{SOURCE}/testsuite/slurm/in-root",
            "-b",
            self.run,
            "-b",
            self.build,
            self.root,
            *command,
        ]

    def plugin_dirs(self):
        system = (
            f"{self.prefix}/lib/slurm" if self.prefix else "/usr/lib/x86_64-linux-gnu/slurm-wlm"
        )
        if not os.path.isdir(self.root + system):
            found = subprocess.run(
                ["sh", "-c", f"ls -d {self.root}/usr/lib/*/slurm-wlm {self.root}/usr/lib64/slurm"],
                capture_output=True,
                text=True,
                check=False,
            ).stdout.split()
            system = found[0][len(self.root) :]
        return f"{self.run}/plugins:{system}"

    def has_plugin(self, name):
        return any(os.path.exists(f"{self.root}{d}/{name}") for d in self.plugin_dirs().split(":"))

    def write_conf(self, **options):
        self.options.update(options)
        with open(f"{self.run}/slurm.conf", "w", encoding="utf-8") as f:
            f.write(
                SLURM_CONF.format(
                    run=self.run,
                    port=self.port,
                    sink=self.sink,
                    slurmd_port=self.slurmd_port,
                    plugins=self.plugin_dirs(),
                    **self.options,
                )
            )

    def start_munged(self):
        with open(f"{self.run}/munge.key", "wb") as f:
            f.write(os.urandom(128))
        os.chmod(f"{self.run}/munge.key", 0o400)
        self.munged = subprocess.Popen(
            [
                "munged",
                "--foreground",
                "--force",
                f"--key-file={self.run}/munge.key",
                f"--socket={self.run}/munge.socket",
                f"--pid-file={self.run}/munge.pid",
                f"--log-file={self.run}/munge.log",
                f"--seed-file={self.run}/munge.seed",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert eventually(
            lambda: os.path.exists(f"{self.run}/munge.socket")
        ), "munged did not start"

    def start_slurmctld(self):
        with open(f"{self.run}/slurmctld.out", "ab") as out:
            self.slurmctld = subprocess.Popen(
                self.inside([*self.controller, "slurmctld", "-D", "-f", f"{self.run}/slurm.conf"]),
                env=self.env,
                stdout=out,
                stderr=out,
            )
        assert eventually(
            self.answers, every=0.05
        ), f"slurmctld did not start: see {self.run}/slurmctld.log"

    def start_slurmd(self):
        """Only with native_node=NATIVE_NODE; otherwise n1 is down."""
        with open(f"{self.run}/cgroup.conf", "w", encoding="utf-8") as f:
            f.write(f"CgroupPlugin={'disabled' if self.version >= (24, 5) else 'cgroup/v1'}\n")
        with open(f"{self.run}/slurmd.out", "ab") as out:
            self.helpers.append(
                subprocess.Popen(
                    self.inside(["slurmd", "-D", "-N", "n1", "-f", f"{self.run}/slurm.conf"]),
                    env=self.env,
                    stdout=out,
                    stderr=out,
                )
            )
        assert eventually(lambda: self.node_state("n1") == "IDLE", every=0.1), (
            self.node_text("n1"),
            self.run,
        )

    def answers(self):
        return self.command("scontrol", "ping").returncode == 0

    def reconfigure(self):
        """From 23.11 on the answer comes when slurmctld has ended. If RPCs to nodes wait to be sent
        again, that takes up to twice AGENT_SHUTDOWN_WAIT (3 s; agent.c), more than the
        MessageTimeout here. scontrol therefore uses a longer one.
        """
        with open(f"{self.run}/slurm.conf", encoding="utf-8") as f:
            text = f.read()
        with open(f"{self.run}/patient.conf", "w", encoding="utf-8") as f:
            f.write(text.replace("MessageTimeout=5", "MessageTimeout=30"))
        result = self.command(
            "env", f"SLURM_CONF={self.run}/patient.conf", "scontrol", "reconfigure"
        )
        assert result.returncode == 0, result
        assert eventually(self.answers)

    def kill_slurmctld(self, how=signal.SIGKILL):
        self.slurmctld.send_signal(how)
        self.slurmctld.wait(PATIENCE)

    def command(self, *words, user=None, seconds=2 * PATIENCE):
        prefix = (
            ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
            if user is not None
            else []
        )
        return subprocess.run(
            self.inside([*prefix, *words]),
            env=self.env,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def alloc(self, *words, user=None, background=False):
        if background:
            process = subprocess.Popen(
                self.inside([self.binary, *words]),
                env=self.env,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            self.helpers.append(process)
            return process
        result = self.command(self.binary, *words, user=user)
        return [Answer(line, result.stderr) for line in result.stdout.splitlines()]

    def submit(self, marker, **keys):
        keys.setdefault("partition", "kube")
        user = keys.pop("as_user", None)
        return self.alloc(
            "submit", f"marker={marker}", *(f"{k}={v}" for k, v in keys.items()), user=user
        )[0]

    def complete(self, job, status=0):
        return self.alloc("complete", str(job), str(status))[0]

    def job(self, job):
        """The output of scontrol show job: {key: value}."""
        text = self.command("scontrol", "show", "job", str(job), "--oneliner").stdout
        return dict(word.split("=", 1) for word in text.split() if "=" in word)

    def job_ids(self):
        return [
            line.split()[0]
            for line in self.command("scontrol", "-o", "show", "job").stdout.splitlines()
            if line.startswith("JobId")
        ]

    def node_text(self, node):
        return self.command("scontrol", "show", "node", node, "--oneliner").stdout

    def node_state(self, node):
        text = self.node_text(node)
        state = dict(word.split("=", 1) for word in text.split() if "=" in word).get("State", "")
        return state.replace("+EXTERNAL", "").replace("+DYNAMIC_NORM", "")

    def saved(self, text):
        """True if the job state that slurmctld saved last contains the text."""
        try:
            with open(f"{self.run}/state/job_state", "rb") as f:
                return text.encode() in f.read()
        except FileNotFoundError:  # slurmctld renames the new file over the old one
            return False

    def log(self):
        with open(f"{self.run}/slurmctld.log", encoding="utf-8", errors="replace") as f:
            return f.read()

    def threads(self):
        task = f"/proc/{self.slurmctld.pid}/task"
        names = []
        for tid in os.listdir(task):
            try:
                with open(f"{task}/{tid}/comm", encoding="utf-8") as f:
                    names.append(f.read().strip())
            except OSError:
                pass  # the thread has just ended
        return sorted(n for n in names if n.startswith("kube-"))

    def stop(self, keep=False):
        for process in [*self.helpers, self.slurmctld, self.munged]:
            if process and process.poll() is None:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        if not keep:
            shutil.rmtree(self.run)


class Answer:
    """One line of alloc's output."""

    def __init__(self, line, messages):
        words = line.split()
        self.ok = words[0] == "ok"
        self.job = int(words[1]) if self.ok else 0
        self.nodes = words[2] if self.ok else ""
        self.error = 0 if self.ok else int(words[1])
        self.ns = int(words[-1])
        self.messages = messages


def marker(uid, attempt=1, name=None, user=0, group=0, cluster="main", **optional):
    return json.dumps(
        {
            "slurm-kube": 1,
            "cluster": cluster,
            "namespace": "ns",
            "name": name or f"pod-{uid}",
            "kind": "Pod",
            "uid": str(uid),
            "attempt": attempt,
            "user": user,
            "group": group,
            **optional,
        },
        separators=(",", ":"),
    )
