"""Sentences of numbers, padded into batches; batches of sentences of about one length."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from attnlab import _check
from attnlab.language.vocabulary import BOS, EOS, PAD

Item = TypeVar("Item")
Example = tuple[Sequence[int], Sequence[int]]
Plain = tuple[list[int], list[int]]


class Batch(NamedTuple):
    """Some b pairs, padded on the right with 0; all int64.

    ``target_in`` is the target after bos, what a decoder reads; ``target_out`` is the target
    before eos, what it should say: target_out[:, t] follows target_in[:, t].

    Shapes: source (b, n_s), source_lengths (b,), target_in and target_out (b, n_t),
    target_lengths (b,), which count bos or eos.
    """

    source: Tensor
    source_lengths: Tensor
    target_in: Tensor
    target_out: Tensor
    target_lengths: Tensor

    def to(self, device: torch.device | str) -> "Batch":
        """Return the batch on another device."""
        return Batch(*(tensor.to(device) for tensor in self))


def pad_batch(examples: Sequence[Example]) -> Batch:
    """Pad pairs (source, target) of numbers into one batch.

    The numbers are those of a ``Vocabulary``, without bos and eos, which are added here.

    Raises: ValueError for no pair at all, an empty source, and tokens that are not whole numbers
    of at least 1; TypeError for a string.
    """
    examples = _checked(examples)
    if not examples:
        raise ValueError("examples must hold at least one pair: there is none")
    return _batch(examples)


def batches(
    examples: Sequence[Example],
    batch_size: int,
    *,
    seed: int | None = None,
    pool: int = 100,
) -> Iterator[Batch]:
    """Cut a corpus into batches: every pair exactly once.

    With a ``seed`` the pairs are shuffled, cut into pools of ``pool`` batches and sorted by
    length within each pool, so that a batch holds little padding; then the batches of a pool are
    shuffled again. The order depends on the seed alone: give each epoch its own. Without a seed
    the pairs keep their order, as an evaluation wants.

    Raises: as ``pad_batch``, at once; ValueError for an empty corpus, a ``batch_size`` or
    ``pool`` below 1, or a seed that is not a whole number of at least 0.
    """
    _check.whole_number("batch_size", batch_size, at_least=1)
    _check.whole_number("pool", pool, at_least=1)
    if len(examples) == 0:
        raise ValueError("examples must hold at least one pair: the corpus is empty")
    pairs = _checked(examples)
    if seed is None:
        return _batches(pairs, batch_size, None, pool)
    _check.whole_number("seed", seed)
    return _batches(pairs, batch_size, torch.Generator().manual_seed(seed), pool)


def _batches(
    examples: list[Plain], batch_size: int, generator: torch.Generator | None, pool: int
) -> Iterator[Batch]:
    n = len(examples)
    order = list(range(n)) if generator is None else _shuffled(list(range(n)), generator)
    size = batch_size * pool
    for start in range(0, n, size):
        rows = order[start : start + size]
        if generator is not None:
            rows.sort(key=lambda row: (len(examples[row][1]), len(examples[row][0])))
        cut = [rows[first : first + batch_size] for first in range(0, len(rows), batch_size)]
        for chosen in cut if generator is None else _shuffled(cut, generator):
            yield _batch([examples[row] for row in chosen])


def _checked(examples: Sequence[Example]) -> list[Plain]:
    """Return the pairs as lists of ints, each of which a batch can hold."""
    pairs = []
    for place, (source, target) in enumerate(examples):
        pair = _tokens("source", place, source), _tokens("target", place, target)
        if not pair[0]:
            raise ValueError(f"every source must hold a token: that of pair {place} is empty")
        pairs.append(pair)
    return pairs


def _tokens(side: str, place: int, sentence: Sequence[int]) -> list[int]:
    if isinstance(sentence, list) and set(map(type, sentence)) == {int} and min(sentence) > PAD:
        return sentence  # nearly always, and fast
    name = f"the tokens of the {side} of pair {place}"
    numbers = _check.whole_numbers(name, sentence)
    if numbers and min(numbers) <= PAD:
        raise ValueError(
            f"{name} must be at least 1, for 0 is padding: {min(numbers)} is among them"
        )
    return numbers


def _batch(pairs: list[Plain]) -> Batch:
    sources, targets = [source for source, _ in pairs], [target for _, target in pairs]
    return Batch(
        _padded(sources),
        _lengths(sources),
        _padded([[BOS, *target] for target in targets]),
        _padded([[*target, EOS] for target in targets]),
        _lengths(targets) + 1,
    )


def _shuffled(items: list[Item], generator: torch.Generator) -> list[Item]:
    return [items[k] for k in torch.randperm(len(items), generator=generator).tolist()]


def _padded(rows: list[list[int]]) -> Tensor:
    width = max(len(row) for row in rows)
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows], dtype=torch.int64)


def _lengths(rows: list[list[int]]) -> Tensor:
    return torch.tensor([len(row) for row in rows], dtype=torch.int64)
