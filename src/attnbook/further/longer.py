"""Rotary positions for texts longer than those of the training: slower clocks."""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from attnbook import _check
from attnbook.positions import Device, Pace, rotary_speeds

__all__ = ["Scaling"]


@dataclass(frozen=True)
class Scaling(Pace):
    """How ``Rotary`` is slowed down for texts ``factor`` times as long as the ``trained`` length.

    With s the factor, L the trained length and θ the speed of a pair, which turns θ L / 2π times
    in L tokens, the four kinds are

    - "interpolation": θ / s, so that a position p is taken for p / s;
    - "ntk": the base becomes base · s^(d / (d − 2)): the fastest pair stays, the slowest is θ / s;
    - "yarn": pairs of 32 turns or more stay, of one or fewer get θ / s, and between them the change
      grows evenly from pair to pair; queries and keys become longer, each by 0.1 ln s + 1. Where
      the change begins and ends falls between pairs: ``truncate`` rounds both outwards. The first
      pair stays however few turns it makes, so of a short L (below 64π, some 200 tokens) more is
      kept than the 32 turns say; below 2π tokens it alone stays, where transformers may slow none;
    - "llama3": pairs of 4 turns or more stay, of one or fewer get θ / s, and between them the
      change grows with the turns that are missing.

    Raises: ValueError for another kind, a factor below 1, and "yarn" or "llama3" without a
    ``trained`` length.
    Source: Chen et al. (2023) for "interpolation"; bloc97 (2023) for "ntk"; Peng et al. (2023)
    for "yarn", by the authors' code, which rounds (the paper's change grows with the turns that are
    missing instead, and gpt-oss does not round); the code of Llama 3.1 for "llama3".
    """

    kind: Literal["interpolation", "ntk", "yarn", "llama3"]
    factor: float
    trained: int | None = None
    truncate: bool = True  # of "yarn" alone

    def __post_init__(self) -> None:
        _check.one_of("kind", self.kind, ("interpolation", "ntk", "yarn", "llama3"))
        _check.must(self.factor >= 1, "factor", "be at least 1", self.factor)
        needless = self.kind in ("interpolation", "ntk")
        _check.must(self.trained or needless, "trained", "be a length", self.trained)

    @property
    def stretch(self) -> float:
        """By how much queries and keys become longer; their scores by its square."""
        return 0.1 * math.log(self.factor) + 1 if self.kind == "yarn" else 1.0

    def speeds(
        self, d: int, base: float, *, dtype: torch.dtype = torch.float32, device: Device = None
    ) -> Tensor:
        """Return the angle by which a step turns each pair, slowed: (d / 2,).

        Raises: as ``rotary_speeds``.
        """
        plain = rotary_speeds(d, base, dtype=dtype, device=device)
        if self.kind == "ntk":
            return rotary_speeds(d, base * self.factor ** (d / (d - 2)), dtype=dtype, device=device)
        slowed = self._slowed(plain, d, base)  # 0 where a pair stays as it is, 1 where it is θ / s
        return plain * (1 - slowed + slowed / self.factor)

    def _slowed(self, speeds: Tensor, d: int, base: float) -> Tensor:
        if self.kind == "interpolation" or self.trained is None:
            return torch.ones_like(speeds)
        if self.kind == "llama3":
            return ((4 - self.trained * speeds / (2 * math.pi)) / (4 - 1)).clamp(0, 1)
        # the pairs that would make 32 turns, and one, in the trained length
        per_e, turns = d / (2 * math.log(base)), self.trained / (2 * math.pi)
        first, last = per_e * math.log(turns / 32), per_e * math.log(turns)
        if self.truncate:
            first, last = math.floor(first), math.ceil(last)
        first, last = max(first, 0), min(last, d - 1)
        pair = torch.arange(d // 2, device=speeds.device, dtype=speeds.dtype)
        return ((pair - first) / max(last - first, 1e-3)).clamp(0, 1)
