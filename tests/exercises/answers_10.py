"""Lecture 10's exercises: wrong answers with the words that name the mistake, and blanks."""

from __future__ import annotations

import torch

from attnbook.exercises import transformer_block as lecture_10


def normed(x, gain, bias, eps, *, dim=-1, correction=0, outside=False):
    mean = x.mean(dim, keepdim=True)
    variance = x.var(dim, keepdim=True, correction=correction)
    root = variance.sqrt() + eps if outside else (variance + eps).sqrt()
    return gain * (x - mean) / root + bias


def with_options(**options):
    return lambda *given: normed(*given, **options)


def plus(extra):
    """A count that is wrong by so much."""
    return lambda d, f: 4 * d * d + 2 * d * f + 9 * d + f + extra(d, f)


def both(pre, post):
    """A block that computes `pre` or `post` as it is asked to."""
    return lambda x, a, f, n, m, first: (pre if first else post)(x, a, f, n, m)


def pre_norm(x, a, f, n, m):
    x = x + a(n(x))
    return x + f(m(x))


def post_norm(x, a, f, n, m):
    x = n(x + a(x))
    return m(x + f(x))


def on_the_normed(x, a, f, n, m):
    x = n(x) + a(n(x))
    return x + f(m(x))


def on_the_normed_twice(x, a, f, n, m):
    x = n(x)
    x = m(x + a(x))
    return x + f(x)


def one_norm(x, a, f, n, m):
    x = x + a(n(x))
    return x + f(n(x))


def around_the_part(x, a, f, n, m):
    x = x + n(a(x))
    return x + m(f(x))


def permuting(layer, x):
    return torch.allclose(layer(x.flip(0)), layer(x).flip(0))


def first_alone(layer, x):
    return torch.allclose(layer(x[:1]), layer(x)[:1])


def last_alone(layer, x):
    return torch.allclose(layer(x[-1:]), layer(x)[-1:])


def ends_alone(layer, x):
    """Looks at the first and the last token only."""
    return first_alone(layer, x) and last_alone(layer, x)


def all_but_the_last(layer, x):
    alone = torch.cat([layer(token[None]) for token in x])
    return torch.allclose(alone[:-1], layer(x)[:-1])


def others_changed(layer, x):
    changed = x.clone()
    changed[1:] += 1
    return torch.allclose(layer(changed)[0], layer(x)[0])


def each_kept(layer, x):
    """Changes each other token, but never moves one: blind to positions."""
    for i in range(len(x)):
        changed = x + 1
        changed[i] = x[i]
        if not torch.allclose(layer(changed)[i], layer(x)[i]):
            return False
    return True


def network(w_1, w_2, b_1=(0, 0), b_2=(0,)):
    return [list(row) for row in w_1], list(b_1), [[w] for w in w_2], list(b_2)


OPPOSED = ((1, -1), (-1, 1))

WRONG = [
    (lecture_10.layer_norm, with_options(correction=1), "divides by d − 1"),
    (lecture_10.layer_norm, with_options(correction=1, outside=True), "Two things"),
    (lecture_10.layer_norm, with_options(outside=True), "outside the root"),
    (lecture_10.layer_norm, with_options(dim=1), "over the tokens"),
    (
        lecture_10.layer_norm,
        lambda x, g, b, eps: g * (x - x.mean()) / (x.var(correction=0) + eps).sqrt() + b,
        "One mean for all",
    ),
    (
        lecture_10.layer_norm,
        lambda x, g, b, eps: normed(x, g, 0, eps) / (x.var(-1, True, True) * 0.75 + eps).sqrt() + b,
        "divided by the variance",
    ),
    (lecture_10.layer_norm, lambda x, g, b, eps: normed(x, g, b, 0), "eps is missing"),
    (
        lecture_10.layer_norm,
        lambda x, g, b, eps: g * x / (x.var(-1, correction=0, keepdim=True) + eps).sqrt() + b,
        "mean is still in",
    ),
    (lecture_10.layer_norm, lambda x, g, b, eps: normed(x, 1, 0, eps), "Gain and bias are missing"),
    (
        lecture_10.layer_norm,
        lambda x, g, b, eps: g * (normed(x, 1, 0, eps) + b),
        "multiplies the bias",
    ),
    (lecture_10.layer_norm, lambda x, g, b, eps: x, "numbers are wrong"),
    (lecture_10.layer_norm, lambda x, g, b, eps: x.mean(-1), "wanted is (2, 3, 4)"),
    (lecture_10.parameters, lambda d, f: 4 * d * d + 2 * d * f, "Biases and norms"),
    (lecture_10.parameters, lambda d, f: 4 * d * d + 2 * d * f + 4 * d, "has its bias"),
    (lecture_10.parameters, plus(lambda d, f: -4 * d), "two norms are missing"),
    (lecture_10.parameters, plus(lambda d, f: -2 * d), "not one"),
    (lecture_10.parameters, plus(lambda d, f: -d * d - d), "four matrices"),
    (lecture_10.parameters, plus(lambda d, f: -f), "d_ff biases"),
    (lecture_10.parameters, lambda d, f: 12 * d * d + 13 * d, "You took d_ff = 4 d"),
    (lecture_10.parameters, plus(lambda d, f: -d * f - d), "widens, then narrows"),
    (lecture_10.parameters, plus(lambda d, f: 1), "there are 112, you say 113"),
    (lecture_10.block, both(post_norm, pre_norm), "the other kind"),
    (lecture_10.block, both(pre_norm, pre_norm), "With pre=False you computed the other kind"),
    (lecture_10.block, both(on_the_normed, post_norm), "You add to norm(x)"),
    (lecture_10.block, both(on_the_normed_twice, post_norm), "You add to norm(x)"),
    (
        lecture_10.block,
        both(lambda x, a, f, n, m: f(m(a(n(x)))), post_norm),
        "With pre=True no sum is left",
    ),
    (
        lecture_10.block,
        both(pre_norm, lambda x, a, f, n, m: m(f(n(a(x))))),
        "With pre=False no sum is left",
    ),
    (lecture_10.block, both(one_norm, post_norm), "norm_1 twice"),
    (
        lecture_10.block,
        both(lambda x, a, f, n, m: x + a(n(x)) + f(m(x)), post_norm),
        "what the first left",
    ),
    (lecture_10.block, both(around_the_part, post_norm), "You normalise what is added"),
    (lecture_10.block, both(lambda x, a, f, n, m: x + a(n(x)), post_norm), "is missing"),
    (lecture_10.block, both(pre_norm, lambda x, a, f, n, m: x), "With pre=False it is wrong"),
    (lecture_10.position_wise, permuting, "permutes its rows is less"),
    (lecture_10.position_wise, first_alone, "its first row looks"),
    (lecture_10.position_wise, last_alone, "its last row looks"),
    (lecture_10.position_wise, ends_alone, "between the first and the last"),
    (lecture_10.position_wise, all_but_the_last, "mixes all tokens into the last"),
    (lecture_10.position_wise, others_changed, "its first row looks"),
    (lecture_10.position_wise, each_kept, "adding positions is not"),
    (lecture_10.position_wise, lambda layer, x: True, "attention is not"),
    (lecture_10.position_wise, lambda layer, x: False, "feed-forward network is"),
    (lecture_10.position_wise, lambda layer, x: layer(x), "Return True or False"),
    (lecture_10.two_neurons, network(OPPOSED, (1, -1)), "can be negative"),
    (lecture_10.two_neurons, network(OPPOSED, (-1, 1)), "x_2 − x_1"),
    (lecture_10.two_neurons, network(OPPOSED, (1, 0)), "x_1 exceeds x_2"),
    (lecture_10.two_neurons, network(OPPOSED, (0, 1)), "x_1 is below x_2"),
    (lecture_10.two_neurons, network(OPPOSED, (-1, -1)), "sign is turned"),
    (lecture_10.two_neurons, network(OPPOSED, (2, 2)), "Twice too much"),
    (lecture_10.two_neurons, network(OPPOSED, (0.5, 0.5)), "Half of"),
    (lecture_10.two_neurons, network(OPPOSED, (1, 1), b_2=(1,)), "but for a constant"),
    (lecture_10.two_neurons, network(((1, 0), (0, 1)), (1, 1)), "it must be 2"),
    (
        lecture_10.two_neurons,
        network(((2, 1), (-2, -1)), (1, -1), b_1=(0, 100), b_2=(100,)),
        "Right near 0 only",
    ),
    (
        lecture_10.two_neurons,
        network(((2, 1), (-2, -1)), (1, -1), b_1=(0, 1e7), b_2=(1e7,)),
        "Right near 0 only",
    ),
    (
        lecture_10.two_neurons,  # fitted to five points
        network(((11.5 / 11, -17.1 / 17), (-11.4 / 11, 17.6 / 17)), (1, 1), b_1=(-0.1, -0.1)),
        "whole numbers only",
    ),
    (lecture_10.two_neurons, 7, "Four things were wanted"),
    (lecture_10.two_neurons, ([[1, -1]], [0, 0], [[1], [1]], [0]), "wanted is (2, 2)"),
]
BLANK = [
    (lecture_10.layer_norm, lambda x, gain, bias, eps: None),
    (lecture_10.parameters, lambda d, d_ff: ...),
    (lecture_10.block, lambda x, attend, ffn, norm_1, norm_2, pre: ...),
    (lecture_10.position_wise, lambda layer, x: None),
    (lecture_10.two_neurons, ...),
    (lecture_10.two_neurons, (..., ..., ..., ...)),
]
