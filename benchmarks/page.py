"""Measure the built book, and write what is found into benchmarks/README.md.

`python tasks.py bench` runs it: some two minutes. The book is built in a temporary folder.
"""

from __future__ import annotations

import functools
import gzip
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from timing import Row, goals, replace

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the tests' browser is the benchmarks' too

from tests.browser import launch, served  # noqa: E402

README = ROOT / "benchmarks" / "README.md"
PAGE = "notebooks/05-self-attention.html"
TRANSLATOR = "notebooks/11-transformer.html"
TYPED = "the {} girl did not write her beautiful letter under the beds"  # twelve words
GIRLS = ("tired", "young", "old", "small", "famous", "sad")
VISITS = 5
DATA = re.compile(r'<figure class="attnbook[^>]*><script type="application/json">(.*?)</script>')

# notes the time, from the start of the navigation, at which the last widget became ready
WATCH = """
new MutationObserver((changes) => {
  if (changes.some(({ target }) => target.matches('figure.attnbook'))) {
    window.lastReady = performance.now();
  }
}).observe(document, { subtree: true, attributeFilter: ['data-ready'] });
"""
ALL_READY = """() => document.readyState === 'complete'
  && document.querySelector('figure.attnbook')
  && !document.querySelector('figure.attnbook:not([data-ready])')"""
NODES = """() => Math.max(...[...document.querySelectorAll('figure.attnbook')].map(
  (figure) => figure.querySelectorAll('*').length))"""
UNFOLD = """() => document.querySelectorAll('figure.attnbook details')
  .forEach((folded) => { folded.open = true; })"""

TRANSLATE = """(sentence) => new Promise((done) => {
  const figure = document.querySelector('figure.attnbook-translator');
  const said = () => figure.querySelector('.attnbook-written')?.textContent;
  const before = said();
  figure.querySelector('input[type=text]').value = sentence;
  const start = performance.now();
  [...figure.querySelectorAll('button')].find((one) => one.textContent === 'translate').click();
  const look = () => (said() && said() !== before
    ? done(performance.now() - start) : requestAnimationFrame(look));
  look();
})"""


def say(text: str) -> None:
    print(f"bench: {text}", flush=True)


def build(folder: Path) -> tuple[Path, float]:
    """Build the working tree's book in `folder`; return its pages and the seconds it took."""
    kept = {".git", ".venv", "_build", "__pycache__", "node_modules"}
    skip = functools.partial(lambda _, names: kept & set(names))
    shutil.copytree(ROOT, folder, ignore=skip, dirs_exist_ok=True)
    tool = Path(sys.executable).with_name("jupyter-book")
    began = time.perf_counter()
    command = [tool, "build", ".", "-n", "-W", "--keep-going", "-q"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "_build" / "html", time.perf_counter() - began


def first_interaction(browser: Browser, url: str) -> list[float]:
    """Milliseconds from the start of the navigation until every widget is ready, per visit."""
    times = []
    for _ in range(VISITS):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.add_init_script(WATCH)
        page = context.new_page()
        page.goto(url)
        page.wait_for_function(ALL_READY)
        times.append(page.evaluate("lastReady"))
        context.close()
    return times


def nodes(browser: Browser, url: str) -> tuple[int, int]:
    """The elements of the page's largest widget, as shown and unfolded."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(url)
    page.wait_for_function(ALL_READY)
    shown = page.evaluate(NODES)
    page.evaluate(UNFOLD)
    page.wait_for_timeout(300)  # a table is drawn when it is unfolded
    unfolded = page.evaluate(NODES)
    page.close()
    return shown, unfolded


def translations(browser: Browser, url: str) -> list[float]:
    """Milliseconds from the click until all words of the translation stand there, per visit."""
    page = browser.new_page(reduced_motion="reduce")
    page.goto(url)
    page.wait_for_function(ALL_READY)
    times = [page.evaluate(TRANSLATE, TYPED.format(girl)) for girl in GIRLS]
    page.close()
    return times[1:]  # the first one loads the model


def largest(html: Path) -> float:
    """Kilobytes of the widgets' code with its style, gzipped, on the page that loads most of it."""
    scripts = (html / "_static").glob("attnbook-*.js")
    return max(gzipped(one) + gzipped(one.with_suffix(".css")) for one in scripts)


def gzipped(path: Path) -> float:
    return len(gzip.compress(path.read_bytes(), 9, mtime=0)) / 1000


def timing_rows(browser: Browser, html: Path) -> list[Row]:
    rows = []
    with served(html) as http_root:
        for scheme, root in (("http", http_root), ("file://", html.as_uri())):
            say(f"first interaction over {scheme}")
            times = first_interaction(browser, f"{root}/{PAGE}")
            middle = statistics.median(times)
            found = f"{middle:.0f} ms ({min(times):.0f} to {max(times):.0f})"
            what = f"first interaction, {scheme}: the last widget of lecture 5 is ready"
            rows.append(Row(what, found, "≤ 600 ms", middle <= 600))
    return rows


def widget_rows(browser: Browser, html: Path) -> list[Row]:
    say("sizes, elements and the translator")
    data = DATA.findall((html / PAGE).read_text(encoding="utf-8"))
    kilobytes = [len(text.encode()) / 1000 for text in data]
    shown, unfolded = nodes(browser, f"{html.as_uri()}/{PAGE}")
    waited = translations(browser, f"{html.as_uri()}/{TRANSLATOR}")
    middle = statistics.median(waited)
    size, most, of_all = largest(html), max(kilobytes), sum(kilobytes)
    code = f"{size:.1f} KB"
    elements = f"{shown} (unfolded: {unfolded})"
    words = f"{middle:.0f} ms ({min(waited):.0f} to {max(waited):.0f})"
    return [
        Row("widgets' code, the largest page, gzipped", code, "≤ 40 KB", size <= 40),
        Row("data of the largest widget", f"{most:.1f} KB", "≤ 50 KB", most <= 50),
        Row("data of the page's widgets", f"{of_all:.1f} KB", "≤ 500 KB", of_all <= 500),
        Row("elements of the largest widget", elements, "≤ 500", unfolded <= 500),
        Row("the translator of lecture 11, twelve words", words, "≤ 150 ms", middle <= 150),
    ]


def write(name: str, rows: list[Row]) -> None:
    """Put the table between the markers of this name in the README, and print it."""
    machine = f"Measured on {os.cpu_count()} cores, with software rendering."
    replace(README, name, goals(rows), machine)
    say(f"written to {README.relative_to(ROOT)}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        say("building the book from scratch")
        html, seconds = build(Path(folder))
        took = f"{seconds:.0f} s"
        rows = [Row("build of the book, all installed", took, "≤ 60 s", seconds <= 60)]
        with sync_playwright() as playwright:
            browser = launch(playwright)
            rows += timing_rows(browser, html) + widget_rows(browser, html)
            browser.close()
    write("page", rows)


if __name__ == "__main__":
    main()
