"""Lecture 3's exercises: wrong answers with the words that name the mistake, and blanks."""

from __future__ import annotations

import math

import torch

from attnbook.exercises import bahdanau as lecture_3


def inside(state, annotations, w_q, w_k):
    return state @ w_q + annotations @ w_k


def hidden_after(scores, annotations, length):
    weights = torch.softmax(scores, 0)
    return weights[:length] @ annotations[:length]


def hidden_by_zero(scores, annotations, length):
    scores[length:] = 0
    return torch.softmax(scores, 0) @ annotations


def within(scores, annotations, length):
    return torch.softmax(scores[:length], 0) @ annotations[:length]


def bits(weights):
    return torch.special.entr(weights) / math.log(2)


def real(chances, lengths):
    return chances[torch.arange(chances.shape[1]) < lengths[:, None]]


def by_precision_and_recall(predicted, gold):
    precision, recall = len(predicted & gold) / len(predicted), len(predicted & gold) / len(gold)
    return 1 - 2 * precision * recall / (precision + recall)


def undefined_at_nothing(predicted, gold):
    both = len(predicted & gold)
    return 1 - 2 * both / (len(predicted) + len(gold)) if both else 0.0


WRONG = [
    (lecture_3.additive_scores, lambda s, h, q, k, v: inside(s, h, q, k) @ v, "tanh is missing"),
    (
        lecture_3.additive_scores,
        lambda s, h, q, k, v: torch.tanh(inside(s, h, q, k) @ v),
        "comes before v",
    ),
    (lecture_3.additive_scores, lambda s, h, q, k, v: torch.tanh(h @ k) @ v, "state is missing"),
    (
        lecture_3.additive_scores,
        lambda s, h, q, k, v: torch.softmax(torch.tanh(inside(s, h, q, k)) @ v, 0),
        "These are weights",
    ),
    (
        lecture_3.additive_scores,
        lambda s, h, q, k, v: torch.tanh(inside(s, h, q, k)).sum(-1),
        "their sum alone",
    ),
    (
        lecture_3.additive_scores,
        lambda s, h, q, k, v: (torch.tanh(s @ q) + torch.tanh(h @ k)) @ v,
        "Add first",
    ),
    (
        lecture_3.additive_scores,
        lambda s, h, q, k, v: torch.tanh(inside(s, h, q, k)),
        "wanted is (5,)",
    ),
    (lecture_3.additive_scores, lambda s, h, q, k, v: h[:, 0], "scores are wrong"),
    (lecture_3.masked_context, lambda e, h, n: torch.softmax(e, 0) @ h, "padding has weight too"),
    (lecture_3.masked_context, hidden_after, "after the softmax"),
    (lecture_3.masked_context, hidden_by_zero, "not a weight of 0"),
    (lecture_3.masked_context, lambda e, h, n: within(e, h, n + 1), "One padding"),
    (
        lecture_3.masked_context,
        lambda e, h, n: torch.softmax(e[n:], 0) @ h[n:] if n < 5 else h[0],
        "turned round",
    ),
    (lecture_3.masked_context, lambda e, h, n: e[:n] @ h[:n], "softmax is missing"),
    (lecture_3.masked_context, lambda e, h, n: h[:n].mean(0), "weigh the same"),
    (lecture_3.masked_context, lambda e, h, n: h[e[:n].argmax()], "best annotation"),
    (lecture_3.masked_context, lambda e, h, n: torch.softmax(e[:n], 0), "numbers are weights"),
    (lecture_3.masked_context, lambda e, h, n: h[0], "context is wrong"),
    (lecture_3.masked_context, lambda e, h, n: within(e, h, 3), "wrong for length 5"),
    (lecture_3.error_rate, lambda a, s: 2 * len(a & s) / (len(a) + len(s)), "1 minus it"),
    (lecture_3.error_rate, lambda a, s: 1 - len(a & s) / len(a), "1 − precision"),
    (lecture_3.error_rate, lambda a, s: 1 - len(a & s) / len(s), "1 − recall"),
    (lecture_3.error_rate, lambda a, s: 1 - len(a & s) / (len(a) + len(s)), "count twice"),
    (lecture_3.error_rate, lambda a, s: 1 - len(a & s) / len(a | s), "by the union"),
    (lecture_3.error_rate, lambda a, s: 0.9, "rate is wrong"),
    (lecture_3.error_rate, lambda a, s: 3 / 7, "Two equal sets"),
    (lecture_3.error_rate, by_precision_and_recall, "ZeroDivisionError"),
    (lecture_3.error_rate, undefined_at_nothing, "nothing in common"),
    (lecture_3.error_rate, lambda a, s: a & s, "One number was wanted"),
    (lecture_3.entropy, lambda w: -(w * w.log2()).sum(-1), "A row is NaN"),
    (lecture_3.entropy, lambda w: torch.special.entr(w).sum(-1), "nats"),
    (lecture_3.entropy, lambda w: -bits(w).sum(-1), "sign is turned"),
    (lecture_3.entropy, lambda w: bits(w).sum(0), "over the target words"),
    (lecture_3.entropy, lambda w: bits(w).mean(-1), "do not average"),
    (lecture_3.entropy, lambda w: bits(w).sum(-1) / 2, "share of the greatest"),
    (lecture_3.entropy, lambda w: bits(w).sum(), "wanted is (4,)"),
    (lecture_3.entropy, lambda w: w.max(-1).values, "entropies are wrong"),
    (lecture_3.perplexity, lambda p, n: (-p.log()).mean().exp(), "Padding is counted"),
    (
        lecture_3.perplexity,
        lambda p, n: (-p.log().sum() / n.sum()).exp(),
        "above the line as below",
    ),
    (lecture_3.perplexity, lambda p, n: (-p[p < 1].log()).mean().exp(), "Padding is counted"),
    (lecture_3.perplexity, lambda p, n: real(p, n).log().mean().exp(), "sign is turned"),
    (lecture_3.perplexity, lambda p, n: -real(p, n).log().mean(), "average loss"),
    (lecture_3.perplexity, lambda p, n: 2 ** -real(p, n).log().mean(), "not of 2"),
    (lecture_3.perplexity, lambda p, n: (1 / real(p, n)).mean(), "inverse probabilities"),
    (lecture_3.perplexity, lambda p, n: 1 / real(p, n).mean(), "not the probabilities"),
    (
        lecture_3.perplexity,
        lambda p, n: (
            torch.stack([-a[:k].log().mean() for a, k in zip(p, n, strict=True)]).mean().exp()
        ),
        "averaged over sentences",
    ),
    (lecture_3.perplexity, lambda p, n: (-real(p, n).log().sum()).exp(), "Divide the sum"),
    (lecture_3.perplexity, lambda p, n: 1.0, "perplexity is wrong"),
    (lecture_3.perplexity, lambda p, n: p, "One number was wanted"),
]
BLANK = [
    (check, lambda *_: ...)
    for check in (
        lecture_3.additive_scores,
        lecture_3.masked_context,
        lecture_3.error_rate,
        lecture_3.entropy,
        lecture_3.perplexity,
    )
]
