"""Lecture 9's exercises: wrong answers with the words that name the mistake, and blanks."""

from __future__ import annotations

import torch

from attnbook.exercises import position_vectors as lecture_9


def speeds(d, power=-1.0):
    return 10_000.0 ** (power * torch.arange(0, d, 2, dtype=torch.float64) / d)


def hands(angles):
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)


def table(n, d, power=-1.0, first=0):
    return hands((first + torch.arange(n))[:, None] * speeds(d, power))


def by_column(n, d):
    """A speed for each column, in place of one for each pair."""
    angles = torch.arange(n)[:, None] * 10_000.0 ** (-torch.arange(d).double() / d)
    return torch.where(torch.arange(d) % 2 == 0, angles.sin(), angles.cos())


def halves(n, d):
    rows = table(n, d)
    return torch.cat((rows[:, ::2], rows[:, 1::2]), -1)


def turn(angles):
    c, s = angles.cos(), angles.sin()
    return torch.block_diag(*torch.stack((c, -s, s, c), -1).unflatten(-1, (2, 2)))


def right_turn(k, d):
    return turn(k * speeds(d))


def cosine(k, d):
    return float((k * speeds(d)).cos().mean())


def places(real):
    return (real.long().cumsum(-1) - 1).clamp(min=0)


def head(k, d, size=40):
    return size * right_turn(-k, d)


WRONG = [
    (lecture_9.sinusoids, lambda n, d: table(n, d, 1), "Your angles multiply"),
    (
        lecture_9.sinusoids,
        lambda n, d: table(n, d).unflatten(-1, (-1, 2)).flip(-1).flatten(-2),
        "The sine comes first",
    ),
    (lecture_9.sinusoids, halves, "then all cosines"),
    (lecture_9.sinusoids, lambda n, d: table(n, d, first=1), "count from 0"),
    (lecture_9.sinusoids, lambda n, d: table(n, d, -2), "yours is 4i/d"),
    (lecture_9.sinusoids, lambda n, d: table(n, d, -0.5), "yours is i/d"),
    (lecture_9.sinusoids, by_column, "must share a speed"),
    (lecture_9.sinusoids, lambda n, d: torch.zeros(n, d), "table is wrong"),
    (lecture_9.sinusoids, lambda n, d: table(n, 8)[:, :d], "wrong for d = 6"),
    (lecture_9.sinusoids, lambda n, d: table(d, n + 1), "wanted is (5, 8)"),
    (lecture_9.similarity, lambda k, d: cosine(k, d) * d / 2, "That is the dot product"),
    (lecture_9.similarity, lambda k, d: cosine(k, d) / 2, "You divided by d."),
    (
        lecture_9.similarity,
        lambda k, d: float((k * speeds(d, 1)).cos().mean()),
        "The speeds multiply",
    ),
    (lecture_9.similarity, lambda k, d: float((k * speeds(d)).sin().mean()), "Sines:"),
    (lecture_9.similarity, lambda k, d: cosine(1, d), "cosine at distance 1"),
    (lecture_9.similarity, lambda k, d: 0.7, "you have 0.7000"),
    (lecture_9.similarity, lambda k, d: cosine(k, 64), "wrong for others"),
    (lecture_9.similarity, lambda k, d: (k * speeds(d)).cos(), "wanted is ()"),
    (lecture_9.rotation, lambda k, d: right_turn(k, d).T, "It turns back"),
    (lecture_9.rotation, lambda k, d: right_turn(1, d), "whatever k is"),
    (lecture_9.rotation, lambda k, d: turn(k * torch.ones(d // 2)), "Every pair turns alike"),
    (lecture_9.rotation, lambda k, d: turn(k * speeds(d, 1)), "The speeds multiply"),
    (lecture_9.rotation, lambda k, d: torch.eye(d), "does not shift by k"),
    (lecture_9.rotation, lambda k, d: right_turn(abs(k), d), "wrong for −7 and 4"),
    (lecture_9.rotation, lambda k, d: right_turn(k, d)[:2], "wanted is (6, 6)"),
    (lecture_9.left_padded, lambda real: torch.arange(4).expand(3, 4), "These are slots"),
    (lecture_9.left_padded, lambda real: real.long().cumsum(-1), "You count from 1"),
    (lecture_9.left_padded, lambda real: real.long().cumsum(-1) - 1, "the position −1"),
    (
        lecture_9.left_padded,
        lambda real: (real.long().cumsum(0) - 1).clamp(min=0),
        "down the batch",
    ),
    (
        lecture_9.left_padded,
        lambda real: torch.arange(4) * real,
        "subtract the padding before it",
    ),
    (lecture_9.left_padded, lambda real: places(real).flip(-1), "from the right"),
    (lecture_9.left_padded, lambda real: torch.zeros(3, 4), "positions are wrong"),
    (
        lecture_9.left_padded,
        lambda real: places(real) if len(real) == 3 else torch.ones(1, 5),
        "wrong for another",
    ),
    (lecture_9.left_padded, lambda real: places(real).float(), "return integers"),
    (lecture_9.look_back, lambda k, d: torch.eye(d) * 40, "prefers itself"),
    (lecture_9.look_back, lambda k, d: head(-k, d), "to the right"),
    (lecture_9.look_back, lambda k, d: head(1, d), "still look 1 to the left"),
    (lecture_9.look_back, lambda k, d: head(k, d, 5), "make W larger"),
    (lecture_9.look_back, lambda k, d: head(2, d), "to the left: row 2 prefers key 0"),
    (lecture_9.look_back, lambda k, d: head(k, d) * float("inf"), "far too large"),
    (lecture_9.look_back, lambda k, d: head(k, 8), "wanted is (64, 64)"),
]
BLANK = [
    (lecture_9.sinusoids, lambda n, d: None),
    (lecture_9.similarity, lambda k, d: ...),
    (lecture_9.rotation, lambda k, d: None),
    (lecture_9.left_padded, lambda real: ...),
    (lecture_9.look_back, lambda k, d: None),
]
