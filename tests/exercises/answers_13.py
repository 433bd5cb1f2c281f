"""Lecture 13's exercises: wrong answers with the words that name the mistake, and blanks."""

from __future__ import annotations

import math

import torch
from torch.nn import functional

from attnbook.attention import attention
from attnbook.exercises import faster_decoding as lecture_13
from attnbook.masks import causal_mask


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


WRONG = [
    (lecture_13.continued, lambda q, k, v: wide(q, k, v, None), "mask is missing"),
    (lecture_13.continued, from_the_first, "end together"),
    (lecture_13.continued, lambda q, k, v: wide(q, k, v, ends(q, k), turn=True), "neighbours"),
    (lecture_13.continued, lambda q, k, v: wide(q, k, v, ends(q, k), root=2.0), "not divided"),
    (lecture_13.continued, later_tokens, "one after another"),
    (lecture_13.continued, lambda q, k, v: wide(q, k, v, ends(q, k)).flip(0), "another order"),
    (lecture_13.continued, lambda q, k, v: wide(q, k, v, ends(q, k)) + 1, "outputs are wrong"),
    (lecture_13.continued, lambda q, k, v: q, "wanted is (6, 3, 3)"),
    (lecture_13.continued, attention, "not yet"),
    (lecture_13.continued, functional.scaled_dot_product_attention, "not yet"),
    (
        lecture_13.continued,
        lambda q, k, v: functional.scaled_dot_product_attention(
            q[None], k[None], v[None], is_causal=True, enable_gqa=True
        )[0],
        "end together",
    ),
    (lecture_13.wrong_rest, lambda p, q: p, "the right rule writes"),
    (lecture_13.wrong_rest, lambda p, q: q, "what is guessed"),
    (lecture_13.wrong_rest, kept, "sum must be 1"),
    (lecture_13.wrong_rest, lambda p, q: kept(p, q) / kept(p, q).sum(), "divided by its sum"),
    (lecture_13.wrong_rest, lambda p, q: kept(p, q) + p, "not always"),
    (lecture_13.wrong_rest, lambda p, q: kept(p, q) + kept(p, q).sum() * p, "how often"),
    (lecture_13.wrong_rest, rest, "after a refusal"),
    (lecture_13.wrong_rest, lambda p, q: q * p + (1 - (q * p).sum()) * p, "not with p"),
    (lecture_13.wrong_rest, lambda p, q: torch.full_like(p, math.nan), "are wrong"),
]
BLANK = [
    (lecture_13.continued, lambda query, key, value: ...),
    (lecture_13.wrong_rest, lambda p, q: None),
]
