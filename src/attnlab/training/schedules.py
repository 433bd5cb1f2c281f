"""Learning-rate schedules: pure functions from a step, counted from 1, to a factor of the rate."""

import math
from collections.abc import Callable

from attnlab import _check

Schedule = Callable[[int], float]


def constant(warmup: int = 0) -> Schedule:
    """Rise in a straight line for ``warmup`` steps, then stay: factor(s) = min(1, s / warmup).

    Raises: ValueError for a negative or fractional ``warmup``.
    """
    _check.whole_number("warmup", warmup)
    return lambda step: min(1.0, step / warmup) if warmup else 1.0


def warmup_cosine(warmup: int, steps: int, *, final: float = 0.0) -> Schedule:
    """Rise in a straight line for ``warmup`` steps, then fall along half a cosine.

    factor(s) = s / warmup for s ≤ warmup; after that, with p = (s − warmup) / (steps − warmup),
    factor(s) = final + (1 − final) (1 + cos πp) / 2, which is ``final`` at ``steps`` and beyond.

    Raises: ValueError for a negative or fractional ``warmup``, ``steps`` not greater than
    ``warmup``, or ``final`` outside 0 to 1.
    Source: the cosine is Loshchilov and Hutter (2017), equation 5, without restarts.
    """
    _check.whole_number("warmup", warmup)
    _check.whole_number("steps", steps, at_least=warmup + 1)
    if not 0 <= final <= 1:
        raise ValueError(f"final must be from 0 to 1: it is {final!r}")

    def factor(step: int) -> float:
        if step < warmup:
            return step / warmup
        progress = min(1.0, (step - warmup) / (steps - warmup))
        return final + (1 - final) * (1 + math.cos(math.pi * progress)) / 2

    return factor


def warmup_inverse_sqrt(warmup: int, *, d_model: int | None = None) -> Schedule:
    """Rise in a straight line for ``warmup`` steps, then fall as one over the root of the step.

    With ``d_model`` this is the paper's rate itself, to be used with ``lr=1``:
    factor(s) = d_model^−½ · min(s^−½, s · warmup^−³⁄²). Without it the same curve is scaled to
    have its peak, at s = warmup, at 1: factor(s) = min(√(warmup / s), s / warmup).

    Raises: ValueError for ``warmup`` or ``d_model`` below 1 or fractional.
    Source: Vaswani et al. (2017), equation 3 (``warmup`` is 4,000 there).
    """
    _check.whole_number("warmup", warmup, at_least=1)
    if d_model is not None:
        _check.whole_number("d_model", d_model, at_least=1)
    peak = 1.0 if d_model is None else (d_model * warmup) ** -0.5
    return lambda step: peak * min(math.sqrt(warmup / max(step, 1)), step / warmup)
