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

import numpy as np
from page import Row, say, write
from playwright.sync_api import Browser, Page, sync_playwright

from attnbook.widgets import AttentionHeatmap, BeamTree, HeadBrowser, HeadGrid, MaskPainter
from attnbook.widgets import RoleProjection as Roles
from attnbook.widgets.core.assets import asset_script
from attnbook.widgets.core.base import Widget
from tests.browser import launch
from tests.widgets import conftest
from tests.widgets.examples import (
    EXAMPLES,
    attention,
    digits,
    largest_flow,
    load,
    longest_player,
    longest_translation,
    model_table,
    most_scores,
)
from tests.widgets.pages import settle

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


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape)


def words(count: int) -> list[str]:
    return [f"word{i}" for i in range(count)]


def press(name: str) -> Callable[[Page], object]:
    return lambda page: page.get_by_role("button", name=name, exact=True).first.click()


def tick(selector: str) -> str:
    return f"figure.querySelector('{selector}').click();"


CASES = (
    Case(
        "AttentionHeatmap: the temperature, 12 heads of 28 × 28",
        lambda: AttentionHeatmap(normal(12, 28, 8), tokens=words(28)),
        "type('input[type=range]', 0.5 + turn / 60);",
    ),
    Case(
        "HeadGrid: a row is pointed at, six of 12 heads of 28 × 28",
        lambda: HeadGrid(normal(12, 28, 8), tokens=words(28), chosen=range(6), row=20),
        "figure.querySelector('.attnbook-plot canvas').dispatchEvent(new KeyboardEvent("
        "'keydown', { key: turn % 2 ? 'ArrowUp' : 'ArrowDown', bubbles: true }));",
    ),
    Case(
        "MaskPainter: a cell is painted, 16 tokens",
        lambda: MaskPainter(normal(16, 64), tokens=words(16)),
        "figure.querySelector('[role=application]').dispatchEvent(new KeyboardEvent("
        "'keydown', { key: ' ', bubbles: true }));",
    ),
    Case(
        "RoleProjection: a number of a matrix, 6 tokens",
        lambda: Roles(normal(6, 4), words(6), normal(4, 4), normal(4, 4), normal(4, 4)),
        "type('.attnbook-trio input', turn / 10);",
    ),
    Case(
        "ScoreExplorer: a number of a key",
        most_scores,
        "type('.attnbook-side input', turn / 20);",
    ),
    Case(
        "UnrolledModel: twelve digits typed",
        lambda: digits("123456789012", d=30),
        "type('.attnbook-line input', 123456789000 + turn, 'change');",
    ),
    Case(
        "BeamTree: the length penalty, five hypotheses",
        lambda: BeamTree(model_table(), beam=5, step=-1),
        "type('input[type=range]', turn / 60);",
    ),
    Case(
        "AlignmentPlayer: the temperature, ten sentences of 24 words",
        longest_player,
        "type('input[type=range]', 0.5 + turn / 60);",
    ),
    Case(
        "PositionExplorer: the position, 64 positions of 64 numbers",
        EXAMPLES["positions"].large,
        "type('input[type=range]', turn % 40);",
    ),
    Case(
        "BlockFlow: a number of the token, twelve blocks",
        largest_flow,
        "type('.attnbook-own input', turn / 10);",
    ),
    Case(
        "HeadBrowser: [CLS] and [SEP] hidden, 72 heads of 20 × 20",
        lambda: HeadBrowser([(words(20), attention(20, 6, 12))] * 2, row=3, key=2),
        tick(".attnbook-tick input"),
        load,
    ),
    Case(
        "Translator: another word of a translation of 26",
        longest_translation,
        "const all = figure.querySelectorAll('.attnbook-words button');"
        " all[turn % all.length].click();",
        lambda page: translated(page),
    ),
)


def translated(page: Page) -> None:
    press("translate")(page)
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
    page.goto(conftest.write(folder, "light", widget.html()))
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
    main()
