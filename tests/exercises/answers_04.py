"""Lecture 4's exercises: wrong answers with the words that name the mistake, and blanks."""

from __future__ import annotations

import math

import torch

from attnbook.exercises import scoring_functions as lecture_4


def hidden(query, key, w_q, w_k):
    return (query @ w_q)[:, None] + (key @ w_k)[None]


def additive(query, key, w_q, w_k, v):
    return torch.tanh(hidden(query, key, w_q, w_k)) @ v


def tanh_apart(query, key, w_q, w_k, v):
    return (torch.tanh(query @ w_q)[:, None] + torch.tanh(key @ w_k)[None]) @ v


def first_two(score, query, key):
    return same(rows(score, query[:2], key))


def over_hidden(finish):
    """An answer to exercise 1 that makes its scores from the hidden sums and v."""
    return lambda query, key, w_q, w_k, v: finish(hidden(query, key, w_q, w_k), v)


def eye(scale):
    return lambda d: torch.eye(d, dtype=torch.float64) * scale(d)


def rows(score, query, key):
    return torch.softmax(score(query, key), -1)


def same(matrix):
    return torch.allclose(matrix, matrix[:1].expand_as(matrix))


WRONG = [
    (lecture_4.additive_scores, over_hidden(lambda h, v: h @ v), "The tanh is missing"),
    (lecture_4.additive_scores, over_hidden(lambda h, v: torch.tanh(h).sum(-1)), "weigh them by v"),
    (lecture_4.additive_scores, over_hidden(lambda h, v: torch.tanh(h @ v)), "tanh comes before v"),
    (lecture_4.additive_scores, over_hidden(lambda h, v: torch.tanh(h)), "hidden layer"),
    (lecture_4.additive_scores, lambda *given: additive(*given).T, "queries come first"),
    (lecture_4.additive_scores, lambda *given: additive(*given).softmax(-1), "the weights"),
    (lecture_4.additive_scores, lambda *given: additive(*given).softmax(0), "the weights"),
    (lecture_4.additive_scores, lambda *given: -additive(*given), "scores are wrong"),
    (lecture_4.additive_scores, tanh_apart, "Add first, then the tanh"),
    (lecture_4.additive_scores, lambda q, k, w_q, w_k, v: q @ k.T, "raised RuntimeError"),
    (lecture_4.additive_scores, lambda *given: additive(*given)[0], "wanted is (3, 4)"),
    (lecture_4.cut_in_two, lambda w, d_q: (w[d_q:], w[:d_q]), "w_k came first"),
    (lecture_4.cut_in_two, lambda w, d_q: w.chunk(2), "into halves"),
    (lecture_4.cut_in_two, lambda w, d_q: (w[: len(w) // 2], w[len(w) // 2 :]), "into halves"),
    (lecture_4.cut_in_two, lambda w, d_q: (w[:d_q].T, w[d_q:].T), "turned them over"),
    (lecture_4.cut_in_two, lambda w, d_q: (None, None), "Return two tensors"),
    (lecture_4.cut_in_two, lambda w, d_q: (w[:, :d_q], w[:, d_q:]), "cut the columns"),
    (lecture_4.cut_in_two, lambda w, d_q: (w[-d_q:], w[:-d_q]), "rows are not"),
    (lecture_4.cut_in_two, lambda w, d_q: w, "Return two matrices"),
    (lecture_4.matrix_for_scaled_dot, eye(lambda d: 1), "scale is missing"),
    (lecture_4.matrix_for_scaled_dot, eye(lambda d: 1 / d), "divided by d"),
    (lecture_4.matrix_for_scaled_dot, eye(math.sqrt), "multiplied by √d"),
    (lecture_4.matrix_for_scaled_dot, lambda d: torch.ones(d, d) / math.sqrt(d), "matrix of ones"),
    (lecture_4.matrix_for_scaled_dot, eye(lambda d: 1 / math.sqrt(3)), "wrong for d = 4"),
    (lecture_4.matrix_for_scaled_dot, eye(lambda d: 5), "that must have"),
    (lecture_4.matrix_for_scaled_dot, lambda d: d**-0.5, "wanted is (3, 3)"),
    (lecture_4.multiplications, lambda n_q, n_k, d: n_q * n_k * d, "dot product's count"),
    (lecture_4.multiplications, lambda n_q, n_k, d: n_k * d * (d + n_q), "bilinear score's"),
    (lecture_4.multiplications, lambda n_q, n_k, d: (n_q + n_k) * d * d, "v still multiplies"),
    (lecture_4.multiplications, lambda n_q, n_k, d: n_q * d * (d + n_k), "Only the queries"),
    (
        lecture_4.multiplications,
        lambda n_q, n_k, d: (1 + n_k) * d * d + n_k * d,
        "For n_q = 7, n_k = 10 and d = 4 the number is 552: you say 216.",
    ),
    (
        lecture_4.multiplications,
        lambda n_q, n_k, d: n_q * n_k * d * (2 * d + 1),
        "anew for every pair",
    ),
    (
        lecture_4.multiplications,
        lambda n_q, n_k, d: n_q * d * ((1 + n_k) * d + n_k),
        "all keys for each query",
    ),
    (lecture_4.multiplications, lambda n_q, n_k, d: d, "is 216: you say 4"),
    (
        lecture_4.finds_the_blind,
        lambda score, query, key: same(score(query, key)),
        "Compare weights",
    ),
    (lecture_4.finds_the_blind, lambda *given: not same(rows(*given)), "The other way round"),
    (lecture_4.finds_the_blind, lambda *given: True, "For the dot product the answer is False"),
    (lecture_4.finds_the_blind, lambda *given: False, "without its tanh the answer is True"),
    (lecture_4.finds_the_blind, first_two, "sees one of the queries only the answer is False"),
    (
        lecture_4.finds_the_blind,
        lambda score, query, key: same(score(query, key).softmax(0)),
        "over the keys (dim=-1)",
    ),
    (
        lecture_4.finds_the_blind,
        lambda *given: rows(*given).isclose(rows(*given)[:1]),
        "put .all()",
    ),
    (lecture_4.finds_the_blind, 4, "A function was wanted"),
]
BLANK = [
    (lecture_4.additive_scores, lambda *given: None),
    (lecture_4.cut_in_two, lambda w, d_q: ...),
    (lecture_4.matrix_for_scaled_dot, lambda d: None),
    (lecture_4.multiplications, lambda n_q, n_k, d: ...),
    (lecture_4.finds_the_blind, lambda *given: None),
]
