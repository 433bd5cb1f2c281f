"""The checks of lecture 14, "Longer contexts"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlab.exercises import (
    Mistake,
    apart,
    called,
    drawn,
    exercise,
    named,
    shuffled,
    tensor_of,
    uniform,
    whole,
)


@exercise(2)
def chosen_blocks(function: Callable[[Tensor, Tensor, Tensor, int, int], Any]) -> str:
    """`function(query, key, value, size, k)` must attend to the k blocks whose means fit best.

    Shapes: query (n_q, d), key (n_k, d), value (n_k, d_v); returns (n_q, d_v).
    """
    for n_q, n_k, size, k in ((5, 12, 3, 2), (4, 8, 2, 1), (3, 8, 4, 2)):
        while True:
            query, key, value = drawn(n_q, 4), drawn(n_k, 4), drawn(n_k, 3)
            wanted, *wrong = _chosen(query, key, value, size=size, k=k)
            if k * size == n_k or apart(wanted, *wrong):  # read whole, or each mistake shows
                break
        found = tensor_of(called(function, query, key, value, size, k), (n_q, 3))
        otherwise = "The outputs are wrong. Print which keys each query may see: k × size of them."
        named(found, wanted, *zip(wrong, _CHOSEN, strict=True), otherwise=otherwise)
    return "A query compares itself with one mean for each block, and reads whole blocks."


def _over(query: Tensor, key: Tensor, value: Tensor, chosen: Tensor, root: float = 2.0) -> Tensor:
    """Return attention to the chosen keys, (n_q, n_k); scores are divided by ``root``."""
    scores = query @ key.mT / root
    return scores.masked_fill(~chosen, -torch.inf).softmax(-1) @ value


def _best(scores: Tensor, k: int) -> Tensor:
    """Return which k columns of each row are the largest, as a mask."""
    best = scores.topk(k).indices
    return torch.zeros_like(scores, dtype=torch.bool).scatter(1, best, True)


def _chosen(query: Tensor, key: Tensor, value: Tensor, *, size: int, k: int) -> list[Tensor]:
    """Return the right outputs, and then those of each mistake of `_CHOSEN`."""
    scores = query @ key.unflatten(0, (-1, size)).mean(1).mT  # (n_q, blocks)
    largest = (query @ key.mT).unflatten(1, (-1, size)).amax(-1)
    of_means = (scores / 2).masked_fill(~_best(scores, k), -torch.inf).softmax(-1)

    def over(blocks: Tensor, root: float = 2.0) -> Tensor:
        return _over(query, key, value, _best(blocks, k).repeat_interleave(size, 1), root)

    return [
        over(scores),
        _over(query, key, value, torch.ones_like(query @ key.mT).bool()),
        _over(query, key, value, _best(query @ key.mT, k)),
        over(-scores),
        over(largest),
        over(scores.sum(0, keepdim=True).expand_as(scores)),
        of_means @ value.unflatten(0, (-1, size)).mean(1),
        _over(query, key, value, _best(scores, k).repeat(1, size)),
        over(scores, root=1.0),
    ]


_CHOSEN = (
    "Every key is read: choose k blocks for each query.",
    "These are the k best keys: choose blocks, and read all of their keys.",
    "These are the blocks that fit worst: the largest products are wanted.",
    "A block is chosen by its best key: take the mean of its keys.",
    "All queries read the same blocks: each chooses its own.",
    "The means are what is read: they only choose, and the keys themselves are read.",
    "The blocks' mask is repeated as a whole: the keys of a block stand side by side.",
    "The scores are not divided by the root of d.",
)


@exercise(3)
def long_keys(function: Callable[[Tensor, Tensor, int], Any]) -> str:
    """`function(key, value, times)` must return what a key reads after each write with β = 1.

    Shapes: key (d,), of any length, value (d_v,); returns (times, d_v).
    """
    for shortest, times in ((0.5, 3), (1.1, 4)):
        length = uniform(shortest, shortest + 0.2)
        key, value = length * torch.nn.functional.normalize(drawn(3), dim=0), drawn(2)
        found = tensor_of(called(function, key, value, times), (times, 2))
        own = (key @ key).item()
        left = torch.tensor([(1 - own) ** t for t in range(times + 1)], dtype=key.dtype)
        wanted = (1 - left[1:, None]) * value
        counted = torch.arange(1, times + 1, dtype=key.dtype)[:, None]
        named(
            found,
            wanted,
            (value.expand(times, 2), "The key was given the length 1: leave it as long as it is."),
            ((1 - left[:-1, None]) * value, "That is what is read before each write, not after."),
            (counted * own * value, "That is the sum: subtract what the key reads, then write."),
            (own * value.expand(times, 2), "Each write begins with an empty state: keep it."),
            (left[1:, None] * value, "That is what is missing of the value. What is read?"),
            otherwise="The numbers are wrong. Write once on paper: what is k (kᵀ v)?",
        )
    return "Each write multiplies what is missing by 1 − ‖k‖²: beyond the length √2 it grows."


@exercise(5)
def measured_reach(function: Callable[[Callable[[Tensor], Tensor], Tensor, float], Any]) -> str:
    """`function(model, x, least)` must count how far back the last output depends on x.

    Shapes: x (n, d), which the model turns into (n, d); returns a whole number from 0 to n − 1.
    """
    strong, weaker, weakest, far = whole(2, 3, 4).cumsum(0).tolist()
    weak = {0: 1.0, strong: -0.5, weaker: 0.01, weakest: 1e-6}
    cases: list[tuple[dict[int, float], float, int]] = [
        ({0: 1.0, far: 0.5}, 0.0, far),
        (weak, 0.0, weakest),
        (weak, 1e-3, weaker),
        (weak, 0.1, strong),
    ]
    cases = [*(cases[place] for place in shuffled(4)), ({0: 2.0}, 0.0, 0)]
    for taps, least, wanted in cases:
        n = 2 * far + int(whole(3, 6))  # a place counted from the beginning is another number
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
        if found == weakest and least:
            raise Mistake("Influences that are not above `least` in size must not count.")
        if found == 0 and strong in taps and least:
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
