"""The checks of lecture 13, "Faster decoding"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlab.exercises import called, drawn, exercise, named, tensor_of


@exercise(2)
def continued(function: Callable[[Tensor, Tensor, Tensor], Any]) -> str:
    """`function(query, key, value)` must be causal attention of new tokens on shared keys.

    Shapes: query (h, n_q, d), key (h_kv, n_k, d), value (h_kv, n_k, d_v); returns (h, n_q, d_v).
    """
    for sizes in ((6, 2, 3, 5), (4, 4, 2, 2), (4, 1, 1, 7)):
        h, h_kv, n_q, n_k = sizes
        query, key, value = drawn(h, n_q, 4), drawn(h_kv, n_k, 4), drawn(h_kv, n_k, 3)
        found = tensor_of(called(function, query, key, value), (h, n_q, 3))
        _name_outputs(query, key, value, found)
    return "The heads of a group became rows, and each row kept the mask of its own token."


def _attended(
    query: Tensor, key: Tensor, value: Tensor, *, past: int, turn: bool = False, root: float = 0.5
) -> Tensor:
    """Return attention with query i seeing keys up to i + past; each set is copied to its heads.

    With ``turn`` the sets are taken in turn, 0 1 0 1, and not by neighbours, 0 0 1 1.
    """
    (h, n_q, d), (h_kv, n_k, _) = query.shape, key.shape
    order = torch.arange(h)
    order = order % h_kv if turn else order // (h // h_kv)
    scores = query @ key[order].mT / d**root
    seen = torch.arange(n_k) <= torch.arange(n_q)[:, None] + past
    return scores.masked_fill(~seen, -math.inf).softmax(-1) @ value[order]


def _name_outputs(query: Tensor, key: Tensor, value: Tensor, found: Tensor) -> None:
    """Name what is wrong with the outputs of the new tokens."""
    (h, n_q, _), (h_kv, n_k, _) = query.shape, key.shape
    both, past = (query, key, value), n_k - n_q
    wanted, g = _attended(*both, past=past), h // h_kv
    rows = (query.reshape(h_kv, g * n_q, -1), key, value)
    of_rows = _attended(*rows, past=n_k - g * n_q).reshape(found.shape)
    from_first = _attended(*rows, past=past).reshape(found.shape)
    named(
        found,
        wanted,
        (_attended(*both, past=n_k), "The mask is missing: a new token sees those after it."),
        (
            _attended(*both, past=0),
            "The mask is cut from the first key: rows and keys end together.",
        ),
        (_attended(*both, past=past, turn=True), "Sets are taken in turn: neighbours share one."),
        (_attended(*both, past=past, root=0), "The scores are not divided by the root of d."),
        (of_rows, "The folded rows are masked as if they were later tokens, one after another."),
        (from_first, "The folded rows are masked as if they were later tokens, one after another."),
        (wanted.flip(0), "The heads come back in another order."),
        otherwise="The outputs are wrong. Print the mask of one group, a row for each of its rows.",
    )


@exercise(3)
def wrong_rest(function: Callable[[Tensor, Tensor], Any]) -> str:
    """`function(p, q)` must return what is written if a refusal is followed by a draw from p.

    Shapes: p and q (v,), each with the sum 1; returns (v,).
    """
    for n in (5, 7):
        p, q = drawn(n).softmax(-1), drawn(n).softmax(-1)
        found = tensor_of(called(function, p, q), (n,))
        kept = torch.minimum(p, q)
        alpha = kept.sum()
        more = (p - q).clamp(min=0)
        named(
            found,
            kept + (1 - alpha) * p,
            (p, "That is p, which the right rule writes: here the rest is drawn from all of p."),
            (q, "That is what is guessed. Which guesses are kept, and what follows the others?"),
            (kept, "What is drawn after a refusal is missing: the sum must be 1."),
            (kept / alpha, "That is what is kept, divided by its sum. After a refusal p is drawn."),
            (kept + p, "A refusal happens with the probability 1 − α, not always."),
            (kept + alpha * p, "α is how often a guess is kept; a draw from p follows the others."),
            (more / more.sum(), "That is what the right rule draws from after a refusal."),
            (q * p + (1 - (q * p).sum()) * p, "A guess is kept with min(1, p / q), not with p."),
            otherwise="The probabilities are wrong. Add up the two ways in which x is written.",
        )
    return "What the draft guesses too often is written too often: the draft has changed the text."


@exercise(4)
def in_groups(function: Callable[[Tensor, int], Any]) -> str:
    """`function(x, size)` must return what comes back from 4 bits with a scale for each group.

    Shapes: x (n, d), in groups of ``size`` numbers that stand side by side; returns (n, d).
    """
    for n, d, size in ((5, 8, 4), (3, 12, 2)):
        x = drawn(n, d)
        x[:, 1] *= 20  # one large column, as keys have
        _name_rounded(x, size, tensor_of(called(function, x, size), (n, d)))
    x[0] = 0
    named(
        tensor_of(called(function, x, size), (n, d)),
        _in_groups(x, size),
        otherwise="A group of zeros must come back as zeros: what is its scale?",
    )
    return "The large number now spoils its own group alone. Each further scale takes bytes, too."


def _rounded(x: Tensor, most: int = 7, dim: int = -1) -> Tensor:
    """Return x rounded to −most … most steps, with one scale along ``dim``."""
    scale = x.abs().amax(dim, keepdim=True).clamp(min=1e-12) / most
    return (x / scale).round() * scale


def _in_groups(x: Tensor, size: int, most: int = 7) -> Tensor:
    return _rounded(x.unflatten(-1, (-1, size)), most).flatten(-2)


def _name_rounded(x: Tensor, size: int, found: Tensor) -> None:
    """Name what is wrong with the numbers that come back."""
    groups = x.unflatten(-1, (-1, size))
    scale = groups.abs().amax(-1, keepdim=True) / 7
    apart = x.unflatten(-1, (size, -1))  # every d / size-th number, as columns
    named(
        found,
        _in_groups(x, size),
        (x, "Nothing was rounded."),
        (_rounded(x), "One scale serves the whole row: each group has its own."),
        (_rounded(x, dim=0), "One scale serves a column: a group is a part of a row."),
        (_rounded(apart, dim=-2).flatten(-2), "A group's numbers must stand side by side."),
        (_rounded(groups, dim=-2).flatten(-2), "The largest is that of a group, over its numbers."),
        (
            (groups / scale).round().flatten(-2),
            "These are the whole numbers: multiply by the scale.",
        ),
        (((groups / scale).floor() * scale).flatten(-2), "Round to the nearest, not down."),
        (_in_groups(x, size, 127), "That is 8 bits, to 127. With 4 they go to 7."),
        (_in_groups(x, size, 15), "15 is the number of levels: they go from −7 to 7."),
        (_in_groups(x, size, 8), "With −8 to 8 there are 17 levels, and 4 bits have 16."),
        otherwise="The numbers are wrong. Print the scales: a row has d / size of them.",
    )
