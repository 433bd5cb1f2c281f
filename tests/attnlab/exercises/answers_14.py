"""Lecture 14's exercises: wrong answers with the words that name the mistake."""

import torch
from torch.nn import functional

from attnbook.attention import attention
from attnbook.further.sparse import top_keys
from attnlab.exercises import longer_contexts as lecture_14


def means(key, size):
    return key.unflatten(0, (-1, size)).mean(1)


def widened(scores, size, k):
    return top_keys(scores, k).repeat_interleave(size, 1)


def of_blocks(query, key, value, size, k, scores=None, root=1.0):
    scores = query @ means(key, size).mT if scores is None else scores
    return attention(query * root, key, value, widened(scores, size, k)).output


def best_keys(query, key, value, size, k):
    return attention(query, key, value, top_keys(query @ key.mT, k)).output


def worst_blocks(query, key, value, size, k):
    return of_blocks(query, key, value, size, k, -(query @ means(key, size).mT))


def by_best_key(query, key, value, size, k):
    largest = (query @ key.mT).unflatten(1, (-1, size)).amax(-1)
    return of_blocks(query, key, value, size, k, largest)


def all_alike(query, key, value, size, k):
    scores = (query @ means(key, size).mT).sum(0, keepdim=True).expand(len(query), -1)
    return of_blocks(query, key, value, size, k, scores)


def means_read(query, key, value, size, k):
    mask = top_keys(query @ means(key, size).mT, k)
    return attention(query, means(key, size), means(value, size), mask).output


def turned(query, key, value, size, k):
    mask = top_keys(query @ means(key, size).mT, k).repeat(1, size)
    return attention(query, key, value, mask).output


def written(key, value, times, *, keep=True, rule=True, before=False):
    """What a key reads from a state, after each write or before it."""
    state, reads = torch.outer(key, value) * 0, []
    for _ in range(times):
        reads += [key @ state] if before else []
        old = state if keep else 0 * state
        state = old + torch.outer(key, value - (key @ old if rule else 0))
        reads += [] if before else [key @ state]
    return torch.stack(reads)


def gradient(model, x, outputs: int | slice = -1):
    x = x.detach().clone().requires_grad_()
    return torch.autograd.grad(model(x)[outputs].sum(), x)[0]


def furthest(felt):
    return len(felt) - 1 - felt.any(-1).nonzero().min().item()


def reach(model, x, least):
    return furthest(gradient(model, x).abs() > least)


WRONG = {
    lecture_14.chosen_blocks: [
        (lambda q, k, v, size, n: attention(q, k, v).output, "Every key"),
        (
            lambda q, k, v, size, n: functional.scaled_dot_product_attention(q, k, v),
            "Every key is read",
        ),
        (best_keys, "k best keys"),
        (worst_blocks, "fit worst"),
        (by_best_key, "its best key"),
        (all_alike, "each chooses its own"),
        (means_read, "they only choose"),
        (turned, "side by side"),
        (lambda *all_: of_blocks(*all_, root=2.0), "not divided"),
        (lambda *all_: -of_blocks(*all_), "Print which keys"),
        (lambda q, k, v, size, n: q, "wanted is (5, 3)"),
        (attention, "not yet"),
    ],
    lecture_14.long_keys: [
        (lambda k, v, t: written(k / k.norm(), v, t), "leave it as long"),
        (lambda k, v, t: written(k, v, t, before=True), "before each write"),
        (lambda k, v, t: written(k, v, t, rule=False), "That is the sum"),
        (lambda k, v, t: written(k, v, t, keep=False), "an empty state"),
        (lambda k, v, t: v - written(k, v, t), "what is missing"),
        (lambda k, v, t: 2 * written(k, v, t), "Write once on paper"),
        (lambda k, v, t: written(k, v, t)[-1], "wanted is (3, 2)"),
    ],
    lecture_14.measured_reach: [
        (lambda *all_: reach(*all_) + 1, "0 tokens back"),
        (lambda m, x, least: reach(m, x, 0), "must not count"),
        (lambda m, x, least: furthest(gradient(m, x) > least), "A negative influence"),
        (lambda m, x, least: len(x) - 1 - reach(m, x, least), "from the beginning"),
        (
            lambda m, x, least: furthest(gradient(m, x, slice(None)).abs() > least),
            "Only the last output",
        ),
        (lambda m, x, least: 1, "1 was found"),
        (lambda m, x, least: "far", "A whole number"),
    ],
}
