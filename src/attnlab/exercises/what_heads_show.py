"""The checks of lecture 15, "What a head shows"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlab.exercises import (
    Mistake,
    apart,
    called,
    close,
    drawn,
    exercise,
    named,
    shuffled,
    tensor_of,
    whole,
)

FAR = 0.1  # how far the other weights must be from the given ones


@exercise(2)
def ablated(function: Callable[[Tensor, int], Any]) -> str:
    """`function(outputs, head)` must put a head's mean over the other sentences in its place."""
    outputs, head = drawn(5, 4, 3), int(whole(0, 3))
    found = tensor_of(called(function, outputs, head), (5, 4, 3))
    mine = outputs[:, head]
    others = (mine.sum(dim=0) - mine) / 4

    def with_head(new: Tensor) -> Tensor:
        changed = outputs.clone()
        changed[:, head] = new
        return changed

    named(
        found,
        with_head(others),
        (outputs, "These are the outputs as they were given."),
        (
            with_head(mine.mean(dim=0)),
            "This is the mean over all sentences: the sentence itself must not be in it.",
        ),
        (
            with_head(torch.zeros_like(mine)),
            "These are zeros: they also take away what the head gives in every sentence.",
        ),
        ((outputs.sum(dim=0) - outputs) / 4, "All heads have been replaced. One is asked for."),
        (
            with_head((mine.sum(dim=0) - mine) / 5),
            "The sum over the others must be divided by their number, one less than all.",
        ),
        otherwise="In each row, take the mean of this head's output over the other rows.",
    )
    again = drawn(3, 2, 4)
    mine = again[:, 0]
    named(
        tensor_of(called(function, again, 0), (3, 2, 4)),
        torch.stack([(mine.sum(dim=0) - mine) / 2, again[:, 1]], dim=1),
        otherwise="Right for these outputs, wrong for others: use the shapes that come.",
    )
    return "What the head says in any sentence stays; what it says about this one is gone."


@exercise(4)
def next_score(function: Callable[[Tensor, Tensor], Any]) -> str:
    """`function(weights, ids)` must return the mean weight on what came next."""
    while True:
        ids, weights = _no_twins(10), _causal(drawn(10, 10))
        wanted, *wrong = _scores(ids, weights)
        if apart(wanted, *wrong):
            break
    named(
        tensor_of(called(function, weights, ids), ()),
        wanted,
        *zip(wrong, _SCORES, strict=True),
        otherwise="For each i, sum over all j below i at which ids[j − 1] equals ids[i].",
    )
    first, other = shuffled(50)[:2].tolist()
    ids, weights = torch.tensor([first, first, other, first, other]), _causal(drawn(5, 5))
    named(
        tensor_of(called(function, weights, ids), ()),
        _scores(ids, weights)[0],
        otherwise="Right for this text, wrong for another: a token may follow its own like.",
    )
    return (
        "The heads that are high in this look at what came next; whether they copy it, an"
        " intervention must say (lecture 16)."
    )


def _no_twins(n: int) -> Tensor:
    """Draw n tokens of four kinds, no two alike side by side."""
    kinds, steps = shuffled(50)[:4], whole(1, 3, n)
    return kinds[steps.cumsum(0) % 4]


def _scores(ids: Tensor, weights: Tensor) -> list[Tensor]:
    """Return the right score, and then those of each mistake of `_SCORES`."""
    after, same = _after(ids)
    latest = torch.zeros_like(after)
    for i, row in enumerate(after):
        if row.any():
            latest[i, row.nonzero().max()] = True
    asked, stood = after.any(dim=1), same.any(dim=1)
    sums = (weights * after).sum(dim=1)
    return [
        sums[asked].mean(),
        (weights * same).sum(dim=1)[stood].mean(),
        (weights * latest).sum(dim=1)[asked].mean(),
        sums.mean(),
        weights.diagonal(-1).mean(),
        sums.sum(),
    ]


_SCORES = (
    "This is the weight on the same token, not on what followed it.",
    "This counts the last time alone. Sum over all the times that the token stood here.",
    "The mean runs over all tokens. Ask only those that have something to look at.",
    "This is the weight on the token before. What came next may stand far back.",
    "This is the sum over the tokens. Take their mean.",
)


def _causal(scores: Tensor) -> Tensor:
    seen = torch.ones_like(scores, dtype=torch.bool).tril()
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)


def _after(ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return which earlier places follow each token's like, and at which its like stands."""
    earlier = torch.ones(len(ids), len(ids), dtype=torch.bool).tril(-1)
    same = (ids[:, None] == ids) & earlier
    return same.roll(1, dims=1) & earlier, same


@exercise(3)
def other_weights(function: Callable[[Tensor, Tensor], Any]) -> str:
    """`function(states, weights)` must return other weights with the same weighted sum."""
    for _ in range(2):
        states, weights = drawn(6, 3), torch.softmax(drawn(6), dim=0)
        while _way(states, weights) < 1.2 * FAR:
            states, weights = drawn(6, 3), torch.softmax(drawn(6), dim=0)
        found = tensor_of(called(function, states, weights), (6,))
        if close(found, weights):
            raise Mistake("These are the weights that were given.")
        if not close(found.sum(), torch.ones(())):
            raise Mistake(f"These weights sum to {found.sum():.3f}: they must sum to 1.")
        if found.min() < -1e-9:
            raise Mistake(f"A weight cannot be negative: the least is {found.min():.3f}.")
        apart = float((found @ states - weights @ states).abs().max())
        if apart > 1e-6:
            raise Mistake(f"The weighted sum has changed, by {apart:.2g}.")
        moved = float((found - weights).abs().sum() / 2)
        if moved < FAR:
            words = f"Only {moved:.3f} of the weight has moved, and {FAR} is wanted"
            raise Mistake(f"{words}: go on until a weight is 0, or try another direction.")
    return "Six words, three numbers each: the sum alone cannot say which words it is made of."


def _way(states: Tensor, weights: Tensor) -> float:
    """How much weight can be moved at least, whichever two free directions are tried, both ways.

    What changes neither sum is a plane: it is looked at in 64 directions, and the best of four at
    right angles counts.
    """
    fixed = torch.cat([states.mT, torch.ones(1, len(weights), dtype=states.dtype)])
    angles = torch.arange(64) * (2 * torch.pi / 64)
    ways = torch.stack([angles.cos(), angles.sin()], 1).double() @ torch.linalg.svd(fixed).Vh[4:]
    furthest = (weights / -ways).where(ways < 0, torch.inf).amin(1)  # until a weight is 0
    moved = furthest * ways.abs().sum(1) / 2
    return float(moved.view(4, 16).amax(0).min())
