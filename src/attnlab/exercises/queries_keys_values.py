"""The checks of lecture 6, "Queries, keys and values"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnbook.attention import attention
from attnlab.exercises import (
    Blank,
    Mistake,
    answered,
    called,
    close,
    drawn,
    exercise,
    shuffled,
    tensor_of,
)
from attnlab.exercises.self_attention import HAD_BOWL_NUTS

KINDS = ("subject", "verb", "object", "adjective", "adverb")
OTHER_RULE = dict(zip(KINDS, ("adjective", "subject", "adverb", "object", "object"), strict=True))


@exercise(1)
def hard_lookup(function: Callable[[Tensor, Tensor, Tensor], Any]) -> str:
    """`function(queries, keys, values)` must return for each query the value of its best key."""
    # Whole numbers over a power of two, so that a tie is exact and no gap is wide: the first query
    # scores keys 2 and 3 alike, two different vectors. For the second the long key 1 is best.
    # Queries and keys come in any order.
    queries = torch.tensor([[2.0, 1, 0], [0, 1, 3], [1, -1, 0]], dtype=torch.float64) / 1024
    keys = torch.tensor([[0.0, 1, 2], [-9, 0, 3], [2, 0, 1], [1, 2, -1]], dtype=torch.float64)
    queries, keys, values = queries[shuffled(3)], keys[shuffled(4)], drawn(4, 2)
    scores = queries @ keys.T
    found = tensor_of(called(function, queries, keys, values), (3, 2))
    best = scores == scores.max(-1, keepdim=True).values
    for divisor, name in ((1, "1"), (math.sqrt(3), "√d_k")):
        if close(found, torch.softmax(scores / divisor, -1) @ values):
            raise Mistake(f"This is the soft look-up at T = {name}: every value still has a share.")
    last = len(keys) - 1 - scores.flip(-1).argmax(-1)
    if close(found, values[scores.argmax(-1)]) or close(found, values[last]):
        raise Mistake("Two keys tie for one query: the limit averages them, you take one.")
    if close(found, best.double() @ values):
        raise Mistake("Where keys tie, you add their values up: the weights must sum to 1.")
    if close(found, values[scores.argmin(-1)]):
        raise Mistake("You took the smallest score of each row.")
    if close(found, values[(scores / keys.norm(dim=-1)).argmax(-1)]):
        raise Mistake("You took the key most alike. The score is the dot product: length counts.")
    if not close(found, best.double() / best.sum(-1, keepdim=True) @ values):
        raise Mistake("Some row is wrong: a key just below the best gets nothing.")
    return "The limit of the soft look-up, ties included."


@exercise(2)
def frozen(errors: Any) -> str:
    """`errors` holds the mean error after training with W^Q, W^K or W^V left as it was drawn."""
    names = ("W^Q", "W^K", "W^V")
    errors = answered(errors, *names)
    q, k, v = tensor_of([errors[name] for name in names], (3,)).tolist()
    if not all(math.isfinite(error) and error >= 0 for error in (q, k, v)):
        raise Mistake("An error is a mean of squares: a number, not below 0.")
    if min(q, k, v) > 1:
        raise Mistake("These are larger than fetching zeros costs, a third. Are they percentages?")
    if max(q, k, v) < 0.1:
        raise Mistake("All are small: was W^V frozen? Use requires_grad_(False) before train.")
    if min(q, k, v) > 0.2:
        raise Mistake("All are large: were the other two matrices still free to learn?")
    if q < 0.001 and k < 0.001:
        raise Mistake("Without W^Q or W^K it goes less well than that: were they frozen?")
    if max(q, k) > v:
        raise Mistake("The largest error should be that of W^V: which number belongs to which?")
    if v < 0.15 or max(q, k) > 0.15:
        raise Mistake(f"You say {q:.3f}, {k:.3f} and {v:.3f}. Average over more seeds.")
    return "No weights can undo what a random W^V hands over."


@exercise(3)
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
    return f"{shown}: no symmetric scores could do that."


@exercise(4)
def read_the_rule(rule: Any) -> str:
    """`rule` says for each kind which kind it asks for, as read off the learned matrix."""
    rule = answered(rule, *KINDS)
    unknown = [asked for asked in rule.values() if asked not in KINDS]
    if unknown:
        raise Mistake(f"{unknown[0]!r} is none of the kinds {', '.join(KINDS)}.")
    if rule == dict(zip(KINDS, ("verb", "object", "subject", "object", "verb"), strict=True)):
        raise Mistake("This is the rule of Figure 6.4: read the picture of this exercise.")
    asked_by = {asked: kind for kind, asked in OTHER_RULE.items() if asked != "object"}
    if all(rule[asked] == kind for asked, kind in asked_by.items()):
        raise Mistake("You read the columns: a row asks, a column is asked.")
    wrong = [kind for kind in KINDS if rule[kind] != OTHER_RULE[kind]]
    if wrong:
        raise Mistake(f"Look at the row of {wrong[0]} again: where is its largest score?")
    return "Rows ask, columns are asked: some twice, some never."
