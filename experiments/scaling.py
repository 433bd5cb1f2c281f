"""Compare the divisors of the dot product in training: none, √d and d, under SGD and Adam.

Each word of a sentence of five must fetch the two numbers that another word carries (the task of
lecture 6); a layer learns W^Q and W^K (7, d_k) and W^V (7, 2), drawn so that the components of
queries and keys begin with variance 1. 300 steps of 64 new sentences, no schedule, no clipping.

Every divisor is trained at every size and every rate of one grid. Then W^Q and W^K get a rate of
their own, which tells what a divisor does to the start of a training from what it does to the
steps: a step moves the scores by about rate · d/s² times a gradient under SGD, and by about
rate · d/s under Adam. W^V is given a rate of its own as well: scores that move too far in a step
and scores that run ahead of the values may leave the same rows behind.

Each layer is trained a second time, from starting weights that differ in their last digits. Where
its last losses move, so does what is counted of it, from one processor to the next.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import SGD, Adam, Optimizer

from attnbook.attention import Attended, attention
from attnlab.models.recipe import fit
from attnlab.training.seeds import seeded
from experiments.harness import run

STEPS, BATCH, HELD_OUT = 300, 64, 1_000
LONG = (3_000, 30_000)
STUCK = 0.01  # a kind of word is stuck if its partner gets less than this, on average
ASKS_FOR = (1, 2, 0, 2, 1)  # the kind of word whose numbers each kind wants
SEEDS = tuple(range(12))
DIVISORS = {"none": 0.0, "√d": 0.5, "d": 1.0}
SIZES = (8, 64, 512, 4_096)
RATES = {"SGD": (0.3, 1.0, 3.0, 5.0, 6.0), "Adam": (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)}
NUDGE = 1e-7  # by this part of itself each starting weight is larger or smaller, the second time
OPTIMISERS = {"SGD": SGD, "Adam": Adam}
APART: dict[str, dict[str, Any]] = (
    {  # the rate of W^Q and W^K, then that of W^V
        "SGD, none, 3/512 and 3": {"divisor": "none", "rate_qk": 3 / 512, "rate": 3.0},
        "SGD, d, 3·512 and 3": {"divisor": "d", "rate_qk": 3.0 * 512, "rate": 3.0},
    }
    | {  # 4,096 is 512 times 8
        f"Adam, √d, {rate}/√512 and {rate}, d_k = 4096": {
            "optimiser": "Adam",
            "divisor": "√d",
            "rate_qk": rate / math.sqrt(512),
            "rate": rate,
            "d_k": 4_096,
        }
        for rate in (0.03, 0.1, 0.3)
    }
    | {
        f"Adam, {divisor}, {rate} and {10 * rate:g}, d_k = 4096": {
            "optimiser": "Adam",
            "divisor": divisor,
            "rate_qk": rate,
            "rate": 10 * rate,
            "d_k": 4_096,
        }
        for divisor in ("none", "√d")
        for rate in (0.03, 0.1, 0.3)
    }
)
MODELS = (
    {
        f"{optimiser}, {divisor}, {rate}, d_k = {d_k}": {
            "optimiser": optimiser,
            "divisor": divisor,
            "rate": rate,
            "d_k": d_k,
        }
        for optimiser, rates in RATES.items()
        for divisor in DIVISORS
        for d_k in SIZES
        for rate in rates
    }
    | APART
    | {
        f"SGD, none, 3/512 and 3, {steps} steps": APART["SGD, none, 3/512 and 3"] | {"steps": steps}
        for steps in LONG
    }
)
AGAIN = ("SGD, √d, 3.0, d_k = 512", 0)
TOLERANCE = {"error": 0.005, "stuck": 0, "moved": 0.005}


class Sentences(NamedTuple):
    """Vectors (n, 5, 7), whether j is the partner of i (n, 5, 5), wanted numbers (n, 5, 2)."""

    vectors: Tensor
    partner: Tensor
    wanted: Tensor


def sentences(n: int, seed: int) -> Sentences:
    """Draw n sentences of five words: a word is a one-hot kind and two numbers in −1 … 1."""
    chance = torch.Generator().manual_seed(seed)
    kind = torch.rand(n, 5, generator=chance).argsort(-1)
    carried = 2 * torch.rand(n, 5, 2, generator=chance) - 1
    partner = kind[:, None, :] == torch.tensor(ASKS_FOR)[kind][:, :, None]
    vectors = torch.cat([torch.eye(5)[kind], carried], -1)
    return Sentences(vectors, partner, partner.to(carried) @ carried)


class Fetching(nn.Module):
    """Attention over words x (b, 5, 7) with the scores (x W^Q)(x W^K)ᵀ / divisor."""

    def __init__(self, d_k: int, divisor: float) -> None:
        super().__init__()
        # a word's squared length is 1 + 2/3 on average: so each component has variance 1
        self.w_q, self.w_k = (nn.Parameter(0.6**0.5 * torch.randn(7, d_k)) for _ in "qk")
        self.w_v = nn.Parameter(torch.randn(7, 2) / 7**0.5)
        self.divisor = divisor

    def forward(self, x: Tensor) -> Attended:
        """Return what each word fetches, (b, 5, 2), and the weights."""
        # W^Q W^Kᵀ first: the same scores in far fewer multiplications
        return attention(x @ (self.w_q @ self.w_k.mT), x, x @ self.w_v, score=self.score)

    def score(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the scores (b, 5, 5)."""
        return query @ key.mT / self.divisor


def squared_error(model: Fetching, batch: Sentences) -> Tensor:
    """Return the mean squared error of what the words fetch."""
    return ((model(batch.vectors).output - batch.wanted) ** 2).mean()


def data() -> list[list[Tensor]]:
    """Return some of what is learnt, and what is tested on with the first seed."""
    return [list(sentences(BATCH, 0)), list(sentences(12, 1_000_000))]


def measure(
    seed: int,
    *,
    divisor: str,
    rate: float,
    rate_qk: float | None = None,
    optimiser: str = "SGD",
    d_k: int = 512,
    steps: int = STEPS,
    asked: int | None = None,
) -> dict[str, float]:
    """Train one layer twice; return its error, how many kinds of word are stuck, how far it moved.

    The error is that on new sentences; ``moved`` is the largest difference between the two
    trainings in a batch's error, over the last tenth of the steps. The error of a training that
    diverges is infinite, and none of its words is stuck.
    """

    def drawn(epoch: int) -> Iterator[Sentences]:
        first = (seed * 1_000 + epoch) * STEPS
        return (sentences(BATCH, first + step) for step in range(STEPS))

    def make(weights: list[Tensor], lr: float) -> Optimizer:
        w_q, w_k, w_v = weights
        apart = {"params": [w_q, w_k], "lr": rate_qk or lr}
        return OPTIMISERS[optimiser]([apart, {"params": [w_v]}], lr=lr)

    def trained(nudge: float) -> tuple[Fetching, Tensor]:
        with seeded(seed):
            model = Fetching(d_k, d_k ** DIVISORS[divisor])
        shift(model, nudge)
        how = {"steps": steps, "lr": rate, "optimizer": make, "clip": None, "seed": seed}
        try:
            history = fit(model, drawn, squared_error, **how, progress=False)
        except ValueError:  # train refuses a loss that is not finite
            return model, torch.full((max(1, steps // 10),), math.inf, dtype=torch.float64)
        return model, torch.tensor(history.losses[-max(1, steps // 10) :], dtype=torch.float64)

    (model, errors), (_, again) = (trained(nudge) for nudge in (0.0, NUDGE))
    moved = 0.0 if errors.equal(again) else (errors - again).abs().max().item()
    if not errors.isfinite().all():
        return {"error": math.inf, "stuck": 0.0, "moved": moved}
    x, partner, wanted = sentences(asked or HELD_OUT, 1_000_000 + seed)
    with torch.no_grad():
        output, weights = model(x)
    kind = x[..., :5].flatten(0, 1).T  # (5, 5n): a row for each kind, 1 where the word is of it
    on_partner = kind @ (weights * partner).sum(-1).flatten() / kind.sum(-1)
    return {
        "error": ((output - wanted) ** 2).mean().item(),
        "stuck": (on_partner < STUCK).sum().item(),
        "moved": moved,
    }


def shift(model: nn.Module, nudge: float) -> None:
    """Make each weight larger or smaller by this part of itself, in place."""
    signs = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            up = torch.rand(weight.shape, generator=signs) < 0.5
            weight *= 1 + nudge * (2 * up.to(weight) - 1)


if __name__ == "__main__":
    run(__file__)
