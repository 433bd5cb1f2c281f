"""Sinusoidal positions: their table, how alike two of them are, and the clocks behind both."""

from __future__ import annotations

from typing import Any

import numpy as np
import traitlets

from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["PositionExplorer"]

FORMULAS = ("divides", "multiplies")

_MOST = 64  # components, and positions
_FARTHEST = 63  # of a shift
_LARGEST = 1_000_000  # of the base
_NEIGHBOURS = (1, 2, 5, 20)
_COLUMNS = 8  # of the table of similarities


class PositionExplorer(Widget, kind="positions"):
    """Change what sinusoidal positions are made of, and see which of them are alike.

    PE[pos, 2i] = sin(pos · ω_i),   PE[pos, 2i + 1] = cos(pos · ω_i),
    ω_i = 1 / base^(2i / d);   PE[p + k] = PE[p] R(k), which turns pair i by the angle k · ω_i

    Args:
        d: how many components a position has, even, from 2 to 64.
        n: how many positions are drawn, from 2 to 64.
        base: from 1 to 1,000,000.
        position: p, whose similarity to all others is drawn (−1 is the last).
        shift: k, from 0 to 63; p + k may lie beyond the last position that is drawn.
        pair: i, whose two components are pointed out (−1 is the last).
        formula: "divides", or "multiplies" for a published error, ω_i = base^(2i / d).
        folded: the clocks alone; the rest opens at a press.

    The traits of the same names follow the reader's hand.

    Raises: ValueError for a number out of its range, an odd d, or another formula.
    Source: Vaswani et al. (2017), section 3.5.
    """

    d = traitlets.Int(64).tag(sync=True, rule=lambda self, _, value: _dimensions(value))
    n = ruled(traitlets.Int(32), checks.whole, least=2, most=_MOST)
    base = traitlets.Float(10_000.0).tag(sync=True, rule=lambda self, _, value: _base(value))
    position = ruled(traitlets.Int(0), checks.index_of, count=lambda self: self.n)
    shift = ruled(traitlets.Int(1), checks.whole, least=0, most=_FARTHEST)
    pair = ruled(traitlets.Int(0), checks.index_of, count=lambda self: self.d // 2)
    formula = ruled(
        traitlets.Unicode("divides"),
        checks.one_of,
        choices=FORMULAS,
        said='"divides" or "multiplies"',
    )
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to
    folded = ruled(traitlets.Bool(False), checks.switch)

    def __init__(
        self,
        d: int = 64,
        n: int = 32,
        base: float = 10_000.0,
        *,
        position: int = 0,
        shift: int = 1,
        pair: int = 0,
        formula: str = "divides",
        folded: bool = False,
        caption: str = "",
    ) -> None:
        sizes = {"d": d, "n": n, "base": base}
        hand = {"position": position, "shift": shift, "pair": pair, "formula": formula}
        super().__init__(caption=caption, folded=folded, start=sizes | hand)

    @property
    def wavelengths(self) -> np.ndarray:
        """After how many positions each pair comes round, 2π / ω_i, of shape (d / 2,)."""
        return 2 * np.pi / self._speeds()

    @property
    def table(self) -> np.ndarray:
        """The positions as they are drawn now, of shape (n, d)."""
        return self._encoded(np.arange(self.n))

    @property
    def similarities(self) -> np.ndarray:
        """The cosine of the chosen position with each one that is drawn, of shape (n,)."""
        chosen = self._encoded(np.array([self.position]))[0]
        return self.table @ chosen / (self.d / 2)  # every position has the norm √(d / 2)

    def _speeds(self, formula: str | None = None) -> np.ndarray:
        """ω_i, by the formula that is shown or by another one."""
        sign = -1 if (formula or self.formula) == "divides" else 1
        return self.base ** (sign * np.arange(0, self.d, 2) / self.d)

    def _encoded(self, positions: np.ndarray) -> np.ndarray:
        angles = positions[:, None] * self._speeds()  # (m, d / 2)
        return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(positions), self.d)

    @traitlets.observe("d", "n")
    def _stay_within(self, _: Any) -> None:
        self.position = min(self.position, self.n - 1)
        self.pair = min(self.pair, self.d // 2 - 1)

    def _summary(self) -> str:
        return (
            f"d {self.d}, n {self.n}, base {markup.plain(self.base)}, {self.formula},"
            f" position {self.position}, shift {self.shift}"
        )

    def _fallback(self) -> str:
        base = markup.plain(self.base)
        sign = "/" if self.formula == "divides" else "·"
        return (
            f"<p>PE[pos, 2i] = sin(pos {sign} {base}<sup>2i/{self.d}</sup>) and PE[pos, 2i + 1] ="
            f" cos(pos {sign} {base}<sup>2i/{self.d}</sup>).</p>"
            + self._pairs()
            + f"<p>The cosine of position {self.position} with each position; a dot product is"
            f" {self.d // 2} times the cosine.</p>"
            + self._cosines()
            + "<p>The cosine of two positions depends on their distance alone.</p>"
            + self._neighbours()
        )

    def _pairs(self) -> str:
        now, then = self._encoded(np.array([self.position, self.position + self.shift]))
        rows = [
            [
                str(i),
                markup.short(length),
                *map(markup.fixed, (*now[2 * i :][:2], *then[2 * i :][:2])),
            ]
            for i, length in enumerate(self.wavelengths)
        ]
        head = ["pair i", "wavelength"]
        for place in (self.position, self.position + self.shift):
            head += [f"PE[{place}, 2i]", f"PE[{place}, 2i + 1]"]
        return markup.table(head, rows, label="Two positions, pair by pair")

    def _cosines(self) -> str:
        told = [markup.fixed(value) for value in self.similarities]
        told += [""] * (-self.n % _COLUMNS)
        rows = [[str(q), *told[q : q + _COLUMNS]] for q in range(0, self.n, _COLUMNS)]
        head = ["position", *(f"+ {place}" for place in range(_COLUMNS))]
        return markup.table(head, rows, label="The cosine with each position")

    def _neighbours(self) -> str:
        rows = []
        for name in FORMULAS:
            angles = np.outer(_NEIGHBOURS, self._speeds(name))
            rows.append([name, *(markup.fixed(value) for value in np.cos(angles).mean(axis=1))])
        head = ["cosine at distance", *map(str, _NEIGHBOURS)]
        return markup.table(head, rows, label="The cosine at four distances by both formulas")


def _dimensions(value: Any) -> int:
    if checks.whole("d", value, least=2, most=_MOST) % 2:
        raise ValueError(f"d must be even, for its numbers are taken in pairs: got {value!r}")
    return int(value)


def _base(value: Any) -> float:
    return checks.between("base", checks.number_above_zero("base", value), least=1, most=_LARGEST)
