#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_site.py [BUILD_DIR [WORD...]]: the web site that "make site" builds. No link is dead, each
page shows what its Markdown says, pages can be read on a phone, the search finds, and nothing comes
from another host. Prints TAP.

SITE=DIR: do not build; look at the site in that directory. Needs Debian's chromium and its driver,
which are installed if they are missing (as root).
"""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlparse

from browser import Browser

SOURCE = Path(__file__).resolve().parents[2]
PACKAGES = "chromium chromium-driver fonts-dejavu-core"
PHONE = (390, 844)
# words of users, and the page that must be among those found
SEARCHES = (
    ("preemption", "admin.html"),
    ("SlurmRefused", "symptoms.html"),
    ("scheduler_aliases", "man/slurmkubed.yaml.5.html"),
    ("kueue", "comparison.html"),
)
CODE_BLOCK = re.compile(r"^ *```.*?^ *```[ ]*$", re.M | re.S)
# Returns what is wider than the screen, but for what scrolls by itself: code and tables.
WIDE = """
const wide = arguments[0], found = [];
const page = document.documentElement.scrollWidth;
if (page > wide) found.push("the page is " + page + " wide");
for (const e of document.querySelectorAll("article *")) {
  const box = e.getBoundingClientRect();
  if (box.width === 0 || box.right <= wide + 1) continue;
  if (!e.parentElement.closest("pre, .md-typeset__scrollwrap"))
    found.push(e.outerHTML.slice(0, 90) + " ends at " + Math.round(box.right));
}
return found.slice(0, 5);
"""
# The theme wraps tables by a script.
ARRANGED = """
const tables = document.querySelectorAll("article table:not([class])").length;
return document.readyState === "complete"
  && document.querySelectorAll(".md-typeset__scrollwrap").length >= tables;
"""
FOUND = """
return [...document.querySelectorAll(".md-search-result__link")].map(e => e.getAttribute("href"));
"""


class Page(HTMLParser):
    """Links, what is loaded, anchors, and counts of elements, of the article or of all."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.anchors, self.pictures = [], [], set(), []
        self.counts, self.is_article = {}, False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors.update(value for name, value in attrs if name in ("id", "name"))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel") != "canonical" and values.get("href"):
            self.loads.append(values["href"])
        elif values.get("src"):
            self.loads.append(values["src"])
        if tag == "article":
            self.is_article = True
        if self.is_article:
            self.counts[tag] = self.counts.get(tag, 0) + 1
            self.pictures += [values] if tag == "img" else []

    def handle_endtag(self, tag):
        self.is_article = self.is_article and tag != "article"


@functools.lru_cache
def pages():
    """{path below the site: Page}"""
    found = {p.relative_to(SITE).as_posix(): Page(p) for p in sorted(SITE.rglob("*.html"))}
    assert len(found) > 30, f"only {len(found)} pages"
    return found


def is_elsewhere(address):
    return bool(urlparse(address).scheme or address.startswith("//"))


def target(page, address):
    """(path below the site, anchor) to which an address in a page leads."""
    path, anchor = urldefrag(urljoin(page, address))
    path = unquote(path)
    return (path + "index.html" if path.endswith("/") or not path else path), unquote(anchor)


def dead(page, address):
    path, anchor = target(page, address)
    if not (SITE / path).is_file():
        return f"{page}: {address}: there is no {path}"
    if anchor and path.endswith(".html") and anchor not in pages()[path].anchors:
        return f"{page}: {address}: {path} has no anchor {anchor}"
    return None


def test_no_link_is_dead():
    found = []
    for name, page in pages().items():
        # the page for what does not exist has absolute links
        for address in [] if name == "404.html" else page.links + page.loads:
            if not is_elsewhere(address):
                found.append(dead(name, address))
    assert len(found) > 1000, f"only {len(found)} links"
    assert not any(found), "\n".join(filter(None, found))


def test_every_page_is_reachable():
    seen, ahead = set(), ["index.html"]
    while ahead:
        name = ahead.pop()
        if name in seen or name not in pages():
            continue
        seen.add(name)
        ahead += [target(name, a)[0] for a in pages()[name].links if not is_elsewhere(a)]
    missed = set(pages()) - seen - {"404.html"}
    assert not missed, sorted(missed)


def shown_by(text):
    """How many of each element the Markdown of a page means."""
    prose = CODE_BLOCK.sub("", text)
    return {
        "pre": len(CODE_BLOCK.findall(text)),
        "li": len(re.findall(r"^ *(?:[-*]|\d+\.) ", prose, re.M)),
        "table": len(re.findall(r"^ *\|[-| :]+\|$", prose, re.M)),
        "h2": len(re.findall(r"^## ", prose, re.M)),
        "h3": len(re.findall(r"^### ", prose, re.M)),
    }


def test_pages_show_what_their_sources_say():
    """Python-Markdown reads lists and code in another way than GitHub; hooks.py makes up for it."""
    sources = {p.relative_to(SOURCE / "doc").as_posix(): p for p in (SOURCE / "doc").rglob("*.md")}
    sources |= {name.lower(): SOURCE / name for name in ("NEWS.md", "CONTRIBUTING.md")}
    bad = []
    for source, path in sources.items():
        name = source[:-3].replace("README", "index") + ".html"
        wanted = shown_by(path.read_text(encoding="utf-8"))
        for tag, count in wanted.items():
            seen = pages()[name].counts.get(tag, 0)
            bad += [f"{name}: {seen} <{tag}>, the source has {count}"] if seen != count else []
    assert not bad, "\n".join(bad)


def test_pictures_have_words():
    pictures = [(n, p) for n, page in pages().items() for p in page.pictures]
    assert len(pictures) >= 2, pictures
    bad = [(name, p["src"]) for name, p in pictures if len(p.get("alt") or "") < 10]
    assert not bad, bad


def test_nothing_comes_from_elsewhere():
    """Neither in the pages, nor by scripts when a browser opens one and searches."""
    found = [(n, a) for n, page in pages().items() for a in page.loads if is_elsewhere(a)]
    assert not found, found
    with Server() as base, Browser(1280, 900) as browser:
        browser.open(base + "index.html")
        search(browser, "slurm")
        foreign = [a for a in browser.requested() if not a.startswith((base, "data:", "blob:"))]
        assert not foreign, foreign
        assert not browser.errors()


class Server:
    """The site by HTTP on a port of this host; as a context manager it is the address."""

    def __enter__(self):
        handler = functools.partial(QuietHandler, directory=str(SITE))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}/"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


def test_pages_fit_a_phone():
    found = []
    with Server() as base, Browser(*PHONE, is_phone=True) as browser:
        for name in pages():
            browser.open(base + name)
            browser.wait(ARRANGED)
            found += [f"{name}: {what}" for what in browser.run(WIDE, PHONE[0])]
            size = browser.run("return parseFloat(getComputedStyle(document.body).fontSize)")
            found += [f"{name}: letters of {size} pixels"] if size < 10 else []
    assert not found, "\n".join(found)


def test_pictures_are_drawn():
    script = """
    return [...document.querySelectorAll("article img")]
      .filter(e => !e.complete || e.naturalWidth === 0 || e.clientWidth < 200).map(e => e.src);
    """
    with Server() as base, Browser(*PHONE, is_phone=True) as browser:
        for name in ("index.html", "benchmarks.html"):
            browser.open(base + name)
            browser.wait("return document.querySelectorAll('article img').length")
            assert not browser.run(script), browser.run(script)


def search(browser, word):
    """Types the word; the addresses of the pages that are found."""
    browser.wait("return document.readyState === 'complete'")
    browser.run("document.querySelector('label[for=__search]').click()")
    browser.wait("return document.querySelector('#__search').checked")
    browser.type("[data-md-component=search-query]", word)
    return browser.wait(FOUND)


def test_search_finds():
    for width, height, is_phone in ((1280, 900, False), (*PHONE, True)):
        with Server() as base, Browser(width, height, is_phone) as browser:
            for word, wanted in SEARCHES:
                browser.open(base + "index.html")
                found = [urlparse(a).path.lstrip("/") for a in search(browser, word)]
                assert wanted in found, f"{word}: {found}"


def test_search_leads_to_the_page():
    with Server() as base, Browser(*PHONE, is_phone=True) as browser:
        browser.open(base + "index.html")
        first = search(browser, "StartLimit")[0]
        browser.run("document.querySelector('.md-search-result__link').click()")
        browser.wait("return location.pathname.endsWith(arguments[0])", urlparse(first).path)


def test_search_knows_the_pages():
    """Pages that only show a file are left out."""
    index = json.loads((SITE / "search/search_index.json").read_text(encoding="utf-8"))
    found = {urldefrag(doc["location"])[0] for doc in index["docs"]}
    wanted = {n for n in pages() if n != "404.html" and not n.startswith("files/")}
    assert found == wanted, sorted(found ^ wanted)


def build_site(arguments, directory):
    """The directory of the site."""
    if os.environ.get("SITE"):
        return Path(os.environ["SITE"]).resolve()
    out = Path(arguments[0], "site").resolve() if arguments else Path(directory, "site")
    command = ["make", "-s", "-C", arguments[0], "site"]
    subprocess.run(command if arguments else [SOURCE / "doc/site/build", out], check=True)
    return out


def need_packages():
    script = f'. "{SOURCE}/testsuite/common.sh" && need_packages {PACKAGES}'
    subprocess.run(["bash", "-c", script], check=True)


def run_one(number, case):
    name = f"{number} - {case.__name__[5:].replace('_', ' ')}"
    try:
        case()
        print(f"ok {name}", flush=True)
        return True
    except Exception as e:
        said = str(e) if isinstance(e, AssertionError) else traceback.format_exc()
        print(f"not ok {name}", flush=True)
        print("".join(f"# {line}\n" for line in said.splitlines()), end="", flush=True)
        return False


def main():
    global SITE
    words = sys.argv[2:]
    cases = [f for n, f in globals().items() if n.startswith("test_") and callable(f)]
    cases = [f for f in cases if not words or any(w in f.__name__ for w in words)]
    directory = tempfile.mkdtemp(prefix="slurm-kube-site.")
    try:
        need_packages()
        SITE = build_site(sys.argv[1:2], directory)
        print(f"1..{len(cases)}", flush=True)
        results = [run_one(number, case) for number, case in enumerate(cases, 1)]
    finally:
        shutil.rmtree(directory)
    sys.exit(0 if cases and all(results) else 1)


SITE = Path()
if __name__ == "__main__":
    main()
