"""The checks of lecture 10, "The transformer block"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from attnlab.exercises import (
    Blank,
    Mistake,
    called,
    close,
    drawn,
    exercise,
    named,
    tensor_of,
    training,
    truths,
)

Layer = Callable[[Tensor], Tensor]


@exercise(3)
def sorting(answer: Any) -> str:
    """The answer (w_1, b_1, w_2, b_2): x + FFN(x) must be two numbers, the larger first."""
    shapes = ((2, 1), (1,), (1, 2), (2,))
    w_1, b_1, w_2, b_2 = _four(answer, shapes)
    x = torch.tensor([[3, 1], [1, 3], [2, 2], [-1, -4], [-5, 2]], dtype=torch.float64)
    x = torch.cat([x, drawn(20, 2)])
    network = torch.relu(x @ w_1 + b_1) @ w_2 + b_2
    found, first, second = x + network, x[:, :1], x[:, 1:]
    greater, less = torch.maximum(first, second), torch.minimum(first, second)
    wanted, turned = torch.cat([greater, less], 1), torch.cat([less, greater], 1)
    late = "The neuron fires where the two are in order already: which difference must it read?"
    off = found - wanted
    constant = close(off, off.mean(0).expand_as(off))
    named(
        found,
        wanted,
        (x, "Nothing is written: x comes out as it went in."),
        (turned, "The smaller comes first: wanted is the larger."),
        (2 * x - turned, late),
        (torch.cat([greater, second], 1), "The first is right. The second must give away as much."),
        (torch.cat([first, less], 1), "The second is right. The first must gain as much."),
        (
            torch.cat([greater, second + greater - first], 1),
            "What the first gains is added to both.",
        ),
        (2 * wanted - x, "Twice too much is moved: they change places, and more."),
        ((x + wanted) / 2, "Only half of what is wanted is moved."),
        otherwise="Right but for a constant: no bias is needed here."
        if constant
        else "For (1, 3) it must be (3, 1), and (3, 1) must stay. What changes, by how much?",
    )
    return "One neuron is enough, because the sum carries what need not change."


def _four(answer: Any, shapes: tuple[tuple[int, ...], ...]) -> list[Tensor]:
    """The weights of a network, (w_1, b_1, w_2, b_2), each of its shape."""
    if answer is None or answer is ...:
        raise Blank
    if not isinstance(answer, tuple | list) or len(answer) != 4:
        raise Mistake("Four things were wanted: `w_1, b_1, w_2, b_2`.")
    if any(part is ... or part is None for part in answer):
        raise Blank
    return [tensor_of(part, shape) for part, shape in zip(answer, shapes, strict=True)]


def _parts() -> tuple[Layer, Layer, Layer]:
    """Return attention, a feed-forward network and a norm."""
    w, v, gain = drawn(4, 4), drawn(4, 4), drawn(4)

    def attend(x: Tensor) -> Tensor:
        return torch.softmax(x @ w @ x.mT / 2, -1) @ x @ v

    def ffn(x: Tensor) -> Tensor:
        return torch.relu(x @ v + 1) @ w

    def norm(x: Tensor) -> Tensor:
        return functional.layer_norm(x, (4,), gain)

    return attend, ffn, norm


@exercise(4)
def position_wise(function: Callable[[Layer, Tensor], Any]) -> str:
    """`function(layer, x)` must say whether each token is transformed by itself."""
    attend, ffn, norm = _parts()
    x = drawn(5, 4)

    def earlier(x: Tensor) -> Tensor:  # like causal attention with even weights
        return x.cumsum(0) / torch.arange(1, len(x) + 1)[:, None]

    def later(x: Tensor) -> Tensor:
        return earlier(x.flip(0)).flip(0)

    def placed(x: Tensor) -> Tensor:
        return x + torch.arange(len(x))[:, None]

    def middle(x: Tensor) -> Tensor:  # position-wise at both ends
        inner = x[1:-1] if len(x) > 2 else x[:0]
        return torch.cat([x[:1], inner.cumsum(0), x[1:][-1:]])

    def end(x: Tensor) -> Tensor:  # position-wise but for the last token
        return torch.cat([x[:-1], x.mean(0, keepdim=True)])

    def standard(x: Tensor) -> Tensor:
        return (x - x.mean(0)) / x.std(0, correction=0).clamp(min=1e-3)

    cases = (
        (ffn, True, "the feed-forward network is, and you say it is not"),
        (norm, True, "LayerNorm is, over the features of one token, and you say it is not"),
        (
            attend,
            False,
            "attention is not: that permuting the tokens permutes its rows is less",
        ),
        (earlier, False, "a mean over the past is not, though its first row looks as if it were"),
        (later, False, "a mean over the future is not, though its last row looks as if it were"),
        (standard, False, "a StandardScaler is not: its means run over the tokens"),
        (middle, False, "it mixes the tokens between the first and the last; look at all of them"),
        (end, False, "it mixes all tokens into the last; look at all of them"),
        (placed, False, "adding positions is not: the same token comes out otherwise elsewhere"),
    )
    answers = truths(function, [(layer, x) for layer, _, _ in cases])
    for answer, (_, wanted, words) in zip(answers, cases, strict=True):
        if answer != wanted:
            raise Mistake(f"Wrong for one layer: {words}.")
    return "Alone or in company, a token comes out the same: that is position-wise."


@exercise(5)
def without_a_part(function: Callable[[], Any]) -> str:
    """`function()` must return 4 losses: whole, without the sums, the norms, the networks."""
    with training() as at_least:
        found = tensor_of(called(function), (4,))
    whole, no_sum, no_norm, no_network = found.tolist()
    if whole > 9:
        raise Mistake("These look like perplexities: return the losses themselves.")
    if not whole < 3.8:
        raise Mistake(
            f"With all parts {whole:.2f} is too high: average the last 20 losses of 100 steps."
        )
    if whole < 3.1:
        raise Mistake(f"With all parts {whole:.2f} is too low for 100 steps of this recipe.")
    if bool((found[1:] - found[0]).abs().max() < 1e-6):
        raise Mistake("All four agree: hand your own class to `trained` by its argument `kind`.")
    if no_sum < 4.2 < no_network:
        raise Mistake("The order is: all parts, without sums, without norms, without networks.")
    if no_sum < 4.2:
        raise Mistake("Without the sums it learns all the same: return part(norm(x)) alone.")
    if no_norm < 4.2:
        raise Mistake("Without the norms it learns all the same: is there a norm left in a block?")
    if not no_network < 3.85:
        raise Mistake(
            "Without the networks it learns nearly as before: where the network was, x must go on "
            "as it is, not normalised and not as 0."
        )
    at_least(300)
    return (
        "Without sums or without norms eight blocks learn little more than how frequent each word "
        "is. Without the networks they learn nearly as much, in these 100 steps."
    )
