# SPDX-License-Identifier: GPL-2.0-or-later
"""What is read: recorded lines, quantities, and the story of a pod."""
import json
import tempfile

from history_checker.history import History, amount
from history_checker.rules import story
from history_checker.tests.play import Play, T0, finds


def test_a_gap_is_never_right():
    p = Play()
    p.whole("one", 1)
    p.gaps.append(("Pod", 105, 140, "410 Gone"))
    finds(p, "history")


def test_recorded_lines_are_read_and_a_gap_is_kept():
    lines = [
        {"at": T0, "kind": "Pod", "start": 5},
        {"at": T0, "kind": "Pod", "gap": [5, 9], "why": "410 Gone"},
        {
            "at": T0,
            "kind": "Pod",
            "event": {
                "type": "ADDED",
                "object": {
                    "metadata": {"resourceVersion": "8", "uid": "u", "name": "p"},
                    "spec": {},
                    "status": {},
                },
            },
        },
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        f.write("".join(json.dumps(x) + "\n" for x in lines) + '{"at": 1, "ki')
        f.flush()
        h = History.read(f.name)
    assert [x[:3] for x in h.gaps] == [("Pod", 5, 9), ("Node", 0, 0)], h.gaps
    assert [x.rv for x in h.events] == [8] and list(h.pods) == ["u"]


def test_quantities_of_real_nodes():
    for text, number in (
        ("24581692Ki", 24581692 * 1024),
        ("2", 2),
        ("1500m", 1.5),
        ("1e3", 1000),
        ("0.5", 0.5),
        ("8Gi", 2**33),
    ):
        assert abs(amount(text) - number) < 1e-6, f"{text} is {amount(text)}"


def test_story_tells_pod_slurm_and_faults():
    p = Play()
    p.whole("one", 1, code=3)
    p.slurm.ends[1][0].exit_code = "4:0"
    p.deeds.windows.append((T0 + 1, T0 + 2, "kill -9 slurmkubed"))
    text = "\n".join(story(p.evidence(), p.violations()[0]))
    for part in (
        "one: rv",
        "on a for job 1",
        "NodeList=a",
        "jobcomp: job 1 FAILED 4:0",
        "fault: kill -9 slurmkubed",
    ):
        assert part in text, f"no {part!r} in:\n{text}"
