"""Lecture 12's exercises: wrong answers with the words that name the mistake, and blanks."""

from __future__ import annotations

from collections import Counter

import torch
from torch.nn import functional

from attnbook.exercises import pretrained_models as lecture_12


def unit(x):
    return functional.normalize(x, dim=-1)


def real(mask):
    return mask.mT.double()


def mean(hidden, mask):
    return (hidden * real(mask)).sum(1) / real(mask).sum(1)


def losses(logits, tokens):
    return -logits.log_softmax(-1).gather(-1, tokens[..., None])[..., 0]


def next_words(logits, tokens, chosen):
    return losses(logits[:, :-1], tokens[:, 1:])[chosen[:, 1:]].mean()


def by_sentence(logits, tokens, chosen):
    pairs = zip(losses(logits, tokens), chosen, strict=True)
    return torch.stack([row[some].mean() for row, some in pairs]).mean()


def summed(weights, words, queries="mean", keys="sum"):
    return lecture_12.by_words(weights, words, queries=queries, keys=keys)


def first_pieces(weights, words):
    first = [word[0] for word in words]
    return weights[first][:, first]


def all_words(weights, words):
    return summed(weights, lecture_12.WORDS if len(words) == 4 else [[0], [1]])


def commonest(distances):
    (offset, count), *_ = Counter(distances).most_common()
    return offset, count / len(distances)


def shift(states, weights, share=1.0):
    """Move as far as a direction that changes neither the sum nor the weighted sum allows."""
    both = torch.cat([states.mT, torch.ones(1, len(weights), dtype=torch.float64)])
    free = torch.linalg.svd(both).Vh[4:]
    steps = [(weights / -d)[d < 0].min() * d for d in torch.cat([free, -free])]
    return weights + share * max(steps, key=lambda step: step.abs().sum())


WRONG = [
    (lecture_12.mean_pooling, lambda h, m: unit(h.mean(1)), "The padding is in your mean"),
    (lecture_12.mean_pooling, lambda h, m: h.mean(1), "And give it the length 1"),
    (lecture_12.mean_pooling, mean, "do not have the length 1"),
    (lecture_12.mean_pooling, lambda h, m: (h * real(m)).sum(1), "do not have the length 1"),
    (
        lecture_12.mean_pooling,
        lambda h, m: functional.normalize(mean(h, m), dim=0),
        "down the batch",
    ),
    (lecture_12.mean_pooling, lambda h, m: unit(mean(unit(h), m)), "once, after the mean"),
    (lecture_12.mean_pooling, lambda h, m: unit(h[:, 0]), "the first piece alone"),
    (
        lecture_12.mean_pooling,
        lambda h, m: unit(h.masked_fill(~m.mT, -torch.inf).amax(1)),
        "The mean was wanted",
    ),
    (lecture_12.mean_pooling, lambda h, m: unit((h * ~m.mT).sum(1)), "turned over"),
    (lecture_12.mean_pooling, lambda h, m: unit(h[:, 1]), "vectors are wrong"),
    (lecture_12.mean_pooling, lambda h, m: h, "wanted is (3, 5)"),
    (lecture_12.mean_pooling, lambda h, m: h * m, "raised RuntimeError"),
    (lecture_12.word_weights, lambda w, p: summed(w, p, keys="mean"), "Add up the pieces"),
    (lecture_12.word_weights, lambda w, p: summed(w, p, queries="sum"), "Average the pieces"),
    (lecture_12.word_weights, lambda w, p: summed(w, p, "sum", "mean"), "other way round"),
    (lecture_12.word_weights, lambda w, p: summed(w, p).mT, "are exchanged"),
    (lecture_12.word_weights, first_pieces, "the first piece of each word"),
    (lecture_12.word_weights, lambda w, p: torch.eye(4), "weights are wrong"),
    (lecture_12.word_weights, all_words, "wrong for some"),
    (lecture_12.word_weights, lambda w, p: w, "wanted is (4, 4)"),
    (lecture_12.masked_loss, lambda x, t, c: losses(x, t).mean(), "over all places"),
    (lecture_12.masked_loss, lambda x, t, c: losses(x, t)[~c].mean(), "not chosen"),
    (lecture_12.masked_loss, lambda x, t, c: -losses(x, t)[c].mean(), "sign is turned"),
    (lecture_12.masked_loss, lambda x, t, c: losses(x, t)[c].sum(), "number of chosen places"),
    (lecture_12.masked_loss, lambda x, t, c: (losses(x, t) * c).mean(), "not by all 8"),
    (lecture_12.masked_loss, by_sentence, "sentences' averages"),
    (lecture_12.masked_loss, next_words, "predict the next word"),
    (
        lecture_12.masked_loss,
        lambda x, t, c: -(-losses(x, t)[c]).exp().mean().log(),
        "logarithm first",
    ),
    (
        lecture_12.masked_loss,
        lambda x, t, c: -x.gather(-1, t[..., None])[..., 0][c].mean(),
        "softmax is missing",
    ),
    (lecture_12.masked_loss, lambda x, t, c: x.mean(), "loss is wrong"),
    (lecture_12.masked_loss, lambda x, t, c: losses(x, t)[c], "wanted is ()"),
    (lecture_12.best_offset, lambda a: commonest([d - g for d, g in a]), "sign is turned"),
    (
        lecture_12.best_offset,
        lambda a: Counter(g - d for d, g in a).most_common(1)[0],
        "a count",
    ),
    (lecture_12.best_offset, lambda a: commonest([abs(g - d) for d, g in a]), "no absolute"),
    (
        lecture_12.best_offset,
        lambda a: (sum(g - d for d, g in a) / len(a), 0),
        "the mean distance",
    ),
    (lecture_12.best_offset, lambda a: (max(g - d for d, g in a), 1 / len(a)), "the greatest"),
    (lecture_12.best_offset, lambda a: (3, 0.5), "You found (3.0, 0.5)"),
    (lecture_12.best_offset, lambda a: (1, 3 / 7), "look to the left"),
    (
        lecture_12.best_offset,
        lambda a: max((sum(g - d == k for d, g in a) / len(a), k) for k in (-2, -1, 1, 2))[::-1],
        "look to the left",
    ),
    (lecture_12.best_offset, lambda a: 1, "Two numbers were wanted"),
    (lecture_12.other_weights, lambda h, a: a, "that were given"),
    (lecture_12.other_weights, lambda h, a: a / 2, "sum to 0.500"),
    (lecture_12.other_weights, lambda h, a: shift(h, a, 4.0), "cannot be negative"),
    (lecture_12.other_weights, lambda h, a: a.flip(0), "weighted sum has changed"),
    (lecture_12.other_weights, lambda h, a: shift(h, a, 0.1), "of the weight has moved"),
    (lecture_12.other_weights, lambda h, a: h, "wanted is (6,)"),
]
BLANK = [
    (lecture_12.mean_pooling, lambda hidden, mask: None),
    (lecture_12.word_weights, lambda weights, words: ...),
    (lecture_12.masked_loss, lambda logits, tokens, chosen: None),
    (lecture_12.best_offset, lambda arcs: ...),
    (lecture_12.other_weights, lambda states, weights: None),
]
