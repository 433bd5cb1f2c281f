"""The checks of lecture 4, "Scoring functions"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnbook.scores import dot, scaled_dot
from attnlab.exercises import (
    Mistake,
    answered,
    called,
    close,
    drawn,
    exercise,
    names_among,
    number_of,
    tensor_of,
    truths,
    whole,
)
from attnlab.models.results import read

SCORES = ("dot", "scaled dot", "bilinear", "additive", "linear")
# where a model of the table may look, and what the table calls it
PLACES = {"to write": "on the digit to write", "before": "on the digit before"}


def suspects() -> list[tuple[str, Callable[[Tensor, Tensor], Tensor], bool]]:
    """Name scores, some of them blind, and say whether their weights are the same for all."""
    w, v = drawn(3, 6) / 2, drawn(6)

    def additive(q: Tensor, k: Tensor) -> Tensor:
        return torch.tanh((q @ w)[..., None, :] + (k @ w)[..., None, :, :]) @ v

    def linear(q: Tensor, k: Tensor) -> Tensor:
        return (q @ w @ v)[..., None] + (k @ w @ v)[..., None, :]

    def far(q: Tensor, k: Tensor) -> Tensor:  # of the queries below it sees the last alone
        return torch.relu(q[..., :1] + q[..., 2:] - 1) * k[..., None, :, 0]

    return [
        ("the dot product", dot, False),
        ("the additive score", additive, False),
        ("a score that sees one of the queries only", far, False),
        ("the additive score without its tanh", linear, True),
        ("a score of the key alone", lambda q, k: linear(0 * q, k), True),
        ("a score that is always 0", lambda q, k: 0 * dot(q, k), True),
    ]


@exercise(1)
def finds_the_blind(function: Callable[..., Any]) -> str:
    """`function(score, query, key)` must say whether all queries given get the same weights."""
    query, key, known = drawn(4, 3), drawn(5, 3), suspects()
    query[:, 2] = torch.tensor([0, 0, 0, 3]) - query[:, 0]  # `far` sees the last query alone
    found = truths(function, [(score, query, key) for _, score, _ in known])
    if found == [False, False, False, False, True, True]:
        raise Mistake(
            "Without its tanh the score differs from query to query, by as much for every key. "
            "Compare weights, after the softmax over the keys (dim=-1), and within rounding."
        )
    if found == [True, True, True, False, False, False]:
        raise Mistake("The other way round: return True where the query does NOT count.")
    for (name, _, wanted), answer in zip(known, found, strict=True):
        if answer != wanted:
            raise Mistake(f"For {name} the answer is {wanted}, you say {answer}.")
    return "Several queries, one row of weights: a short test that finds a published bug."


@exercise(2)
def what_a_shift_changes(findings: Any) -> str:
    """`findings` names the scores whose weights change when all keys, or the query, are shifted."""
    answers = answered(findings, "keys", "query")
    keys, query = (names_among(side, answers[side], SCORES) for side in ("keys", "query"))
    if keys == set(SCORES) or query == set(SCORES):
        raise Mistake("You compare scores: all of them change. Compare weights, after the softmax.")
    if keys == set(SCORES) - {"additive"} or query == {"linear"}:
        raise Mistake("The other way round: name the scores whose weights do change.")
    if "linear" in keys | query:
        raise Mistake("linear: a shift moves each part by as much for every key, and that cancels.")
    if products := sorted(keys - {"additive"}):
        raise Mistake(
            f"keys, {products[0]}: q · (k + a) = q · k + q · a, and q · a is the same for all keys."
        )
    if "additive" not in keys:
        raise Mistake("keys: inside the tanh a shift does not stay apart. Try the additive score.")
    if missing := [name for name in SCORES[:-1] if name not in query]:
        raise Mistake(
            f"query, {missing[0]}: another query, other weights. Did you shift it at all?"
        )
    return "A bias on the keys is lost on every dot product: only the additive score notices."


@exercise(3)
def matrix_for_scaled_dot(function: Callable[[int], Any]) -> str:
    """`function(d)` must return the w (d, d) with which bilinear is the scaled dot product."""
    d, query, key = 3, drawn(2, 3), drawn(4, 3)
    w = tensor_of(called(function, d), (d, d))
    found, wanted = query @ w @ key.mT, scaled_dot(query, key)
    if close(found, dot(query, key)):
        raise Mistake("The identity gives the plain dot product: the scale is missing.")
    if close(found, wanted / math.sqrt(d)):
        raise Mistake("You divided by d: the scale is its root.")
    if close(found, wanted * d):
        raise Mistake("You multiplied by √d: divide by it.")
    if close(w, torch.full((d, d), 1 / math.sqrt(d), dtype=torch.float64)):
        raise Mistake("Each component must meet its own: the identity, not a matrix of ones.")
    if not close(found, wanted):
        raise Mistake(f"q W kᵀ is {found[0, 0]:.4f} for a pair that must have {wanted[0, 0]:.4f}.")
    n = int(whole(4, 30))
    again, other = tensor_of(called(function, n), (n, n)), drawn(1, n)
    if not close(other @ again @ other.mT, scaled_dot(other, other)):
        raise Mistake(f"Right for d = 3, wrong for d = {n}: take the scale from d.")
    return "The bilinear score holds the dot products as special cases; training may leave them."


@exercise(4)
def read_the_looks(reading: Any) -> str:
    """`reading` says which models look at the digit to write, what the best and linear look at."""
    answers = answered(reading, "gold", "best", "linear")
    table = dict(list(read("scores").items())[:9])  # as the lecture prints it
    mean = {
        place: {name: sum(row[measure]) / len(row[measure]) for name, row in table.items()}
        for place, measure in PLACES.items()
    }
    gold = names_among("gold", answers["gold"], tuple(table))
    right = {name for name, share in mean["to write"].items() if share > 0.5}
    if gold == {name for name, share in mean["before"].items() if share > 0.5}:
        raise Mistake("gold: you read the column of the digit before; take the one to its left.")
    if "linear" in gold:
        raise Mistake("gold: linear looks at the digit to write at 8 of 100 steps.")
    for name in sorted(gold ^ right):
        share = f"{mean['to write'][name]:.2f}"
        raise Mistake(
            f"gold: {name} looks at the digit to write at a share of {share} of its steps."
        )
    best = max(table, key=lambda name: sum(table[name]["exact match"]))
    if answers["best"] not in PLACES:
        raise Mistake('best: "to write" or "before" was wanted.')
    if mean[answers["best"]][best] < 0.5:
        raise Mistake(f"best: the most strings are written by {best}. Read on in its row.")
    steps = number_of("linear", answers["linear"])
    if abs(steps - mean["to write"]["linear"]) < 0.01:
        raise Mistake("linear: that is a share of all steps. How many of 13 are that?")
    if round(steps) != 1:
        raise Mistake("linear: 13 steps, of which a share of 0.08 is right.")
    return "Where a model looks and how well it writes are two questions."
