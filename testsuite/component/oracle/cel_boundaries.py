# SPDX-License-Identifier: GPL-2.0-or-later
"""Random CEL selectors about one thing each, at its boundaries: numbers that overflow, quantities
and versions that are nearly the same, small patterns, values of other types, what is evaluated
late, and ways to write a string.
"""

STRINGS = ["", "gpu", "mig", "NVIDIA A100-SXM4-40GB", "Tesla T4", "1g.5gb", "Grüße", "a.b", "-"]
VERSIONS = ["1.2.3", "1.2.3-rc.1", "1.2.3-rc.10", "1.2.4+build.5", "0.0.0", "10.0.0-a-b.0"]
QUANTITIES = ["0", "1", "40Gi", "40G", "1500m", "1.5", "-2", "8Ei", "1e3", "1E3", "0.1Ki", "1n"]
QUANTITIES += ["1e-12", "9223372036854775807", "9223372036854775808", "100000000000000000000"]
QUANTITIES += ["42949672960", "0.0000000015", "-0.5Mi", "1E", "7.9999999999999999Ei", "12345678k"]
NUMBERS = [
    0,
    1,
    2,
    3,
    -1,
    40,
    2**31,
    2**53,
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    -(2**63) + 1,
]
DOUBLES = ["0.0", "1.0", "1.5", "-2.5", "3.0", "9007199254740992.0", "9.3e18", "1e300", ".5"]
OVERFLOWS = ["9223372036854775807 + 1", "-9223372036854775808 - 1", "9223372036854775807 * 2"]
OVERFLOWS += ["-9223372036854775808 / -1", "-9223372036854775808 % -1", "5 / 0", "5 % 0", "-7 / 2"]
OVERFLOWS += ["-(-9223372036854775808)", "-7 % 2", "3037000500 * 3037000500"]
ATOMS = [
    "a",
    "b",
    ".",
    "[a-c]",
    "[^a]",
    "[]b-]",
    "(a|b)",
    "(?:ab)",
    "(|a)",
    "\\\\w",
    "\\\\D",
    "\\\\n",
]
ATOMS += ["^", "$", "ü", "[^ü]", "\\\\.", "(a*)", "\\\\s"]
TEXTS = ["", "a", "b", "ab", "abab", "ba", "aXb", "üb", "a\\nb", "\\n", "a.b", "1 a", "]-", "aaab"]


def quoted(text):
    return '"' + text + '"'


class Boundaries:
    """Selectors (cel_cases.py) has random, pick, chance, member and literal."""

    def focused(self):
        return self.pick(
            self.of_numbers,
            self.of_numbers,
            self.of_two_quantities,
            self.of_two_quantities,
            self.of_two_versions,
            self.of_pattern,
            self.of_pattern,
            self.of_other_types,
            self.of_other_types,
            self.of_laziness,
            self.of_writing,
        )()

    def of_numbers(self):
        a, b, c = (self.random.choice(NUMBERS) for _ in range(3))
        if self.chance(3):
            return self.pick(*OVERFLOWS) + self.pick(" > 0", " == 0", " < 0 || true")
        sign = self.pick("", "-")
        test = f"{sign}({a} {self.pick(*'+-*/%')} {b}) {self.pick('<', '==', '>=', '!=')} {c}"
        mixed = f"{self.random.choice(DOUBLES)} {self.pick('<', '<=', '>', '>=')} {a}"
        large = f"{self.pick(NUMBERS[9], NUMBERS[8])} {self.pick('<', '>=')} "
        mixed = self.pick(mixed, large + self.pick("9223372036854775807.0", "9007199254740992.0"))
        looked_up = f"{self.member('int')} in [{self.random.choice(DOUBLES)}, {a}.0]"
        return self.pick(test, test, test + " || true", mixed, looked_up)

    def near_one(self, sign, suffix):
        """Differs from others in the ninth decimal or behind it, or not at all."""
        digits = "0" * self.pick(0, 7, 8, 9, 10) + self.pick("1", "5", "")
        return f"{sign}{self.pick('1', '0', '')}.{digits}{suffix}"

    def of_two_quantities(self):
        sign, suffix = self.pick("", "-"), self.pick("", "m", "k", "Ki", "Mi", "Ei")
        a, b = (self.near_one(sign, suffix) for _ in range(2))
        others = [a, self.random.choice(QUANTITIES), "8Ei", "9223372036854775807", "0", "-0"]
        a, b = self.pick(a, a, *others), self.pick(b, b, *others)
        compared = f'quantity("{a}").compareTo(quantity("{b}")) == {self.pick(-1, 0, 0, 1)}'
        return self.pick(compared, compared, f'sign(quantity("{a}")) == {self.pick(-1, 0, 1)}')

    def of_two_versions(self):
        parts = ["alpha", "beta", "rc", "1", "2", "10", "a-1", "-", "0", "01", ""]
        tails = ["", "", "-alpha.1", "+build", "-rc.1+b"]

        def version():
            tail = "-" + ".".join(self.random.choice(parts) for _ in range(self.pick(1, 2)))
            return self.pick("1.0.0", "1.0.0", "1.0.1", "1.10.0") + self.pick(tail, *tails)

        order = self.pick(-1, 0, 1)
        return f'semver("{version()}").compareTo(semver("{version()}")) == {order}'

    def of_pattern(self):
        atoms = (self.pick(*ATOMS) for _ in range(self.pick(1, 2, 3, 4)))
        pattern = "".join(atom + self.pick("", "", "", "*", "+", "?", "*?", "|") for atom in atoms)
        pattern = self.pick("", "^") + pattern + self.pick("", "", "$", "$", "**", "[", ")")
        return f'"{self.random.choice(TEXTS)}".matches("{pattern}")'

    def of_other_types(self):
        known = 'quantity("1")', 'semver("1.2.3")', self.member("quantity"), self.member("semver")
        a, b = self.pick(*known), self.member(self.pick("string", "int", "semver"))
        a, b = self.pick((a, b), (a, b), (b, a))
        test = f"{a} {self.pick('==', '!=', '==', '!=', '<')} {b}"
        listed = f"{self.member('semver')} in [{quoted(self.random.choice(VERSIONS))}]"
        counted = f"{self.member('string')}.size() == {self.pick(3, 5, 7, 8)}"
        either = self.pick("", "", " || true", " && false")
        return self.pick(test, listed, counted) + either

    def of_laziness(self):
        value = self.pick(self.member("int"), "1 / 0", f'{self.member("semver")} in ["1.2.3"]')
        inner = "cel.bind(y, 1, cel.bind(z, 2, z))"
        return self.pick(
            f"cel.bind(x, {value}, {self.pick('true', 'x == x', 'true || x == x')})",
            f"cel.bind(x, {inner}, [3].all(e, x == {self.pick(1, 2)} && e == {self.pick(2, 3)}))",
            f"true || {value} == 1",
            f"[1, 2].{self.pick('all', 'exists')}(x, {self.member('bool')} || x == 2)",
            f'{self.member("int")} == 1 ? true : {self.member("bool")}',
        )

    def of_writing(self):
        quotes = self.pick('"', "'", '"""', "'''", 'r"', "r'", "R'''")
        end = quotes.lstrip("rR")
        inner = self.pick(
            "a", "\\n", "\n", "\r\n", "\\x41", "\\101", "\\400", "\\z", "ü", "\\u00fc"
        )
        return f"{quotes}{inner}{self.pick('', 'b')}{end} {self.pick('==', '<')} {self.literal()}"
