"""Compare where the norm goes: pre and post, without and with a warm-up, in a stack of 8 blocks.

One recipe for all, that of ``attnlab.models.language_model``: the corpus's English sentences,
d_model 64, 200 steps at a rate of at most 3e-3. The perplexity is that of the test sentences.
"""

from __future__ import annotations

from typing import Any, Literal

from torch import Tensor, nn

from attnlab.language import pad_batch
from attnlab.models import Lesson, language_model, translation
from attnlab.training.metrics import perplexity
from experiments.harness import run, some

MODELS = {
    "pre, no warm-up": {"norm": "pre", "warmup": 0},
    "post, no warm-up": {"norm": "post", "warmup": 0},
    "pre, 100 steps of warm-up": {"norm": "pre", "warmup": 100},
    "post, 100 steps of warm-up": {"norm": "post", "warmup": 100},
}
AGAIN = ("pre, no warm-up", 0)
TOLERANCE = {"perplexity": 4.0, "loss": 0.25}


def next_words(model: nn.Module, batch: Any) -> Tensor:
    """Return the logits of a model that reads a batch's targets, and no source."""
    return model(batch.target_in)


def data() -> list[Lesson]:
    """Return all that is learnt and tested on."""
    return [translation()]


def measure(
    seed: int, *, norm: Literal["pre", "post"], warmup: int, asked: int | None = None
) -> dict[str, float]:
    """Train one model; return its perplexity, and the mean loss of its last 20 steps."""
    lesson = some(translation(), asked)
    model, history = language_model(
        lesson, n_layers=8, d_model=64, d_ff=128, norm=norm, steps=200, warmup=warmup, seed=seed
    )
    held_out = [lesson.source.encode(pair.source) for pair in lesson.test]
    pairs = [(one, one) for one in held_out]
    batches = [pad_batch(pairs[i : i + 250]) for i in range(0, len(pairs), 250)]
    return {
        "perplexity": perplexity(model, batches, next_words),
        "loss": sum(history.losses[-20:]) / len(history.losses[-20:]),
    }


if __name__ == "__main__":
    run(__file__)
