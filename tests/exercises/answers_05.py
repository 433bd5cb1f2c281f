"""Lecture 5's exercises: wrong answers with the words that name the mistake, and blanks."""

from __future__ import annotations

import math

import torch

from attnbook.exercises import self_attention as lecture_5

HAD_BOWL_NUTS = [[2, -1, 0], [1, 1, 1], [1, 2, 2]]


def scaled(x):
    return x @ x.T / math.sqrt(x.shape[-1])


def masked(x, keep):
    return torch.softmax(scaled(x).masked_fill(~keep, -math.inf), -1) @ x


def lower(x, diagonal=0):
    return torch.ones(len(x), len(x), dtype=torch.bool).tril(diagonal)


def with_had(*had):
    return [list(had), *HAD_BOWL_NUTS[1:]]


WRONG = [
    (lecture_5.weights_of_one_token, lambda x, i: torch.softmax(x @ x[i], 0), "divide the scores"),
    (lecture_5.weights_of_one_token, lambda x, i: torch.exp(scaled(x)[i]), "do not sum to 1"),
    (lecture_5.weights_of_one_token, lambda x, i: scaled(x)[i], "softmax is still to come"),
    (lecture_5.weights_of_one_token, lambda x, i: torch.softmax(x @ x[i] / 2, 0), "√n"),
    (
        lecture_5.weights_of_one_token,
        lambda x, i: torch.softmax(scaled(x), 0)[i],
        "over the queries",
    ),
    (lecture_5.weights_of_one_token, lambda x, i: torch.softmax(scaled(x), -1), "wanted is (4,)"),
    (lecture_5.weights_of_one_token, lambda x, i: x[i, :4], "are wrong"),
    (lecture_5.weights_of_one_token, 7, "A function was wanted"),
    (lecture_5.weights_of_one_token, lambda x, i: torch.softmax(scaled(x)[2], 0), "must be x[i]"),
    (lecture_5.causal_self_attention, lambda x: masked(x, lower(x, -1)), "Row 0 is NaN"),
    (lecture_5.causal_self_attention, lambda x: masked(x, ~lower(x, -1)), "upside down"),
    (
        lecture_5.causal_self_attention,
        lambda x: torch.softmax(scaled(x), -1).tril() @ x,
        "after the softmax",
    ),
    (lecture_5.causal_self_attention, lambda x: torch.softmax(scaled(x), -1) @ x, "no mask"),
    (lecture_5.causal_self_attention, lambda x: masked(x, ~lower(x)), "hid what should stay"),
    (lecture_5.causal_self_attention, lambda x: x, "output is wrong"),
    (lecture_5.causal_self_attention, lambda x: x @ x, "raised RuntimeError"),
    (
        lecture_5.causal_self_attention,
        lambda x: torch.softmax((x @ x.T).masked_fill(~lower(x), -math.inf), -1) @ x,
        "forgot to divide",
    ),
    (
        lecture_5.causal_self_attention,
        lambda x: torch.softmax(scaled(x).tril(), -1) @ x,
        "score of 0 still gets a share",
    ),
    (
        lecture_5.causal_self_attention,
        lambda x: torch.softmax(scaled(x).masked_fill(~lower(x), -math.inf), 0) @ x,
        "over the queries",
    ),
    (lecture_5.causal_self_attention, lambda x: (x, x), "wanted is (4, 5)"),
    (lecture_5.causal_self_attention, lambda x: "x", "A tensor or lists of numbers"),
    (lecture_5.weights_of_one_token, lambda x, i: torch.softmax(x @ x[i] / 3**0.5, 0), "by √3"),
    (lecture_5.weights_of_one_token, lambda x, i: torch.softmax(x @ x[i] / 5, 0), "square root"),
    (lecture_5.causal_self_attention, lambda x: masked(x, lower(x, 1)), "one token of the future"),
    (
        lecture_5.causal_self_attention,
        lambda x: torch.softmax(scaled(x) + (1 - lower(x).double()) * -math.inf, -1) @ x,
        "Did you multiply 0 by ∞",
    ),
    (
        lecture_5.sees_no_order,
        lambda layer, x: torch.allclose(layer(x.flip(0)), layer(x)),
        "as it stands",
    ),
    (lecture_5.sees_no_order, lambda layer, x: True, "every layer blind"),
    (lecture_5.sees_no_order, lambda layer, x: False, "the answer is True"),
    (lecture_5.scores_computed, lambda n: n * n / 2, "cuts the diagonal in two"),
    (lecture_5.attend_to_had, 5, "wanted is (3, 3)"),
    (lecture_5.attend_to_had, with_had(2, math.inf, 0), "ordinary numbers"),
    (lecture_5.attend_to_had, with_had(2, math.nan, 0), "ordinary numbers"),
    (lecture_5.scores_computed, lambda n: n * n, "all n² scores"),
    (lecture_5.scores_computed, lambda n: n * (n - 1) // 2, "left the diagonal out"),
    (lecture_5.scores_computed, lambda n: n, "one score a token"),
    (lecture_5.scores_computed, lambda n: n + 3, "you say [4, 6, 103]"),
    (lecture_5.attend_to_had, HAD_BOWL_NUTS, "change one number of had"),
    (lecture_5.attend_to_had, with_had(4, 4, 0), "You changed 2 numbers"),
    (lecture_5.attend_to_had, [[2, -1, 0], [1, 1, 1], [1, 2, 0]], "only had may change"),
    (lecture_5.attend_to_had, with_had(2, 3, 0), "must exceed nuts · nuts = 9"),
    (lecture_5.attend_to_had, [[1, 2]], "wanted is (3, 3)"),
    (lecture_5.causal_self_attention, lambda x: x.zero_(), "not yet."),  # destroys x
]
BLANK = [
    (lecture_5.weights_of_one_token, lambda x, i: None),
    (lecture_5.causal_self_attention, lambda x: ...),
    (lecture_5.scores_computed, lambda n: None),
    (lecture_5.attend_to_had, ...),
    (lecture_5.sees_no_order, lambda layer, x: None),
]
