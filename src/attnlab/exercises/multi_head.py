"""The checks of lecture 8, "Multi-head attention"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import torch
from ipywidgets import interactive  # pyright: ignore[reportMissingTypeStubs]
from torch import Tensor, nn

from attnbook.attention import attention
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
    uniform,
    whole,
)
from attnlab.pictures import Picture
from attnlab.training.seeds import seeded

Matrices = tuple[Tensor, Tensor, Tensor, Tensor]


def right_split(x: Tensor, n_heads: int) -> Tensor:
    """(…, n, d_model) → (…, h, n, d)."""
    return x.unflatten(-1, (n_heads, -1)).transpose(-2, -3)


def right_merge(heads: Tensor) -> Tensor:
    """(…, h, n, d) → (…, n, h · d)."""
    return heads.transpose(-2, -3).flatten(-2)


def _matrices(d_model: int) -> Matrices:
    w_q, w_k, w_v, w_o = drawn(4, d_model, d_model) / math.sqrt(d_model)
    return w_q, w_k, w_v, w_o


def _shares(x: Tensor, matrices: Matrices, n_heads: int, divisor: float | None = None) -> Tensor:
    """What each head adds to the output of the layer, (h, n, d_model)."""
    query, key, value = (right_split(x @ w, n_heads) for w in matrices[:3])
    divisor = math.sqrt(query.shape[-1]) if divisor is None else divisor
    weights = torch.softmax(query @ key.mT / divisor, dim=-1)
    return weights @ value @ matrices[3].unflatten(0, (n_heads, -1))


def _of_slices(x: Tensor, matrices: Matrices, n_heads: int) -> Tensor:
    """The shares where each head reads its own slice of the input alone."""
    d = x.shape[-1] // n_heads
    found = []
    for i in range(n_heads):
        own = slice(i * d, (i + 1) * d)
        parts = (x[:, own] @ w[own, own] for w in matrices[:3])
        found.append(attention(*parts).output @ matrices[3][own])
    return torch.stack(found)


@exercise(1)
def shares_of_the_heads(function: Callable[..., Any]) -> str:
    """`function(x, w_q, w_k, w_v, w_o, n_heads)` must return what each head adds, (h, n, d_model).

    x is (n, d_model), the matrices are (d_model, d_model); the sum over the heads is the layer.
    """
    x, matrices = drawn(4, 6), _matrices(6)
    answer, right = called(function, x, *matrices, 2), _shares(x, matrices, 2)
    if isinstance(answer, Tensor) and tuple(answer.shape) == (4, 6):
        if close(answer.double(), right.sum(0)):
            raise Mistake("That is the whole layer, the sum. Wanted is the share of each head.")
        raise Mistake("Wanted are h outputs, one for each head, of shape (2, 4, 6).")
    if isinstance(answer, Tensor) and tuple(answer.shape) == (2, 4, 3):
        raise Mistake("These are the heads before W^O: each meets its own rows of W^O.")
    found = tensor_of(answer, (2, 4, 6))
    columns = (*matrices[:3], matrices[3].T.contiguous())
    right_sum = close(found.sum(0), right.sum(0))
    named(
        found,
        right,
        (right.flip(0), "Head 0 owns the first d rows of W^O: the order is reversed."),
        (_shares(x, columns, 2), "You took columns of W^O: a head meets its own rows."),
        (
            right.sum(0).expand(2, 4, 6) / 2,
            "Each head gets an equal part of the sum here, and no head adds that.",
        ),
        (
            _of_slices(x, matrices, 2),
            "Each head reads its slice of x alone: it reads all of x, by its own columns.",
        ),
        (
            _shares(x, matrices, 2, math.sqrt(6)),
            "The scores are divided by √d_model: √d of one head was right.",
        ),
        otherwise="The sum is the layer's output, and its parts are not the heads'."
        if right_sum
        else "The sum over the heads is not the output of the layer in 8.3.",
    )
    x, matrices = drawn(5, 12), _matrices(12)
    try:
        answer = tensor_of(called(function, x, *matrices, 3), (3, 5, 12))
        same = close(answer, _shares(x, matrices, 3))
    except Mistake:
        same = False
    if not same:
        raise Mistake("With 2 heads it is right, with 3 it is not: use n_heads.")
    return "A layer is a sum over its heads: to remove one, leave out its share."


@exercise(2)
def without_mixing(function: Callable[[], Any]) -> str:
    """`function()` must train two heads without W^O and return 8 shares lost, one a component."""
    with training() as at_least:
        found = tensor_of(called(function), (8,))
    if not bool(torch.isfinite(found).all()) or bool((found < 0).any()):
        raise Mistake("A mean of squares is never negative: square before you average.")
    if bool((found < 0.05).all()):
        raise Mistake("Nothing is lost: W^O is still there. Build the layer by `unmixed`.")
    if bool((found > 0.15).all()):
        raise Mistake("All components lose much: that is one head. Wanted are two.")
    if bool((found - found[0]).abs().max() < 1e-6):
        raise Mistake("All eight agree: average over sentences and words, not over components.")
    worst, rest = int(found.argmax()), found.sort().values[:-1]
    if worst != 4 or found[4] < 0.4 or bool((rest > 0.15).any()):
        shown = ", ".join(f"{share:.2f}" for share in found.tolist())
        raise Mistake(f"Wanted are the shares of the task `both`, without W^O: these are {shown}.")
    at_least(500)
    return (
        "One component is lost, the fifth: it belongs to the word before, and lies among the five "
        "components of the head that fetches the governor. W^O would move it there."
    )


class Draft(nn.Module):
    """The layer that exercise 3 has mended, as it stands in the lecture: it holds three faults."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads, self.d = n_heads, d_model // n_heads
        self.fc_q, self.fc_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.fc_v, self.fc_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def outputs(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """What the mended layer computes, for a boolean mask (b, n), True = may be seen."""
        split = (right_split(fc(x), self.n_heads) for fc in (self.fc_q, self.fc_k, self.fc_v))
        query, key, value = split
        heads, n = self.n_heads, x.shape[1]
        seen = None if mask is None else mask[:, None, None].expand(-1, heads, n, -1)
        return self.fc_o(right_merge(attention(query, key, value, seen).output))


@exercise(3)
def mend_the_layer(layer: Any) -> str:
    """`layer(d_model, n_heads)` must build the draft without its three faults."""
    if layer is None or layer is ...:
        raise Blank
    if not (isinstance(layer, type) and issubclass(layer, nn.Module)):
        raise Mistake("A class was wanted: mend the draft and hand over its name.")
    mended, right = _with_same_weights(layer)
    x = drawn(2, 5, 12)
    may = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0]]).bool()
    with torch.no_grad():
        found, again = (mended(x, may).nan_to_num() for _ in range(2))
        if not close(found, again):
            raise Mistake(
                "In evaluation mode the same sentence gives two outputs: the function dropout "
                "does not know of eval(). The module nn.Dropout does."
            )
        if close(found, right.outputs(x, ~may)):
            raise Mistake("The mask is the wrong way round: True means may be seen.")
        if not close(mended(x, torch.ones_like(may)), right.outputs(x)):
            raise Mistake("Where all may be seen the numbers differ from the draft's.")
        if not close(found, right.outputs(x, may)):
            raise Mistake("With padding the words do not see the words alone.")
        try:
            free = mended(x)
        except TypeError as error:
            raise Mistake(f"Without a mask the layer fails: {error}.") from error
        if not close(free, right.outputs(x)):
            raise Mistake("Without a mask every word should see every word.")
        try:
            halves = layer(12, 4).half().eval()(x.half(), may)
        except RuntimeError as error:
            raise Mistake(f"In half precision the layer fails: {error}.") from error
        if not bool(halves.isfinite().all()):
            raise Mistake("In half precision the output is not finite.")
    if not _drops(layer):
        raise Mistake("In training nothing is dropped any more: dropout belongs there.")
    return (
        "Dropout outside training, a mask whose meaning nobody wrote down, a constant that half "
        "precision cannot hold: none of the three changes a shape."
    )


def _with_same_weights(layer: Any) -> tuple[nn.Module, Draft]:
    with seeded(int(whole(0, 1_000_000))):
        right = Draft(12, 4).double()
        mended = layer(12, 4)
    try:
        mended.double().load_state_dict(right.state_dict())
    except (RuntimeError, AttributeError) as error:
        raise Mistake(
            "Its parameters are not the draft's fc_q, fc_k, fc_v and fc_o: mend this layer, "
            "instead of taking another."
        ) from error
    return mended.eval(), right


def _drops(layer: Any) -> bool:
    """Whether the layer drops weights in training."""
    with seeded(8), torch.no_grad():
        training = layer(12, 4).double().train()
        x = drawn(4, 9, 12)
        may = torch.ones(4, 9).bool()
        return not close(training(x, may), training(x, may))


def _maps(temperature: float) -> Tensor:
    """The weights of the two heads of section 8.3, (2, 3, 3)."""
    keys = torch.tensor([[1, 0], [0, 1], [-1, -1]], dtype=torch.float64)
    queries = 6 * torch.stack([keys[[0, 2, 0]], keys[[0, 0, 1]]])
    return torch.softmax(queries @ keys.T / math.sqrt(2) / temperature, dim=-1)


@exercise(4)
def explorer(function: Callable[[], Any]) -> str:
    """`function()` must return what `interact` makes of a map of one head's weights."""
    with patch("ipywidgets.widgets.interaction.display"):  # `interact` shows what it has made
        made = called(function)
    controls = getattr(made, "widget", made)
    if not isinstance(controls, interactive):
        raise Mistake("Return what `interact(my_map, head=…, temperature=…)` gives you.")
    ranges = {
        one.description: (getattr(one, "min", None), getattr(one, "max", None))
        for one in controls.kwargs_widgets
    }
    if ranges != {"head": (0, 1), "temperature": (0.25, 4)}:
        raise Mistake(f"Wanted are sliders for head, 0 to 1, and temperature, 0.25 to 4: {ranges}.")

    def maps(temperature: float) -> Tensor:
        pictures = [controls.f(head=head, temperature=temperature) for head in (0, 1)]
        if not all(isinstance(picture, Picture) for picture in pictures):
            raise Mistake("my_map must return the picture that heatmap(weights, tokens) makes.")
        shown = [picture.figure.axes[0].images[0].get_array() for picture in pictures]
        return torch.stack([torch.tensor(one) for one in shown])

    low, high = float(uniform(0.3, 0.8)), float(uniform(1.5, 3.5))
    right, wrong = _maps(low), "At some temperature the map is not that of the head's weights."
    named(
        maps(low),
        right,
        (_maps(1), "The temperature changes nothing: divide the query by it."),
        (_maps(1 / low), "You multiply by the temperature: a low one must make a map sharper."),
        (right.mT, "The map is turned: a row is a query, a column a key."),
        (right.flip(0), "The heads have changed places."),
        (right.mean(dim=0).expand(2, 3, 3), "Both maps are the mean of the two heads."),
        (right[:1].expand(2, 3, 3), "Both maps are head 0's: use the slider's head."),
        otherwise=wrong,
    )
    named(maps(high), _maps(high), otherwise=wrong)
    return "Ten lines make a live picture. It needs a running Python; this book's need none."
