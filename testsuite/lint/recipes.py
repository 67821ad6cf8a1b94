#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Places that a change must not forget and that no compiler compares: a name that one file defines
occurs in the others that need it. doc/design/recipes.md lists most of them. Without this lint a
forgotten place would stay unnoticed.

usage: recipes.py [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory
"""
import os
import re
import sys
from pathlib import Path

TOP = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("srcdir", "."))
FIGURES = "src/core/world/figures.h"
PLUGIN = "src/core/model/plugin.h"
DIAG = "src/agent/replies_diag.cc"
SKUBE_1 = "doc/man/skube.1.scd"
SLURM_KUBE_7 = "doc/man/slurm-kube.7.scd"
PROTOCOL = "doc/design/protocol.md"
USER = "doc/user.md"
COMPLETIONS = (
    "contribs/completion/skube.bash",
    "contribs/completion/skube.fish",
    "contribs/completion/skube.zsh",
)
SCRIPT, ROWS, EVENTS = (f"testsuite/sim/{name}" for name in ("script.h", "script.cc", "events.cc"))
# not for skube: lists the jobs for a line of skube check
NOT_IN_DIAG = {"unmarked"}
# what an option sets that is no field of a job: bookkeeping, and what decides before a job exists
NOT_IN_JOBS = {"given", "pods_per_node", "gang", "ends_together", "native_job"}
# only compared with the identity rule: a change gives the job nothing
ONLY_COMPARED = {"group-id", "user-id"}
# the events of the simulator that a default does instead of a case
BY_DEFAULT = {
    "pressure_eviction",
    "unlabel_node",
    "repeat_events",
    "drain_node",
    "down_node",
    "resume_node",
    "step_clock",
}


def read(path):
    return (TOP / path).read_text(encoding="utf-8")


def between(path, start, end):
    """The text from the line that matches start to the next that matches end."""
    found = re.search(rf"^{start}.*?(?=^{end})", read(path) + "\n# \n## \n", re.M | re.S)
    if not found:
        sys.exit(f"{path}: no part between '{start}' and '{end}': correct {__file__}")
    return found.group()


def members(path, structure, kind=r"[\w:<>]+"):
    """The names of the data members, which may share a declaration."""
    text = re.sub(r"/\*.*?\*/", "", between(path, f"struct {structure} ", "};"), flags=re.S)
    for names in re.findall(rf"^\t{kind} ((?:\w+(?: = [\w:]+)?,?\s*)+);", text, re.M):
        yield from re.findall(r"(?:^|,)\s*([a-z]\w*)", names)


def missing(names, text, form, where):
    """form: how a name is written there, with NAME in the place of the name."""
    for name in names:
        if form.replace("NAME", name) not in text:
            yield f"{where} lacks {form.replace('NAME', name)}"


def figures():
    """Every figure is in the reply to skube diag, and the manual page and the protocol name it."""
    counters, latencies = list(members(FIGURES, "Counters")), list(
        members(FIGURES, "StageLatencies")
    )
    stats, costs = list(members(PLUGIN, "PluginStats")), list(
        members(PLUGIN, "PluginStats", "Cost")
    )
    shown = [name for name in stats if name not in NOT_IN_DIAG]
    reply = read(DIAG)
    yield len(counters) + len(latencies) + len(stats)
    yield from missing(counters + shown, reply, '"NAME"', DIAG)
    yield from missing(
        latencies, read(FIGURES), "&StageLatencies::NAME}", f"{FIGURES}, k_stage_rows"
    )
    named = re.findall(r'^\t\t\t\{"(\w+)"', reply, re.M)
    manual = between(SKUBE_1, "# DIAGNOSTIC FIGURES", "# ")
    yield from missing(
        named + latencies + shown, manual, "*NAME*", f"{SKUBE_1}, DIAGNOSTIC FIGURES"
    )
    protocol = between(PROTOCOL, r"\*\*`stats`", "## ")
    yield from missing(stats, protocol, "`NAME`", f"{PROTOCOL}, message stats")
    protocol = between(PROTOCOL, "### Stage latencies", "## ")
    yield from missing(latencies, protocol, "`NAME`", f"{PROTOCOL}, Stage latencies")
    dictionary = "testsuite/fuzz/link.dict"
    yield from missing(stats, read(dictionary), r'"\"NAME\":"', dictionary)
    yield from missing(costs, read("src/skube/views.cc"), '"NAME"', "costs_table() of views.cc")


def skube():
    """Verbs and options of skube are documented and completed, and its views are fuzzed."""
    options = read("src/skube/options.cc")
    verbs = re.findall(
        r'^\t\{"(\w+)", (?:true|false),',
        between("src/agent/replies.cc", "constexpr Verb k_verbs", "}"),
        re.M,
    )
    commands = re.findall(r'^\t"  ([a-z]+)', options, re.M)
    shown = re.search(r'^\t"  show ([a-z|]+)', options, re.M).group(1).split("|")
    words = re.findall(r'^\t\{"([a-z-]+)",', options, re.M)
    views = re.findall(r"^std::string (\w+_view)\(", read("src/skube/views.h"), re.M)
    asking = re.findall(r'"([a-z]+)"\}, "\w+"', read("src/skube/main.cc"))
    local = between("src/skube/local_commands.cc", "constexpr LocalCommand k_commands", "};")
    asking += re.findall(r'^\t\{"([a-z]+)", \d', local, re.M)
    yield min(map(len, (verbs, commands, asking, words, views)))
    yield from (
        f"k_help of src/skube/options.cc lacks {word}"
        for word in asking
        if word not in commands + shown
    )
    yield from missing(verbs, between(PROTOCOL, "### Verbs", "## "), "**`NAME`**", PROTOCOL)
    for path in COMPLETIONS:
        words_of = re.sub(r"(?m)^\s*#.*", "", read(path))
        completed = set(re.findall(r"[\w-]+", re.sub("__skube_option ", "--", words_of)))
        yield from (
            f"{path} lacks {word}"
            for word in commands + shown + [f"--{word}" for word in words]
            if word not in completed
        )
    fuzz = "testsuite/fuzz/fuzz_skube.cc"
    yield from missing(views, read(fuzz), "skube::NAME(", f"check_reply() of {fuzz}")


def metrics():
    """doc/metrics.md has each metric that the agent serves, but those of Slurm's own pages."""
    text = "".join(path.read_text(encoding="utf-8") for path in TOP.glob("src/agent/metrics*.cc"))
    names = sorted(set(re.findall(r'"((?:slurm_kube|scheduler|process)_\w+)"', text)))
    yield len(names)
    yield from missing(names, read("doc/metrics.md"), "`NAME`", "doc/metrics.md")


def reasons():
    """Users find each reason of a condition or event in both documents."""
    path = "src/core/model/names.h"
    names = re.findall(r'k_reason_\w+\[\] = "(Slurm\w+)";', read(path))
    yield len(names)
    waiting = between(path, r"/\* Reasons of the condition PodScheduled", "\n")
    constants = re.findall(r"(k_reason_\w+)\[\]", waiting)
    told_apart = between(path, r"inline constexpr const char \*k_waiting_reasons", "\n")
    yield from missing(constants, told_apart, "NAME", "k_waiting_reasons")
    symptoms = "doc/symptoms.md"
    yield from missing(
        re.findall(r'k_reason_\w+\[\] = "(Slurm\w+)";', waiting), read(symptoms), "NAME", symptoms
    )
    for path, start, end in (
        (USER, "## Conditions and events", "## "),
        (USER, "### Tests of conditions and events", "#"),
        (SLURM_KUBE_7, "# CONDITIONS AND EVENTS", "# "),
    ):
        yield from missing(names, between(path, start, end), "NAME", f"{path}, {start}")


def kinds():
    """Users find each kind of workload in both documents, and test_rights.py asks for it."""
    rows = re.findall(r'OwnerKind\{"[\w.-]+", "(\w+)", "(\w+)",', read("src/core/model/owner.cc"))
    names = [name for name, _ in rows]
    yield len(names)
    for path, start, end in ((USER, "## Workloads", "## "), (SLURM_KUBE_7, "# WORKLOADS", "# ")):
        text = set(re.findall(r"\w+", between(path, start, end)))
        yield from (f"{path}, {start}, lacks {name}" for name in names if name not in text)
    rights = "testsuite/e2e/test_rights.py"
    text = read(rights)
    yield from (
        f"{rights} lacks {plural}" for name, plural in rows if f'"{plural}": "{name}"' not in text
    )


def stages():
    """skube why prints the stage of a component, and skube(1) explains each."""
    text = between("src/core/reconcile/stage.cc", r"const char \*stage_text\(", "}")
    names = re.findall(r'return "(\w+)";', text)
    yield len(names)
    yield from missing(names, between(SKUBE_1, "# STAGES", "# "), "_NAME_", f"{SKUBE_1}, STAGES")


def checks():
    """skube(1) explains each line of skube check."""
    text = "".join(path.read_text(encoding="utf-8") for path in TOP.glob("src/agent/checks*.cc"))
    names = sorted(set(re.findall(r'\b(?:passed|failed)\(\s*"([^"]+)"', text)))
    yield len(names)
    yield from missing(names, between(SKUBE_1, "# CHECKS", "# "), "*NAME*", f"{SKUBE_1}, CHECKS")


def options():
    """The agent gives Slurm what an option sets, also if the option changes on a waiting pod."""
    path, change = "src/core/options/table.cc", "src/agent/slurm/describe_change.cc"
    blocks = between(path, "constexpr Option k_options", "};").split('{.name = "')[1:]
    changeable = [block[: block.index('"')] for block in blocks if ".fixed = true" not in block]
    order = [block[: block.index('"')] for block in blocks]
    names = list(members("src/core/model/job_options.h", "JobOptions"))
    yield len(blocks) + len(names)
    yield from (f"{path}: {b} must precede {a}" for a, b in zip(order, order[1:]) if b < a)
    describe = "src/agent/slurm/describe.cc"
    text = set(re.findall(r"\w+", read(describe)))
    yield from (f"{describe} lacks {name}" for name in names if name not in text | NOT_IN_JOBS)
    wanted = [name for name in changeable if name not in ONLY_COMPARED]
    yield from missing(wanted, read(change), '\t{"NAME",', f"k_rows of {change}")


def simulator():
    """k_rows is in the order of the events, because text_of() counts. The function of each group
    has a case for each event of the group, except for those of BY_DEFAULT.
    """
    events = re.findall(
        r"^\t(\w+),",
        re.sub(r"/\*.*?\*/", "", between(SCRIPT, "enum class Kind", "};"), flags=re.S),
        re.M,
    )
    rows = re.findall(r"^\t\{Kind::(\w+), \d+,\s+\"", read(ROWS), re.M)
    yield len(events)
    if rows != events:
        yield f"{ROWS}: k_rows has not the events of {SCRIPT} in their order"
    text = between(EVENTS, r"void Simulation::happen\(", "}")
    lasts = re.findall(r"<= Kind::(\w+)\)", text) + events[-1:]
    for function, last in zip(re.findall(r"\b(happen_\w+)\(event\)", text), lasts):
        group = events[: events.index(last) + 1]
        events = events[len(group) :]
        cases = re.findall(
            r"\bKind::(\w+):", between(EVENTS, rf"void Simulation::{function}\(", "}")
        )
        yield from (
            f"{EVENTS}: {function}() has no case for {event}"
            for event in group
            if event not in cases and event not in BY_DEFAULT
        )
        yield from (
            f"{EVENTS}: {function}() has a case for {case}, which {SCRIPT} has in another group"
            for case in cases
            if case not in group
        )


def guard():
    """The test of job_modify starts from a change that sets nothing. A member that it forgets
    would look changed, and the guard would refuse each change of that test.
    """
    plugin, host = (
        "src/plugins/job_submit/kube/job_submit_kube.c",
        "testsuite/component/host/tables.c",
    )
    text = between(plugin, r"static bool changes_counts\(", "}") + between(
        plugin, r"static bool changes_words\(", "}"
    )
    names = sorted(set(re.findall(r"change->(\w+)", text)))
    yield len(names)
    unset = between(host, r"static job_desc_msg_t nothing_changed\(", "}")
    yield from missing(names, unset, "change.NAME =", f"nothing_changed() of {host}")


def main():
    faults = seen = 0
    # Each check first says how many names it has read, at least the number here.
    for check, least in (
        (figures, 30),
        (skube, 5),
        (metrics, 40),
        (reasons, 9),
        (kinds, 14),
        (stages, 11),
        (checks, 18),
        (options, 80),
        (simulator, 50),
        (guard, 25),
    ):
        found = check()
        count = next(found)
        seen += count
        if count < least:
            faults += 1
            print(f"{check.__name__}: read only {count} names: correct {__file__}")
        for fault in found:
            faults += 1
            print(fault)
    print(f"{seen} names, {faults} places lack one")
    return 1 if faults else 0


sys.exit(main())
