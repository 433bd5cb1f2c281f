"""Lecture 11's control for tied weights: what the shared matrix costs, and what its first weights.

A tied decoder's logits begin as an echo: a vector that still carries the embedding of the word just
read is multiplied with the table of embeddings. Every arm starts from the same model but for its
output matrix, and takes the 300 steps of ``experiments.transformer``. An own matrix begins as a
copy of the embeddings (the same echo, no sharing), as that copy with its rows in another order (the
same numbers, no echo), or as ``torch.nn.Linear`` has it (smaller numbers, no echo).
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from attnbook.transformer import ModelConfig, Seq2Seq
from attnlab.language.batching import Batch
from attnlab.models import Lesson, translation, write
from attnlab.models.recipe import learn
from attnlab.training.losses import PAD, teacher_forced
from attnlab.training.metrics import evaluating, exact_match, perplexity
from attnlab.training.seeds import seeded
from experiments.harness import run, some

Output = Literal["tied", "copy", "shuffled", "fresh"]
MODELS: dict[str, dict[str, Output]] = {
    "tied": {"output": "tied"},
    "own matrix, begun as the embeddings": {"output": "copy"},
    "own matrix, begun as the embeddings shuffled": {"output": "shuffled"},
    "own matrix": {"output": "fresh"},
}
AGAIN = ("tied", 0)
TOLERANCE = {"exact match": 0.15, "echo": 0.1}


def begin(lesson: Lesson, seed: int, output: Output) -> Seq2Seq:
    """Return a model with its first weights: the same in every arm but for the output matrix."""
    with seeded(seed):
        model = Seq2Seq(
            len(lesson.source),
            len(lesson.target),
            ModelConfig(d_model=128, n_heads=4, d_ff=256, tied=True),
        )
        if output != "tied":
            embeddings = model.embed_target.tokens.weight  # (N, d_model)
            model.output = nn.Linear(*reversed(embeddings.shape), bias=False)
            with torch.no_grad():
                if output == "copy":
                    model.output.weight.copy_(embeddings)
                elif output == "shuffled":
                    model.output.weight.copy_(embeddings[torch.randperm(len(embeddings))])
    return model


def echo(model: nn.Module, batches: list[Batch]) -> float:
    """Return the share of rows whose likeliest word is the one just read."""
    same: list[Tensor] = []
    with evaluating(model):
        for batch in batches:
            real = batch.target_out != PAD
            best = teacher_forced(model, batch).argmax(-1)
            same.append((best == batch.target_in)[real])
    return torch.cat(same).double().mean().item()


def data() -> list[Lesson]:
    """Return all that is learnt and tested on."""
    return [translation()]


def measure(seed: int, *, output: Output, asked: int | None = None) -> dict[str, float]:
    """Train one model for 300 steps; ``echo`` is measured before the first."""
    lesson = some(translation(), asked)
    model, held_out = begin(lesson, seed, output), lesson.batches(lesson.test)
    found = {"echo": echo(model, held_out)}
    learn(
        model,
        lesson.examples(lesson.train),
        steps=300,
        warmup=100,
        lr=2e-3,
        batch_size=64,
        seed=seed,
        progress=False,
    )
    wanted = [pair.target for pair in lesson.test]
    return found | {
        "exact match": exact_match(write(model, lesson, lesson.test), wanted),
        "perplexity": perplexity(model, held_out),
    }


if __name__ == "__main__":
    run(__file__)
