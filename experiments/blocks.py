"""Compare what stands in a block: without a part, in another order, wider, with half a norm.

One recipe for all, that of lecture 10: the corpus's English sentences, d_model 64, batches of 64,
Adam at a rate that falls along a line to 0. The loss is the mean of the last 20 steps; cosine and
length are those of the words of 512 test sentences behind the last block, before its last norm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnbook.embeddings import Embeddings
from attnbook.multihead import MultiHeadAttention
from attnlab.language import batches
from attnlab.models import Lesson, translation
from attnlab.models.recipe import fit
from attnlab.models.transformers import next_word_loss
from attnlab.training import seeded
from experiments.harness import run

EIGHT, TWO = {"n_blocks": 8}, {"n_blocks": 2, "steps": 200}
SLOW = {"n_blocks": 8, "steps": 200, "rate": 1e-3}
MODELS = {
    "attention alone": {**EIGHT, "network": False, "norm": "none", "residual": False},
    "attention, sum": {**EIGHT, "network": False, "norm": "none"},
    "attention, sum, norm": {**EIGHT, "network": False},
    "whole block": EIGHT,
    "whole, without sums": {**EIGHT, "residual": False},
    "whole, without norms": {**EIGHT, "norm": "none"},
    "whole, size only": {**EIGHT, "norm": "size"},
    "whole, mean only": {**EIGHT, "norm": "mean"},
    "whole, from 0.001": SLOW,
    "without norms, from 0.001": {**SLOW, "norm": "none"},
    "post-norm": {**EIGHT, "post": True},
    "post-norm, from 0.001": {**SLOW, "post": True},
    "post-norm, 200 steps": {**EIGHT, "post": True, "steps": 200},
    "post-norm, 0.001, 100 steps": {**EIGHT, "post": True, "rate": 1e-3},
    "whole, 0.001, 100 steps": {**EIGHT, "rate": 1e-3},
    "without sums, from 0.001": {**SLOW, "residual": False},
    "no last norm": {**EIGHT, "last": False},
    "network first": {**EIGHT, "first": True},
    "two blocks, no networks": {**TWO, "network": False},
    "two blocks, d_ff = d_model": {**TWO, "wide": 1},
    "two blocks, d_ff = 4 d_model": {**TWO, "wide": 4},
}
AGAIN = ("whole block", 0)
TOLERANCE = {"loss": 0.3, "cosine": 0.1, "length": 10}
NORMS: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda x: x,
    "size": lambda x: functional.rms_norm(x, x.shape[-1:]),
    "mean": lambda x: x - x.mean(-1, keepdim=True),
}


class Block(nn.Module):
    """Attention, then a network, each with its norm and its sum, unless told otherwise."""

    def __init__(self, d_model: int, d_ff: int, **how: Any) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(d_model, 4)
        w_1, w_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.network = nn.Sequential(w_1, nn.ReLU(), w_2)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2))
        self.how = how

    def attend(self, x: Tensor) -> Tensor:
        return self.attention(x, causal=True)

    def forward(self, x: Tensor) -> Tensor:
        parts = [(self.attend, self.norms[0]), (self.network, self.norms[1])]
        parts = parts[:1] if not self.how.get("network", True) else parts
        for part, learned in reversed(parts) if self.how.get("first") else parts:
            norm = NORMS.get(self.how.get("norm", ""), learned)
            if self.how.get("post"):
                x = norm(x + part(x))
            else:
                x = part(norm(x)) + (x if self.how.get("residual", True) else 0)
        return x


class Model(nn.Module):
    """Lecture 10's language model."""

    def __init__(self, vocabulary: int, n_blocks: int, wide: int, last: bool, **how: Any) -> None:
        super().__init__()
        self.embed = Embeddings(vocabulary, 64)
        self.blocks = nn.ModuleList(Block(64, wide * 64, **how) for _ in range(n_blocks))
        self.norm = nn.LayerNorm(64) if last else nn.Identity()
        self.logits = nn.Linear(64, vocabulary)

    def words(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return x

    def forward(self, tokens: Tensor) -> Tensor:
        return self.logits(self.norm(self.words(tokens)))


def data() -> list[Lesson]:
    """Return all that is learnt."""
    return [translation()]


@torch.no_grad()
def melted(model: Model, lesson: Lesson) -> dict[str, float]:
    """Return the mean cosine of two words of a sentence, and the mean length of a word."""
    sentences = [lesson.source.encode(pair.source) for pair in lesson.test[:512]]
    (batch,) = batches([(sentence, sentence) for sentence in sentences], 512)
    x, real = model.words(batch.target_in), batch.target_in != 0
    way = functional.normalize(x, dim=-1)
    pairs = (real[:, :, None] & real[:, None, :]).triu(1)
    cosine = (way @ way.mT)[pairs].mean()
    return {"cosine": float(cosine), "length": float(x.norm(dim=-1)[real].mean())}


def measure(
    seed: int,
    *,
    n_blocks: int,
    steps: int = 100,
    rate: float = 3e-3,
    wide: int = 2,
    last: bool = True,
    asked: int | None = None,
    **how: Any,
) -> dict[str, float]:
    """Train one model; return the mean loss of its last 20 steps, and what became of its words."""
    lesson = translation()
    with seeded(seed):
        model = Model(len(lesson.source), n_blocks, wide, last, **how)
    sentences = [lesson.source.encode(pair.source) for pair in lesson.train]
    examples = [(sentence, sentence) for sentence in sentences]
    history = fit(
        model,
        lambda epoch: batches(examples, 64, seed=seed * 1_000 + epoch),
        next_word_loss,
        steps=steps,
        lr=rate,
        schedule=lambda step: 1 - (step - 1) / steps,
        seed=seed,
        progress=False,
    )
    loss = sum(history.losses[-20:]) / len(history.losses[-20:])
    return {"loss": loss, **melted(model, lesson)}


if __name__ == "__main__":
    run(__file__)
