"""The checks of lecture 4, "Scoring functions"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnbook.exercises import Mistake, called, close, exercise, tensor_of
from attnbook.scores import dot, scaled_dot


def drawn(*shape: int, seed: int = 4) -> Tensor:
    """Draw numbers of the given shape, in float64."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


@exercise(1)
def additive_scores(function: Callable[..., Any]) -> str:
    """`function(query, key, w_q, w_k, v)` must return the additive scores (n_q, n_k)."""
    query, key = drawn(3, 2), drawn(4, 5, seed=5)  # no two sizes agree
    w_q, w_k, v = drawn(2, 6, seed=6), drawn(5, 6, seed=7), drawn(6, seed=8)
    answer = called(function, query, key, w_q, w_k, v)
    if isinstance(answer, Tensor) and answer.shape == (3, 4, 6):
        raise Mistake("That is the hidden layer, (3, 4, 6): v still has to make one number of six.")
    if isinstance(answer, Tensor) and answer.shape == (4, 3):
        raise Mistake("The shape is (4, 3): queries come first, keys second.")
    found = tensor_of(answer, (3, 4))
    hidden = (query @ w_q)[:, None] + (key @ w_k)[None]  # (3, 4, 6)
    if close(found, hidden @ v):
        raise Mistake("The tanh is missing: the softmax would not see the query at all.")
    if close(found, torch.tanh(hidden).sum(-1)):
        raise Mistake("You add the hidden numbers up: weigh them by v instead.")
    if close(found, torch.tanh(hidden @ v)):
        raise Mistake("The tanh comes before v, on every hidden number.")
    apart = torch.tanh(query @ w_q)[:, None] + torch.tanh(key @ w_k)[None]
    if close(found, apart @ v):
        raise Mistake("Add first, then the tanh: apart, the softmax cancels the query's part.")
    if any(close(found, torch.softmax(torch.tanh(hidden) @ v, axis)) for axis in (0, 1)):
        raise Mistake("These are the weights: return the scores, before the softmax.")
    if not close(found, torch.tanh(hidden) @ v):
        raise Mistake("The scores are wrong. Take one query and one key, and go step by step.")
    return "Two projections, a sum for every pair, a tanh, and v."


@exercise(2)
def cut_in_two(function: Callable[[Tensor, int], Any]) -> str:
    """`function(w, d_q)` must cut the w (d_q + d_k, d) of Luong's concat into w_q and w_k."""
    d_q, d_k, d = 2, 5, 4
    w, query, key = drawn(d_q + d_k, d), drawn(d_q, seed=5), drawn(d_k, seed=6)
    answer = called(function, w, d_q)
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise Mistake("Return two matrices: w_q and w_k.")
    if not all(isinstance(one, Tensor) for one in answer):
        raise Mistake("Return two tensors: w_q and w_k.")
    shapes = [tuple(one.shape) for one in answer]
    if shapes == [(d_k, d), (d_q, d)]:
        raise Mistake("w_k came first: return w_q, then w_k.")
    if shapes in ([(4, d), (3, d)], [(3, d), (4, d)]):
        raise Mistake("You cut w into halves: the cut comes after d_q rows.")
    if shapes == [(d, d_q), (d, d_k)]:
        raise Mistake("You turned them over: rows stay rows, w_q is (d_q, d).")
    if shapes == [(d_q + d_k, d_q), (d_q + d_k, d - d_q)]:
        raise Mistake("You cut the columns: [q; k] meets the rows of w.")
    w_q, w_k = tensor_of(answer[0], (d_q, d)), tensor_of(answer[1], (d_k, d))
    if not close(query @ w_q + key @ w_k, torch.cat([query, key]) @ w):
        raise Mistake("The shapes are right, the rows are not: the first d_q rows belong to q.")
    return "[q; k] W = q W_q + k W_k: one matrix with two names."


@exercise(3)
def matrix_for_scaled_dot(function: Callable[[int], Any]) -> str:
    """`function(d)` must return the w (d, d) with which bilinear is the scaled dot product."""
    d, query, key = 3, drawn(2, 3), drawn(4, 3, seed=5)
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
    again, four = tensor_of(called(function, 4), (4, 4)), drawn(1, 4)
    if not close(four @ again @ four.mT, scaled_dot(four, four)):
        raise Mistake("Right for d = 3, wrong for d = 4: take the scale from d.")
    return "The bilinear score holds the dot products as special cases; training may leave them."


@exercise(4)
def multiplications(function: Callable[[int, int, int], Any]) -> str:
    """`function(n_q, n_k, d)` must count the additive score's, its keys projected once."""
    sizes = [(1, 10, 4), (7, 10, 4), (50, 50, 256)]
    found = [called(function, *size) for size in sizes]

    def counts(formula: Callable[[int, int, int], float]) -> bool:
        return found == [formula(*size) for size in sizes]

    if counts(lambda n_q, n_k, d: n_q * n_k * d):
        raise Mistake("That is the dot product's count: the two projections are missing.")
    if counts(lambda n_q, n_k, d: n_k * d * d + n_q * n_k * d):
        raise Mistake("That is the bilinear score's count: here the queries are projected too.")
    if counts(lambda n_q, n_k, d: n_q * d * d + n_q * n_k * d):
        raise Mistake("Only the queries are projected here: the additive score projects the keys.")
    if counts(lambda n_q, n_k, d: (n_q + n_k) * d * d):
        raise Mistake("Those are the projections: v still multiplies d numbers for every pair.")
    if counts(lambda n_q, n_k, d: 2 * n_q * n_k * d * d + n_q * n_k * d):
        raise Mistake("You project anew for every pair: each query and each key is projected once.")
    if counts(lambda n_q, n_k, d: n_q * (1 + n_k) * d * d + n_q * n_k * d):
        raise Mistake("You project all keys for each query: once is enough for all of them.")
    for (n_q, n_k, d), answer in zip(sizes, found, strict=True):
        wanted = (n_q + n_k) * d * d + n_q * n_k * d
        if answer != wanted:
            given = f"n_q = {n_q}, n_k = {n_k} and d = {d}"
            raise Mistake(f"For {given} the number is {wanted:,}: you say {answer}.")
    return "Projections grow with n, the hidden layer with its square."


def suspects() -> list[tuple[str, Callable[[Tensor, Tensor], Tensor], bool]]:
    """Name scores, some of them blind, and say whether their weights are the same for all."""
    w, v = drawn(3, 6, seed=6), drawn(6, seed=7)

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


@exercise(5)
def finds_the_blind(function: Callable[..., Any]) -> str:
    """`function(score, query, key)` must say whether all queries given get the same weights."""
    query, key = drawn(4, 3), drawn(5, 3, seed=5)
    answers = [called(function, score, query, key) for _, score, _ in suspects()]
    if any(isinstance(answer, Tensor) and answer.numel() != 1 for answer in answers):
        raise Mistake("Return one True or False: put .all() after the comparison.")
    found = [bool(answer) for answer in answers]
    if found == [False, False, False, False, True, True]:
        raise Mistake(
            "Without its tanh the score differs from query to query, by as much for every key. "
            "Compare weights, after the softmax over the keys (dim=-1), and within rounding."
        )
    if found == [True, True, True, False, False, False]:
        raise Mistake("The other way round: return True where the query does NOT count.")
    for (name, _, wanted), answer in zip(suspects(), found, strict=True):
        if answer != wanted:
            raise Mistake(f"For {name} the answer is {wanted}, you say {answer}.")
    return "Several queries, one row of weights: a short test that finds a published bug."
