"""The checks of lecture 9, "Positions"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlab.exercises import (
    Mistake,
    called,
    close,
    drawn,
    exercise,
    named,
    tensor_of,
    training,
    whole,
)

Grid = Callable[[Tensor, list[int], list[int]], Any]
LEFT = ((1, 1, 1, 1), (0, 0, 1, 1), (0, 1, 1, 1))  # three sentences, padded on the left


def speeds(d: int) -> Tensor:
    """Return 10000^(−2i / d) for every pair i, (d / 2,)."""
    return 10_000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)


@exercise(2)
def grid(function: Grid) -> str:
    """`function(x, rows, columns)` must turn x (n, d) so that products know differences alone.

    Which components make a pair, which pairs tell the row, and the direction are the reader's.
    """
    x, (rows, columns) = drawn(6, 8), whole(2, 5, 2, 6).tolist()
    rows[0] = columns[1] = 0
    found = tensor_of(called(function, x, [*rows], [*columns]), (6, 8))
    down, right = _step(function, 8, (1, 0)), _step(function, 8, (0, 1))
    if not (_turns(down) and _turns(right)):
        raise Mistake("A vector that is turned keeps its length: turn it, and add nothing to it.")
    if close(down, torch.eye(8)):
        raise Mistake("A step to the next row turns nothing: the rows are not used.")
    if close(down, right):
        raise Mistake(
            "A step down and a step to the right turn alike: (1, 0) and (0, 1) look the same."
        )
    if close(right, torch.eye(8)):
        raise Mistake("A step to the next column turns nothing: the columns are not used.")
    powers = torch.linalg.matrix_power
    own = [powers(down, r) @ powers(right, c) for r, c in zip(rows, columns, strict=True)]
    if not close(down @ right, right @ down):
        raise Mistake("Down and then right is not right and then down: give each pairs of its own.")
    if not close(found, torch.stack([row @ turn for row, turn in zip(x, own, strict=True)])):
        raise Mistake("Two rows down must be twice one row down, whichever patch it is.")
    for name, turn in (("row", down), ("column", right)):
        angles = _angles(turn)
        if close(angles, _sorted(speeds(8))):
            raise Mistake(f"The {name} turns all pairs: half of them belong to the {name}.")
        if not close(angles, _sorted(speeds(4))):
            shown = ", ".join(f"{angle:.2f}" for angle in angles.flip(0).tolist() if angle > 5e-5)
            raise Mistake(
                f"A step to the next {name} turns pairs by {shown} radians: for d = 8, the speeds "
                "of d // 2 = 4 components were wanted, 1 and 0.01."
            )
    four = _step(function, 4, (2, 3))
    if not close(_angles(four), torch.tensor([2.0, 3.0])):
        raise Mistake("Right for d = 8, wrong for d = 4: use the d of the x you are given.")
    return "A product now knows how many rows and how many columns lie between two patches."


def _step(function: Grid, d: int, place: tuple[int, int]) -> Tensor:
    """Return the matrix (d, d) by which the patch at a place is turned."""
    row, column = place
    unit = torch.eye(d, dtype=torch.float64)
    return tensor_of(called(function, unit, [row] * d, [column] * d), (d, d))


def _turns(matrix: Tensor) -> bool:
    return close(matrix @ matrix.T, torch.eye(len(matrix)))


def _angles(matrix: Tensor) -> Tensor:
    """Return by how much a matrix turns each of its pairs, from 0 to π, in order: (d / 2,)."""
    return torch.linalg.eigvals(matrix).angle().abs().sort().values[::2]


def _sorted(some: Tensor) -> Tensor:
    """Return the angles of one step where the other pairs, if there are any, stand still."""
    still = torch.zeros(4 - len(some), dtype=torch.float64)
    return torch.cat([some, still]).sort().values


@exercise(4)
def left_padded(function: Callable[[Tensor], Any]) -> str:
    """`function(real)` must return each token's position (b, n), 0 for padding on the left."""
    real = torch.tensor(LEFT).bool()
    answer = called(function, real)
    found = tensor_of(answer, (3, 4))
    wanted = (real.cumsum(-1) - 1).clamp(min=0)
    named(
        found,
        wanted,
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
        otherwise="The positions are wrong. Sentence 2 must be 0, 0, 0, 1.",
    )
    n = int(whole(5, 9))
    other = torch.arange(n) >= whole(0, n - 1, 6, 1)
    named(
        tensor_of(called(function, other), (6, n)),
        (other.cumsum(-1) - 1).clamp(min=0),
        otherwise="Right for this batch, wrong for another: use `real` itself.",
    )
    if isinstance(answer, Tensor) and answer.is_floating_point():
        raise Mistake("A position is the number of a row: return integers, not floats.")
    return "A sentence now has the same positions with padding and without."


@exercise(3)
def begun_later(function: Callable[[], Any]) -> str:
    """`function()` must train on strings that begin at 0 to 4, and return 20 shares, by place."""
    with training() as at_least:
        found = tensor_of(called(function), (20,))
    if not bool(((found >= 0) & (found <= 1)).all()):
        raise Mistake("Shares lie between 0 and 1: average what is right over the strings.")
    if close(found, found.mean().expand(20)):
        raise Mistake("All places have the same share: average over the strings alone.")
    if found[13] < 0.6 and found[0] > 0.8:
        raise Mistake("It fails after place 12, as before: do the strings still begin at 0?")
    if found[:3].min() < 0.7:
        raise Mistake(
            "The first places are wrong: in training some strings must begin at 0, and when they "
            "are asked all of them do."
        )
    if found[2:13].min() < 0.85:
        raise Mistake("It fails before place 12: has it learnt the task? Keep what `trained` does.")
    if found[17] > 0.75:
        raise Mistake("Place 18 is still right: do the strings begin at more than 4?")
    at_least(500)
    return (
        "The failure has moved on with the positions that were trained; the last of them is at "
        "place 16. Print the shares: does it begin there, or before? Few strings reach the last "
        "places, and new keys draw weight: which of the two it is, hiding places 17 to 20 tells."
    )
