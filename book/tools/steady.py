"""Whether what a lecture prints hangs on rounding: its trainings taken again, a rounding apart.

A lecture is run twice, each time in a fresh kernel. The second time every model that is trained
begins from weights multiplied by 1 + 1e-7 or 1 - 1e-7 (``attnlab.training.rounding``). A lecture
that holds on any processor prints the same then, by the rules of `tests/nbval/rules.py`, and the
losses of the last tenth of each training differ by at most half the last place that its cell
prints, or by the margin that its tag `numbers-within-…` states.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[2]
LOG, NUDGE = "ATTNBOOK_TRAININGS", "ATTNBOOK_NUDGE"  # of a kernel: where it writes, what it adds
HERE = str(Path(__file__).resolve().parent)
# what a kernel runs before the first cell; a name more in its path is all that the cells could see
BEGIN = f"__import__('sys').path.append({HERE!r}); __import__('steady').begin()"
UNIT = 0.01  # where a cell prints no decimals
DECIMALS = re.compile(r"(?<![\w.])[-−]?\d+\.(\d+)(?![\w.])")
IGNORED = "nbval-ignore-output"
KEPT = contextlib.ExitStack()  # a block that stays open as long as the kernel


def begin() -> None:
    """In a kernel: record each training and its cell's number in the file that LOG names."""
    from IPython import get_ipython

    from attnlab.training.rounding import watched

    file, done = Path(os.environ[LOG]), []  # the cells that were run; the next one is running
    found = KEPT.enter_context(watched(float(os.environ[NUDGE]), place=lambda: len(done) + 1))

    def write(*ran: object) -> None:
        done.extend(one for one in ran if one.info.store_history)  # not the line that began this
        rows = [[training.place, training.losses] for training in found]
        file.write_text(json.dumps(rows), encoding="utf-8")

    write()
    get_ipython().events.register("post_run_cell", write)


def unit(cell: NotebookNode) -> float:
    """Return the last place that a cell prints; a hundredth where it prints none."""
    texts = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in cell.outputs]
    places = [len(found) for text in texts for found in DECIMALS.findall(text)]
    return 10.0 ** -max(places) if places else UNIT


def margin(cell: NotebookNode) -> float:
    """Return by how much a cell's numbers may differ, as its tag states; 0 where it has none."""
    from tests.nbval import rules

    return stated(rules.NUMBERS_TAG, cell.metadata.get("tags", []), 0.0)


def stated(pattern: re.Pattern, tags: Iterable[str], otherwise: float) -> float:
    """Return the number in the tag that has this form; `otherwise` where none has it."""
    found = [pattern.fullmatch(tag) for tag in tags]
    return next((float(one[1]) for one in found if one), otherwise)


def trainings(file: Path) -> list[tuple[int, list[float]]]:
    """Read what a kernel wrote: of each training the number of its cell, and its losses."""
    return [tuple(row) for row in json.loads(file.read_text(encoding="utf-8"))]


def unsteady(
    notebook: NotebookNode,
    moved: NotebookNode,
    first: list[tuple[int, list[float]]],
    second: list[tuple[int, list[float]]],
) -> tuple[list[str], list[tuple[int, float, float]]]:
    """Say what hangs on rounding, and of each training its cell, how far it moves, and may."""
    sys.path.insert(0, str(ROOT))
    from attnlab.training.rounding import apart

    found, rows = [], []
    cells = [[c for c in one.cells if c.cell_type == "code"] for one in (notebook, moved)]
    by_count = {cell.execution_count: cell for cell in cells[0]}
    if [place for place, _ in first] != [place for place, _ in second]:
        found.append(f"{len(first)} trainings, and {len(second)} from weights 1e-7 apart")
    for (place, losses), (_, others) in zip(first, second, strict=False):
        far, cell = float(f"{apart(losses, others):.2g}"), by_count[place]
        may = max(unit(cell) / 2, margin(cell))
        rows.append((place, far, may))
        if far > may:
            found.append(
                f"{title(cell, place)}: the losses of the last tenth of a training "
                f"move by {far:.2g}, {may:g} may"
            )
    for cell, again in zip(*cells, strict=True):
        if message := differ(again.outputs, cell.outputs, set(cell.metadata.get("tags", []))):
            found.append(f"{title(cell, cell.execution_count)}: {message}")
    return found, rows


def title(cell: NotebookNode, count: int) -> str:
    return f"cell [{count}] (`{cell.source.strip().splitlines()[0]}`)"


def differ(new: list, old: list, tags: set[str]) -> str:
    """Say how two lists of outputs differ by the rules under which nbval compares them."""
    from tests.nbval import rules

    if IGNORED in tags:
        return ""
    new, old = [json.loads(json.dumps(outputs)) for outputs in (new, old)]

    tolerance = stated(rules.NUMBERS_TAG, tags, 0.0)
    share = stated(rules.FIGURE_TAG, tags, rules.PIXEL_SHARE)
    message = rules.match_texts(new, old, tolerance) if tolerance else ""
    message = message or rules.compare_pictures(new, old, share) or rules.match_widgets(new, old)
    if message:
        return message
    texts = [[plain(output) for output in outputs] for outputs in (new, old)]
    pairs = [(a, b) for a, b in zip(*texts, strict=False) if a != b]
    if len(texts[0]) != len(texts[1]):
        return f"{len(texts[0])} outputs, {len(texts[1])} stored"
    return "it prints {!r}, stored is {!r}".format(*around(*pairs[0])) if pairs else ""


def plain(output: dict) -> str:
    """Return what an output says, but pictures and views of live models."""
    kept = ("text/plain", "text/html", "text/latex", "image/svg+xml")
    data = {kind: text for kind, text in output.get("data", {}).items() if kind in kept}
    return json.dumps([output.get("text"), data], ensure_ascii=False, sort_keys=True)


def around(new: str, old: str) -> tuple[str, str]:
    """Cut two texts down to where they begin to differ."""
    at = next((i for i, (a, b) in enumerate(zip(new, old, strict=False)) if a != b), 0)
    return new[max(0, at - 30) : at + 50], old[max(0, at - 30) : at + 50]
