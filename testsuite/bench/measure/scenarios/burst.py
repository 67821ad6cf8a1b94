# SPDX-License-Identifier: GPL-2.0-or-later
"""Single pods that wait when the scheduler starts: bind-limit, kube-scheduler and slurm-kube in
turns on the same servers.

A contestant's rate is that of all its bindings, from the moment the API server received the first
one until it had answered the last. start_s is the time from the start of the scheduler's process to
its first binding. CPU seconds count from the start of the process to the last binding, per 1,000
pods.

With kwok running, the scenario also measures when the last pod is Running: all_bound_s and
all_running_s are seconds from the first binding that the API server received, and the CPU seconds
until_running are those until then. The servers have limited CPU time, so that a contestant that
binds faster may wait longer for Running.

With --scrape each round has one more turn of slurm-kube, before or after the other, in which every
page of metrics is fetched each second.
"""
import signal
import threading
import time
import urllib.error
import urllib.request

from ..bench_testbed import SCHEDULER, BenchTestbed
from ..figures import percentile, say

IN_FLIGHT = (1, 8, 16, 32, 64)  # requests of bind-limit; its rate is the best of these
LIMIT, SLOWEST = (
    60.0,
    50,
)  # seconds per contestant, more if that would be fewer pods/s; unbound pods are counted
BESIDE = "-beside"  # of figures of the agent that --beside names
WARM_UP = 1000  # maximum number of pods in the warm-up round


PAGES = ("", "/jobs", "/jobs-users-accts", "/nodes", "/partitions", "/scheduler")


class Scraper:
    """Fetches all pages of metrics from 127.0.0.1:port each second until it is stopped, as soon as
    the agent listens there.
    """

    def __init__(self, port):
        self.port, self.ended, self.scrapes = port, threading.Event(), 0
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self.thread.start()

    def stop(self):
        """Returns the number of complete scrapes."""
        self.ended.set()
        self.thread.join(30)
        return self.scrapes

    def _run(self):
        while not self.ended.wait(1):
            try:
                self._scrape()
            except ConnectionRefusedError:
                pass
            except urllib.error.URLError as e:
                if not isinstance(e.reason, ConnectionRefusedError):
                    raise

    def _scrape(self):
        for page in PAGES:
            url = f"http://127.0.0.1:{self.port}/metrics{page}"
            with urllib.request.urlopen(url, timeout=30) as answer:
                answer.read()
        self.scrapes += 1


class Contest:
    """One test bed. Each round has new pods, which are created before the scheduler starts and
    deleted after it.
    """

    def __init__(self, bed, figures, pods, label=""):
        self.bed, self.figures, self.pods, self.label, self.rounds = bed, figures, pods, label, 0
        self.with_kwok, self.profile = True, None

    def key(self, scenario, figure):
        return f"{scenario}.{figure}" + ("" if self.with_kwok else "_kwok_paused")

    def limit(self):
        return max(LIMIT, self.pods / SLOWEST)

    def prepare(self, scheduler):
        self.rounds += 1
        prefix = f"p{self.rounds}"
        self.bed.settle()
        self.bed.load.create(prefix, self.pods, scheduler)
        self.bed.settle()
        if not self.with_kwok:
            self.bed.pause_kwok(True)
        self.bed.audit.mark()
        return prefix

    def clean(self, prefix):
        if not self.with_kwok:
            self.bed.pause_kwok(False)
        self.bed.remove(prefix)

    def note(self, scenario, prefix, stretch, begin, keep):
        """Records the figures of one round. keep: False in the warm-up round. Returns a text for
        the progress messages.
        """
        bindings = self.bed.audit.bindings(prefix).values()
        if not bindings:
            self.bed.failures += 1  # keeps the run directory
            raise RuntimeError(
                f"{scenario}: no pod was bound in {self.limit():g} s; see {self.bed.dir}"
            )
        first, last = min(b.received for b in bindings), max(b.answered for b in bindings)
        rate, ms = len(bindings) / (last - first), [
            (b.answered - b.received) * 1000 for b in bindings
        ]
        if keep:
            add = self.figures.add
            add(self.key(scenario, "pods_per_s"), rate)
            add(self.key(scenario, "unbound"), self.pods - len(bindings))
            add(self.key(scenario, "bind_p50_ms"), percentile(ms, 50))
            add(self.key(scenario, "bind_p99_ms"), percentile(ms, 99))
            if begin:
                add(self.key(scenario, "start_s"), first - begin)
            for name, (cpu, peak) in stretch.items():
                add(self.key(scenario, f"cpu_s_per_1000.{name}"), cpu * 1000 / self.pods)
                add(self.key(scenario, f"peak_mib.{name}"), peak)
        return f"{scenario} {rate:.0f}/s" + (
            f" ({self.pods - len(bindings)} unbound)" if len(bindings) < self.pods else ""
        )

    def until_running(self, prefix, bound, stretch):
        """Waits until all bound pods run; returns what the daemons have used until then. While kwok
        is paused, no pod becomes Running."""
        if not self.with_kwok:
            return None
        self.bed.wait_running(prefix, bound, self.limit())
        return stretch.used()

    def note_running(self, scenario, prefix, used, keep):
        """used: the result of until_running. Returns a text for the progress messages."""
        if used is None:
            return ""
        audit = self.bed.audit
        bindings, running = audit.bindings(prefix).values(), audit.running(prefix).values()
        first = min(b.received for b in bindings)
        bound = max(b.answered for b in bindings) - first
        runs = max((r.answered for r in running), default=first) - first
        if keep:
            self.add_running(scenario, bound, runs, len(running))
            for name, (cpu, _) in used.items():
                key = self.key(scenario, f"cpu_s_per_1000_until_running.{name}")
                self.figures.add(key, cpu * 1000 / self.pods)
        missing = self.pods - len(running)
        return f", {f'{missing} do not run' if missing else f'all run after {runs:.2f} s'}"

    def add_running(self, scenario, bound, runs, count):
        """If a pod did not run in time, there is no time to record."""
        self.figures.add(self.key(scenario, "not_running"), self.pods - count)
        if count == self.pods:
            self.figures.add(self.key(scenario, "all_bound_s"), bound)
            self.figures.add(self.key(scenario, "all_running_s"), runs)

    def bind_limit(self, in_flight, keep=True):
        """Binds the pods with the bare loop."""
        prefix = self.prepare("none")
        pods, nodes = self.bed.pods(prefix), self.bed.names
        self.bed.audit.mark()
        stretch = self.bed.stretch()
        told = self.bed.load.bind(pods, nodes, in_flight)
        used = {**stretch.used(), "load": (told["cpu_s"], 0)}
        later = self.until_running(prefix, self.pods, stretch)
        scenario = f"bind-limit.in_flight_{in_flight}"
        text = self.note(scenario, prefix, used, None, keep)
        text += self.note_running(scenario, prefix, later, keep)
        self.clean(prefix)
        return text

    def kube_scheduler(self, keep=True, name="kube-scheduler"):
        prefix, begin = self.prepare(SCHEDULER), time.time()
        stretch = self.bed.stretch()
        self.bed.scheduler.start()
        bound = self.bed.wait_bound(prefix, self.pods, self.limit())
        used = stretch.used()
        later = self.until_running(prefix, bound, stretch)
        self.bed.scheduler.stop()
        text = self.note(name, prefix, used, begin, keep)
        text += self.note_running(name, prefix, later, keep)
        self.clean(prefix)
        return text

    def burst(self, keep=True, name="burst", settings=None, slurm_line=None, program=None):
        """Measures slurm-kube, under another name if settings of the agent or Slurm or the agent's
        program differ. Its jobs have ended before the next contestant's turn.
        """
        self.bed.choose_agent(program)
        self.bed.configure_agent(settings or {})
        self.bed.configure_slurm(slurm_line)
        prefix, rpcs, begin = self.prepare("slurm"), self.bed.slurm.rpcs(), time.time()
        stretch = self.bed.stretch()
        recorder = self.bed.profile(self.profile if keep else None)
        self.bed.agent.start(wait=False)
        bound = self.bed.wait_bound(prefix, self.pods, self.limit())
        used = stretch.used()
        if recorder:
            recorder.send_signal(signal.SIGINT)
            recorder.wait(60)
        later = self.until_running(prefix, bound, stretch)
        text = self.note(name, prefix, used, begin, keep)
        text += self.note_running(name, prefix, later, keep)
        if keep:
            self.count_calls(name, rpcs)
        self.clean(prefix)
        self.bed.wait_slurm_idle()
        self.bed.agent.stop()
        return text

    def scraped_burst(self, keep):
        """The same with a scrape each second; raises if there was none."""
        port = self.bed.base + 10
        scraper = Scraper(port)
        scraper.start()
        try:
            text = self.burst(keep, "burst-scraped", {"metrics": {"listen": f"127.0.0.1:{port}"}})
        finally:
            scrapes = scraper.stop()
        if not scrapes:
            raise RuntimeError("burst-scraped: no scrape succeeded")
        if keep:
            self.figures.add(self.key("burst-scraped", "scrapes"), scrapes)
        return text

    def count_calls(self, name, before):
        after = self.bed.slurm.rpcs()
        ours = [
            n
            for n in after
            if n.startswith(
                (
                    "REQUEST_RESOURCE",
                    "REQUEST_COMPLETE",
                    "REQUEST_UPDATE_JOB",
                    "REQUEST_JOB_",
                    "REQUEST_KILL",
                )
            )
        ]
        self.figures.add(
            self.key(name, "slurm_rpcs_per_pod"),
            sum(after[n] - before.get(n, 0) for n in ours) / self.pods,
        )
        self.figures.add(
            self.key(name, "api_writes_per_pod"), sum(self.bed.audit.writes().values()) / self.pods
        )
        self.figures.fact(
            f"{name}.writes{'' if self.with_kwok else ' (kwok paused)'}",
            dict(self.bed.audit.writes()),
        )

    def ratios(self):
        self.figures.ratios_beside("burst", f"burst{BESIDE}")
        best = self.key("bind-limit", "pods_per_s")
        limits = [self.key(f"bind-limit.in_flight_{n}", "pods_per_s") for n in IN_FLIGHT]
        self.figures.same(
            best,
            max(
                (k for k in limits if k in self.figures.values),
                key=self.figures.median,
                default=None,
            ),
        )
        for figure in ("pods_per_s", "cpu_s_per_1000.slurmkubed", "cpu_s_per_1000.slurmctld"):
            self.figures.ratio(self.key("burst-scraped", figure), self.key("burst", figure))
        for key in (self.key("kube-scheduler", "pods_per_s"), self.key("burst", "pods_per_s")):
            self.figures.ratio(key, best)
        for figure in ("pods_per_s", "all_running_s"):
            mine, theirs = self.key("burst", figure), self.key("kube-scheduler", figure)
            self.figures.ratio(mine, theirs)
        mine, theirs = self.key("burst", "cpu_s_per_1000.slurmkubed"), self.key(
            "kube-scheduler", "cpu_s_per_1000.kube-scheduler"
        )
        self.figures.ratio(mine, theirs)


def measure(options, figures):
    """Runs the three in turns, options.repeat times after a warm-up round; with kwok running, with
    kwok paused, or both.
    """
    with BenchTestbed(options.build, options.nodes) as bed:
        figures.facts.update(bed.versions())
        figures.fact("burst.size", f"{options.pods} pods, {options.nodes} nodes of 64 CPUs")
        contest = Contest(bed, figures, options.pods)
        contest.profile = options.profile
        for number in range(-1, options.repeat):
            contest.pods = options.pods if number >= 0 else min(options.pods, WARM_UP)
            for with_kwok in options.kwok:
                contest.with_kwok = with_kwok
                told = (
                    [contest.bind_limit(n, number >= 0) for n in options.in_flight]
                    if "bind-limit" in options.contestants
                    else []
                )
                told += (
                    [contest.kube_scheduler(number >= 0)]
                    if "kube-scheduler" in options.contestants
                    else []
                )
                turns = [contest.burst] if "burst" in options.contestants else []
                turns += [contest.scraped_burst] if options.scrape else []
                if options.beside:
                    turns += [
                        lambda keep: contest.burst(keep, f"burst{BESIDE}", program=options.beside)
                    ]
                told += [turn(number >= 0) for turn in turns[:: -1 if number % 2 else 1]]
                told += [
                    contest.burst(number >= 0, f"burst-{name}", settings)
                    for name, settings in options.variant
                ]
                told += [
                    contest.burst(number >= 0, f"burst-{name}", slurm_line=line)
                    for name, line in options.slurm_variant
                ]
                say(
                    f"round {number + 1} of {options.repeat}, kwok"
                    f" {'running' if with_kwok else 'paused'}: "
                    + ", ".join(told)
                )
                contest.ratios()
