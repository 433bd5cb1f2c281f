"""Whether a training hangs on rounding: then another processor prints other numbers.

A processor adds in its own order, so that its weights are soon 1e-7 of their size away from those
of another. Most trainings forget that; some double it with every step, until nothing that they end
with is more than a draw. Which of the two a training is, one more run tells, on one machine::

    steady(lambda: train(model(seed=0), batches, steps=500, lr=3e-3), unit=0.01)

The second run begins with each weight multiplied by 1 + 1e-7 or 1 - 1e-7. What is compared is the
losses of the last tenth of the steps: the last loss alone can agree by chance. A training that is
not steady becomes so with a lower rate, or one that falls: Adam at 0.01 with a warm-up and a cosine
where a constant 0.01 is not. Double precision, clipping and one thread are no cure.
"""

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook

from attnlab import _check

NUDGE = 1e-7  # of a weight's size: the last place of a float32


class Training(NamedTuple):
    """What one optimiser did: the loss of each of its steps, and where it was made."""

    losses: list[float]
    place: Any


class Unsteady(ValueError):
    """A training that ends elsewhere when its first weights differ by as little as rounding."""


def steady(run: Callable[[], object], *, unit: float = 0.01) -> list[float]:
    """Train twice, from weights a rounding apart; return how far apart the last losses are.

    ``run`` makes the model, trains it by an optimiser of torch, and begins anew at each call. For
    each training in it, in order: max |a − b| over the losses a, b of the last tenth of the steps.

    Raises: Unsteady, a ValueError, where one is more than half a ``unit``, the last place that is
    printed; ValueError for a unit that is not positive, and where ``run`` trains nothing or
    another number of models at its second call; TypeError where it is no function.
    """
    _check.positive("unit", unit)
    if not callable(run):
        raise TypeError(f"run must be a function that trains: it is a {type(run).__name__}")
    with watched() as first:
        run()
    with watched(NUDGE) as second:
        run()
    if not first or len(first) != len(second):
        raise ValueError(
            f"run must train the same models at each call: it trained {len(first)} and then "
            f"{len(second)}"
        )
    far = [apart(a.losses, b.losses) for a, b in zip(first, second, strict=True)]
    for number, one in enumerate(far, 1):
        if one > unit / 2:
            raise Unsteady(
                f"training {number} of {len(far)} hangs on rounding: first weights 1e-7 apart end "
                f"with losses {one:.2g} apart, {unit / 2:g} may be; lower its rate, or let it fall"
            )
    return far


def apart(a: Sequence[float], b: Sequence[float]) -> float:
    """Return max |a − b| over the last tenth of the steps; ∞ where one took more steps."""
    if len(a) != len(b):
        return math.inf
    last = slice(-max(1, len(a) // 10), None)
    return max((abs(x - y) for x, y in zip(a[last], b[last], strict=True)), default=0.0)


class _Watch(NamedTuple):
    found: list[Training]
    nudge: float
    place: Callable[[], Any]


_WATCHES: list[_Watch] = []  # the blocks that are open, the innermost last


@contextmanager
def watched(
    nudge: float = 0.0, *, seed: int = 0, place: Callable[[], Any] = lambda: None
) -> Generator[list[Training]]:
    """Record each training in the block: of every optimiser of torch the losses, step by step.

    With a ``nudge`` each of its weights is first multiplied by 1 + nudge or 1 - nudge, as
    ``seed`` draws. A loss is what ``backward`` was called on; a training that moves its weights
    by hand, with no optimiser, is not seen. ``place()`` says where an optimiser was made.
    """
    watch = _Watch([], nudge, place)
    draws = torch.Generator().manual_seed(seed)
    own: WeakKeyDictionary[Optimizer, Training] = WeakKeyDictionary()
    pending: list[float] = []
    begin, backward = Optimizer.__init__, Tensor.backward

    def begun(self: Optimizer, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        pending.clear()
        if _WATCHES and _WATCHES[-1] is watch:
            own[self] = Training([], place())
            watch.found.append(own[self])
        if nudge:
            for group in self.param_groups:
                for weight in group["params"]:
                    _multiply(weight, nudge, draws)

    def noted(self: Tensor, *args: Any, **kwargs: Any) -> None:
        if self.numel() == 1:
            pending.append(self.item())
        backward(self, *args, **kwargs)

    def stepped(optimizer: Optimizer, *_: Any) -> None:
        if optimizer in own:
            own[optimizer].losses.append(sum(pending))
        pending.clear()

    hook = register_optimizer_step_post_hook(stepped)
    Optimizer.__init__, Tensor.backward = begun, noted
    _WATCHES.append(watch)
    try:
        yield watch.found
    finally:
        _WATCHES.pop()
        Optimizer.__init__, Tensor.backward = begin, backward
        hook.remove()


def _multiply(weight: Tensor, nudge: float, draws: torch.Generator) -> None:
    signs = torch.randint(0, 2, weight.shape, generator=draws, dtype=weight.dtype) * 2 - 1
    with torch.no_grad():
        weight.mul_(1 + nudge * signs.to(weight.device))


@contextmanager
def unwatched() -> Generator[None]:
    """Leave out what is trained in the block: a beginning that only tells one run from another."""
    _WATCHES.append(_Watch([], nudged(), lambda: None))
    try:
        yield
    finally:
        _WATCHES.pop()


def nudged() -> float:
    """Return by how much first weights are being moved: 0 but in a ``watched`` block that does."""
    return _WATCHES[-1].nudge if _WATCHES else 0.0


def told(losses: Sequence[float]) -> None:
    """Record a training that was read from where it is kept, and not taken again."""
    if _WATCHES:
        _WATCHES[-1].found.append(Training(list(losses), _WATCHES[-1].place()))
