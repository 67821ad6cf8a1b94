# SPDX-License-Identifier: GPL-2.0-or-later
"""Random CEL selectors and devices for the comparison with Kubernetes' own CEL.

Selectors follow the grammar by types, so that most of them compile. Some are broken on purpose:
another type, an attribute that no device has, a form that we do not understand, a lost character.
"""
import random

from cel_boundaries import DOUBLES, NUMBERS, QUANTITIES, STRINGS, VERSIONS, Boundaries, quoted

DRIVER = "gpu.example.com"
DOMAINS = [DRIVER, "resource.kubernetes.io", "absent.example.com"]
NOT_VERSIONS = ["1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3-01", "", "1.2.3+", "1.2.3-a..b"]
NOT_QUANTITIES = ["", "Gi", "1Kb", "1e", " 1", "1.5.5", "-", ".", "k", "1ki", "Ei", "+", "--1"]
PATTERNS = ["^.*a100.*$", "gpu", "^$", "^(gpu|mig)$", "[0-9]+g\\\\.[0-9]gb", "T4$", "(a|b)*", "."]
PATTERNS += ["Gr.{0}", "^[^a-z]+$", "\\\\d\\\\w?\\\\s*", "a**", "(", "[b-a]", "x+?", "(?i)GPU", "ü"]
ATTRIBUTES = {
    "type": ["string"],
    "model": ["string"],
    "index": ["int"],
    "numa": ["int"],
    "rdma": ["bool"],
    "driverVersion": ["version"],
    "any": ["string", "int", "bool", "version"],
}
CAPACITIES = ["memory", "cores"]
# As found in the field (classes of drivers, examples, documents)
IN_USE = [
    "device.driver == 'DRIVER' && device.attributes['DRIVER'].type == 'gpu'",
    "device.driver == 'DRIVER' && device.attributes['DRIVER'].id == 0",
    'device.driver == "dra.cpu"',
    "device.attributes['DRIVER'].model == '1g.5gb'",
    "device.attributes['DRIVER'].model.lowerAscii().matches('^.*a100.*$')",
    (
        "device.attributes['DRIVER'].type == 'gpu' && device.attributes['DRIVER'].index < 2"
        " || device.attributes['DRIVER'].model == \"Tesla T4\""
    ),
    "device.capacity['DRIVER'].cores.isLessThan(quantity(\"30\"))",
    'device.attributes["resource.kubernetes.io"].numa == 0',
    "device.capacity['DRIVER'].memory.compareTo(quantity('4Gi')) >= 0",
    "device.attributes['DRIVER'].model in ['Tesla T4', '1g.5gb']",
    "device.attributes['DRIVER'].?isSriovVf.orValue(false)",
    "device.attributes['DRIVER'].rdma == true",
    "device.capacity['DRIVER'].memory.isGreaterThan(quantity(\"20Gi\"))",
    "device.attributes['DRIVER'].index >= 2",
    "device.attributes['DRIVER'].driverVersion.compareTo(semver('1.2.3')) >= 0",
    "device.attributes['DRIVER'].driverVersion.isGreaterThan(semver('1.0.0'))",
    "cel.bind(dra, device.attributes['DRIVER'], dra.type == 'gpu' && dra.rdma)",
    "has(device.attributes['DRIVER'].model) && device.attributes['DRIVER'].model != ''",
    "!device.allowMultipleAllocations",
    "['gpu', 'mig'].exists(t, device.attributes['DRIVER'].type == t)",
    # of an older API: these are errors
    'device.attributes["memory"] == 1',
    "device.attributes['DRIVER'].model.stringValue == 'x'",
    "device.attributes['DRIVER'].memory.isGreaterThan(quantity('1'))",
]


class Selectors(Boundaries):
    def __init__(self, seed):
        self.random = random.Random(f"cel {seed}")
        self.depth = 0
        self.variables = []  # (name, type)

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, one_in):
        return self.random.randrange(one_in) == 0

    # devices

    def attribute(self, kind):
        if kind == "int":
            return {"int": self.random.choice(NUMBERS[:6] if self.chance(2) else NUMBERS)}
        if kind == "bool":
            return {"bool": self.chance(2)}
        if kind == "version":
            return {"version": self.random.choice(VERSIONS)}
        return {"string": self.random.choice(STRINGS)}

    def device(self):
        attributes = {}
        for domain in DOMAINS[:2]:
            for name, kinds in ATTRIBUTES.items():
                if not self.chance(6):
                    own = domain == DRIVER and self.chance(2)
                    key = name if own else f"{domain}/{name}"
                    attributes[key] = self.attribute(self.random.choice(kinds))
        capacity = {
            f"{DRIVER}/{name}": {"value": self.random.choice(QUANTITIES)}
            for name in CAPACITIES
            if not self.chance(8)
        }
        device = {"name": "gpu-0", "attributes": attributes, "capacity": capacity}
        if self.chance(3):
            device["allowMultipleAllocations"] = self.chance(2)
        return device

    # expressions; TYPE is bool, int, double, string, quantity, semver or list

    def of_type(self, kind):
        """An expression of this type, or of dyn with such a value."""
        if self.chance(60):
            kind = self.pick("bool", "int", "double", "string", "quantity", "semver")
        named = [name for name, t in self.variables if t == kind]
        if named and self.chance(2):
            return self.random.choice(named)
        if self.depth > 4:
            return self.leaf(kind)
        self.depth += 1
        try:
            return self.common(kind) if self.chance(8) else getattr(self, kind)()
        finally:
            self.depth -= 1

    def common(self, kind):
        return self.pick(
            lambda: f"({self.of_type('bool')} ? {self.of_type(kind)} : {self.of_type(kind)})",
            lambda: f"({self.of_type(kind)})",
            lambda: self.bind(kind),
            lambda: f"[{self.leaf(kind)}, {self.leaf(kind)}][{self.pick(0, 1, 2)}]",
            lambda: f"[{self.leaf(kind)}][?{self.pick(0, 1)}].orValue({self.leaf(kind)})",
            lambda: self.optional(kind),
        )()

    def optional(self, kind):
        member = self.names(kind)
        where = "capacity" if kind == "quantity" else "attributes"
        domain = f'device.{where}["{self.random.choice(DOMAINS)}"]'
        field = self.pick(f".?{member}", f'[?"{member}"]')
        return domain + field + self.pick(f".orValue({self.leaf(kind)})", ".value()")

    def bind(self, kind):
        name, inner = self.pick("x", "y", "z"), self.pick("bool", "int", "string", "quantity")
        value = self.of_type(inner)
        self.variables.append((name, inner))
        result = f"cel.bind({name}, {value}, {self.of_type(kind)})"
        self.variables.pop()
        return result

    def names(self, kind):
        if kind == "quantity":
            return self.random.choice(CAPACITIES + ["absent"])
        if self.chance(12):
            return self.pick("absent", *ATTRIBUTES)
        kind = kind.replace("semver", "version")
        wanted = [name for name, kinds in ATTRIBUTES.items() if kind in kinds]
        return self.random.choice(wanted or ["any"])

    def member(self, kind):
        where = "capacity" if kind == "quantity" else "attributes"
        domain = DRIVER if self.chance(2) else self.random.choice(DOMAINS)
        field = self.pick(f".{self.names(kind)}", f'["{self.names(kind)}"]')
        return f"device.{where}[{self.pick(quoted(domain), chr(39) + domain + chr(39))}]{field}"

    def leaf(self, kind):
        if kind in ("bool", "int", "string", "semver", "quantity") and self.chance(2):
            return self.member(kind)
        if kind == "bool":
            return self.pick("true", "false", "device.allowMultipleAllocations")
        if kind == "int":
            return str(self.random.choice(NUMBERS))
        if kind == "double":
            return self.random.choice(DOUBLES)
        if kind == "quantity":
            return f"quantity({quoted(self.random.choice(QUANTITIES))})"
        if kind == "semver":
            return f"semver({quoted(self.random.choice(VERSIONS))})"
        return self.literal()

    def literal(self):
        text = self.random.choice(STRINGS)
        return self.pick(quoted(text), f"'{text}'", f'r"{text}"', f"'''{text}'''", f'"{text}\\x41"')

    def bool(self):
        return self.pick(
            self.logical,
            self.logical,
            self.relation,
            self.relation,
            self.membership,
            self.of_string,
            self.of_quantity,
            self.presence,
            self.quantifier,
            lambda: f"!{self.leaf('bool')}",
            lambda: f"!({self.of_type('bool')})",
            lambda: self.leaf("bool"),
        )()

    def logical(self):
        operator = self.pick(" && ", " || ", " && ", "||")
        return operator.join(self.of_type("bool") for _ in range(self.pick(2, 2, 3, 5)))

    def relation(self):
        kind = self.pick("int", "int", "double", "string", "string", "bool", "quantity", "semver")
        other = kind
        if kind in ("int", "double") and self.chance(4):
            other = self.pick("int", "double")
        orders = ["<", "<=", ">", ">="] if kind not in ("quantity", "semver") else []
        operator = self.random.choice(["==", "!=", "=="] + orders)
        return f"{self.of_type(kind)} {operator} {self.of_type(other)}"

    def membership(self):
        if self.chance(4):
            of = self.pick("device.attributes", f'device.attributes["{DRIVER}"]')
            of = self.pick(of, f'device.capacity["{DRIVER}"]')
            return f"{quoted(self.pick('type', 'absent', 'memory', DRIVER))} in {of}"
        kind = self.pick("string", "string", "int", "double", "bool", "semver")
        return f"{self.of_type(kind)} in {self.list_of(kind)}"

    def list_of(self, kind):
        if kind in ("string", "int") and self.chance(2):
            source = self.literal if kind == "string" else lambda: str(self.pick(*NUMBERS))
            elements = [source() for _ in range(self.pick(1, 2, 4))]
        elif self.chance(3):
            elements = [self.member(kind) for _ in range(self.pick(1, 2))]
        else:
            elements = [self.leaf(kind) for _ in range(self.pick(1, 2, 3))]
        return "[" + ", ".join(elements) + self.pick("", "", ",") + "]"

    def of_string(self):
        return self.pick(
            lambda: f"{self.of_type('string')}.startsWith({self.of_type('string')})",
            lambda: f"{self.of_type('string')}.endsWith({self.leaf('string')})",
            lambda: f"{self.of_type('string')}.contains({self.leaf('string')})",
            lambda: f"{self.of_type('string')}.matches({quoted(self.pick(*PATTERNS))})",
            lambda: f"isSemver({quoted(self.pick(*VERSIONS, *NOT_VERSIONS))})",
            lambda: f"isQuantity({quoted(self.pick(*QUANTITIES, *NOT_QUANTITIES))})",
            lambda: f"isSemver({self.of_type('string')})",
            lambda: f"isQuantity({self.of_type('string')})",
        )()

    def of_quantity(self):
        kind = self.pick("quantity", "quantity", "semver")
        test = self.pick("isLessThan", "isGreaterThan")
        return f"{self.of_type(kind)}.{test}({self.of_type(kind)})"

    def presence(self):
        field = self.pick(*ATTRIBUTES, "absent", "absent.absent")
        return self.pick(
            f'has(device.attributes["{self.random.choice(DOMAINS)}"].{field})',
            f'has(device.capacity["{DRIVER}"].{self.pick(*CAPACITIES, "absent")})',
            f'device.attributes["{DRIVER}"].?{field}.hasValue()',
            "has(device.attributes.absent)",
        )

    def quantifier(self):
        kind, name = self.pick("string", "int", "bool"), self.pick("x", "e")
        of = self.list_of(kind)
        if self.chance(5):
            kind, of = "string", f'device.attributes["{self.random.choice(DOMAINS)}"]'
        self.variables.append((name, kind))
        result = f"{of}.{self.pick('exists', 'all')}({name}, {self.of_type('bool')})"
        self.variables.pop()
        return result

    def int(self):
        return self.pick(
            lambda: self.leaf("int"),
            lambda: f"{self.of_type('int')} {self.pick(*'+-*/%')} {self.of_type('int')}",
            lambda: f"size({self.of_type('string')})",
            lambda: f"{self.of_type('string')}.size()",
            lambda: f"{self.of_type('quantity')}.compareTo({self.of_type('quantity')})",
            lambda: f"{self.of_type('semver')}.compareTo({self.of_type('semver')})",
            lambda: f"sign({self.of_type('quantity')})",
            lambda: f"-({self.of_type('int')})",
            lambda: f"{self.list_of('int')}.size()",
            lambda: self.pick("0x1F", "-0x8000000000000000", "- 1", "9223372036854775808"),
        )()

    def double(self):
        return self.pick(
            lambda: self.leaf("double"),
            lambda: f"{self.of_type('double')} {self.pick(*'+-*/')} {self.of_type('double')}",
            lambda: f"-({self.of_type('double')})",
        )()

    def string(self):
        return self.pick(
            lambda: self.leaf("string"),
            lambda: self.leaf("string"),
            lambda: f"{self.of_type('string')}.lowerAscii()",
            lambda: f"{self.of_type('string')}.upperAscii()",
            lambda: f"{self.of_type('string')} + {self.of_type('string')}",
            lambda: self.pick("device.driver", '"\\u00fc\\n\\101"', '"\\ud800"', "r'\\d'"),
        )()

    def quantity(self):
        wrong = quoted(self.random.choice(NOT_QUANTITIES))
        return self.pick(
            lambda: self.leaf("quantity"),
            lambda: self.leaf("quantity"),
            lambda: f"quantity({self.pick(wrong, self.leaf('string'))})",
        )()

    def semver(self):
        wrong = quoted(self.random.choice(NOT_VERSIONS))
        return self.pick(
            lambda: self.leaf("semver"),
            lambda: self.leaf("semver"),
            lambda: f"semver({self.pick(wrong, self.leaf('string'))})",
        )()

    # cases

    def broken(self, text):
        at = self.random.randrange(len(text) + 1)
        other = self.pick("", "(", ")", "'", '"', "!", "-", "[", "]", ".", "?", ",", " in ", "1")
        other = self.pick(other, "&&", " x ", "\\", "}", "{", "0x", "u", "'''", "r", ":", "+", ".?")
        return text[:at] + other + text[at + self.pick(0, 1, 1, 3) :]

    def unknown(self):
        return self.pick(
            "[1, 2].map(x, x + 1)[0] == 2",
            "device.attributes.filter(d, true).size() > 0",
            '"a,b".split(",")[0] == "a"',
            "{'a': 1}['a'] == 1",
            "1u < 2u",
            'b"a" == b"a"',
            "null == null",
            "[] == []",
            'int("1") == 1',
            'string(1) == "1"',
            "optional.of(1).hasValue()",
            'quantity("1").add(quantity("1")).asInteger() == 2',
            'semver("1.2.3").major() == 1',
            'semver("v1", true) == semver("1.0.0")',
            '"abc".substring(1) == "bc"',
            "!!true",
            "--1 == 1",
            "dyn(1) == 1",
            "type(1) == int",
            "[[1], [2]].size() == 2",
            "[1] + [2] == [1, 2]",
            'ip("10.0.0.1").family() == 4',
        )

    def selector(self):
        if self.chance(8):
            return self.random.choice(IN_USE).replace("DRIVER", DRIVER)
        if self.chance(40):
            return self.unknown()
        if self.chance(3):
            return self.focused()
        self.depth, self.variables = 0, []
        text = self.of_type(self.pick("bool", "bool", "bool", "bool", "bool", "bool", "string"))
        return self.broken(text) if self.chance(10) else text

    def case(self):
        return {"selector": self.selector(), "driver": DRIVER, "device": self.device()}
