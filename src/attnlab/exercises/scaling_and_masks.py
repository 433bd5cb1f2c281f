"""The checks of lecture 7, "Scaling and masks"."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attnbook.masks import as_torch_mha_mask, causal_mask, padding_mask, window_mask
from attnlab.exercises import Mistake, called, exercise, named, tensor_of, whole

READY = (causal_mask, padding_mask, window_mask, as_torch_mha_mask)
FIRST = math.sqrt(0.6)  # with which `train` draws W^Q and W^K
RIGHT = FIRST / 512**0.25  # so that undivided scores begin as the divided ones do


@exercise(1)
def packed_mask(function: Callable[[Tensor], Any]) -> str:
    """`function(sentence)` must return the causal mask (b, n, n) of packed sentences (b, n)."""
    # two rows of short sentences: two or three tokens and one or two, then padding
    sentence = torch.full((2, 6), -1)
    for row, first, second in zip(sentence, whole(2, 3, 2), whole(1, 2, 2), strict=True):
        row[: first + second] = 1
        row[:first] = 0
    answer = _called(function, sentence)
    _boolean("The mask", answer)
    found = tensor_of(answer, (2, 6, 6)).bool()
    wanted, (past, same, real) = _packed(sentence)
    named(
        found,
        wanted,
        (~wanted, "Your mask is turned over: here True means may attend."),
        (same & real, "The future is visible: keep j ≤ i as well."),
        (past & real, "A token sees the sentence before its own: compare their numbers."),
        (past & same, "Padding sees padding, for −1 equals −1: hide it as a key."),
        (past & ~same & real, "You let through the *other* sentences: `==`, not `!=`."),
        (past.tril(-1) & same & real, "A token is hidden from itself: keep j ≤ i, not j < i."),
        (past.mT & same & real, "Your triangle looks forward: query i may see j ≤ i: `tril`."),
        ((past & real) | (same & real), "You joined with `or`: every condition must hold, so &."),
        otherwise="The mask is wrong. Draw that of [[0, 0, 1, −1]]: it has four True.",
    )
    n = int(whole(5, 8))
    other = whole(2, 9, 3).sort(descending=True).values.repeat_interleave(n).view(3, n) * 5
    other[0, : int(whole(1, n - 2))] += int(whole(1, 90))
    other[1, int(whole(1, n - 1)) :] = -1
    named(
        tensor_of(_called(function, other), (3, n, n)),
        _packed(other)[0],
        otherwise="Right for these sentences, wrong for others: their numbers may be any.",
    )
    return "Masks of one shape or another are joined by &, whatever each is about."


_called = partial(called, ready=READY)


def _packed(sentence: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor]]:
    """Return the mask (b, n, n) and what it is joined from, each of the same shape."""
    same = sentence[:, :, None] == sentence[:, None, :]
    real = (sentence >= 0)[:, None, :].expand(same.shape)
    past = causal_mask(sentence.shape[-1]).expand(same.shape)
    return past & same & real, (past, same, real)


@exercise(2)
def repair(function: Callable[[], Any]) -> str:
    """`function()` must return the spread of W^Q and W^K, and the errors of a training with it."""
    answer = called(function)
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise Mistake("Two things were wanted: `return spread, errors`.")
    spread, errors = answer
    if isinstance(spread, bool) or not isinstance(spread, int | float):
        raise Mistake(f"The spread must be a number: this is {type(spread).__name__}.")
    wrong = {
        FIRST: "That is the spread of the layer that got stuck: its scores begin at √512.",
        FIRST / math.sqrt(512): "You gave the whole root to each matrix: both bring a factor, so "
        "the scores begin with a spread of 1/√512.",
        FIRST / 512: "You divided each matrix by 512: the scores would begin with 512^(−1.5).",
        512**-0.25: "Nearly: a word's squared length is 1 + 2/3, so √(3/5) belongs in front.",
        FIRST * 512**0.25: "You made the matrices larger: the scores begin at 512.",
    }
    for number, words in wrong.items():
        if math.isclose(spread, number, rel_tol=0.02):
            raise Mistake(words)
    if not math.isclose(spread, RIGHT, rel_tol=0.1):
        raise Mistake(
            f"With {spread:.4f} the scores begin with a spread of {_begins(spread):.3g}: "
            "wanted is 1."
        )
    if isinstance(errors, tuple):
        raise Mistake("`train` returns the errors and the matrices: return its errors alone.")
    errors = tensor_of(errors, (300,))
    last = float(errors[-20:].mean())
    if not last < 0.01:
        raise Mistake(
            f"The spread is right, and the error of the last steps is {last:.3f}: the scores "
            "should be undivided, `train(1, spread=spread)`."
        )
    if not float((errors - _train(spread)).abs().max()) <= 0.01:
        raise Mistake(
            "The spread is right, and these are not the errors of a training with it: return what "
            "`train(1, spread=spread)` returns."
        )
    return "Undivided, and every row learns: what mattered is the spread that it begins with."


def _begins(spread: float) -> float:
    """Return the spread of the first undivided scores: a word's squared length is 5/3."""
    return math.sqrt(512) * spread**2 * 5 / 3


def _train(spread: float, seed: int = 4) -> Tensor:
    """Train as the lecture does, undivided; return the errors of 300 steps."""
    chance = torch.Generator().manual_seed(seed)
    sizes = (512, spread), (512, spread), (2, 7**-0.5)
    layer = [size * torch.randn(7, columns, generator=chance) for columns, size in sizes]
    w_q, w_k, w_v = (matrix.requires_grad_() for matrix in layer)
    optimiser, errors = torch.optim.SGD((w_q, w_k, w_v), lr=1.0), list[float]()
    for step in range(300):
        words, wanted = _fetching(64, seed * 300_000 + step)
        weights = torch.softmax(words @ (w_q @ w_k.mT) @ words.mT, dim=-1)
        error = (weights @ (words @ w_v) - wanted).square().mean()
        optimiser.zero_grad()
        error.backward()
        optimiser.step()
        errors.append(error.item())
    return torch.tensor(errors, dtype=torch.float64)


def _fetching(n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Lecture 6's task: words (n, 5, 7) of a kind and two numbers, and what each wants."""
    chance = torch.Generator().manual_seed(seed)
    kind = torch.rand(n, 5, generator=chance).argsort(dim=-1)
    carried = 2 * torch.rand(n, 5, 2, generator=chance) - 1
    wants = kind[:, None, :] == torch.tensor([1, 2, 0, 2, 1])[kind][:, :, None]
    return torch.cat([torch.eye(5)[kind], carried], dim=-1), wants.float() @ carried


@exercise(3)
def cached_decoder(function: Callable[[Tensor, int], Any]) -> str:
    """`function(real, n_q)` must return the mask (b, n_q, n_k) and the pairs of its empty rows."""
    real = torch.tensor([[1, 1, 1, 1, 1], [0, 0, 0, 0, 1], [0, 0, 0, 1, 1]]).bool()
    mask, pairs = _mask_and_pairs(_called(function, real, 3), (3, 3, 5))
    keys, past = real[:, None, :].expand(3, 3, 5), causal_mask(3, 5)
    top_left = "Your triangle begins at the top left: the queries are the *last* n_q, so shift it"
    named(
        mask,
        past & keys,
        *_mistakes_of_a_mask(past, keys),
        (past.tril(0) & keys, f"{top_left} by n_k − n_q."),
        (past.tril(1) & keys, "A token is hidden from itself: keep j ≤ i + n_k − n_q, not <."),
        otherwise="The mask is wrong. Draw the first sentence, which has no padding, first.",
    )
    _name_the_pairs(pairs, mask)
    n_q, n_k = int(whole(2, 4)), int(whole(6, 9))
    real = torch.arange(n_k) >= whole(0, n_k - 1, 6, 1)
    mask, pairs = _mask_and_pairs(_called(function, real, n_q), (6, n_q, n_k))
    wanted = causal_mask(n_q, n_k) & real[:, None, :]
    if not torch.equal(mask, wanted) or pairs != _pairs((~wanted.any(-1)).nonzero()):
        raise Mistake("Right for this batch, wrong for another: use `real` and `n_q` themselves.")
    return "Padding on the left comes before anything real, and finds nothing in its past."


def _mistakes_of_a_mask(past: Tensor, real: Tensor) -> list[tuple[Tensor, str]]:
    """Wrong ways to join a causal mask (n_q, n_k) and a padding mask (b, n_q, n_k)."""
    return [
        (~(past & real), "Your mask is turned over: here True means may attend."),
        (past.expand(real.shape), "The future is hidden, the padding is not."),
        (real, "The padding is hidden, the future is not: keep j ≤ i as well."),
        (
            past | real,
            "You joined the two with `or`: a key must be allowed by both, so use &.",
        ),
    ]


def _mask_and_pairs(answer: Any, shape: tuple[int, ...]) -> tuple[Tensor, list[tuple[int, int]]]:
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Mistake("Two things were wanted: `return mask, pairs`.")
    mask, pairs = answer
    _boolean("The mask", mask)
    return tensor_of(mask, shape).bool(), _pairs(pairs)


def _name_the_pairs(found: list[tuple[int, int]], mask: Tensor) -> None:
    """Say what is wrong with the (sentence, query) pairs; `mask` itself is right."""
    wanted = _pairs((~mask.any(-1)).nonzero())
    if found == _pairs((~mask.any(-2)).nonzero()):
        raise Mistake("Those are keys that nobody attends to: ask for the queries, over axis −1.")
    if found == _pairs((~mask.all(-1)).nonzero()):
        raise Mistake("Those rows hide *something*. An empty row hides everything: any, not all.")
    if found == _pairs(mask.any(-1).nonzero()):
        raise Mistake("Those are the rows that are not empty.")
    if found == [(query, sentence) for sentence, query in wanted]:
        raise Mistake("Each pair is turned round: the sentence comes first, then the query.")
    if found != wanted and sorted(found) == wanted:
        raise Mistake("These are the right pairs in another order: sentence by sentence.")
    if found != wanted:
        raise Mistake(f"You found {found}. Draw the second sentence: four paddings, one word.")


def _pairs(answer: Any) -> list[tuple[int, int]]:
    """The answer as (sentence, query) pairs, or a `Mistake`."""
    answer = answer.tolist() if isinstance(answer, Tensor) else answer
    try:
        return [(int(sentence), int(query)) for sentence, query in answer]
    except (TypeError, ValueError) as error:
        raise Mistake("A list of pairs was wanted, such as [(0, 2), (1, 0)].") from error


def _boolean(name: str, answer: Any) -> None:
    if not isinstance(answer, Tensor):
        raise Mistake(f"{name} must be a tensor: this is {type(answer).__name__}.")
    if answer.dtype != torch.bool:
        raise Mistake(f"{name} must be boolean: its dtype is {answer.dtype}.")
