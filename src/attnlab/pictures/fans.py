"""Three vectors on their way through layers, as arrows whose angles are true.

One arrow points up in every panel; the two others stand at their true angles from it. Between
several ways through the layers the reader chooses by radio buttons, which need no script.
"""

from __future__ import annotations

import hashlib
import html
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnlab.pictures import sheets

__all__ = ["Fans"]

ARM = 46  # the longest arrow of a panel, of 100 units each way
SIDES = (-1, 0, 1)  # the first arrow leans left, the second points up, the third leans right
DASHES = ("", "7 4", "2 4")
MOST = 6  # ways, for so many radio buttons

Stages = Mapping[str, ArrayLike]


class Fans:
    """Draw three tokens' vectors as arrows, stage by stage, each way through the layers in a row::

        Fans(
            {"attention alone": {"the words": x, "1 layer": y}, "with a sum": {…}},
            ["had", "bowl", "nuts"],
            above=["attention alone"],
        )

    The rows ``above`` stand always. Of the other ways the reader chooses one, ``chosen`` at first;
    ``asked`` says what is chosen.
    The second token's arrow points up; the angles of the first and the third with it are true, and
    ``off`` is by how much the angle between those two is not. Lengths are shares of the panel's
    longest arrow, which ``lengths`` writes below it.

    Shapes: each stage (3, d).
    Raises: ValueError for other shapes, a vector of zeros, no or more than six ways, names among
    ``above`` and ``chosen`` that are none of the ways.
    """

    def __init__(
        self,
        ways: Mapping[str, Stages],
        tokens: Sequence[str],
        *,
        above: Sequence[str] = (),
        chosen: str | None = None,
        asked: str = "what a layer does",
        lengths: bool = False,
    ) -> None:
        self.tokens = [str(token) for token in tokens]
        self.ways = {
            name: {stage: np.asarray(x, dtype=float) for stage, x in stages.items()}
            for name, stages in ways.items()
        }
        self.above = list(above)
        self.choice = [name for name in self.ways if name not in self.above]
        self.chosen = chosen if chosen is not None else next(iter(self.choice), None)
        self.asked, self.lengths = asked, lengths
        if len(self.tokens) != 3:
            raise ValueError(f"tokens must be three: they are {self.tokens}")
        if not 1 <= len(self.ways) <= MOST or not all(self.ways.values()):
            raise ValueError(f"ways must be 1 to {MOST}, each with a stage: they are {ways!r}")
        wrong = set(self.above) - set(self.ways)
        if wrong or self.chosen not in (self.choice or [None]):
            raise ValueError(
                f"above and chosen must be names of ways, {list(self.ways)}: they are {above!r}"
                f" and {chosen!r}"
            )
        for name, x in ((name, x) for stages in self.ways.values() for name, x in stages.items()):
            if x.ndim != 2 or len(x) != 3:
                raise ValueError(f"each stage of ways must be (3, d): {name} is {x.shape}")
            size = np.linalg.norm(x, axis=1).tolist()
            if not all(0 < one < math.inf for one in size):
                raise ValueError(
                    f"ways must hold finite vectors longer than 0: the lengths of {name} are {size}"
                )

    @property
    def off(self) -> float:
        """By how many degrees the angle between first and third is drawn wrong, at most."""
        found = [
            abs(_angle(x, 0, 1) + _angle(x, 1, 2) - _angle(x, 0, 2))
            for stages in self.ways.values()
            for x in stages.values()
        ]
        return max(found)

    @property
    def _below(self) -> float:
        """How far the lowest tip lies below where the arrows start."""
        return max(
            -ARM
            * float(np.linalg.norm(x[j]))
            / _longest(x)
            * math.cos(math.radians(_angle(x, 1, j)))
            for stages in self.ways.values()
            for x in stages.values()
            for j in range(3)
        )

    @property
    def alt(self) -> str:
        """The drawing in words."""
        first, up, third = self.tokens
        rows = []
        for name, stages in self.ways.items():
            told = (
                f"{stage} {_angle(x, 0, 1):.0f}° and {_angle(x, 1, 2):.0f}°"
                + (f", longest {_longest(x):.0f}" if self.lengths else "")
                for stage, x in stages.items()
            )
            rows.append(f"{name}: {'; '.join(told)}.")
        return (
            f"Arrows for {first}, {up} and {third}. The angles of {first} and of {third} with"
            f" {up}: {' '.join(rows)}"
        )

    def __repr__(self) -> str:
        return f"<Fans: {self.alt}>"

    def _repr_html_(self) -> tuple[str, dict[str, Any]]:
        alt = html.escape(self.alt)
        group = "attnbook-" + hashlib.sha256(self.alt.encode()).hexdigest()[:8]
        rows = "".join(self._row(name) for name in self.above)
        if len(self.choice) > 1:
            rows += self._buttons(group)
        rows += "".join(self._row(name, k) for k, name in enumerate(self.choice))
        names = "".join(
            f'<span class="attnbook-word-{j}">{_line(j)}{html.escape(token)}</span>'
            for j, token in enumerate(self.tokens)
        )
        drawn = (
            f'<div class="attnbook attnbook-drawing" role="group" aria-label="{alt}">'
            f'<style>{_look()}</style><div class="attnbook-fans">'
            f'<div class="attnbook-words" aria-hidden="true">{names}</div>{rows}</div></div>'
        )
        return drawn, {"alt": self.alt}

    def _buttons(self, group: str) -> str:
        found = []
        for k, name in enumerate(self.choice):
            on = " checked" if name == self.chosen else ""
            found.append(
                f'<label><input type="radio" name="{group}" value="{k}"{on}>'
                f"<span>{html.escape(name)}</span></label>"
            )
        return f"<fieldset><legend>{html.escape(self.asked)}</legend>{''.join(found)}</fieldset>"

    def _row(self, name: str, k: int | None = None) -> str:
        some = "" if k is None or len(self.choice) == 1 else f" attnbook-way attnbook-way-{k}"
        panels = "".join(self._panel(stage, x) for stage, x in self.ways[name].items())
        return (
            f'<div class="attnbook-row{some}" aria-hidden="true"><b>{html.escape(name)}</b>'
            f'<div class="attnbook-panels">{panels}</div></div>'
        )

    def _panel(self, stage: str, x: np.ndarray) -> str:
        drawn = []
        for j, side in enumerate(SIDES):
            turn = math.radians(side * _angle(x, 1, j))
            size = ARM * float(np.linalg.norm(x[j])) / _longest(x)
            a, b = size * math.sin(turn), -size * math.cos(turn)
            dash = f' stroke-dasharray="{DASHES[j]}"' if DASHES[j] else ""
            drawn.append(
                f'<g class="attnbook-word-{j}"><line x2="{a:.1f}" y2="{b:.1f}"{dash}/>'
                f'<circle cx="{a:.1f}" cy="{b:.1f}" r="5"/></g>'
            )
        low = max(self._below + 8, 10)
        under = f"<span>length {_longest(x):.0f}</span>" if self.lengths else ""
        return (
            f'<div><svg viewBox="-52 -54 104 {54 + low:.0f}"><circle class="attnbook-start" r="2"/>'
            f"{''.join(drawn)}</svg><span>{html.escape(stage)}</span>{under}</div>"
        )


def _angle(x: np.ndarray, i: int, j: int) -> float:
    """The angle between rows i and j, in degrees."""
    cosine = x[i] @ x[j] / (np.linalg.norm(x[i]) * np.linalg.norm(x[j]))
    return math.degrees(math.acos(min(1.0, max(-1.0, float(cosine))))) if i != j else 0.0


def _longest(x: np.ndarray) -> float:
    return float(np.linalg.norm(x, axis=1).max())


def _line(j: int) -> str:
    dash = f' stroke-dasharray="{DASHES[j]}"' if DASHES[j] else ""
    line = f'<line x1="1" y1="6" x2="33" y2="6"{dash}/>'
    return f'<svg width="34" height="12" viewBox="0 0 34 12">{line}</svg>'


@cache
def _look() -> str:
    return sheets.bare((*sheets.OWN, Path(__file__).parent / "fans.css"))
