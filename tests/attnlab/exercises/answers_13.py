"""Lecture 13's exercises: wrong answers with the words that name the mistake."""

import math

import torch
from torch.nn import functional

from attnbook.attention import attention
from attnbook.masks import causal_mask
from attnlab.exercises import faster_decoding as lecture_13


def wide(query, key, value, mask, *, turn=False, root=1.0):
    """Attention with a copy of its set for each head."""
    g = len(query) // len(key)
    if turn:
        key, value = key.repeat(g, 1, 1), value.repeat(g, 1, 1)
    else:
        key, value = key.repeat_interleave(g, 0), value.repeat_interleave(g, 0)
    return attention(query * root, key, value, mask).output


def ends(query, key):
    return causal_mask(query.shape[1], key.shape[1])


def folded(query, key, value, mask):
    rows = query.reshape(len(key), -1, query.shape[-1])
    return attention(rows, key, value, mask(rows)).output.reshape(*query.shape[:2], -1)


def from_the_first(query, key, value):
    n_q, n_k = query.shape[1], key.shape[1]
    return wide(query, key, value, torch.ones(n_q, n_k).tril().bool())


def later_tokens(query, key, value):
    return folded(
        query, key, value, lambda rows: torch.ones(rows.shape[1], key.shape[1]).tril(2).bool()
    )


def kept(p, q):
    return torch.minimum(p, q)


def rest(p, q):
    more = (p - q).clamp(min=0)
    return more / more.sum()


def rounded(x, most=7, dim=-1):
    scale = x.abs().amax(dim, keepdim=True).clamp(min=1e-12) / most
    return (x / scale).round() * scale


def grouped(x, size, most=7, dim=-1):
    return rounded(x.unflatten(-1, (-1, size)), most, dim).flatten(-2)


def scales(x, size):
    return (x.unflatten(-1, (-1, size)).abs().amax(-1) / 7).repeat_interleave(size, -1)


def no_floor(x, size):
    scale = scales(x, size)
    return (x / scale).round() * scale


WRONG = {
    lecture_13.continued: [
        (lambda q, k, v: wide(q, k, v, None), "mask is missing"),
        (from_the_first, "end together"),
        (lambda q, k, v: wide(q, k, v, ends(q, k), turn=True), "neighbours"),
        (lambda q, k, v: wide(q, k, v, ends(q, k), root=2.0), "not divided"),
        (later_tokens, "one after another"),
        (lambda q, k, v: wide(q, k, v, ends(q, k)).flip(0), "another order"),
        (lambda q, k, v: wide(q, k, v, ends(q, k)) + 1, "outputs are wrong"),
        (lambda q, k, v: q, "wanted is (6, 3, 3)"),
        (attention, "not yet"),
        (functional.scaled_dot_product_attention, "not yet"),
        (
            lambda q, k, v: functional.scaled_dot_product_attention(
                q[None], k[None], v[None], is_causal=True, enable_gqa=True
            )[0],
            "end together",
        ),
    ],
    lecture_13.wrong_rest: [
        (lambda p, q: p, "the right rule writes"),
        (lambda p, q: q, "what is guessed"),
        (kept, "sum must be 1"),
        (lambda p, q: kept(p, q) / kept(p, q).sum(), "divided by its sum"),
        (lambda p, q: kept(p, q) + p, "not always"),
        (lambda p, q: kept(p, q) + kept(p, q).sum() * p, "how often"),
        (rest, "after a refusal"),
        (lambda p, q: q * p + (1 - (q * p).sum()) * p, "not with p"),
        (lambda p, q: torch.full_like(p, math.nan), "are wrong"),
    ],
    lecture_13.in_groups: [
        (lambda x, size: x, "Nothing was rounded"),
        (lambda x, size: rounded(x), "the whole row"),
        (lambda x, size: rounded(x, dim=0), "a column"),
        (lambda x, size: rounded(x.unflatten(-1, (size, -1)), dim=-2).flatten(-2), "side by side"),
        (lambda x, size: grouped(x, size, dim=-2), "over its numbers"),
        (lambda x, size: (x / scales(x, size)).round(), "multiply"),
        (lambda x, size: (x / scales(x, size)).floor() * scales(x, size), "not down"),
        (lambda x, size: grouped(x, size, 127), "8 bits"),
        (lambda x, size: grouped(x, size, 15), "number of levels"),
        (lambda x, size: grouped(x, size, 8), "17 levels"),
        (lambda x, size: -grouped(x, size), "Print the scales"),
        (no_floor, "must come back as zeros"),
        (lambda x, size: x[0], "wanted is (5, 8)"),
    ],
}
