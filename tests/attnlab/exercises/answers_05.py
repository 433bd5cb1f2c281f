"""Lecture 5's exercises: wrong answers with the words that name the mistake."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from attnbook.attention import attention
from attnbook.attention import attention as att
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


def attention_weights(scores, keep):
    """A reader's own, which bears the library's name."""
    return torch.softmax(scores.masked_fill(~keep, -math.inf), -1)


def by_own_helper(x, p):
    return attention_weights(scaled(x), prefix(x, p)) @ x


def by_default(x, p, how=attention):
    return how(x, x, x, prefix(x, p)).output


def by_torchs_module(x, p):
    layer = nn.MultiheadAttention(x.shape[-1], 1).double()
    return layer(x, x, x, attn_mask=~prefix(x, p))[0]


def findings(order=True, inside=False, factor=8, hide=0):
    return {"order": order, "inside": inside, "factor": factor, "hide": hide}


def keeps(layer, x, order):
    order = list(order)
    return torch.allclose(layer(x[order]), layer(x)[order])


WRONG = {
    lecture_5.prefix_attention: [
        (attention, "attention does it for you"),
        (F.scaled_dot_product_attention, "does it for you"),
        (quietly, "attention does it for you"),
        (helped, "attention does it for you"),
        (
            lambda x, p: F.scaled_dot_product_attention(x, x, x, prefix(x, p)),
            "scaled_dot_product_attention does it",
        ),
        (lambda x, p: att(x, x, x, prefix(x, p)).output, "attention does it for you"),
        (lambda x, p: by_default(x, p), "attention does it for you"),
        (
            lambda x, p: getattr(F, "scaled_dot_" + "product_attention")(x, x, x, prefix(x, p)),
            "scaled_dot_product_attention does it",
        ),
        (
            lambda x, p: next(map(vars(F)["scaled_dot_product_attention"], *[[x]] * 3)),
            "scaled_dot_product_attention does it",
        ),
        (by_torchs_module, "MultiheadAttention does it"),
        (lambda x, p: masked(x, lower(x)), "This is the causal layer"),
        (lambda x, p: torch.softmax(scaled(x), -1) @ x, "no mask"),
        (lambda x, p: masked(x, rows_opened(x, p)), "first p columns"),
        (lambda x, p: masked(x, prefix(x, p + 1)), "p + 1 columns"),
        (lambda x, p: masked(x, prefix(x, p, -1)), "not see itself"),
        (lambda x, p: masked(x, prefix(x, p, 1)), "token of the future"),
        (lambda x, p: masked(x, ~prefix(x, p)), "hid what should stay"),
        (lambda x, p: (torch.softmax(scaled(x), -1) * prefix(x, p)) @ x, "after the softmax"),
        (
            lambda x, p: torch.softmax((x @ x.T).masked_fill(~prefix(x, p), -math.inf), -1) @ x,
            "forgot to divide",
        ),
        (
            lambda x, p: torch.softmax((x @ x.T / 2).masked_fill(~prefix(x, p), -math.inf), -1) @ x,
            "by √n",
        ),
        (
            lambda x, p: (
                torch.softmax((x @ x.T / 3**0.5).masked_fill(~prefix(x, p), -math.inf), -1) @ x
            ),
            "by √3",
        ),
        (
            lambda x, p: torch.softmax(scaled(x) * prefix(x, p), -1) @ x,
            "score of 0 still gets a share",
        ),
        (
            lambda x, p: torch.softmax(scaled(x).masked_fill(~prefix(x, p), -math.inf), 0) @ x,
            "over the queries",
        ),
        (
            lambda x, p: torch.softmax(scaled(x) + (1 - prefix(x, p).double()) * -math.inf, -1) @ x,
            "Did you multiply 0 by ∞",
        ),
        (lambda x, p: masked(x, prefix(x, 2)), "wrong for p = 0"),
        (lambda x, p: masked(x, prefix(x, min(p, 2))), "wrong for p = n"),
        (lambda x, p: x, "output is wrong"),
        (lambda x, p: x @ x, "raised RuntimeError"),
        (lambda x, p: (x, x), "wanted is (4, 5)"),
        (lambda x, p: "x", "A tensor or lists of numbers"),
        (lambda x, p: x.zero_(), "not yet."),
        (7, "A function was wanted"),
    ],
    lecture_5.without_softmax: [
        ([True, False, 8, 0], "A dictionary was wanted"),
        (findings(order=False), "needs no softmax"),
        (findings(order="no"), "order: True or False was wanted, this is 'no'"),
        (findings(inside="False"), "inside: True or False was wanted"),
        (findings(inside=0), "inside: True or False was wanted, this is 0"),
        (findings(inside=True), "may be negative or large"),
        (findings(factor=math.nan), "factor: this is NaN"),
        (findings(factor=2), "an average would double"),
        (findings(factor=4), "each score grows fourfold"),
        (findings(factor=16), "16 is not it"),
        (findings(hide=-math.inf), "−∞ was for the softmax"),
        (findings(hide=1), "still adds something"),
    ],
    lecture_5.sees_no_order: [
        (lambda layer, x: torch.allclose(layer(x.flip(0)), layer(x)), "as it stands"),
        (lambda layer, x: True, "every layer blind"),
        (lambda layer, x: False, "the answer is True"),
        (lambda layer, x: keeps(layer, x, (3, 2, 1, 0)), "a blur over three"),
        (lambda layer, x: keeps(layer, x, (1, 2, 3, 0)), "in a ring"),
        (lambda layer, x: keeps(layer, x, (2, 1, 0, 3)), "every second token"),
        (lambda layer, x: keeps(layer, x, (1, 0, 2, 3)), "make 2 of 24"),
    ],
    lecture_5.read_the_mask: [
        (lambda i, j: j <= i, "That is the causal mask"),
        (lambda i, j: (i - j) % 2 == 0, "nobody looks ahead"),
        (lambda i, j: i == 0 or (i <= j and (j - i) % 2 == 0), "i is the row"),
        (lambda i, j: j == 0 or j < i, "each token may attend to itself"),
        (lambda i, j: j <= i and (i - j) % 2 == 0, "the first column"),
        (lambda i, j: j == 0 or (j <= i and (i - j) % 2 == 0 and i - j < 5), "For i = 7 and j = 1"),
        (lambda i, j: j == 0 or (j <= i and (i - j) % 2 == 0) or None, "return False"),
        (lambda i, j: lecture_5.unknown_weights()[i, j] > 0, "unknown_weights does it for you"),
        (lambda i, j: lecture_5._unknown_mask(20)[i, j], "_unknown_mask does it for you"),
        (lambda i, j: int(j == 0), "True or False was wanted, this is"),
        (5, "A function was wanted"),
    ],
}
ALLOWED = {
    lecture_5.prefix_attention: [by_own_helper],
    lecture_5.without_softmax: [findings(torch.tensor(True), np.bool_(False))],
}
