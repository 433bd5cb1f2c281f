"""A memory of 2 × 2 numbers, written pair by pair: what each key, asked, gives back."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import traitlets

from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled
from attnlab.widgets.core.markup import bracket

__all__ = ["Memory"]

_LARGEST = 1e6  # of a value
_LONGEST = 2  # of the third key
_WRITES = {"sum": "the sum", "delta": "the delta rule", "phi": "the sum, through φ"}


class _State(NamedTuple):
    """What is kept after some writes: S (2, 2), and z (2,), which only φ asks for."""

    memory: np.ndarray
    total: np.ndarray


class Memory(Widget, kind="memory"):
    """Write values under keys into a 2 × 2 matrix S, and ask it with each key.

    sum:    S ← g S + kᵀ v                      read  q S
    delta:  S ← g S + β kᵀ (v − k g S)          read  q S
    phi:    S ← g S + φ(k)ᵀ v, z ← g z + φ(k)   read  φ(q) S / (φ(q) · z),  φ(x) = elu(x) + 1

    The first two keys are (1, 0) and (0, 1); the third, where there is one, stands at an angle.

    Args:
        values: (3, 2), each at most 1e6 in size; the third is kept for a third key.
        third: write a third pair, too.
        angle: of the third key, in degrees from the first, 0 to 360.
        length: of the third key, 0 to 2.
        write: "sum", "delta" or "phi".
        decay: g, from 0 to 1; beta: β, from 0 to 1, which only the delta rule asks for.
        step: how many pairs are written at first, 0 to 2 or 3 (−1 is all).

    The traits follow the reader's hand.

    Raises: ValueError for shapes, words or numbers that do not fit.
    Source: Katharopoulos et al. (2020); Schlag, Irie and Schmidhuber (2021).
    """

    values = traitlets.List().tag(sync=True, rule=lambda self, _, value: _values(value))
    third = ruled(traitlets.Bool(False), checks.switch)
    angle = ruled(traitlets.Float(45.0), checks.between, least=0, most=360)
    length = ruled(traitlets.Float(1.0), checks.between, least=0, most=_LONGEST)
    write = ruled(traitlets.Unicode("sum"), checks.one_of, choices=tuple(_WRITES))
    decay = ruled(traitlets.Float(1.0), checks.between, least=0, most=1)
    beta = ruled(traitlets.Float(1.0), checks.between, least=0, most=1)
    step = ruled(traitlets.Int(0), checks.index_of, count=lambda self: self._pairs() + 1)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        values: Any = ((3, 1), (-1, 2), (1, 3)),
        *,
        third: bool = False,
        angle: float = 45.0,
        length: float = 1.0,
        write: str = "sum",
        decay: float = 1.0,
        beta: float = 1.0,
        step: int = -1,
        caption: str = "",
    ) -> None:
        key = {"angle": angle, "length": length}
        how = {"write": write, "decay": decay, "beta": beta}
        start = {"values": values, "third": third, **key, **how, "step": step}
        super().__init__(caption=caption, start=start)

    @property
    def key(self) -> np.ndarray:
        """The keys that there are, (2, 2) or (3, 2)."""
        turn = math.radians(self.angle)
        third = [self.length * math.cos(turn), self.length * math.sin(turn)]
        return np.array([[1.0, 0.0], [0.0, 1.0], third][: self._pairs()])

    @property
    def memory(self) -> np.ndarray:
        """S after the pairs that have been written, (2, 2)."""
        return self._states()[self.step].memory

    @property
    def read(self) -> np.ndarray:
        """What each key, asked now, gives back, (2, 2) or (3, 2)."""
        return self._asked(self._states()[self.step])

    def _pairs(self) -> int:
        return 3 if self.third else 2

    def _features(self) -> np.ndarray:
        """The keys, as they are or through φ."""
        key = self.key
        phi = self.write == "phi"
        return np.where(key > 0, key + 1, np.exp(np.minimum(key, 0))) if phi else key

    def _states(self) -> list[_State]:
        found = [_State(np.zeros((2, 2)), np.zeros(2))]
        for key, value in zip(self._features(), np.array(self.values, dtype=float), strict=False):
            memory, total = (self.decay * part for part in found[-1])
            new = self.beta * (value - key @ memory) if self.write == "delta" else value
            found.append(_State(memory + np.outer(key, new), total + key))
        return found

    def _asked(self, state: _State) -> np.ndarray:
        queries = self._features()
        read = queries @ state.memory
        if self.write != "phi":
            return read
        totals = (queries @ state.total)[:, None]
        return np.divide(read, totals, out=np.zeros_like(read), where=totals > 0)

    @traitlets.observe("third")
    def _stay_within(self, _: Any) -> None:
        self.step = min(self.step, self._pairs())

    def _summary(self) -> str:
        return f"{_WRITES[self.write]}, {self.step} of {self._pairs()} pairs written"

    def _fallback(self) -> str:
        rows = []
        for place, (state, key) in enumerate(zip(self._states()[1:], self.key, strict=True)):
            read = [bracket(one) for one in self._asked(state)[: place + 1]]
            read += ["–"] * (self._pairs() - len(read))
            value = bracket(self.values[place])
            rows.append([str(place + 1), bracket(key), value, _matrix(state.memory), *read])
        asked = [f"k{'₁₂₃'[place]} reads" for place in range(self._pairs())]
        beta = f", β = {markup.plain(self.beta)}" if self.write == "delta" else ""
        return (
            f"<p>Pairs written into a 2 × 2 memory by {_WRITES[self.write]},"
            f" g = {markup.plain(self.decay)}{beta}; S, and what each key then reads:</p>"
            + markup.table(["write", "key", "value", "S", *asked], rows, label="Write by write")
        )


def _matrix(rows: Any) -> str:
    return "; ".join(bracket(row) for row in rows)


def _values(value: Any) -> list[Any]:
    array = checks.finite_array("values", value, ranks=(2,))
    if array.shape != (3, 2):
        raise ValueError(f"values must have the shape (3, 2), got shape {array.shape}")
    if np.abs(array).max() > _LARGEST:
        raise ValueError(f"values must hold numbers up to {_LARGEST:,.0f} in size")
    return markup.tidy(array)
