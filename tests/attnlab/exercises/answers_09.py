"""Lecture 9's exercises: wrong answers with the words that name the mistake."""

import torch

from attnbook.positions import Rotary, sinusoidal
from attnlab.exercises import position_vectors as lecture_9


def turned(x, positions, d=None):
    """Rotary positions, with the speeds of d components (those of x unless given)."""
    rope = Rotary(x.shape[1] if d is None else d).double()
    wide = torch.cat([x, x.new_zeros(len(x), rope.d - x.shape[1])], dim=1)
    turned = [rope(row, position) for row, position in zip(wide.split(1), positions, strict=True)]
    return torch.cat(turned)[:, : x.shape[1]]


def halves(x, rows, columns, d=None):
    half = x.shape[1] // 2
    left, right = turned(x[:, :half], rows, d), turned(x[:, half:], columns, d)
    return torch.cat([left, right], dim=1)


def added(x, rows, columns):
    half = x.shape[1] // 2
    table = sinusoidal(20, half, dtype=torch.float64)
    return x + torch.cat([table[rows], table[columns]], dim=1)


def rows_after_all(x, rows, columns):
    """Each half is turned, and all pairs of it once more by a rotation that mixes both."""
    mix = torch.linalg.qr(torch.randn(8, 8, generator=torch.Generator().manual_seed(0)).double())[0]
    return turned(turned(x, rows) @ mix, columns) @ mix.T


def places(real):
    return (real.long().cumsum(-1) - 1).clamp(min=0)


def shares(*after, first=1.0, trained=1.0):
    """The shares of 20 places of which the last are given."""
    middle = 19 - len(after)
    return torch.tensor([first, *[trained] * middle, *after])


RIGHT = shares(0.96, 0.99, 0.99, 0.49, 0.32, 0.37, 0.58)

WRONG = {
    lecture_9.grid: [
        (lambda x, rows, columns: x[:, :4], "wanted is (6, 8)"),
        (added, "keeps its length"),
        (lambda x, rows, columns: turned(x, columns), "the rows are not used"),
        (lambda x, rows, columns: turned(x, rows), "the columns are not used"),
        (lambda x, rows, columns: turned(turned(x, rows), columns), "turn alike"),
        (rows_after_all, "right and then down"),
        (lambda x, rows, columns: halves(x, rows, [c * c for c in columns]), "twice one row down"),
        (
            lambda x, rows, columns: turned(turned(x, rows), [2 * c for c in columns]),
            "half of them belong to the row",
        ),
        (lambda x, rows, columns: halves(x, rows, columns, 8), "1.00, 0.10 radians"),
        (
            lambda x, rows, columns: halves(x, rows, columns) if x.shape[1] == 8 else x,
            "wrong for d = 4",
        ),
    ],
    lecture_9.left_padded: [
        (lambda real: torch.arange(4).expand(3, 4), "These are slots"),
        (lambda real: real.long().cumsum(-1), "You count from 1"),
        (lambda real: real.long().cumsum(-1) - 1, "the position −1"),
        (lambda real: (real.long().cumsum(0) - 1).clamp(min=0), "down the batch"),
        (lambda real: torch.arange(4) * real, "subtract the padding before it"),
        (lambda real: places(real).flip(-1), "from the right"),
        (lambda real: torch.zeros(3, 4), "positions are wrong"),
        (lambda real: places(real) if len(real) == 3 else 0 * real, "wrong for another"),
        (lambda real: places(real).float(), "return integers"),
    ],
    lecture_9.begun_later: [
        (lambda: RIGHT[:12], "wanted is (20,)"),
        (lambda: RIGHT * 1_000, "between 0 and 1"),
        (lambda: torch.full((20,), 0.8), "the same share"),
        (lambda: shares(0.62, 0.34, 0.17, 0.16, 0.51, 0.6, 0.65, 0.81), "still begin at 0"),
        (lambda: shares(0.99, 0.9, 0.8, 0.7, 0.3, 0.3, first=0.1), "some strings must begin at 0"),
        (lambda: shares(0.6, 0.6, 0.6, 0.4, 0.3, 0.3, 0.3, trained=0.8), "has it learnt the task"),
        (lambda: shares(0.99, 0.83, 0.66), "more than 4"),
        (lambda: RIGHT, "trained for 0 steps"),
    ],
}
