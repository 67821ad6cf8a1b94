# SPDX-License-Identifier: GPL-2.0-or-later
"""A manual page in the language of scdoc(5), as Markdown for Python-Markdown with def_list.

Only what our pages use: headings, paragraphs, lists, literal blocks, comments, bold, underlined,
line breaks, and indentation by tabs, which becomes a definition of the paragraph before.
"""
import re
from typing import NamedTuple

# what Python-Markdown lets a backslash escape
SPECIAL = set("\\`*_{}[]()#+-.!")
MANUAL = re.compile(r"\*(skube|slurm-kube|slurmkubed(?:\.yaml)?)\*\((\d)\)")
HTML = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


class Block(NamedTuple):
    kind: str  # heading, paragraph, item, literal
    depth: int  # tabs before it
    lines: list


def escaped(character):
    return "\\" + character if character in SPECIAL else HTML.get(character, character)


def is_mark(text, at, is_open):
    """Whether the character begins or ends a format: an underscore within a word does not."""
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if text[at] == "*":
        return True
    return text[at] == "_" and (not before.isalnum() or (is_open and not after.isalnum()))


def formatted(text):
    """The text of a paragraph, with Markdown's marks and escapes."""
    made, open_mark, at = [], "", 0
    while at < len(text):
        character = text[at]
        if character == "\\" and at + 1 < len(text):
            at += 1
            made.append(escaped(text[at]))
        elif open_mark in ("", character) and is_mark(text, at, bool(open_mark)):
            tag = "strong" if character == "*" else "em"
            made.append(f"</{tag}>" if open_mark else f"<{tag}>")
            open_mark = "" if open_mark else character
        else:
            made.append(escaped(character))
        at += 1
    return "".join(made)


def with_links(text):
    """The same, with references to our other manual pages as links."""
    made, at = [], 0
    for found in MANUAL.finditer(text):
        name, section = found.groups()
        made += [formatted(text[at : found.start()]), f"[{name}({section})]({name}.{section}.md)"]
        at = found.end()
    return "".join([*made, formatted(text[at:])])


def kind_of(line):
    if line.startswith("#"):
        return "heading"
    return "item" if line.startswith(("- ", ". ")) else "paragraph"


def begins_block(blocks, kind, depth, after_gap):
    """Whether a line begins a block, instead of going on with the last one."""
    if after_gap or not blocks or kind != "paragraph":
        return True
    return blocks[-1].kind in ("heading", "literal") or blocks[-1].depth != depth


def literal(lines, depth):
    """Takes a literal block from the lines, up to its last ```."""
    block = Block("literal", depth, [])
    for line in lines:
        if line.strip() == "```":
            break
        block.lines.append(line[depth:])
    return block


def blocks_of(text):
    """The blocks of a page without its first line."""
    blocks, after_gap, lines = [], True, iter(text.split("\n"))
    for line in lines:
        rest = line.lstrip("\t")
        depth = len(line) - len(rest)
        if rest.startswith("```"):
            blocks.append(literal(lines, depth))
        elif rest.strip() and not rest.startswith("; "):
            # what goes on with an item is two columns deeper
            kind, rest = kind_of(rest), rest.removeprefix("  ")
            if begins_block(blocks, kind, depth, after_gap):
                blocks.append(Block(kind, depth, []))
            blocks[-1].lines.append(rest)
        after_gap = not rest.strip()
    return blocks


def prose(lines):
    """Joins lines; "++" at the end of one breaks the line."""
    text = re.sub(r"\+\+ ", "\0", " ".join(lines) + " ").rstrip()
    return "<br>".join(with_links(part) for part in text.split("\0"))


def body(block):
    """The lines of a block, without indentation."""
    if block.kind == "heading":
        marks, _, title = block.lines[0].partition(" ")
        return [f"#{marks} {title}"]
    if block.kind == "literal":
        return ["```text", *block.lines, "```"]
    if block.kind == "item":
        mark = "1. " if block.lines[0].startswith(".") else "- "
        return [mark.ljust(4) + prose([block.lines[0][2:], *block.lines[1:]])]
    return [prose(block.lines)]


def is_definition(before, block):
    """Whether the block defines the one before it."""
    return before and before.kind == "paragraph" and block.depth == before.depth + 1


def page_lines(blocks):
    before = None
    for block in blocks:
        lines, indent = body(block), "    " * block.depth
        is_close = before and before.kind == block.kind == "item"
        if is_definition(before, block):
            if block.kind == "literal":
                lines = ["&nbsp;", "", *lines]
            yield "    " * before.depth + ":   " + lines.pop(0)
        elif not is_close:
            yield ""
        yield from (indent + line if line else "" for line in lines)
        before = block


def markdown_of(text):
    title, _, rest = text.partition("\n")
    name = title.split()[0]
    return "\n".join([f"# {name}", *page_lines(blocks_of(rest)), ""])
