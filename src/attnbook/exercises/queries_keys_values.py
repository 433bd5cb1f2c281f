"""The checks of lecture 6, "Queries, keys and values"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnbook.attention import attention
from attnbook.exercises import Blank, Mistake, called, close, exercise, tensor_of
from attnbook.exercises.self_attention import HAD_BOWL_NUTS


def drawn(*shape: int, seed: int = 6) -> Tensor:
    """Numbers from a seeded generator, in float64."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def layer(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
    """The output of attention with three projections."""
    return attention(x @ w_q, x @ w_k, x @ w_v).output


def slips(q: Tensor, k: Tensor) -> list[tuple[Tensor, int, str]]:
    """Scores, softmax axis and words for each slip on six tokens, d_model = 5 and d_k = 2."""
    return [
        (q @ k.T, -1, "You forgot to divide the scores by √d_k."),
        (q @ k.T / 2, -1, "You divided by d_k itself: divide by its root."),
        (q @ k.T / math.sqrt(5), -1, "You divided by √d_model; a query has d_k = 2 numbers here."),
        (q @ k.T / math.sqrt(6), -1, "You divided by √n; d_k is the width of a query: 2 here."),
        (q @ k.T / math.sqrt(2), 0, "Your softmax runs over the queries: it must be dim=-1."),
        (k @ q.T / math.sqrt(2), -1, "Queries and keys have changed places: row i is query i's."),
        (q @ q.T / math.sqrt(2), -1, "You compared queries with queries: the keys come from w_k."),
        (k @ k.T / math.sqrt(2), -1, "You compared keys with keys: the queries come from w_q."),
    ]


@exercise(1)
def projected_attention(function: Callable[[Tensor, Tensor, Tensor, Tensor], Any]) -> str:
    """`function(x, w_q, w_k, w_v)` must return the outputs (n, d_v) of x (n, d_model)."""
    x, w_q, w_k, w_v = drawn(6, 5), drawn(5, 2, seed=7), drawn(5, 2, seed=8), drawn(5, 3, seed=9)
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    answer = called(function, x, w_q, w_k, w_v)
    if isinstance(answer, tuple):
        raise Mistake("Several things came back: return the output alone, one tensor.")
    weights = torch.softmax(q @ k.T / math.sqrt(2), -1)
    if isinstance(answer, Tensor) and answer.shape == x.shape and close(answer, weights @ x):
        raise Mistake("The weights are right, but you averaged the rows of x: average the values.")
    found = tensor_of(answer, (6, 3))
    for scores, dim, words in slips(q, k):
        if close(found, torch.softmax(scores, dim) @ v):
            raise Mistake(words)
    if not close(found, layer(x, w_q, w_k, w_v)):
        raise Mistake("The output is wrong. Work one row out by hand: score, scale, softmax, sum.")
    return "Three products, and then lecture 5's three steps: score, softmax, sum."


@exercise(2)
def parameters(function: Callable[[int, int, int], Any]) -> str:
    """`function(d_model, d_k, d_v)` must count the numbers in the three matrices."""
    sizes = ((300, 100, 100), (512, 64, 64), (8, 3, 5))
    found = [called(function, *size) for size in sizes]
    if found == [d * d_k for d, d_k, _ in sizes]:
        raise Mistake("That is one matrix: there are three.")
    if found == [3 * d * d_k for d, d_k, _ in sizes]:
        raise Mistake("Right as long as d_v = d_k; the values may have a width of their own.")
    if found == [d * (d_k + d_v) for d, d_k, d_v in sizes]:
        raise Mistake("You counted two matrices: queries and keys have one of width d_k each.")
    if found == [d * (2 * d_k + d_v) + 2 * d_k + d_v for d, d_k, d_v in sizes]:
        raise Mistake("You counted biases too: a projection of this lecture is a matrix alone.")
    if found != [90_000, 98_304, 88]:
        raise Mistake(f"For (300, 100, 100), (512, 64, 64) and (8, 3, 5) you say {found}.")
    return "90,000 for 300 → 100, whatever the length of the sentence."


@exercise(3)
def hard_lookup(function: Callable[[Tensor, Tensor, Tensor], Any]) -> str:
    """`function(queries, keys, values)` must return for each query the value of its best key."""
    # Whole numbers over a power of two, so that a tie is exact and no gap is wide: the first query
    # scores keys 2 and 3 alike, two different vectors. For the second the long key 1 is best.
    queries = torch.tensor([[2.0, 1, 0], [0, 1, 3], [1, -1, 0]], dtype=torch.float64) / 1024
    keys = torch.tensor([[0.0, 1, 2], [-9, 0, 3], [2, 0, 1], [1, 2, -1]], dtype=torch.float64)
    values = drawn(4, 2, seed=8)
    scores = queries @ keys.T
    found = tensor_of(called(function, queries, keys, values), (3, 2))
    best = scores == scores.max(-1, keepdim=True).values
    for divisor, name in ((1, "1"), (math.sqrt(3), "√d_k")):
        if close(found, torch.softmax(scores / divisor, -1) @ values):
            raise Mistake(f"This is the soft look-up at T = {name}: every value still has a share.")
    last = len(keys) - 1 - scores.flip(-1).argmax(-1)
    if close(found, values[scores.argmax(-1)]) or close(found, values[last]):
        raise Mistake("Two keys tie for the first query: the limit averages them, you take one.")
    if close(found, best.double() @ values):
        raise Mistake("Where keys tie, you add their values up: the weights must sum to 1.")
    if close(found, values[scores.argmin(-1)]):
        raise Mistake("You took the smallest score of each row.")
    if close(found, values[(scores / keys.norm(dim=-1)).argmax(-1)]):
        raise Mistake("You took the key most alike. The score is the dot product: length counts.")
    if not close(found, best.double() / best.sum(-1, keepdim=True) @ values):
        raise Mistake("Some row is wrong: a key just below the best gets nothing.")
    return "This is what the soft look-up tends to as the temperature goes to 0, ties and all."


@exercise(4)
def column_form(function: Callable[[Tensor, Tensor], Any]) -> str:
    """`function(x, w)` must project the columns of x (d_model, n) by w (d_model, d_k)."""
    for width in (3, 2):  # square first, as in the colleague's test: there the slip is silent
        x, w = drawn(3, 4), drawn(3, width, seed=7)
        answer = called(function, x, w)
        if isinstance(answer, Tensor) and tuple(answer.shape) == (4, width):
            raise Mistake("Your queries are rows; here vectors are columns: the shape is (d_k, n).")
        found = tensor_of(answer, (width, 4))
        if width == 3 and close(found, w @ x):
            raise Mistake("That is the colleague's w @ x: the right shape, and other numbers.")
        if not close(found, w.T @ x):
            raise Mistake("The shape is right, the numbers are not: column i is token i's query.")
    return "In columns q = Wᵀx: the same numbers as xW, standing upright."


@exercise(5)
def around_the_circle(matrices: Any) -> str:
    """`matrices` = (w_q, w_k): had must attend to bowl, bowl to nuts, nuts to had, by 0.9 each."""
    if matrices is None or matrices is ...:
        raise Blank
    if not isinstance(matrices, (tuple, list, Tensor, np.ndarray)):
        raise Mistake("A pair was wanted: my_matrices = (w_q, w_k).")
    if any(w is ... for w in matrices):
        raise Blank
    if len(matrices) != 2:
        raise Mistake(f"Two matrices were wanted, w_q and w_k: there are {len(matrices)}.")
    x = torch.tensor(HAD_BOWL_NUTS, dtype=torch.float64)
    w_q, w_k = (tensor_of(w, (3, 3)) for w in matrices)
    if not (torch.isfinite(w_q).all() and torch.isfinite(w_k).all()):
        raise Mistake("Use ordinary numbers: there is NaN or ∞ among them.")
    weights = attention(x @ w_q, x @ w_k, x).weights
    around = weights[[0, 1, 2], [1, 2, 0]]
    shown = " / ".join(f"{w:.3f}" for w in around.tolist())
    if bool((weights[[1, 2, 0], [0, 1, 2]] >= 0.9).all()):
        raise Mistake("You go around the other way: queries and keys have changed places.")
    if bool((around < 0.9).any()):
        if torch.allclose(w_q @ w_k.T, w_k @ w_q.T):
            raise Mistake(f"{shown}. Your scores are symmetric: such scores go around no circle.")
        raise Mistake(f"The weights around the circle are {shown}: each must be 0.9 at least.")
    return f"The weights around the circle are {shown}: no symmetric scores could do that."
