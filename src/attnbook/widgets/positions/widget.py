"""Sinusoidal positions: their table, how alike two of them are, and the clocks behind both."""

from __future__ import annotations

from typing import Any

import numpy as np
import traitlets

from attnbook.widgets.core import base as shared
from attnbook.widgets.core import checks, markup

__all__ = ["PositionExplorer"]

FORMULAS = ("divides", "multiplies")

_MOST = 64  # components, and positions
_FARTHEST = 63  # of a shift
_LARGEST = 1e6  # of the base
_NEIGHBOURS = (1, 2, 5, 20)
_COLUMNS = 8  # of the table of similarities


class PositionExplorer(shared.Widget, kind="positions"):
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

    The traits of the same names follow the reader's hand.

    Raises:
        ValueError: a number out of its range, an odd d, or another formula.

    Source: Vaswani et al. (2017), section 3.5.
    """

    d = traitlets.Int(64).tag(sync=True)
    n = traitlets.Int(32).tag(sync=True)
    base = traitlets.Float(10_000.0).tag(sync=True)
    position = traitlets.Int(0).tag(sync=True)
    shift = traitlets.Int(1).tag(sync=True)
    pair = traitlets.Int(0).tag(sync=True)
    formula = traitlets.Unicode("divides").tag(sync=True)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

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
        caption: str = "",
    ) -> None:
        start = {"d": _dimensions(d), "n": _whole("n", n, 2, _MOST), "base": _base(base)}
        start["position"] = checks.index_of("position", position, count=start["n"])
        start["shift"] = _whole("shift", shift, 0, _FARTHEST)
        start["pair"] = checks.index_of("pair", pair, count=start["d"] // 2)
        start["formula"] = _formula(formula)
        super().__init__(caption=caption, initial=markup.tidy(start), **start)

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

    @traitlets.validate("d")
    def _check_d(self, proposal: dict[str, Any]) -> int:
        return _dimensions(proposal["value"])

    @traitlets.validate("n")
    def _check_n(self, proposal: dict[str, Any]) -> int:
        return _whole("n", proposal["value"], 2, _MOST)

    @traitlets.validate("base")
    def _check_base(self, proposal: dict[str, Any]) -> float:
        return _base(proposal["value"])

    @traitlets.validate("position")
    def _check_position(self, proposal: dict[str, Any]) -> int:
        return checks.index_of("position", proposal["value"], count=self.n)

    @traitlets.validate("shift")
    def _check_shift(self, proposal: dict[str, Any]) -> int:
        return _whole("shift", proposal["value"], 0, _FARTHEST)

    @traitlets.validate("pair")
    def _check_pair(self, proposal: dict[str, Any]) -> int:
        return checks.index_of("pair", proposal["value"], count=self.d // 2)

    @traitlets.validate("formula")
    def _check_formula(self, proposal: dict[str, Any]) -> str:
        return _formula(proposal["value"])

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
            [str(i), _short(length), *map(markup.fixed, (*now[2 * i :][:2], *then[2 * i :][:2]))]
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


def _short(value: float) -> str:
    """Return a number with four digits that count."""
    return markup.plain(float(f"{value:.4g}"), 9)


def _whole(name: str, value: Any, least: int, most: int) -> int:
    wanted = f"{name} must be a whole number from {least} to {most}, got {value!r}"
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(wanted)
    if not least <= value <= most:
        raise ValueError(wanted)
    return int(value)


def _dimensions(value: Any) -> int:
    if _whole("d", value, 2, _MOST) % 2:
        raise ValueError(f"d must be even, for its numbers are taken in pairs: got {value!r}")
    return int(value)


def _base(value: Any) -> float:
    number = checks.number_above_zero("base", value)
    if not 1 <= number <= _LARGEST:
        raise ValueError(f"base must be a number from 1 to 1,000,000, got {value!r}")
    return number


def _formula(value: Any) -> str:
    if value not in FORMULAS:
        raise ValueError(f'formula must be "divides" or "multiplies", got {value!r}')
    return str(value)
