"""Measure what a frame costs in every widget at its largest; write it into benchmarks/README.md.

`python benchmarks/frames.py` runs it: half a minute. A frame is the reader's hand and the drawing
that follows it: the script time of both, not the browser's own layout and painting.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from page import say, write
from playwright.sync_api import Browser, Page, sync_playwright
from timing import Row

from attnlab._console import any_letter
from attnlab.models.stored.script import asset_script
from attnlab.widgets import AttentionHeatmap, HeadBrowser
from attnlab.widgets.core.base import Widget
from tests.attnlab.widgets import conftest
from tests.attnlab.widgets.examples import EXAMPLES, attention, digits, load, named, normal
from tests.attnlab.widgets.pages import press, settle
from tests.browser import launch

FRAMES = 61  # odd, so that what is switched on and off ends changed
GOAL = 4  # milliseconds
DRIVE = """async ([hand, frames]) => {
  const figure = document.querySelector('figure.attnbook');
  const act = new Function('figure', 'turn', 'type', hand);
  const type = (selector, value, kind = 'input') => {
    const box = figure.querySelector(selector);
    box.value = value;
    box.dispatchEvent(new Event(kind, { bubbles: true }));
  };
  const ask = window.requestAnimationFrame.bind(window);
  let spent = 0;
  const timed = (run) => {
    const start = performance.now();
    run();
    spent += performance.now() - start;
  };
  const drawn = () => new Promise((go) => ask(() => ask(go)));
  window.requestAnimationFrame = (draw) => ask((now) => timed(() => draw(now)));
  await drawn();
  const times = [];
  for (let turn = 0; turn < frames; turn++) {
    spent = 0;
    timed(() => act(figure, turn, type));
    await drawn();
    times.push(spent);
  }
  return times;
}"""


class Case(NamedTuple):
    """A widget at its largest, and what the hand does in it, in JavaScript."""

    what: str
    widget: Callable[[], Widget]
    hand: str
    prepare: Callable[[Page], object] = settle


RANGE = "type('input[type=range]', {});"
KEY = """figure.querySelector('{}').dispatchEvent(
  new KeyboardEvent('keydown', {{ key: {}, bubbles: true }}));"""
CASES = (
    Case(
        "AttentionHeatmap: the temperature, 12 heads of 28 × 28",
        lambda: AttentionHeatmap(normal(12, 28, 8), tokens=named(28)),
        RANGE.format("0.5 + turn / 60"),
    ),
    Case(
        "HeadGrid: a row is pointed at, six of 12 heads of 28 × 28",
        EXAMPLES["heads"].large,
        KEY.format("[role=application]", "turn % 2 ? 'ArrowUp' : 'ArrowDown'"),
    ),
    Case(
        "MaskPainter: a cell is painted, 16 tokens",
        EXAMPLES["painter"].large,
        KEY.format("[role=application]", "' '"),
    ),
    Case(
        "RoleProjection: a number of a matrix, 6 tokens",
        EXAMPLES["roles"].large,
        "type('.attnbook-trio input', turn / 10);",
    ),
    Case(
        "ScoreExplorer: a number of a key",
        EXAMPLES["scores"].large,
        "type('.attnbook-vectors input', turn / 20);",
    ),
    Case(
        "UnrolledModel: twelve digits typed",
        lambda: digits("123456789012", d=30),
        "type('.attnbook-typed input', 123456789000 + turn, 'change');",
    ),
    Case(
        "BeamTree: the length penalty, five hypotheses",
        EXAMPLES["beam"].large,
        RANGE.format("turn / 60"),
    ),
    Case(
        "AlignmentPlayer: the temperature, ten sentences of 24 words",
        EXAMPLES["player"].large,
        RANGE.format("0.5 + turn / 60"),
    ),
    Case(
        "PositionExplorer: the position, 64 positions of 64 numbers",
        EXAMPLES["positions"].large,
        RANGE.format("turn % 40"),
    ),
    Case(
        "CacheCalculator: the length of the texts, ten models",
        EXAMPLES["cache"].large,
        RANGE.format("7 + (turn % 13)"),
    ),
    Case(
        "BlockFlow: a number of the token, twelve blocks",
        EXAMPLES["block"].large,
        "type('.attnbook-own input', turn / 10);",
    ),
    Case(
        "HeadBrowser: [CLS] and [SEP] hidden, 72 heads of 20 × 20",
        lambda: HeadBrowser([(named(20), attention(20, 6, 12))] * 2, row=3, key=2),
        "figure.querySelector('.attnbook-tick input').click();",
        load,
    ),
    Case(
        "HeadBrowser: the same, 270 heads of 20 × 20",
        lambda: HeadBrowser([(named(20), attention(20, 30, 9))] * 2, row=3, key=2),
        "figure.querySelector('.attnbook-tick input').click();",
        load,
    ),
    Case(
        "Translator: another word of a translation of 26",
        EXAMPLES["translator"].large,
        "const all = figure.querySelectorAll('.attnbook-words button');"
        " all[turn % all.length].click();",
        lambda page: translated(page),
    ),
)


def translated(page: Page) -> None:
    press(page, "translate")
    page.locator(".attnbook-words button").nth(25).wait_for()


def measured(browser: Browser, case: Case, folder: Path) -> Row:
    """Open the widget on a page of its own and drive it."""
    widget = case.widget()
    if getattr(widget, "asset", ""):
        (folder / "assets").mkdir(exist_ok=True)
        text = asset_script(widget.asset, widget.carried)
        (folder / "assets" / f"{widget.asset}.js").write_text(text, encoding="ascii")
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(conftest.write(folder, "light", widget.html()).as_uri())
    page.locator("figure.attnbook[data-ready]").wait_for()
    case.prepare(page)
    before = page.locator("figure").inner_html()
    times = page.evaluate(DRIVE, [case.hand, FRAMES])
    if page.locator("figure").inner_html() == before:
        raise RuntimeError(f"{case.what}: the hand changed nothing")
    context.close()
    middle, slow = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    found = f"{middle:.1f} ms (fastest {min(times):.1f}, 95 % within {slow:.1f})"
    return Row(case.what, found, f"≤ {GOAL} ms", middle <= GOAL)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = launch(playwright)
        rows = []
        for case in CASES:
            say(case.what)
            rows.append(measured(browser, case, Path(folder)))
        browser.close()
    write("frames", rows)


if __name__ == "__main__":
    any_letter()
    main()
