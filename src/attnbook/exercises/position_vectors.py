"""The checks of lecture 9, "Positions"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnbook.exercises import Mistake, called, close, exercise, named, tensor_of
from attnbook.positions import sinusoidal

LEFT = ((1, 1, 1, 1), (0, 0, 1, 1), (0, 1, 1, 1))  # three sentences, padded on the left


def speeds(d: int, power: float = -1.0) -> Tensor:
    """Return 10000^(power · 2i / d) for every pair i, (d / 2,)."""
    return 10_000.0 ** (power * torch.arange(0, d, 2, dtype=torch.float64) / d)


def hands(angles: Tensor) -> Tensor:
    """Return sines and cosines side by side: (n, d) for angles (n, d / 2)."""
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)


def turn(k: int, d: int, omega: Tensor | None = None) -> Tensor:
    """Return R(k), (d, d), with PE[p] R(k) = PE[p + k]."""
    angles = k * (speeds(d) if omega is None else omega)
    blocks = torch.stack((angles.cos(), -angles.sin(), angles.sin(), angles.cos()), -1)
    return torch.block_diag(*blocks.unflatten(-1, (2, 2)))


@exercise(1)
def sinusoids(function: Callable[[int, int], Any]) -> str:
    """`function(n, d)` must return the sinusoidal positions, (n, d)."""
    n, d = 5, 8
    found = tensor_of(called(function, n, d), (n, d))
    place = torch.arange(n, dtype=torch.float64)[:, None]
    angles = place * speeds(d)
    named(
        found,
        (hands(place * speeds(d, 1)), "Your angles multiply: divide p by 10000^(2i/d)."),
        (hands(angles).unflatten(-1, (-1, 2)).flip(-1).flatten(-2), "The sine comes first."),
        (
            torch.cat((angles.sin(), angles.cos()), -1),
            "All sines, then all cosines, as in some code: the paper sets each pair together.",
        ),
        (hands(angles + speeds(d)), "Your first position is 1: count from 0."),
        (
            hands(place * speeds(d, -2)),
            "The exponent is 2i/d, with i from 0 to d/2 − 1: yours is 4i/d.",
        ),
        (hands(place * speeds(d, -0.5)), "The exponent is 2i/d: yours is i/d."),
        (
            _by_column(place, d),
            "A sine and its cosine must share a speed: columns 2i and 2i + 1 both take 2i/d.",
        ),
    )
    if not close(found, sinusoidal(n, d, dtype=torch.float64)):
        raise Mistake("The table is wrong. Row 0 must be 0, 1, 0, 1, … Begin with d = 2.")
    if not close(tensor_of(called(function, 3, 6), (3, 6)), sinusoidal(3, 6, dtype=torch.float64)):
        raise Mistake("Right for d = 8, wrong for d = 6: use the n and d you are given.")
    return "Row 0 is 0, 1, 0, 1, …: at position 0 every hand points up."


@exercise(2)
def similarity(function: Callable[[int, int], Any]) -> str:
    """`function(k, d)` must return the cosine of two positions at the distance k, a number."""

    def at(k: int, d: int) -> Tensor:
        return tensor_of(called(function, k, d), ())

    found, angles = at(5, 64), 5 * speeds(64)
    wanted = angles.cos().mean()
    named(
        found,
        (angles.cos().sum(), "That is the dot product: divide by the squared length, d / 2."),
        (wanted / 2, "You divided by d. There are d / 2 pairs, and each adds one cosine."),
        ((5 * speeds(64, 1)).cos().mean(), "The speeds multiply: ω_i is 1 / 10000^(2i/d)."),
        (angles.sin().mean(), "Sines: the dot product of two hands is the cosine between them."),
        (speeds(64).cos().mean(), "That is the cosine at distance 1: the angles are k · ω_i."),
    )
    if not close(found, wanted):
        raise Mistake(f"At k = 5 and d = 64 you have {found:.4f}. At k = 0 it must be 1.")
    if not all(close(at(k, 8), (k * speeds(8)).cos().mean()) for k in (0, -2, 40)):
        raise Mistake("Right for k = 5 and d = 64, wrong for others: use k and d themselves.")
    return "One number for each distance: no position was needed."


@exercise(3)
def rotation(function: Callable[[int, int], Any]) -> str:
    """`function(k, d)` must return the matrix R(k), (d, d), that shifts every position by k."""
    found = tensor_of(called(function, 3, 6), (6, 6))
    named(
        found,
        (turn(-3, 6), "It turns back: PE[p] R is PE[p − k]. Is it the transpose of what you want?"),
        (turn(1, 6), "It shifts by 1, whatever k is: the angle is k · ω_i."),
        (turn(3, 6, torch.ones(3).double()), "Every pair turns alike: pair i turns by k · ω_i."),
        (turn(3, 6, speeds(6, 1)), "The speeds multiply: ω_i is 1 / 10000^(2i/d)."),
    )
    if not close(found, turn(3, 6)):
        raise Mistake("It does not shift by k. For d = 2, compare [0, 1] @ R with (sin k, cos k).")
    if not close(tensor_of(called(function, -7, 4), (4, 4)), turn(-7, 4)):
        raise Mistake("Right for k = 3 and d = 6, wrong for −7 and 4: use k and d themselves.")
    return "R(k) R(−k) is the identity, and p appears nowhere."


@exercise(4)
def left_padded(function: Callable[[Tensor], Any]) -> str:
    """`function(real)` must return each token's position (b, n), 0 for padding on the left."""
    real = torch.tensor(LEFT).bool()
    answer = called(function, real)
    found = tensor_of(answer, (3, 4))
    wanted = (real.cumsum(-1) - 1).clamp(min=0)
    named(
        found,
        (
            torch.arange(4).expand(3, 4),
            "These are slots: the first word of sentence 2 is at 0.",
        ),
        (real.cumsum(-1), "You count from 1: the first real token is at position 0."),
        (real.cumsum(-1) - 1, "Padding has the position −1, which no table has: make it 0."),
        ((real.cumsum(0) - 1).clamp(min=0), "You counted down the batch: count along a sentence."),
        (
            torch.arange(4) * real,
            "The padding is at 0, but the first real token is not: subtract the padding before it.",
        ),
        (wanted.flip(-1), "You counted from the right: the first word of a sentence is at 0."),
    )
    if not close(found, wanted):
        raise Mistake("The positions are wrong. Sentence 2 must be 0, 0, 0, 1.")
    other = torch.tensor([[0, 0, 0, 0, 1]]).bool()
    if not close(tensor_of(called(function, other), (1, 5)), torch.zeros(1, 5)):
        raise Mistake("Right for this batch, wrong for another: use `real` itself.")
    if isinstance(answer, Tensor) and answer.is_floating_point():
        raise Mistake("A position is the number of a row: return integers, not floats.")
    return "A sentence now has the same positions with padding and without."


@exercise(5)
def look_back(function: Callable[[int, int], Any]) -> str:
    """`function(k, d)` must return W (d, d) by which position p attends to p − k, with 0.9."""
    for k in (1, 3):
        w = tensor_of(called(function, k, 64), (64, 64))
        table = sinusoidal(40, 64, dtype=torch.float64)
        weights = torch.softmax(table @ w @ table.T / 8, dim=-1)
        _where(weights, k)
        share = float(weights.diagonal(-k).min())
        if share < 0.9:
            raise Mistake(
                f"Every row prefers the right key, with at least {share:.3f} of its weight: "
                "make W larger, for longer scores make a harder choice."
            )
    return "A head that looks k to the left, at any position, and not one number was learned."


def _by_column(place: Tensor, d: int) -> Tensor:
    """Return the table of a wrong answer that has a speed for each column, not for each pair."""
    columns = torch.arange(d, dtype=torch.float64)
    angles = place * 10_000.0 ** (-columns / d)
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos())


def _where(weights: Tensor, k: int) -> None:
    """Say which key each of the rows from k on prefers, if it is not the one k to the left."""
    if not torch.isfinite(weights).all():
        raise Mistake("Some weights are not finite: W is far too large.")
    rows = torch.arange(k, len(weights))
    best = weights.argmax(-1)[rows]
    if torch.equal(best[:-k], rows[:-k] + k):  # the last k have none to the right
        raise Mistake(f"Every row prefers the key {k} to the right: turn by −k.")
    if torch.equal(best, rows):
        raise Mistake("Every row prefers itself: W must turn the query by −k.")
    if k > 1 and torch.equal(best, rows - 1):
        raise Mistake("For k = 3 the rows still look 1 to the left: use the k you are given.")
    other = best != rows - k
    if other.any():
        row, key = int(rows[other][0]), int(best[other][0])
        raise Mistake(
            f"Not every row prefers the key {k} to the left: row {row} prefers key {key}. "
            "What is PE[p] R(−k)?"
        )
