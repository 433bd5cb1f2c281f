"""The checks of lecture 15, "What a head shows"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlab.exercises import Mistake, called, close, exercise, named, tensor_of

FAR = 0.1  # how far the other weights must be from the given ones


def drawn(*shape: int, seed: int = 15) -> Tensor:
    """Standard normal numbers, the same each time."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


@exercise(2)
def ablated(function: Callable[[Tensor, int], Any]) -> str:
    """`function(outputs, head)` must put a head's mean over the other sentences in its place."""
    outputs, head = drawn(5, 4, 3), 2
    found = tensor_of(called(function, outputs, head), (5, 4, 3))
    mine = outputs[:, head]
    others = (mine.sum(dim=0) - mine) / 4

    def with_head(new: Tensor) -> Tensor:
        changed = outputs.clone()
        changed[:, head] = new
        return changed

    wanted = with_head(others)
    named(
        found,
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
    )
    if not close(found, wanted):
        raise Mistake("In each row, take the mean of this head's output over the other rows.")
    again = drawn(3, 2, 4, seed=16)
    mine = again[:, 0]
    wanted = torch.stack([(mine.sum(dim=0) - mine) / 2, again[:, 1]], dim=1)
    if not close(tensor_of(function(again.clone(), 0), (3, 2, 4)), wanted):
        raise Mistake("Right for these outputs, wrong for others: use the shapes that come.")
    return "What the head says in any sentence stays; what it says about this one is gone."


@exercise(3)
def next_score(function: Callable[[Tensor, Tensor], Any]) -> str:
    """`function(weights, ids)` must return the mean weight on what came next."""
    ids = torch.tensor([4, 7, 2, 4, 9, 7, 4, 2, 2, 7])
    weights = _causal(drawn(10, 10))
    found = tensor_of(called(function, weights, ids), ())
    after, same = _after(ids)
    latest = torch.zeros_like(after)
    for i, row in enumerate(after):
        if row.any():
            latest[i, row.nonzero().max()] = True
    asked, stood = after.any(dim=1), same.any(dim=1)
    sums = (weights * after).sum(dim=1)
    named(
        found,
        (
            (weights * same).sum(dim=1)[stood].mean(),
            "This is the weight on the same token, not on what followed it.",
        ),
        (
            (weights * latest).sum(dim=1)[asked].mean(),
            "This counts the last time alone. Sum over all the times that the token stood here.",
        ),
        (
            sums.mean(),
            "The mean runs over all tokens. Ask only those that have something to look at.",
        ),
        (
            weights.diagonal(-1).mean(),
            "This is the weight on the token before. What came next may stand far back.",
        ),
        (sums.sum(), "This is the sum over the tokens. Take their mean."),
    )
    if not close(found, sums[asked].mean()):
        raise Mistake("For each i, sum over all j below i at which ids[j − 1] equals ids[i].")
    other, more = torch.tensor([1, 1, 3, 1, 3]), _causal(drawn(5, 5, seed=16))
    after = _after(other)[0]
    wanted = (more * after).sum(dim=1)[after.any(dim=1)].mean()
    if not close(tensor_of(function(more.clone(), other.clone()), ()), wanted):
        raise Mistake("Right for this text, wrong for another: a token may follow its own like.")
    return (
        "The heads that are high in this look at what came next; whether they copy it, an"
        " intervention must say (lecture 16)."
    )


def _causal(scores: Tensor) -> Tensor:
    seen = torch.ones_like(scores, dtype=torch.bool).tril()
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)


def _after(ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return which earlier places follow each token's like, and at which its like stands."""
    earlier = torch.ones(len(ids), len(ids), dtype=torch.bool).tril(-1)
    same = (ids[:, None] == ids) & earlier
    return same.roll(1, dims=1) & earlier, same


@exercise(4)
def other_weights(function: Callable[[Tensor, Tensor], Any]) -> str:
    """`function(states, weights)` must return other weights with the same weighted sum."""
    for seed in (12, 13):
        states, weights = drawn(6, 3, seed=seed), torch.softmax(drawn(6, seed=seed + 10), dim=0)
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
