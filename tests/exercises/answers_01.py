"""Wrong answers and blanks of lecture 1's exercises, for ``test_exercises``."""

from __future__ import annotations

import math

import torch

from attnbook.exercises import sequence_to_sequence as lecture_1


def look_up(tokens, words):
    return [tokens.index(word) for word in words]


def gates(x, h, w, u):
    return (torch.sigmoid(x @ w[gate] + h @ u[gate]) for gate in "rz")


def mixed(mix):
    """A GRU whose last line is ``mix(z, n, h)``."""

    def step(x, h, w, u):
        r, z = gates(x, h, w, u)
        return mix(z, torch.tanh(x @ w["n"] + (r * h) @ u["n"]), h)

    return step


def proposed(candidate):
    """A GRU whose candidate is ``candidate(x W, h, r, U)``."""

    def step(x, h, w, u):
        r, z = gates(x, h, w, u)
        return (1 - z) * candidate(x @ w["n"], h, r, u["n"]) + z * h

    return step


def swapped(x, h, w, u):
    z, r = gates(x, h, w, u)
    return (1 - z) * torch.tanh(x @ w["n"] + (r * h) @ u["n"]) + z * h


def gates_of_tanh(x, h, w, u):
    r, z = (torch.tanh(x @ w[gate] + h @ u[gate]) for gate in "rz")
    return (1 - z) * torch.tanh(x @ w["n"] + (r * h) @ u["n"]) + z * h


def columns(x, h, w, u):
    """The whole step with column vectors: matrices on the left."""
    r, z = (torch.sigmoid(w[gate] @ x + u[gate] @ h) for gate in "rz")
    return (1 - z) * torch.tanh(w["n"] @ x + u["n"] @ (r * h)) + z * h


def ends(one, other):
    """A summary of the states ``one`` of the left reader and ``other`` of the right one."""
    return lambda a, b, w, bias: torch.tanh(torch.cat([a[one], b[other]]) @ w + bias)


def surprise(logits, target, dim=-1):
    return -torch.log_softmax(logits, dim).gather(-1, target[..., None])[..., 0]


def each_sentence(logits, target):
    real = target != 0
    return ((surprise(logits, target) * real).sum(1) / real.sum(1)).mean()


def flat(sentences):
    return [p for sentence in sentences for p in sentence]


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers)


def surprises(sentence):
    return [-math.log(p) for p in sentence]


WRONG = [
    (lecture_1.numbers_of_a_sentence, look_up, "are missing"),
    (
        lecture_1.numbers_of_a_sentence,
        lambda t, s: look_up(t, ["<bos>", *s]),
        "<eos> is missing",
    ),
    (
        lecture_1.numbers_of_a_sentence,
        lambda t, s: look_up(t, [*s, "<eos>"]),
        "<bos> is missing",
    ),
    (lecture_1.numbers_of_a_sentence, lambda t, s: [2, *look_up(t, s), 1], "changed places"),
    (
        lecture_1.numbers_of_a_sentence,
        lambda t, s: [n + 1 for n in look_up(t, ["<bos>", *s, "<eos>"])],
        "You count from 1",
    ),
    (
        lecture_1.numbers_of_a_sentence,
        lambda t, s: [1, *look_up(t[3:], s), 2],
        "words begin at 3",
    ),
    (
        lecture_1.numbers_of_a_sentence,
        lambda t, s: [1, *sorted(set(look_up(t, s))), 2],
        "its number twice",
    ),
    (lecture_1.numbers_of_a_sentence, lambda t, s: [0], "you return [0]"),
    (lecture_1.numbers_of_a_sentence, lambda t, s: [1, 3, 4, 6, 3, 5, 2], "wrong for another"),
    (lecture_1.numbers_of_a_sentence, lambda t, s: 5, "A list of numbers was wanted"),
    (lecture_1.numbers_of_a_sentence, lambda t, s: ["<bos>", *s], "whole numbers was wanted"),
    (
        lecture_1.numbers_of_a_sentence,
        lambda t, s: [n + 0.5 for n in look_up(t, ["<bos>", *s, "<eos>"])],
        "whole numbers was wanted",
    ),
    (lecture_1.shifted_target, lambda y: ([*y, 2], [1, *y]), "changed places"),
    (lecture_1.shifted_target, lambda y: ([1, *y, 2], [1, *y, 2]), "Both are the whole"),
    (lecture_1.shifted_target, lambda y: (y, y), "Nothing is shifted"),
    (lecture_1.shifted_target, lambda y: ([1, *y], y), "never learns to stop"),
    (lecture_1.shifted_target, lambda y: (y, [*y, 2]), "must read <bos> there"),
    (lecture_1.shifted_target, lambda y: ([1, *y], [1, *y]), "*next* word"),
    (lecture_1.shifted_target, lambda y: ([1, *y, 2], [*y, 2]), "After <eos> nothing"),
    (lecture_1.shifted_target, lambda y: ([0, *y], [*y, 2]), "wanted is"),
    (lecture_1.shifted_target, lambda y: ([1, 7, 5, 9], [7, 5, 9, 2]), "wrong for one"),
    (lecture_1.shifted_target, lambda y: [1, *y, 2], "Two lists were wanted"),
    (lecture_1.gru_of_the_paper, mixed(lambda z, n, h: z * n + (1 - z) * h), "lets the new state"),
    (lecture_1.gru_of_the_paper, mixed(lambda z, n, h: n), "That is the candidate"),
    (lecture_1.gru_of_the_paper, mixed(lambda z, n, h: n + z * h), "share is 1 − z"),
    (lecture_1.gru_of_the_paper, mixed(lambda z, n, h: h), "state is wrong"),
    (
        lecture_1.gru_of_the_paper,
        proposed(lambda x, h, r, u: torch.tanh(x + r * (h @ u))),
        "That is PyTorch's",
    ),
    (
        lecture_1.gru_of_the_paper,
        proposed(lambda x, h, r, u: torch.tanh(x + h @ u)),
        "reset gate is not used",
    ),
    (
        lecture_1.gru_of_the_paper,
        proposed(lambda x, h, r, u: torch.sigmoid(x + (r * h) @ u)),
        "only the gates are sigmoids",
    ),
    (lecture_1.gru_of_the_paper, proposed(lambda x, h, r, u: x + (r * h) @ u), "lacks its tanh"),
    (lecture_1.gru_of_the_paper, swapped, "two gates changed places"),
    (lecture_1.gru_of_the_paper, gates_of_tanh, "below 0 makes no sense"),
    (lecture_1.gru_of_the_paper, columns, "vectors are rows here"),
    (lecture_1.gru_of_the_paper, lambda x, h, w, u: h[:2], "wanted is (3,)"),
    (lecture_1.loss_of_a_batch, lambda a, y: surprise(a, y).mean(), "Padding is counted"),
    (
        lecture_1.loss_of_a_batch,
        lambda a, y: (surprise(a, y) * (y != 0)).mean(),
        "still divide by all places",
    ),
    (lecture_1.loss_of_a_batch, lambda a, y: surprise(a, y)[y != 0].sum(), "That is the sum"),
    (
        lecture_1.loss_of_a_batch,
        lambda a, y: surprise(a, y).sum() / (y != 0).sum(),
        "still in the sum",
    ),
    (lecture_1.loss_of_a_batch, lambda a, y: surprise(a, y)[y > 2].mean(), "is a real token"),
    (
        lecture_1.loss_of_a_batch,
        lambda a, y: surprise(a, y)[y != 0].sum() / len(y),
        "divide by the sentences",
    ),
    (lecture_1.loss_of_a_batch, each_sentence, "mean of the sentences' means"),
    (lecture_1.loss_of_a_batch, lambda a, y: -surprise(a, y)[y != 0].mean(), "sign is wrong"),
    (
        lecture_1.loss_of_a_batch,
        lambda a, y: -torch.exp(-surprise(a, y))[y != 0].mean(),
        "logarithm is missing",
    ),
    (
        lecture_1.loss_of_a_batch,
        lambda a, y: -a.gather(-1, y[..., None])[..., 0][y != 0].mean(),
        "softmax is missing",
    ),
    (lecture_1.loss_of_a_batch, lambda a, y: surprise(a, y, 1)[y != 0].mean(), "the last axis"),
    (lecture_1.loss_of_a_batch, lambda a, y: surprise(a, y)[y != 0].mean() / math.log(2), "bits"),
    (lecture_1.loss_of_a_batch, lambda a, y: surprise(a, y)[y != 0].mean().exp(), "perplexity"),
    (lecture_1.loss_of_a_batch, lambda a, y: torch.tensor(7.0), "loss is wrong"),
    (lecture_1.loss_of_a_batch, surprise, "wanted is ()"),
    (lecture_1.perplexity_of, lambda s: mean(surprises(flat(s))), "is its exponential"),
    (lecture_1.perplexity_of, lambda s: math.exp(sum(surprises(flat(s)))), "You took the sum"),
    (
        lecture_1.perplexity_of,
        lambda s: math.exp(sum(surprises(flat(s))) / len(s)),
        "number of sentences",
    ),
    (
        lecture_1.perplexity_of,
        lambda s: math.prod(flat(s)) ** (-1 / len(flat(s))),
        "underflows",
    ),
    (lecture_1.perplexity_of, lambda s: 1 / mean(flat(s)), "one over the mean"),
    (lecture_1.perplexity_of, lambda s: mean(1 / p for p in flat(s)), "mean of 1/p"),
    (
        lecture_1.perplexity_of,
        lambda s: math.exp(mean(mean(surprises(one)) for one in s)),
        "sentence by sentence",
    ),
    (
        lecture_1.perplexity_of,
        lambda s: mean(math.exp(mean(surprises(one))) for one in s),
        "sentences' perplexities",
    ),
    (lecture_1.perplexity_of, lambda s: 2 ** mean(surprises(flat(s))), "Base 2"),
    (lecture_1.perplexity_of, lambda s: math.exp(-mean(surprises(flat(s)))), "never below 1"),
    (lecture_1.perplexity_of, lambda s: 3.0, "You return 3.0000"),
    (lecture_1.perplexity_of, lambda s: 640**0.25, "wanted is 5"),
    (lecture_1.summary_of_a_sentence, ends(-1, -1), "ends at the first word"),
    (lecture_1.summary_of_a_sentence, ends(0, -1), "where each reader begins"),
    (lecture_1.summary_of_a_sentence, ends(0, 0), "ends at the last word"),
    (
        lecture_1.summary_of_a_sentence,
        lambda a, b, w, bias: torch.tanh(torch.cat([b[0], a[-1]]) @ w + bias),
        "halves changed places",
    ),
    (
        lecture_1.summary_of_a_sentence,
        lambda a, b, w, bias: torch.cat([a[-1], b[0]]) @ w + bias,
        "tanh is missing",
    ),
    (
        lecture_1.summary_of_a_sentence,
        lambda a, b, w, bias: torch.tanh(torch.cat([a[-1], b[0]]) @ w),
        "bias is missing",
    ),
    (
        lecture_1.summary_of_a_sentence,
        lambda a, b, w, bias: torch.tanh(w @ torch.cat([a[-1], b[0]]) + bias),
        "rows here",
    ),
    (lecture_1.summary_of_a_sentence, ends(1, 1), "summary is wrong"),
    (lecture_1.summary_of_a_sentence, lambda a, b, w, bias: a, "wanted is (4,)"),
]
BLANK = [
    (lecture_1.numbers_of_a_sentence, lambda tokens, sentence: None),
    (lecture_1.shifted_target, lambda target: ...),
    (lecture_1.gru_of_the_paper, lambda x, h, w, u: None),
    (lecture_1.loss_of_a_batch, lambda logits, target: None),
    (lecture_1.perplexity_of, lambda sentences: ...),
    (lecture_1.summary_of_a_sentence, lambda left, right, w, b: ...),
]
