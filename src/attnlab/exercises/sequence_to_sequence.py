"""The checks of lecture 1, "Sequence to sequence". Its exercise 1 is worked out on paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlab.exercises import (
    Mistake,
    answered,
    called,
    drawn,
    exercise,
    named,
    names_among,
    number_of,
    shuffled,
    tensor_of,
    truth,
)
from attnlab.models.results import read

ENDS = ("cat, left", "cat, right", "day, left", "day, right")


def cell() -> tuple[Tensor, Tensor, dict[str, Tensor], dict[str, Tensor]]:
    """A word (3,), a state (3,), and the matrices of a GRU without biases."""
    w, u = (dict(zip("rzn", drawn(3, 3, 3) / 2, strict=True)) for _ in range(2))
    return drawn(3), torch.tanh(drawn(3)), w, u


@exercise(2)
def gru_of_the_paper(function: Callable[..., Any]) -> str:
    """`function(x, h, w, u)` must return the new state of Cho et al.'s GRU, (d,)."""
    x, h, w, u = cell()
    found = tensor_of(called(function, x, h, w, u), (3,))
    named(
        found,
        _new_state(x, h, w, u),
        *_mistakes_of_a_gru(x, h, w, u),
        otherwise="The state is wrong. Print r and z first: both lie between 0 and 1.",
    )
    return "As 0 < z < 1, each new number lies between the old one and the candidate."


def _new_state(x: Tensor, h: Tensor, w: Any, u: Any, gate: Any = torch.sigmoid) -> Tensor:
    r, z = (gate(x @ w[name] + h @ u[name]) for name in "rz")
    return (1 - z) * torch.tanh(x @ w["n"] + (r * h) @ u["n"]) + z * h


def _mistakes_of_a_gru(
    x: Tensor, h: Tensor, w: dict[str, Tensor], u: dict[str, Tensor]
) -> list[tuple[Tensor, str]]:
    """Wrong states, each with what is wrong."""
    r, z = (torch.sigmoid(x @ w[gate] + h @ u[gate]) for gate in "rz")
    word, matrix = x @ w["n"], u["n"]
    plain = word + (r * h) @ matrix
    n, kept = torch.tanh(plain), z * h
    theirs, no_reset = torch.tanh(word + r * (h @ matrix)), torch.tanh(word + h @ matrix)
    swapped = (1 - r) * torch.tanh(word + kept @ matrix) + r * h
    columns = _new_state(x, h, *({k: m.T for k, m in part.items()} for part in (w, u)))
    return [
        (z * n + (1 - z) * h, "z lets the new state in. Here it keeps the old one: z ⊙ h."),
        (
            (1 - z) * theirs + kept,
            "That is PyTorch's. Here r meets h before the matrix: (r ⊙ h) U_n.",
        ),
        ((1 - z) * no_reset + kept, "The reset gate is not used: the candidate sees r ⊙ h."),
        ((1 - z) * torch.sigmoid(plain) + kept, "It is a tanh: only the gates are sigmoids."),
        ((1 - z) * plain + kept, "The candidate lacks its tanh."),
        (swapped, "The two gates changed places."),
        (
            _new_state(x, h, w, u, torch.tanh),
            "The gates are sigmoids: an r or a z below 0 makes no sense.",
        ),
        (columns, "The vectors are rows here: `x @ w`, not `w @ x`."),
        (n, "That is the candidate: the old state still has its share, z."),
        (n + kept, "The candidate's share is 1 − z, so that the shares sum to 1."),
    ]


def padded() -> tuple[Tensor, Tensor, Tensor]:
    """Words (3, 4, 2) of sentences of 4, 2 and 1 in any order, lengths, first states (3, 2)."""
    return drawn(3, 4, 2), torch.tensor([4, 2, 1])[shuffled(3)], drawn(3, 2)


def fading_sum(x: Tensor, h: Tensor) -> Tensor:
    """A recurrent step without a matrix: half of the old state and the word."""
    return h / 2 + x


@exercise(4)
def reading_by_lengths(function: Callable[..., Any]) -> str:
    """`function(words, lengths, step, h)` must return each sentence's own last state, (b, d)."""
    words, lengths, h = padded()
    found = tensor_of(called(function, words, lengths, fading_sum, h), (3, 2))
    named(
        found,
        _read(words, h, lengths),
        *_mistakes_of_reading(words, h, lengths),
        otherwise="The states are wrong. Try a batch of one sentence first, without padding.",
    )
    named(
        tensor_of(called(function, words, lengths, bent, h), (3, 2)),
        _read(words, h, lengths, bent),
        otherwise="Right for one `step`, wrong for another: call the one that you are given.",
    )
    return "The mask costs steps that packing saves; what comes out is the same."


def bent(x: Tensor, h: Tensor) -> Tensor:
    """Another step."""
    return torch.tanh(2 * x - h)


def _read(
    words: Tensor, h: Tensor, lengths: Tensor, step: Callable[..., Tensor] = fading_sum
) -> Tensor:
    for j in range(words.shape[1]):
        h = torch.where((j < lengths)[:, None], step(words[:, j], h), h)
    return h


def _mistakes_of_reading(words: Tensor, h: Tensor, lengths: Tensor) -> list[tuple[Tensor, str]]:
    """Wrong last states, each with what is wrong."""
    everything = torch.full_like(lengths, words.shape[1])
    emptied, erased = h, h
    for j in range(words.shape[1]):
        real = (j < lengths)[:, None]
        emptied = fading_sum(torch.where(real, words[:, j], 0.0), emptied)
        erased = torch.where(real, fading_sum(words[:, j], erased), 0.0)
    return [
        (_read(words, h, everything), "You read the padding too: a sentence has `lengths` words."),
        (
            _read(words, h, lengths.clamp(max=1)),
            "You stop all at the end of the shortest sentence.",
        ),
        (
            _read(words, h, lengths + 1),
            "One word too many: word j, counted from 0, is read if j < length.",
        ),
        (_read(words, h, lengths - 1), "One word too few: the last word of a sentence counts."),
        (
            emptied,
            "A padding of zeros is a word all the same: the step changes the state. Keep it.",
        ),
        (erased, "Where a sentence has ended its state must stay, and yours becomes 0."),
        (
            _read(words, torch.zeros_like(h), lengths),
            "You begin from zeros: the first states are `h`.",
        ),
        (_read(words.flip(1), h, everything), "You read from the right, and the padding first."),
    ]


@exercise(3)
def what_packing_does(findings: Any) -> str:
    """`findings` names the last states that change without packing, and says if zeros help."""
    answers = answered(findings, "changed", "zeros help")
    changed = names_among("changed", answers["changed"], ENDS)
    if both := sorted(name for name in changed if name.startswith("cat")):
        raise Mistake(f"{both[0]}: the longest sentence of a batch has no padding.")
    if changed == {"day, right"}:
        raise Mistake("The reader from the left changes too: it goes on through the padding.")
    if changed == {"day, left"}:
        raise Mistake("The reader from the right changes too: it begins in the padding.")
    if not changed:
        raise Mistake("Something changes. Compare the second result of the GRU, (2, b, d/2).")
    if truth(answers["zeros help"], "zeros help"):
        raise Mistake(
            "zeros help: a word of zeros is still a step, with biases and the old state. Measure."
        )
    return "So a model trained without packing translates a sentence otherwise in other company."


@exercise(5)
def read_the_places(reading: Any) -> str:
    """`reading` says which sixth is worst, how far the last rises, how many digits are right."""
    answers = answered(reading, "worst", "rise", "digits")
    table = read("bottleneck")
    shares = {
        task: [sum(table[task][f"place {k} of 6"]) / 3 for k in range(1, 7)]
        for task in ("reversal", "copying")
    }
    written = {"reversal": shares["reversal"][::-1], "copying": shares["copying"]}
    _check_worst(answers["worst"])
    rise = tensor_of(answers["rise"], (2,))
    wanted = torch.tensor([row[-1] - min(row) for row in written.values()]).double()
    if _near(rise, wanted.flip(0)) and not _near(rise, wanted):
        raise Mistake("rise: reversal first, then copying.")
    if _near(rise[0], shares["reversal"][-1] - min(shares["reversal"])):
        raise Mistake("rise: in reversal the digits written last are those read first.")
    if _near(rise, -wanted):
        raise Mistake("rise: the sixth written last is better, so the numbers are positive.")
    if not _near(rise, wanted):
        raise Mistake("rise: the last column less the worst, in the order of writing.")
    digits, share = number_of("digits", answers["digits"]), sum(written["reversal"]) / 6
    if _near(digits, share):
        raise Mistake("digits: that is the mean share. How many of 15 digits are that?")
    if not digits.is_integer():
        raise Mistake("digits: a whole number was wanted.")
    if digits != round(15 * share):
        raise Mistake("digits: 15 times the mean of the six shares of reversal.")
    return "Eleven digits of fifteen are right, and hardly a whole string: all of them must be."


def _check_worst(worst: Any) -> None:
    if worst == 2:
        raise Mistake("worst: that is the order of reading, and of reversal. Count as written.")
    if worst == 6:
        raise Mistake("worst: the sixth written last is better again. Look one to its left.")
    if worst != 5:
        raise Mistake("worst: a number from 1 to 6 was wanted, the same for both tasks.")


def _near(found: Any, wanted: Any) -> bool:
    return bool(((torch.as_tensor(found) - wanted).abs() < 0.015).all())
