"""Lecture 3's table: a translator without attention against Bahdanau's, on many pairs and on few.

``python -m experiments.attention`` trains the models that are not remembered; see ``harness``.
"""

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from attnbook.rnn import Encoded, RNNSeq2Seq
from attnlab.language import Pair
from attnlab.models import Lesson, looks, translation, translator, write
from attnlab.models.recurrent import SCORES
from attnlab.training.metrics import (
    alignment_accuracy,
    alignment_error_rate,
    argmax_links,
    bleu,
    exact_match,
    free_running,
    perplexity,
)
from attnlab.training.seeds import seeded
from experiments.harness import run, some, teach

# 800 steps of 64 show each of 2,000 pairs 26 times, 1,500 each of 24,000 four times
FEW = {"n": 2_000, "steps": 800}
MODELS: dict[str, dict[str, Any]] = {
    "24,000 pairs, no attention": {"order": "none"},
    # about as many parameters as Bahdanau's: 993,801 against 992,481
    "24,000 pairs, no attention, wider": {"order": "none", "d_model": 232},
    "24,000 pairs, no attention, twice the steps": {"order": "none", "steps": 3_000},
    "24,000 pairs, no attention, ten times the steps": {"order": "none", "steps": 15_000},
    # Bahdanau's decoder, whose context is lecture 1's summary at every step
    "24,000 pairs, the summary anew": {"order": "bahdanau", "score": "even", "anew": True},
    # every part of Bahdanau's but the score: each of n words is weighed 1/n
    "24,000 pairs, even weights": {"order": "bahdanau", "score": "even"},
    "24,000 pairs, Bahdanau": {"order": "bahdanau"},
    "2,000 pairs, no attention": {"order": "none", **FEW},
    "2,000 pairs, Bahdanau": {"order": "bahdanau", **FEW},
}
AGAIN = ("2,000 pairs, Bahdanau", 0)
TOLERANCE = {"exact match": 0.1, "combinations": 0.12, "BLEU": 5, "AER": 0.1, "noun": 0.05}
CONTENT = ("noun", "verb", "adjective", "adverb")
LONG = 12  # source words; 46 of the thousand test sentences have as many


def translate(model: RNNSeq2Seq, lesson: Lesson, pairs: Sequence[Pair]) -> tuple[float, float]:
    """Return the share of pairs that come out word for word, and BLEU."""
    written, wanted = write(model, lesson, pairs), [pair.target for pair in pairs]
    lines = [[" ".join(words) for words in side] for side in (written, wanted)]
    return exact_match(written, wanted), bleu(*lines, tokenize="none").score


def align(weights: Sequence[Tensor], pairs: Sequence[Pair]) -> dict[str, float]:
    """Compare the greatest weight of each word with the gold links."""
    rows = [matrix[:-1] for matrix in weights]  # the last row writes eos, which has no link
    gold = [pair.alignment for pair in pairs]
    links = [argmax_links(matrix) for matrix in rows]
    found = alignment_accuracy(rows, gold, [pair.target_classes for pair in pairs])
    right = sum(found.by_class[kind] * found.counts[kind] for kind in CONTENT)
    return {
        "AER": alignment_error_rate(links, gold),
        "all words": found.overall,
        "content words": right / sum(found.counts[kind] for kind in CONTENT),
        **found.by_class,  # "question": the words of a question's form, such as que
    }


def with_summary_anew(lesson: Lesson, seed: int) -> RNNSeq2Seq:
    """Train a translator whose annotations are n copies of the summary."""
    with seeded(seed):
        sizes = len(lesson.source), len(lesson.target), 192
        model = RNNSeq2Seq(*sizes, order="bahdanau", score=SCORES["even"](192))

    def copies(encoder: nn.Module, inputs: Any, found: Encoded) -> Encoded:
        return Encoded(found.summary[:, None].expand_as(found.annotations), found.summary)

    model.encoder.register_forward_hook(copies)
    teach(model, lesson, seed)
    return model


def data() -> list[Lesson]:
    """Return all that is learnt and tested on."""
    return [translation()]


def measure(
    seed: int, *, asked: int | None = None, n: int = 24_000, anew: bool = False, **settings: Any
) -> dict[str, float]:
    """Train one model and test it on the held-out pairs."""
    lesson = some(translation(n), asked)
    if anew:
        model = with_summary_anew(lesson, seed)
    else:
        model, _ = translator(lesson, seed=seed, progress=False, **settings)
    exact, score = translate(model, lesson, lesson.test)
    held_out = lesson.batches(lesson.test)
    long = [pair for pair in lesson.test if len(pair.source) >= LONG]
    found = {
        "exact match": exact,
        # a fingerprint's dozen pairs hold no long one
        "12 words or more": translate(model, lesson, long)[0] if long else 0.0,
        "BLEU": score,
        "combinations": translate(model, lesson, lesson.combinations)[0],
        "teacher-forced perplexity": perplexity(model, held_out),
        "free-running perplexity": perplexity(model, held_out, free_running),
    }
    if settings["order"] != "none" and settings.get("score") != "even":
        found |= align(looks(model, lesson, lesson.test), lesson.test)
    return found


if __name__ == "__main__":
    run(__file__)
