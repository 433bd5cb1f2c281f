"""The checks of lecture 2, "Decoding"."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnbook.decoding import beam_search, greedy
from attnlab.exercises import (
    Mistake,
    answered,
    called,
    exercise,
    named,
    number_of,
    tensor_of,
    uniform,
    whole,
)

Row = dict[str, float]
Prefix = tuple[str, ...]
EOS = "<eos>"
READY_MADE = (beam_search, greedy)
_MOST_ASKED = 1_000  # of an endless table; the most probable beginning first, it takes few
_equal = partial(math.isclose, rel_tol=1e-4)


def small_table() -> dict[Prefix, Row]:
    """A table of next words in which the best sentence begins with the least probable word."""
    return {
        (): {"un": 0.3, "une": 0.45, "minou": 0.2},
        ("un",): {"chat": 0.8, "chien": 0.2},
        ("une",): {EOS: 0.1, "chatte": 0.5, "souris": 0.4},
        ("minou",): {"noir": 0.95},
        ("un", "chat"): {EOS: 0.5, "noir": 0.4},
        ("un", "chien"): {EOS: 1.0},
        ("une", "chatte"): {"noire": 0.7, EOS: 0.3},
        ("une", "souris"): {EOS: 0.9},
        ("minou", "noir"): {EOS: 0.98},
        ("un", "chat", "noir"): {EOS: 1.0},
        ("une", "chatte", "noire"): {EOS: 0.6},
    }


def _endless(prefix: Prefix, number: str = "") -> Row:
    """A table without an end: after any beginning come four words, or the end of the sentence.

    Each number is another table.
    """
    draws = random.Random(number + " ".join(prefix))
    shares = [draws.random() ** 2 for _ in range(4)]
    end = 0.01 if len(prefix) < 3 else 0.3
    total = sum(shares) / (1 - end)
    # the end comes first, so that who extends the last word first never ends a sentence
    return {EOS: end} | {word: share / total for word, share in zip("abcd", shares, strict=True)}


def _best(following: Callable[[Prefix], Row]) -> tuple[list[str], float]:
    """The most probable sentence: the most probable beginning is extended until it has ended."""
    open_, prefix, p = dict[Prefix, float](), (), 1.0
    while prefix[-1:] != (EOS,):
        open_ |= {(*prefix, word): p * share for word, share in following(prefix).items()}
        prefix = max(open_, key=open_.__getitem__)
        p = open_.pop(prefix)
    return list(prefix), p


@exercise(2)
def exact_search(function: Callable[[Callable[[Prefix], Row]], Any]) -> str:
    """`function(following)` must return the most probable sentence's words and probability."""
    words, p = _sentence(_called(function, lambda prefix: dict(small_table()[prefix])))
    for wrong, said in (
        ("une chatte noire <eos>", "That is greedy's sentence: a less probable word may lead on."),
        ("un chat <eos>", "That is what a beam of two finds: a wider one finds a better sentence."),
        ("une <eos>", "That is the shortest: a longer one may be more probable."),
        ("minou noir", "Right so far, but the end of the sentence is a word too: keep <eos>."),
    ):
        if words == wrong.split():
            raise Mistake(said)
    if words != ["minou", "noir", EOS]:
        raise Mistake(f"{' '.join(map(str, words))!r} is not the most probable sentence.")
    right = 0.2 * 0.95 * 0.98
    if _equal(p, math.log(right)):
        raise Mistake("That is log p: the probability itself was wanted.")
    if not _equal(p, right):
        raise Mistake(f"The words are right, their probability is {right:.4f}, not {p:.4g}.")
    for number in whole(1, 1_000_000, 3).tolist():
        _check_endless(function, f"{number} ")
    # the same for everyone, so that what is said of it is
    asked = _check_endless(function, "")
    return f"{asked} beginnings were looked at, of a table that has no end."


_called = partial(called, ready=READY_MADE)


def _check_endless(function: Callable[..., Any], number: str) -> int:
    """Return how many beginnings were asked for."""
    asked: list[Prefix] = []

    def following(prefix: Prefix) -> Row:
        asked.append(tuple(prefix))
        if len(asked) > _MOST_ASKED or len(prefix) > 200:
            raise Mistake(
                "Right for a small table. On one without an end your search does not stop: extend "
                "the most probable beginning first, and ask what can still overtake a sentence."
            )
        return _endless(tuple(prefix), number)

    words, p = _sentence(_called(function, following))
    right, most = _best(partial(_endless, number=number))
    if words != right or not _equal(p, most):
        raise Mistake("Right for a small table, and wrong for one without an end.")
    return len(asked)


def _sentence(answer: Any) -> tuple[list[Any], float]:
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        kind = type(answer).__name__
        raise Mistake(f"Two things were wanted, the words and their probability; this is {kind}.")
    words, p = answer
    if not isinstance(words, list | tuple):
        raise Mistake(f"A list of words was wanted, this is {type(words).__name__}.")
    return list(words), number_of("the probability", p)


@exercise(3)
def all_places_alike(findings: Any) -> str:
    """`findings` says what a search finds where all k places begin with log p = 0."""
    found = answered(findings, "different", "best", "like")
    different, best, like = (number_of(name, found[name]) for name in ("different", "best", "like"))
    if different != 1:
        raise Mistake(f"different: {different:g} is not it. Print all that the search returns.")
    if _equal(best, 0.1824):
        raise Mistake("best: that is what the right search finds. Did all places begin with 0?")
    if _equal(best, math.log(0.1026)):
        raise Mistake("best: that is log p. Its exponential was wanted.")
    if not math.isclose(best, 0.1026, abs_tol=6e-5):
        raise Mistake(f"best: {best:.4g} is not it. Search the table of Figure 2.1 with k = 3.")
    if like != 1:
        raise Mistake(f"like: with k = {like:g} the right search finds another sentence.")
    return "Copies stay copies: it is greedy decoding, at three times the cost."


def three_translators() -> dict[str, dict[str, float]]:
    """Measures of three translators, made up to be read."""
    names = ["right", "missed", "model errors", "BLEU, k = 4", "BLEU, k = 64", "words"]
    rows = {
        "A": [0.40, 0.02, 0.58, 38.1, 31.0, 8.1],
        "B": [0.30, 0.25, 0.45, 30.4, 36.2, 10.9],
        "C": [0.35, 0.01, 0.64, 33.0, 33.1, 11.1],
    }
    return {name: dict(zip(names, row, strict=True)) for name, row in rows.items()}


@exercise(5)
def read_the_measures(findings: Any) -> str:
    """`findings` says which of three translators needs what, and what search could reach."""
    found = answered(findings, "search", "divide", "train", "most")
    letters = {name: str(found[name]).strip().upper() for name in ("search", "divide", "train")}
    for name, right, why in (
        ("search", "B", "for which one does the model score many references above what was found?"),
        ("divide", "A", "whose sentences are too short, and get worse as the beam gets wider?"),
        ("train", "C", "which one misses no references, has the right length, and still errs?"),
    ):
        if letters[name] != right:
            raise Mistake(f"{name}: not {letters[name]}. Ask: {why}")
    most = number_of("most", found["most"])
    if _equal(most, 0.3):
        raise Mistake("most: that is what it has now. Some references are missed by the search.")
    if _equal(most, 1.0):
        raise Mistake("most: a perfect search returns no reference that the model scores too low.")
    if _equal(most, 0.75):
        raise Mistake(
            "most: better search mends no model errors, but it can find the missed references."
        )
    if not _equal(most, 0.55):
        raise Mistake(f"most: {most:g} is not it. Which two of the three shares can be right?")
    return "An upper bound: a better search may also find what the model likes better still."


History = tuple[int, ...]


class _Told:
    """A model of `size` words whose state is a list of histories, one tuple of words a row."""

    def __init__(self, size: int) -> None:
        self.size, self.number = size, int(whole(0, 1_000_000))

    def step(self, tokens: Tensor, state: list[History]) -> tuple[Tensor, list[History]]:
        if not isinstance(tokens, Tensor) or tuple(tokens.shape) != (len(state),):
            raise Mistake(f"step wants one word for each of the {len(state)} rows of the state.")
        state = [(*row, token) for row, token in zip(state, tokens.tolist(), strict=True)]
        return torch.stack([self.logits(row) for row in state]), state

    def logits(self, row: History) -> Tensor:
        """Logits that are no log p: they do not sum to 1. An end would always take a place."""
        draws = random.Random(" ".join(map(str, (self.number, *row))))
        logits = [3 * draws.random() for _ in range(self.size)]
        logits[2] += 3
        return torch.tensor(logits, dtype=torch.float64)

    def reorder(self, state: list[History], rows: Tensor) -> list[History]:
        if not isinstance(rows, Tensor) or rows.dim() != 1 or rows.is_floating_point():
            raise Mistake("reorder wants the rows as one flat list of whole numbers: flatten them.")
        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < len(state):
            raise Mistake(f"reorder was asked for row {int(rows.max())} of {len(state)} rows.")
        return [state[row] for row in rows.tolist()]


class _Step(NamedTuple):
    last: Tensor  # (b · k,)
    state: list[History]  # b · k rows
    log_p: Tensor  # (b, k)
    ends: Tensor  # (b, k)


def _living_step(model: _Told, last: Tensor, state: list[History], log_p: Tensor) -> _Step:
    """One step of b beams of k whose places are all taken by what does not end."""
    b, k = log_p.shape
    logits, state = model.step(last, state)
    total = log_p[..., None] + logits.log_softmax(-1).view(b, k, -1)  # (b, k, N)
    ends = total[..., 2].clone()
    total[..., 2] = -math.inf
    best, chosen = total.flatten(1).topk(k)
    rows = torch.arange(b)[:, None] * k + chosen // model.size
    return _Step((chosen % model.size).flatten(), model.reorder(state, rows.flatten()), best, ends)


@exercise(4)
def ends_take_no_place(function: Callable[[Any, Tensor, Any, Tensor], Any]) -> str:
    """`function(model, last, state, log_p)` must return last, state, log_p and ends."""
    for b, k, size in ((2, 3, 7), (3, 2, 5), (1, 4, 9)):
        living = uniform(-3, 0, b, k)
        living[0] -= 10  # it would have no place if the sentences competed
        first = torch.full((b, k), -math.inf, dtype=torch.float64)
        first[:, 0] = 0
        last = whole(3, size - 1, b * k)
        for log_p in (first, living):  # at first all places come from one hypothesis
            state: list[History] = [(100 + row,) for row in range(b * k)]
            _check_step(function, _Told(size), last, state, log_p)
    return "Three models with other b, k and N: no end took a place, and each state has its words."


def _check_step(
    function: Callable[..., Any], model: _Told, last: Tensor, state: list[History], log_p: Tensor
) -> None:
    b, k = log_p.shape
    answer = _called(function, model, last, list(state), log_p)
    if not isinstance(answer, tuple | list) or len(answer) != 4:
        raise Mistake("Four things were wanted: last, state, log_p and ends.")
    right = _living_step(model, last, state, log_p)
    logits, moved = model.step(last, state)  # (b · k, N)
    each = logits.log_softmax(-1).view(b, k, -1)
    ends = tensor_of(answer[3], (b, k))
    named(
        ends,
        right.ends,
        (each[..., 2], "ends: that is the log p of <eos> alone. Add that of the words before it."),
        (log_p + logits.view(b, k, -1)[..., 2], "ends: logits are no log p. Take log_softmax."),
        (torch.full((b, k), -math.inf), "ends: take them before you write −∞ in their place."),
        otherwise="ends: wanted is log p of each hypothesis that came in, and then <eos>.",
    )
    _check_log_p(tensor_of(answer[2], (b, k)), right.log_p, each, logits.view(b, k, -1), log_p)
    if not torch.equal(tensor_of(answer[0], (b * k,)), right.last.double()):
        raise Mistake("last: the log p are right, but not the words that they belong to.")
    if not isinstance(answer[1], list):
        raise Mistake("state: return what the model's reorder returns.")
    for wrong, said in (
        (moved, "state: it is in the old order. Keep what reorder returns."),
        (
            [state[moved.index(row)] for row in right.state],
            "state: that was the one before the step. step returns the new one.",
        ),
    ):
        if answer[1] == wrong != right.state:
            raise Mistake(said)
    if answer[1] != right.state:
        raise Mistake("state: not the parents' rows. Sentence i begins at row i · k.")


def _check_log_p(found: Tensor, right: Tensor, each: Tensor, logits: Tensor, log_p: Tensor) -> None:
    b, k = log_p.shape
    others = each.clone()
    others[..., 2] = -math.inf  # (b, k, N)
    unended = logits.clone()
    unended[..., 2] = -math.inf
    before = log_p[..., None]

    def best(total: Tensor) -> Tensor:
        return total.flatten(1).topk(k).values

    order = "log_p: wanted are the k best of each sentence that do not end, best first."
    named(
        found.sort(descending=True).values,
        right,
        (best(before + each), "log_p: an end took a place. Only what lives on may stay."),
        (best(before + unended), "log_p: logits are no log p. Take log_softmax first."),
        (
            best(before + unended.log_softmax(-1)),
            "log_p: you took <eos> away before the softmax, so the others' shares grew.",
        ),
        (best(others), "log_p: add the log p of the words before."),
        (
            (before + others).amax(-1).sort(descending=True).values,
            "log_p: each hypothesis kept its best. All of a sentence must compete.",
        ),
        (
            (before + others).flatten().topk(b * k).values.view(b, k),
            "log_p: the sentences compete with each other. Each has k places of its own.",
        ),
        otherwise=order,
    )
    named(found, right, otherwise=order)
