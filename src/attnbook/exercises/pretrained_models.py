"""The checks of lecture 12, "Pretrained models"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from attnbook.exercises import Mistake, called, close, exercise, named, tensor_of
from attnbook.masks import padding_mask

LENGTHS = (4, 2, 3)
WORDS = ((0,), (1, 2), (3,), (4, 5, 6))  # where the pieces of four words stand
INNER = ((1,), (2, 3))  # and of two words between others
ARCS = ((1, 3), (2, 3), (4, 3), (6, 8), (7, 8), (8, 4), (10, 11))
FEWER = ((5, 1), (6, 2), (7, 8))
FAR = 0.1  # how far the other weights must be from the given ones


def drawn(*shape: int, seed: int = 12) -> Tensor:
    """Standard normal numbers, the same each time."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


@exercise(1)
def mean_pooling(function: Callable[[Tensor, Tensor], Any]) -> str:
    """`function(hidden, mask)` must return one vector of length 1 for each sentence, (b, d)."""
    hidden, mask = drawn(3, 4, 5), padding_mask(LENGTHS, 4)
    found = tensor_of(called(function, hidden, mask), (3, 5))
    real = mask.mT.double()  # (b, n, 1)
    mean = (hidden * real).sum(1) / real.sum(1)
    unit = functional.normalize
    long = "These vectors do not have the length 1: divide each by its norm."
    largest = hidden.masked_fill(real == 0, -torch.inf).amax(1)
    named(
        found,
        (unit(hidden.mean(1)), "The padding is in your mean: use the mask."),
        (hidden.mean(1), "The padding is in your mean: use the mask. And give it the length 1."),
        (mean, long),
        ((hidden * real).sum(1), long),
        (unit(mean, dim=0), "You normalised down the batch: the numbers of a vector are dim=-1."),
        (unit((unit(hidden, dim=-1) * real).sum(1)), "Normalise once, after the mean."),
        (unit(hidden[:, 0]), "That is the first piece alone. Average all that are real."),
        (unit(largest), "You took the largest of each number. The mean was wanted."),
        (unit((hidden * (1 - real)).sum(1)), "The mask is turned over: True is a real piece."),
    )
    if not close(found, unit(mean)):
        raise Mistake("The vectors are wrong. Begin with the first sentence: it has no padding.")
    return "A sentence's vector hangs on its own pieces alone, whoever shares its batch."


@exercise(2)
def word_weights(function: Callable[[Tensor, Sequence[Sequence[int]]], Any]) -> str:
    """`function(weights, words)` must turn weights of pieces into weights of words."""
    pieces = torch.softmax(2 * drawn(7, 7), dim=-1)
    words = [list(word) for word in WORDS]
    found = tensor_of(called(function, pieces, words), (4, 4))
    wanted = by_words(pieces, WORDS)
    columns = torch.softmax(2 * drawn(7, 7), dim=0)
    named(
        found,
        (by_words(pieces, WORDS, keys="mean"), "Add up the pieces of a key: rows must sum to 1."),
        (
            by_words(pieces, WORDS, queries="sum"),
            "Average the pieces of a query: rows sum to more.",
        ),
        (
            by_words(pieces, WORDS, queries="sum", keys="mean"),
            "It is the other way round: sum over a key's pieces, mean over a query's.",
        ),
        (wanted.mT, "Rows and columns are exchanged: a row is the word that attends."),
        (
            pieces[[0, 1, 3, 4]][:, [0, 1, 3, 4]],
            "You took the first piece of each word. What goes to the others is lost.",
        ),
        (by_words(columns, WORDS), "Use the weights as they are given."),
    )
    if not close(found, wanted):
        raise Mistake("The weights are wrong. Do the keys first: (7, 7) becomes (7, 4).")
    inner = tensor_of(called(function, pieces, [list(word) for word in INNER]), (2, 2))
    if not close(inner, by_words(pieces, INNER)):
        raise Mistake("Right for all words, wrong for some: here the words are only two of them.")
    return "What the pieces get together, the word gets; what they give, it gives on average."


def by_words(
    pieces: Tensor, words: Sequence[Sequence[int]], *, queries: str = "mean", keys: str = "sum"
) -> Tensor:
    """Weights (n, n) of pieces as weights of words, by the sum or the mean on either side."""
    rows = [getattr(pieces[list(word)], queries)(dim=0) for word in words]
    return torch.stack([getattr(torch.stack(rows)[:, list(w)], keys)(dim=1) for w in words], dim=1)


@exercise(3)
def masked_loss(function: Callable[[Tensor, Tensor, Tensor], Any]) -> str:
    """`function(logits, tokens, chosen)` must return the masked language model's loss."""
    logits = 2 * drawn(2, 4, 6)
    tokens = torch.tensor([[5, 1, 0, 3], [2, 2, 4, 1]])
    chosen = torch.tensor([[0, 1, 0, 0], [1, 0, 0, 1]]).bool()
    found = tensor_of(called(function, logits, tokens, chosen), ())
    logs = logits.log_softmax(-1)
    losses = -logs.gather(-1, tokens[..., None])[..., 0]  # (2, 4)
    wanted = losses[chosen].mean()
    each = torch.stack([row[some].mean() for row, some in zip(losses, chosen, strict=True)])
    shifted = -logs[:, :-1].gather(-1, tokens[:, 1:, None])[..., 0]
    unscaled = -logits.gather(-1, tokens[..., None])[..., 0]
    named(
        found,
        (losses.mean(), "That is over all places: only those that were chosen are asked for."),
        (losses[~chosen].mean(), "You took the places that were not chosen."),
        (-wanted, "The sign is turned: the loss is −log p."),
        (losses[chosen].sum(), "Divide by the number of chosen places: 3."),
        (losses[chosen].sum() / losses.numel(), "Divide by the 3 chosen places, not by all 8."),
        (each.mean(), "You averaged the sentences' averages. Every chosen place counts alike."),
        (
            shifted[chosen[:, 1:]].sum() / chosen[:, 1:].sum(),
            "You predict the next word. Here the logits at a place are those of this place.",
        ),
        (-(-losses[chosen]).exp().mean().log(), "Take the logarithm first, then the mean."),
        (unscaled[chosen].mean(), "These are logits: the softmax is missing."),
    )
    if not close(found, wanted):
        raise Mistake("The loss is wrong. Print −log p of the three chosen places.")
    return "Three places of eight teach; the other five are read."


@exercise(4)
def best_offset(function: Callable[[list[tuple[int, int]]], Any]) -> str:
    """`function(arcs)` must return the best fixed distance to the governor, and its share."""
    found = _pair(called(function, [tuple(arc) for arc in ARCS]))
    wanted = _offset(ARCS)  # (1, 3/7)
    mean = sum(governor - dependent for dependent, governor in ARCS) / len(ARCS)
    absolute = Counter(abs(g - d) for d, g in ARCS).most_common(1)[0]
    for wrong, words in (
        ((-wanted[0], wanted[1]), "The sign is turned: governor minus dependent."),
        ((wanted[0], wanted[1] * len(ARCS)), "That is a count. The share of all arcs was wanted."),
        ((absolute[0], absolute[1] / len(ARCS)), "A distance has a direction: no absolute value."),
        ((max(g - d for d, g in ARCS), 1 / len(ARCS)), "That is the greatest, not the commonest."),
    ):
        if _near(found, wrong):
            raise Mistake(words)
    if abs(found[0] - mean) < 1e-6:
        raise Mistake("That is the mean distance. The one that is right most often was wanted.")
    if not _near(found, wanted):
        raise Mistake(f"You found {found}. Write the seven distances down, with their signs.")
    again = _pair(called(function, [tuple(arc) for arc in FEWER]))
    if not _near(again, _offset(FEWER)):
        raise Mistake("Right for these arcs, wrong for others: there it must look to the left.")
    return "A head has to beat this before it may be said to know grammar."


def _offset(arcs: Sequence[tuple[int, int]]) -> tuple[float, float]:
    (offset, count), *_ = Counter(g - d for d, g in arcs).most_common()
    return offset, count / len(arcs)


def _pair(answer: Any) -> tuple[float, float]:
    try:
        first, second = answer
        return float(first), float(second)
    except (TypeError, ValueError) as error:
        raise Mistake("Two numbers were wanted: `return offset, share`.") from error


def _near(found: tuple[float, float], other: tuple[float, float]) -> bool:
    return all(abs(a - b) < 1e-6 for a, b in zip(found, other, strict=True))


@exercise(5)
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
