"""The checks of lecture 8, "Multi-head attention"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.attention import attention
from attnbook.exercises import Mistake, called, close, exercise, tensor_of
from attnbook.training.seeds import seeded


def numbers(*shape: int) -> Tensor:
    """Numbers of a given shape, all different, so that no two places agree by accident."""
    generator = torch.Generator().manual_seed(8)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def right_split(x: Tensor, n_heads: int) -> Tensor:
    """(…, n, d_model) → (…, h, n, d)."""
    return x.unflatten(-1, (n_heads, -1)).transpose(-2, -3)


def right_merge(heads: Tensor) -> Tensor:
    """(…, h, n, d) → (…, n, h · d)."""
    return heads.transpose(-2, -3).flatten(-2)


def again(answer: Any, wanted: Tensor, words: str) -> None:
    """Judge a second case in other sizes, where what was made for the first alone fails."""
    try:
        right = close(tensor_of(answer, tuple(wanted.shape)), wanted)
    except Mistake:
        right = False
    if not right:
        raise Mistake(words)


@exercise(1)
def split_into_heads(function: Callable[[Tensor, int], Any]) -> str:
    """`function(x, n_heads)` must turn x (n, d_model) into (h, n, d)."""
    x = numbers(4, 6)
    answer = called(function, x, 2)
    if isinstance(answer, (tuple, list)) and answer and isinstance(answer[0], Tensor):
        raise Mistake("These are the heads one by one: torch.stack makes one tensor of them.")
    if isinstance(answer, Tensor) and tuple(answer.shape) == (4, 2, 3):
        raise Mistake("The heads are there, in the middle: bring their axis to the front.")
    found = tensor_of(answer, (2, 4, 3))
    if close(found, x.reshape(2, 4, 3)):
        raise Mistake(
            "You changed the shape alone: head 0 now holds all of the first two tokens. "
            "Cut each row first, (n, h, d), then swap the axes."
        )
    if close(found, x.unflatten(-1, (3, 2)).permute(2, 0, 1)):
        raise Mistake("Each head took every second number: a head's numbers lie side by side.")
    if not close(found, right_split(x, 2)):
        raise Mistake("The numbers are in the wrong places: head 1 of token 0 is x[0, 3:].")
    more = called(function, x, 3)
    again(more, right_split(x, 3), "With 2 heads it is right, with 3 it is not.")
    return "No number was computed: each row is read as h shorter ones."


@exercise(2)
def merge_heads(function: Callable[[Tensor], Any]) -> str:
    """`function(heads)` must turn the heads' outputs (b, h, n, d) into (b, n, h · d)."""
    heads = numbers(3, 2, 4, 5)
    answer = called(function, heads)
    if isinstance(answer, Tensor) and tuple(answer.shape) == (3, 4, 5):
        raise Mistake("The heads were summed or averaged: they are to stand side by side.")
    found = tensor_of(answer, (3, 4, 10))
    if close(found, heads.reshape(3, 4, 10)):
        raise Mistake("That is view alone: row 0 holds head 0's outputs of two tokens.")
    if close(found, heads.transpose(0, 1).reshape(3, 4, 10)):
        raise Mistake("You swapped the sentences and the heads: swap the heads and the tokens.")
    if close(found, heads.permute(0, 2, 3, 1).flatten(-2)):
        raise Mistake("The heads' numbers alternate: each head's d numbers stay side by side.")
    if close(found, right_merge(heads.flip(1))):
        raise Mistake("The heads are in reverse order: W^O's first rows belong to head 0.")
    if not close(found, right_merge(heads)):
        raise Mistake("The numbers are in the wrong places: row 0 begins with heads[0, 0, 0].")
    more = numbers(1, 3, 4, 2)
    again(called(function, more), right_merge(more), "With 2 heads it is right, with 3 it is not.")
    return "It undoes the split: merge(split(x)) is x again."


@exercise(3)
def parameters(function: Callable[[int, int], Any]) -> str:
    """`function(d_model, n_heads)` must count all weights and biases of the layer."""
    cases = [(6, 2), (512, 8), (512, 1)]
    found = [called(function, *case) for case in cases]
    mistakes = {
        "The four biases are missing: each linear map has d_model of them.": lambda d, h: 4 * d * d,
        "W^O is missing: there are four linear maps.": lambda d, h: 3 * d * (d + 1),
        "You gave each head projections of full width: a head's are d_model × d.": (
            lambda d, h: h * 4 * d * (d + 1)
        ),
        "You gave each head full projections for q, k and v: a head's are d_model × d.": (
            lambda d, h: (3 * h + 1) * d * (d + 1)
        ),
        "That is one head's share of it: there are h such heads.": lambda d, h: 4 * d * (d + 1) / h,
        "A head reads all of d_model, not only d numbers: W_i^Q is d_model × d.": (
            lambda d, h: 3 * h * (d // h) * (d // h + 1) + d * (d + 1)
        ),
    }
    for words, wrong in mistakes.items():
        if found == [wrong(*case) for case in cases]:
            raise Mistake(words)
    if found != [4 * d * (d + 1) for d, _ in cases]:
        raise Mistake(
            f"For (6, 2), (512, 8) and (512, 1) you say {found}. Draw the first: each of its "
            "four maps has 6 · 6 weights and 6 biases."
        )
    return "4 d_model (d_model + 1): the number of heads is not in it."


@exercise(4)
def head_size(function: Callable[[int, int], Any]) -> str:
    """`function(d_model, n_heads)` must return d, or raise a ValueError that names both."""
    if called(function, 512, 8) != 64 or called(function, 12, 12) != 1:
        raise Mistake(f"512 / 8 is 64, and 12 / 12 is 1: you say {function(512, 8)!r} for 512.")
    if isinstance(function(512, 8), float):
        raise Mistake("A size is a whole number: / makes it a float, // does not.")
    for d_model, n_heads in ((10, 4), (4, 8), (12, 0), (12, -4)):
        case = f"d_model = {d_model} and n_heads = {n_heads}"
        try:
            answer = function(d_model, n_heads)
        except ValueError as error:
            if not all(str(size) in str(error) for size in (d_model, n_heads)):
                raise Mistake(f"For {case} the error must name both numbers.") from error
        except ZeroDivisionError as error:
            raise Mistake(f"For {case} you divide by zero before you check.") from error
        except AssertionError as error:
            raise Mistake("`assert` vanishes under `python -O`: raise a ValueError.") from error
        else:
            raise Mistake(f"For {case} you return {answer!r}: raise a ValueError.")
    return "A mistake that is named where it is made costs minutes instead of days."


def _layer(
    x: Tensor, matrices: tuple[Tensor, ...], n_heads: int, cut: Any = None, join: Any = None
) -> Tensor:
    w_q, w_k, w_v, w_o = matrices
    cut, join = cut or (lambda t: right_split(t, n_heads)), join or right_merge
    return join(attention(cut(x @ w_q), cut(x @ w_k), cut(x @ w_v)).output) @ w_o


def _divided_by(x: Tensor, matrices: tuple[Tensor, ...], n_heads: int, divisor: float) -> Tensor:
    query, key, value = (right_split(x @ w, n_heads) for w in matrices[:3])
    weights = torch.softmax(query @ key.mT / divisor, dim=-1)
    return right_merge(weights @ value) @ matrices[3]


def _wrong_layers(x: Tensor, matrices: tuple[Tensor, ...]) -> dict[str, Tensor]:
    """The mistakes that exercise 5 knows, for x (2, 5, 12) and 3 heads, with what each gives."""
    viewed = {"cut": lambda t: t.reshape(2, 3, 5, 4)}
    joined = {"join": lambda t: t.reshape(2, 5, 12)}
    found = {
        "Nothing has changed: shuffle the tokens and see what the outputs do.": viewed | joined,
        "The merge is right. The split still makes heads of whole tokens.": viewed,
        "The split is right. The merge still writes one token's numbers to another.": joined,
        "Each token's heads attend to each other: bring the heads before the tokens.": {
            "cut": lambda t: t.unflatten(-1, (3, 4)),
            "join": lambda t: t.flatten(-2),
        },
        "Each head takes every third number: its numbers lie side by side.": {
            "cut": lambda t: t.unflatten(-1, (4, 3)).permute(0, 3, 1, 2)
        },
        "That is one head of full width: n_heads is not used.": dict.fromkeys(
            ("cut", "join"), lambda t: t
        ),
    }
    wrong = {words: _layer(x, matrices, 3, **parts) for words, parts in found.items()}
    unmixed = (*matrices[:3], torch.eye(12, dtype=torch.float64))
    wrong["Split and merge are right, and W^O was lost on the way."] = _layer(x, unmixed, 3)
    for divisor, root in ((12, "√d_model"), (3, "√n_heads"), (1, "nothing")):
        words = f"The scores are divided by {root}: √d of one head was right."
        wrong[words] = _divided_by(x, matrices, 3, math.sqrt(divisor))
    return wrong


@exercise(5)
def mend_the_layer(function: Callable[..., Any]) -> str:
    """`function(x, w_q, w_k, w_v, w_o, n_heads)` must attend over x (b, n, d_model)."""
    x, matrices = numbers(2, 5, 12), tuple(numbers(4, 12, 12) / math.sqrt(12))
    found = tensor_of(called(function, x, *matrices, 3), (2, 5, 12))
    for words, wrong in _wrong_layers(x, matrices).items():
        if close(found, wrong):
            raise Mistake(words)
    if not close(found, _layer(x, matrices, 3)):
        raise Mistake("The output is wrong. Compare with multi_head of 8.3 for one sentence.")
    few = x[:1, :3]
    words = "With 3 heads it is right, with 2 it is not: use n_heads."
    again(called(function, few, *matrices, 2), _layer(few, matrices, 2), words)
    return "Split and merge each need their transposition: a view moves nothing."


@exercise(6)
def matrices_of(function: Callable[[nn.MultiheadAttention], Any]) -> str:
    """`function(theirs)` must return w_q, w_k, w_v and w_o, for x @ w, of PyTorch's layer."""
    with seeded(8):
        theirs = nn.MultiheadAttention(4, 2, bias=False, batch_first=True).double()
    theirs.requires_grad_(False)
    found = _four(called(function, theirs))
    rows = [*theirs.in_proj_weight.split(4), theirs.out_proj.weight]
    right = [row.T for row in rows]
    fits = [close(one, wanted) for one, wanted in zip(found, right, strict=True)]
    if all(fits):
        x = numbers(1, 3, 4)
        assert torch.allclose(_layer(x, tuple(found), 2), theirs(x, x, x)[0])
        return "One big matrix of three, stored as rows: now you can read PyTorch's layer."
    stored = [close(one, row) for one, row in zip(found, rows, strict=True)]
    if all(stored):
        raise Mistake("These are for W x: a Linear stores the transpose of the W in x W.")
    if all(fits[:3]) and stored[3]:
        raise Mistake("w_q, w_k and w_v are right; w_o is stored transposed too.")
    if all(stored[:3]) and fits[3]:
        raise Mistake("w_o is right; w_q, w_k and w_v are stored transposed too.")
    places = [i for one in found for i, wanted in enumerate(right) if close(one, wanted)]
    if sorted(places) == [0, 1, 2, 3]:
        raise Mistake("All four are there, in another order: in_proj_weight holds q, k, v.")
    if close(found[0], theirs.in_proj_weight.T.reshape(3, 4, 4)[0]):
        raise Mistake("A reshape mixed the three: cut in_proj_weight by rows, then transpose.")
    names = [name for name, fit in zip(("w_q", "w_k", "w_v", "w_o"), fits, strict=True) if not fit]
    raise Mistake(f"{', '.join(names)} not as in the layer: look at its state_dict.")


def _four(answer: Any) -> list[Tensor]:
    """The answer as four matrices, from a tuple, a list or one stacked tensor."""
    if isinstance(answer, Tensor) and answer.dim() == 3:
        answer = list(answer)
    if not isinstance(answer, (tuple, list)):
        raise Mistake("Return four matrices: w_q, w_k, w_v, w_o.")
    if len(answer) != 4:
        raise Mistake(
            f"Return four matrices: w_q, w_k, w_v, w_o. These are {len(answer)}: cut "
            "in_proj_weight along its axis of 3 · d_model."
        )
    return [tensor_of(one, (4, 4)) for one in answer]
