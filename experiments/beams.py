"""Beam search on lecture 1's translator, which has no attention, for k from 1 to 16.

Every measure is taken on the 1,000 held-out pairs: with score(y) = log p(y) / n, and, as "α = 0",
with score(y) = log p(y). By score(y) = log p(y) / n, what was found is

- a search error where a better-scored sentence is known, the reference or one that another of
  these beams found: a lower bound, since the best of all sentences may be known to none;
- a missed reference where it is not the reference, and the reference is better-scored;
- a model error where it is not the reference, and the reference is not better-scored.

The rows are the words read for living hypotheses until a sentence is settled, each sentence of
the first 100 searched alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from torch import Tensor

from attnbook.decoding import Hypothesis, beam_search
from attnbook.rnn import RNNSeq2Seq
from attnlab.models import Lesson, translation, translator
from attnlab.training.losses import teacher_forced
from attnlab.training.metrics import bleu, evaluating, exact_match
from experiments.harness import run, some

MODELS = {f"k = {k}": {"beam": k} for k in (1, 2, 4, 8, 16)}
AGAIN = ("k = 1", 0)
TOLERANCE = {
    "exact match": 0.1,
    "BLEU": 6.0,
    "words": 0.4,
    "log p": 0.6,
    "search errors": 0.1,
    "references missed": 0.1,
    "model errors": 0.15,
    "rows": 3.0,
}
MARGIN = 1e-3  # scores nearer than this may differ by rounding alone


class Counting:
    """A model that counts the words it reads for living hypotheses; for one sentence at a time."""

    def __init__(self, model: RNNSeq2Seq) -> None:
        self.start, self.reorder = model.start, model.reorder
        self._step, self.rows = model.step, 0

    def step(self, tokens: Tensor, state: Any) -> Any:
        first = bool((tokens == 1).all())  # bos, the same in all k places
        self.rows += 1 if first else int((tokens != 2).sum())  # eos: that place is empty now
        return self._step(tokens, state)


@cache
def trained(seed: int, asked: int | None) -> tuple[RNNSeq2Seq, Lesson]:
    """Train lecture 1's translator with this seed; return it and what it is tested on."""
    lesson = some(translation(), asked)
    model, _ = translator(lesson, order="none", seed=seed)
    return model, lesson


def data() -> list[Lesson]:
    """Return all that is learnt and tested on."""
    return [translation()]


@cache
def searched(seed: int, asked: int | None, beam: int, alpha: float) -> list[Hypothesis]:
    """Return the best hypothesis of each held-out sentence."""
    model, lesson = trained(seed, asked)
    found: list[Hypothesis] = []
    for batch in lesson.batches(lesson.test):
        options = {"max_length": int(batch.source_lengths.max()) + 10, "length_penalty": alpha}
        ranked = beam_search(model, batch.source, batch.source_lengths, beam=beam, **options)
        found += [one[0] for one in ranked]
    return found


def rows_read(seed: int, asked: int | None, beam: int) -> float:
    """Return how many words are read for a sentence, on the average of the first 100."""
    model, lesson = trained(seed, asked)
    counting = Counting(model)
    few = lesson.test[:100]
    for pair in few:
        batch = lesson.batches([pair])[0]
        options = {"max_length": len(pair.source) + 10, "length_penalty": 1.0}
        beam_search(counting, batch.source, batch.source_lengths, beam=beam, **options)
    return counting.rows / len(few)


@cache
def of_references(seed: int, asked: int | None) -> list[float]:
    """Return the score, log p(y | x) / n, of each held-out reference."""
    model, lesson = trained(seed, asked)
    found: list[float] = []
    with evaluating(model):
        for batch in lesson.batches(lesson.test):
            log_p = teacher_forced(model, batch).log_softmax(-1)  # (b, n_t, vocabulary)
            words = log_p.gather(-1, batch.target_out[..., None])[..., 0]
            found += words.masked_fill(batch.target_out == 0, 0).sum(-1).tolist()
    sizes = [len(pair.target) + 1 for pair in lesson.test]
    return [log_p / n for log_p, n in zip(found, sizes, strict=True)]


@cache
def best_known(seed: int, asked: int | None) -> list[float]:
    """Return, for each sentence, the best score of the reference and of what all beams found."""
    beams = [settings["beam"] for settings in MODELS.values()]
    scores = [[one.score for one in searched(seed, asked, beam, 1.0)] for beam in beams]
    return [max(known) for known in zip(*scores, of_references(seed, asked), strict=True)]


def errors(
    found: Sequence[Hypothesis], right: Sequence[bool], seed: int, asked: int | None
) -> dict[str, float]:
    """Return the shares of search errors, of references missed, and of model errors."""
    scores = [one.score + MARGIN for one in found]
    worse = [known > s for known, s in zip(best_known(seed, asked), scores, strict=True)]
    triples = zip(right, of_references(seed, asked), scores, strict=True)
    missed = sum(not is_right and reference > s for is_right, reference, s in triples)
    return {
        "search errors": sum(worse) / len(right),
        "references missed": missed / len(right),
        "model errors": (len(right) - sum(right) - missed) / len(right),
    }


def quality(found: Sequence[Hypothesis], lesson: Lesson) -> dict[str, float]:
    """Return exact match, BLEU, and the means of words and of log p."""
    written = [tuple(lesson.target.decode(one.tokens)) for one in found]
    wanted = [pair.target for pair in lesson.test]
    lines = [[" ".join(words) for words in side] for side in (written, wanted)]
    return {
        "exact match": exact_match(written, wanted),
        "BLEU": bleu(*lines, tokenize="none").score,
        "words": sum(map(len, written)) / len(written),
        "log p": sum(one.log_probability for one in found) / len(found),
    }


def measure(seed: int, *, beam: int, asked: int | None = None) -> dict[str, float]:
    """Search with a beam of this size, on lecture 1's translator of this seed."""
    lesson = trained(seed, asked)[1]
    found = searched(seed, asked, beam, 1.0)
    right = [
        tuple(lesson.target.decode(one.tokens)) == pair.target
        for one, pair in zip(found, lesson.test, strict=True)
    ]
    plain = quality(searched(seed, asked, beam, 0.0), lesson)
    return {
        **quality(found, lesson),
        **errors(found, right, seed, asked),
        "rows": rows_read(seed, asked, beam),
        **{f"{key}, α = 0": number for key, number in plain.items()},
    }


if __name__ == "__main__":
    run(__file__)
