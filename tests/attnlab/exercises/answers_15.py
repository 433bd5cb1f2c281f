"""Lecture 15's exercises: wrong answers with the words that name the mistake."""

import torch

from attnlab.exercises import what_heads_show as lecture_15


def put(outputs, head, new):
    changed = outputs.clone()
    changed[:, head] = new
    return changed


def over_others(outputs, head, divisor=None):
    mine = outputs[:, head]
    return put(outputs, head, (mine.sum(0) - mine) / (divisor or len(mine) - 1))


def after(ids, latest=False):
    """At which earlier places stands what followed the token's like: (n, n)."""
    n = len(ids)
    found = torch.zeros(n, n)
    for i in range(n):
        for j in range(1, i):
            if ids[j - 1] == ids[i]:
                found[i] *= 0 if latest else 1
                found[i, j] = 1
    return found


def same(ids):
    return (ids[:, None] == ids).tril(-1).float()


def mean_over(weights, places):
    return (weights * places).sum(1)[places.any(1)].mean()


def shift(states, weights, share=1.0):
    """Move as far as a direction that changes neither the sum nor the weighted sum allows."""
    both = torch.cat([states.mT, torch.ones(1, len(weights), dtype=torch.float64)])
    free = torch.linalg.svd(both).Vh[4:]
    steps = [(weights / -d)[d < 0].min() * d for d in torch.cat([free, -free])]
    return weights + share * max(steps, key=lambda step: step.abs().sum())


WRONG = {
    lecture_15.ablated: [
        (lambda o, h: o, "as they were given"),
        (lambda o, h: put(o, h, o[:, h].mean(0)), "must not be in it"),
        (lambda o, h: put(o, h, 0.0), "These are zeros"),
        (lambda o, h: (o.sum(0) - o) / (len(o) - 1), "All heads have been replaced"),
        (lambda o, h: over_others(o, h, len(o)), "one less than all"),
        (lambda o, h: over_others(o, (h + 1) % 4), "over the other rows"),
        (lambda o, h: over_others(o, h, 4), "use the shapes that come"),
        (lambda o, h: o[:, h], "wanted is (5, 4, 3)"),
    ],
    lecture_15.next_score: [
        (lambda w, i: mean_over(w, same(i)), "not on what followed it"),
        (lambda w, i: mean_over(w, after(i, latest=True)), "last time alone"),
        (lambda w, i: (w * after(i)).sum(1).mean(), "over all tokens"),
        (lambda w, i: w.diagonal(-1).mean(), "the token before"),
        (lambda w, i: (w * after(i)).sum(), "the sum over the tokens"),
        (lambda w, i: w.mean(), "For each i, sum over all j"),
        (
            lambda w, i: (w * after(i)).sum(1)[same(i).any(1)].mean(),
            "a token may follow its own like",
        ),
        (lambda w, i: (w * after(i)).sum(1), "wanted is ()"),
    ],
    lecture_15.other_weights: [
        (lambda h, a: a, "that were given"),
        (lambda h, a: a / 2, "sum to 0.500"),
        (lambda h, a: shift(h, a, 4.0), "cannot be negative"),
        (lambda h, a: a.flip(0), "weighted sum has changed"),
        (lambda h, a: shift(h, a, 0.1), "of the weight has moved"),
        (lambda h, a: h, "wanted is (6,)"),
    ],
}
