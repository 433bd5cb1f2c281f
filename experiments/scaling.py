"""Compare the divisors of the dot product in training: none, √d and d, under SGD and Adam.

Each word of a sentence of five must fetch the two numbers that another word carries (the task of
lecture 6); a layer learns W^Q and W^K (7, d_k) and W^V (7, 2), drawn so that the components of
queries and keys begin with variance 1. 300 steps of 64 new sentences, no schedule, no clipping.

With d_k = 512 every divisor is trained at every rate of a grid that is the same for all: a rate
is to be chosen by the mean error over the seeds in ``TUNING``, and reported over the others. With
other d_k there are two rates for all. The smallest rate is trained ten times as long, too, and so
is d at its own best: this tells layers that are slow from layers that are stuck.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import SGD, Adam

from attnbook.attention import Attended, attention
from attnlab.models.recipe import fit
from attnlab.training.seeds import seeded
from experiments.harness import run

STEPS, LONG, BATCH, HELD_OUT = 300, 3_000, 64, 1_000
ASKS_FOR = (1, 2, 0, 2, 1)  # the kind of word whose numbers each kind wants
TUNING, REPORTED = (100, 101, 102), tuple(range(12))
SEEDS = (*TUNING, *REPORTED)
DIVISORS = {"none": 0.0, "√d": 0.5, "d": 1.0}
RATES = {"SGD": (0.3, 1.0, 3.0, 5.0, 10.0), "Adam": (0.003, 0.01, 0.03, 0.1)}
SLOW = (*((divisor, 0.3) for divisor in DIVISORS), ("d", 5.0))
OPTIMISERS = {"SGD": SGD, "Adam": Adam}
MODELS = (
    {
        f"{optimiser}, {divisor}, {rate}": {
            "optimiser": optimiser,
            "divisor": divisor,
            "rate": rate,
        }
        for optimiser, rates in RATES.items()
        for divisor in DIVISORS
        for rate in rates
    }
    | {
        f"SGD, {divisor}, {rate}, d_k = {d_k}": {"divisor": divisor, "rate": rate, "d_k": d_k}
        for rate in (3.0, 5.0)
        for divisor in DIVISORS
        for d_k in (8, 64, 4096)
    }
    | {
        f"SGD, {divisor}, {rate}, {LONG} steps": {"divisor": divisor, "rate": rate, "steps": LONG}
        for divisor, rate in SLOW
    }
)
AGAIN = ("SGD, √d, 3.0", 0)
TOLERANCE = {"error": 0.005, "partner found": 0.02}


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
    optimiser: str = "SGD",
    d_k: int = 512,
    steps: int = STEPS,
    asked: int | None = None,
) -> dict[str, float]:
    """Train one layer; return its error on new sentences, and how many words find their partner.

    The error of a training that diverges is infinite. Of a long training also the mean weights of
    its worst kind of word, which has least for its partner: that on the partner, and the greatest.
    """
    with seeded(seed):
        model = Fetching(d_k, d_k ** DIVISORS[divisor])

    def drawn(epoch: int) -> list[Sentences]:
        first = (seed * 1_000 + epoch) * STEPS
        return [sentences(BATCH, first + step) for step in range(STEPS)]

    make = OPTIMISERS[optimiser]
    try:
        fit(
            model,
            drawn,
            squared_error,
            steps=steps,
            lr=rate,
            optimizer=make,
            clip=None,
            seed=seed,
            progress=False,
        )
    except ValueError:  # train refuses a loss that is not finite
        return {"error": math.inf, "partner found": 0.0}
    x, partner, wanted = sentences(asked or HELD_OUT, 1_000_000 + seed)
    with torch.no_grad():
        output, weights = model(x)
    found = partner.gather(-1, weights.argmax(-1, keepdim=True))
    measures = {
        "error": ((output - wanted) ** 2).mean().item(),
        "partner found": found.float().mean().item(),
    }
    if steps > STEPS:
        kinds = x[..., :5].argmax(-1).flatten()
        kind = torch.stack([kinds == number for number in range(5)]).to(x)  # (5, 5n)
        both = torch.stack([(weights * partner).sum(-1), weights.amax(-1)], -1).flatten(0, 1)
        on_partner, greatest = (kind @ both / kind.sum(-1, keepdim=True)).unbind(-1)
        worst = on_partner.argmin()
        measures["worst kind, on partner"] = on_partner[worst].item()
        measures["worst kind, greatest"] = greatest[worst].item()
    return measures


if __name__ == "__main__":
    run(__file__)
