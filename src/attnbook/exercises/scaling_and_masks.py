"""The checks of lecture 7, "Scaling, matrices and masks"."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from attnbook.attention import attention
from attnbook.exercises import Mistake, called, close, exercise, named, tensor_of
from attnbook.masks import causal_mask, padding_mask

NUTS = (0.0, 5.0, 9.0)  # the raw scores of nuts
LENGTHS = (4, 2, 3)  # three sentences, padded to four tokens


def batch() -> tuple[Tensor, Tensor, Tensor]:
    """Queries (2, 3, 7), keys (2, 4, 7) and values (2, 4, 5): no two sizes agree by accident."""
    generator = torch.Generator().manual_seed(7)
    sizes = (2, 3, 7), (2, 4, 7), (2, 4, 5)
    query, key, value = (
        torch.randn(size, generator=generator, dtype=torch.float64) for size in sizes
    )
    return query, key, value


@exercise(1)
def softmax_jacobian(function: Callable[[Tensor], Any]) -> str:
    """`function(weights)` must return the softmax's Jacobian (n, n) at these weights (n,)."""
    weights = torch.softmax(torch.tensor(NUTS, dtype=torch.float64) / math.sqrt(3), 0)
    found = tensor_of(called(function, weights), (3, 3))
    diagonal, products = torch.diag(weights), torch.outer(weights, weights)
    one = torch.eye(3, dtype=torch.float64)
    named(
        found,
        (diagonal, "A score also moves the other weights: α_j(δ_jk − α_k), not α_j δ_jk."),
        (
            torch.diag(weights * (1 - weights)),
            "The diagonal is right. Off it stands −α_j α_k: what one gains, others lose.",
        ),
        (-products, "The diagonal lacks its first term: where j = k it is α_j(1 − α_j)."),
        (products - diagonal, "All signs are turned: a key's weight grows with its own score."),
        (diagonal + products, "The sign between the terms is a minus: each row must sum to 0."),
        (
            weights[:, None] * (1 - weights),
            "1 − α_k belongs to the diagonal alone: δ_jk is 0 where j and k differ.",
        ),
        (
            weights * (one - weights),
            "Your entry (j, k) begins with α_k. The row is the weight: α_j(δ_jk − α_k).",
        ),
        (one - products, "α_j belongs to δ too: the first term is diag(α), not the identity."),
    )
    return _jacobian_is_right(function, found, diagonal - products)


def _jacobian_is_right(function: Callable[[Tensor], Any], found: Tensor, wanted: Tensor) -> str:
    if not close(found, wanted):
        raise Mistake("The entries are wrong. Derive ∂α_1/∂e_1 and ∂α_1/∂e_2 for n = 2 first.")
    other = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
    wanted = torch.diag(other) - torch.outer(other, other)
    if not close(tensor_of(called(function, other), (4, 4)), wanted):
        raise Mistake("Right for three weights, wrong for four: use the weights you are given.")
    return "Each row and each column sums to 0, and the matrix equals its transpose."


@exercise(2)
def batched_attention(function: Callable[[Tensor, Tensor, Tensor], Any]) -> str:
    """`function(query, key, value)` must return scaled dot-product attention, (b, n_q, d_v)."""
    query, key, value = batch()
    found = tensor_of(called(function, query, key, value), (2, 3, 5))
    products = query @ key.mT
    scaled = products / math.sqrt(7)

    def with_divisor(divisor: float) -> Tensor:
        return torch.softmax(products / divisor, -1) @ value

    length = "You divided by the root of a length or of the batch. d_k is the last axis, shape[-1]."
    axis = "The softmax runs over the wrong axis: the keys are the last, dim=-1."
    named(
        found,
        (with_divisor(1), "This is attention with raw scores: divide them by √d_k."),
        (with_divisor(7), "You divided by d_k: the divisor is its root."),
        (with_divisor(1 / math.sqrt(7)), "You multiplied by √d_k: divide by it."),
        *((with_divisor(math.sqrt(size)), length) for size in (2, 3, 4)),
        (
            with_divisor(math.sqrt(5)),
            "You divided by √d_v: take the size of the keys, not that of the values.",
        ),
        (scaled @ value, "The scores went straight to the values: the softmax is missing."),
        *((torch.softmax(scaled, dim) @ value, axis) for dim in (0, 1)),
    )
    if not close(found, attention(query, key, value).output):
        raise Mistake("The outputs are wrong. Print the shape after each step, (2, 3, 4) first.")
    return "Axes counted from the end (`.mT`, `dim=-1`) leave room for heads in front."


@exercise(3)
def decoder_mask(function: Callable[[Sequence[int], int], Any]) -> str:
    """`function(lengths, n)` must return the causal mask of a padded batch, (b, n, n) boolean."""
    answer = called(function, list(LENGTHS), 4)
    _boolean("The mask", answer)
    found = tensor_of(answer, (3, 4, 4)).bool()
    past, real = causal_mask(4), padding_mask(LENGTHS, 4).expand(3, 4, 4)
    longer = padding_mask([length + 1 for length in LENGTHS], 5)[..., :4]
    forward = "Your triangle looks forward: query i may see j ≤ i, which is `tril`."
    named(
        found,
        *_mistakes_of_a_mask(past, real),
        (past.tril(-1) & real, "A token is hidden from itself: keep j ≤ i, not j < i."),
        (past & real.mT, "You hid the padding as a query, so rows are empty: hide it as a key."),
        (past.mT & real, forward),
        (~past & real, forward),
        (past & longer, "One padding is still visible: positions count from 0, so j < length."),
    )
    if not torch.equal(found, past & real):
        raise Mistake("The mask is wrong. Draw that of lengths=[2], n=3: three rows, five True.")
    other = tensor_of(called(function, [1, 5], 5), (2, 5, 5)).bool()
    if not torch.equal(other, causal_mask(5) & padding_mask([1, 5], 5)):
        raise Mistake("Right for this batch, wrong for another: use `lengths` and `n` themselves.")
    return "(n, n) and (b, 1, n) broadcast to (b, n, n): no loop over the batch is needed."


@exercise(4)
def two_polarities(function: Callable[[Tensor], Any]) -> str:
    """`function(attention_mask)` must return a mask for `attention` and a `key_padding_mask`."""
    tokenizer = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]])
    answer = called(function, tokenizer)
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Mistake("Two masks were wanted: `return mask, key_padding_mask`.")
    ours, theirs = answer
    _mask_shapes(ours, theirs)
    real = tokenizer.bool()
    mine = real[:, None, :].expand(ours.shape)
    if torch.equal(ours, ~mine) and torch.equal(theirs, real):
        raise Mistake("Both are turned over: here True = may, for the module True = may not.")
    if torch.equal(ours, ~mine):
        raise Mistake("The book's mask is turned over: here True means may attend.")
    if torch.equal(theirs, real):
        raise Mistake("The key_padding_mask is turned over: for the module True means padding.")
    if not (torch.equal(ours, mine) and torch.equal(theirs, ~real)):
        raise Mistake("A mask hides the wrong keys: 1 is a real token, 0 is padding.")
    return "One meaning inside, and the translation at the door, in one place."


@exercise(5)
def cached_decoder(function: Callable[[Tensor, int], Any]) -> str:
    """`function(real, n_q)` must return the mask (b, n_q, n_k) and the pairs of its empty rows."""
    real = torch.tensor([[1, 1, 1, 1, 1], [0, 0, 0, 0, 1], [0, 0, 0, 1, 1]]).bool()
    mask, pairs = _mask_and_pairs(called(function, real, 3), (3, 3, 5))
    keys, past = real[:, None, :].expand(3, 3, 5), causal_mask(3, 5)
    top_left = "Your triangle begins at the top left: the queries are the *last* n_q, so shift it"
    named(
        mask,
        *_mistakes_of_a_mask(past, keys),
        (past.tril(0) & keys, f"{top_left} by n_k − n_q."),
        (past.tril(1) & keys, "A token is hidden from itself: keep j ≤ i + n_k − n_q, not <."),
    )
    if not torch.equal(mask, past & keys):
        raise Mistake("The mask is wrong. Draw the first sentence, which has no padding, first.")
    _name_the_pairs(pairs, mask)
    real = torch.tensor([[0, 1, 1, 1], [0, 0, 0, 1]]).bool()
    mask, pairs = _mask_and_pairs(called(function, real, 2), (2, 2, 4))
    if not torch.equal(mask, causal_mask(2, 4) & real[:, None, :]) or pairs != [(1, 0)]:
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


def _mask_shapes(ours: Any, theirs: Any) -> None:
    _boolean("The book's mask", ours)
    _boolean("The key_padding_mask", theirs)
    if tuple(ours.shape) == (3, 4) and theirs.dim() == 3:
        raise Mistake("These are the two masks, the other way round: the book's comes first.")
    if tuple(ours.shape) == (3, 4):
        raise Mistake(
            "The book's mask has the shape (3, 4): against scores (3, n_q, 4) its 3 would meet "
            "n_q. Give it an axis for the queries: (3, 1, 4)."
        )
    if tuple(ours.shape) not in ((3, 1, 4), (3, 4, 4)):
        raise Mistake(f"The book's mask has the shape {tuple(ours.shape)}, wanted is (3, 1, 4).")
    if tuple(theirs.shape) != (3, 4):
        raise Mistake(f"The key_padding_mask has the shape {tuple(theirs.shape)}, wanted: (3, 4).")


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
