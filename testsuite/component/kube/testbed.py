# SPDX-License-Identifier: GPL-2.0-or-later
"""The fixtures for tests of src/agent/kube: a private control plane, a proxy that injects faults,
and the probe.

Api        an administrator's client of the API server: creates pods and reads them back
Proxy      TLS in front of the API server; rules make single requests fail, the API server itself
           stays real
Testbed        all of these, shared by the tests
Probe      testsuite/component/kube/probe: the agent's own code, controlled by JSON lines
"""
import asyncio
import contextlib
import http.client
import json
import os
import ssl
import subprocess
import threading
import time

PODS = "/api/v1/namespaces/default/pods"
OURS = "spec.schedulerName=slurm"
HERE = os.path.dirname(os.path.abspath(__file__))
K8S = os.path.join(os.path.dirname(os.path.dirname(HERE)), "k8s")


# seconds; the longest wait for another process on a busy machine
PATIENCE = 60


def wait_for(what, condition, seconds=PATIENCE):
    """The first true value of condition(); raises an error after that many seconds."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"no {what} within {seconds} s")
        time.sleep(0.02)


class ControlPlane:
    def __init__(self, directory, port):
        self.directory, self.port = directory, port
        # etcd compacts old versions after 5 to 10 s, so that a test can see "410 Gone".
        env = dict(os.environ, KWOK="0", KCM="0", APISERVER_ARGS="--etcd-compaction-interval=5s")
        subprocess.run(
            [f"{K8S}/up", directory, str(port)],
            env=env,
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=120,
        )

    def path(self, name):
        return os.path.join(self.directory, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read().strip()

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def kubeconfig(self, name, user, port=None, cluster="certificate-authority: pki/ca.crt"):
        """Writes a kubeconfig in this directory; user and cluster are YAML."""
        return self.write(
            name,
            f"""apiVersion: v1
kind: Config
current-context: c
contexts: [{{name: c, context: {{cluster: k, user: u, namespace: ns}}}}]
clusters:
- name: k
  cluster:
    server: https://127.0.0.1:{port or self.port}
    {cluster}
users:
- name: u
  user:
    {user}
""",
        )

    def api_server(self, how):
        subprocess.run(
            [f"{K8S}/restart", self.directory, "kube-apiserver", how], check=True, timeout=120
        )

    def down(self):
        subprocess.run([f"{K8S}/down", self.directory, "--wipe"], check=False, timeout=60)


class Api:
    """One connection, for use by a single thread."""

    def __init__(self, plane, token=None):
        self.port, self.token = plane.port, token or plane.read("tokens/admin")
        self.context = ssl.create_default_context(cafile=plane.path("pki/ca.crt"))
        self.connection = None

    def __call__(self, method, path, body=None, content_type="application/json"):
        """(status, parsed body)"""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content_type}
        self.connection = self.connection or http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=self.context, timeout=PATIENCE
        )
        try:
            self.connection.request(
                method, path, json.dumps(body) if body is not None else None, headers
            )
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException):
            self.connection = None
            raise

    def pod(self, name, **spec):
        """Creates a pod and returns it."""
        metadata = {"name": name, **spec.pop("metadata", {})}
        container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": "100m"}}}
        body = {
            "metadata": metadata,
            "spec": {"schedulerName": "slurm", "containers": [container], **spec},
        }
        status, pod = self("POST", "/api/v1/namespaces/default/pods", body)
        assert status == 201, pod
        return pod

    def get(self, name):
        return self("GET", f"/api/v1/namespaces/default/pods/{name}")[1]

    def delete(self, name, grace=0):
        return self(
            "DELETE", f"/api/v1/namespaces/default/pods/{name}", {"gracePeriodSeconds": grace}
        )


class Rule:
    """Applies do to the next count requests with this method whose path contains text."""

    def __init__(self, do, text="", method=None, count=1, argument=None):
        self.do, self.text, self.method, self.count, self.argument = (
            do,
            text,
            method,
            count,
            argument,
        )


class Proxy:
    """Serves one request per connection, in HTTP/1.1. Rules: "answer" (argument is the whole
    answer; the request is not forwarded), "lose" (the request is forwarded, the answer is dropped),
    "half" (half of the answer is sent, then nothing), "hang" (the request is never answered),
    "hold" (argument is an event; the request is forwarded when the event is set).
    """

    def __init__(self, plane, port):
        self.port, self.rules, self.refusing, self.frozen = port, [], False, False
        self.upstream_port = plane.port
        self.server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server_tls.load_cert_chain(plane.path("pki/server.crt"), plane.path("pki/server.key"))
        self.client_tls = ssl.create_default_context(cafile=plane.path("pki/ca.crt"))
        self.open_writers, started = set(), threading.Event()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self._run, args=(started,), daemon=True).start()
        started.wait(10)

    def _run(self, started):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self.server_tls)
        )
        self.loop.call_soon(started.set)
        self.loop.run_forever()

    def rule(self, *args, **kwargs):
        self.rules.append(Rule(*args, **kwargs))
        return self.rules[-1]

    def cut(self):
        """Breaks every open connection."""
        self.loop.call_soon_threadsafe(
            lambda: [writer.transport.abort() for writer in list(self.open_writers)]
        )

    def _match(self, method, path):
        for rule in self.rules:
            if rule.count > 0 and rule.text in path and rule.method in (None, method):
                rule.count -= 1
                return rule
        return None

    async def _serve(self, reader, writer):
        self.open_writers.add(writer)
        try:
            if not self.refusing:
                await self._request(reader, writer)
        except (OSError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            self.open_writers.discard(writer)
            writer.transport.abort() if self.refusing else writer.close()

    async def _request(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        method, path, _ = lines[0].split(" ")
        length = sum(
            int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:")
        )
        body = await reader.readexactly(length)
        rule = self._match(method, path)
        if rule and rule.do == "answer":
            writer.write(rule.argument.encode())
            await writer.drain()
            return
        if rule and rule.do == "hang":
            await asyncio.sleep(3600)
        while rule and rule.do == "hold" and not rule.argument.is_set():
            await asyncio.sleep(0.05)
        up_reader, up_writer = await asyncio.open_connection(
            "127.0.0.1", self.upstream_port, ssl=self.client_tls
        )
        self.open_writers.add(up_writer)
        try:
            up_writer.write(
                "\r\n".join([lines[0], "Connection: close"] + lines[1:]).encode() + body
            )
            while data := await up_reader.read(65536):
                while self.frozen:
                    await asyncio.sleep(0.05)
                if rule and rule.do == "half":
                    writer.write(data[: len(data) // 2])
                    await asyncio.sleep(3600)
                if not (rule and rule.do == "lose"):
                    writer.write(data)
                    await writer.drain()
        finally:
            self.open_writers.discard(up_writer)
            up_writer.close()


def probe_command(build, directory):
    """The probe runs in the system for which it was built: for a Slurm in a chroot it runs there,
    with our files at the same paths.
    """
    program, root = os.path.join(build, "testsuite/component/kube/probe"), ""
    settings = os.path.join(build, "slurm.env")
    if os.path.exists(settings):
        with open(settings, encoding="utf-8") as lines:
            root = (
                dict(line.strip().split("=", 1) for line in lines if "=" in line)
                .get("SLURM_ROOT", "")
                .strip("'")
            )
    if not root:
        return [program]
    in_root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../slurm/in-root")
    return [in_root, "-b", os.path.abspath(build), "-b", directory, root, program]


class Probe:
    def __init__(self, build, directory, kubeconfig, *arguments):
        self.log = open(
            os.path.join(os.path.dirname(kubeconfig), "probe.log"), "a", encoding="utf-8"
        )
        self.process = subprocess.Popen(
            [*probe_command(build, directory), "run", kubeconfig, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            bufsize=1,
        )
        self.answers, self.next_id = {}, 0
        self.heard = {}  # watch name -> list of events
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if "watch" in message:
                self.heard.setdefault(message["watch"], []).append(message)
            else:
                self.answers[message["id"]] = message

    def send(self, do, **arguments):
        self.next_id += 1
        self.process.stdin.write(json.dumps({"id": self.next_id, "do": do, **arguments}) + "\n")
        return self.next_id

    def result(self, number, seconds=PATIENCE):
        return wait_for(
            "answer from the probe",
            lambda: self.process.poll() is None and self.answers.get(number),
            seconds,
        )

    def __call__(self, do, seconds=PATIENCE, **arguments):
        return self.result(self.send(do, **arguments), seconds)

    def live(self, watch):
        """uid -> name of the pods that the watch's sink must know."""
        live = {}
        for event in list(self.heard.get(watch, [])):
            if event["event"] == "upserted":
                live[event["uid"]] = event["name"]
            elif event["event"] == "deleted":
                live.pop(event["uid"], None)
            else:
                live = {uid: name for uid, name in live.items() if uid in event["uids"]}
        return live

    def connections(self):
        """The open TCP connections of the process (libcurl has other sockets as well)."""
        directory, ours = f"/proc/{self.process.pid}/fd", set()
        for fd in os.listdir(directory):
            with contextlib.suppress(FileNotFoundError):  # closed in the meantime
                ours.add(os.readlink(f"{directory}/{fd}"))
        with open("/proc/net/tcp", encoding="ascii") as file:
            rows = [line.split() for line in file.readlines()[1:]]
        return sum(row[3] == "01" and f"socket:[{row[9]}]" in ours for row in rows)

    def stop(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.log.close()
        return self.process.returncode


class Testbed:
    """Everything that the tests share."""

    def __init__(self, build, directory, port):
        self.build, self.directory = build, directory
        self.plane = ControlPlane(directory, port)
        self.api = Api(self.plane)
        self.proxy, self.proxy_of_pages = Proxy(self.plane, port + 9), Proxy(self.plane, port + 7)
        self.port_of_h2 = port + 8
        self.admin = f"token: {self.plane.read('tokens/admin')}"
        self.direct = self.plane.kubeconfig("direct.yaml", self.admin)
        self.proxied = self.plane.kubeconfig("proxied.yaml", self.admin, port=port + 9)
        self.probes = []
        # Without a controller manager no other program creates it, and pods need it.
        wait_for(
            "namespace default", lambda: self.api("GET", "/api/v1/namespaces/default")[0] == 200
        )
        self.api(
            "POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}}
        )

    def probe(self, kubeconfig=None, *arguments):
        probe = Probe(self.build, self.directory, kubeconfig or self.direct, *arguments)
        self.probes.append(probe)
        return probe

    def access(self, *arguments, env=None):
        result = subprocess.run(
            [*probe_command(self.build, self.directory), "access", *arguments],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=env,
        )
        return json.loads(result.stdout)

    def tidy(self):
        """Run after each test: removes rules and probes. Returns the exit codes of probes that
        failed.
        """
        self.proxy.rules, self.proxy.refusing, self.proxy.frozen = [], False, False
        probes, self.probes = self.probes, []
        return [code for probe in probes if (code := probe.stop()) != 0]
