"""Wrong answers to lecture 1's exercises, for ``test_exercises``."""

import torch

from attnlab.exercises import sequence_to_sequence as lecture_1


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


def reads(words, lengths, step, h, *, after=None):
    """The right reading, with what is done to the states of ended sentences, if anything."""
    for j in range(words.shape[1]):
        real = (j < lengths)[:, None]
        h = torch.where(real, step(words[:, j], h), h if after is None else after(h))
    return h


def to_the_end(words, lengths, step, h):
    return reads(words, torch.full_like(lengths, words.shape[1]), step, h)


def from_the_right(words, lengths, step, h):
    return to_the_end(words.flip(1), lengths, step, h)


def moved(by):
    return lambda words, lengths, step, h: reads(words, lengths + by, step, h)


def zeros_in_the_padding(words, lengths, step, h):
    real = torch.arange(words.shape[1]) < lengths[:, None]
    return to_the_end(words * real[..., None], lengths, step, h)


def own_step(words, lengths, step, h):
    return reads(words, lengths, lambda x, h: h / 2 + x, h)


def findings(changed=frozenset({"day, left", "day, right"}), zeros=False):
    return {"changed": changed, "zeros help": zeros}


def reading(worst=5, rise=(0.105, 0.138), digits=11):
    return {"worst": worst, "rise": rise, "digits": digits}


WRONG = {
    lecture_1.gru_of_the_paper: [
        (mixed(lambda z, n, h: z * n + (1 - z) * h), "lets the new state"),
        (mixed(lambda z, n, h: n), "That is the candidate"),
        (mixed(lambda z, n, h: n + z * h), "share is 1 − z"),
        (mixed(lambda z, n, h: h), "state is wrong"),
        (proposed(lambda x, h, r, u: torch.tanh(x + r * (h @ u))), "That is PyTorch's"),
        (proposed(lambda x, h, r, u: torch.tanh(x + h @ u)), "reset gate is not used"),
        (
            proposed(lambda x, h, r, u: torch.sigmoid(x + (r * h) @ u)),
            "only the gates are sigmoids",
        ),
        (proposed(lambda x, h, r, u: x + (r * h) @ u), "lacks its tanh"),
        (swapped, "two gates changed places"),
        (gates_of_tanh, "below 0 makes no sense"),
        (columns, "vectors are rows here"),
        (lambda x, h, w, u: h[:2], "wanted is (3,)"),
    ],
    lecture_1.reading_by_lengths: [
        (to_the_end, "You read the padding too"),
        (lambda x, n, step, h: reads(x, n.clamp(max=1), step, h), "end of the shortest"),
        (moved(1), "One word too many"),
        (moved(-1), "One word too few"),
        (zeros_in_the_padding, "A padding of zeros is a word"),
        (lambda x, n, step, h: reads(x, n, step, h, after=torch.zeros_like), "yours becomes 0"),
        (lambda x, n, step, h: reads(x, n, step, 0 * h), "You begin from zeros"),
        (from_the_right, "You read from the right"),
        (own_step, "wrong for another"),
        (lambda x, n, step, h: h, "The states are wrong"),
        (lambda x, n, step, h: x, "wanted is (3, 2)"),
    ],
    lecture_1.what_packing_does: [
        (findings({"cat, left", "day, left"}), "cat, left: the longest"),
        (findings({"day, right"}), "from the left changes too"),
        (findings({"day, left"}), "from the right changes too"),
        (findings(set()), "Something changes"),
        (findings(zeros=True), "a word of zeros is still a step"),
        (findings(zeros="no"), "True or False was wanted"),
        (findings({"day"}), "'day' is not one of"),
        (findings("day, left"), "a set of names was wanted"),
        ({"changed": set()}, "A dictionary was wanted"),
    ],
    lecture_1.read_the_places: [
        (reading(worst=2), "order of reading"),
        (reading(worst=6), "better again"),
        (reading(worst=0.58), "a number from 1 to 6"),
        (reading(rise=(0.138, 0.105)), "reversal first"),
        (reading(rise=(0.366, 0.138)), "those read first"),
        (reading(rise=(-0.105, -0.138)), "are positive"),
        (reading(rise=(0.3, 0.2)), "less the worst"),
        (reading(rise=0.1), "wanted is (2,)"),
        (reading(digits=0.742), "How many of 15"),
        (reading(digits=11.13), "a whole number"),
        (reading(digits=14), "15 times the mean"),
        (5, "A dictionary was wanted"),
    ],
}
