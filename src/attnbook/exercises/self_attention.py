"""The checks of lecture 5, "Self-attention"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnbook.attention import attention, attention_weights
from attnbook.exercises import Blank, Mistake, called, close, exercise, tensor_of
from attnbook.masks import causal_mask

HAD_BOWL_NUTS = ((2.0, -1.0, 0.0), (1.0, 1.0, 1.0), (1.0, 2.0, 2.0))


def sentence() -> Tensor:
    """Four tokens of five features, (4, 5), so that no two sizes agree by accident."""
    generator = torch.Generator().manual_seed(5)
    return torch.randn(4, 5, generator=generator, dtype=torch.float64)


@exercise(1)
def weights_of_one_token(function: Callable[[Tensor, int], Any]) -> str:
    """`function(x, i)` must return the weights (n,) of token i over the n tokens of x (n, d)."""
    x, i = sentence(), 2
    found = tensor_of(called(function, x, i), (4,))
    raw = x @ x[i]
    if close(found, torch.softmax(raw, 0)):
        raise Mistake("These are the weights of the raw scores: divide the scores by √d first.")
    if close(found, torch.exp(raw / math.sqrt(5))):
        raise Mistake("The exponentials are right, but they do not sum to 1: divide by their sum.")
    if close(found, raw / math.sqrt(5)):
        raise Mistake("These are the scaled scores: the softmax is still to come.")
    if close(found, torch.softmax(raw / math.sqrt(4), 0)):
        raise Mistake("You divided by √n, n the number of tokens; d is the number of components.")
    if close(found, torch.softmax(x @ x.T / math.sqrt(5), 0)[i]):
        raise Mistake("Your softmax runs over the queries: the shares of one query must sum to 1.")
    if close(found, torch.softmax(raw / math.sqrt(3), 0)):
        raise Mistake("You divided by √3, right for had bowl nuts only: take d from x.shape[-1].")
    if close(found, torch.softmax(raw / 5, 0)):
        raise Mistake("You divided by d: divide by its square root.")
    if close(found, torch.softmax(raw, 0) / math.sqrt(5)):
        raise Mistake("You divided the weights by √d: divide the scores, before the softmax.")
    if not close(found, attention_weights(x, x)[i]):
        raise Mistake("The weights are wrong. Try your function on had bowl nuts, i = 2, by hand.")
    if not close(tensor_of(called(function, x, 0), (4,)), attention_weights(x, x)[0]):
        raise Mistake("Right for i = 2, and wrong for i = 0: the query must be x[i].")
    return "Score, scale, softmax: three lines, and they never looked at another query."


@exercise(2)
def causal_self_attention(function: Callable[[Tensor], Any]) -> str:
    """`function(x)` must return the causal self-attention (n, d) of x (n, d)."""
    x = sentence()
    found = tensor_of(called(function, x), (4, 5))
    right = attention(x, x, x, causal_mask(4)).output
    for wrong, words in _causal_mistakes(x):
        known = ~torch.isnan(wrong)
        if close(found[known], wrong[known]) and not close(found, right):
            raise Mistake(words)
    if bool(torch.isnan(found).all()):
        raise Mistake("All is NaN. Did you multiply 0 by ∞? Use masked_fill, not a product.")
    if bool(torch.isnan(found).any()):
        raise Mistake("There is NaN in the output: has some row nothing left to attend to?")
    if not close(found, right):
        raise Mistake("The output is wrong. Row 0 must equal x[0]; compare the rows one by one.")
    return "The first row is the first token itself, and the last row needed no mask."


def _causal_mistakes(x: Tensor) -> list[tuple[Tensor, str]]:
    """Return wrong outputs of causal self-attention and what to say of each; NaN where they are."""
    scores, may = x @ x.T / math.sqrt(5), causal_mask(4)

    def masked(keep: Tensor, e: Tensor = scores) -> Tensor:
        return torch.softmax(e.masked_fill(~keep, -math.inf), -1) @ x

    softmax = torch.softmax(scores, -1)
    by_query = torch.softmax(scores.masked_fill(~may, -math.inf), 0)
    one_more = torch.ones(4, 4, dtype=torch.bool).tril(1)
    resized = "The mask is right, but you divided by {}: take d from x.shape[-1]."
    return [
        (
            masked(may.tril(-1)),
            "Row 0 is NaN: your mask hides each token from itself too. Keep j ≤ i.",
        ),
        (masked(~may), "You hid what should stay: masked_fill fills where its mask is True."),
        (masked(~may.tril(-1)), "Your mask is upside down: each token sees itself and the future."),
        (masked(one_more), "Each token sees one token of the future: your mask keeps j ≤ i + 1."),
        (
            softmax.tril() @ x,
            "You masked after the softmax: the rows no longer sum to 1. Mask before it.",
        ),
        (softmax @ x, "This is attention with no mask: row 0 already sees the whole sentence."),
        (masked(may, x @ x.T), "The mask is right, but you forgot to divide the scores by √d."),
        (masked(may, x @ x.T / math.sqrt(3)), resized.format("√3, right for had bowl nuts only")),
        (masked(may, x @ x.T / 2), resized.format("√n, n the number of tokens")),
        (
            torch.softmax(scores.tril(), -1) @ x,
            "A masked score of 0 still gets a share, since exp(0) = 1: use −∞.",
        ),
        (by_query @ x, "Your softmax runs over the queries: each row must sum to 1, so dim=-1."),
    ]


@exercise(3)
def scores_computed(function: Callable[[int], Any]) -> str:
    """`function(n)` must return how many of the n × n scores a causal layer keeps."""
    found = [called(function, n) for n in (1, 3, 100)]
    if found == [1, 9, 10_000]:
        raise Mistake("That is all n² scores: a causal layer throws those above the diagonal away.")
    if found == [0, 3, 4_950]:
        raise Mistake("You left the diagonal out: each token also attends to itself.")
    if found == [1, 3, 100]:
        raise Mistake("That is one score a token: token i looks back at i tokens, itself included.")
    if found == [0.5, 4.5, 5_000]:
        raise Mistake("Half of n² cuts the diagonal in two: a causal layer keeps all of it.")
    if found != [1, 6, 5_050]:
        raise Mistake(f"For n = 1, 3 and 100 you say {found}. Draw n = 3 and count.")
    return "n(n + 1)/2: a little more than half of the square, and still quadratic."


@exercise(4)
def attend_to_had(vectors: Any) -> str:
    """`vectors` (3, 3) must differ in one number of *had*, and make *nuts* attend to *had* most."""
    if vectors is None or vectors is ...:
        raise Blank
    found, given = tensor_of(vectors, (3, 3)), torch.tensor(HAD_BOWL_NUTS, dtype=torch.float64)
    if not torch.isfinite(found).all() or found.abs().max() > 1e6:
        raise Mistake("Use ordinary numbers, from −1 000 000 to 1 000 000.")
    changed = (found != given).nonzero().tolist()
    if not changed:
        raise Mistake("These are the lecture's vectors: change one number of had.")
    if any(row != 0 for row, _ in changed):
        raise Mistake("You changed bowl or nuts: only had may change.")
    if len(changed) > 1:
        raise Mistake(f"You changed {len(changed)} numbers of had: change one.")
    weights = attention_weights(found, found)[2].tolist()
    if weights[0] <= max(weights[1:]):
        shown = " / ".join(f"{w:.3f}" for w in weights)
        raise Mistake(f"nuts now attends {shown}: its score with had must exceed nuts · nuts = 9.")
    return f"nuts attends to had with {weights[0]:.3f}: length and direction both count."


@exercise(5)
def sees_no_order(function: Callable[[Callable[[Tensor], Tensor], Tensor], Any]) -> str:
    """`function(layer, x)` must say whether shuffling the tokens only shuffles the outputs."""
    x = sentence()
    layers = [
        ("self-attention without a mask", lambda x: attention(x, x, x).output, True),
        ("causal self-attention", lambda x: attention(x, x, x, causal_mask(len(x))).output, False),
        ("the same mean for every token", lambda x: x.mean(0).expand(len(x), -1), True),
        ("adding its position to each token", lambda x: x + torch.arange(len(x))[:, None], False),
    ]
    found = [bool(called(function, layer, x)) for _, layer, _ in layers]
    if found == [False, False, True, False]:
        raise Mistake("You compare with layer(x) as it stands: its rows must be shuffled too.")
    if all(found):
        raise Mistake("You call every layer blind to order: did your shuffle move any token?")
    for (name, _, wanted), answer in zip(layers, found, strict=True):
        if answer != wanted:
            raise Mistake(f"For {name} the answer is {wanted}, you say {answer}.")
    return "Shuffle, then layer, is layer, then shuffle: exactly what equivariant means."
