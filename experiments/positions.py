"""Compare kinds of positions within and past the lengths that were trained, on strings of digits.

Each place of a string names the digit to its left. Strings of 2 to 12 digits are learnt; strings of
13 to 20 are asked too, and there the places up to 12 are counted apart from the later ones.

What may not be plain from a row's name: "random vectors" are drawn once and never learned, so that
no two of them are near and no matrix leads from each to the next; "multiplied" is the published
slip 10000^(2i/d) for 10000^(−2i/d): rotations without nearness; "begun anywhere" lets each string
that is learnt begin at a position of its own, from 0 to 8; "six directions" is the sinusoidal
model, asked without what lies outside of the six directions in which the first twelve positions are
longest. ALiBi has eight heads, for the slopes of two are all too flat for this task; "causal" hides
what stands to the right, which is the mask that ALiBi was published with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attnbook.embeddings import Embeddings
from attnbook.layers import Config, Encoder
from attnbook.masks import padding_mask
from attnbook.positions import Rotary, alibi_bias, sinusoidal
from attnlab.models.recipe import fit
from attnlab.training.metrics import evaluating
from attnlab.training.schedules import warmup_cosine
from attnlab.training.seeds import seeded
from experiments.harness import run

D_MODEL, TRAINED, LONGEST = 32, 12, 20
SHIFTS = LONGEST - TRAINED
MODELS: dict[str, dict[str, Any]] = {
    "no positions": {"kind": "none"},
    "random vectors": {"kind": "random"},
    "learned": {"kind": "learned"},
    "learned, begun anywhere": {"kind": "learned", "anywhere": SHIFTS},
    "learned, begun anywhere, 1,500 steps": {
        "kind": "learned",
        "anywhere": SHIFTS,
        "steps": 1_500,
    },
    "sinusoidal": {"kind": "sinusoidal"},
    "sinusoidal, 1,500 steps": {"kind": "sinusoidal", "steps": 1_500},
    "sinusoidal, six directions": {"kind": "sinusoidal", "directions": 6},
    "multiplied": {"kind": "multiplied"},
    "sinusoidal, begun anywhere": {"kind": "sinusoidal", "anywhere": SHIFTS},
    "rotary": {"kind": "rotary"},
    "ALiBi": {"kind": "alibi", "heads": 8},
    "causal, no positions": {"kind": "none", "heads": 8, "causal": True},
    "causal, ALiBi": {"kind": "alibi", "heads": 8, "causal": True},
}
AGAIN = ("learned", 0)
TOLERANCE = {"2–12": 0.02, "13–20, first 12": 0.05, "13–20, the rest": 0.06}


class Strings(NamedTuple):
    """Some b strings of the digits 1 to 10, padded with 0, and what is to be said of each place."""

    digits: Tensor  # (b, n)
    mask: Tensor  # (b, 1, n)
    wanted: Tensor  # (b, n)


class Random(nn.Module):
    """Add to each position a vector that was drawn once, as long as a sinusoidal one."""

    table: Tensor

    def __init__(self) -> None:
        super().__init__()
        draws = torch.Generator().manual_seed(99)  # the same vectors whatever the seed
        drawn = torch.randn(LONGEST, D_MODEL, generator=draws, dtype=torch.float64)
        self.register_buffer("table", drawn * 0.5**0.5)

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """Return x + the vectors of the positions from ``offset`` on."""
        return x + self.table[offset : offset + x.shape[-2]].to(x.dtype)


class Inside(nn.Module):
    """Add of each sinusoidal position what lies in the longest directions of those trained."""

    def __init__(self, directions: int) -> None:
        super().__init__()
        table = sinusoidal(LONGEST, D_MODEL, dtype=torch.float64)
        kept = torch.linalg.svd(table[:TRAINED]).Vh[:directions]
        self.table = table @ kept.T @ kept

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """Return x + what is kept of the positions from ``offset`` on."""
        return x + self.table[offset : offset + x.shape[-2]].to(x.dtype)


class Multiplied(nn.Module):
    """Add sin(pos · 10000^(2i / d)) and its cosine: the formula that multiplies."""

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """Return x + PE for the positions from ``offset`` on."""
        n, d = x.shape[-2:]
        speeds = 10_000.0 ** (torch.arange(0, d, 2, dtype=torch.float64) / d)
        angles = (offset + torch.arange(n))[:, None] * speeds  # (n, d / 2), precise
        return x + torch.stack((angles.sin(), angles.cos()), -1).flatten(-2).to(x.dtype)


APART: dict[str, Callable[[], nn.Module]] = {
    "random": Random,
    "multiplied": Multiplied,
}


class Tagger(nn.Module):
    """Say one digit at each place of a string.

    ``anywhere`` is the largest position at which a string may begin while the model is trained.
    """

    def __init__(
        self,
        kind: str,
        *,
        heads: int = 2,
        causal: bool = False,
        anywhere: int = 0,
    ) -> None:
        super().__init__()
        known = kind if kind in ("sinusoidal", "learned") else None
        rope = Rotary(D_MODEL // heads) if kind == "rotary" else None
        self.embed = Embeddings(11, D_MODEL, positions=known, max_length=LONGEST)
        self.encoder = Encoder(1, Config(D_MODEL, heads, 2 * D_MODEL, rope=rope))
        self.output = nn.Linear(D_MODEL, 11)
        self.slopes = heads if kind == "alibi" else 0
        self.causal, self.anywhere = causal, anywhere
        if kind in APART:
            self.embed.positions = APART[kind]()

    def forward(self, digits: Tensor, mask: Tensor) -> Tensor:
        """Return the logits (b, n, 11)."""
        b, n = digits.shape
        offset: int | Tensor = 0
        if self.anywhere and self.training:
            offset = torch.randint(0, self.anywhere + 1, (b,))
        x = self.embed(digits, offset=offset)
        bias = alibi_bias(self.slopes, n, dtype=x.dtype)[None] if self.slopes else None
        return self.output(self.encoder(x, mask, causal=self.causal, bias=bias))


def strings(shortest: int, longest: int, b: int, draws: torch.Generator) -> Strings:
    """Draw ``b`` strings, and the digit to the left of each place."""
    lengths = torch.randint(shortest, longest + 1, (b,), generator=draws)
    n = int(lengths.max())
    mask = padding_mask(lengths, n)
    digits = torch.randint(1, 11, (b, n), generator=draws) * mask[:, 0]
    left = (torch.arange(n) - 1).clamp(min=0).expand(b, n)  # the first has none before it
    wanted = digits.gather(1, left)
    return Strings(digits, mask, wanted * mask[:, 0])


def wrong(model: Tagger, asked: Strings) -> Tensor:
    """Average −log p(wanted) over the real places."""
    logits = model(asked.digits, asked.mask)
    return cross_entropy(logits.flatten(0, 1), asked.wanted.flatten(), ignore_index=0)


def training(seed: int, steps: int) -> list[Strings]:
    """Draw the batches that one model learns from."""
    draws = torch.Generator().manual_seed(seed)
    return [strings(2, TRAINED, 64, draws) for _ in range(steps)]


def held_out(seed: int, count: int = 1_000) -> tuple[Strings, Strings]:
    """Draw the strings of the lengths that were trained, and the longer ones."""
    draws = torch.Generator().manual_seed(1_000 + seed)
    short = strings(2, TRAINED, count, draws)
    return short, strings(TRAINED + 1, LONGEST, count, draws)


def data() -> list[Any]:
    """Return, with one seed, some of what is learnt and all that is tested on."""
    return [training(0, 50), held_out(0)]


def trained(seed: int, steps: int = 500, **options: Any) -> Tagger:
    """Train one model on strings of 2 to 12 digits."""
    learnt = training(seed, steps)
    with seeded(seed):
        model = Tagger(**options)
    # its seed also decides where the strings begin, for those that begin anywhere
    fit(model, learnt, wrong, steps=steps, lr=3e-3, schedule=warmup_cosine(100, steps), seed=seed)
    return model


def measure(
    seed: int, *, asked: int | None = None, directions: int = 0, **options: Any
) -> dict[str, float]:
    """Train one model; return its shares of right digits."""
    model = trained(seed, **options)
    if directions:
        model.embed.positions = Inside(directions)
    short, long = held_out(seed, asked or 1_000)
    with evaluating(model):
        right = [model(s.digits, s.mask).argmax(-1) == s.wanted for s in (short, long)]
    within, past = (r[s.wanted > 0] for r, s in zip(right, (short, long), strict=True))
    early = (torch.arange(long.wanted.shape[1]) < TRAINED).expand_as(long.wanted)[long.wanted > 0]
    return {
        "2–12": share(within),
        "13–20, first 12": share(past[early]),
        "13–20, the rest": share(past[~early]),
    }


def share(right: Tensor) -> float:
    """Return the share of True."""
    return float(right.double().mean())


if __name__ == "__main__":
    run(__file__)
