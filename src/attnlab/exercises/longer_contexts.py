"""The checks of lecture 14, "Longer contexts"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlab.exercises import Mistake, called, close, exercise, named, tensor_of


def drawn(*shape: int, seed: int = 14) -> Tensor:
    """Standard normal numbers, the same each time."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


@exercise(2)
def chosen_blocks(function: Callable[[Tensor, Tensor, Tensor, int, int], Any]) -> str:
    """`function(query, key, value, size, k)` must attend to the k blocks whose means fit best.

    Shapes: query (n_q, d), key (n_k, d), value (n_k, d_v); returns (n_q, d_v).
    """
    for n_q, n_k, size, k in ((5, 12, 3, 2), (4, 8, 2, 1), (3, 8, 4, 2)):
        query, key, value = drawn(n_q, 4), drawn(n_k, 4, seed=15), drawn(n_k, 3, seed=16)
        found = tensor_of(called(function, query, key, value, size, k), (n_q, 3))
        _name_chosen(query, key, value, found, size=size, k=k)
    return "A query compares itself with one mean for each block, and reads whole blocks."


def _over(query: Tensor, key: Tensor, value: Tensor, chosen: Tensor, root: float = 2.0) -> Tensor:
    """Return attention to the chosen keys, (n_q, n_k); scores are divided by ``root``."""
    scores = query @ key.mT / root
    return scores.masked_fill(~chosen, -torch.inf).softmax(-1) @ value


def _best(scores: Tensor, k: int) -> Tensor:
    """Return which k columns of each row are the largest, as a mask."""
    best = scores.topk(k).indices
    return torch.zeros_like(scores, dtype=torch.bool).scatter(1, best, True)


def _name_chosen(
    query: Tensor, key: Tensor, value: Tensor, found: Tensor, *, size: int, k: int
) -> None:
    """Name what is wrong with the outputs of attention to chosen blocks."""
    means = key.unflatten(0, (-1, size)).mean(1)
    scores = query @ means.mT  # (n_q, blocks)
    chosen = _best(scores, k).repeat_interleave(size, 1)
    wanted = _over(query, key, value, chosen)
    if close(found, wanted):
        return
    every = torch.ones_like(chosen)
    largest = (query @ key.mT).unflatten(1, (-1, size)).amax(-1)
    together = _best(scores.sum(0, keepdim=True), k).expand_as(scores)
    of_means = (scores / 2).masked_fill(~_best(scores, k), -torch.inf).softmax(-1)
    turned = _best(scores, k).repeat(1, size)
    named(
        found,
        (_over(query, key, value, every), "Every key is read: choose k blocks for each query."),
        (
            _over(query, key, value, _best(query @ key.mT, k)),
            "These are the k best keys: choose blocks, and read all of their keys.",
        ),
        (
            _over(query, key, value, _best(-scores, k).repeat_interleave(size, 1)),
            "These are the blocks that fit worst: the largest products are wanted.",
        ),
        (
            _over(query, key, value, _best(largest, k).repeat_interleave(size, 1)),
            "A block is chosen by its best key: take the mean of its keys.",
        ),
        (
            _over(query, key, value, together.repeat_interleave(size, 1)),
            "All queries read the same blocks: each chooses its own.",
        ),
        (
            of_means @ value.unflatten(0, (-1, size)).mean(1),
            "The means are what is read: they only choose, and the keys themselves are read.",
        ),
        (
            _over(query, key, value, turned),
            "The blocks' mask is repeated as a whole: the keys of a block stand side by side.",
        ),
        (
            _over(query, key, value, chosen, root=1.0),
            "The scores are not divided by the root of d.",
        ),
    )
    raise Mistake("The outputs are wrong. Print which keys each query may see: k × size of them.")


@exercise(3)
def long_keys(function: Callable[[Tensor, Tensor, int], Any]) -> str:
    """`function(key, value, times)` must return what a key reads after each write with β = 1.

    Shapes: key (d,), of any length, value (d_v,); returns (times, d_v).
    """
    for scale, times in ((0.5, 3), (0.8, 4)):
        key, value = scale * drawn(3), drawn(2, seed=15)
        found = tensor_of(called(function, key, value, times), (times, 2))
        own = (key @ key).item()
        left = torch.tensor([(1 - own) ** t for t in range(times + 1)], dtype=key.dtype)
        wanted = (1 - left[1:, None]) * value
        counted = torch.arange(1, times + 1, dtype=key.dtype)[:, None]
        named(
            found,
            (value.expand(times, 2), "The key was given the length 1: leave it as long as it is."),
            ((1 - left[:-1, None]) * value, "That is what is read before each write, not after."),
            (counted * own * value, "That is the sum: subtract what the key reads, then write."),
            (own * value.expand(times, 2), "Each write begins with an empty state: keep it."),
            (left[1:, None] * value, "That is what is missing of the value. What is read?"),
        )
        if not close(found, wanted):
            raise Mistake("The numbers are wrong. Write once on paper: what is k (kᵀ v)?")
    return "Each write multiplies what is missing by 1 − ‖k‖²: beyond the length √2 it grows."


@exercise(5)
def measured_reach(function: Callable[[Callable[[Tensor], Tensor], Tensor, float], Any]) -> str:
    """`function(model, x, least)` must count how far back the last output depends on x.

    Shapes: x (n, d), which the model turns into (n, d); returns a whole number from 0 to n − 1.
    """
    weak = {0: 1.0, 2: -0.5, 5: 0.01, 7: 1e-6}
    cases: list[tuple[dict[int, float], int, float, int]] = [
        ({0: 1.0, 3: 0.5}, 9, 0.0, 3),
        (weak, 12, 0.0, 7),
        (weak, 12, 1e-3, 5),
        (weak, 12, 0.1, 2),
        ({0: 2.0}, 6, 0.0, 0),
    ]
    for taps, n, least, wanted in cases:
        x = drawn(n, 3)
        model = _Delayed(taps)
        answer = called(function, model, x, least)
        try:
            found = int(answer)
        except (TypeError, ValueError) as error:
            raise Mistake(f"A whole number was wanted, this is {answer!r}.") from error
        if found == wanted:
            continue
        if found == wanted + 1:
            raise Mistake("The last token itself is 0 tokens back.")
        if found == n - 1 - wanted:
            raise Mistake("That is a place counted from the beginning: count from the last token.")
        if found == min(7, n - 1) and least:
            raise Mistake("Influences that are not above `least` in size must not count.")
        if found == 0 and 2 in taps and least:
            raise Mistake("A negative influence is one too: compare its size.")
        if found == n - 1:
            raise Mistake("Only the last output is asked for: the other outputs' inputs count not.")
        raise Mistake(f"The last output depends on what is {wanted} back, and {found} was found.")
    return "The bound is what windows allow. What is felt above a threshold is nearer."


class _Delayed:
    """Sums each token's own past with fixed factors: y_t = Σ_b a_b x_{t−b}."""

    def __init__(self, taps: dict[int, float]) -> None:
        self.taps = taps

    def __call__(self, x: Tensor) -> Tensor:
        rows = [torch.cat([0 * x[:b], x[: len(x) - b]]) * a for b, a in self.taps.items()]
        return torch.stack(rows).sum(0)
