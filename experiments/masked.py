"""Compare what fills blanks: a masked model, a causal one, and counted words.

Each word of 1,000 test sentences is a blank in turn, and all else is given. "masked" sees both
sides. "causal" sees the left side alone, and "causal, each word tried" puts every word of the
vocabulary into the blank and takes the sentence of the greatest probability, in every fifth
sentence alone, for it reads a thousand times as much. The two kinds are one stack trained by one
recipe, that of ``attnlab.models.masked.text_model``. "both neighbours, counted"
takes the word that stood most often between these two in the training sentences, and where they
never met, the one that is most frequent after the first and before the second, taken apart.

A guess is right if it is the word that stood there, and fits if the grammar of the corpus could
have written the sentence with it. The shares right are given by class of word too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from typing import Any

from attnlab.language.grammar import accepts
from attnlab.models import Lesson, translation
from attnlab.models.masked import blanks, every_word_tried, masked_vocabulary, text_model
from experiments.harness import run, some

STEPS = 1_200
MODELS = {
    "masked": {"kind": "masked"},
    "causal": {"kind": "causal"},
    "causal, each word tried": {"kind": "tried"},
    "both neighbours, counted": {"kind": "neighbours"},
    "most frequent word": {"kind": "frequency"},
}
AGAIN = ("masked", 0)
TOLERANCE = {"right": 0.04, "fits": 0.06}
LEAST = 100  # blanks that a class of word must have, to stand in the table

Guess = Callable[[tuple[str, ...]], list[str]]  # of a sentence, a word for each place


def data() -> list[Lesson]:
    """Return all that is learnt and tested on."""
    return [translation()]


def measure(seed: int, *, kind: str, asked: int | None = None) -> dict[str, float]:
    """Train one model, fill the blanks; return the shares of guesses that are right and fit."""
    lesson = translation()
    classes = Counter(c for pair in lesson.test for c in pair.source_classes)
    guess = {"neighbours": by_neighbours, "frequency": by_frequency}.get(kind)
    answer = by_model(lesson, seed, kind) if guess is None else guess(lesson)
    right: dict[str, list[bool]] = defaultdict(list)
    fits: list[bool] = []
    for pair in some(lesson, asked).test[:: 5 if kind == "tried" else 1]:
        words = pair.source
        for t, (word, guessed) in enumerate(zip(words, answer(words), strict=True)):
            right["right"].append(word == guessed)
            right[f"right, {pair.source_classes[t]}"].append(word == guessed)
            fits.append(word == guessed or fitting((*words[:t], guessed, *words[t + 1 :])))
    names = ["right", *(f"right, {c}" for c, n in classes.most_common() if n >= LEAST)]
    return {"fits": sum(fits) / len(fits)} | {
        name: sum(right[name]) / max(len(right[name]), 1) for name in names
    }


@cache
def fitting(words: tuple[str, ...]) -> bool:
    """Say whether the grammar could have written these words."""
    return accepts(words, one_clause=True)


def by_model(lesson: Lesson, seed: int, kind: str) -> Guess:
    """Train a model, and let it fill each blank with its most probable word."""
    vocabulary = masked_vocabulary(lesson)
    model, _ = text_model(lesson, causal=kind != "masked", steps=STEPS, seed=seed)
    log_p = partial(every_word_tried if kind == "tried" else blanks, model)

    def guess(words: tuple[str, ...]) -> list[str]:
        best = log_p(vocabulary.encode(words)).argmax(dim=-1)
        return [vocabulary.tokens[number] for number in best.tolist()]

    return guess


def by_frequency(lesson: Lesson) -> Guess:
    """Fill every blank with the most frequent word."""
    counts = Counter(word for pair in lesson.train for word in pair.source)
    ((best, _),) = counts.most_common(1)
    return lambda words: [best] * len(words)


def by_neighbours(lesson: Lesson) -> Guess:
    """Fill a blank by how often each word stood between, after and before its neighbours."""
    between: dict[Any, Counter[str]] = defaultdict(Counter)
    after: dict[str, Counter[str]] = defaultdict(Counter)
    before: dict[str, Counter[str]] = defaultdict(Counter)
    counts: Counter[str] = Counter()
    for pair in lesson.train:
        padded = ("<bos>", *pair.source, "<eos>")
        for (one, word), (_, other) in pairwise(pairwise(padded)):
            between[one, other][word] += 1
            counts[word] += 1
        for one, other in pairwise(padded):
            after[one][other] += 1
            before[other][one] += 1

    def best(one: str, other: str) -> str:
        met = between.get((one, other))
        if met:
            return max(sorted(met), key=met.__getitem__)

        def apart(word: str) -> float:
            return (after[one][word] + 0.01) * (before[other][word] + 0.01) / counts[word]

        return max(sorted(counts), key=apart)

    def guess(words: tuple[str, ...]) -> list[str]:
        padded = ("<bos>", *words, "<eos>")
        return [best(padded[t], padded[t + 2]) for t in range(len(words))]

    return guess


if __name__ == "__main__":
    run(__file__)
