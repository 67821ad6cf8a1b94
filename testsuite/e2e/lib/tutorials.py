# SPDX-License-Identifier: GPL-2.0-or-later
"""A tutorial of doc as a test: its commands run in their order, and their output must be as shown.

Every block of the Markdown file has a language, which says what the test does with it:

    console   "$ COMMAND", then the output that it must have; each command must exit with 0, unless
              "$ echo $?" follows and shows another status. "..." stands for any text in a line, and
              alone for any lines; a command without output in the text may print anything.
    yaml      "# FILE" in the first line: a file that the reader writes
    sh        commands that no test can run, such as apt; the test names each of them
    text      neither a command nor its output

A command that only reads is repeated until its output is as shown, as a reader would look again.
"""
import re
from typing import NamedTuple

from .process import SOURCE
from .waiting import wait_for

READ_LIMIT = 90  # seconds; the agent tries a refused pod again each minute
FENCE = re.compile(r"\s*```(\S*)\s*$")
HERE_DOCUMENT = re.compile(r"<< '(\w+)'$")
FILE_NAME = re.compile(r"# (\S+)$")
# commands that only read, and what makes them change something
READS = re.compile(
    r"kubectl (?:(?:get|describe|logs|auth|events)\b|.* --dry-run=server)"
    r"|(?:squeue|sacct|sinfo|scontrol show|helm history|curl|grep|cat)\b"
    r"|skube (?:check|why|show|ping|version|top|diag)\b"
)
CHANGES = re.compile(r">|\| *(?:kubectl|skube|sh|bash|xargs)\b")
# What differs from run to run: job ids, ages, dates, ends of names.
VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?Z?"), "DATE"),
    (re.compile(r"\w{8}-\w{4}-\w{4}-\w{4}-\w{12}"), "UID"),
    (re.compile(r"(?<![\w.-])(?:\d+[dhm])*\d+(?:\.\d+)?(?:s|m|h|d)\b"), "AGE"),
    (re.compile(r"\b\d+(?:\.\d+)? s\b"), "AGE"),
    (re.compile(r"\b\d:\d\d\b"), "ELAPSED"),
    (re.compile(r"\b(job:?) \d+"), r"\1 N"),
    (re.compile(r"\b\d+ (?=(?:RUNNING|PENDING)\b)"), "N "),
    (re.compile(r"^\d+ "), "N "),
    (re.compile(r"skube-selftest-\w{8}"), "skube-selftest-ID"),
    (re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}\b"), "-ID"),
)


class Command(NamedTuple):
    line: int
    text: str
    output: tuple  # the lines that the tutorial shows


class File(NamedTuple):
    line: int
    name: str
    text: str


class Tutorial:
    """What a tutorial tells its reader to do. .steps: commands and files in their order; .unrun:
    lines of blocks that no test runs.
    """

    def __init__(self, name):
        self.name = f"doc/{name}.md"
        self.lines = (SOURCE / self.name).read_text(encoding="utf-8").splitlines()
        self.steps, self.unrun = [], []
        for language, number, block in self._blocks():
            self._add(language, number, block)
        prompts = sum(line.lstrip().startswith("$ ") for line in self.lines)
        assert prompts == len(self.commands()), f"{self.name}: a prompt that is no command"

    def _blocks(self):
        """(language, number of its first line, lines) of each block, without its indentation."""
        began = None
        for number, line in enumerate(self.lines, 1):
            fence = FENCE.match(line)
            if began is None and fence:
                began, language = number, fence.group(1)
                indentation = len(line) - len(line.lstrip())
            elif fence:
                assert not fence.group(1), f"{self.name}:{number}: a block within a block"
                block = self.lines[began : number - 1]
                yield language, began + 1, [each[indentation:] for each in block]
                began = None
            elif began is None:
                strange = line.startswith(("    ", "\t")) or "```" in line or "~~~" in line
                assert not strange, f"{self.name}:{number}: a block without a fence of its own"
        assert began is None, f"{self.name}:{began}: the block does not end"

    def _add(self, language, number, block):
        place = f"{self.name}:{number}"
        if language == "console":
            self.steps += self._commands(number, block)
        elif language == "yaml":
            head = FILE_NAME.match(block[0])
            assert head, f"{place}: the block does not begin with '# FILE'"
            self.steps.append(File(number, head.group(1), "\n".join(block[1:]) + "\n"))
        elif language == "sh":
            self.unrun += [line for line in block if line]
        else:
            assert language == "text", f"{place}: what is a block of language '{language}'?"
            assert not [line for line in block if line.startswith("$ ")], f"{place}: a command"

    def _commands(self, number, block):
        assert block[0].startswith("$ "), f"{self.name}:{number}: output without a command"
        lines = list(enumerate(block, number))
        while lines:
            first, text = lines.pop(0)
            text = text[2:]
            while text.endswith("\\"):
                text += "\n" + lines.pop(0)[1]
            end = HERE_DOCUMENT.search(text)
            while end and not text.endswith(f"\n{end.group(1)}"):
                text += "\n" + lines.pop(0)[1]
            output = []
            while lines and not lines[0][1].startswith("$ "):
                output.append(lines.pop(0)[1])
            yield Command(first, text, tuple(output))

    def commands(self):
        return [step for step in self.steps if isinstance(step, Command)]


def normal(line):
    """The line with neither its widths nor what differs from run to run."""
    line = " ".join(line.split())
    for pattern, name in VARYING:
        line = pattern.sub(name, line)
    return line


def is_as_shown(shown, seen):
    """True if the lines that a command has printed are those of the tutorial."""
    pattern = ""
    for line in shown:
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            parts = (re.escape(part.strip()) for part in normal(line).split("..."))
            pattern += r"[^\n]*?".join(parts) + r"\n"
    return re.fullmatch(pattern, "".join(normal(line) + "\n" for line in seen)) is not None


def run_tutorial(tutorial, reader):
    """Does all that the tutorial says. reader.write(name, text) writes a file, reader.run(command)
    returns exit status and output.
    """
    steps = tutorial.steps
    for step, following in zip(steps, [*steps[1:], None]):
        if isinstance(step, File):
            reader.write(step.name, step.text)
            continue
        tells_status = isinstance(following, Command) and following.text == "echo $?"
        try:
            _run_command(step, reader, tells_status)
        except AssertionError as e:
            raise AssertionError(f"{tutorial.name}:{step.line}: $ {step.text}\n{e}") from None


def _run_command(step, reader, tells_status):
    def run():
        status, output = reader.run(step.text)
        seen = [line for line in output.splitlines() if line.strip()]
        shown = [line for line in step.output if line.strip()]
        assert tells_status or status == 0, f"exit status {status}:\n{output}"
        assert not shown or is_as_shown(shown, seen), "\n".join(
            ["prints", *seen, "instead of", *shown]
        )
        return True

    if READS.match(step.text) and not CHANGES.search(step.text):
        wait_for(run, "output as shown", READ_LIMIT, 0.5)
    else:
        run()
