"""The checks of lecture 16, "What heads do together"."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from attnbook.masks import causal_mask
from attnlab.exercises import (
    Blank,
    Mistake,
    called,
    drawn,
    exercise,
    named,
    shuffled,
    tensor_of,
)

PARTS = ("dQ", "dK", "dV")
STARTS = 2  # symbols that begin each text of exercise 1


@exercise(2)
def backward(function: Callable[[Tensor, Tensor, Tensor, Tensor], Any]) -> str:
    """`function(query, key, value, grad)` must return the gradients of causal attention."""
    for n, d, d_v in ((5, 4, 3), (3, 2, 6)):
        query, key, value, grad = drawn(n, d), drawn(n, d), drawn(n, d_v), drawn(n, d_v)
        with torch.inference_mode():  # no gradient is kept, so that it must be computed
            answer = called(function, query, key, value, grad)
        found = _three(answer, (n, d), (n, d), (n, d_v))
        scores = query @ key.mT / math.sqrt(d)
        alpha = scores.masked_fill(~causal_mask(n), -torch.inf).softmax(dim=-1)
        by_weight = grad @ value.mT  # (n, n)
        by_score = alpha * (by_weight - (alpha * by_weight).sum(dim=-1, keepdim=True))
        wanted = (
            by_score @ key / math.sqrt(d),
            by_score.mT @ query / math.sqrt(d),
            alpha.mT @ grad,
        )
        alone = alpha * (1 - alpha) * by_weight
        named(
            found[2],
            wanted[2],
            (alpha @ grad, "dV: a value goes to those that look at it. Transpose the weights."),
            otherwise="dV: value j gets, from each output i, α_ij times its gradient.",
        )
        named(
            found[0],
            wanted[0],
            (wanted[0] * math.sqrt(d), "dQ: the scores were divided by √d, so divide here too."),
            (by_weight @ key / math.sqrt(d), "dQ: the softmax is missing, from weights to scores."),
            (
                alpha * by_weight @ key / math.sqrt(d),
                "dQ: of the softmax's Jacobian only α is here: subtract the row's mean as well.",
            ),
            (
                alone @ key / math.sqrt(d),
                "dQ: α (1 − α) is the diagonal of the Jacobian. A weight depends on all scores.",
            ),
            (by_score @ query / math.sqrt(d), "dQ: a query meets keys, not queries."),
            otherwise="dQ: weights to scores by lecture 7's Jacobian, then times the keys.",
        )
        named(
            found[1],
            wanted[1],
            (by_score @ query / math.sqrt(d), "dK: key j meets all queries i. Transpose."),
            (wanted[1] * math.sqrt(d), "dK: the scores were divided by √d, so divide here too."),
            otherwise="dK: as dQ, with queries in the place of keys, and transposed.",
        )
    return "Four products and one softmax: that is all a page needs to train attention."


def _three(answer: Any, *shapes: tuple[int, ...]) -> list[Tensor]:
    if not isinstance(answer, Sequence) or len(answer) != len(PARTS):
        raise Mistake("Three tensors were wanted: dQ, dK and dV.")
    if any(one is None or one is ... for one in answer):
        raise Blank
    found = []
    for name, one, shape in zip(PARTS, answer, shapes, strict=True):
        try:
            found.append(tensor_of(one, shape).clone())
        except Mistake as mistake:
            raise Mistake(f"{name}: {mistake}") from mistake
    return found


@exercise(1)
def two_after(function: Callable[[Tensor, Tensor, Tensor, Tensor], Any]) -> str:
    """`function(am, at, after, nxt)` must return four matrices that say what came two after."""
    symbols, length = 7, 5
    n = STARTS + 2 * length
    slots = shuffled(3 * symbols + n).split([symbols, n, symbols, symbols])
    size = (3 * symbols + n, 3 * symbols + n)
    answer = called(function, *slots)
    if not isinstance(answer, Sequence) or len(answer) != 4:
        raise Mistake("Four matrices were wanted: qk_0, ov_0, qk_1, ov_1.")
    if any(one is None or one is ... for one in answer):
        raise Blank
    four = [tensor_of(one, size) for one in answer]
    hits: dict[str, list[bool]] = {name: [] for name in ("two", "next", "same", "before")}
    for _ in range(20):
        order = shuffled(length) + STARTS
        ids = torch.cat([torch.arange(STARTS), order, order])
        says, said = _run(ids, slots, four)[STARTS + length : -2].max(dim=-1)
        said = said.where(says > 0.5, -1)  # what is no more than a mean says nothing
        place = torch.arange(STARTS + length, n - 2)
        for name, step in (("two", 2), ("next", 1), ("same", 0), ("before", -1)):
            hits[name] += (said == ids[place + step]).tolist()
    share = {name: sum(some) / len(some) for name, some in hits.items()}
    if share["next"] == 1:
        raise Mistake("This says what came next. Let head 0 look two places back.")
    if share["same"] == 1:
        raise Mistake("This says the symbol itself: whom does head 1 look at?")
    if share["before"] == 1:
        raise Mistake("This says what came before. Which places ask, and which are asked?")
    if share["two"] < 1:
        raise Mistake(
            f"Right at {share['two']:.2f} of the places. Rows ask, columns are asked or written; "
            "a match needs a score large enough that the softmax gives the rest nothing."
        )
    return "One block was shifted by one place more. The other three matrices do not know of it."


def _run(ids: Tensor, slots: tuple[Tensor, ...], four: list[Tensor]) -> Tensor:
    """Return what stands in the last slot of each place, (n, symbols)."""
    am, at, _, nxt = slots
    n = len(ids)
    x = torch.zeros(n, len(four[0]), dtype=torch.float64)
    x[torch.arange(n), am[ids]] = 1
    x[torch.arange(n), at] = 1
    for qk, ov in (four[:2], four[2:]):
        scores = (x @ qk @ x.mT).masked_fill(~causal_mask(n), -torch.inf)
        x = x + scores.softmax(dim=-1) @ x @ ov
    return x[:, nxt]


@exercise(3)
def stand_ins(function: Callable[[Callable[[set[int]], float], int], Any]) -> str:
    """`function(right, h)` must return the two heads that stand in for each other most."""
    for costs, beyond in _MODELS:
        h, places = len(costs), shuffled(len(costs)).tolist()
        own = {places[head]: cost for head, cost in enumerate(costs)}
        pairs = {(places[one], places[other]): more for (one, other), more in beyond.items()}
        right = _right(own, pairs)
        answer = called(function, right, h)
        try:
            found = {int(one) for one in answer}
        except (TypeError, ValueError) as error:
            raise Mistake("Two heads were wanted, such as (0, 3).") from error
        if len(found) != 2 or not found <= set(range(h)):
            raise Mistake(f"Two different heads from 0 to {h - 1} were wanted, got {answer}.")
        whole = right(set())
        sets = [gone for k in (1, 2) for gone in combinations(range(h), k)]
        loss = {gone: whole - right(set(gone)) for gone in sets}

        def more(pair: tuple[int, ...], loss: dict[tuple[int, ...], float] = loss) -> float:
            return loss[pair] - sum(loss[(one,)] for one in pair)

        twos = list(combinations(range(h), 2))
        best = max(twos, key=more)
        if found == set(best):
            continue
        if found == set(max(twos, key=lambda pair: loss[pair])):
            raise Mistake(
                "This pair costs most together, but its heads cost much alone, too. Subtract what "
                "each costs by itself."
            )
        if found == set(min(twos, key=lambda pair: sum(loss[(one,)] for one in pair))):
            raise Mistake("These cost least alone. Remove them together as well.")
        if found == set(min(twos, key=more)):
            raise Mistake("The other way round: both together must cost more than the two alone.")
        raise Mistake("Of each pair: what both cost together, minus what each costs by itself.")
    return "One head at a time, neither of them would have been found."


_MODELS = (
    # what each head costs by itself, and what pairs cost beyond that
    ((0.02, 0.30, 0.01, 0.25), {(0, 2): 0.45, (1, 3): -0.15}),
    ((0.10, 0.04, 0.20, 0.05, 0.03), {(1, 3): 0.32, (0, 2): 0.20}),
    ((0.02, 0.20, 0.03, 0.15, 0.04, 0.01), {(0, 4): 0.40, (1, 3): -0.10}),
)


def _right(
    own: dict[int, float], pairs: dict[tuple[int, int], float]
) -> Callable[[set[int]], float]:
    def right(gone: set[int]) -> float:
        gone = set(gone)
        both = sum(extra for pair, extra in pairs.items() if gone >= set(pair))
        return 0.9 - sum(own[one] for one in gone) - both

    return right
