"""Rotary positions beyond the trained length: clocks, and what each scaling makes of them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
import traitlets

from attnbook.further.longer import Scaling
from attnbook.positions import Pace
from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["RotaryClocks"]

SCALINGS = ("none", "interpolation", "ntk", "yarn", "llama3")

_WIDEST = 128  # components of a head
_LEAST_BASE, _LARGEST_BASE = 2, 100_000_000
_LONGEST = 1_048_576  # of the trained length
_TIMES = 16  # as long, and as slow, at most
_EDGE = 1 + 1e-9  # an angle that is met but for rounding is met


class RotaryClocks(Widget, kind="clocks"):
    """Turn a head's rotary clocks by a distance, and see which angles training never showed.

    A query at position m has turned pair i by (m − n) θ_i against the key at n. In training on n₀
    tokens pair i showed the angles from 0 to n₀ θ_i, or the whole circle where that is 2π or more.
    A scaling, switched on afterwards, makes θ_i smaller.

    Args:
        d: how many components a head has, even, from 4 to 128.
        base: θ_i = base^(−2i / d), from 2 to 100,000,000.
        trained: n₀, from 2 to 1,048,576.
        distance: m − n, from 1 to 16 n₀; n₀ unless given.
        scaling: "none", or a kind of ``attnbook.further.longer.Scaling``.
        factor: s, from 1 to 16.
        pair: i, which is pointed out (−1 is the last, the slowest).

    The traits ``distance``, ``scaling``, ``factor`` and ``pair`` follow the reader's hand.

    Raises: ValueError for a number out of its range, an odd d, or another scaling.
    Source: Su et al. (2021), section 3.2; for the scalings,
        ``attnbook.further.longer.Scaling``.
    """

    d = traitlets.Int(64).tag(sync=True, rule=lambda self, _, value: _dimensions(value))
    base = ruled(traitlets.Float(10_000.0), checks.between, least=_LEAST_BASE, most=_LARGEST_BASE)
    trained = ruled(traitlets.Int(8192), checks.whole, least=2, most=_LONGEST)
    distance = ruled(
        traitlets.Int(1), checks.whole, least=1, most=lambda self: _TIMES * self.trained
    )
    scaling = ruled(traitlets.Unicode("none"), checks.one_of, choices=SCALINGS)
    factor = ruled(traitlets.Float(4.0), checks.between, least=1, most=_TIMES)
    pair = ruled(traitlets.Int(0), checks.index_of, count=lambda self: self.d // 2)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        d: int = 64,
        base: float = 10_000.0,
        trained: int = 8192,
        *,
        distance: int | None = None,
        scaling: str = "none",
        factor: float = 4.0,
        pair: int = -1,
        caption: str = "",
    ) -> None:
        distance = trained if distance is None else distance
        hand = {"distance": distance, "scaling": scaling, "factor": factor, "pair": pair}
        super().__init__(caption=caption, d=d, base=base, trained=trained, start=hand)

    @property
    def speeds(self) -> np.ndarray:
        """θ_i as scaled now, in radians a token, of shape (d / 2,)."""
        return self._speeds(self.scaling)

    @property
    def angles(self) -> np.ndarray:
        """Where each hand stands, from 0 to 2π, of shape (d / 2,)."""
        return self.distance * self.speeds % (2 * np.pi)

    @property
    def met(self) -> np.ndarray:
        """The largest angle that training showed, at most 2π, of shape (d / 2,)."""
        return np.minimum(self.trained * self._speeds("none"), 2 * np.pi)

    @property
    def outside(self) -> np.ndarray:
        """Whether each hand stands where none stood in training, of shape (d / 2,)."""
        return (self.met < 2 * np.pi) & (self.angles > self.met * _EDGE)

    @property
    def beyond(self) -> np.ndarray:
        """Whether any distance up to this one shows such an angle, of shape (d / 2,)."""
        return (self.met < 2 * np.pi) & (self.distance * self.speeds > self.met * _EDGE)

    def _speeds(self, kind: str) -> np.ndarray:
        slowed = Scaling(cast("Any", kind), self.factor, self.trained) if kind != "none" else Pace()
        return slowed.speeds(self.d, self.base, dtype=torch.float64).numpy()

    @traitlets.observe("d", "trained")
    def _stay_within(self, _: Any) -> None:
        self.pair = min(self.pair, self.d // 2 - 1)
        self.distance = min(self.distance, _TIMES * self.trained)

    def _summary(self) -> str:
        scaling = self.scaling
        if scaling != "none":
            scaling += f" by {markup.plain(self.factor)}"
        return (
            f"d {self.d}, base {markup.plain(self.base)}, trained to {self.trained:,}, {scaling},"
            f" distance {self.distance:,}"
        )

    def _fallback(self) -> str:
        plain, now = self._speeds("none"), self.speeds
        rows = [
            [
                str(i),
                " → ".join(dict.fromkeys(markup.short(2 * np.pi / of[i]) for of in (plain, now))),
                "all" if self.met[i] == 2 * np.pi else f"0 to {_degrees(self.met[i])}",
                _degrees(self.angles[i]) + (", never met" if self.outside[i] else ""),
            ]
            for i in range(self.d // 2)
        ]
        head = ["pair i", "wavelength", "angles met", "angle now"]
        scaling = "No scaling" if self.scaling == "none" else f"Scaling: {self.scaling}"
        factor = "" if self.scaling == "none" else f", s = {markup.plain(self.factor)}"
        outside = self.outside.sum()
        return (
            f"<p>Trained to n₀ = {self.trained:,} tokens, base {markup.plain(self.base)}. {scaling}"
            f"{factor}. At the distance {self.distance:,}, {outside} of {self.d // 2}"
            f" hands stand{'s' if outside == 1 else ''} at an angle that training never showed.</p>"
            + markup.table(head, rows, label="Each pair before and after scaling")
        )


def _degrees(angle: float) -> str:
    return f"{markup.fixed(float(np.degrees(angle)), 1)}°"


def _dimensions(value: Any) -> int:
    if checks.whole("d", value, least=4, most=_WIDEST) % 2:
        raise ValueError(f"d must be even, for its numbers are taken in pairs: got {value!r}")
    return int(value)
