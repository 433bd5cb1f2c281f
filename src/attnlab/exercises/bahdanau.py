"""The checks of lecture 3, "Attention"."""

from __future__ import annotations

import math
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
    number_of,
    tensor_of,
    truths,
    whole,
)
from attnlab.models.results import read

Look = Callable[[Tensor, Tensor, Tensor], Tensor]
Loss = Callable[[Any, Any], float]
CLASSES = ("noun", "verb", "adjective", "adverb")
COLUMNS = {"all": "exact match", "12 words or more": "12 words or more"}
_READ = 0.02  # how far a share may lie off that is computed from numbers with two decimals
MORE = ("more", "fewer")
_NEAR = 0.13  # how far the share of another machine's model may lie from three seeds' 0.52 to 0.56


def _real(annotations: Tensor, lengths: Tensor) -> Tensor:
    return torch.arange(annotations.shape[1]) < lengths[:, None]


def _mix(weights: Tensor, annotations: Tensor) -> Tensor:
    return (weights[:, None] @ annotations)[:, 0]


def suspects() -> list[tuple[str, Look, bool]]:
    """Name decoders' looks, and say whether a sentence's context depends on its padding.

    Each takes states (b, 3), annotations (b, n, 4) and lengths (b,), and returns (b, 4).
    """
    # so small that no tanh saturates, and every place of padding has its share
    w_q, w_k, v = drawn(3, 2) / 4, drawn(4, 2) / 4, torch.nn.functional.normalize(drawn(2), dim=0)

    def score(states: Tensor, annotations: Tensor) -> Tensor:
        return torch.tanh((states @ w_q)[:, None] + annotations @ w_k) @ v

    def sound(states: Tensor, h: Tensor, lengths: Tensor) -> Tensor:
        scores = score(states, h).masked_fill(~_real(h, lengths), -math.inf)
        return _mix(scores.softmax(-1), h)

    def shared_out(states: Tensor, h: Tensor, lengths: Tensor) -> Tensor:
        weights = score(states, h).softmax(-1) * _real(h, lengths)
        return _mix(weights / weights.sum(-1, keepdim=True), h)

    def open_to_all(states: Tensor, h: Tensor, lengths: Tensor) -> Tensor:
        return _mix(score(states, h).softmax(-1), h)

    def too_late(states: Tensor, h: Tensor, lengths: Tensor) -> Tensor:
        return _mix(score(states, h).softmax(-1) * _real(h, lengths), h)

    def to_zero(states: Tensor, h: Tensor, lengths: Tensor) -> Tensor:
        return _mix(score(states, h).masked_fill(~_real(h, lengths), 0).softmax(-1), h)

    def cleared(states: Tensor, h: Tensor, lengths: Tensor) -> Tensor:
        return open_to_all(states, h * _real(h, lengths)[..., None], lengths)

    def one_more(states: Tensor, h: Tensor, lengths: Tensor) -> Tensor:
        return sound(states, h, (lengths + 1).clamp(max=h.shape[1]))

    def common_scale(states: Tensor, h: Tensor, lengths: Tensor) -> Tensor:
        return sound(states, h / h.abs().amax((1, 2), keepdim=True), lengths)

    return [
        ("a softmax with its mask", sound, False),
        (
            "a mask after the softmax, with rows that sum to 1 again",
            shared_out,
            False,
        ),
        ("no mask", open_to_all, True),
        ("a mask after the softmax, and rows that no longer sum to 1", too_late, True),
        ("padding that gets the score 0", to_zero, True),
        ("padding cleared to zeros inside the look, and no mask", cleared, True),
        ("a mask that shows one place of padding", one_more, True),
        ("annotations divided by the largest number of all places", common_scale, True),
    ]


@exercise(2)
def finds_padding(function: Callable[..., Any]) -> str:
    """`function(look, state, annotations)` must say whether the context depends on padding."""
    state, annotations, known = drawn(3), drawn(4, 4), suspects()
    found = truths(function, [(look, state, annotations) for _, look, _ in known])
    if all(answer != wanted for answer, (*_, wanted) in zip(found, known, strict=True)):
        raise Mistake("The other way round: return True where the padding does count.")
    words = {
        "padding cleared to zeros inside the look, and no mask": "What the padding holds cannot "
        "reach this one, but how much of it there is can: compare with no padding at all.",
        "annotations divided by the largest number of all places": "Zeros change nothing here. "
        "Put large numbers into the padding as well.",
    }
    _compare(known, found, words)
    return "Padding can do harm by what it holds and by its number: a test must vary both."


def losses() -> list[tuple[str, Loss, bool]]:
    """Name losses of a list of numbers after another, and say whether the source is never read."""

    def weigh(source: Any, target: Any) -> float:
        return 1.5 + sum((k + 1) * word for k, word in enumerate(source)) / (7 + sum(target))

    def rounded(source: Any, target: Any) -> float:  # a sum in another order, rounded otherwise
        return weigh(target, target) * (1 + 1e-12 * sum(source))

    def first(source: Any, target: Any) -> float:
        return weigh(source[:1], target)

    return [
        ("a model that reads its source", weigh, False),
        ("a model that reads only the first word of its source", first, False),
        ("a model that encodes the target", lambda _, target: weigh(target, target), True),
        ("a model that encodes the target, in another order each time", rounded, True),
    ]


@exercise(4)
def finds_unread_source(function: Callable[..., Any]) -> str:
    """`function(loss, sources, target)` must say whether the loss never depends on the source."""
    (first, *more), target, known = whole(4, 9, 3).tolist(), whole(4, 9, 3).tolist(), losses()
    # two begin with the same word, and no two have the same loss
    sources = [[first, *more], [first, *more, int(whole(4, 9))], [first + 1, *more]]
    asked = [(loss, [*map(list, sources)], [*target]) for _, loss, _ in known]
    found = truths(function, asked)
    if all(answer != wanted for answer, (*_, wanted) in zip(found, known, strict=True)):
        raise Mistake("The other way round: return True where the source is never read.")
    words = {
        "a model that reads only the first word of its source": "Two of the sources begin with "
        "the same word: compare all of them.",
        "a model that encodes the target, in another order each time": "Its losses differ by "
        "rounding alone: allow for that.",
    }
    _compare(known, found, words)
    return "Exchange the source, keep the target, compare the losses: no shape would have told you."


@exercise(3)
def without_the_greatest(findings: Any) -> str:
    """`findings` holds the change, the share of right words, and how even weights compare."""
    names = "change", "words right", "than even weights"
    answers = answered(findings, *names)
    change, share, than = (answers[name] for name in names)
    alpha = drawn(2, 4)
    alpha[0, int(whole(0, 3))] = -math.inf  # a weight of 0
    alpha = alpha.softmax(-1)
    found = tensor_of(called(change, alpha), (2, 4))
    rest = alpha.scatter(-1, alpha.argmax(-1, keepdim=True), 0.0)
    named(
        found,
        rest / rest.sum(-1, keepdim=True),
        (rest, "change: the rows no longer sum to 1. Divide what is left by its sum."),
        (alpha - rest, "change: you kept the greatest weight, and took the others away."),
        ((alpha - rest).sign(), "change: you kept the greatest weight, and took the others away."),
        (rest / rest.sum(), "change: divide each row by its own sum, with dim=-1."),
        (rest.softmax(-1), "change: a second softmax gives the greatest its share back."),
        (
            (rest > 0) / (rest > 0).sum(-1, keepdim=True),
            "change: share the rest in proportion to what the weights were, not evenly.",
        ),
        otherwise="change: for (0.5, 0.3, 0.2, 0) the new row is (0, 0.6, 0.4, 0).",
    )
    if than not in MORE:
        raise Mistake('than even weights: "more" or "fewer" was wanted.')
    share = number_of("words right", share)
    if share > 1:
        raise Mistake("words right: a share was wanted, from 0 to 1, as words_right returns it.")
    if abs(share - 0.54) > _NEAR:
        raise Mistake(f"words right: {share:.2f} is not what words_right(without) gives.")
    if than == "more":
        raise Mistake("than even weights: run words_right(even) once more, and compare.")
    return (
        "An even row still holds a share of the annotation that was looked at most; these rows "
        "hold none of it. Half of the words come out right all the same."
    )


@exercise(5)
def read_the_tables(reading: Any) -> str:
    """`reading` holds two shares of a distance that ten times the steps cover, and a class."""
    table = read("attention")
    answers = answered(reading, *COLUMNS, "class")
    start, longer, end = (
        {name: _mean(table[f"24,000 pairs, {row}"][column]) for name, column in COLUMNS.items()}
        for row in ("no attention", "no attention, ten times the steps", "Bahdanau")
    )
    wanted = {name: (longer[name] - start[name]) / (end[name] - start[name]) for name in COLUMNS}
    shares = {name: number_of(name, answers[name]) for name in COLUMNS}
    if all(map(_alike, shares.values(), reversed(wanted.values()))):
        raise Mistake("The two columns are exchanged.")
    for name, share in shares.items():
        if _alike(share, wanted[name]):
            continue
        if share > 1:
            raise Mistake(f"{name}: a share was wanted, from 0 to 1.")
        for number, words in (
            (1 - wanted[name], "this is the share that remains."),
            (longer[name] / end[name], "divide gains: subtract the first row from both numbers."),
            (longer[name] - start[name], "this is the gain. Divide it by Bahdanau's gain."),
        ):
            if _alike(share, number):
                raise Mistake(f"{name}: {words}")
        raise Mistake(
            f"{name}: ten times the steps lead from {start[name]:.2f} to {longer[name]:.2f}, "
            f"attention to {end[name]:.2f}."
        )
    word_class = answers["class"]
    if word_class not in CLASSES:
        raise Mistake(f"class: one of {', '.join(CLASSES)} was wanted.")
    many, few = (table[f"{size} pairs, Bahdanau"] for size in ("24,000", "2,000"))
    lost = {name: _mean(many[name]) - _mean(few[name]) for name in CLASSES}
    most = max(lost, key=lambda name: lost[name])
    if word_class != most:
        raise Mistake(f"class: {word_class} loses {lost[word_class]:.2f}. Another loses more.")
    return "A part was training; of the long sentences a sixth."


def _alike(one: float, other: float) -> bool:
    return abs(one - other) <= _READ


def _compare(known: list[Any], found: list[bool], words: dict[str, str]) -> None:
    for (name, _, wanted), answer in zip(known, found, strict=True):
        if answer != wanted:
            more = words.get(name, "")
            raise Mistake(f"{name}: the answer is {wanted}, you say {answer}. {more}")


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)
