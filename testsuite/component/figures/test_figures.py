#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""usage: test_figures.py BUILD_DIR [WORD]

Slurm's own metrics, as the agent computes them (src/agent/slurm/figures*), beside what squeue,
scontrol, sinfo and sdiag say of the same moment. A real slurmctld with external nodes of the plugin
runs more than 65,535 CPUs and MiB, and has arrays, held jobs, and nodes that are down, drained and
in maintenance.

Prints TAP. Needs root. SLURM_KUBE_PORT is the first of three ports. families.txt has the name,
label and help of each family of Slurm 26.05.3, taken from its openmetrics.c.
"""
import os
import re
import subprocess
import sys
import time
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../plugin"))

from fixture import Fixture, Peer, eventually, marker  # noqa: E402
from test_plugin import build, run_all  # noqa: E402

NOBODY = 65534
MIB = 1024 * 1024
BIG = 33  # nodes of 2,000 CPUs, all of which jobs have
NODES = "NodeName=b[1-40] NodeAddr=127.0.0.1 Port={sink} CPUs=2000 RealMemory=3000 Feature=kube\n"
SQUARES = ",".join(str(n * n) for n in range(31))  # longer than what squeue shows by default
# Families of later releases than the fixture's Slurm.
SINCE_23_11 = re.compile(r"slurm_(sched|bf)_exit_")
SAMPLE = re.compile(r'(\w+)(?:\{(\w+)="([^"]*)"\})? (\S+)')
ENDED = (
    "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED TIMEOUT"
).split()


class Figures:
    """One run of the probe: .samples {(family, label value): value}, .labels, .helps, .private"""

    def __init__(self, text):
        self.samples, self.labels, self.helps = {}, {}, {}
        self.private = "# private: 1" in text
        self.updated = int((re.findall(r"updated: (\d+)", text) or [0])[0])
        for line in text.splitlines():
            if line.startswith("# HELP "):
                name, words = line[7:].split(" ", 1)
                assert self.helps.get(name, words) == words, line
                self.helps[name] = words
            elif match := SAMPLE.fullmatch(line):
                name, label, value, number = match.groups()
                if name.startswith("slurm_kube_"):
                    value, label = f"{label}={value}", None
                assert (name, value) not in self.samples, f"twice: {line}"
                self.samples[name, value] = float(number)
                self.labels[name] = label or "-"
            else:
                assert line.startswith("# ") or "stall_ms" in line, line

    def of(self, family, label=None):
        return self.samples[family, label]

    def all_of(self, prefix, suffix):
        """{label value: value} of the family"""
        return {v: n for (name, v), n in self.samples.items() if name == prefix + suffix}


def probe_command(fixture, *words):
    program = f"{fixture.build}/testsuite/component/slurm/probe"
    return [program, f"{fixture.run}/slurm.conf", *words]


def probe(fixture, *words):
    return fixture.command(*probe_command(fixture, *words))


def probe_twice(fixture, pause):
    """A running probe that asks a second time after so many seconds."""
    process = subprocess.Popen(
        fixture.inside(probe_command(fixture, "figures", str(pause))),
        env=fixture.env,
        stdout=subprocess.PIPE,
        text=True,
    )
    fixture.helpers.append(process)
    return process


def figures(fixture):
    result = probe(fixture, "figures")
    assert result.returncode == 0, result
    return Figures(result.stdout)


def said(fixture, *words):
    result = fixture.command(*words)
    assert result.returncode == 0, result
    return result.stdout


def same_moment(fixture, *words):
    """(figures, what the command said): nothing has changed between the two."""

    def look():
        before = said(fixture, *words)
        seen = figures(fixture)
        return (seen, before) if said(fixture, *words) == before else None

    found = eventually(look, every=0.2)
    assert found, f"{words} says something else each time"
    return found


def sbatch(fixture, *words, user=None):
    result = fixture.command(
        "sbatch", "--parsable", "-D", "/", "-o", "/dev/null", *words, "--wrap", "true", user=user
    )
    assert result.returncode == 0, result
    return result.stdout.strip()


def jobs_of(text):
    """Rows of squeue, a row per array task: dicts."""
    keys = ("state", "user", "account", "partition", "cpus", "nodes", "memory", "tasks", "reason")
    rows = [dict(zip(keys, line.split("|"))) for line in text.splitlines()]
    return [row for row in rows for _ in range(tasks_of(row["tasks"]))]


def tasks_of(text):
    """The number of tasks in "0-9,12,20-29:3%4"; "N/A" is no array."""
    total = 0
    for part in text.partition("%")[0].split(","):
        if match := re.fullmatch(r"(\d+)-(\d+)(?::(\d+))?", part):
            first, last, step = match.groups()
            total += len(range(int(first), int(last) + 1, int(step or 1)))
        else:
            total += 1
    return total


# Not -r: squeue of 22.05 loses the last task of 0-99:3.
SQUEUE = ("env", "SLURM_BITSTR_LEN=0", "squeue", "-h", "-a", "-t", "all", "-o")
SQUEUE += ("%T|%u|%a|%P|%C|%N|%m|%K|%r",)


def expected_of(rows):
    """The figures of these jobs, by suffix of the family."""
    states = Counter(r["state"] for r in rows)
    holds = [r for r in rows if r["reason"] in ("JobHeldUser", "JobHeldAdmin")]
    running = [r for r in rows if r["state"] == "RUNNING"]
    return {
        "": len(rows),
        "_pending": states["PENDING"],
        "_running": len(running),
        "_hold": len(holds),
        "_completed": states["COMPLETED"],
        "_cancelled": states["CANCELLED"],
        "_failed": states["FAILED"],
        "_suspended": states["SUSPENDED"],
        "_timeout": states["TIMEOUT"],
        "_started": len(rows) - states["PENDING"],
        "_finished": sum(states[s] for s in ENDED),
        "_cpus_alloc": sum(int(r["cpus"]) for r in running),
        "_memory_alloc": sum(int(r["memory"].rstrip("M")) for r in running) * MIB,
        "_nodes_alloc": len({r["nodes"] for r in running}),
    }


def compare(seen, expected, prefix, label=None, leave_out=()):
    for suffix, value in expected.items():
        if suffix not in leave_out:
            found = seen.of(prefix + suffix, label)
            assert found == value, (prefix + suffix, label, found, value)


def names_labels_and_help_are_those_of_slurm(fixture, _):
    seen = figures(fixture)
    with open(f"{HERE}/families.txt", encoding="utf-8") as file:
        wanted = dict(line.rstrip("\n").split(" ", 1) for line in file)
    if fixture.version < (23, 11):
        wanted = {n: w for n, w in wanted.items() if not SINCE_23_11.match(n)}
    found = {n: f"{seen.labels[n]} {h}" for n, h in seen.helps.items() if n in seen.labels}
    ours = {n for n in found if n.startswith("slurm_kube_")}
    assert ours == {"slurm_kube_label_values_left_out"}, ours
    different = {n: (found.get(n), wanted.get(n)) for n in found.keys() - ours | wanted.keys()}
    assert not {n: d for n, d in different.items() if d[0] != d[1]}, different


def jobs_are_those_of_squeue(fixture, _):
    seen, text = same_moment(fixture, *SQUEUE)
    rows = jobs_of(text)
    expected = expected_of(rows)
    assert expected["_cpus_alloc"] > 65535 and expected["_memory_alloc"] > 65535 * MIB, expected
    assert expected["_pending"] == 34 + 31 + 10 + 1 and expected["_hold"] == 11, expected
    assert expected["_cancelled"] == 1, expected
    compare(seen, expected, "slurm_jobs")


def users_and_accounts_are_those_of_squeue(fixture, _):
    seen, text = same_moment(fixture, *SQUEUE)
    rows = jobs_of(text)
    for prefix, key in (("slurm_user_jobs", "user"), ("slurm_account_jobs", "account")):
        names = {r[key].replace("(null)", "") for r in rows}
        assert len(names) > 1, names
        assert set(seen.all_of(prefix, "")) == names, (seen.all_of(prefix, ""), names)
        for name in names:
            mine = [r for r in rows if r[key].replace("(null)", "") == name]
            compare(seen, expected_of(mine), prefix, name)
        total = sum(seen.all_of(prefix, "").values())
        assert total == seen.of("slurm_jobs"), total


def partitions_are_those_of_squeue_and_sinfo(fixture, _):
    seen, text = same_moment(fixture, *SQUEUE)
    rows = jobs_of(text)
    parts = said(fixture, "scontrol", "-o", "show", "partition").splitlines()
    assert seen.of("slurm_partitions") == len(parts)
    nodes = nodes_of(fixture)
    for line in parts:
        fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
        name = fields["PartitionName"]
        mine = [r for r in rows if r["partition"] == name]
        prefix = "slurm_partition_jobs"
        compare(seen, expected_of(mine), prefix, name, leave_out=("", "_nodes_alloc"))
        left = [r for r in mine if r["state"] not in ENDED]
        assert seen.of(prefix, name) == len(left), (name, len(left))
        assert seen.of("slurm_partition_nodes", name) == int(fields["TotalNodes"]), name
        assert seen.of("slurm_partition_cpus", name) == int(fields["TotalCPUs"]), name
        members = said(fixture, "sinfo", "-hN", "-p", name, "-o", "%N").split()
        sums = {
            "cpus_alloc": sum(int(nodes[n]["CPUAlloc"]) for n in members),
            "cpus_efctv": sum(int(nodes[n]["CPUEfctv"]) for n in members),
            "mem_tot": sum(int(nodes[n]["RealMemory"]) for n in members) * MIB,
            "mem_alloc": sum(int(nodes[n]["AllocMem"]) for n in members) * MIB,
        }
        sums["cpus_idle"] = sums["cpus_efctv"] - sums["cpus_alloc"]
        compare(seen, {f"_{k}": v for k, v in sums.items()}, "slurm_partition_nodes", name)
        states = states_of([nodes[n] for n in members])
        compare(seen, states, "slurm_partition_nodes", name)
    assert seen.of("slurm_partition_nodes_cpus_alloc", "kube") > 65535
    assert seen.of("slurm_partition_jobs_min_job_nodes", "native") == 2
    assert seen.of("slurm_partition_jobs_min_job_nodes_nohold", "native") == 1


def nodes_of(fixture):
    """{name: {key: value}} of scontrol; a State has the parts that sinfo shows."""
    found = {}
    for line in said(fixture, "scontrol", "-o", "show", "node").splitlines():
        fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
        fields.setdefault("CPUEfctv", fields["CPUTot"])
        fields["State"] = fields["State"].replace("*", "+NOT_RESPONDING").split("+")
        found[fields["NodeName"]] = fields
    return found


def states_of(nodes):
    base = Counter(n["State"][0] for n in nodes)
    flags = Counter(flag for n in nodes for flag in n["State"][1:])
    drained = [n for n in nodes if "DRAIN" in n["State"]]
    draining = [n for n in drained if n["State"][0] in ("ALLOCATED", "MIXED")]
    return {
        "_alloc": base["ALLOCATED"],
        "_mixed": base["MIXED"],
        "_idle": base["IDLE"],
        "_down": base["DOWN"],
        "_maint": flags["MAINTENANCE"] + flags["MAINT"],
        "_drained": len(drained) - len(draining),
        "_drain": len(drained) - len(draining),
        "_draining": len(draining),
    }


def nodes_are_those_of_scontrol(fixture, _):
    seen, _ = same_moment(fixture, *SQUEUE)
    nodes = nodes_of(fixture)
    assert seen.of("slurm_nodes") == len(nodes)
    states = states_of(nodes.values())
    for state, least in (("_alloc", BIG), ("_mixed", 1), ("_idle", 1), ("_down", 1)):
        assert states[state] >= least, states
    assert states["_maint"] == 1 and states["_drained"] == 1 and states["_draining"] == 1, states
    compare(seen, states, "slurm_nodes")
    for name, node in nodes.items():
        idle = int(node["CPUEfctv"]) - int(node["CPUAlloc"])
        for family, value in (
            ("cpus", int(node["CPUTot"])),
            ("cpus_alloc", int(node["CPUAlloc"])),
            ("cpus_effective", int(node["CPUEfctv"])),
            ("cpus_idle", idle),
            ("memory_bytes", int(node["RealMemory"]) * MIB),
            ("memory_alloc_bytes", int(node["AllocMem"]) * MIB),
        ):
            assert seen.of(f"slurm_node_{family}", name) == value, (name, family, value)
    assert seen.of("slurm_node_gpus", "g1") == 2


def gpus_of_jobs_are_counted(fixture, _):
    """A job with a GPU, although no accounting counts gres/gpu."""
    answer = fixture.submit(marker("gpu"), node="g1", gres=f"gres{fixture.gres_mark}gpu:1")
    assert answer.ok, vars(answer)
    seen = figures(fixture)
    assert seen.of("slurm_node_gpus_alloc", "g1") == 1
    assert seen.of("slurm_jobs_gpus_alloc") == 1
    assert seen.of("slurm_partition_gpus", "kube") == 2
    fixture.complete(answer.job)


SDIAG = (
    ("slurm_sdiag_jobs_submitted", "Jobs submitted"),
    ("slurm_sdiag_jobs_started", "Jobs started"),
    ("slurm_sdiag_jobs_completed", "Jobs completed"),
    ("slurm_sdiag_jobs_canceled", "Jobs canceled"),
    ("slurm_sdiag_jobs_failed", "Jobs failed"),
    ("slurm_sdiag_jobs_pending", "Jobs pending"),
    ("slurm_sdiag_jobs_running", "Jobs running"),
    ("slurm_agent_queue_size", "Agent queue size"),
    ("slurm_slurmdbd_queue_size", "DBD Agent queue size"),
    ("slurm_schedule_cycle_last", "\tLast cycle"),
    ("slurm_schedule_cycle_max", "\tMax cycle"),
    ("slurm_schedule_cycle_cnt", "\tTotal cycles"),
    ("slurm_sched_mean_cycle", "\tMean cycle"),
    ("slurm_sched_mean_depth_cycle", "\tMean depth cycle"),
    ("slurm_schedule_queue_len", "\tLast queue length"),
    ("slurm_backfilled_jobs", "\tTotal backfilled jobs (since last slurm start)"),
)


def the_scheduler_is_that_of_sdiag(fixture, _):
    def words():
        """Without what changes with time alone."""
        text = said(fixture, "sdiag", "-a")
        fields = [line.split(":", 1) for line in text.splitlines() if ":" in line]
        first = {}
        for key, value in fields:
            first.setdefault(key, value.split("(")[0].strip())
        return {key: first[key] for _, key in SDIAG}

    def look():
        before = words()
        seen = figures(fixture)
        return (seen, before) if words() == before else None

    found = eventually(look, every=0.5)
    assert found, "sdiag says something else each time"
    seen, fields = found
    for family, key in SDIAG:
        assert seen.of(family) == int(fields[key]), (family, seen.of(family), fields[key])
    assert seen.of("slurm_sdiag_jobs_submitted") > 50, fields
    assert abs(seen.of("slurm_sched_stats_timestamp") - time.time()) < 60


def an_unchanged_queue_is_not_sent_again(fixture, _):
    """The second question says since when: slurmctld only answers that nothing has changed, and
    the first answer stays. Its scheduler may change a job between any two questions.
    """

    def look():
        text = probe_twice(fixture, 2).communicate()[0]
        first, second = map(Figures, text.split("# end\n")[:2])
        return (first, second) if first.updated == second.updated > 0 else None

    found = eventually(look)
    assert found, "each answer is a new one"
    first, second = found
    assert first.samples.keys() == second.samples.keys() and len(first.samples) > 300
    different = {key for key in first.samples if first.samples[key] != second.samples[key]}
    assert not {key for key in different if re.match("slurm_(user_|account_|)jobs", key[0])}


def a_changed_queue_is_sent_again(fixture, _):
    process = probe_twice(fixture, 3)
    lines = iter(process.stdout.readline, "")
    first = Figures("".join(iter(lambda: next(lines), "# end\n")))
    sbatch(fixture, "-p", "native", "-H")
    second = Figures("".join(lines))
    assert first.updated < second.updated, (first.updated, second.updated)
    assert second.of("slurm_jobs_hold") == first.of("slurm_jobs_hold") + 1


def private_data_is_noticed(fixture, _):
    assert not figures(fixture).private
    fixture.write_conf(extra="PrivateData=jobs\n" + fixture.options["extra"])
    fixture.reconfigure()
    assert eventually(lambda: figures(fixture).private, every=0.5)


def a_slurmctld_that_is_away_is_told(fixture, _):
    fixture.kill_slurmctld()
    result = probe(fixture, "figures")
    assert result.returncode == 1, result
    for kind in ("jobs", "nodes", "partitions", "scheduler"):
        assert f"# no answer about {kind}: " in result.stdout, result.stdout
    assert "slurm_jobs" not in result.stdout


TESTS = [
    names_labels_and_help_are_those_of_slurm,
    jobs_are_those_of_squeue,
    users_and_accounts_are_those_of_squeue,
    partitions_are_those_of_squeue_and_sinfo,
    nodes_are_those_of_scontrol,
    gpus_of_jobs_are_counted,
    the_scheduler_is_that_of_sdiag,
    an_unchanged_queue_is_not_sent_again,
    a_changed_queue_is_sent_again,
    private_data_is_noticed,
    a_slurmctld_that_is_away_is_told,
]


def prepare(fixture):
    """Jobs and nodes of all sorts; they stay as they are."""
    peer = Peer(f"{fixture.run}/plugin.sock")
    fixture.start_munged()
    fixture.start_slurmctld()
    peer.wait("snapshot_end")
    for number in range(1, BIG + 1):
        answer = fixture.submit(
            marker(f"big-{number}"), cpus=2000, memory=3000, node=f"b{number}", port=fixture.sink
        )
        assert answer.ok and answer.nodes == f"b{number}", vars(answer)
    for uid, node in (("half", "b34"), ("draining", "b35")):
        answer = fixture.submit(marker(uid), cpus=500, memory=70, node=node, port=fixture.sink)
        assert answer.ok and answer.nodes == node, vars(answer)
    for node in ("b35", "b36"):
        said(fixture, "scontrol", "update", f"nodename={node}", "state=drain", "reason=test")
    said(
        fixture,
        *"scontrol create reservation reservationname=service users=root nodes=b37".split(),
        *"starttime=now duration=60 flags=maint".split(),
    )
    assert eventually(lambda: "MAINT" in fixture.node_text("b37"), every=0.1), "no maintenance"
    sbatch(fixture, "-p", "native", "--array=0-99:3%7", "-A", "physics", user=NOBODY)
    sbatch(fixture, "-p", "native", f"--array={SQUARES}", "-A", "biology")
    sbatch(fixture, "-p", "mixed", "-H", "-N", "2", "--array=0-9", user=NOBODY)
    sbatch(fixture, "-p", "native", "-H", "-N", "2")
    fixture.command("scancel", sbatch(fixture, "-p", "native"))
    return peer


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if os.geteuid() != 0:
        print("1..0 # SKIP needs root")
        sys.exit(77)
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    tests = [t for t in TESTS if word in t.__name__]
    build(sys.argv[1])
    probe_target = "testsuite/component/slurm/probe"
    if not os.path.exists(os.path.join(sys.argv[1], probe_target)):
        subprocess.run(["make", "-C", sys.argv[1], probe_target], check=True, stdout=sys.stderr)
    print(f"1..{len(tests)}", flush=True)
    port = int(os.environ.get("SLURM_KUBE_PORT", "21100"))
    fixture = Fixture(sys.argv[1], port)
    fixture.write_conf(
        nodes=fixture.options["nodes"] + NODES.format(sink=port + 1),
        dynamic=fixture.options["dynamic"].replace("20", "100"),
    )
    failed = len(tests)
    try:
        failed = run_all(fixture, prepare(fixture), tests)
    finally:
        fixture.stop(keep=failed != 0)
        if failed:
            print(f"# {failed} failed; see {fixture.run}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
