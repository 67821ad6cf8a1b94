# SPDX-License-Identifier: GPL-2.0-or-later
"""Hooks of mkdocs: what the site has besides the files of doc, and how their Markdown, which is
written for GitHub, becomes Python-Markdown's.

What is in doc keeps its place in the site. Manual pages become pages of Markdown; NEWS.md and
CONTRIBUTING.md get lower case names. A file or folder without a page to which some page links gets
a page below files/ that shows it.
"""
import os
import re
import sys
from pathlib import Path, PurePosixPath

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
# pylint: disable=wrong-import-position
from scdoc import markdown_of  # noqa: E402

TOP = Path(__file__).parents[2]
# pages that are outside doc
ELSEWHERE = {"NEWS.md": "news.md", "CONTRIBUTING.md": "contributing.md"}
MANUALS = sorted(path.name[:-4] for path in (TOP / "doc/man").glob("*.scd"))
LANGUAGES = {".yaml": "yaml", ".json": "json", ".py": "python", ".c": "c", ".sh": "bash"}

# a block between lines of ```, or a span between backquotes, which may go on in the next line
CODE = re.compile(r"(^ *```.*?^ *```[ ]*$|`[^`]+`)", re.M | re.S)
LINK = re.compile(r"(\]\(|^\[[^\]\n]+\]:\s+)([^)\s]+)", re.M)
MANUAL = re.compile(r"(?<![\w/.\[-])(skube|slurm-kube|slurmkubed(?:\.yaml)?)\((\d)\)")
ITEM = re.compile(r"(?:[-*]|\d+\.) +")


def site_path(path):
    """Where the site has a file or folder of the repository."""
    if path in ELSEWHERE:
        return ELSEWHERE[path]
    if path.startswith("doc/man/"):
        return path[4:-4] + ".md"
    page = path + "/README.md" if (TOP / path).is_dir() else path
    if page.startswith("doc/") and not (TOP / page).is_dir():
        return page[4:]
    return f"files/{path}.md"


def repository_path(page):
    """The repository's file of a page; None for a page that only the site has."""
    moved = {there: here for here, there in ELSEWHERE.items()}
    if page.startswith(("man/", "files/")):
        return None
    return moved.get(page, "doc/" + page)


def is_outside(target):
    return not target or target.startswith("#") or re.match(r"[a-z]+:", target)


def target_of(source, target):
    """The repository's path to which a relative link in the file source leads."""
    path = target.partition("#")[0]
    return os.path.normpath(PurePosixPath(source).parent / path)


def change_prose(text, change):
    """The text, with the function applied to what is not code."""
    parts = CODE.split(text)
    return "".join(part if at % 2 else change(part) for at, part in enumerate(parts))


def move_links(text, source):
    """Relative links of a file of the repository as they are in the site."""
    here = PurePosixPath(site_path(source)).parent

    def moved(found):
        before, target = found.groups()
        if is_outside(target):
            return found.group()
        anchor = target.partition("#")[1:]
        path = os.path.relpath(site_path(target_of(source, target)), here)
        return before + path + "".join(anchor)

    return change_prose(text, lambda part: LINK.sub(moved, part))


def link_manuals(text, page):
    """Names like skube(1) become links, but not in headings."""
    up = "../" * page.count("/")

    def linked(part):
        lines = part.split("\n")
        return "\n".join(
            line if line.startswith("#") else MANUAL.sub(rf"[\g<0>]({up}man/\1.\2.md)", line)
            for line in lines
        )

    return change_prose(text, linked)


def deepen(text):
    """What belongs to an item of a list is as deep as the item's text for GitHub, and four columns
    per level for Python-Markdown. That also wants an empty line before an item that follows the
    second paragraph of another.
    """
    columns, in_code, has_gap, lines = [], False, False, []
    for line in text.split("\n"):
        rest = line.lstrip(" ")
        depth = len(line) - len(rest)
        if rest and not in_code:
            columns = [column for column in columns if column <= depth]
        if rest.startswith("```"):
            in_code = not in_code
        base = columns[-1] if columns else 0
        item = None if in_code else ITEM.match(rest)
        lines += [""] if item and has_gap else []
        has_gap = not item and (has_gap or not rest)
        lines.append(" " * (4 * len(columns) + max(depth - base, 0)) + rest if rest else "")
        if item:
            columns.append(depth + item.end())
    return "\n".join(lines)


def shown(path):
    """A page that shows a file, or the list of a folder's files."""
    head = f"---\nsearch: {{exclude: true}}\n---\n# {path}\n\n"
    file = TOP / path
    if not file.is_dir():
        language = LANGUAGES.get(file.suffix, "text")
        return head + f"~~~~{language}\n{file.read_text(encoding='utf-8')}\n~~~~\n"
    names = sorted(str(one.relative_to(file)) for one in file.rglob("*") if one.is_file())
    return head + "".join(f"- [{name}]({file.name}/{name}.md)\n" for name in names)


def unpaged_targets(sources):
    """Files and folders without a page to which the sources link, with the files of the folders."""
    for source in sources:
        text = CODE.sub("", (TOP / source).read_text(encoding="utf-8"))
        for _, target in LINK.findall(text):
            path = None if is_outside(target) else target_of(source, target)
            if path and site_path(path).startswith("files/") and (TOP / path).exists():
                yield path
                yield from (str(one.relative_to(TOP)) for one in (TOP / path).rglob("*.*"))


def pages_of_folder(folder):
    if folder == "man/":
        return [f"man/{name}.md" for name in MANUALS]
    return [folder + path.name for path in sorted((TOP / "doc" / folder).glob("*.md"), key=order)]


def order(path):
    """README.md stands for its folder, so it is first."""
    return path.name != "README.md", path.name


def is_page(path):
    return path in ELSEWHERE.values() or (TOP / "doc" / path).is_file()


def complete_nav(nav):
    """The nav of mkdocs.yml with folders as lists of their pages, and without missing pages."""
    if isinstance(nav, list):
        items = [complete_nav(item) for item in nav]
        return [item for item in items if item]
    if isinstance(nav, dict):
        return {
            title: item for title, item in ((t, complete_nav(i)) for t, i in nav.items()) if item
        }
    return pages_of_folder(nav) if nav.endswith("/") else nav if is_page(nav) else None


def on_config(config):
    config.nav = complete_nav(config.nav)
    return config


def on_files(files, config):
    sources = [repository_path(file.src_uri) for file in files.documentation_pages()]
    sources += ELSEWHERE
    made = {ELSEWHERE[path]: (TOP / path).read_text(encoding="utf-8") for path in ELSEWHERE}
    for name in MANUALS:
        made[f"man/{name}.md"] = markdown_of((TOP / f"doc/man/{name}.scd").read_text("utf-8"))
    for path in unpaged_targets(sources):
        made[site_path(path)] = shown(path)
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown, page, **_):
    source = repository_path(page.file.src_uri)
    if not source:
        return markdown
    return deepen(link_manuals(move_links(markdown, source), page.file.src_uri))
