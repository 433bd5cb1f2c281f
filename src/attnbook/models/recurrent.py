"""The translators of the lectures: what they learn, how large they are, how long they train.

    lesson = translation()
    model, history = translator(lesson, order="bahdanau", seed=0)
    french = write(model, lesson, lesson.test)

Lecture 1 builds every part of this by hand. From there on, lectures and experiments that need the
same model train it by the same call, so that they speak of the same numbers.
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from attnbook import _check
from attnbook.decoding import Stepper, greedy
from attnbook.language.batching import Batch, Example, batches
from attnbook.language.grammar.parallel import english_french
from attnbook.language.pairs import Pair
from attnbook.language.toy import reversed_digits
from attnbook.language.vocabulary import Vocabulary
from attnbook.models._code import code_hash
from attnbook.rnn import Order, RNNSeq2Seq
from attnbook.scores import Additive, Bilinear, Score, dot, scaled_dot
from attnbook.training import History, train
from attnbook.training.metrics import evaluating
from attnbook.training.schedules import warmup_cosine
from attnbook.training.seeds import seeded

ScoreName = Literal["dot", "scaled dot", "bilinear", "additive"]
SCORES: dict[str, Callable[[int], Score]] = {
    "dot": lambda d: dot,
    "scaled dot": lambda d: scaled_dot,
    "bilinear": lambda d: Bilinear(d, d),
    "additive": lambda d: Additive(d, d, d),
}
CACHE = "ATTNBOOK_CACHE"


class Lesson(NamedTuple):
    """Pairs to learn, pairs to be asked, and the vocabulary of each side.

    ``test`` is drawn as ``train`` is; ``combinations`` joins words that ``train`` never joins.
    """

    train: tuple[Pair, ...]
    test: tuple[Pair, ...]
    combinations: tuple[Pair, ...]
    source: Vocabulary
    target: Vocabulary

    def examples(self, pairs: Sequence[Pair]) -> list[Example]:
        """Return the pairs as numbers, (source, target), for ``corpus.batches``."""
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
    corpus = english_french(24_000, one_clause=True)
    sides = [Vocabulary([pair[side] for pair in corpus.train]) for side in (0, 1)]
    return Lesson(corpus.train[:n], corpus.test, corpus.combinations, *sides)


def reversal(n: int = 20_000, *, shortest: int = 2, longest: int = 24) -> Lesson:
    """Take ``n`` strings of digits to be written backwards, and 1,000 others to be asked.

    Raises: ValueError as ``corpus.reversed_digits``.
    """
    _check.whole_number("n", n, at_least=1)
    pairs = tuple(reversed_digits(n + 1_000, shortest=shortest, longest=longest))
    digits = Vocabulary([list("0123456789")])
    return Lesson(pairs[1_000:], pairs[:1_000], (), digits, digits)


def translator(
    lesson: Lesson,
    *,
    order: Order = "bahdanau",
    score: ScoreName = "additive",
    d_model: int = 192,
    steps: int = 1_150,
    lr: float = 6e-3,
    batch_size: int = 64,
    seed: int = 0,
    progress: bool = True,
) -> tuple[RNNSeq2Seq, History]:
    """Train an ``RNNSeq2Seq`` on ``lesson.train``; return it in eval mode, and its history.

    Adam with gradients clipped to a norm of 1; the rate rises for 100 steps to ``lr`` and falls
    along half a cosine to 0. The seed decides the weights and the order of the pairs.

    Where the environment's ``ATTNBOOK_CACHE`` names a folder, a model that was trained before,
    by the same code, with the same arguments, on the same kind of machine, is read from there.

    Raises: ValueError for an unknown score, and as ``RNNSeq2Seq`` and ``train``.
    """
    _check.one_of("score", score, list(SCORES))
    _check.whole_number("steps", steps, at_least=1)
    sizes = len(lesson.source), len(lesson.target), d_model
    with seeded(seed):
        kind = SCORES[score](d_model) if order != "none" else scaled_dot
        model = RNNSeq2Seq(*sizes, order=order, score=kind)
    examples = lesson.examples(lesson.train)
    work = partial(
        train,
        model,
        lambda epoch: batches(examples, batch_size, seed=seed * 1_000 + epoch),
        steps=steps,
        lr=lr,
        schedule=warmup_cosine(min(100, steps - 1), steps),
        seed=seed,
        progress=progress,
    )
    settings = (order, score, d_model, steps, lr, batch_size, seed, examples)
    return model, _remembered(model, work, settings)


def write(model: Stepper, lesson: Lesson, pairs: Sequence[Pair]) -> list[tuple[str, ...]]:
    """Translate the sources of ``pairs`` greedily; return the words of each.

    A sentence ends at eos, or after 10 words more than the longest reference of the batch.
    """
    written: list[tuple[str, ...]] = []
    for batch in lesson.batches(pairs):
        limit = int(batch.target_lengths.max()) + 10
        for one in greedy(model, batch.source, batch.source_lengths, max_length=limit):
            written.append(tuple(lesson.target.decode(one.tokens)))
    return written


def looks(model: nn.Module, lesson: Lesson, pairs: Sequence[Pair]) -> list[Tensor]:
    """Return where a model with attention looks while it reads the reference translation.

    Shapes: a list of α (n_t + 1, n_s), one for each pair; row t is the step that is to write
    target word t, the last row the one that is to write eos.
    """
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


def _remembered(model: nn.Module, work: Callable[[], History], settings: tuple) -> History:
    """Do the work, or read what it did before; leaves ``model`` trained either way."""
    folder = os.environ.get(CACHE)
    if not folder:
        return work()
    machine = (torch.__version__, torch.backends.cpu.get_cpu_capability(), torch.get_num_threads())
    file = Path(folder) / f"{code_hash('attnbook.models.recurrent', machine, settings)}.pt"
    if file.exists():
        state, losses = torch.load(file, weights_only=True)
        model.load_state_dict(state)
        model.eval()
        return History(losses)
    history = work()
    file.parent.mkdir(parents=True, exist_ok=True)
    half = file.with_suffix(f".{os.getpid()}")
    torch.save((model.state_dict(), history.losses), half)
    half.replace(file)  # whole or not at all, where two write it at once
    return history
