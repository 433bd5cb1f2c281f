"""Lecture 6's exercises: wrong answers with the words that name the mistake, and blanks."""

from __future__ import annotations

import math

import torch

from attnbook.exercises import queries_keys_values as lecture_6


def project(x, w_q, w_k, w_v, *, width=None, dim=-1):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    return torch.softmax(q @ k.T / math.sqrt(width or q.shape[-1]), dim) @ v


def lookup(weigh):
    return lambda queries, keys, values: weigh(queries @ keys.T) @ values


def ones_at_best(scores):
    return (scores == scores.max(-1, keepdim=True).values).double()


HAD_BOWL_NUTS = [[2, -1, 0], [1, 1, 1], [1, 2, 2]]
INVERSE = torch.tensor(HAD_BOWL_NUTS, dtype=torch.float64).inverse()
CIRCLE = torch.eye(3, dtype=torch.float64).roll(1, dims=1)  # row i: a one for the next token

WRONG = [
    (
        lecture_6.projected_attention,
        lambda x, q, k, v: project(x, q, k, v, width=1),
        "forgot to divide",
    ),
    (
        lecture_6.projected_attention,
        lambda x, q, k, v: project(x, q, k, v, width=5),
        "divided by √d_model",
    ),
    (
        lecture_6.projected_attention,
        lambda x, q, k, v: project(x, q, k, v, dim=0),
        "over the queries",
    ),
    (
        lecture_6.projected_attention,
        lambda x, q, k, v: project(x, q, k, v, width=4),
        "divided by d_k itself",
    ),
    (
        lecture_6.projected_attention,
        lambda x, q, k, v: project(x, q, k, v, width=6),
        "divided by √n",
    ),
    (lecture_6.projected_attention, lambda x, q, k, v: project(x, k, q, v), "changed places"),
    (lecture_6.projected_attention, lambda x, q, k, v: project(x, k, k, v), "keys with keys"),
    (lecture_6.projected_attention, lambda x, q, k, v: (project(x, q, k, v), q), "output alone"),
    (lecture_6.projected_attention, lambda x, q, k, v: project(x, q, q, v), "keys come from w_k"),
    (
        lecture_6.projected_attention,
        lambda x, q, k, v: project(x, q, k, torch.eye(5, dtype=torch.float64)),
        "average the values",
    ),
    (lecture_6.projected_attention, lambda x, q, k, v: x @ v, "output is wrong"),
    (lecture_6.projected_attention, lambda x, q, k, v: q @ x, "raised RuntimeError"),
    (lecture_6.parameters, lambda d, d_k, d_v: d * d_k, "there are three"),
    (lecture_6.parameters, lambda d, d_k, d_v: 3 * d * d_k, "width of their own"),
    (lecture_6.parameters, lambda d, d_k, d_v: d * (d_k + d_v), "counted two matrices"),
    (lecture_6.parameters, lambda d, d_k, d_v: (d + 1) * (2 * d_k + d_v), "biases"),
    (lecture_6.parameters, lambda d, d_k, d_v: d + d_k + d_v, "you say [500, 640, 16]"),
    (lecture_6.hard_lookup, lookup(lambda e: torch.softmax(e, -1)), "at T = 1:"),
    (
        lecture_6.hard_lookup,
        lookup(lambda e: torch.softmax(e / math.sqrt(3), -1)),
        "at T = √d_k:",
    ),
    (lecture_6.hard_lookup, lookup(lambda e: torch.softmax(e / 0.001, -1)), "Some row is wrong"),
    (lecture_6.hard_lookup, lambda q, k, v: v[(q @ k.T).argmax(-1)], "you take one"),
    (
        lecture_6.hard_lookup,
        lambda q, k, v: torch.stack([v[(k == k[b]).all(-1)].mean(0) for b in (q @ k.T).argmax(-1)]),
        "you take one",
    ),
    (
        lecture_6.hard_lookup,
        lambda q, k, v: v[torch.cosine_similarity(q[:, None], k, dim=-1).argmax(-1)],
        "most alike",
    ),
    (
        lecture_6.hard_lookup,
        lambda q, k, v: v[torch.cdist(q, k).argmin(-1)],
        "most alike",
    ),
    (lecture_6.hard_lookup, lookup(ones_at_best), "add their values up"),
    (lecture_6.hard_lookup, lambda q, k, v: v[(q @ k.T).argmin(-1)], "smallest score"),
    (lecture_6.hard_lookup, lambda q, k, v: v[:3], "Some row is wrong"),
    (lecture_6.column_form, lambda x, w: x.T @ w, "here vectors are columns"),
    (lecture_6.column_form, lambda x, w: w @ x, "the colleague's"),
    (
        lecture_6.column_form,
        lambda x, w: w.T @ x if w.shape[0] == w.shape[1] else x.mT @ w,
        "here vectors are columns",
    ),
    (lecture_6.column_form, lambda x, w: -(w.T @ x), "the numbers are not"),
    (lecture_6.column_form, lambda x, w: w, "wanted is (3, 4)"),
    (lecture_6.around_the_circle, (INVERSE, INVERSE), "scores are symmetric"),
    (lecture_6.around_the_circle, (INVERSE, INVERSE @ (6 * CIRCLE)), "the other way"),
    (lecture_6.around_the_circle, (INVERSE @ CIRCLE, INVERSE), "each must be 0.9"),
    (lecture_6.around_the_circle, (INVERSE * math.nan, INVERSE), "ordinary numbers"),
    (lecture_6.around_the_circle, 6, "A pair was wanted"),
    (lecture_6.around_the_circle, {"w_q": INVERSE, "w_k": INVERSE}, "A pair was wanted"),
    (lecture_6.around_the_circle, (INVERSE,) * 3, "there are 3"),
    (lecture_6.around_the_circle, (INVERSE[:, :2], INVERSE), "wanted is (3, 3)"),
]
BLANK = [
    (lecture_6.projected_attention, lambda x, w_q, w_k, w_v: None),
    (lecture_6.parameters, lambda d_model, d_k, d_v: ...),
    (lecture_6.hard_lookup, lambda queries, keys, values: None),
    (lecture_6.column_form, lambda x, w: None),
    (lecture_6.around_the_circle, ...),
    (lecture_6.around_the_circle, (..., ...)),
]
