"""A small model that learns to copy: attention alone, in one layer or two, and the texts it reads.

    model = AttentionOnly(layers=2)
    history = train(model, lambda epoch: [repeating(16, seed=epoch)], copy_loss,
                    steps=800, lr=5e-3, optimizer=ADAMW, clip=None)

A text repeats itself with a period that no other text need share, so that no fixed distance helps:
what follows a symbol is what followed it before. ``attnlab.widgets`` has the same model in the
page, ``TrainHere``; a test compares the gradients of both.
"""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attnbook.multihead import MultiHeadAttention
from attnbook.positions import Rotary
from attnlab import _check

ADAMW = partial(torch.optim.AdamW, weight_decay=0.01)


class AttentionOnly(nn.Module):
    """Guess each next symbol of a text by layers of attention on a residual path, and nothing else.

    x_0 = E[symbols],   x_{l+1} = x_l + attention_l(x_l),   logits = x_L U

    Causal heads with rotary positions; no biases, no norm, no feed-forward network. The parameters
    are ``embed``, ``layers`` and ``output``: 5,184 of them as it stands. ``smeared`` mixes each key
    with the previous symbol's, (1 − s) k_j + s k_j−1, the same s at all places; each head learns
    its own, as the logit in ``smears``.

    Shapes: symbols (b, n) → logits (b, n, symbols).
    Raises: ValueError where ``heads`` does not divide ``d``, or d / heads is odd.
    Source: Elhage et al. (2021); of smeared keys, Olsson et al. (2022).
    """

    def __init__(
        self,
        symbols: int = 12,
        d: int = 24,
        *,
        layers: int = 2,
        heads: int = 1,
        smeared: bool = False,
    ) -> None:
        super().__init__()
        _check.sizes(symbols=symbols, layers=layers)
        self.embed = nn.Embedding(symbols, d)
        self.layers = nn.ModuleList(
            MultiHeadAttention(d, heads, rope=Rotary(d // heads), bias=False) for _ in range(layers)
        )
        self.output = nn.Linear(d, symbols, bias=False)
        if smeared:
            self.smears = nn.ParameterList(torch.zeros(heads, 1) for _ in range(layers))
            pairs: Any = zip(self.layers, self.smears, strict=True)
            for layer, smear in pairs:
                layer.qkv.register_forward_hook(partial(_smear, smear))

    def forward(self, symbols: Tensor) -> Tensor:
        """Return the logits of what comes after each symbol."""
        return self.output(self.states(symbols)[-1])

    def states(self, symbols: Tensor) -> list[Tensor]:
        """Return the residual path before the first layer and after each: (b, n, d) each."""
        x = [self.embed(symbols)]
        for layer in self.layers:
            x.append(x[-1] + layer(x[-1], causal=True))
        return x

    @torch.no_grad()
    def weights(self, symbols: Tensor) -> Tensor:
        """Return what every head attends to: (layers, b, h, n, n)."""
        layers: Any = self.layers
        pairs = zip(layers, self.states(symbols)[:-1], strict=True)
        return torch.stack([layer.weights(x, causal=True) for layer, x in pairs])


@contextmanager
def without(model: AttentionOnly, heads: Iterable[tuple[int, int]]) -> Generator[None]:
    """Put zeros where some heads, (layer, head) each, have their outputs, inside the block.

    Raises: ValueError for a layer or a head that does not exist.
    """
    layers: Any = model.layers
    handles = []
    try:
        for layer, head in heads:
            _check.indices("layer", [layer], len(layers))
            _check.indices("head", [head], layers[layer].n_heads)
            hook = layers[layer].attend.register_forward_hook(partial(_silence, head))
            handles.append(hook)
        yield
    finally:
        for handle in handles:
            handle.remove()


def _smear(smear: Tensor, _: nn.Module, __: Any, output: Tensor) -> Tensor:
    query, key, value = output.chunk(3, dim=-1)
    key = key.unflatten(-1, (len(smear), -1))  # (b, n, h, d / h)
    previous = torch.cat([key[:, :1], key[:, :-1]], dim=1)  # before the first stands itself
    mixed = torch.lerp(key, previous, smear.sigmoid())
    return torch.cat([query, mixed.flatten(2), value], dim=-1)


def _silence(head: int, _: nn.Module, __: Any, output: Tensor) -> Tensor:
    keep = torch.ones(output.shape[1], 1, 1, dtype=output.dtype)
    keep[head] = 0
    return output * keep  # (b, h, n, d)


def repeating(
    count: int,
    length: int = 20,
    *,
    symbols: int = 12,
    periods: tuple[int, int] = (4, 9),
    seed: int = 0,
) -> Tensor:
    """Draw texts that repeat themselves: (count, length + 1) symbols, the last one only a target.

    Of each text the period is drawn from the least to the greatest of ``periods``, both included,
    then so many symbols, each any of all; they are said again and again.

    Raises: ValueError for a count, a length or a number of symbols below 1, or periods that are not
    two whole numbers from 1 up that do not fall.
    """
    _check.sizes(count=count, length=length, symbols=symbols)
    low, high = periods
    _check.whole_number("periods[0]", low, at_least=1)
    _check.whole_number("periods[1]", high, at_least=low)
    generator = torch.Generator().manual_seed(seed)
    period = torch.randint(low, high + 1, (count, 1), generator=generator)
    said = torch.randint(symbols, (count, high), generator=generator)
    return said.gather(1, torch.arange(length + 1) % period)


def copy_loss(model: nn.Module, texts: Tensor) -> Tensor:
    """Return the mean −log p of each next symbol of texts (b, n + 1)."""
    logits = model(texts[:, :-1])
    return cross_entropy(logits.flatten(0, 1), texts[:, 1:].flatten())


def stood_before(symbols: Tensor) -> Tensor:
    """Return where a symbol (b, n) has stood earlier in its text: a boolean (b, n)."""
    return (symbols[:, :, None] == symbols[:, None, :]).tril(-1).any(dim=-1)


class Right(NamedTuple):
    """The share of right guesses where the present symbol has stood before, and where not."""

    before: float
    new: float


@torch.no_grad()
def share_right(model: nn.Module, texts: Tensor) -> Right:
    """Count how often the most likely symbol is the next one of texts (b, n + 1).

    A share of no place at all is NaN.
    """
    hit = model(texts[:, :-1]).argmax(dim=-1) == texts[:, 1:]
    known = stood_before(texts[:, :-1])
    return Right(*(hit[part].double().mean().item() for part in (known, ~known)))


class HeadScores(NamedTuple):
    """Two mean weights of every head, (layers, h) each."""

    previous: Tensor
    came_next: Tensor


def head_scores(weights: Tensor, symbols: Tensor) -> HeadScores:
    """Return how much each head gives to the previous symbol, and to what came next before.

    previous: the mean of α_i,i−1 over all i ≥ 1;
    came next: where symbol i has stood before, the mean of Σ α_ij over all j ≤ i whose previous
    symbol, j − 1, is the same as symbol i.

    Shapes: weights (layers, b, h, n, n), symbols (b, n).
    """
    previous = weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=(1, 3))
    same = (symbols[:, :, None] == symbols[:, None, :]).tril(-1)  # symbol i at an earlier j
    follows = same.roll(1, dims=-1).to(weights.dtype)  # (b, n, n): j − 1 holds symbol i
    given = (weights * follows[None, :, None]).sum(dim=-1)  # (layers, b, h, n)
    known = same.any(dim=-1)
    return HeadScores(previous, given.transpose(1, 2)[:, :, known].mean(dim=-1))
