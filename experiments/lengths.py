"""Ask small models texts four times as long as those that were learnt, with rotary scaling.

A text holds four facts such as "B is 7", each a token, in its first half, some questions such as
"B?" in its second half, one token in eight, and digits elsewhere. At a question the model names the
fact's digit, elsewhere it names the token to the left. Texts of 8 to 256 tokens are learnt: of a
head's eight pairs one turns more than 32 times in 256 tokens, three more than once and less than
that, and four less than once, so that every part of YaRN's rule has something to do. "loss" is the
mean −log p of all places, "previous" and "recall" are the shares right of the two kinds; in the
longest texts "recall to 512" is that of questions whose fact stands 257 to 512 tokens back. Scaling
is switched on at the test, by a factor of 4, in a model that was trained without. ALiBi has eight
heads, as in "positions", and once two, of the rotary model's size.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from attnbook.further.longer import Scaling
from attnbook.positions import Pace, Rotary
from attnbook.transformer import LanguageModel, ModelConfig
from attnlab.models.recipe import fit
from attnlab.training.metrics import evaluating
from attnlab.training.schedules import warmup_cosine
from attnlab.training.seeds import seeded
from experiments.harness import run

D_MODEL, SHORTEST, TRAINED, FACTOR, STEPS, BATCH = 32, 8, 256, 4, 2_000, 16
NAMES, DIGITS, TESTED = 4, 10, 200
FACTS, QUESTIONS = DIGITS, DIGITS + NAMES * DIGITS  # where their tokens begin
VOCABULARY = QUESTIONS + NAMES
KINDS: tuple[Literal["interpolation", "ntk", "yarn", "llama3"], ...] = (
    "interpolation",
    "ntk",
    "yarn",
    "llama3",
)
MODELS = {
    "rotary": {"positions": "rope", "heads": 2},
    "ALiBi": {"positions": "alibi", "heads": 8},
    "ALiBi, 2 heads": {"positions": "alibi", "heads": 2},
}
AGAIN = ("rotary", 0)
TOLERANCE = {"as trained, 256, previous": 0.02, "as trained, 256, recall": 0.05}


class SameLength(Scaling):
    """A scaling that makes no query and no key longer."""

    @property
    def stretch(self) -> float:
        """Leave them as long as they are."""
        return 1.0


class Texts(NamedTuple):
    """Some b texts of n tokens, and what is to be said at each place."""

    tokens: Tensor  # (b, n)
    wanted: Tensor  # (b, n); −1 where nothing is asked
    back: Tensor  # (b, n); of a question, how many tokens back its fact stands, else 0


def texts(n: int, b: int, draws: torch.Generator) -> Texts:
    """Draw ``b`` texts of ``n`` tokens."""
    tokens = torch.randint(DIGITS, (b, n), generator=draws)
    values = torch.randint(DIGITS, (b, NAMES), generator=draws)
    half, asked = n // 2, max(n // 8, 1)
    places = torch.rand(b, half, generator=draws).argsort(-1)[:, :NAMES]
    tokens.scatter_(1, places, FACTS + DIGITS * torch.arange(NAMES) + values)
    later = half + torch.rand(b, n - half, generator=draws).argsort(-1)[:, :asked]
    names = torch.randint(NAMES, (b, asked), generator=draws)
    tokens.scatter_(1, later, QUESTIONS + names)
    wanted = torch.cat((torch.full((b, 1), -1), tokens[:, :-1]), dim=1)
    back = torch.zeros_like(tokens).scatter(1, later, later - places.gather(1, names))
    return Texts(tokens, wanted.scatter(1, later, values.gather(1, names)), back)


def wrong(model: LanguageModel, asked: Texts) -> Tensor:
    """Average −log p(wanted) over all places."""
    logits = model(asked.tokens)
    return cross_entropy(logits.flatten(0, 1), asked.wanted.flatten(), ignore_index=-1)


def training(seed: int) -> list[Texts]:
    """Draw the batches that one model learns from."""
    draws = torch.Generator().manual_seed(seed)
    lengths = torch.randint(SHORTEST, TRAINED + 1, (STEPS,), generator=draws).tolist()
    return [texts(n, BATCH, draws) for n in lengths]


def held_out(seed: int, count: int = TESTED) -> dict[int, Texts]:
    """Draw texts of the longest length that was learnt, of twice it and of four times it."""
    draws = torch.Generator().manual_seed(1_000 + seed)
    return {n: texts(n, count, draws) for n in (TRAINED, 2 * TRAINED, FACTOR * TRAINED)}


def data() -> list[Any]:
    """Return, with one seed, some of what is learnt and all that is tested on."""
    return [training(0)[:50], list(held_out(0).values())]


def trained(seed: int, positions: Literal["rope", "alibi"], heads: int) -> LanguageModel:
    """Train one model on short texts."""
    learnt = training(seed)
    with seeded(seed):
        model = LanguageModel(
            VOCABULARY,
            ModelConfig(d_model=D_MODEL, n_heads=heads, n_layers=1, d_ff=64, positions=positions),
        )
    fit(model, learnt, wrong, steps=STEPS, lr=3e-3, schedule=warmup_cosine(100, STEPS), seed=seed)
    return model


def measure(seed: int, *, asked: int | None = None, **options: Any) -> dict[str, float]:
    """Train one model; return its losses and shares, as trained and with each scaling."""
    model = trained(seed, **options)
    found: dict[str, float] = {}
    ropes = [part for part in model.modules() if isinstance(part, Rotary)]
    scalings: dict[str, Scaling] = {}
    if ropes:
        scalings = {kind: Scaling(kind, FACTOR, TRAINED) for kind in KINDS}
        scalings["yarn, no longer"] = SameLength("yarn", FACTOR, TRAINED)
    for name, scaling in {"as trained": Pace(), **scalings}.items():
        for rope in ropes:
            rope.scaling = scaling
        for n, long in held_out(seed, asked or TESTED).items():
            found |= {f"{name}, {n}, {what}": x for what, x in judged(model, long).items()}
    return found


def judged(model: LanguageModel, long: Texts) -> dict[str, float]:
    """Return a model's loss and its two shares on some texts."""
    with evaluating(model):
        logits = model(long.tokens)
    right, real = logits.argmax(-1) == long.wanted, long.wanted >= 0
    question = long.tokens >= QUESTIONS
    loss = cross_entropy(logits.flatten(0, 1), long.wanted.flatten(), ignore_index=-1)
    found = {
        "loss": float(loss),
        "previous": float(right[real & ~question].double().mean()),
        "recall": float(right[question].double().mean()),
    }
    if long.tokens.shape[1] == FACTOR * TRAINED:
        for most in range(TRAINED, FACTOR * TRAINED + 1, TRAINED):
            there = question & (most - TRAINED < long.back) & (long.back <= most)
            found[f"recall to {most}"] = float(right[there].double().mean())
    return found


if __name__ == "__main__":
    run(__file__)
