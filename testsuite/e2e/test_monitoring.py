#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics and health by HTTP: what the pages say in each state, and that no client disturbs the
agent. One node of 8 CPUs.
"""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

from lib import Cluster, equal, pod, run, wait_for
from lib.process import TESTSUITE, Process, output_of
from lib.waiting import LIMIT

CONNECTIONS = 32  # k_connections_max of src/agent/http/server.h
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
STATES = (("waiting", "SlurmPending"), ("running", ""))
RULES = Path(TESTSUITE).parent / "contribs/monitoring/alerts.yaml"
SLURM_PAGES = tuple(
    f"/metrics/{name}" for name in ("jobs", "jobs-users-accts", "nodes", "partitions", "scheduler")
)
# the RPCs behind them, as sdiag names them
SLURM_RPCS = (
    "REQUEST_JOB_INFO",
    "REQUEST_NODE_INFO",
    "REQUEST_PARTITION_INFO",
    "REQUEST_STATS_INFO",
)
HEALTH = ("/livez", "/readyz", "/healthz")
VARIABLES = {"$instance": ".*", "$__rate_interval": "1m", "$__range": "1h"}


class Monitored(Cluster):
    """The agent serves HTTP at .address."""

    def __init__(self, build):
        super().__init__(build, kwok=1)
        self.address = ("127.0.0.1", self.base + 10)
        self.agent.settings["metrics"] = {"listen": "%s:%d" % self.address}

    def ask(self, path, method="GET", headers=None):
        """(status, headers, body)"""
        connection = http.client.HTTPConnection(*self.address, timeout=LIMIT)
        try:
            connection.request(method, path, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def ask_securely(self, path, certificate):
        """(status, body) by HTTPS from the server that has this certificate."""
        context = ssl.create_default_context(cafile=certificate)
        connection = http.client.HTTPSConnection(*self.address, timeout=LIMIT, context=context)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def says(self, path, status, text=""):
        """Waits for this status and a body that begins with text; returns the body."""

        def look():
            seen, _, body = self.ask(path)
            assert (seen, body[: len(text)]) == (status, text), (seen, body)
            return body or True

        return wait_for(look, f"{path} to say {status} {text}")

    def reload(self, **changes):
        """The agent's configuration with these keys of metrics; returns the line of skube check."""
        settings = self.agent.configuration()
        settings["metrics"] = {**settings["metrics"], **changes}
        (self.dir / "slurmkubed.yaml").write_text(json.dumps(settings))
        log, said = self.agent.daemon.log, "configuration read again"
        before = log.read_text().count(said)
        self.agent.daemon.signal(signal.SIGHUP)
        wait_for(lambda: log.read_text().count(said) > before, "the agent to reload")
        checks = self.agent.skube_all("check")["checks"]
        return next(c for c in checks if c["name"] == "metrics")

    def runs_pods(self, name):
        self.kube.create(pod(name, kwok={"run": "10ms"}))
        self.kube.wait_phase(name, "Succeeded")


def test_a_leading_agent_is_ready(bed):
    """Each health page says ok in one line, and lists its checks if asked to be verbose."""
    bed.says("/readyz", 200, "ok\n")
    for page in HEALTH:
        status, headers, body = bed.ask(page)
        equal((status, body), (200, "ok\n"))
        equal(headers["Content-Type"], "text/plain; charset=utf-8")
    equal(
        bed.ask("/readyz?verbose")[2].splitlines(),
        [
            "[+]link ok",
            "[+]watches ok",
            "[+]lists ok",
            "[+]cluster ok",
            "[+]lease ok",
            "readyz check passed",
        ],
    )


def test_only_known_pages_and_methods(bed):
    """HEAD has the headers of GET and no body; other methods and paths are refused."""
    status, headers, body = bed.ask("/livez", "HEAD")
    equal((status, headers["Content-Length"], body), (200, "3", ""))
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        status, headers, _ = bed.ask("/livez", method)
        equal((status, headers["Allow"]), (405, "GET, HEAD"), method)
    for path in ("/", "/livez/", "/metrics/x", "/../etc/passwd", "/" + "x" * 4000):
        equal(bed.ask(path)[0], 404, path)


def test_a_standby_says_standby(bed):
    """Without slurmctld the agent lives, and is not ready; with it, it is ready again."""
    bed.slurm.slurmctld.stop()
    bed.says("/readyz", 503, "standby: ")
    equal([bed.ask(page)[0] for page in ("/livez", "/healthz")], [200, 200])
    lines = bed.ask("/readyz?verbose")[2].splitlines()
    assert lines[0].startswith("[-]link failed: standby") and lines[-1] == "readyz check failed"
    metrics = bed.ask("/metrics")[2].splitlines()
    assert {"slurm_kube_link_up 0", "slurm_kube_ready 0"} <= set(metrics), metrics
    told_twice = ("slurm_kube_pods", "slurm_kube_placeholders", "slurm_kube_external_nodes")
    told_twice += ("slurm_kube_plugin", "scheduler_pending_pods")
    assert not [line for line in metrics if line.startswith(told_twice)], metrics
    for path in SLURM_PAGES:  # those of Slurm come from the agent that leads
        status, _, body = bed.ask(path)
        assert status == 200 and body.startswith("# standby: "), (path, status, body)
    bed.slurm.start_slurmctld()
    bed.says("/readyz", 200)
    metrics = bed.ask("/metrics")[2].splitlines()
    assert {"slurm_kube_link_up 1", "slurm_kube_ready 1"} <= set(metrics), metrics


def test_an_api_server_that_is_away_is_told(bed):
    """The page names the API server's trouble, and nothing else."""
    bed.plane.kill9("kube-apiserver")
    body = bed.says("/readyz", 503)
    assert "standby" not in body and len(body.splitlines()) == 1, body
    bed.plane.revive("kube-apiserver")
    bed.says("/readyz", 200)


def _connected(bed, text=b""):
    one = socket.create_connection(bed.address, timeout=LIMIT)
    one.sendall(text)
    return one


def test_slow_clients_delay_nobody(bed):
    """Clients that send nothing, half a request, or a byte now and then hold every connection that
    there is: pods start all the same, and the agent ends these connections.
    """
    slow = [_connected(bed, b"GET /livez HTTP/1.1\r\nX:"[: i % 24]) for i in range(CONNECTIONS)]
    late = _connected(bed, b"GET /livez HTTP/1.0\r\n\r\n")
    bed.runs_pods("beside-the-slow")
    bed.agent.skube("ping")

    def trickle():
        """A byte to each client that is still connected; true when all have been ended."""
        for one in list(slow):
            try:
                one.send(b"x")
                one.settimeout(0.01)
                if one.recv(4096) == b"":
                    raise ConnectionError
            except TimeoutError:
                continue
            except OSError:
                one.close()
                slow.remove(one)
        return not slow

    wait_for(trickle, "the slow connections to be ended")
    bed.says("/livez", 200)
    late.close()


def test_many_clients_cost_few_descriptors(bed):
    """However many connect, the agent has at most its limit of connections."""
    descriptors = f"/proc/{bed.agent.daemon.pid}/fd"
    wait_for(lambda: bed.ask("/livez")[0] == 200, "the connections of other cases to end")
    before = len(os.listdir(descriptors))
    many = [_connected(bed) for _ in range(2 * CONNECTIONS)]
    seen = len(os.listdir(descriptors)) - before
    assert seen <= CONNECTIONS + 4, seen
    for one in many:
        one.close()
    wait_for(
        lambda: len(os.listdir(descriptors)) <= before + 1, "the agent to close its descriptors"
    )
    bed.says("/livez", 200)


def test_a_taken_port_is_told_and_harms_nothing(bed):
    """The agent goes on without HTTP, skube check says why, and a reload with a free port helps. So
    does the end of the program that has the port.
    """
    with socket.create_server(("127.0.0.1", bed.base + 11)):
        line = bed.reload(listen=f"127.0.0.1:{bed.base + 11}")
        assert not line["ok"] and "Address already in use" in line["text"], line
        assert "metrics.listen" in line["remedy"], line
        bed.runs_pods("without-http")
        try:
            bed.ask("/livez")
            raise AssertionError("the former port is still served")
        except ConnectionError:
            pass

    def is_served():
        with socket.create_connection(("127.0.0.1", bed.base + 11), timeout=LIMIT):
            return True

    wait_for(is_served, "the port that is free now")
    line = bed.reload()
    equal((line["ok"], line["text"]), (True, "at %s:%d" % bed.address))
    bed.says("/livez", 200)
    line = bed.reload(listen="")
    equal((line["ok"], line["text"]), (True, "off"))
    bed.reload()


def test_a_token_protects_the_metrics(bed):
    """Only the token of the file opens /metrics; a new one holds at once. Probes need none."""
    file = bed.dir / "metrics-token"
    file.write_text("first-token\n")
    assert bed.reload(token_file=str(file))["ok"]

    def status(token):
        return bed.ask("/metrics", headers={"Authorization": token} if token else {})[0]

    equal(bed.ask("/metrics")[1]["WWW-Authenticate"], "Bearer")
    for wrong in (None, "first-token", "Bearer ", "Bearer first-toke", "Bearer first-token2"):
        equal(status(wrong), 401, str(wrong))
    equal(status("Bearer first-token"), 200)
    file.write_text("second-token\n")
    equal([status("Bearer first-token"), status("Bearer second-token")], [401, 200])
    for path in SLURM_PAGES:
        equal(bed.ask(path)[0], 401, path)
    file.unlink()
    equal(status("Bearer second-token"), 503)
    equal([bed.ask(page)[0] for page in HEALTH], [200, 200, 200])
    bed.reload()
    equal(status(None), 200)


def _samples(bed, path="/metrics"):
    """{line without its value: value} of the page."""
    status, headers, body = bed.ask(path)
    equal((status, headers["Content-Type"]), (200, METRICS_TYPE))
    lines = [line.rpartition(" ") for line in body.splitlines() if not line.startswith("#")]
    found = {name: float(value) for name, _, value in lines}
    equal(len(found), len(lines), "samples that occur once")
    return found


def test_promtool_accepts_the_page(bed):
    """Debian's promtool has nothing to say about names, types, help and format."""
    pages = ["/metrics", *SLURM_PAGES]
    for path in SLURM_PAGES:
        wait_for(lambda p=path: "\nslurm_" in bed.ask(p)[2], f"an answer of slurmctld on {path}")
    output_of("bash", "-c", f". {TESTSUITE}/common.sh && need_packages prometheus", timeout=600)
    for path in pages:
        said = subprocess.run(
            ["promtool", "check", "metrics"],
            input=bed.ask(path)[2],
            capture_output=True,
            text=True,
            check=False,
        )
        equal((said.returncode, said.stdout + said.stderr), (0, ""), path)


def test_slurms_own_metrics(bed):
    """At the paths of slurmctld 25.11, for a pod that runs; scrapes do not become RPCs."""
    bed.kube.create(pod("for-slurms-metrics", cpu=8))
    bed.kube.wait_phase("for-slurms-metrics", "Running")

    def running():
        """The first answer may be one from before the pod; the next is asked for after 30 s."""
        equal(_samples(bed, "/metrics/jobs")["slurm_jobs_running"], 1)
        return True

    wait_for(running, "the job of the pod in Slurm's metrics")
    before = bed.slurm.rpcs()
    for _ in range(20):
        for path in SLURM_PAGES:
            bed.ask(path)
    wait_for(lambda: "\nslurm_" in bed.ask("/metrics/partitions")[2], "all answers")
    after = bed.slurm.rpcs()
    more = {name: after.get(name, 0) - before.get(name, 0) for name in SLURM_RPCS}
    # sdiag itself asks once, and the agent looks at partitions each 15 s
    limits = dict.fromkeys(SLURM_RPCS, 2) | {"REQUEST_PARTITION_INFO": 6, "REQUEST_STATS_INFO": 3}
    assert all(more[name] <= limits[name] for name in SLURM_RPCS), (more, limits)
    equal(_samples(bed, "/metrics/jobs")["slurm_jobs_cpus_alloc"], 8)
    seen = _samples(bed, "/metrics/nodes")
    equal(sum(v for k, v in seen.items() if k.startswith("slurm_node_cpus_alloc{")), 8)
    seen = _samples(bed, "/metrics/partitions")
    equal(seen['slurm_partition_jobs_running{partition="kube"}'], 1)
    assert 0 <= seen['slurm_kube_slurm_answer_age_seconds{request="jobs"}'] < 60
    seen = _samples(bed, "/metrics/jobs-users-accts")
    equal(sum(v for k, v in seen.items() if k.startswith("slurm_user_jobs_running{")), 1)
    assert _samples(bed, "/metrics/scheduler")["slurm_sdiag_jobs_started"] >= 1
    bed.kube.delete("Pod", "for-slurms-metrics")


def test_private_data_of_slurm_stays_private(bed):
    """With PrivateData, the page that names users requires a token; the others do not."""
    page = "/metrics/jobs-users-accts"
    wait_for(lambda: "slurm_user_jobs{" in bed.ask(page)[2], "users without a token")
    bed.slurm.extra.append("PrivateData=users")
    bed.slurm.write_conf()
    bed.slurm.reconfigure()
    body = bed.says(page, 403, "this page names users and accounts, and PrivateData")
    assert "metrics.token_file" in body, body
    bed.says("/metrics/jobs", 200)
    file = bed.dir / "private-token"
    file.write_text("secret\n")
    assert bed.reload(token_file=str(file))["ok"]
    status, _, body = bed.ask(page, headers={"Authorization": "Bearer secret"})
    assert status == 200 and "slurm_user_jobs{" in body, (status, body)
    bed.slurm.extra.remove("PrivateData=users")
    bed.slurm.write_conf()
    bed.slurm.reconfigure()
    bed.reload()
    wait_for(lambda: "slurm_user_jobs{" in bed.ask(page)[2], "users without a token again")


def test_the_numbers_follow_the_pods(bed):
    """Waiting, running and ended pods, their jobs, the actions, requests and latencies for them."""
    waits, runs = (f'slurm_kube_pods{{state="{s}",reason="{r}"}}' for s, r in STATES)
    before = _samples(bed)
    bed.kube.create(pod("runs", cpu=8))
    bed.kube.wait_phase("runs", "Running")
    bed.kube.create(pod("waits", cpu=8))

    def both():
        seen = _samples(bed)
        assert (seen[runs], seen[waits]) == (1, 1), (seen[runs], seen[waits])
        return seen

    seen = wait_for(both, "a pod that runs and one that waits")
    job = 'slurm_kube_placeholders{state="pending",reason="Resources"}'
    wait_for(lambda: _samples(bed).get(job) == 1, "a placeholder that waits for resources")
    equal(seen['scheduler_pending_pods{queue="active"}'], 1)
    equal(seen['scheduler_pending_pods{queue="unschedulable"}'], 0)

    def grew(name, by):
        equal(seen[name] - before.get(name, 0), by, name)

    grew('slurm_kube_actions_total{action="submit",result="success"}', 2)
    grew('slurm_kube_actions_total{action="bind",result="success"}', 1)
    grew('scheduler_schedule_attempts_total{result="scheduled",profile="slurm"}', 1)
    grew("scheduler_pod_scheduling_sli_duration_seconds_count", 1)
    grew("scheduler_pod_scheduling_attempts_count", 1)
    grew("scheduler_pod_scheduling_attempts_sum", 1)
    grew('scheduler_pod_scheduling_attempts_bucket{le="1"}', 1)
    assert seen["scheduler_pod_scheduling_sli_duration_seconds_sum"] > 0
    posts = 'slurm_kube_api_requests_total{verb="POST",code="201"}'  # bindings and events
    assert seen[posts] > before.get(posts, 0), seen[posts]
    stage = 'slurm_kube_stage_duration_seconds_%s{stage="allocated_to_bound"%s}'
    grew(stage % ("count", ""), 1)
    grew(stage % ("bucket", ',le="+Inf"'), 1)
    assert seen[stage % ("sum", "")] > before.get(stage % ("sum", ""), 0)
    bounds = [v for k, v in seen.items() if k.startswith((stage % ("bucket", ""))[:-1])]
    equal(bounds, sorted(bounds), "buckets that never fall")
    equal(len(bounds), 21)
    hook = 'slurm_kube_plugin_seconds_total{what="hook"}'
    wait_for(lambda: _samples(bed)[hook] > 0, "figures of the plugin, which come now and then")
    assert seen["process_resident_memory_bytes"] > 1e6 and seen["process_open_fds"] > 5
    for name in ("waits", "runs"):
        bed.kube.delete("Pod", name)
    wait_for(lambda: _samples(bed)[runs] == _samples(bed)[waits] == 0, "no pod")


def test_evictions_have_a_cause(bed):
    """A job that is cancelled; a pod that its user deletes is no eviction."""
    family = "slurm_kube_evictions_total"
    before = _samples(bed)
    for name in ("is-cancelled", "is-deleted"):
        bed.kube.create(pod(name))
        bed.kube.wait_phase(name, "Running")
    (job,) = bed.slurm.job_of_pod(bed.kube.get("Pod", "is-cancelled")["metadata"]["uid"])
    bed.kube.delete("Pod", "is-deleted")
    bed.slurm.run("scancel", job["JobId"])
    cancelled = family + '{cause="cancelled"}'
    wait_for(lambda: _samples(bed)[cancelled] == before[cancelled] + 1, "an eviction")
    running = 'slurm_kube_pods{state="running",reason=""}'
    wait_for(lambda: _samples(bed)[running] == before[running], "both pods to be gone")
    seen = _samples(bed)
    changed = {k: v - before[k] for k, v in seen.items() if k.startswith(family) and v != before[k]}
    equal(changed, {cancelled: 1})


def test_the_names_of_kube_scheduler(bed):
    """A pod that no node can take is unschedulable, one with a scheduling gate is gated."""
    pending = 'scheduler_pending_pods{queue="%s"}'
    gated = pod("has-gate")
    gated["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    bed.kube.create(gated)
    bed.kube.create(pod("too-large", cpu=1000))

    def counted():
        seen = _samples(bed)
        return [seen[pending % q] for q in ("active", "backoff", "gated", "unschedulable")]

    wait_for(lambda: counted() == [0, 0, 1, 1], "a pod that is gated, and one that has no node")
    for name in ("has-gate", "too-large"):
        bed.kube.delete("Pod", name)
    wait_for(lambda: counted() == [0, 0, 0, 0], "no pod")


def _prometheus(bed, path):
    """The data of an answer of Prometheus' API."""
    url = f"http://127.0.0.1:{bed.base + 12}/api/v1/{path}"
    with urllib.request.urlopen(url, timeout=LIMIT) as answer:
        return json.load(answer)["data"]


def _new_certificate(bed, name, days=30):
    """(certificate, key): a certificate for the server's address that signs itself."""
    certificate, key = bed.dir / f"{name}.crt", bed.dir / f"{name}.key"
    output_of(
        *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", str(days)),
        *("-subj", f"/CN={name}", "-addext", f"subjectAltName=IP:{bed.address[0]}"),
        *("-out", str(certificate), "-keyout", str(key)),
    )
    return certificate, key


def _check(bed, name):
    return next(c for c in bed.agent.skube_all("check")["checks"] if c["name"] == name)


def test_https_with_a_certificate_that_is_renewed(bed):
    """HTTPS and no HTTP; a new pair of files is served, and the old one until the new one fits."""
    certificate, key = _new_certificate(bed, "served")
    pair = {"tls_cert_file": str(certificate), "tls_key_file": str(key)}
    assert bed.reload(**pair)["ok"]
    equal(bed.ask_securely("/readyz", certificate), (200, "ok\n"))
    status, page = bed.ask_securely("/metrics", certificate)
    assert status == 200 and 'credential="metrics certificate"' in page, page
    try:
        bed.ask("/readyz")
        raise AssertionError("HTTP is answered beside HTTPS")
    except (http.client.HTTPException, OSError):
        pass
    new_certificate, new_key = _new_certificate(bed, "renewed", days=6)
    old = ssl.get_server_certificate(bed.address)
    shutil.copy(new_certificate, certificate)
    said = wait_for(lambda: _of_old_certificate(bed), "the check of the old certificate")
    assert str(key) in said, said
    equal(ssl.get_server_certificate(bed.address), old)
    shutil.copy(new_key, key)
    wait_for(lambda: ssl.get_server_certificate(bed.address) != old, "the new certificate")
    equal(bed.ask_securely("/livez", certificate), (200, "ok\n"))
    assert _check(bed, "metrics")["ok"]
    ends = _check(bed, "certificates")
    assert not ends["ok"] and "metrics certificate ends" in ends["text"], ends
    bed.reload()
    bed.says("/livez", 200)


def _of_old_certificate(bed):
    check = _check(bed, "metrics")
    return "old certificate" in check["text"] and check["text"]


def test_https_waits_for_its_files(bed):
    """Without its files the agent schedules pods, says so, and serves HTTPS when they are there."""
    certificate, key = _new_certificate(bed, "late")
    hidden = certificate.rename(certificate.with_suffix(".hidden"))
    check = bed.reload(tls_cert_file=str(certificate), tls_key_file=str(key))
    assert not check["ok"] and str(certificate) in check["text"], check
    bed.runs_pods("without-metrics")
    hidden.rename(certificate)
    wait_for(lambda: _check(bed, "metrics")["ok"], "HTTPS")
    equal(bed.ask_securely("/livez", certificate), (200, "ok\n"))
    bed.reload()
    bed.says("/livez", 200)


def _start_prometheus(bed):
    """A real Prometheus that scrapes the agent each second and has the alert rules; one for all
    cases.
    """
    if (bed.dir / "prometheus").exists():
        return
    output_of("bash", "-c", f". {TESTSUITE}/common.sh && need_packages prometheus", timeout=600)
    targets = [{"targets": ["%s:%d" % bed.address]}]
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(RULES)],
        "scrape_configs": [{"job_name": "slurm-kube", "static_configs": targets}],
    }
    (bed.dir / "prometheus.yaml").write_text(json.dumps(config))
    server = Process(
        "prometheus",
        [
            "prometheus",
            f"--config.file={bed.dir}/prometheus.yaml",
            f"--storage.tsdb.path={bed.dir}/prometheus",
            f"--web.listen-address=127.0.0.1:{bed.base + 12}",
        ],
        bed.dir / "log/prometheus.out",
    )
    bed.stack.callback(server.stop)
    server.start()


def test_alert_rules_on_live_data(bed):
    """Prometheus scrapes the agent and evaluates each rule without an error, none of them fires,
    and each metric that a rule names has data. promtool tests when they fire.
    """
    _start_prometheus(bed)
    output_of("promtool", "test", "rules", RULES.with_name("alerts_test.yaml"))

    def evaluated():
        rules = [r for g in _prometheus(bed, "rules")["groups"] for r in g["rules"]]
        equal([(r["name"], r["health"]) for r in rules], [(r["name"], "ok") for r in rules])
        return rules

    rules = wait_for(evaluated, "all rules to be evaluated")
    equal([r["name"] for r in rules if r["state"] != "inactive"], [])
    names = [re.findall(r"slurm_kube_\w+|\bup\b", r["query"]) for r in rules]
    assert all(names), "a rule without a metric"
    for name in sorted(set(sum(names, []))):
        wait_for(lambda n=name: _prometheus(bed, f"query?query={n}")["result"], f"data of {name}")


def _data_of(bed, query):
    """What Grafana would show: it fills in its variables, and draws numbers only."""
    for name, value in VARIABLES.items():
        query = query.replace(name, value)
    found = _prometheus(bed, "query?" + urllib.parse.urlencode({"query": query}))["result"]
    return [series for series in found if series["value"][1] != "NaN"]


def test_each_panel_of_the_dashboard_has_data(bed):
    """Every query of the dashboard, after a pod has run and while one waits."""
    _start_prometheus(bed)
    first = "slurm_kube_stage_duration_seconds_count"  # rates need a sample from before
    wait_for(lambda: _prometheus(bed, f"query?query={first}")["result"], "a first scrape")
    bed.runs_pods("on-the-dashboard")
    bed.kube.create(pod("fills", cpu=8))
    bed.kube.wait_phase("fills", "Running")
    bed.kube.create(pod("waits-on-dashboard", cpu=8))
    panels = json.loads(RULES.with_name("dashboard.json").read_text())["panels"]
    queries = {
        (p["title"], t["expr"], t["legendFormat"]) for p in panels for t in p.get("targets", [])
    }
    assert len(queries) > 20, queries
    for title, query, legend in sorted(queries):
        assert '$instance"' in query, f"{title}: ignores the variable"
        data = wait_for(lambda q=query: _data_of(bed, q), f"data of the panel {title}: {query}")
        for label in re.findall(r"{{(\w+)}}", legend):
            assert all(label in series["metric"] for series in data), (title, label, data)
    for name in ("fills", "waits-on-dashboard"):
        bed.kube.delete("Pod", name)


if __name__ == "__main__":
    run(Monitored)
