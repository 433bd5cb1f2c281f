"""What the widgets' constructors ask of their arguments, in words a student understands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["finite_array", "index_of", "number_above_zero", "one_line", "switch", "texts"]


def finite_array(name: str, value: Any, *, ranks: tuple[int, ...]) -> np.ndarray:
    """Return `value` (tensor, array or nested lists) as float64, of one of the given ranks.

    Raises:
        ValueError: not numbers, ragged, of another rank, empty, infinite or NaN.
    """
    if hasattr(value, "detach"):  # a torch tensor, perhaps on a GPU or in bfloat16
        value = value.detach().cpu().double().numpy()
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be numbers in rows of equal length, got {one_line(value)}"
        ) from error
    if array.ndim not in ranks:
        wanted = " or ".join(str(rank) for rank in ranks)
        raise ValueError(f"{name} must have {wanted} dimensions, got shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name} is empty: its shape is {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, but holds NaN or infinity")
    return array


def texts(name: str, value: Sequence[str], *, count: int | None = None) -> list[str]:
    """Return `value` as a list of `count` strings.

    Raises:
        TypeError: a single string, or something in the list that is not a string.
        ValueError: another number of strings than `count`.
    """
    if isinstance(value, str):
        raise TypeError(f"{name} must be a list of strings, got the one string {value!r}")
    found = list(value)
    for item in found:
        if not isinstance(item, str):
            raise TypeError(f"{name} must hold strings, got {one_line(item)}")
    if count is not None and len(found) != count:
        raise ValueError(f"{name} must be {count} strings, one for each row, got {len(found)}")
    return found


def of_the_shape(name: str, value: list, *, now: list) -> list:
    """Return new numbers for a trait; raise unless they have the shape of those it holds now."""
    if now and np.shape(value) != np.shape(now):
        raise ValueError(f"{name} must keep its shape {np.shape(now)}, got shape {np.shape(value)}")
    return value


def number_above_zero(name: str, value: float) -> float:
    """Return `value` as a float, which must be finite and above 0; else ValueError."""
    number = _number(name, value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    return number


def index_of(name: str, value: int, *, count: int) -> int:
    """Return `value` as an index from 0 to count − 1; a negative one counts from the end.

    Raises:
        ValueError: out of range, or not a whole number.
    """
    number = _number(name, value)
    if number != int(number) or not -count <= number < count:
        raise ValueError(
            f"{name} must be a whole number from {-count} to {count - 1}, got {value!r}"
        )
    return int(number) % count


def switch(name: str, value: bool) -> bool:
    """Return `value`, which must be True or False; else TypeError."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {one_line(value)}")
    return bool(value)


def one_line(value: Any, *, width: int = 60) -> str:
    """Return the start of `repr(value)` on one line, for an error message."""
    text = " ".join(repr(value).split())
    return text if len(text) <= width else text[: width - 1] + "…"


def _number(name: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a number, got {one_line(value)}") from error
    if math.isnan(number) or math.isinf(number):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return number
