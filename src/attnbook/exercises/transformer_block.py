"""The checks of lecture 10, "The transformer block"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from attnbook.exercises import Mistake, called, close, exercise, named, tensor_of

Layer = Callable[[Tensor], Tensor]


def random(*shape: int, seed: int = 10) -> Tensor:
    """Draw normal numbers in float64, the same each time."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


@exercise(1)
def layer_norm(function: Callable[[Tensor, Tensor, Tensor, float], Any]) -> str:
    """`function(x, gain, bias, eps)` must normalise each vector of x (b, n, d)."""
    x, gain, bias, eps = random(2, 3, 4) + 1, random(4, seed=1), random(4, seed=2), 0.1
    found = tensor_of(called(function, x, gain, bias, eps), (2, 3, 4))
    away, variance = x - x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
    unbiased, root = x.var(-1, keepdim=True), (variance + eps).sqrt()
    down = (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True, correction=0) + eps).sqrt()
    everything = (x - x.mean()) / (x.var(correction=0) + eps).sqrt()
    bessel = "The variance divides by d − 1 (Bessel): PyTorch's var and std need correction=0."
    outside = "eps stands outside the root: √(variance + eps), not √variance + eps."
    named(
        found,
        (gain * away / (unbiased + eps).sqrt() + bias, bessel),
        (gain * away / (unbiased.sqrt() + eps) + bias, f"Two things. {bessel} And {outside}"),
        (gain * away / (variance.sqrt() + eps) + bias, outside),
        (gain * away / (variance + eps) + bias, "You divided by the variance: take its root."),
        (gain * away / variance.sqrt() + bias, "eps is missing: a vector like (1, 1, 1) is 0/0."),
        (gain * down + bias, "You normalised each feature over the tokens: dim=-1 is wanted."),
        (gain * everything + bias, "One mean for all tokens: each vector has its own, dim=-1."),
        (gain * x / root + bias, "The mean is still in: x − mean goes over the root."),
        (away / root, "Gain and bias are missing: each of the d features has its own."),
        (gain * (away / root + bias), "The gain multiplies the bias too: gain · x̂ + bias."),
    )
    if not close(found, functional.layer_norm(x, (4,), gain, bias, eps)):
        raise Mistake("The numbers are wrong. Begin with (2, 1, 0), gain 1, bias 0, eps 0.")
    return "It equals nn.LayerNorm, also where eps is large enough to be seen."


@exercise(2)
def parameters(function: Callable[[int, int], Any]) -> str:
    """`function(d, d_ff)` must count the parameters of an encoder block, biases and norms too."""
    sizes = ((512, 2048), (384, 1536), (3, 7))
    found = [called(function, *size) for size in sizes]

    def all_of(count: Callable[[int, int], int]) -> list[int]:
        return [count(*size) for size in sizes]

    _counted(
        found,
        (lambda d, f: 4 * d * d + 2 * d * f, "Biases and norms have parameters too."),
        (lambda d, f: 4 * d * d + 2 * d * f + 4 * d, "Each of the six matrices has its bias."),
        (_without_norms, "The two norms are missing: d gains and d biases each."),
        (lambda d, f: _without_norms(d, f) + 2 * d, "There are two norms in a block, not one."),
        (
            lambda d, f: _without_norms(d, f) + 4 * d - d * d - d,
            "Attention has four matrices: W_Q, W_K, W_V, and W_O that mixes the heads.",
        ),
        (lambda d, f: _without_norms(d, f) + 4 * d - f, "The widening layer has d_ff biases."),
        (lambda d, f: _whole(d, 4 * d), "You took d_ff = 4 d: use the d_ff that is given."),
        (
            lambda d, f: _whole(d, f) - d * f - d,
            "The feed-forward network has two matrices: it widens, then narrows.",
        ),
        names=sizes,
    )
    if found != all_of(_whole):
        raise Mistake(f"For d = 3 and d_ff = 7 there are {_whole(3, 7)}, you say {found[-1]}.")
    return "At 512 and 2048 two thirds of them are the feed-forward network's."


def _without_norms(d: int, d_ff: int) -> int:
    return 4 * d * d + 4 * d + 2 * d * d_ff + d_ff + d


def _whole(d: int, d_ff: int) -> int:
    return _without_norms(d, d_ff) + 4 * d


def _counted(found: list[Any], *mistakes: tuple[Any, str], names: Any) -> None:
    for count, words in mistakes:
        if found == [count(*size) for size in names]:
            raise Mistake(words)


@exercise(3)
def block(function: Callable[..., Any]) -> str:
    """`function(x, attend, ffn, norm_1, norm_2, pre)` must be an encoder block, (n, d)."""
    x, (attend, ffn, norm_1, norm_2) = random(3, 4), _parts()
    for pre in (True, False):
        found = tensor_of(called(function, x, attend, ffn, norm_1, norm_2, pre), (3, 4))
        half = x + attend(norm_1(x)) if pre else norm_1(x + attend(x))
        wanted = half + ffn(norm_2(half)) if pre else norm_2(half + ffn(half))
        other = _post(x) if pre else _pre(x)
        where = "pre=True" if pre else "pre=False"
        normed = norm_1(x) + attend(norm_1(x))
        same = half + ffn(norm_1(half)) if pre else norm_1(half + ffn(half))
        inside = x + norm_1(attend(x))
        named(
            found,
            (other, f"With {where} you computed the other kind: pre is x + part(norm(x))."),
            (
                normed + ffn(norm_2(normed)),
                "You add to norm(x). The sum must start from x: this puts each norm in its way.",
            ),
            (
                norm_2(normed) + ffn(norm_2(normed)),
                "You add to norm(x). The sum must start from x: this puts each norm in its way.",
            ),
            (ffn(norm_2(attend(norm_1(x)))), f"With {where} no sum is left: add each part to x."),
            (norm_2(ffn(norm_1(attend(x)))), f"With {where} no sum is left: add each part to x."),
            (same, "The second part has a norm of its own, norm_2: you used norm_1 twice."),
            (
                x + attend(norm_1(x)) + ffn(norm_2(x)),
                "Both parts read the block's x: the second must read what the first left.",
            ),
            (inside + norm_2(ffn(inside)), "You normalise what is added: pre is part(norm(x))."),
            (half, "The feed-forward network is missing."),
        )
        if not close(found, wanted):
            raise Mistake(f"With {where} it is wrong. Write out both lines for that case.")
    return "Two lines, two kinds, and the same parameters."


def _parts() -> tuple[Layer, Layer, Layer, Layer]:
    """Return attention, feed-forward network and two norms with gains of their own."""
    w, v = random(4, 4, seed=3), random(4, 4, seed=4)

    def attend(x: Tensor) -> Tensor:
        return torch.softmax(x @ w @ x.mT / 2, -1) @ x @ v

    def ffn(x: Tensor) -> Tensor:
        return torch.relu(x @ v + 1) @ w

    def norm_1(x: Tensor) -> Tensor:
        return functional.layer_norm(x, (4,), random(4, seed=5))

    def norm_2(x: Tensor) -> Tensor:
        return functional.layer_norm(x, (4,), random(4, seed=6))

    return attend, ffn, norm_1, norm_2


def _pre(x: Tensor) -> Tensor:
    attend, ffn, norm_1, norm_2 = _parts()
    x = x + attend(norm_1(x))
    return x + ffn(norm_2(x))


def _post(x: Tensor) -> Tensor:
    attend, ffn, norm_1, norm_2 = _parts()
    x = norm_1(x + attend(x))
    return norm_2(x + ffn(x))


@exercise(4)
def position_wise(function: Callable[[Layer, Tensor], Any]) -> str:
    """`function(layer, x)` must say whether each token is transformed by itself."""
    attend, ffn, norm, _ = _parts()
    x = random(5, 4)

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
    answers = [called(function, layer, x) for layer, _, _ in cases]
    if not all(isinstance(answer, bool) for answer in answers):
        raise Mistake("Return True or False.")
    for answer, (_, wanted, words) in zip(answers, cases, strict=True):
        if answer != wanted:
            raise Mistake(f"Wrong for one layer: {words}.")
    return "Alone or in company, a token comes out the same: that is position-wise."


@exercise(5)
def two_neurons(answer: Any) -> str:
    """The answer (w_1, b_1, w_2, b_2) must make a network of two neurons that is |x_1 − x_2|."""
    if answer is None or answer is ...:
        called(lambda: answer)
    if not isinstance(answer, tuple | list) or len(answer) != 4:
        raise Mistake("Four things were wanted: `w_1, b_1, w_2, b_2`.")
    if any(part is ... or part is None for part in answer):
        called(lambda: None)
    shapes = ((2, 2), (2,), (2, 1), (1,))
    w_1, b_1, w_2, b_2 = (tensor_of(part, s) for part, s in zip(answer, shapes, strict=True))
    x = torch.tensor([[3, 1], [1, 3], [2, 2], [-1, -4], [-5, 2]], dtype=torch.float64)
    x = torch.cat([x, random(20, 2)])

    def network(x: Tensor) -> Tensor:
        return (torch.relu(x @ w_1 + b_1) @ w_2 + b_2)[:, 0]

    found = network(x)
    difference = x[:, 0] - x[:, 1]
    one = "Right where x_1 {} x_2, and 0 elsewhere: the second neuron must fire there."
    named(
        found,
        (difference, "This is x_1 − x_2, which can be negative: add what the neurons say."),
        (-difference, "This is x_2 − x_1, which can be negative: add what the neurons say."),
        (difference.relu(), one.format("exceeds")),
        ((-difference).relu(), one.format("is below")),
        (-difference.abs(), "The sign is turned: both rows of w_2 are positive."),
        (2 * difference.abs(), "Twice too much."),
        (difference.abs() / 2, "Half of what is wanted."),
    )
    off = found - difference.abs()
    if close(off, off.mean().expand_as(off)) and not close(off, torch.zeros_like(off)):
        raise Mistake("Right but for a constant: no bias is needed here.")
    if not close(found[:5], difference[:5].abs()):
        raise Mistake("For (3, 1) and (1, 3) it must be 2. What must each neuron read?")
    if not close(found, difference.abs()):
        raise Mistake("Right for some whole numbers only. What must each neuron read?")
    # beyond every threshold that a bias can have set
    far = 1_000 * (1 + (b_1.abs() / w_1.norm(dim=0).clamp(min=1e-6)).max())
    if not close(network(far * x) / far, difference.abs()):
        raise Mistake("Right near 0 only, and wrong for large numbers: no bias is needed.")
    return "On bits it is the exclusive or, which no matrix and no average can compute."
