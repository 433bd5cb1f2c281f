"""Drawing one token per row: chance that belongs to a sentence, and a distribution cut short."""

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from attnbook import _check


def check(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """Raise ``ValueError`` unless the three can shape a distribution."""
    _check.positive("temperature", temperature)
    if top_k is not None:
        _check.whole_number("top_k", top_k, at_least=1)
    if top_p is not None and not (_check.is_number(top_p) and 0 < top_p <= 1):
        raise ValueError(f"top_p must be above 0 and at most 1: it is {top_p!r}")


def draws(generator: Generator | Sequence[Generator] | None, b: int, n: int) -> Tensor:
    """Return n numbers from [0, 1) for each of b sentences, (b, n), on the CPU.

    Raises: ValueError for another number of generators than sentences.
    """
    if generator is None or isinstance(generator, Generator):
        device = "cpu" if generator is None else generator.device
        # one by one: a sentence's seed must not hang on how many come after it
        seeds = [torch.randint(2**62, (), generator=generator, device=device) for _ in range(b)]
        generator = [Generator().manual_seed(int(seed)) for seed in seeds]
    if len(generator) != b:
        raise ValueError(
            f"generator must be one, or one for each of the {b} sentences: there are "
            f"{len(generator)}"
        )
    rows = [torch.rand(n, generator=g, device=g.device, dtype=torch.float64) for g in generator]
    return torch.stack([row.cpu() for row in rows])


def pick(
    log_p: Tensor, draw: Tensor, temperature: float, top_k: int | None, top_p: float | None
) -> Tensor:
    """Return the token of each row at which the probabilities, added up, pass its ``draw``.

    Shapes: log_p (b, vocabulary), draw (b,) from [0, 1); returns (b,).
    """
    ordered, tokens = log_p.sort(dim=-1, descending=True, stable=True)
    # below this float32 would divide 0 by 0; the greatest are alone already
    temperature = max(temperature, torch.finfo(torch.float32).tiny)
    p = ((ordered - ordered[:, :1]) / temperature).softmax(dim=-1)
    p = _cut(p, top_k, top_p)
    so_far = p.cumsum(dim=-1)  # (b, vocabulary)
    rank = torch.searchsorted(so_far, draw[:, None].to(p) * so_far[:, -1:], right=True)
    # rounding may lead beyond the last; a row of NaN has none, and is refused afterwards
    last = ((p > 0).sum(dim=-1, keepdim=True) - 1).clamp(min=0)
    return tokens.gather(1, rank.minimum(last))[:, 0]


def _cut(p: Tensor, top_k: int | None, top_p: float | None) -> Tensor:
    """Set p (b, vocabulary), sorted, to 0 behind the first k, and behind those that reach top_p."""
    rank = torch.arange(p.shape[-1], device=p.device)
    if top_k is not None:
        p = p.masked_fill(rank >= top_k, 0)
    if top_p is None or top_p == 1:
        return p
    before = p.cumsum(dim=-1) - p  # what the more probable tokens have together
    return p.masked_fill(before >= top_p * p.sum(dim=-1, keepdim=True), 0)
