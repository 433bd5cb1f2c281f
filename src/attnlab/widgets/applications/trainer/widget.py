"""A small model that learns to copy in the page: its loss, its heads, and what each is good for."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.models.recorded import FOLDER
from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["TrainHere"]

_LAST = 800  # steps of a run
_LONGEST = 20  # symbols that the model reads
_KINDS = 12  # different ones
_EVERY = 5  # of the points of a curve, so many are skipped in a table
_SPEEDS = (1, 5, 20)
_TEXT = "ABCDEFABCDEFABC"


class TrainHere(Widget, kind="trainer"):
    """Train a model of attention alone where you read, and take out the head that copies.

    x_0 = E[symbols],   x_{l+1} = x_l + attention_l(x_l),   logits = x_L U,   loss = mean −log p

    It is ``attnlab.models.copying.AttentionOnly`` with vectors of 24 numbers, and reads texts that
    repeat themselves with a random period. A step is 16 texts, forward, backward and AdamW, in
    double precision in the browser; a run of 800 steps is the same to the last digit wherever it is
    run. Two runs are recorded, with two layers and with one: they are seen on paper, and before the
    reader starts.

    Beside loss and share right stands every head's map on a text of the reader's own, what it gives
    to the previous symbol and to what came next before, and a box that takes it out.

    Args:
        text: what the heads are shown on: letters, or words between blanks; 2 to 20 symbols, at
            most 12 different ones.
        layers: 1 or 2; heads: of each layer, 1 or 4.
        rate: the learning rate, from 0.00001 to 10.
        symbols: how many the texts are drawn from, 1 to 12.
        shortest, longest: periods, from 1 to 40; they are drawn from the one to the other.
        seed: of weights and texts, from 0 to 9,999.
        off: heads that are taken out, (layer, head) each, counted from 0.
        step: where the run stands, from 0 to 800, or −1 for the recorded one, where the settings
            are its own.
        speed: steps from one picture to the next, 1, 5 or 20.

    All of these but ``caption`` follow the reader's hand, and ``kept`` holds the runs that were
    done: another layer, head, rate, seed or period begins a run anew.

    Raises: ValueError for a text, a head or a number that does not fit; TypeError for what is none.
    Source: Elhage et al. (2021) for the model, Olsson et al. (2022) for the scores.
    """

    # two runs, and the weights that the first ended with
    recorded = traitlets.Dict().tag(sync=True)
    text = ruled(traitlets.Unicode(_TEXT), lambda name, value: _text(name, value))
    layers = ruled(traitlets.Int(2), checks.either, choices=(1, 2))
    heads = ruled(traitlets.Int(1), checks.either, choices=(1, 4))
    rate = ruled(traitlets.Float(5e-3), checks.between, least=1e-5, most=10)
    symbols = ruled(traitlets.Int(_KINDS), checks.whole, least=1, most=_KINDS)
    shortest = ruled(traitlets.Int(4), checks.whole, least=1, most=2 * _LONGEST)
    longest = ruled(traitlets.Int(9), checks.whole, least=1, most=2 * _LONGEST)
    seed = ruled(traitlets.Int(0), checks.whole, least=0, most=9_999)
    off = ruled(traitlets.List(), lambda name, value: _off(name, value))
    step = ruled(traitlets.Int(-1), checks.whole, least=-1, most=_LAST)
    speed = ruled(traitlets.Int(5), checks.either, choices=_SPEEDS)
    kept = traitlets.List().tag(sync=True)  # runs that are done: name and points
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        text: str = _TEXT,
        *,
        layers: int = 2,
        heads: int = 1,
        rate: float = 5e-3,
        symbols: int = _KINDS,
        shortest: int = 4,
        longest: int = 9,
        seed: int = 0,
        off: Sequence[tuple[int, int]] = (),
        step: int = -1,
        speed: int = 5,
        caption: str = "",
    ) -> None:
        recorded = json.loads((FOLDER / "trainer.json").read_text(encoding="utf-8"))
        model = {"layers": layers, "heads": heads, "rate": rate, "symbols": symbols, "seed": seed}
        texts = {"text": text, "shortest": shortest, "longest": longest}
        shown = {"off": off, "step": step, "speed": speed, "kept": []}
        super().__init__(caption=caption, recorded=recorded, start={**model, **texts, **shown})

    def _summary(self) -> str:
        layers = "two layers" if self.layers == 2 else "one layer"
        heads = f"{self.heads} heads each" if self.heads > 1 else "one head"
        at = "recorded" if self.step < 0 else f"step {self.step}"
        return f"{layers}, {heads}, seed {self.seed}, {at}, text: {self.text}"

    def _fallback(self) -> str:
        one, other = self.recorded["runs"]
        rows = []
        both = zip(one["points"][::_EVERY], other["points"][::_EVERY], strict=True)
        for two, alone in both:
            (step, *of_two, previous, came), (_, *of_one, _, _) = two, alone
            looks = previous[0], came[1]
            rows.append([str(step), *map(_number, (*of_two, *looks, *of_one))])
        head = [
            "step",
            "two layers: loss",
            "right, stood before",
            "right, new",
            "layer 0 on the previous symbol",
            "layer 1 on what came next",
            "one layer: loss",
            "right, stood before",
            "right, new",
        ]
        return (
            f"<p>Two recorded runs of {_LAST} steps: a model with two layers, and one with one."
            " An even guess has a loss of"
            f" {markup.fixed(math.log(_KINDS), 2)}.</p>"
            + _drawn(self.recorded["runs"])
            + markup.table(head, rows, label="Two recorded runs")
        )


def _number(value: float | None) -> str:
    return "–" if value is None else markup.fixed(value, 2)


def _drawn(runs: list[dict[str, Any]]) -> str:
    """Return the losses of the recorded runs as a drawing."""
    width, high, most = 420, 170, 3
    lines, names = [], []
    for run in runs:
        known = [(step, loss) for step, loss, *_ in run["points"] if loss is not None]
        at = [(40 + step / _LAST * (width - 130), 10 + (1 - y / most) * high) for step, y in known]
        lines.append("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in at))
        names.append(f'<text x="{at[-1][0] + 6:.1f}" y="{at[-1][1] + 4:.1f}">{run["name"]}</text>')
    ticks = "".join(
        f'<text x="32" y="{14 + (1 - value / most) * high:.1f}" text-anchor="end">{value}</text>'
        for value in range(most + 1)
    )
    steps = "".join(
        f'<text x="{40 + step / _LAST * (width - 130):.1f}" y="{high + 28}"'
        f' text-anchor="middle">{step}</text>'
        for step in (0, 400, 800)
    )
    shapes = "".join(
        f'<path d="{line}" fill="none" stroke="currentColor" stroke-width="2"/>' for line in lines
    )
    frame = f'<path d="M40 10V{high + 10}H{width - 90}" fill="none" stroke="currentColor"/>'
    return (
        f'<svg viewBox="0 0 {width} {high + 34}" width="{width}" role="img" fill="currentColor"'
        ' font-size="12" style="max-width:100%" aria-label="The loss over the steps: with two'
        f' layers it bends and falls, with one it does not.">{frame}{ticks}{steps}{shapes}'
        f"{''.join(names)}</svg>"
    )


def _text(name: str, value: Any) -> str:
    """Return the text without blanks at its ends, if it can be read."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {checks.one_line(value)}")
    words = value.split()
    found = words if len(words) > 1 else list(words[0] if words else "")
    if not 2 <= len(found) <= _LONGEST:
        raise ValueError(
            f"{name} must be 2 to {_LONGEST} symbols, got {len(found)}: {checks.one_line(value)}"
        )
    if len(set(found)) > _KINDS:
        raise ValueError(
            f"{name} must be of at most {_KINDS} different symbols, got {len(set(found))}:"
            f" {checks.one_line(value)}"
        )
    return value.strip()


def _off(name: str, value: Any) -> list[list[int]]:
    """Return the heads that are taken out, in order and each once."""
    wanted = f"{name} must hold heads as (layer, head), from (0, 0) to (1, 3)"
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError(f"{wanted}, got {checks.one_line(value)}")
    found = []
    for one in value:
        pair = list(one) if isinstance(one, (list, tuple)) else [one]
        whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in pair)
        if len(pair) != 2 or not whole or not (0 <= pair[0] <= 1 and 0 <= pair[1] <= 3):
            raise ValueError(f"{wanted}, got {checks.one_line(one)}")
        found.append([int(n) for n in pair])
    return sorted(map(list, {tuple(pair) for pair in found}))
