"""Measure the built book, and write what is found into benchmarks/README.md.

`python tasks.py bench` runs it: some three minutes. The book is built in a temporary folder.
`python benchmarks/page.py training` measures the model that learns in the page, and nothing else;
`python benchmarks/page.py waited` what a reader waits for in lecture 5, of the book as it is built.
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

import torch
from playwright.sync_api import Browser, ViewportSize, sync_playwright
from timing import Row, goals, replace

from attnlab._console import any_letter
from attnlab.models.copying import ADAMW, AttentionOnly, copy_loss, repeating
from attnlab.models.recorded import FOLDER
from attnlab.pretrained import Pretrained, load_minilm
from attnlab.training import seeded
from attnlab.widgets import OwnSentence, TrainHere, page_script, stylesheet
from attnlab.widgets.applications.own import weights
from attnlab.widgets.core.chunks import chunk, module

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the tests' browser is the benchmarks' too

from tests.browser import STOPS, launch, served  # noqa: E402

README = ROOT / "benchmarks" / "README.md"
PAGE = "notebooks/05-self-attention.html"
LAST = "#picture-5-3"  # its last live picture: all above it are built with it
DESK: ViewportSize = {"width": 1280, "height": 900}
TRANSLATOR = "notebooks/11-transformer.html"
TYPED = "the {} girl did not write her beautiful letter under the beds"  # twelve words
GIRLS = ("tired", "young", "old", "small", "famous", "sad")
TWENTY = "The {} dog didn't cross the wide street because it was too tired and hungry."  # pieces
DOGS = ("old", "big", "red", "young", "small", "black")
OWN = """<!doctype html><html lang="en"><meta charset="utf-8"><title>MiniLM</title>
<link rel="stylesheet" href="own.css"><script defer src="own.js"></script>{}</html>"""
VISITS = 5
DATA = re.compile(r'<figure class="attnbook[^>]*><script type="application/json">(.*?)</script>')

# a slow phone: 1.6 Mbit/s, 150 ms, a quarter of this processor; pages that show what is heavy
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
LINE = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 94_000}
SLOWED = 4
OPENED = {
    "the landing page": "book/index.html",
    "lecture 5": PAGE,
    "lecture 9": "notebooks/09-positions.html",
    "lecture 12": "notebooks/12-pretrained-models.html",
}
READY = "first live picture"
SAY_READY = """
new MutationObserver((changes, watcher) => {
  if (changes.some(({ target }) => target.matches('figure.attnbook'))) {
    watcher.disconnect();
    console.log('first live picture', performance.now());
  }
}).observe(document, { subtree: true, attributeFilter: ['data-ready'] });
"""

# what a desk's slow machine feels: the longest task, and how far the page moved by itself
FELT = """
window.felt = { task: 0, shift: 0, first: 0 };
new MutationObserver((changes, watcher) => {
  if (!changes.some(({ target }) => target.matches('figure.attnbook'))) return;
  watcher.disconnect();
  felt.first = performance.now();
}).observe(document, { subtree: true, attributeFilter: ['data-ready'] });
new PerformanceObserver((list) => list.getEntries().forEach((one) => {
  felt.task = Math.max(felt.task, one.duration);
})).observe({ type: 'longtask', buffered: true });
new PerformanceObserver((list) => list.getEntries().forEach((one) => {
  if (!one.hadRecentInput) felt.shift += one.value;
})).observe({ type: 'layout-shift', buffered: true });
"""
FIRST = """() => Math.min(...[...document.querySelectorAll(
  'article figure.attnbook, article .cell_output img, article .cell_output svg')]
  .map((one) => one.getBoundingClientRect())
  .filter((box) => box.height > 40).map((box) => box.top))"""

# no picture is built before it is near the screen: what an idle page builds ahead is not measured
NEVER_IDLE = "window.requestIdleCallback = () => 0;"
# notes the time, from the start of the navigation, at which the picture of the address is ready
WATCH = """
new MutationObserver(() => {
  const asked = document.getElementById(location.hash.slice(1));
  if (asked?.querySelector('figure.attnbook[data-ready]')) window.asked ??= performance.now();
}).observe(document, { subtree: true, attributeFilter: ['data-ready'] });
"""
# from one picture that is not built to the next: the longest time from a scroll until it is ready
JUMPS = """async () => {
  let longest = 0;
  let next;
  while ((next = document.querySelector('figure.attnbook:not([data-ready])'))) {
    const start = performance.now();
    next.scrollIntoView({ behavior: 'instant', block: 'center' });
    while (!next.matches('[data-ready]')) await new Promise(requestAnimationFrame);
    longest = Math.max(longest, performance.now() - start);
  }
  return longest;
}"""
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


# from the press until the sentence's pieces stand there and its heads can be switched
READ = """(sentence) => new Promise((done) => {
  const figure = document.querySelector('figure.attnbook-own');
  const said = () => figure.querySelector('.attnbook-pieces').textContent;
  const before = said();
  figure.querySelector('input[type=text]').value = sentence;
  const start = performance.now();
  [...figure.querySelectorAll('button')].find((one) => one.textContent === 'read it').click();
  const look = () => (said() !== before && figure.querySelector('input[type=checkbox]:enabled')
    ? done(performance.now() - start) : requestAnimationFrame(look));
  look();
})"""
# the step by which the recorded loss is halfway down
BEND = 200
BENT = """(bend) => Number(document.querySelector('.attnbook-numbers').textContent
  .match(/^Step (\\d+)/)?.[1]) >= bend && !document.querySelector('.attnbook-turn')
  .textContent.includes('start')"""
COUNT = 200
STEPS = """async ([source, count]) => {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const { learner } = (await import(url)).maths;
  const all = learner();
  const settings = { layers: 2, heads: 1, rate: 0.005, symbols: 12, from: 4, to: 9, seed: 0 };
  const run = all.start(settings);
  const start = performance.now();
  while (run.step < count) all.step(run);
  return (performance.now() - start) / 1000;
}"""


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


def scrolled(browser: Browser, url: str) -> float:
    """Milliseconds from the scroll to a picture until it answers: the slowest of a page."""
    page = browser.new_page(viewport=DESK)
    page.add_init_script(NEVER_IDLE)
    page.goto(url)
    page.wait_for_function("document.querySelector('figure.attnbook[data-ready]')")
    page.wait_for_timeout(1000)  # what opening the page took is not meant here
    found = page.evaluate(JUMPS)
    page.close()
    return found


def opened(browser: Browser, url: str) -> float:
    """Milliseconds from the start of the navigation until the picture of the address answers."""
    context = browser.new_context(viewport=DESK)
    context.add_init_script(WATCH)
    page = context.new_page()
    page.goto(url)
    page.wait_for_function("window.asked")
    found = page.evaluate("asked")
    context.close()
    return found


class Packing(http.server.SimpleHTTPRequestHandler):
    """Serve a folder as public servers do: text gzipped, one connection for many files."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            return self.send_error(404)
        kind, body = self.guess_type(path), path.read_bytes()
        self.send_response(200)
        if kind.startswith("text/") or kind.endswith(("javascript", "json", "svg+xml")):
            body = gzip.compress(body, 6, mtime=0)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing of what is asked for."""


@contextlib.contextmanager
def packed(folder: Path) -> Iterator[str]:
    """Serve a folder gzipped on this machine: the address that leads to it."""
    handler = functools.partial(Packing, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def slow_phone(browser: Browser, url: str) -> tuple[float, float]:
    """Seconds until a slow phone's first live picture, and the kilobytes that came before it."""
    context = browser.new_context(**PHONE)
    context.add_init_script(SAY_READY)
    page = context.new_page()
    line = context.new_cdp_session(page)
    for method in ("Network.enable", "Runtime.enable"):
        line.send(method)
    line.send("Network.emulateNetworkConditions", LINE)
    line.send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
    came, ready = [0.0], []

    def note(event: dict) -> None:
        said = [part.get("value") for part in event["args"]]
        if said[:1] == [READY]:
            ready.append((said[1] / 1000, came[0] / 1000))

    line.on("Network.dataReceived", lambda e: came.append(came.pop() + e["encodedDataLength"]))
    line.on("Runtime.consoleAPICalled", note)
    page.goto(url, wait_until="load", timeout=120_000)
    page.wait_for_function(ALL_READY)
    context.close()
    return ready[0]


def phone_rows(browser: Browser, html: Path) -> list[Row]:
    rows = []
    with packed(html) as root:
        for what, path in OPENED.items():
            say(f"a slow phone opens {what}")
            visits = [slow_phone(browser, f"{root}/{path}") for _ in range(VISITS)]
            times, sizes = zip(*visits, strict=True)
            middle, size = statistics.median(times), statistics.median(sizes)
            found = f"{middle:.1f} s ({min(times):.1f} to {max(times):.1f})"
            rows.append(Row(f"slow phone, {what}: first live picture", found, "≤ 3 s", middle <= 3))
            rows.append(Row("until then came, gzipped", f"{size:.0f} KB", "≤ 600 KB", size <= 600))
    return rows


class Felt(NamedTuple):
    """What one visit to a page at a quarter of the processor's speed was like."""

    first: float  # seconds until a live picture answers
    task: float  # the longest task, milliseconds
    shift: float  # cumulative layout shift
    fold: float  # pixels above the first picture
    size: float  # kilobytes that came, gzipped


def slow_desk(browser: Browser, url: str) -> Felt:
    """Visit a page on a slow machine with a fast line, until all of it has settled."""
    context = browser.new_context(viewport=DESK, reduced_motion="reduce")
    context.add_init_script(FELT)
    page = context.new_page()
    line, came = context.new_cdp_session(page), []
    line.send("Network.enable")
    line.send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
    line.on("Network.loadingFinished", lambda event: came.append(event["encodedDataLength"]))
    page.goto(url, wait_until="load", timeout=120_000)
    page.wait_for_function(ALL_READY)
    fold = page.evaluate(FIRST)
    page.wait_for_timeout(1000)  # what comes late
    first, task, shift = page.evaluate("[felt.first, felt.task, felt.shift]")
    context.close()
    return Felt(first / 1000, task, shift, fold, sum(came) / 1000)


def felt(browser: Browser, html: Path) -> str:
    """Return the table of all lectures and the landing page at a quarter of the speed."""
    heads = (
        "first live picture, s | longest task, ms | layout shift | px above a picture | came, KB"
    )
    lines = [f"| page | {heads} |", "|---|---:|---:|---:|---:|---:|"]
    with packed(html) as root:
        for path in [html / "book/index.html", *sorted((html / "notebooks").glob("[0-9]*.html"))]:
            say(f"a slow desk opens {path.stem}")
            url = f"{root}/{path.relative_to(html)}"
            visits = [slow_desk(browser, url) for _ in range(3)]
            middle = Felt(*(statistics.median(column) for column in zip(*visits, strict=True)))
            numbers = f"{middle.first:.1f} | {middle.task:.0f} | {middle.shift:.3f}"
            lines.append(f"| {path.stem} | {numbers} | {middle.fold:.0f} | {middle.size:.0f} |")
    return "\n".join(lines)


def stops(browser: Browser, html: Path) -> list[Row]:
    """The Tab key's stops in the lecture that has most."""
    say("the stops of the Tab key")
    found = {}
    for path in sorted((html / "notebooks").glob("[0-9]*.html")):
        page = browser.new_page(viewport=DESK)
        page.goto(path.as_uri())
        page.wait_for_function(ALL_READY)
        found[path.stem[:2].lstrip("0")] = page.evaluate(STOPS)
        page.close()
    most = max(found, key=lambda name: found[name])
    what = f"stops of the Tab key, lecture {most}, which has most"
    return [Row(what, str(found[most]), "≤ 120", found[most] <= 120)]


def nodes(browser: Browser, url: str) -> tuple[int, int]:
    """The elements of the page's largest widget, as shown and unfolded."""
    page = browser.new_page(viewport=DESK)
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


def readings(browser: Browser, folder: Path, model: Pretrained) -> tuple[list[float], float]:
    """Read sentences in a page of its own: milliseconds from the press of each, and the gzipped
    megabytes of the files that came for all.
    """
    widget = OwnSentence(model)
    widget.save_asset(folder / "assets")
    (folder / "own.js").write_text(page_script("own"), encoding="utf-8")
    (folder / "own.css").write_text(stylesheet("own"), encoding="utf-8")
    (folder / "own.html").write_text(OWN.format(widget.html()), encoding="utf-8")
    page = browser.new_page(reduced_motion="reduce")
    page.goto((folder / "own.html").as_uri())
    page.wait_for_function(ALL_READY)
    times = [page.evaluate(READ, TWENTY.format(dog)) for dog in DOGS]
    came = page.evaluate("Object.keys(attnbookAssets)")
    page.close()
    size = sum(gzipped(folder / "assets" / f"{name}.js") for name in came) / 1000
    return times[1:], size  # the first one loads the model


def own_rows(browser: Browser) -> list[Row]:
    """MiniLM in the page: how long, how much, and how far from PyTorch's."""
    say("MiniLM in the page")
    model = load_minilm()
    with tempfile.TemporaryDirectory() as name:
        waited, size = readings(browser, Path(name), model)
    mine, texts = weights.rounded(model), [TWENTY.format(dog) for dog in DOGS]
    off = max((mine.attention(t) - model.attention(t)).abs().max().item() for t in texts)
    middle, count = statistics.median(waited), len(model.tokens(texts[0]))
    took = f"{middle:.0f} ms ({min(waited):.0f} to {max(waited):.0f})"
    files = f"MiniLM's files that {len(DOGS)} such sentences load, gzipped"
    far = "a weight of MiniLM's heads in the page, from PyTorch's, at most"
    return [
        Row(f"MiniLM in the page, a sentence of {count} pieces", took, "≤ 500 ms", middle <= 500),
        Row(files, f"{size:.1f} MB", "≤ 18 MB", size <= 18),
        Row(far, f"{off:.4f}", "≤ 0.01", off <= 0.01),
    ]


def largest(html: Path) -> float:
    """Kilobytes of the widgets' code with its style, gzipped, on the page that loads most of it."""
    scripts = (html / "_static").glob("attnbook-*.js")
    return max(gzipped(one) + gzipped(one.with_suffix(".css")) for one in scripts)


def gzipped(path: Path) -> float:
    return len(gzip.compress(path.read_bytes(), 9, mtime=0)) / 1000


def waited_rows(browser: Browser, html: Path) -> list[Row]:
    """What a reader of lecture 5 waits for: scrolled to a picture, and opened at the last one."""
    say("what a reader waits for")
    file = f"{html.as_uri()}/{PAGE}"
    with served(html) as http_root:
        waits = [
            ("scrolled to a picture that is not built yet", 200, scrolled, file),
            ("opened at its last picture, http", 600, opened, f"{http_root}/{PAGE}{LAST}"),
            ("opened at its last picture, file://", 600, opened, f"{file}{LAST}"),
        ]
        rows = []
        for what, goal, measure, url in waits:
            times = [measure(browser, url) for _ in range(VISITS)]
            middle = statistics.median(times)
            found = f"{middle:.0f} ms ({min(times):.0f} to {max(times):.0f})"
            rows.append(Row(f"lecture 5, {what}", found, f"≤ {goal} ms", middle <= goal))
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


def training_page(folder: Path) -> Path:
    """Write a page with nothing but the model that learns in the page."""
    script, style = page_script("trainer"), stylesheet("trainer")
    (folder / "page.js").write_text(script, encoding="utf-8")
    (folder / "page.css").write_text(style, encoding="utf-8")
    page = folder / "page.html"
    head = '<link rel="stylesheet" href="page.css"><script defer src="page.js"></script>'
    html = f"<!doctype html><meta charset=utf-8>{head}{TrainHere(speed=20).html()}"
    page.write_text(html, encoding="utf-8")
    return page


def learn(browser: Browser, url: str, slowed: int) -> tuple[float, float]:
    """Seconds from the press of start to the bend of the loss, and the longest task meanwhile."""
    page = browser.new_page(viewport=DESK)
    page.add_init_script(FELT)
    page.goto(url)
    page.wait_for_function(ALL_READY)
    line = page.context.new_cdp_session(page)
    line.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    page.wait_for_timeout(2000)  # what opening the page took is told late, and is not meant here
    page.evaluate("felt.task = 0")
    began = time.perf_counter()
    page.evaluate("document.querySelector('.attnbook-turn').click()")
    page.wait_for_function(BENT, arg=BEND, timeout=300_000, polling=200)
    found = time.perf_counter() - began, page.evaluate("felt.task")
    page.close()
    return found


def steps_a_second(browser: Browser) -> tuple[float, float]:
    """Steps a second of the page's JavaScript, and of torch on one thread."""
    page = browser.new_page()
    page.goto("data:text/html,<title>steps</title>")
    times = [page.evaluate(STEPS, [module("trainer"), COUNT]) for _ in range(3)]
    page.close()
    torch.set_num_threads(1)
    with seeded(0):
        model = AttentionOnly()
    optimizer, texts = ADAMW(model.parameters(), lr=5e-3), repeating(16)
    own = []
    for _ in range(3):
        began = time.perf_counter()
        for _ in range(COUNT):
            optimizer.zero_grad()
            copy_loss(model, texts).backward()
            optimizer.step()
        own.append(time.perf_counter() - began)
    return COUNT / min(times), COUNT / min(own)


def training_rows(browser: Browser) -> list[Row]:
    say("a model learns in the page")
    with tempfile.TemporaryDirectory() as folder:
        url = training_page(Path(folder)).as_uri()
        (bent, task), (slow_bent, slow_task) = (
            map(
                statistics.median,
                zip(*(learn(browser, url, slowed) for _ in range(3)), strict=True),
            )
            for slowed in (1, SLOWED)
        )
    page, own = steps_a_second(browser)
    record = FOLDER / "trainer.json"
    style = stylesheet("trainer").encode()
    parts = [chunk("trainer").encode(), record.read_bytes()]
    size = sum(len(gzip.compress(part, 9, mtime=0)) for part in parts) / 1000
    size += (
        len(gzip.compress(style, 9)) - len(gzip.compress(stylesheet("roof").encode(), 9))
    ) / 1000
    ratio = page / own
    times = f"{page:.0f} to {own:.0f}: {ratio:.2f}"
    tasks = f"{task:.0f} ms; {slow_task:.0f} ms"
    return [
        Row("from start to the bend of the loss, file://", f"{bent:.1f} s", "≤ 20 s", bent <= 20),
        Row("the same, the page slowed 4 times", f"{slow_bent:.1f} s", "≤ 60 s", slow_bent <= 60),
        Row("steps a second to torch's, one thread", times, "≥ 0.25", ratio >= 0.25),
        Row("code, style and record, gzipped", f"{size:.1f} KB", "≤ 25 KB", size <= 25),
        Row("longest task of the page; slowed 4 times", tasks, "≤ 50 ms", task <= 50),
    ]


def write(name: str, rows: list[Row]) -> None:
    """Put the table between the markers of this name in the README, and print it."""
    machine = f"Measured on {os.cpu_count()} cores, with software rendering."
    replace(README, name, goals(rows), machine)
    say(f"written to {README.relative_to(ROOT)}")


def main() -> None:
    parts = {
        "training": training_rows,
        "waited": lambda browser: waited_rows(browser, ROOT / "_build/html"),
    }
    for name in parts.keys() & set(sys.argv[1:]):
        with sync_playwright() as playwright:
            browser = launch(playwright)
            write(name, parts[name](browser))
            browser.close()
        return
    with tempfile.TemporaryDirectory() as folder:
        say("building the book from scratch")
        html, seconds = build(Path(folder))
        took = f"{seconds:.0f} s"
        rows = [Row("build of the book, all installed", took, "≤ 60 s", seconds <= 60)]
        with sync_playwright() as playwright:
            browser = launch(playwright)
            waited = waited_rows(browser, html)
            rows += (
                phone_rows(browser, html)
                + widget_rows(browser, html)
                + own_rows(browser)
                + stops(browser, html)
            )
            table, trained = felt(browser, html), training_rows(browser)
            browser.close()
    write("page", rows)
    write("waited", waited)
    write("training", trained)
    machine = (
        f"Each the median of three visits on {os.cpu_count()} cores, a quarter of the processor."
    )
    replace(README, "felt", table, machine)


if __name__ == "__main__":
    any_letter()
    main()
