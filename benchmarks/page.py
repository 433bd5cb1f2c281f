"""Measure the built book, and write what is found into benchmarks/README.md.

`python tasks.py bench` runs it: some two minutes. The book is built in a temporary folder.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import http.server
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, sync_playwright

from attnbook.widgets.base import bundle

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the tests' browser is the benchmarks' too

from tests.browser import launch  # noqa: E402

README = ROOT / "benchmarks" / "README.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
PAGE = "notebooks/05-self-attention.html"
VISITS = 5
FRAMES = 100
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
# 12 heads of 64 × 64, a new temperature each frame, as when the slider is dragged
DRAW = """async ([source, frames]) => {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const { maths } = await import(url);
  const n = 64;
  let seed = 1;
  const next = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const scores = () => Float64Array.from({ length: n * n }, () => 8 * next() - 4);
  const heads = Array.from({ length: 12 }, () => maths.makeHead(scores(), n, n));
  const may = maths.mask(n, n);
  const colours = maths.ramp(maths.colours(document.querySelector('figure.attnbook')));
  const times = [];
  for (let f = 0; f < frames; f++) {
    await new Promise(requestAnimationFrame);
    const start = performance.now();
    maths.frame(heads, { may, by: 8 * (0.5 + f / frames), colours });
    times.push(performance.now() - start);
  }
  return times;
}"""


class Row(NamedTuple):
    """One line of the table: what was measured, and whether the goal was met."""

    what: str
    found: str
    goal: str
    met: bool

    def line(self) -> str:
        return f"| {self.what} | {self.found} | {self.goal} | {'yes' if self.met else '**no**'} |"


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


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing: the table is what counts."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    handler = functools.partial(Silent, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


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


def widgets(browser: Browser, url: str) -> tuple[int, int, list[float]]:
    """The nodes of the largest widget, as shown and unfolded, and the milliseconds of frames."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(url)
    page.wait_for_function(ALL_READY)
    shown = page.evaluate(NODES)
    page.evaluate(UNFOLD)
    page.wait_for_timeout(300)  # a table is drawn when it is unfolded
    unfolded = page.evaluate(NODES)
    page.reload()
    page.wait_for_function(ALL_READY)
    times = page.evaluate(DRAW, [bundle(), FRAMES])
    page.close()
    return shown, unfolded, times


def sizes(html: Path) -> tuple[float, list[float]]:
    """Kilobytes of the widgets' code, gzipped, and of the data of each widget of the page."""
    assets = [html / "_static" / name for name in ("attnbook.js", "attnbook.css")]
    code = sum(len(gzip.compress(path.read_bytes(), 9, mtime=0)) for path in assets)
    data = DATA.findall((html / PAGE).read_text(encoding="utf-8"))
    return code / 1000, [len(text.encode()) / 1000 for text in data]


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
    say("nodes and frames")
    shown, unfolded, times = widgets(browser, f"{html.as_uri()}/{PAGE}")
    middle, slow = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    code, data = sizes(html)
    return [
        Row("widgets' code and style, gzipped", f"{code:.1f} KB", "≤ 40 KB", code <= 40),
        Row("data of the largest widget", f"{max(data):.1f} KB", "≤ 50 KB", max(data) <= 50),
        Row("data of the page's widgets", f"{sum(data):.1f} KB", "≤ 500 KB", sum(data) <= 500),
        Row(
            "elements of the largest widget",
            f"{shown} (unfolded: {unfolded})",
            "≤ 500",
            unfolded <= 500,
        ),
        Row(
            "script time of a frame, 12 heads of 64 × 64",
            f"{middle:.1f} ms (95 % within {slow:.1f})",
            "≤ 4 ms",
            middle <= 4,
        ),
    ]


def write(rows: list[Row]) -> None:
    """Put the table between the two markers of the README."""
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    table = ["| what | measured | goal | met |", "|---|---:|---:|---|", *(r.line() for r in rows)]
    machine = f"Measured on {os.cpu_count()} cores, with software rendering."
    body = "\n".join(["", "", *table, "", machine, "", ""])
    README.write_text(f"{before}{BEGIN}{body}{END}{after}", encoding="utf-8", newline="\n")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        say("building the book from scratch")
        html, seconds = build(Path(folder))
        rows = [
            Row("build of the book, all installed", f"{seconds:.0f} s", "≤ 60 s", seconds <= 60)
        ]
        with sync_playwright() as playwright:
            browser = launch(playwright)
            rows += timing_rows(browser, html) + widget_rows(browser, html)
            browser.close()
    write(rows)
    print("\n".join(row.line() for row in rows))
    say(f"written to {README.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
