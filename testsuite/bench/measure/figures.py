# SPDX-License-Identifier: GPL-2.0-or-later
"""Measurements by key "<scenario>.<figure>": the values of all repetitions, their median and
spread, and ratios between medians.
"""
import json
import math
import re
import statistics
import sys


_DAEMON = re.compile(r"\.(cpu_s_per_1000(?:_until_running)?|peak_mib)\.([a-z-]+?)(_kwok_paused)?$")


def say(text):
    print(text, file=sys.stderr, flush=True)


def percentile(values, p):
    """The smallest value that is not exceeded by p percent of all values."""
    values = sorted(values)
    return values[max(0, math.ceil(p / 100 * len(values)) - 1)]


class Figures:
    def __init__(self):
        self.values, self.ratios, self.facts = {}, {}, {}

    def add(self, key, value):
        if value is not None:
            self.values.setdefault(key, []).append(value)

    def fact(self, key, value):
        """Records what is not a measurement: versions, sizes, conditions."""
        self.facts[key] = value

    def same(self, key, other):
        """key is another name for other."""
        if other:
            self.values[key] = self.values[other]

    def ratio(self, key, other):
        """Records the median of key divided by the median of other."""
        if key in self.values and self.values.get(other) and self.median(other):
            self.ratios.setdefault(key, {})[other] = round(self.median(key) / self.median(other), 3)

    def ratios_beside(self, name, other):
        """Records the ratio of each figure of scenario name to the same one of scenario other."""
        for key in [k for k in self.values if k.startswith(f"{name}.")]:
            self.ratio(key, other + key[len(name) :])

    def median(self, key):
        return statistics.median(self.values[key])

    def tree(self):
        """{"<scenario>.<figure>.median": number, ...}, flat."""
        flat = {}
        for key, values in sorted(self.values.items()):
            flat |= {
                f"{key}.median": _short(self.median(key)),
                f"{key}.min": _short(min(values)),
                f"{key}.max": _short(max(values)),
                f"{key}.n": len(values),
            }
            if key in self.ratios:
                flat[f"{key}.ratio_to"] = self.ratios[key]
        return flat

    def write(self, path):
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"facts": self.facts, **self.tree()}, f, indent=1)
            f.write("\n")

    def table(self):
        """Prints a table on stdout; CPU time and memory in separate lines, with the daemons side by
        side.
        """
        for key, value in self.facts.items():
            print(f"# {key}: {value}")
        for group, members in sorted(self._daemons().items()):
            print(
                f"{group:44} "
                + "  ".join(
                    f"{name} {_short(self.median(key))}"
                    for name, key in members
                    if self.median(key)
                )
            )
        for key, values in sorted(self.values.items()):
            if _DAEMON.search(key):
                continue
            ratios = "  ".join(f"{r} x {other}" for other, r in self.ratios.get(key, {}).items())
            spread = f"{_short(min(values))} to {_short(max(values))}" if len(values) > 1 else ""
            print(
                f"{key:56} {_short(self.median(key)):>10}  {spread:24} n={len(values)}  {ratios}"
                .rstrip()
            )
        sys.stdout.flush()

    def _daemons(self):
        """{"burst.peak_mib": [(daemon, key)]}"""
        groups = {}
        for key in self.values:
            if found := _DAEMON.search(key):
                groups.setdefault(
                    f"{key[:found.start()]}.{found.group(1)}{found.group(3) or ''}", []
                ).append((found.group(2), key))
        return groups


def _short(number):
    """Three significant digits, but at least all digits before the decimal point."""
    if not isinstance(number, float) or number == 0 or not math.isfinite(number):
        return number
    digits = max(0, 2 - math.floor(math.log10(abs(number))))
    return round(number, digits) if digits else round(number)
