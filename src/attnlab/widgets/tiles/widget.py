"""The online softmax: a tile sweeps the n × n scores, and one query's numbers are the reader's."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import traitlets

from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["TileSteps"]

_MOST_KEYS = 16
_HIGHEST = 1_000  # of a score
_LARGEST = 1e6  # of a value


class _Seen(NamedTuple):
    """What is kept after a tile, and the factor that brought the sums to its maximum."""

    maximum: float
    factor: float
    total: float
    output: float


class TileSteps(Widget, kind="tiles"):
    """Let a tile sweep the n × n scores; each query keeps m, ℓ and o alone, the first shows them.

    m′ = max(m, e_j),   ℓ′ = ℓ · 2^(m − m′) + Σ_j 2^(e_j − m′),
    o′ = o · 2^(m − m′) + Σ_j 2^(e_j − m′) v_j

    Scores are in units of ln 2, so that exp is a power of two; a value is one number.

    Args:
        scores: (n,), at most 16, each at most 1,000 in size; values: (n,), each at most 1e6.
        tile: how many keys come at once, from 1 to n.
        step: how many tiles have been seen at first, 0 to ⌈n / tile⌉², row by row.
        factor: multiply what was summed by 2^(m − m′); without it the result is wrong.

    The traits follow the reader's hand.

    Raises: ValueError for shapes, counts or numbers that do not fit.
    Source: Milakov and Gimelshein (2018), section 3.
    """

    scores = traitlets.List().tag(
        sync=True, rule=lambda self, name, value: _numbers(name, value, _HIGHEST, self.scores)
    )
    values = traitlets.List().tag(
        sync=True, rule=lambda self, name, value: _numbers(name, value, _LARGEST, self.scores)
    )
    tile = ruled(traitlets.Int(1), checks.whole, least=1, most=lambda self: len(self.scores))
    step = ruled(traitlets.Int(0), checks.index_of, count=lambda self: self._tiles() ** 2 + 1)
    factor = ruled(traitlets.Bool(True), checks.switch)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        scores: Any,
        values: Any,
        *,
        tile: int = 1,
        step: int = 1,
        factor: bool = True,
        caption: str = "",
    ) -> None:
        numbers = {"scores": scores, "values": values, "tile": tile, "factor": factor}
        super().__init__(caption=caption, start={**numbers, "step": step})

    @property
    def output(self) -> float | None:
        """o / ℓ of the first query after what has been seen, None before the first tile."""
        seen = self._seen()[: self.step]
        return seen[-1].output / seen[-1].total if seen else None

    @property
    def numbers(self) -> dict[str, int]:
        """How many numbers a whole tile takes in fast memory, Q, K, V and Y in slow; n²; moved.

        A vector counts as one. A whole sweep moves Q and Y once, K and V for each row of tiles.
        """
        n, tile, moved = len(self.scores), self.tile, 2 * len(self.scores) * (1 + self._tiles())
        return {"fast": 6 * tile + tile**2, "slow": 4 * n, "scores": n**2, "moved": moved}

    def _tiles(self) -> int:
        return ceil(len(self.scores) / self.tile)

    def _seen(self) -> list[_Seen]:
        scores, values = (np.array(part, dtype=float) for part in (self.scores, self.values))
        maximum, total, output, found = -np.inf, 0.0, 0.0, []
        for start in range(0, len(scores), self.tile):
            e, v = (part[start : start + self.tile] for part in (scores, values))
            new = max(maximum, e.max())
            factor, parts = float(2.0 ** (maximum - new)), 2.0 ** (e - new)
            used = factor if self.factor else 1.0
            total = used * total + float(parts.sum())
            output = used * output + float(parts @ v)
            maximum = new
            found.append(_Seen(maximum, factor, total, output))
        return found

    @traitlets.observe("tile")
    def _stay_within(self, _: Any) -> None:
        self.step = min(self.step, self._tiles() ** 2)

    def _summary(self) -> str:
        return f"{len(self.scores)} keys in tiles of {self.tile}, {self.step} seen"

    def _fallback(self) -> str:
        pairs = zip(self.scores, self.values, strict=True)
        given = [[str(j), markup.plain(e), markup.plain(v)] for j, (e, v) in enumerate(pairs, 1)]
        rows = []
        for place, seen in enumerate(self._seen()):
            last = min((place + 1) * self.tile, len(self.scores))
            factor = markup.plain(seen.factor, 6) if place and self.factor else "–"
            numbers = [markup.plain(part, 6) for part in (seen.total, seen.output)]
            result = markup.plain(seen.output / seen.total, 6)
            rows.append([str(last), markup.plain(seen.maximum), factor, *numbers, result])
        held = self.numbers
        return (
            f"<p>A tile of {self.tile} × {self.tile} sweeps {held['scores']} scores, never stored:"
            f" fast memory holds {held['fast']} numbers, slow memory {held['slow']}; a whole sweep"
            f" moves {held['moved']}.</p>"
            "<p>One query's scores, in units of ln 2, and values.</p>"
            + markup.table(["key", "score e", "value v"], given, label="Scores and values")
            + f"<p>Seen in tiles of {self.tile}, with what is kept after each:</p>"
            + markup.table(
                ["keys seen", "m", "factor", "ℓ", "o", "o / ℓ"], rows, label="What is kept"
            )
        )


def _numbers(name: str, value: Any, most: float, now: Sequence[float]) -> list[float]:
    array = checks.finite_array(name, value, ranks=(1,))
    if len(array) > _MOST_KEYS:
        raise ValueError(f"{name} must be at most {_MOST_KEYS} numbers, got {len(array)}")
    if np.abs(array).max() > most:
        raise ValueError(f"{name} must hold numbers up to {most:,.0f} in size")
    if now and len(array) != len(now):
        raise ValueError(f"{name} must be {len(now)} numbers, one for each key, got {len(array)}")
    return markup.tidy(array)
