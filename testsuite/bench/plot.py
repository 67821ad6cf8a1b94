#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws the results of testsuite/bench/bench.py --json: bars of medians with their spread, as SVG
on stdout.

usage: plot.py JSON...      (keys of later files override earlier ones)
"""
import json
import sys
from html import escape

# title -> (unit, [(label, key)])
CHARTS = {
    "Burst: 1,000 waiting pods, kwok running": (
        "pods/s",
        [
            ("bind-limit", "bind-limit.pods_per_s"),
            ("kube-scheduler", "kube-scheduler.pods_per_s"),
            ("slurm-kube", "burst.pods_per_s"),
        ],
    ),
    "Burst: 1,000 waiting pods, kwok paused": (
        "pods/s",
        [
            ("bind-limit", "bind-limit.pods_per_s_kwok_paused"),
            ("kube-scheduler", "kube-scheduler.pods_per_s_kwok_paused"),
            ("slurm-kube", "burst.pods_per_s_kwok_paused"),
        ],
    ),
    "One pod, created to bound": (
        "ms",
        [
            ("kube-scheduler, idle, p50", "kube-scheduler-latency.idle.p50_ms"),
            ("slurm-kube, idle, p50", "latency.idle.p50_ms"),
            ("kube-scheduler, idle, p99", "kube-scheduler-latency.idle.p99_ms"),
            ("slurm-kube, idle, p99", "latency.idle.p99_ms"),
            ("slurm-kube, 10,000 jobs behind it, p50", "latency.ahead.p50_ms"),
            ("by backfill: start in Slurm to bound, p50", "latency.backfill_start_to_bound.p50_ms"),
            ("behind 10,000 older jobs, p50", "latency.behind.p50_ms"),
        ],
    ),
}
LEFT, WIDTH, ROW, BAR = 290, 420, 24, 14


def bar(y, label, figures, key, scale):
    median, least, most = (figures[f"{key}.{x}"] for x in ("median", "min", "max"))
    middle, mark = y + BAR / 2, (
        "#1f5fa8" if label.startswith(("slurm-kube", "by ", "behind ")) else "#9aa5b1"
    )
    return [
        f'<text x="{LEFT - 8}" y="{y + 11}" text-anchor="end">{escape(label)}</text>',
        f'<rect x="{LEFT}" y="{y}" width="{median * scale:.1f}" height="{BAR}" fill="{mark}"/>',
        (
            f'<line x1="{LEFT + least * scale:.1f}" x2="{LEFT + most * scale:.1f}" y1="{middle}"'
            f' y2="{middle}" stroke="black"/>'
        ),
        f'<text x="{LEFT + most * scale + 8:.1f}" y="{y + 11}">{median:g}</text>',
    ]


def chart(y, title, unit, rows, figures):
    rows = [(label, key) for label, key in rows if f"{key}.median" in figures]
    if not rows:
        return y, []
    scale, out = WIDTH / max(figures[f"{key}.max"] for _, key in rows), [
        f'<text x="10" y="{y + 14}" font-weight="bold">{escape(title)} ({unit})</text>'
    ]
    for i, (label, key) in enumerate(rows):
        out += bar(y + 26 + i * ROW, label, figures, key, scale)
    return y + 26 + len(rows) * ROW + 16, out


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    figures, y, body = {}, 10, []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as f:
            figures |= json.load(f)
    for title, (unit, rows) in CHARTS.items():
        y, lines = chart(y, title, unit, rows, figures)
        body += lines
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 80}" height="{y}"'
        ' font-family="sans-serif" font-size="12">'
    )
    print('<rect width="100%" height="100%" fill="white"/>', *body, "</svg>", sep="\n")


main()
