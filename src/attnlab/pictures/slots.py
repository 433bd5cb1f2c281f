"""Vectors on their way through layers, each as a stack of coloured slots: a colour for each part.

A part is some neighbouring numbers of a vector that say one thing, such as who a token is; its
colour is the same in every layer, so that one sees what a layer has written, and where.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnlab.pictures import sheets

__all__ = ["Slots"]

WIDE, HIGH, GAP = 66, 22, 4  # of a slot; between two columns
LINKS, LETTER = 58, 7  # the height of the arrows before a stage; a letter's width in a stage's name
MOST = 4  # parts, for so many colours
SEEN = 0.6  # what a slot's largest number, or a weight, must exceed to be drawn


class Slots:
    """Draw what each token's vector says, stage by stage, and who looked at whom between them::

        Slots(
            {"embeddings": x, "after head 0": y},
            {"I am": ["A", "B"], "after": ["A", "B"]},
            links=[weights],
        )

    A slot has the name of its part and of its largest number; it is empty where none exceeds 0.6.
    An arrow goes from the token that is looked at to the one that looks, if a weight exceeds 0.6.

    Shapes: each stage (n, d), d the names of all parts together; ``links`` one (n, n) between two
    stages, or None for no arrows.
    Raises: ValueError for no stages, other shapes, no or more than four parts.
    """

    def __init__(
        self,
        stages: Mapping[str, ArrayLike],
        parts: Mapping[str, Sequence[str]],
        *,
        links: Sequence[ArrayLike | None] = (),
    ) -> None:
        self.parts = {name: list(values) for name, values in parts.items()}
        if not 1 <= len(self.parts) <= MOST or not all(self.parts.values()):
            raise ValueError(f"parts must be 1 to {MOST}, each with a name: they are {parts!r}")
        self.stages = {name: np.asarray(x, dtype=float) for name, x in stages.items()}
        d = sum(map(len, self.parts.values()))
        shapes = [x.shape for x in self.stages.values()]
        if not shapes or any(len(one) != 2 or one != shapes[0] or one[1] != d for one in shapes):
            raise ValueError(f"stages must have one shape, (n, {d}): they have {shapes}")
        n = shapes[0][0]
        self.links = [None if one is None else np.asarray(one, dtype=float) for one in links]
        wanted = len(shapes) - 1 if links else 0
        if len(self.links) != wanted or any(
            one is not None and one.shape != (n, n) for one in self.links
        ):
            raise ValueError(f"links must be {len(shapes) - 1} matrices of shape {(n, n)}")

    def said(self, stage: str) -> list[list[str]]:
        """Return what each token's slots say at a stage: a text a part, empty for nothing."""
        found = []
        for row in self.stages[stage]:
            texts, at = [], 0
            for name, values in self.parts.items():
                part = row[at : at + len(values)]
                at += len(values)
                best = int(part.argmax())
                texts.append(f"{name} {values[best]}" if part[best] > SEEN else "")
            found.append(texts)
        return found

    @property
    def alt(self) -> str:
        """The drawing in words."""
        told = []
        for stage in self.stages:
            tokens = "; ".join(", ".join(filter(None, texts)) for texts in self.said(stage))
            told.append(f"{stage}: {tokens}.")
        return f"The slots of each token, stage by stage. {' '.join(told)}"

    @property
    def svg(self) -> str:
        """The drawing as SVG, whose colours are those of the style around it."""
        n = next(iter(self.stages.values())).shape[0]
        side = n * (WIDE + GAP) + GAP  # where the names of the stages stand
        names = [stage.split(", ") for stage in self.stages]
        width = side + GAP + LETTER * max(len(line) for lines in names for line in lines)
        found: list[str] = []
        y = 0.0
        for k, stage in enumerate(self.stages):
            if k and self.links:
                found.append(_arrows(self.links[k - 1], y, n))
                y += LINKS
            for line, text in enumerate(names[k]):
                found.append(_text(text, side + GAP, y + 14 + 18 * line, "start", "stage"))
            for column, texts in enumerate(self.said(stage)):
                x = GAP + column * (WIDE + GAP)
                for part, text in enumerate(texts):
                    found.append(_slot(part, text, x, y + part * HIGH))
            y += len(self.parts) * HIGH + 4
        size = f'width="{width}" height="{y:g}" viewBox="0 0 {width} {y:g}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}'
            f' aria-label="{html.escape(self.alt)}">{"".join(found)}</svg>'
        )

    def __repr__(self) -> str:
        return f"<Slots: {self.alt}>"

    def _repr_html_(self) -> tuple[str, dict[str, Any]]:
        drawn = (
            '<div class="attnbook attnbook-drawing" role="group" tabindex="0"'
            f' aria-label="{html.escape(self.alt)}"><style>{_look()}</style>'
            f'<div class="attnbook-slots">{self.svg}</div></div>'
        )
        return drawn, {"alt": self.alt}


@cache
def _look() -> str:
    return sheets.bare((*sheets.OWN, Path(__file__).parent / "slots.css"))


def _slot(part: int, text: str, x: float, y: float) -> str:
    name = "" if text else ' class="attnbook-empty"'
    rect = f'<rect{name} x="{x:g}" y="{y:g}" width="{WIDE}" height="{HIGH - 3}" rx="2"/>'
    label = _text(text, x + WIDE / 2, y + 14, "middle", "slot") if text else ""
    return f'<g class="attnbook-part-{part}">{rect}{label}</g>'


def _text(text: str, x: float, y: float, anchor: str, name: str) -> str:
    return (
        f'<text class="attnbook-{name}" style="font-size:13px" x="{x:g}" y="{y:g}"'
        f' text-anchor="{anchor}">{html.escape(text)}</text>'
    )


def _arrows(weights: np.ndarray | None, y: float, n: int) -> str:
    """Return arrows from the tokens above, looked at, to those below, that look."""
    if weights is None:
        return ""
    found = []
    for i, j in np.argwhere(weights > SEEN):
        if i == j:
            continue
        start, end = (GAP + k * (WIDE + GAP) + WIDE / 2 for k in (j, i))
        top, tip = y, y + LINKS - 3
        bend = (top + tip) / 2
        found.append(
            f'<path d="M{start:g} {top:g}C{start:g} {bend:g}'
            f' {end:g} {bend:g} {end:g} {tip - 7:g}"/>'
            f'<path class="attnbook-bold" d="M{end:g} {tip:g}l-4.5 -9h9Z"/>'
        )
    return "".join(found)
