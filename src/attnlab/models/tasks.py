"""What the lectures' models learn and are tested on, and what they make of it.

    lesson = translation()
    model, history = translator(lesson, order="bahdanau", seed=0)
    french = write(model, lesson, lesson.test)

``translator`` is in ``recurrent``; the Transformers take the same lessons.
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from torch import Tensor

from attnbook.decoding import Stepper, greedy
from attnbook.rnn import RNNSeq2Seq
from attnlab import _check
from attnlab.language.batching import Batch, Example, batches
from attnlab.language.grammar.parallel import english_french
from attnlab.language.pairs import Pair
from attnlab.language.toy import reversed_digits
from attnlab.language.vocabulary import Vocabulary
from attnlab.training.metrics import evaluating


class Lesson(NamedTuple):
    """Pairs to learn, pairs to be tested on, and the vocabulary of each side.

    ``test`` is drawn as ``train`` is; ``combinations`` joins words that ``train`` never joins.
    """

    train: tuple[Pair, ...]
    test: tuple[Pair, ...]
    combinations: tuple[Pair, ...]
    source: Vocabulary
    target: Vocabulary

    def examples(self, pairs: Sequence[Pair]) -> list[Example]:
        """Return the pairs as numbers, (source, target), for ``language.batches``."""
        return [(self.source.encode(p.source), self.target.encode(p.target)) for p in pairs]

    def batches(self, pairs: Sequence[Pair], size: int = 250) -> list[Batch]:
        """Return the pairs as padded batches, in their order."""
        return list(batches(self.examples(pairs), size))


def translation(n: int = 24_000) -> Lesson:
    """Take ``n`` one-clause pairs of the book's corpus to learn, English to French.

    The vocabularies hold the words of all 24,000 pairs whatever ``n`` is, so that a model that
    learns from fewer has the same size.

    Raises: ValueError for ``n`` outside 1 to 24,000.
    """
    _check.whole_number("n", n, at_least=1)
    if n > 24_000:
        raise ValueError(f"n must be at most 24000: it is {n}")
    whole = _translation()
    return whole._replace(train=whole.train[:n])


@cache
def _translation() -> Lesson:
    corpus = english_french(24_000, one_clause=True)
    source = Vocabulary([pair.source for pair in corpus.train])
    target = Vocabulary([pair.target for pair in corpus.train])
    return Lesson(corpus.train, corpus.test, corpus.combinations, source, target)


def reversal(n: int = 20_000, *, shortest: int = 2, longest: int = 24) -> Lesson:
    """Take ``n`` strings of digits to be written backwards, and 1,000 others to be tested on.

    Raises: ValueError as ``language.reversed_digits``.
    """
    _check.whole_number("n", n, at_least=1)
    pairs = tuple(reversed_digits(n + 1_000, shortest=shortest, longest=longest))
    digits = Vocabulary([list("0123456789")])
    return Lesson(pairs[1_000:], pairs[:1_000], (), digits, digits)


def check_lesson(lesson: Any) -> None:
    """Raise ``TypeError`` unless ``lesson`` is a ``Lesson``."""
    if not isinstance(lesson, Lesson):
        raise TypeError(
            f"lesson must be a Lesson, such as translation(): it is a {type(lesson).__name__}"
        )


def write(model: Stepper[Any], lesson: Lesson, pairs: Sequence[Pair]) -> list[tuple[str, ...]]:
    """Translate the sources of ``pairs`` greedily; return the words of each.

    A sentence ends at eos, or after 10 words more than the longest reference of the batch.

    Raises: TypeError where ``lesson`` is none; else as ``greedy``.
    """
    check_lesson(lesson)
    written: list[tuple[str, ...]] = []
    for batch in lesson.batches(pairs):
        limit = int(batch.target_lengths.max()) + 10
        for one in greedy(model, batch.source, batch.source_lengths, max_length=limit):
            written.append(tuple(lesson.target.decode(one.tokens)))
    return written


def looks(model: RNNSeq2Seq, lesson: Lesson, pairs: Sequence[Pair]) -> list[Tensor]:
    """Return where a model with attention looks while it reads the reference translation.

    Shapes: a list of α (n_t + 1, n_s), one for each pair; row t is the step that is to write
    target word t, the last row the one that is to write eos.
    Raises: TypeError where ``lesson`` is none; else as the model.
    """
    check_lesson(lesson)
    weights: list[Tensor] = []
    with evaluating(model):
        for batch in lesson.batches(pairs):
            rows = model.weights(batch.source, batch.target_in, source_lengths=batch.source_lengths)
            sizes = zip(batch.target_lengths.tolist(), batch.source_lengths.tolist(), strict=True)
            weights += [row[:n_t, :n_s] for row, (n_t, n_s) in zip(rows, sizes, strict=True)]
    return weights


def by_length(
    pairs: Sequence[Pair], right: Sequence[bool], edges: Sequence[int]
) -> dict[str, float]:
    """Return the share of right answers among sources of each range of lengths.

    ``edges`` are the first lengths of the ranges and the end: (2, 7, 13) makes "2–6" and "7–12".
    A range without a pair is left out.

    Raises: ValueError where ``right`` has another length than ``pairs``, or ``edges`` do not rise.
    """
    edges = _check.whole_numbers("edges", edges)
    if len(edges) < 2 or any(end <= first for first, end in pairwise(edges)):
        raise ValueError(f"edges must be at least two lengths that rise: they are {edges}")
    if len(pairs) != len(right):
        raise ValueError(
            f"right must hold one answer for each of the {len(pairs)} pairs: it holds {len(right)}"
        )
    shares = {}
    for first, end in pairwise(edges):
        here = [r for p, r in zip(pairs, right, strict=True) if first <= len(p.source) < end]
        if here:
            name = f"{first}–{end - 1}" if end - first > 1 else f"{first}"
            shares[name] = sum(here) / len(here)
    return shares
