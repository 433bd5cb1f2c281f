"""Lecture 5's exercises: wrong answers with the words that name the mistake, and blanks."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from attnbook.attention import attention
from attnlab.exercises import self_attention as lecture_5


def scaled(x):
    return x @ x.T / math.sqrt(x.shape[-1])


def masked(x, keep):
    return torch.softmax(scaled(x).masked_fill(~keep, -math.inf), -1) @ x


def lower(x, diagonal=0):
    return torch.ones(len(x), len(x), dtype=torch.bool).tril(diagonal)


def prefix(x, p, diagonal=0):
    keep = lower(x, diagonal)
    keep[:, :p] = True
    return keep


def rows_opened(x, p):
    keep = lower(x)
    keep[:p] = True
    return keep


def helped(x, p):
    return quietly(x, p)


def quietly(x, p):
    return attention(x, x, x, prefix(x, p)).output


def findings(order=True, inside=False, factor=8, hide=0):
    return {"order": order, "inside": inside, "factor": factor, "hide": hide}


def keeps(layer, x, order):
    order = list(order)
    return torch.allclose(layer(x[order]), layer(x)[order])


WRONG = [
    (lecture_5.prefix_attention, attention, "attention does it for you"),
    (lecture_5.prefix_attention, F.scaled_dot_product_attention, "does it for you"),
    (lecture_5.prefix_attention, quietly, "attention does it for you"),
    (lecture_5.prefix_attention, helped, "attention does it for you"),
    (
        lecture_5.prefix_attention,
        lambda x, p: F.scaled_dot_product_attention(x, x, x, prefix(x, p)),
        "scaled_dot_product_attention does it",
    ),
    (lecture_5.prefix_attention, lambda x, p: masked(x, lower(x)), "This is the causal layer"),
    (lecture_5.prefix_attention, lambda x, p: torch.softmax(scaled(x), -1) @ x, "no mask"),
    (lecture_5.prefix_attention, lambda x, p: masked(x, rows_opened(x, p)), "first p columns"),
    (lecture_5.prefix_attention, lambda x, p: masked(x, prefix(x, p + 1)), "p + 1 columns"),
    (lecture_5.prefix_attention, lambda x, p: masked(x, prefix(x, p, -1)), "not see itself"),
    (lecture_5.prefix_attention, lambda x, p: masked(x, prefix(x, p, 1)), "token of the future"),
    (lecture_5.prefix_attention, lambda x, p: masked(x, ~prefix(x, p)), "hid what should stay"),
    (
        lecture_5.prefix_attention,
        lambda x, p: (torch.softmax(scaled(x), -1) * prefix(x, p)) @ x,
        "after the softmax",
    ),
    (
        lecture_5.prefix_attention,
        lambda x, p: torch.softmax((x @ x.T).masked_fill(~prefix(x, p), -math.inf), -1) @ x,
        "forgot to divide",
    ),
    (
        lecture_5.prefix_attention,
        lambda x, p: torch.softmax((x @ x.T / 2).masked_fill(~prefix(x, p), -math.inf), -1) @ x,
        "by √n",
    ),
    (
        lecture_5.prefix_attention,
        lambda x, p: (
            torch.softmax((x @ x.T / 3**0.5).masked_fill(~prefix(x, p), -math.inf), -1) @ x
        ),
        "by √3",
    ),
    (
        lecture_5.prefix_attention,
        lambda x, p: torch.softmax(scaled(x) * prefix(x, p), -1) @ x,
        "score of 0 still gets a share",
    ),
    (
        lecture_5.prefix_attention,
        lambda x, p: torch.softmax(scaled(x).masked_fill(~prefix(x, p), -math.inf), 0) @ x,
        "over the queries",
    ),
    (
        lecture_5.prefix_attention,
        lambda x, p: torch.softmax(scaled(x) + (1 - prefix(x, p).double()) * -math.inf, -1) @ x,
        "Did you multiply 0 by ∞",
    ),
    (lecture_5.prefix_attention, lambda x, p: masked(x, prefix(x, 2)), "wrong for p = 0"),
    (lecture_5.prefix_attention, lambda x, p: masked(x, prefix(x, min(p, 2))), "wrong for p = n"),
    (lecture_5.prefix_attention, lambda x, p: x, "output is wrong"),
    (lecture_5.prefix_attention, lambda x, p: x @ x, "raised RuntimeError"),
    (lecture_5.prefix_attention, lambda x, p: (x, x), "wanted is (4, 5)"),
    (lecture_5.prefix_attention, lambda x, p: "x", "A tensor or lists of numbers"),
    (lecture_5.prefix_attention, lambda x, p: x.zero_(), "not yet."),  # destroys x
    (lecture_5.prefix_attention, 7, "A function was wanted"),
    (lecture_5.without_softmax, [True, False, 8, 0], "A dictionary was wanted"),
    (lecture_5.without_softmax, findings(order=False), "needs no softmax"),
    (lecture_5.without_softmax, findings(inside=True), "may be negative or large"),
    (lecture_5.without_softmax, findings(factor=2), "an average would double"),
    (lecture_5.without_softmax, findings(factor=4), "each score grows fourfold"),
    (lecture_5.without_softmax, findings(factor=16), "16 is not it"),
    (lecture_5.without_softmax, findings(hide=-math.inf), "−∞ was for the softmax"),
    (lecture_5.without_softmax, findings(hide=1), "still adds something"),
    (
        lecture_5.sees_no_order,
        lambda layer, x: torch.allclose(layer(x.flip(0)), layer(x)),
        "as it stands",
    ),
    (lecture_5.sees_no_order, lambda layer, x: True, "every layer blind"),
    (lecture_5.sees_no_order, lambda layer, x: False, "the answer is True"),
    (lecture_5.sees_no_order, lambda layer, x: keeps(layer, x, (3, 2, 1, 0)), "a blur over three"),
    (lecture_5.sees_no_order, lambda layer, x: keeps(layer, x, (1, 2, 3, 0)), "in a ring"),
    (lecture_5.sees_no_order, lambda layer, x: keeps(layer, x, (2, 1, 0, 3)), "every second token"),
    (lecture_5.sees_no_order, lambda layer, x: keeps(layer, x, (1, 0, 2, 3)), "make 2 of 24"),
    (lecture_5.read_the_mask, lambda i, j: j <= i, "That is the causal mask"),
    (lecture_5.read_the_mask, lambda i, j: (i - j) % 2 == 0, "nobody looks ahead"),
    (lecture_5.read_the_mask, lambda i, j: i == 0 or (i <= j and (j - i) % 2 == 0), "i is the row"),
    (lecture_5.read_the_mask, lambda i, j: j == 0 or j < i, "each token may attend to itself"),
    (lecture_5.read_the_mask, lambda i, j: j <= i and (i - j) % 2 == 0, "the first column"),
    (
        lecture_5.read_the_mask,
        lambda i, j: j == 0 or (j <= i and (i - j) % 2 == 0 and i - j < 5),
        "For i = 7 and j = 1",
    ),
    (lecture_5.read_the_mask, 5, "A function was wanted"),
]
BLANK = [
    (lecture_5.prefix_attention, lambda x, p: ...),
    (lecture_5.without_softmax, ...),
    (lecture_5.without_softmax, findings(factor=...)),
    (lecture_5.sees_no_order, lambda layer, x: None),
    (lecture_5.read_the_mask, lambda i, j: None),
]
