"""The checks of lecture 5, "Self-attention"."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnbook.attention import attention, attention_weights, fused_attention, masked_softmax
from attnbook.masks import causal_mask
from attnbook.multihead import MultiHeadAttention
from attnlab.exercises import (
    Mistake,
    answered,
    called,
    close,
    drawn,
    exercise,
    number_of,
    tensor_of,
    truth,
    truths,
    whole,
)

HAD_BOWL_NUTS = ((2.0, -1.0, 0.0), (1.0, 1.0, 1.0), (1.0, 2.0, 2.0))
# what an answer may not lean on: the book's and PyTorch's attention
READY_MADE = (
    *(attention, attention_weights, masked_softmax, fused_attention, MultiHeadAttention),
    *(functional.scaled_dot_product_attention, functional.multi_head_attention_forward),
    nn.MultiheadAttention,
)


def sentence() -> Tensor:
    """Four tokens of five features, (4, 5), so that no two sizes agree by accident."""
    return drawn(4, 5)


@exercise(2)
def prefix_attention(function: Callable[[Tensor, int], Any]) -> str:
    """`function(x, p)` must return the prefix attention (n, d) of x (n, d), p seen by all."""
    x = sentence()
    found = tensor_of(called(function, x, 2, ready=READY_MADE), (4, 5))
    may = causal_mask(4)
    may[:, :2] = True
    right = attention(x, x, x, may).output
    for wrong, words in _mistakes(x, may):
        known = ~torch.isnan(wrong)
        if close(found[known], wrong[known]) and not close(found, right):
            raise Mistake(words)
    if bool(torch.isnan(found).all()):
        raise Mistake("All is NaN. Did you multiply 0 by ∞? Use masked_fill, not a product.")
    if bool(torch.isnan(found).any()):
        raise Mistake("There is NaN in the output: has some row nothing left to attend to?")
    if not close(found, right):
        raise Mistake("The output is wrong. Draw the mask for n = 4, p = 2, and compare the rows.")
    x = sentence()
    alone = tensor_of(called(function, x, 0, ready=READY_MADE), (4, 5))
    if not close(alone, attention(x, x, x, causal_mask(4)).output):
        raise Mistake("Right for p = 2, and wrong for p = 0, where the mask is the causal one.")
    every = tensor_of(called(function, x, 4, ready=READY_MADE), (4, 5))
    if not close(every, attention(x, x, x).output):
        raise Mistake("Right for p = 2, and wrong for p = n, where everybody sees everything.")
    return "With p = 0 it is causal, with p = n it has no mask."


def _mistakes(x: Tensor, may: Tensor) -> list[tuple[Tensor, str]]:
    """Return wrong outputs of prefix attention, p = 2, and what to say of each; NaN where it is."""
    scores = x @ x.T / math.sqrt(5)

    def masked(keep: Tensor, e: Tensor = scores) -> Tensor:
        return torch.softmax(e.masked_fill(~keep, -math.inf), -1) @ x

    softmax = torch.softmax(scores, -1)
    by_query = torch.softmax(scores.masked_fill(~may, -math.inf), 0)
    causal, square, rows = causal_mask(4), causal_mask(4), causal_mask(4)
    square[:2, :2] = True
    rows[:2] = True
    past = causal.tril(-1)
    past[:, :2] = True
    one_more = torch.ones(4, 4, dtype=torch.bool).tril(1)
    one_more[:, :2] = True
    longer = causal_mask(4)
    longer[:, :3] = True
    resized = "The mask is right, but you divided by {}: take d from x.shape[-1]."
    return [
        (masked(causal), "This is the causal layer: nobody sees the whole prefix yet."),
        (softmax @ x, "This is attention with no mask: tokens see the future beyond the prefix."),
        (masked(rows), "You opened the first p rows, who asks: open the first p columns."),
        (masked(longer), "You opened p + 1 columns: the prefix is the columns 0 to p − 1."),
        (masked(past), "After the prefix a token does not see itself: your mask keeps j < i."),
        (masked(one_more), "Each token sees one token of the future: your mask keeps j ≤ i + 1."),
        (masked(~may), "You hid what should stay: masked_fill fills where its mask is True."),
        (
            torch.softmax(scores, -1).masked_fill(~may, 0) @ x,
            "You masked after the softmax: the rows no longer sum to 1. Mask before it.",
        ),
        (masked(may, x @ x.T), "The mask is right, but you forgot to divide the scores by √d."),
        (masked(may, x @ x.T / math.sqrt(3)), resized.format("√3, right for had bowl nuts only")),
        (masked(may, x @ x.T / 2), resized.format("√n, n the number of tokens")),
        (
            torch.softmax(scores.masked_fill(~may, 0), -1) @ x,
            "A masked score of 0 still gets a share, since exp(0) = 1: use −∞.",
        ),
        (by_query @ x, "Your softmax runs over the queries: each row must sum to 1, so dim=-1."),
    ]


@exercise(3)
def without_softmax(findings: Any) -> str:
    """`findings` says what changes where the scaled scores themselves are the weights."""
    findings = answered(findings, "order", "inside", "factor", "hide")
    if not truth(findings["order"], "order"):
        raise Mistake("order: the proof of 5.5 needs no softmax: P E Pᵀ P X = P E X.")
    if truth(findings["inside"], "inside"):
        raise Mistake("inside: a score may be negative or large. Try a single token, (3, 0).")
    factor, hide = (number_of(name, findings[name]) for name in ("factor", "hide"))
    if abs(factor - 2) < 1e-3:
        raise Mistake("factor: an average would double. These weights grow as well.")
    if abs(factor - 4) < 1e-3:
        raise Mistake("factor: each score grows fourfold, and then it multiplies a doubled vector.")
    if abs(factor - 8) > 1e-3:
        raise Mistake(f"factor: {factor:g} is not it. Divide the outputs of 2x by those of x.")
    if hide == -math.inf:
        raise Mistake("hide: −∞ was for the softmax. Here it would multiply a vector.")
    if hide != 0:
        raise Mistake(f"hide: with {hide:g} as its weight, a hidden token still adds something.")
    return "The softmax is what makes the output an average."


@exercise(5)
def sees_no_order(function: Callable[[Callable[[Tensor], Tensor], Tensor], Any]) -> str:
    """`function(layer, x)` must say whether every shuffle only shuffles the outputs."""
    x = sentence()
    layers = [
        ("self-attention without a mask", lambda x: attention(x, x, x).output, True),
        ("causal self-attention", lambda x: attention(x, x, x, causal_mask(len(x))).output, False),
        ("the same mean for every token", lambda x: x.mean(0).expand(len(x), -1), True),
        ("adding its position to each token", lambda x: x + torch.arange(len(x))[:, None], False),
        ("a blur over three neighbours", _blur, False),
        ("adding to each token its left neighbour, in a ring", lambda x: x + x.roll(1, 0), False),
        ("marking every second token", lambda x: x + (torch.arange(len(x)) % 2)[:, None], False),
    ]
    found = truths(function, [(layer, x) for _, layer, _ in layers])
    if found[:4] == [False, False, True, False]:
        raise Mistake("You compare with layer(x) as it stands: its rows must be shuffled too.")
    if all(found):
        raise Mistake("You call every layer blind to order: did your shuffle move any token?")
    if found[4]:
        raise Mistake(
            "For a blur over three neighbours you say True: reversing the tokens reverses its "
            "outputs, other shuffles do more."
        )
    for (name, _, wanted), answer in zip(layers, found, strict=True):
        if answer != wanted:
            raise Mistake(f"For {name} the answer is {wanted}, you say {answer}.")
    reached = len(_generated(_shuffles(function, x)))
    if reached < 24:
        raise Mistake(f"Your shuffles and their repetitions make {reached} of 24 orders: try all.")
    return "Shuffle, then layer, is layer, then shuffle, 24 times."


def _blur(x: Tensor) -> Tensor:
    """The mean of each token and its neighbours; the ends have one neighbour."""
    padded = torch.cat([x[:1] * 0, x, x[:1] * 0])
    return (padded[:-2] + padded[1:-1] + padded[2:]) / 3


def _shuffles(function: Callable[..., Any], x: Tensor) -> set[tuple[int, ...]]:
    """The orders of x in which the reader's test called a layer that sees none."""
    orders: set[tuple[int, ...]] = set()

    def spy(rows: Tensor) -> Tensor:
        places = [[bool(torch.equal(row, one)) for one in x] for row in rows]
        if all(sum(found) == 1 for found in places):
            orders.add(tuple(found.index(True) for found in places))
        return attention(rows, rows, rows).output

    called(function, spy, x)
    return orders


def _generated(orders: set[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """All orders that some of these make, one after the other."""
    made = set(orders)
    while True:
        more = {tuple(a[i] for i in b) for a, b in product(made, orders)} - made
        if not more:
            return made
        made |= more


@exercise(4)
def read_the_mask(rule: Callable[[int, int], Any]) -> str:
    """`rule(i, j)` must say whether token i may attend to token j, as the picture shows."""
    n = int(whole(9, 14))
    found = torch.tensor(truths(rule, list(product(range(n), repeat=2)))).view(n, n)
    right = _unknown_mask(n)
    if bool((found & ~causal_mask(n)).any()):
        if torch.equal(found.T, right):
            raise Mistake("Rows and columns have changed places: i is the row, who asks.")
        raise Mistake("Above the diagonal the picture is empty: nobody looks ahead.")
    if torch.equal(found, causal_mask(n)):
        raise Mistake("That is the causal mask: between the filled cells of a row there are gaps.")
    if not bool(found.diagonal().all()):
        raise Mistake("On the diagonal every cell is filled: each token may attend to itself.")
    if not bool(found[:, 0].all()):
        raise Mistake("Look at the first column: which tokens may attend to the first one?")
    wrong = (found != right).nonzero().tolist()
    if wrong:
        i, j = wrong[0]
        raise Mistake(f"For i = {i} and j = {j} you say {bool(found[i, j])}. Look at that row.")
    return "The first token, and every second one back from itself."


def unknown_weights() -> Tensor:
    """The weights (8, 8) of a layer under a mask that the reader has to find."""
    generator = torch.Generator().manual_seed(8)
    x = torch.randn(8, 4, generator=generator, dtype=torch.float64) / 2
    return attention_weights(x, x, _unknown_mask(8))


def _unknown_mask(n: int) -> Tensor:
    i, j = torch.arange(n)[:, None], torch.arange(n)
    return (j == 0) | ((j <= i) & ((i - j) % 2 == 0))
