"""Lecture 8's exercises: wrong answers with the words that name the mistake, and blanks."""

from __future__ import annotations

import math

import torch

from attnbook.attention import attention
from attnbook.exercises import multi_head as lecture_8
from attnbook.scores import dot


def cut(t, n_heads):
    return t.unflatten(-1, (n_heads, -1)).transpose(-2, -3)


def join(heads):
    return heads.transpose(-2, -3).flatten(-2)


def alternating(t, n_heads):
    return t.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


def one_head(x, w_q, w_k, w_v, w_o, n_heads):
    return attention(x @ w_q, x @ w_k, x @ w_v).output @ w_o


def always_three_heads(x, *rest):
    return layer()(x, *rest[:4], 3)


def viewed(t, n_heads):
    b, n, d_model = t.shape
    return t.reshape(b, n_heads, n, d_model // n_heads)


def flat(heads):
    b, h, n, d = heads.shape
    return heads.reshape(b, n, h * d)


def layer(split=cut, merge=join, mix=True, score=None):
    """An answer to exercise 5 with its parts exchanged."""

    def answer(x, w_q, w_k, w_v, w_o, n_heads):
        q, k, v = (split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        heads = attention(q, k, v, score=score).output if score else attention(q, k, v).output
        return merge(heads) @ w_o if mix else merge(heads)

    return answer


def by_model_width(query, key):
    return dot(query, key) / math.sqrt(12)


def by_heads(query, key):
    return dot(query, key) / math.sqrt(query.shape[1])


def sizes(check):
    """An answer to exercise 4 that returns the size where `check` raises nothing."""

    def answer(d_model, n_heads):
        check(d_model, n_heads)
        return d_model // n_heads

    return answer


def asserts(d_model, n_heads):
    assert d_model % n_heads == 0


def says(words, ok=lambda d, h: h > 0 and d % h == 0 and d >= h):
    def check(d_model, n_heads):
        if not ok(d_model, n_heads):
            raise ValueError(words.format(d_model, n_heads))

    return check


def rows(theirs):
    return [*theirs.in_proj_weight.chunk(3), theirs.out_proj.weight]


def transposed(theirs, order=(0, 1, 2, 3)):
    found = [row.T for row in rows(theirs)]
    return [found[i] for i in order]


def reshaped(theirs):
    return [*theirs.in_proj_weight.T.reshape(3, 4, 4), theirs.out_proj.weight.T]


WRONG = [
    (lecture_8.split_into_heads, lambda x, h: x.view(h, len(x), -1), "changed the shape alone"),
    (lecture_8.split_into_heads, lambda x, h: x.view(len(x), h, -1), "bring their axis"),
    (
        lecture_8.split_into_heads,
        lambda x, h: x.view(len(x), -1, h).permute(2, 0, 1),
        "every second number",
    ),
    (lecture_8.split_into_heads, lambda x, h: cut(x, h).flip(0), "in the wrong places"),
    (lecture_8.split_into_heads, lambda x, h: cut(x, 2), "with 3 it is not"),
    (
        lecture_8.split_into_heads,
        lambda x, h: cut(x, h) if h == 2 else x.view(h, len(x), -1),
        "with 3 it is not",
    ),
    (lecture_8.split_into_heads, lambda x, h: x, "wanted is (2, 4, 3)"),
    (lecture_8.split_into_heads, lambda x, h: x.chunk(h, dim=-1), "the heads one by one"),
    (lecture_8.split_into_heads, lambda x, h: list(x.chunk(h, dim=-1)), "the heads one by one"),
    (lecture_8.merge_heads, flat, "view alone"),
    (lecture_8.merge_heads, lambda t: t.transpose(1, 2).view(3, 4, 10), "raised RuntimeError"),
    (lecture_8.merge_heads, lambda t: t.transpose(0, 1).reshape(3, 4, 10), "swapped the sentences"),
    (lecture_8.merge_heads, lambda t: t.mean(1), "summed or averaged"),
    (lecture_8.merge_heads, lambda t: t.permute(0, 2, 3, 1).flatten(-2), "alternate"),
    (lecture_8.merge_heads, lambda t: join(t.flip(1)), "reverse order"),
    (lecture_8.merge_heads, lambda t: join(t).flip(1), "in the wrong places"),
    (lecture_8.merge_heads, lambda t: t, "wanted is (3, 4, 10)"),
    (lecture_8.merge_heads, lambda t: torch.cat([t[:, 0], t[:, 1]], -1), "with 3 it is not"),
    (lecture_8.parameters, lambda d, h: 4 * d * d, "four biases are missing"),
    (lecture_8.parameters, lambda d, h: 3 * d * (d + 1), "W^O is missing"),
    (lecture_8.parameters, lambda d, h: h * 4 * d * (d + 1), "projections of full width"),
    (lecture_8.parameters, lambda d, h: (3 * h + 1) * d * (d + 1), "full projections for q"),
    (lecture_8.parameters, lambda d, h: 4 * d * (d + 1) / h, "one head's share"),
    (
        lecture_8.parameters,
        lambda d, h: 3 * h * (d // h) * (d // h + 1) + d * (d + 1),
        "reads all of d_model",
    ),
    (lecture_8.parameters, lambda d, h: d, "you say [6, 512, 512]"),
    (lecture_8.parameters, lambda d, h: d, "6 · 6 weights and 6 biases"),
    (lecture_8.head_size, lambda d, h: d // h, "you return 2"),
    (lecture_8.head_size, lambda d, h: d / h, "whole number"),
    (lecture_8.head_size, lambda d, h: h, "512 / 8 is 64"),
    (lecture_8.head_size, sizes(asserts), "vanishes under"),
    (lecture_8.head_size, sizes(says("they do not fit")), "must name both numbers"),
    (
        lecture_8.head_size,
        sizes(says("{} and {}", lambda d, h: d % h == 0)),
        "divide by zero before",
    ),
    (
        lecture_8.head_size,
        sizes(says("{} and {}", lambda d, h: h != 0 and d % h == 0)),
        "n_heads = -4 you return -3",
    ),
    (lecture_8.mend_the_layer, layer(viewed, flat), "Nothing has changed"),
    (lecture_8.mend_the_layer, layer(viewed, join), "The merge is right"),
    (lecture_8.mend_the_layer, layer(cut, flat), "The split is right"),
    (lecture_8.mend_the_layer, layer(mix=False), "W^O was lost"),
    (lecture_8.mend_the_layer, layer(score=by_model_width), "divided by √d_model"),
    (lecture_8.mend_the_layer, layer(score=by_heads), "divided by √n_heads"),
    (lecture_8.mend_the_layer, layer(score=dot), "divided by nothing"),
    (
        lecture_8.mend_the_layer,
        layer(lambda t, h: t.unflatten(-1, (h, -1)), lambda t: t.flatten(-2)),
        "heads attend to each other",
    ),
    (lecture_8.mend_the_layer, layer(alternating), "every third number"),
    (lecture_8.mend_the_layer, one_head, "one head of full width"),
    (lecture_8.mend_the_layer, always_three_heads, "with 2 it is not"),
    (lecture_8.mend_the_layer, lambda x, *rest: x, "output is wrong"),
    (lecture_8.mend_the_layer, lambda x, *rest: x[0], "wanted is (2, 5, 12)"),
    (lecture_8.matrices_of, rows, "for W x"),
    (lecture_8.matrices_of, lambda t: [*transposed(t)[:3], rows(t)[3]], "w_o is stored transposed"),
    (lecture_8.matrices_of, lambda t: [*rows(t)[:3], transposed(t)[3]], "w_o is right"),
    (lecture_8.matrices_of, lambda t: transposed(t, (2, 1, 0, 3)), "in another order"),
    (lecture_8.matrices_of, lambda t: transposed(t, (0, 0, 2, 3)), "w_k not as"),
    (
        lecture_8.matrices_of,
        lambda t: [*t.in_proj_weight.T.chunk(3), transposed(t)[3]],
        "These are 3",
    ),
    (lecture_8.matrices_of, lambda t: t.in_proj_weight, "Return four matrices"),
    (lecture_8.matrices_of, reshaped, "A reshape mixed"),
    (lecture_8.matrices_of, lambda t: transposed(t)[:3], "Return four matrices"),
    (lecture_8.matrices_of, lambda t: [2 * w for w in transposed(t)], "w_q, w_k, w_v, w_o not as"),
]
BLANK = [
    (lecture_8.split_into_heads, lambda x, n_heads: None),
    (lecture_8.merge_heads, lambda heads: ...),
    (lecture_8.parameters, lambda d_model, n_heads: None),
    (lecture_8.head_size, lambda d_model, n_heads: ...),
    (lecture_8.mend_the_layer, lambda *everything: None),
    (lecture_8.matrices_of, lambda theirs: ...),
]
