"""Lecture 6's exercises: wrong answers with the words that name the mistake."""

import math

import torch

from attnlab.exercises import queries_keys_values as lecture_6


def lookup(weigh):
    return lambda queries, keys, values: weigh(queries @ keys.T) @ values


def errors(q, k, v):
    return {"W^Q": q, "W^K": k, "W^V": v}


def asks(*kinds):
    return dict(zip(lecture_6.KINDS, kinds, strict=True))


def ones_at_best(scores):
    return (scores == scores.max(-1, keepdim=True).values).double()


HAD_BOWL_NUTS = [[2, -1, 0], [1, 1, 1], [1, 2, 2]]
INVERSE = torch.tensor(HAD_BOWL_NUTS, dtype=torch.float64).inverse()
CIRCLE = torch.eye(3, dtype=torch.float64).roll(1, dims=1)  # row i: a one for the next token

WRONG = {
    lecture_6.hard_lookup: [
        (lookup(lambda e: torch.softmax(e, -1)), "at T = 1:"),
        (lookup(lambda e: torch.softmax(e / math.sqrt(3), -1)), "at T = √d_k:"),
        (lookup(lambda e: torch.softmax(e / 0.001, -1)), "Some row is wrong"),
        (lambda q, k, v: v[(q @ k.T).argmax(-1)], "you take one"),
        (
            lambda q, k, v: torch.stack(
                [v[(k == k[b]).all(-1)].mean(0) for b in (q @ k.T).argmax(-1)]
            ),
            "you take one",
        ),
        (
            lambda q, k, v: v[torch.cosine_similarity(q[:, None], k, dim=-1).argmax(-1)],
            "most alike",
        ),
        (lambda q, k, v: v[torch.cdist(q, k).argmin(-1)], "most alike"),
        (lookup(ones_at_best), "add their values up"),
        (lambda q, k, v: v[(q @ k.T).argmin(-1)], "smallest score"),
        (lambda q, k, v: v[:3] / 2, "Some row is wrong"),
    ],
    lecture_6.around_the_circle: [
        ((INVERSE, INVERSE), "scores are symmetric"),
        ((INVERSE, INVERSE @ (6 * CIRCLE)), "the other way"),
        ((INVERSE @ CIRCLE, INVERSE), "each must be 0.9"),
        ((INVERSE * math.nan, INVERSE), "ordinary numbers"),
        (6, "A pair was wanted"),
        ({"w_q": INVERSE, "w_k": INVERSE}, "A pair was wanted"),
        ((INVERSE,) * 3, "there are 3"),
        ((INVERSE[:, :2], INVERSE), "wanted is (3, 3)"),
    ],
    lecture_6.frozen: [
        ([0.1, 0.1, 0.3], "A dictionary was wanted"),
        (errors(0.05, math.nan, 0.3), "a number, not below 0"),
        (errors(5, 2, 29), "percentages"),
        (errors(0.0, 0.0, 0.0), "was W^V frozen?"),
        (errors(0.3, 0.31, 0.33), "still free to learn"),
        (errors(0.0, 0.0, 0.29), "were they frozen?"),
        (errors(0.29, 0.05, 0.02), "which number belongs"),
        (errors(0.05, 0.02, 0.14), "more seeds"),
    ],
    lecture_6.read_the_rule: [
        (["verb"] * 5, "A dictionary was wanted"),
        (asks("noun", "verb", "verb", "verb", "verb"), "none of the kinds"),
        (asks("verb", "object", "subject", "object", "verb"), "Figure 6.4"),
        (asks("verb", "object", "adjective", "subject", "object"), "read the columns"),
        (asks("adjective", "subject", "adverb", "object", "verb"), "the row of adverb"),
    ],
}
BLANK = {lecture_6.around_the_circle: (..., (..., ...))}
